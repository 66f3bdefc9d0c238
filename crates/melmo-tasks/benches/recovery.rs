//! Masked recovery, ½‖M⊙(X − Y)‖² + Σ MCP(X): every method against the optimum, which has a closed form.
//!
//! `cargo bench -p melmo-tasks --bench recovery`: the bundled football adjacency and a seeded matrix of real numbers, half of
//! the entries hidden, from X = 0 and from M⊙Y; how many steps each method needs to F ≤ F* + 10⁻⁹, at most 1000.

use melmo::catalogue::{Arguments, find, methods};
use melmo::prelude::*;

const LAMBDA: f64 = 0.05;
const MU: f64 = 3.0;
const STEPS: u64 = 1000;

/// The least of ½(x − y)² + MCP(x): at 0, at the firm threshold, or at y.
fn entry_optimum(y: f64) -> f64 {
    let mcp = |x: f64| {
        let s = x.abs().min(MU * LAMBDA);
        LAMBDA * s - s * s / (2.0 * MU)
    };
    let firm = y.signum() * (y.abs() - LAMBDA).max(0.0) / (1.0 - 1.0 / MU);
    [0.0, firm, y].map(|x| 0.5 * (x - y).powi(2) + mcp(x)).into_iter().fold(f64::INFINITY, f64::min)
}

fn recover(problem: &Problem<f64>, least: f64, method: &str, x0: &[f64]) -> Result<String, Error> {
    let rows = methods::<f64>();
    let row = find("method", &rows, method)?;
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto)?;
    let mut solver = match (row.build)(&Arguments::defaults(&row.entry)?, problem, geometry, x0) {
        Err(Error::Unsupported(_)) => return Ok("refused |".into()),
        built => built?,
    };
    let stop = Stop { target: Some(least + 1e-9), ..Stop::after(STEPS) };
    let report = run(&mut *solver, &Options { track_best: true, ..Options::new(stop) }, &mut []);
    let best = report.best.map_or(f64::NAN, |best| best.objective) - least;
    let steps = if report.status == Status::Target { (report.info.k - 1).to_string() } else { "–".into() };
    Ok(format!("{best:.1e} | {steps}"))
}

fn main() -> Result<(), Error> {
    let football = melmo_data::bundled::football().expect("the bundled graph").adjacency;
    let side = football.shape[0];
    let real: Vec<f64> = Seeded::new(4).normals::<f64>(100 * 100).iter().map(|v| 0.2 * v).collect();
    for (name, y, side) in
        [("football, 115×115, entries 0 and 1", football.data, side), ("normal entries, 100×100", real, 100)]
    {
        let mask: Vec<f64> = Seeded::new(5).mask(y.len(), 0.5);
        let seen: Vec<f64> = y.iter().zip(&mask).map(|(y, m)| y * m).collect();
        let least: f64 = y.iter().zip(&mask).filter(|(_, m)| **m == 1.0).map(|(y, _)| entry_optimum(*y)).sum();
        let layout = Layout::matrix(side, side)?;
        let loss = MaskedLeastSquares::new(layout.clone(), y, Some(mask))?;
        let penalty = Entrywise::new(Mcp::new(LAMBDA, MU)?, side * side);
        let problem = Problem::new(loss, penalty, Identity::new(layout))?;
        println!("\n{name}, F* = {least:.6}\n");
        println!("| method | F − F* from 0 | steps to 1e-9 | F − F* from M⊙Y | steps to 1e-9 |");
        println!("|---|---|---|---|---|");
        for row in methods::<f64>() {
            let name = row.entry.name;
            let zero = recover(&problem, least, name, &vec![0.0; seen.len()])?;
            println!("| {name} | {zero} | {} |", recover(&problem, least, name, &seen)?);
        }
    }
    Ok(())
}
