//! Terms that several problems share: a design of a gigabyte is built once.

use std::sync::Arc;

use melmo::block::Layout;
use melmo::operator::{self, LinOp, RightInverse};
use melmo::penalty::{Columns, Coordinates, Envelope, Prox, Streamed};
use melmo::real::Real;
use melmo::smooth::{self, Pointwise, Smooth};

/// A term behind a counter.
pub struct Shared<T: ?Sized>(pub Arc<T>);

impl<S: Real> Smooth<S> for Shared<dyn Smooth<S>> {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn work_len(&self) -> usize {
        self.0.work_len()
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        self.0.value_grad(grad, x, work)
    }

    fn lipschitz(&self) -> Option<f64> {
        self.0.lipschitz()
    }

    fn pointwise(&self) -> Option<&dyn Pointwise<S>> {
        self.0.pointwise()
    }

    fn form(&self) -> smooth::Form<'_, S> {
        self.0.form()
    }
}

impl<S: Real> Prox<S> for Shared<dyn Prox<S>> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn weak_convexity(&self) -> f64 {
        self.0.weak_convexity()
    }

    fn lipschitz(&self) -> Option<f64> {
        self.0.lipschitz()
    }

    fn work_len(&self) -> usize {
        self.0.work_len()
    }

    fn value(&self, u: &[S], work: &mut [S]) -> f64 {
        self.0.value(u, work)
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        self.0.prox(z, u, beta, work)
    }

    fn moreau(&self, grad: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> Envelope {
        self.0.moreau(grad, u, beta, work)
    }

    fn slopes(&self, grad: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        self.0.slopes(grad, u, beta, work)
    }

    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64 {
        self.0.subgradient(v, u, work)
    }

    fn coordinates(&self) -> Option<&dyn Coordinates<S>> {
        self.0.coordinates()
    }

    fn streamed(&self) -> Option<Streamed<'_, S>> {
        self.0.streamed()
    }

    fn columns(&self, start: usize) -> Option<&dyn Columns<S>> {
        self.0.columns(start)
    }
}

impl<S: Real> LinOp<S> for Shared<dyn LinOp<S>> {
    fn domain(&self) -> &Layout {
        self.0.domain()
    }

    fn range(&self) -> &Layout {
        self.0.range()
    }

    fn norm_bound(&self) -> f64 {
        self.0.norm_bound()
    }

    fn work_len(&self) -> usize {
        self.0.work_len()
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        self.0.apply(y, x, work);
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        self.0.adjoint_add(x, y, work);
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        self.0.right_inverse()
    }

    fn form(&self) -> operator::Form<'_, S> {
        self.0.form()
    }
}
