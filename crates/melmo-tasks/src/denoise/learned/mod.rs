//! The learned prior: a bank of filters, and a potential for each family of filters that follows the noise.
//!
//! A plain one ([`prior`]) is all that can be said without a picture. Denoising a picture that is worked on in one piece begins with a
//! first answer, of a small plain prior: what filters see there, and in the data, gives every response a scale of its own (`network.rs`).

mod network;
mod weights;

use melmo::geometry::Norm;
use melmo::operator::{FilterBank, Identity, LinOp};
use melmo::penalty::{Blocks, Scale, Spline};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{Filtered, MaskedLeastSquares};

use crate::error::Error;
use crate::prepared::{Defaults, Tuned};
use crate::settings::Settings;
use crate::solve::{Watch, solve_from};
use network::network;
use weights::Weights;

/// Filters for an image of that size, and the potential of each for data in units of their noise, whose standard deviation is this
/// part of the image's full range.
///
/// Their sum R has ∇²R ⪰ −ρ‖T‖² with ρ‖T‖² < 1: ½‖x − y‖² + R(x) is strongly convex.
pub fn prior<S: Real>(shape: (usize, usize), noise: f64) -> Result<(FilterBank<S>, Vec<Spline>), Error> {
    of(weights::plain()?, shape, noise)
}

fn of<S: Real>(weights: &Weights, shape: (usize, usize), noise: f64) -> Result<(FilterBank<S>, Vec<Spline>), Error> {
    let filters: Vec<S> = weights.filters().map(|&w| S::of(w)).collect();
    Ok((FilterBank::new(shape, &filters, weights.side)?, weights.potentials(noise)?))
}

/// Steps with the plain prior: near the minimiser, not there; the certificate says how near (docs/learned-prior.md).
pub(super) const STEPS: Defaults = Defaults {
    norm: Norm::L2,
    iterations: 40,
    settles: false,
    tuned: Some(Tuned {
        method: "fista",
        arguments: Vec::new(),
        reason: "smooth and strongly convex: accelerated gradient steps",
    }),
};

/// Steps that lead to the first picture.
const FIRST: u64 = 30;
/// Steps from there.
const THEN: u64 = 20;

/// What every response is scaled by, and the first picture that says so.
pub(super) struct Adapted<S> {
    /// The first picture, in units of σ.
    pub start: Vec<S>,
    scales: Vec<Scale>,
}

impl<S: Real> Adapted<S> {
    /// For data in units of σ.
    pub fn new(y: &[S], shape: (usize, usize), noise: f64) -> Result<Self, Error> {
        let (bank, potentials) = of(weights::first()?, shape, noise)?;
        let problem = of_terms(y.to_vec(), bank, potentials, None)?;
        let defaults = Defaults { iterations: FIRST, ..STEPS };
        let watch = Watch { look: false, ..Watch::default() };
        let start = solve_from(&problem, y, &defaults, &Settings::default(), watch)?.report.x;
        let scales = network()?.scales(weights::adapted()?, [&start, y], shape, noise)?;
        Ok(Self { start, scales })
    }

    /// ½‖X − Y‖² + Σ_c Σᵢ s²φ_c((T_c X)ᵢ/s), s = s_ci, in units of σ: smooth and strongly convex, so that its certificate says how far from the
    /// least there is a picture lies.
    pub fn problem(&self, y: Vec<S>, shape: (usize, usize), noise: f64) -> Result<Problem<S>, Error> {
        let (bank, potentials) = of(weights::adapted()?, shape, noise)?;
        of_terms(y, bank, potentials, Some(self.scales.clone()))
    }

    /// What settings leave open.
    pub fn defaults(&self) -> Defaults {
        Defaults { iterations: THEN, ..STEPS }
    }
}

/// ½‖X − Y‖² + Σ_c Σᵢ φ_c((T_c X)ᵢ), in units of σ: the plain prior.
pub(super) fn plain<S: Real>(y: Vec<S>, shape: (usize, usize), noise: f64) -> Result<Problem<S>, Error> {
    let (bank, potentials) = prior(shape, noise)?;
    of_terms(y, bank, potentials, None)
}

fn of_terms<S: Real>(
    y: Vec<S>,
    bank: FilterBank<S>,
    potentials: Vec<Spline>,
    scales: Option<Vec<Scale>>,
) -> Result<Problem<S>, Error> {
    let layout = bank.domain().clone();
    let loss = MaskedLeastSquares::new(layout.clone(), y, None)?;
    let f = Filtered::new(Box::new(loss), bank, potentials)?;
    let f = match scales {
        Some(scales) => f.scaled(scales)?,
        None => f,
    };
    let nothing = Blocks::new(&layout, Vec::<(&str, f64, Box<dyn melmo::penalty::Prox<S>>)>::new())?;
    Ok(Problem::new(f, nothing, Identity::new(layout))?)
}

/// It in one line, for reports.
pub(super) fn describe(adapted: bool) -> String {
    let (weights, how) = if adapted { (weights::adapted(), ", locally scaled") } else { (weights::plain(), "") };
    weights.map_or_else(
        |error| error.to_string(),
        |weights| {
            let (count, side) = (weights.channels(), weights.side);
            format!("learned: {count} filters of {side}×{side} and their splines{how}, convex together with the data")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::penalty::Separable;
    use melmo::seeded::Seeded;

    #[test]
    fn the_energies_are_strongly_convex_at_every_noise_level() {
        for noise in [1e-4, 0.01, 0.02, 0.05, 0.1, 0.15, 0.5] {
            for weights in [weights::plain(), weights::first(), weights::adapted()].map(Result::unwrap) {
                let (bank, potentials) = of::<f64>(weights, (9, 11), noise).unwrap();
                let rho = potentials.iter().map(Separable::<f64>::rho).fold(0.0, f64::max);
                assert!(rho * bank.norm_bound().powi(2) < 0.999, "{noise}: {rho} {}", bank.norm_bound());
            }
            let y: Vec<f64> = Seeded::new(1).normals(99);
            let problem = Adapted::new(&y, (9, 11), noise).unwrap().problem(y, (9, 11), noise).unwrap();
            assert!(problem.f().strong_convexity().unwrap() > 1e-3);
        }
    }

    #[test]
    fn a_mirrored_picture_has_the_mirrored_answer() {
        let (n, m) = (12, 10);
        let x: Vec<f64> = Seeded::new(2).normals(n * m);
        let value = |x: &[f64]| {
            let adapted = Adapted::new(x, (n, m), 0.1).unwrap();
            adapted.problem(x.to_vec(), (n, m), 0.1).unwrap().objective(&adapted.start)
        };
        let mirrored: Vec<f64> = x.chunks_exact(m).flat_map(|row| row.iter().rev().copied()).collect();
        // Scales have three digits.
        assert!((value(&x) - value(&mirrored)).abs() < 1e-3 * value(&x));
    }
}
