//! The learned prior: a bank of filters, and a potential for each family of filters that follows the noise.
//!
//! A plain one ([`prior`]) is all that can be said without a picture. Denoising a picture that is worked on in one piece begins with a
//! first answer, of a small plain prior: what filters see there, and in the data, gives every response a scale of its own (`network.rs`).

mod network;
mod spectrum;
mod term;
mod weights;

use melmo::block::Layout;
use melmo::geometry::Norm;
use melmo::operator::{FilterBank, Identity};
use melmo::penalty::{Blocks, Scale, Spline};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{Filtered, MaskedLeastSquares, Ridge};
use melmo::solver::{Info, Solver};

use crate::error::Error;
use crate::prepared::{Defaults, Tuned};
use crate::settings::Settings;
use crate::solve::{Watch, solve_from};
use crate::until::Until;
use network::{Looks, network};
pub(super) use spectrum::Spectrum;
pub use term::with_loss;
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

/// What a picture is like: its size, and its noise as part of the full range, the same in every plane.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub shape: (usize, usize),
    /// 1, or 3 of light and colour.
    pub planes: usize,
    pub noise: f64,
    /// What filters see of noise that is not white.
    pub spectrum: Option<&'a Spectrum>,
}

impl Given<'_> {
    /// The prior of every plane; where noise is not white a potential is as wide as what its filter sees of it.
    fn ridges<S: Real>(
        &self,
        weights: &Weights,
        seen: impl Fn(&Spectrum, usize) -> Vec<f64>,
    ) -> Result<Vec<Ridge<S>>, Error> {
        let (bank, potentials) = of::<S>(weights, self.shape, self.noise)?;
        let plane = |p: usize| {
            let mut potentials = potentials.clone();
            if let Some(spectrum) = self.spectrum {
                for (potential, seen) in potentials.iter_mut().zip(seen(spectrum, p)) {
                    *potential = potential.scaled(1.0 / seen)?;
                }
            }
            Ok(Ridge::new(bank.clone(), potentials)?)
        };
        (0..self.planes).map(plane).collect()
    }
}

/// What every response is scaled by, and the first picture that says so.
pub(super) struct Adapted<S> {
    /// The first picture, in units of the noise.
    pub start: Vec<S>,
    /// Plane by plane.
    scales: Vec<Vec<Scale>>,
}

impl<S: Real> Adapted<S> {
    /// For data in units of the noise, plane after plane.
    pub fn new(y: &[S], given: &Given<'_>, until: &Until) -> Result<Self, Error> {
        let problem =
            of_terms(y.to_vec(), given.ridges(weights::first()?, |seen, p| seen.first(p).to_vec())?, given.shape.1)?;
        let defaults = Defaults { iterations: FIRST, ..STEPS };
        let mut watcher = |_: &Info, _: &mut dyn Solver<S>| until.asked("a first picture");
        let watch = Watch { watcher: Some(&mut watcher), look: false, ..Watch::default() };
        let start = solve_from(&problem, y, &defaults, &Settings::default(), watch)?.report.x;
        let (weights, pixels) = (weights::adapted()?, given.shape.0 * given.shape.1);
        let mut scales = Vec::new();
        for (p, (x, y)) in start.chunks_exact(pixels).zip(y.chunks_exact(pixels)).enumerate() {
            let _ = until.asked("looking at the first picture");
            let seen = given.spectrum.map(|spectrum| spectrum.adapted(p));
            scales.push(network()?.scales(weights, &Looks { x, y, seen }, given.shape, given.noise)?);
        }
        Ok(Self { start, scales })
    }

    /// ½‖X − Y‖² + Σ_c Σᵢ s²ψ_c((T_c X)ᵢ/s), s = s_ci, in units of the noise, over all planes: smooth and strongly convex, so that its certificate
    /// says how far from the least there is a picture lies.
    pub fn problem(self, y: Vec<S>, given: &Given<'_>) -> Result<Problem<S>, Error> {
        let ridges = given.ridges(weights::adapted()?, |seen, p| seen.adapted(p).to_vec())?;
        let scaled = ridges.into_iter().zip(self.scales).map(|(ridge, scales)| ridge.scaled(scales));
        of_terms(y, scaled.collect::<Result<_, _>>()?, given.shape.1)
    }
}

/// Steps with the prior that follows a first picture.
pub(super) fn steps() -> Defaults {
    Defaults { iterations: THEN, ..STEPS }
}

/// ½‖X − Y‖² + Σ_c Σᵢ ψ_c((T_c X)ᵢ), in units of the noise, over all planes: the plain prior.
pub(super) fn plain<S: Real>(y: Vec<S>, given: &Given<'_>) -> Result<Problem<S>, Error> {
    let white = Given { spectrum: None, ..*given };
    of_terms(y, white.ridges(weights::plain()?, |_, _| Vec::new())?, given.shape.1)
}

/// The noise of a whole picture, plane after plane, as the filters see it.
pub(super) fn spectrum<S: Real>(samples: &[S], shape: (usize, usize)) -> Result<Spectrum, Error> {
    let planes: Vec<&[S]> = samples.chunks_exact(shape.0 * shape.1).collect();
    Ok(Spectrum::of(&planes, shape, [weights::first()?, weights::adapted()?]))
}

fn of_terms<S: Real>(y: Vec<S>, planes: Vec<Ridge<S>>, cols: usize) -> Result<Problem<S>, Error> {
    let layout = Layout::matrix(y.len() / cols, cols)?;
    let loss = MaskedLeastSquares::new(layout.clone(), y, None)?;
    let f = Filtered::new(Box::new(loss), planes)?;
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
    use melmo::operator::LinOp;
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
            let given = Given { shape: (9, 11), planes: 1, noise, spectrum: None };
            let adapted = Adapted::new(&y, &given, &Until::done()).unwrap();
            let problem = adapted.problem(y, &given).unwrap();
            assert!(problem.f().strong_convexity().unwrap() > 1e-3);
        }
    }

    #[test]
    fn a_mirrored_picture_has_the_mirrored_answer() {
        let (n, m) = (12, 10);
        let x: Vec<f64> = Seeded::new(2).normals(n * m);
        let value = |x: &[f64]| {
            let given = Given { shape: (n, m), planes: 1, noise: 0.1, spectrum: None };
            let adapted = Adapted::new(x, &given, &Until::done()).unwrap();
            let start = adapted.start.clone();
            adapted.problem(x.to_vec(), &given).unwrap().objective(&start)
        };
        let mirrored: Vec<f64> = x.chunks_exact(m).flat_map(|row| row.iter().rev().copied()).collect();
        // Scales have three digits.
        assert!((value(&x) - value(&mirrored)).abs() < 1e-3 * value(&x));
    }
}
