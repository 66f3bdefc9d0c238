//! How to solve: what every solving command and function understands.

use std::time::Duration;

use melmo::catalogue::Value;
use melmo::drive::{Epsilon, Gap};
use melmo::geometry::Oracle;

use crate::choice::GeometryChoice;
use crate::device::DeviceChoice;

/// How to solve a problem. Whatever is left out is the task's, or the method's, own choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// A method of the catalogue; `auto` chooses by the problem's structure.
    pub method: String,
    /// Parameters of the method.
    pub arguments: Vec<(String, Value)>,
    /// The norm of the steps, and of the certificate.
    pub geometry: Option<GeometryChoice>,
    /// Where x lives, and its kernels run.
    pub device: DeviceChoice,
    /// How spectral directions are found.
    pub oracle: Oracle,
    /// Steps at most.
    pub iterations: Option<u64>,
    /// Stop at a certificate.
    pub epsilon: Option<Epsilon>,
    /// Stop where F(x) − F* is proven to be small.
    pub gap: Option<Gap>,
    /// A radius that every minimiser lies in, for bounds on F* that need one.
    pub radius: Option<f64>,
    /// Stop where nothing is left to do, to this tolerance; 10⁻⁶ (10⁻⁴ in `f32`) unless given, 0 never.
    pub tolerance: Option<f64>,
    /// Stop where F is at most this.
    pub target: Option<f64>,
    /// Epochs at most, for methods that run in epochs: epochs 0 to n − 1 are 2ⁿ − 1 steps.
    pub max_epochs: Option<u32>,
    /// Time at most.
    pub time_limit: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: "auto".into(),
            arguments: Vec::new(),
            geometry: None,
            device: DeviceChoice::Cpu,
            oracle: Oracle::Auto,
            iterations: None,
            epsilon: None,
            gap: None,
            radius: None,
            tolerance: None,
            target: None,
            max_epochs: None,
            time_limit: None,
        }
    }
}

impl Settings {
    /// The same with this method.
    pub fn method(name: &str) -> Self {
        Self { method: name.into(), ..Self::default() }
    }

    /// A stop that has to be earned was asked for: a certificate, a gap, a tolerance, a target.
    pub fn certifies(&self) -> bool {
        let tolerance = self.tolerance.is_some_and(|tolerance| tolerance > 0.0);
        self.epsilon.is_some() || self.gap.is_some() || self.target.is_some() || tolerance
    }

    /// The parameter of that name, if it was given.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}
