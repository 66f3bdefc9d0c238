//! Losses that are quadratic: their Hessian, for methods that need all of it.

use crate::operator::LinOp;
use crate::real::Real;
use crate::seeded::Seeded;
use crate::smooth::{Form, Smooth};
use crate::vector;

/// ∇²f where it is the same everywhere.
pub(crate) enum Quadratic<'f, S> {
    /// c·I.
    Constant(f64),
    /// c·A*A.
    Normal(f64, &'f dyn LinOp<S>),
    /// All entries, row by row.
    Full(Vec<f64>),
}

/// Entries of x for which a Hessian is asked for column by column, at most.
const LARGEST: usize = 768;

impl<'f, S: Real> Quadratic<'f, S> {
    /// That of f, which is asked for gradients at a few points; `None` where f is no quadratic function, where no L_f is known (it need not
    /// be defined there), and where its Hessian is neither simple nor small.
    pub fn of(f: &'f dyn Smooth<S>) -> Option<Self> {
        f.lipschitz()?;
        let mut gradients = Gradients::new(f);
        let d: Vec<S> = Seeded::new(1).normals(gradients.at_zero.len());
        let [along, back, far] = [1.0, -1.0, 8.0].map(|scale| gradients.change(&d, scale));
        let same = |other: &[f64], scale: f64| {
            let apart = other.iter().zip(&along).map(|(b, a)| (b - scale * a).powi(2)).sum::<f64>().sqrt();
            apart <= scale.abs() * gradients.rounding(&along)
        };
        if !same(&back, -1.0) || !same(&far, 8.0) {
            return None;
        }
        let c = d.iter().zip(&along).map(|(d, a)| d.f64() * a).sum::<f64>() / vector::norm2_squared(&d);
        if same(&d.iter().map(|d| c * d.f64()).collect::<Vec<_>>(), 1.0) {
            return Some(Self::Constant(c));
        }
        if let Form::Linear { operator, rows } = f.form() {
            let c = rows.curvature();
            if same(&normal(operator, c, &d), 1.0) {
                return Some(Self::Normal(c, operator));
            }
        }
        (d.len() <= LARGEST).then(|| Self::Full(gradients.columns()))
    }
}

/// c·A*Ad.
fn normal<S: Real>(a: &dyn LinOp<S>, c: f64, d: &[S]) -> Vec<f64> {
    let (mut image, mut back) = (vec![S::ZERO; a.range().size()], vec![S::ZERO; d.len()]);
    let mut work = vec![S::ZERO; a.work_len()];
    a.apply(&mut image, d, &mut work);
    a.adjoint_add(&mut back, &image, &mut work);
    back.iter().map(|v| c * v.f64()).collect()
}

/// Asks f for gradients.
struct Gradients<'f, S: Real> {
    f: &'f dyn Smooth<S>,
    at_zero: Vec<S>,
    work: Vec<S>,
}

impl<'f, S: Real> Gradients<'f, S> {
    fn new(f: &'f dyn Smooth<S>) -> Self {
        let n = f.layout().size();
        let (mut at_zero, mut work) = (vec![S::ZERO; n], vec![S::ZERO; f.work_len()]);
        f.value_grad(&mut at_zero, &vec![S::ZERO; n], &mut work);
        Self { f, at_zero, work }
    }

    /// ∇f(sd) − ∇f(0).
    fn change(&mut self, d: &[S], s: f64) -> Vec<f64> {
        let x: Vec<S> = d.iter().map(|d| S::of(s) * *d).collect();
        let mut grad = vec![S::ZERO; x.len()];
        self.f.value_grad(&mut grad, &x, &mut self.work);
        grad.iter().zip(&self.at_zero).map(|(a, b)| (*a - *b).f64()).collect()
    }

    /// How far apart two changes of that size may be for rounding.
    fn rounding(&self, change: &[f64]) -> f64 {
        let n = change.len() as f64;
        64.0 * n.sqrt() * S::EPSILON * (vector::norm2(change) + vector::norm2(&self.at_zero))
    }

    /// The Hessian, symmetric to the last bit.
    fn columns(&mut self) -> Vec<f64> {
        let n = self.at_zero.len();
        let mut unit = vec![S::ZERO; n];
        let mut all = Vec::with_capacity(n * n);
        for j in 0..n {
            unit[j] = S::ONE;
            all.extend(self.change(&unit, 1.0));
            unit[j] = S::ZERO;
        }
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (all[i * n + j] + all[j * n + i]);
                (all[i * n + j], all[j * n + i]) = (mean, mean);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::operator::Dense;
    use crate::smooth::{LeastSquares, Logistic, MaskedLeastSquares};

    fn design() -> Box<Dense<f64>> {
        Box::new(Dense::new(Seeded::new(2).normals(30), 6, 5).unwrap())
    }

    #[test]
    fn hessians_are_found_and_other_losses_have_none() {
        let layout = Layout::vector(5).unwrap();
        let plain = MaskedLeastSquares::new(layout.clone(), vec![1.0; 5], None).unwrap();
        assert!(matches!(Quadratic::of(&plain), Some(Quadratic::Constant(c)) if (c - 1.0).abs() < 1e-12));
        let holes = vec![1.0, 0.0, 1.0, 1.0, 0.0];
        let masked = MaskedLeastSquares::new(layout, vec![1.0; 5], Some(holes.clone())).unwrap();
        let Some(Quadratic::Full(h)) = Quadratic::of(&masked) else { panic!("a mask") };
        assert!((0..25).all(|at| (h[at] - if at % 6 == 0 { holes[at / 6] } else { 0.0 }).abs() < 1e-12));
        let squares = LeastSquares::new(design(), vec![3.0; 6]).unwrap();
        assert!(matches!(Quadratic::of(&squares), Some(Quadratic::Normal(c, _)) if c == 1.0));
        let logistic = Logistic::new(design(), vec![1.0, -1.0, 1.0, -1.0, 1.0, 1.0]).unwrap();
        assert!(Quadratic::of(&logistic).is_none());
    }
}
