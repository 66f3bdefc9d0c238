//! Sparse low-rank factorisation: ‖Y − WH‖² + Σ MCP_{3,1}(W_ij), 5000 steps, spectral geometry in each block.

use melmo::geometry::Norm;

use crate::data::{Library, Matrix, Set};
use crate::instance::{Experiment, Instance, Mcp, Method, Objective, Start};
use crate::setting::Options;

/// The paper's columns.
pub const METHODS: [&str; 4] = ["subgradient", "variable smoothing", "MELMO (7/12, 1/3)", "MELMO (2/3, 1/4)"];

/// ν of the well-posed twin.
pub const RIDGE: f64 = 0.1;

/// MCP_{3,1}.
pub const MCP: Mcp = Mcp { mu: 3.0, lambda: 1.0 };

/// The ranks.
pub fn ranks(options: &Options) -> &'static [usize] {
    if options.quick { &[10] } else { &[10, 20, 30] }
}

/// The sets that are there; three small ones in a quick run.
pub fn sets(options: &Options, library: &Library) -> Vec<Set> {
    let there = |set: &Set| library.get(*set).is_some() && (!options.quick || *set != Set::Olivetti);
    Set::FACTORISED.into_iter().filter(there).collect()
}

/// The table's runs, and those of the twin.
pub fn instances(options: &Options, library: &Library) -> Vec<Instance> {
    let mut out = Vec::new();
    for set in sets(options, library) {
        let Some(matrix) = library.get(set) else { continue };
        for &rank in ranks(options) {
            for column in 0..METHODS.len() {
                out.extend(options.seeds().map(|seed| run(options, set, matrix, rank, column, seed, 0.0)));
                out.push(run(options, set, matrix, rank, column, 0, RIDGE));
            }
        }
    }
    out
}

/// The p and q of a column that is MELMO.
pub(super) fn exponents(column: usize) -> (f64, f64) {
    if column == 2 { (7.0 / 12.0, 1.0 / 3.0) } else { (2.0 / 3.0, 1.0 / 4.0) }
}

fn run(options: &Options, set: Set, matrix: &Matrix, rank: usize, column: usize, seed: u64, ridge: f64) -> Instance {
    let published = options.published();
    let stated = Objective::Factors { rank, coefficient: 1.0, ridge, mcp: MCP };
    let halved = Objective::Factors { rank, coefficient: 0.5, ridge, mcp: MCP };
    let beta = if published { 1.5 } else { 1.0 };
    let method = match column {
        0 => Method::Subgradient { step: 5e-4 },
        1 => Method::Smoothing { beta, lipschitz: 2.0, operator_squared: 1.0, normalized: true },
        _ => {
            let (p, q) = exponents(column);
            Method::Power { norm: Norm::Spectral, oracle: "newton-schulz:6".into(), p, q, gamma: 1.0, beta }
        }
    };
    // Published: each method its own start, the subgradient method's ten times smaller.
    let start = match (published, column) {
        (true, 0) => Start::Normal { scale: 0.1, seed },
        (true, _) => Start::Normal { scale: 1.0, seed: seed + 1000 * column as u64 },
        (false, _) => Start::Normal { scale: 1.0, seed },
    };
    Instance {
        experiment: if ridge > 0.0 { Experiment::Twin } else { Experiment::Factorisation },
        label: METHODS[column].into(),
        set,
        digest: matrix.digest.clone(),
        seed,
        minimised: if published && column > 0 { halved } else { stated },
        reported: stated,
        method,
        start,
        iterations: options.steps(if published && set == Set::Olivetti { 10_000 } else { 5000 }),
    }
}
