//! Total variation denoising: ½‖X − Y‖² + Σ MCP_{2,0.05} of the forward differences of Camera, noise of 0.05, from X = Y.

use melmo::geometry::Norm;

use crate::data::{Library, Set};
use crate::instance::{Experiment, Instance, Mcp, Method, Objective, Start};
use crate::setting::Options;

/// The five methods of the figure.
pub const METHODS: [&str; 5] = ["subgradient", "variable smoothing", "MELMO ℓ2", "MELMO spectral", "MELMO nuclear"];

/// Regular against epoch-wise.
pub const EPOCHS: [&str; 2] = ["regular (2/3, 1/3)", "epoch-wise (2/3, 1/3)"];

/// MCP_{2,0.05}.
pub const MCP: Mcp = Mcp { mu: 2.0, lambda: 0.05 };

/// What the published numbers come from is ‖X − Y‖² + Σ MCP_{2,0.05}, without the ½. Half of it, ½‖X − Y‖² + Σ MCP_{4,0.025} (as
/// α·MCP_{μ,λ} = MCP_{μ/α,αλ}) with twice the β, has the same directions and prox points.
const HALVED: Mcp = Mcp { mu: 4.0, lambda: 0.025 };

/// The noise.
pub const NOISE: f64 = 0.05;

/// One run a method, with the noise of seed 0.
pub fn instances(options: &Options, library: &Library) -> Vec<Instance> {
    let Some(matrix) = library.get(Set::Camera) else { return Vec::new() };
    let published = options.published();
    let (gamma, beta) = if published { (2.0, 2.0) } else { (1.0, 1.0) };
    // Half the function with twice the step.
    let step = if published { 1e-3 } else { 5e-4 };
    // L and ‖∇‖² ≤ 8 in 1/(L + ‖∇‖²/β): the published runs went so far along the normalised gradient, with half this β.
    let smoothing = Method::Smoothing {
        beta,
        lipschitz: if published { 2.0 } else { 1.0 },
        operator_squared: if published { 16.0 } else { 8.0 },
        normalized: published,
    };
    let melmo = |norm, p, q| Method::Power { norm, oracle: "newton-schulz:6".into(), p, q, gamma, beta };
    let methods = [
        (Experiment::Denoising, METHODS[0], Method::Subgradient { step }),
        (Experiment::Denoising, METHODS[1], smoothing),
        (Experiment::Denoising, METHODS[2], melmo(Norm::L2, 7.0 / 12.0, 1.0 / 3.0)),
        (Experiment::Denoising, METHODS[3], melmo(Norm::Spectral, 7.0 / 12.0, 1.0 / 3.0)),
        (Experiment::Denoising, METHODS[4], melmo(Norm::Nuclear, 7.0 / 12.0, 1.0 / 3.0)),
        (Experiment::Epochs, EPOCHS[0], melmo(Norm::Spectral, 2.0 / 3.0, 1.0 / 3.0)),
        (
            Experiment::Epochs,
            EPOCHS[1],
            Method::EpochConstant {
                norm: Norm::Spectral,
                oracle: "newton-schulz:6".into(),
                gamma,
                beta,
                restart: false,
            },
        ),
    ];
    let objective = |coefficient, mcp| Objective::Image { noise: NOISE, coefficient, mcp };
    let run = |(experiment, label, method): (Experiment, &str, Method)| Instance {
        experiment,
        label: label.into(),
        set: Set::Camera,
        digest: matrix.digest.clone(),
        seed: 0,
        minimised: objective(0.5, if published { HALVED } else { MCP }),
        reported: objective(if published { 1.0 } else { 0.5 }, MCP),
        method,
        start: Start::Data,
        iterations: options.steps(8192),
    };
    methods.map(run).into()
}
