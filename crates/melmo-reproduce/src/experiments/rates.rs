//! What the theorems promise, measured on masked recovery in ℓ2, where all their assumptions hold: the stated problem,
//! whatever the setting. From X = 0 every observed 1 moves like every other, and the run ends at the optimum to the last bit
//! after a while: that shows no rate. So it starts from small normal numbers, with a γ that covers the way within a few steps.

use melmo::geometry::Norm;

use crate::data::Library;
use crate::experiments::recovery::{MCP, SETS};
use crate::instance::{Experiment, Instance, Method, Objective, Start};
use crate::setting::Options;

/// The schedules.
pub const SCHEDULES: [&str; 5] =
    ["balanced (7/12, 1/3)", "favouring (2/3, 1/4)", "horizon K", "epoch-power", "epoch-constant"];

/// γ, about the distance to go; the theorems allow any.
pub const GAMMA: f64 = 20.0;

/// The standard deviation of the start.
pub const SCALE: f64 = 0.1;

/// The share of observed entries.
pub const FRACTION: f64 = 0.5;

/// The horizons K: powers of two.
pub fn horizons(options: &Options) -> Vec<u64> {
    (6..=if options.quick { 10 } else { 14 }).map(|exponent| 1 << exponent).collect()
}

/// One run a schedule and set; one for each K of the horizon.
pub fn instances(options: &Options, library: &Library) -> Vec<Instance> {
    let mut out = Vec::new();
    for set in SETS {
        let Some(matrix) = library.get(set) else { continue };
        let most = horizons(options).last().copied().unwrap_or(1);
        let run = |label: &str, method: Method, iterations: u64| Instance {
            experiment: Experiment::Rates,
            label: label.into(),
            set,
            digest: matrix.digest.clone(),
            seed: 0,
            minimised: Objective::Entries { fraction: FRACTION, coefficient: 0.5, mcp: MCP },
            reported: Objective::Entries { fraction: FRACTION, coefficient: 0.5, mcp: MCP },
            method,
            start: Start::Normal { scale: SCALE, seed: 0 },
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
