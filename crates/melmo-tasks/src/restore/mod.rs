//! Restoration: a picture from what an instrument made of it, y = Ax + noise. A blurs, drops pixels or makes a smaller picture.
//!
//! ```text
//! ½‖Ax − y‖²/noise² + λ Σ_c Σᵢ ψ_c((T_c x)ᵢ)
//! ```
//!
//! is minimised: filters T_c and potentials ψ_c that were learned from photographs ([`learned`](crate::denoise::learned)). Colours are
//! taken apart first, into brightness and two differences of colours, each a picture of its own. λ follows from the noise: it is as large as the data
//! allow (the discrepancy principle). Where the data hold no noise they are held, and there is no λ.
//!
//! The potentials are not convex, and A has no inverse that would make up for it: what is certified is that a picture is stationary.

mod choose;
mod colours;
mod plan;

pub use choose::{Choice, choose};
pub(crate) use plan::Frame;
pub use plan::{Instrument, Restoration};

use melmo::real::Real;

use crate::denoise::{Planes, noise};
use crate::error::Error;

/// What can be chosen; everything has a default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The noise, where it is known, in the image's units.
    pub noise: Option<f64>,
    /// λ, instead of choosing it.
    pub lambda: Option<f64>,
    /// The full range of samples; 1 unless they spread over more than 2, then their spread.
    pub range: Option<f64>,
}

/// The least noise that is reckoned with, as part of the range: a third of the step of eight bits.
const LEAST: f64 = 1.0 / 765.0;

impl Options {
    /// The noise: given, or estimated from the data, and no less than what eight bits have; and the range.
    fn levels<S: Real>(&self, data: &Planes<'_, S>) -> Result<(f64, f64), Error> {
        let range = self.range.unwrap_or_else(|| range(data.data));
        check("the range", range, range > 0.0, "a finite number above 0")?;
        if let Some(level) = self.noise {
            check("the noise's standard deviation", level, level >= 0.0, "a finite number, at least 0")?;
        }
        if let Some(lambda) = self.lambda {
            check("lambda", lambda, lambda > 0.0, "a finite number above 0")?;
        }
        let noise = self.noise.unwrap_or_else(|| noise::estimate(data));
        Ok((noise.max(LEAST * range), range))
    }
}

fn check(what: &str, value: f64, holds: bool, expected: &str) -> Result<(), Error> {
    match holds && value.is_finite() {
        true => Ok(()),
        false => Err(Error::input(what, value.to_string(), expected)),
    }
}

/// 1, or the spread of samples that are not between 0 and 1.
fn range<S: Real>(data: &[S]) -> f64 {
    let known = data.iter().map(|v| v.f64()).filter(|v| v.is_finite());
    let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (v.min(a), v.max(b)));
    if high - low > 2.0 { high - low } else { 1.0 }
}
