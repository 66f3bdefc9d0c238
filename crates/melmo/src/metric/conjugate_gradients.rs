use crate::metric::{Hessian, Metric};
use crate::operator::LinOp;
use crate::real::Real;
use crate::vector;

/// M = h·A*A + T*T/β for a linear model f(x) = Σhᵢ((Ax)ᵢ) with h″ ≤ h, or M = L_f + T*T/β, inverted by conjugate gradients.
///
/// From 0, so that every truncation is a descent direction; a step x − M⁻¹φ then starts its solve at x itself. Stops at a
/// residual of 10⁻³‖v‖ or after 50 products.
pub struct ConjugateGradients<'p, S> {
    hessian: Hessian<'p, S>,
    t: &'p dyn LinOp<S>,
    beta: f64,
    tolerance: f64,
    steps: usize,
    solution: Vec<S>,
    residual: Vec<S>,
    direction: Vec<S>,
    product: Vec<S>,
    /// Ax or Tx, then what the operators need.
    work: Vec<S>,
}

impl<'p, S: Real> ConjugateGradients<'p, S> {
    /// The same with another bound on the residual, relative to ‖v‖, and on the number of products.
    pub fn with_accuracy(self, tolerance: f64, steps: usize) -> Self {
        Self { tolerance, steps, ..self }
    }

    /// H + T*T/β.
    pub fn new(hessian: Hessian<'p, S>, t: &'p dyn LinOp<S>) -> Self {
        let n = t.domain().size();
        let need = |operator: &dyn LinOp<S>| operator.range().size() + operator.work_len();
        let work_len = match &hessian {
            Hessian::Constant(_) => need(t),
            Hessian::Normal(_, a) => need(t).max(need(*a)),
        };
        let [solution, residual, direction, product] = [(); 4].map(|()| vec![S::ZERO; n]);
        let work = vec![S::ZERO; work_len];
        Self { hessian, t, beta: 1.0, tolerance: 1e-3, steps: 50, solution, residual, direction, product, work }
    }

    /// product ← M·direction.
    fn multiply(&mut self) {
        let Self { hessian, t, beta, direction, product, work, .. } = self;
        match *hessian {
            Hessian::Constant(curvature) => vector::scale_into(product, curvature, direction),
            Hessian::Normal(curvature, a) => {
                product.fill(S::ZERO);
                normal_add(product, a, curvature, direction, work);
            }
        }
        normal_add(product, *t, 1.0 / *beta, direction, work);
    }
}

/// y ← y + c·A*Ax.
fn normal_add<S: Real>(y: &mut [S], a: &dyn LinOp<S>, c: f64, x: &[S], work: &mut [S]) {
    let (ax, work) = work.split_at_mut(a.range().size());
    a.apply(ax, x, work);
    let c = S::of(c);
    ax.iter_mut().for_each(|v| *v *= c);
    a.adjoint_add(y, ax, work);
}

impl<S: Real> Metric<S> for ConjugateGradients<'_, S> {
    fn prepare(&mut self, _: &[S], beta: f64) {
        self.beta = beta;
    }

    fn solve(&mut self, v: &mut [S]) {
        self.solution.fill(S::ZERO);
        self.residual.copy_from_slice(v);
        self.direction.copy_from_slice(v);
        let mut squared = vector::norm2_squared(v);
        let enough = squared * self.tolerance * self.tolerance;
        for _ in 0..self.steps {
            self.multiply();
            let bend = vector::dot(&self.direction, &self.product);
            // Also where everything is 0, or not finite.
            if bend <= 0.0 || !bend.is_finite() {
                break;
            }
            let length = squared / bend;
            vector::axpy(&mut self.solution, length, &self.direction);
            vector::axpy(&mut self.residual, -length, &self.product);
            let before = std::mem::replace(&mut squared, vector::norm2_squared(&self.residual));
            if squared <= enough {
                break;
            }
            let turn = S::of(squared / before);
            for (direction, &residual) in self.direction.iter_mut().zip(&self.residual) {
                *direction = residual + turn * *direction;
            }
        }
        v.copy_from_slice(&self.solution);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::operator::{Dense, Identity};
    use crate::seeded::Seeded;

    fn residual<S: Real>(tolerance: f64) {
        let mut seeded = Seeded::new(1);
        let a = Dense::new(seeded.normals::<S>(12 * 8), 12, 8).unwrap();
        let t = Identity::new(Layout::vector(8).unwrap());
        let v: Vec<S> = seeded.normals(8);
        for metric in [
            ConjugateGradients::new(Hessian::Normal(0.25, &a), &t),
            ConjugateGradients::new(Hessian::Constant(3.0), &a),
        ] {
            let mut metric = metric.with_accuracy(tolerance, 60);
            let mut solved = v.clone();
            metric.prepare(&v, 0.3);
            metric.solve(&mut solved);
            metric.direction.copy_from_slice(&solved);
            metric.multiply();
            let apart: Vec<S> = metric.product.iter().zip(&v).map(|(&a, &b)| a - b).collect();
            assert!(vector::norm2(&apart) <= 2.0 * tolerance * vector::norm2(&v), "{}", vector::norm2(&apart));
        }
    }

    #[test]
    fn solves_to_its_tolerance() {
        residual::<f64>(1e-10);
        residual::<f32>(1e-4);
    }

    #[test]
    fn zero_gives_zero() {
        let t = Identity::new(Layout::vector(3).unwrap());
        let mut metric = ConjugateGradients::<f64>::new(Hessian::Constant(1.0), &t);
        let mut v = [0.0; 3];
        metric.prepare(&[0.0; 3], 1.0);
        metric.solve(&mut v);
        assert_eq!(v, [0.0; 3]);
    }
}
