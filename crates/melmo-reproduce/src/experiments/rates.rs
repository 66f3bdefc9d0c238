//! What the theorems promise, measured on masked recovery in ℓ2, where all their assumptions hold: the stated problem,
//! whatever the setting. From X = 0 every observed 1 moves like every other, and the run ends at the optimum to the last bit
//! after a while: that shows no rate. So it starts from small normal numbers.

use melmo::geometry::Norm;

use crate::data::Library;
use crate::experiments::recovery::{MCP, SETS};
use crate::instance::{Experiment, Instance, Method, Objective, Start};
use crate::setting::Options;

/// The schedules.
pub const SCHEDULES: [&str; 5] =
    ["balanced (7/12, 1/3)", "favouring (2/3, 1/4)", "horizon K", "epoch-power", "epoch-constant"];

/// γ; the theorems allow any. It decides where the window may begin. The steps of K = 256 are γK^{1/3} = 32 together, more than
/// the distance to go (about 27 on Football, 18 on Misérables). And the gradient, which settles near γ_k/(2β_k), is by
/// then well below λ√N, where the envelope's gradient saturates: 20 would be too much for that, 3 too little for the way.
pub const GAMMA: f64 = 5.0;

/// Slopes are fitted from this k (or K) on.
pub const FROM: u64 = 256;

/// The standard deviation of the start.
pub const SCALE: f64 = 0.1;

/// The share of observed entries.
pub const FRACTION: f64 = 0.5;

/// The horizons K: powers of two.
pub fn horizons(options: &Options) -> Vec<u64> {
    (6..=if options.quick { 11 } else { 15 }).map(|exponent| 1 << exponent).collect()
}

/// One run a schedule, set and seed (masks and starts); one for each K of the horizon.
pub fn instances(options: &Options, library: &Library) -> Vec<Instance> {
    let mut out = Vec::new();
    let most = horizons(options).last().copied().unwrap_or(1);
    let objective = Objective::Entries { fraction: FRACTION, coefficient: 0.5, mcp: MCP };
    for (set, seed) in SETS.into_iter().flat_map(|set| options.seeds().map(move |seed| (set, seed))) {
        let Some(matrix) = library.get(set) else { continue };
        let run = |label: &str, method: Method, iterations: u64| Instance {
            experiment: Experiment::Rates,
            label: label.into(),
            set,
            digest: matrix.digest.clone(),
            seed,
            minimised: objective,
            reported: objective,
            method,
            start: Start::Normal { scale: SCALE, seed },
            iterations,
        };
        let (norm, gamma, beta) = (Norm::L2, GAMMA, 1.0);
        let power = |p, q| Method::Power { norm, oracle: "auto".into(), p, q, gamma, beta };
        out.push(run(SCHEDULES[0], power(7.0 / 12.0, 1.0 / 3.0), most));
        out.push(run(SCHEDULES[1], power(2.0 / 3.0, 1.0 / 4.0), most));
        out.extend(horizons(options).iter().map(|&k| run(SCHEDULES[2], Method::Horizon { norm, gamma, beta }, k)));
        // An epoch ends at a power of two less one.
        out.push(run(SCHEDULES[3], Method::EpochPower { norm, gamma, beta }, most - 1));
        let constant = Method::EpochConstant { norm, oracle: "auto".into(), gamma, beta, restart: true };
        out.push(run(SCHEDULES[4], constant, most - 1));
    }
    out
}
