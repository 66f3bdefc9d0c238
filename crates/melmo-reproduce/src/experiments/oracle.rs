//! Newton–Schulz with 6 and with 2 steps against the singular value decomposition, on Camera.

use melmo::geometry::Norm;

use crate::data::{Library, Set};
use crate::experiments::factorisation::{MCP, exponents, ranks};
use crate::instance::{Experiment, Instance, Method, Objective, Start};
use crate::setting::Options;

/// The oracles: as people read them, and as they are typed.
pub const ORACLES: [(&str, &str); 3] = [
    ("Newton–Schulz, 6 steps", "newton-schulz:6"),
    ("Newton–Schulz, 2 steps", "newton-schulz:2"),
    ("exact (SVD)", "svd"),
];

/// The same start for all of them.
pub fn instances(options: &Options, library: &Library) -> Vec<Instance> {
    let Some(matrix) = library.get(Set::Camera) else { return Vec::new() };
    let published = options.published();
    let (p, q) = exponents(2);
    let run = |rank: usize, (label, oracle): (&str, &str)| {
        let objective = |coefficient| Objective::Factors { rank, coefficient, ridge: 0.0, mcp: MCP };
        let beta = if published { 1.5 } else { 1.0 };
        Instance {
            experiment: Experiment::Oracle,
            label: label.into(),
            set: Set::Camera,
            digest: matrix.digest.clone(),
            seed: 0,
            minimised: objective(if published { 0.5 } else { 1.0 }),
            reported: objective(1.0),
            method: Method::Power { norm: Norm::Spectral, oracle: oracle.into(), p, q, gamma: 1.0, beta },
            start: Start::Normal { scale: 1.0, seed: 0 },
            iterations: options.steps(5000),
        }
    };
    ranks(options).iter().flat_map(|&rank| ORACLES.map(|oracle| run(rank, oracle))).collect()
}
