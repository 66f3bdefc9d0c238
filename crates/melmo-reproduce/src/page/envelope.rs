//! MCP_{3,1} and its Moreau envelopes.

use melmo::penalty::{Mcp, Separable};
use melmo_page::{Axis, Chart, Section, Series};

use crate::experiments::factorisation::MCP;

/// The smoothings that are shown.
const BETAS: [f64; 4] = [0.25, 0.5, 1.0, 1.5];

pub(super) fn section() -> Section {
    let x: Vec<f64> = (-200..=200).map(|i| f64::from(i) / 40.0).collect();
    let mut chart = Chart::new("MCP_{3,1} and its Moreau envelopes", [Axis::linear("x")], Axis::linear("value"));
    if let Ok(psi) = Mcp::new(MCP.lambda, MCP.mu) {
        let values: Vec<f64> = x.iter().map(|&x| psi.psi(x)).collect();
        chart = chart.series(Series::new("MCP_{3,1}", x.clone(), values));
        for beta in BETAS {
            let values: Vec<f64> = x.iter().map(|&x| psi.envelope(x, beta).0).collect();
            chart = chart.series(Series::new(format!("β = {beta}"), x.clone(), values));
        }
    }
    Section::new("The penalty and its envelopes")
        .paragraph(
            "g_{β}(u) = min_{v} g(v) + ‖u − v‖²/(2β) is smooth where g has a corner, and tends to g as β → 0. MCP_{3,1} is \
             1/3-weakly convex, so β may be at most 1/(2ρ) = 1.5.",
        )
        .item(chart.caption("Beyond |x| = 3 the penalty is flat and all curves coincide."))
}
