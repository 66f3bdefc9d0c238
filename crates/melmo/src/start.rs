//! Where to start: a smooth point is a good one for penalties of differences.

use crate::error::Error;
use crate::metric;
use crate::problem::Problem;
use crate::real::Real;
use crate::vector;

/// The minimiser of f(x) + ‖Tx‖²/(2β): Tikhonov's smoothing of the data, from steps x ← x − M⁻¹(∇f(x) + T*Tx/β) at x = 0.
///
/// One step where M is the Hessian (an image without a mask); otherwise as many as it takes to 10⁻⁴ of the first gradient,
/// at most 100. The larger β, the less is smoothed. Refuses a problem without a [`metric`].
pub fn tikhonov<S: Real>(problem: &Problem<S>, beta: f64) -> Result<Vec<S>, Error> {
    Error::expect_positive("beta", beta)?;
    let (f, t) = (problem.f(), problem.t());
    let (_, mut metric) = metric::for_problem(problem)?;
    let mut x = vec![S::ZERO; problem.layout().size()];
    let (mut grad, mut tx) = (x.clone(), vec![S::ZERO; t.range().size()]);
    let mut work = vec![S::ZERO; f.work_len().max(t.work_len())];
    let mut first = None;
    for _ in 0..100 {
        f.value_grad(&mut grad, &x, &mut work);
        t.apply(&mut tx, &x, &mut work);
        tx.iter_mut().for_each(|v| *v *= S::of(1.0 / beta));
        t.adjoint_add(&mut grad, &tx, &mut work);
        let norm = vector::norm2(&grad);
        if norm <= 1e-4 * *first.get_or_insert(norm) {
            break;
        }
        metric.prepare(&x, beta);
        metric.solve(&mut grad);
        vector::axpy(&mut x, -1.0, &grad);
    }
    Error::expect_finite("the smooth start", &x)?;
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::operator::Difference2d;
    use crate::penalty::{Entrywise, L1};
    use crate::seeded::Seeded;
    use crate::smooth::MaskedLeastSquares;

    fn problem(mask: Option<Vec<f64>>) -> Problem<f64> {
        let f = MaskedLeastSquares::new(Layout::matrix(12, 9).unwrap(), Seeded::new(1).normals(108), mask).unwrap();
        Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 216), Difference2d::new(12, 9).unwrap()).unwrap()
    }

    #[test]
    fn little_smoothing_gives_the_data_and_much_gives_their_mean() {
        let data: Vec<f64> = Seeded::new(1).normals(108);
        let near = tikhonov(&problem(None), 1e9).unwrap();
        assert!(near.iter().zip(&data).all(|(a, b)| (a - b).abs() < 1e-6));
        let mean = data.iter().sum::<f64>() / 108.0;
        assert!(tikhonov(&problem(None), 1e-9).unwrap().iter().all(|v| (v - mean).abs() < 1e-6));
    }

    #[test]
    fn a_mask_is_filled_in() {
        let mask: Vec<f64> = Seeded::new(2).mask(108, 0.5);
        let x = tikhonov(&problem(Some(mask)), 1.0).unwrap();
        assert!(x.iter().all(|v| *v != 0.0 && v.abs() < 3.0));
        assert!(tikhonov(&problem(None), 0.0).is_err());
    }
}
