//! (β_k, γ_k): how the smoothing and the step shrink, as pure functions of k = 1, 2, ….

mod averaging;
mod epoch;
mod horizon;
mod power;
mod smoothness;
#[cfg(test)]
mod tests;

pub use averaging::Averaging;
pub use epoch::{EpochConstant, EpochPower};
pub use horizon::Horizon;
pub use power::Power;
pub use smoothness::Smoothness;

use crate::error::Error;
use crate::guarantee::{Facts, Guarantee};

/// The smoothing β_k and the step length γ_k of step k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Smoothing of the Moreau envelope.
    pub beta: f64,
    /// Length of the step, in the geometry's norm.
    pub gamma: f64,
}

/// What an epoch starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Restart {
    /// The point of least F seen, the start included.
    #[default]
    Best,
    /// The start x₁.
    Start,
    /// Where the last epoch ended.
    None,
}

impl Restart {
    /// The word users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Start => "start",
            Self::None => "none",
        }
    }
}

impl std::str::FromStr for Restart {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "best" => Ok(Self::Best),
            "start" => Ok(Self::Start),
            "none" => Ok(Self::None),
            _ => Err(Error::UnknownName {
                kind: "restart".into(),
                name: name.into(),
                known: ["best", "start", "none"].map(String::from).into(),
            }),
        }
    }
}

/// A schedule: a pure function of k, so that nothing has to be reset and a resumed run is the same run.
pub trait Schedule: Send + Sync {
    /// (β_k, γ_k), k ≥ 1.
    fn at(&self, k: u64) -> Step;

    /// The largest β it ever uses: this is what has to stay below 1/ρ.
    fn largest_beta(&self) -> f64 {
        self.at(1).beta
    }

    /// The smoothing with which x_{k+1} is judged after step k of an epoch.
    fn beta_after(&self, k: u64) -> f64 {
        self.at(k + 1).beta
    }

    /// What each epoch starts from, for a solver that runs in epochs.
    fn restart(&self) -> Restart {
        Restart::None
    }

    /// It is made for a solver that runs in epochs.
    fn epochs(&self) -> bool {
        false
    }

    /// Refuses parameters that make no schedule.
    fn check(&self) -> Result<(), Error>;

    /// What is proven for it on a problem with these properties.
    fn guarantee(&self, facts: &Facts) -> Guarantee;
}

/// γ > 0 and β > 0, with the numbers in the message.
fn check_base(beta: f64, gamma: f64) -> Result<(), Error> {
    Error::expect_positive("beta", beta)?;
    Error::expect_positive("gamma", gamma)?;
    Ok(())
}

fn check_exponents(p: f64, q: f64) -> Result<(), Error> {
    Error::expect_parameter("p", p, 0.0 < p && p < 1.0, "between 0 and 1, both excluded")?;
    Error::expect_parameter("q", q, (0.0..1.0).contains(&q), "at least 0 and below 1")?;
    Ok(())
}

/// Exponents that a person typed as fractions and a machine stored as floats.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}
