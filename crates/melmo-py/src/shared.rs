//! Terms that several problems share: a design of a gigabyte is built once.

use std::sync::Arc;

use melmo::block::Layout;
use melmo::error::Error;
use melmo::operator::{self, LinOp, RightInverse};
use melmo::penalty::{self, Columns, Coordinates, Envelope, Prox, Streamed};
use melmo::real::Real;
use melmo::smooth::{self, Pointwise, Rounding, Sampled, Smooth};

/// A term behind a counter.
pub struct Shared<T: ?Sized>(pub Arc<T>);

/// A loss behind a counter, of a variable with these blocks: ½‖Ax − b‖² does not care whether x is a matrix, and its penalty
/// may.
pub struct SharedLoss<S> {
    loss: Arc<dyn Smooth<S>>,
    layout: Layout,
}

impl<S: Real> SharedLoss<S> {
    /// Refuses blocks of another size than the loss's own.
    pub fn new(loss: Arc<dyn Smooth<S>>, layout: Layout) -> Result<Self, Error> {
        Error::expect_len("x", loss.layout().size(), layout.size())?;
        Ok(Self { loss, layout })
    }
}

impl<S: Real> Smooth<S> for SharedLoss<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn work_len(&self) -> usize {
        self.loss.work_len()
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        self.loss.value_grad(grad, x, work)
    }

    fn lipschitz(&self) -> Option<f64> {
        self.loss.lipschitz()
    }

    fn strong_convexity(&self) -> Option<f64> {
        self.loss.strong_convexity()
    }

    fn lower_bound(&self) -> Option<f64> {
        self.loss.lower_bound()
    }

    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        self.loss.rounding(x, value, grad)
    }

    fn pointwise(&self) -> Option<&dyn Pointwise<S>> {
        self.loss.pointwise()
    }

    fn sampled(&self) -> Option<&dyn Sampled<S>> {
        self.loss.sampled()
    }

    fn form(&self) -> smooth::Form<'_, S> {
        self.loss.form()
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

    fn strong_convexity(&self) -> f64 {
        self.0.strong_convexity()
    }

    fn polar(&self, v: &[S], work: &mut [S]) -> Option<f64> {
        self.0.polar(v, work)
    }

    fn reach(&self) -> Option<f64> {
        self.0.reach()
    }

    fn rounding(&self) -> f64 {
        self.0.rounding()
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

    fn form(&self) -> penalty::Form<'_, S> {
        self.0.form()
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

    fn lower_norm_bound(&self) -> f64 {
        self.0.lower_norm_bound()
    }

    fn rounding(&self) -> f64 {
        self.0.rounding()
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
