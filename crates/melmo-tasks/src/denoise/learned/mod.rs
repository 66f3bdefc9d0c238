//! The learned prior: a bank of filters, and a potential for each family of filters that follows the noise.

mod weights;

use melmo::block::Layout;
use melmo::operator::{FilterBank, Identity};
use melmo::penalty::{Blocks, Spline};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{Filtered, MaskedLeastSquares};

use crate::error::Error;
use weights::weights;

/// Filters for an image of that size, and the potential of each for data in units of their noise, whose standard deviation is this
/// part of the image's full range.
///
/// Their sum R has ∇²R ⪰ −ρ‖T‖² with ρ‖T‖² < 1: ½‖x − y‖² + R(x) is strongly convex.
pub fn prior<S: Real>(shape: (usize, usize), noise: f64) -> Result<(FilterBank<S>, Vec<Spline>), Error> {
    let weights = weights()?;
    let filters: Vec<S> = weights.filters().map(|&w| S::of(w)).collect();
    Ok((FilterBank::new(shape, &filters, weights.side)?, weights.potentials(noise)?))
}

/// ½‖X − Y‖² + Σ_c Σᵢ φ_c((T_c X)ᵢ), in units of σ: smooth and strongly convex, so that its certificate says how far from the least
/// there is a picture lies.
pub(super) fn problem<S: Real>(y: Vec<S>, (rows, cols): (usize, usize), noise: f64) -> Result<Problem<S>, Error> {
    let layout = Layout::matrix(rows, cols)?;
    let (bank, potentials) = prior((rows, cols), noise)?;
    let loss = MaskedLeastSquares::new(layout.clone(), y, None)?;
    let f = Filtered::new(Box::new(loss), bank, potentials)?;
    let nothing = Blocks::new(&layout, Vec::<(&str, f64, Box<dyn melmo::penalty::Prox<S>>)>::new())?;
    Ok(Problem::new(f, nothing, Identity::new(layout))?)
}

/// It in one line, for reports.
pub(super) fn describe() -> String {
    weights().map_or_else(
        |error| error.to_string(),
        |weights| {
            let (count, side) = (weights.filters().count() / (weights.side * weights.side), weights.side);
            format!("learned: {count} filters of {side}×{side} and their splines, convex together with the data")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::operator::LinOp;
    use melmo::penalty::Separable;
    use melmo::seeded::Seeded;

    #[test]
    fn the_energy_is_strongly_convex_at_every_noise_level() {
        for noise in [1e-4, 0.01, 0.02, 0.05, 0.1, 0.15, 0.5] {
            let (bank, potentials) = prior::<f64>((9, 11), noise).unwrap();
            let rho = potentials.iter().map(Separable::<f64>::rho).fold(0.0, f64::max);
            assert!(rho * bank.norm_bound().powi(2) < 0.999, "{noise}: {rho} {}", bank.norm_bound());
            let problem = problem(vec![0.5f64; 99], (9, 11), noise).unwrap();
            assert!(problem.f().strong_convexity().unwrap() > 1e-3);
        }
    }

    #[test]
    fn a_mirrored_picture_has_the_mirrored_answer() {
        let (n, m) = (12, 10);
        let x: Vec<f64> = Seeded::new(2).normals(n * m);
        let value = |x: &[f64]| {
            let problem = problem(vec![0.0; n * m], (n, m), 0.1).unwrap();
            problem.objective(x)
        };
        let mirrored: Vec<f64> = x.chunks_exact(m).flat_map(|row| row.iter().rev().copied()).collect();
        assert!((value(&x) - value(&mirrored)).abs() < 1e-10 * value(&x));
    }
}
