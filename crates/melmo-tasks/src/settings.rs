//! How to solve: what every solving command and function understands.

use std::time::Duration;

use melmo::drive::Epsilon;
use melmo::geometry::Oracle;

use crate::choice::GeometryChoice;

/// How to solve a problem. Whatever is left out is the task's, or the method's, own choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// A method of the catalogue; `auto` chooses by the problem's structure.
    pub method: String,
    /// Parameters of the method.
    pub arguments: Vec<(String, f64)>,
    /// The norm of the steps.
    pub geometry: Option<GeometryChoice>,
    /// How spectral directions are found.
    pub oracle: Oracle,
    /// Steps at most.
    pub iterations: Option<u64>,
    /// Stop at a certificate.
    pub epsilon: Option<Epsilon>,
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
            oracle: Oracle::Auto,
            iterations: None,
            epsilon: None,
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

    /// The parameter of that name, if it was given.
    pub fn argument(&self, name: &str) -> Option<f64> {
        self.arguments.iter().rev().find(|(known, _)| known == name).map(|&(_, value)| value)
    }
}
