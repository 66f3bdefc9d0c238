//! Volumes without their noise: few differences along three axes, those of a voxel together.

use melmo::real::Real;

use super::plan::{self, ITERATIONS, expect_moderate};
use super::variation::{Grid, variation};
use super::{Options, Planes, Prior, model, noise};
use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared};

/// The slope of the penalty of ‖∇x‖ at 0, in units of the noise. Found, as the next, on made volumes and on pictures that move past (docs/denoising.md).
const SLOPE: f64 = 0.8;
/// Where it begins to level off, in units of the noise.
const EDGE: f64 = 4.0;

/// A volume's problem, and what it is about.
pub struct Volume<S: Real> {
    /// In units of the noise.
    pub prepared: Prepared<S>,
    /// Its standard deviation, in the volume's units; 0 where none can be seen.
    pub noise: f64,
    /// One unit of the problem's, in the volume's.
    pub scale: f64,
    /// The penalty in one line.
    pub penalty: String,
}

/// ½‖X − Y‖² + Σᵥ λθ log(1 + ‖∇X‖ᵥ/θ) in units of the noise, over the voxels of so many slices, rows and columns; or with a penalty of one's own, in
/// the volume's units.
pub fn volume<S: Real>(y: &[S], sides: [usize; 3], options: &Options) -> Result<Volume<S>, Error> {
    let [depth, rows, cols] = sides;
    let slices = Planes::new(y, rows, cols, depth)?;
    if options.prior == Some(Prior::Learned) {
        return Err(Error::input("the learned prior", "a volume", "a picture: leave --prior out"));
    }
    let check = |what: &str, value: f64| match value >= 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(Error::input(what, value.to_string(), "a finite number, at least 0")),
    };
    let strength = check("the strength", options.strength)?;
    let noise = match options.noise {
        Some(level) => check("the noise's standard deviation", level)?,
        None => noise::estimate(&slices),
    };
    let silent = noise == 0.0 && options.penalty.as_ref().is_none_or(|penalty| penalty.get("lambda").is_none());
    if strength == 0.0 || silent {
        return Ok(Volume { prepared: plan::nothing(y.to_vec())?, noise, scale: 1.0, penalty: "none".into() });
    }
    if let Some(penalty) = &options.penalty {
        let penalty = model::complete(penalty, noise, strength);
        expect_moderate(y)?;
        let prepared = variation(y, Grid::Volume(sides), &penalty, options.isotropic)?;
        return Ok(Volume { prepared, noise, scale: 1.0, penalty: penalty.to_string() });
    }
    let scaled: Vec<S> = y.iter().map(|v| S::of(v.f64() / noise)).collect();
    expect_moderate(&scaled)?;
    let slope = strength * SLOPE;
    let penalty = PenaltyChoice::new("log-sum", &[("lambda", slope * EDGE), ("theta", EDGE)])?;
    let mut prepared = variation(&scaled, Grid::Volume(sides), &penalty, true)?;
    let tuned = Some(plan::tuned(prepared.problem.beta_limit()));
    prepared.defaults = Defaults { iterations: ITERATIONS, settles: false, tuned, ..Defaults::default() };
    // As for pictures: the problem is first smoothed so much that the data themselves are the best start.
    prepared.start = scaled;
    let penalty = format!("log-sum of ∇ along three axes (slope {slope:.3}, θ = {EDGE}) in units of the noise");
    Ok(Volume { prepared, noise, scale: noise, penalty })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, Watch, solve};
    use melmo::seeded::Seeded;

    /// A ball in a slope, and noise.
    fn ball(side: usize, level: f64) -> (Vec<f64>, Vec<f64>) {
        let at = |p: usize| [p / side / side, p / side % side, p % side].map(|i| i as f64 / side as f64 - 0.5);
        let clean = |p: usize| {
            let [z, y, x] = at(p);
            if z * z + y * y + x * x < 0.1 { 0.8 } else { 0.3 + 0.2 * x }
        };
        let clean: Vec<f64> = (0..side * side * side).map(clean).collect();
        let mut seeded = Seeded::new(3);
        let noisy = clean.iter().map(|v| v + level * seeded.normal()).collect();
        (clean, noisy)
    }

    fn error(a: &[f64], b: &[f64]) -> f64 {
        (a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / a.len() as f64).sqrt()
    }

    #[test]
    fn a_ball_comes_out_of_the_noise() {
        let (clean, noisy) = ball(24, 0.1);
        let found = volume(&noisy, [24; 3], &Options::default()).unwrap();
        assert!((found.noise - 0.1).abs() < 0.015, "{}", found.noise);
        let report = solve(&found.prepared, &Settings::default(), Watch::default()).unwrap().report;
        let denoised: Vec<f64> = report.x.iter().map(|x| x * found.scale).collect();
        let (before, after) = (error(&noisy, &clean), error(&denoised, &clean));
        assert!(after < 0.45 * before, "{before} {after}");
        assert!(report.certificate.unwrap().verify(&found.prepared.problem, &report.x, 1e-6).unwrap().passed());
    }

    #[test]
    fn a_multiple_of_a_volume_has_the_multiple_of_the_answer() {
        let (_, noisy) = ball(12, 0.1);
        let double: Vec<f64> = noisy.iter().map(|v| 1024.0 * v).collect();
        let x = |y: &[f64]| {
            let found = volume(y, [12; 3], &Options::default()).unwrap();
            (solve(&found.prepared, &Settings::default(), Watch::default()).unwrap().report.x, found.scale)
        };
        let ((one, a), (other, b)) = (x(&noisy), x(&double));
        assert_eq!((one, 1024.0 * a), (other, b));
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_nothing_is_done_where_there_is_nothing() {
        let (_, noisy) = ball(6, 0.1);
        let with = |options: Options| volume(&noisy, [6; 3], &options);
        assert!(with(Options { prior: Some(Prior::Learned), ..Options::default() }).is_err());
        assert!(with(Options { strength: -1.0, ..Options::default() }).is_err());
        assert!(with(Options { noise: Some(f64::NAN), ..Options::default() }).is_err());
        assert!(volume(&noisy, [6, 6, 7], &Options::default()).is_err());
        assert_eq!(with(Options { strength: 0.0, ..Options::default() }).unwrap().penalty, "none");
        let own = Options { penalty: Some("l1:lambda=0.05".parse().unwrap()), ..Options::default() };
        assert_eq!(with(own).unwrap().scale, 1.0);
    }
}
