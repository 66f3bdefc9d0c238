//! Masked recovery, ½‖M⊙(X − Y)‖² + Σ MCP(X): every method against the optimum, which has a closed form.
//!
//! The bundled football adjacency and a seeded matrix of real numbers, half of the entries hidden, from X = 0 and from M⊙Y; how
//! many steps each method needs to F ≤ F* + 10⁻⁹, at most 1000.

use melmo::catalogue::{Arguments, find, methods};
use melmo::drive::Best;
use melmo::prelude::*;

use crate::Flags;
use crate::equal_time::Contest;
use crate::page::{Instance, Section};
use crate::race::{Job, lowest, parallel};

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

struct Case {
    name: &'static str,
    problem: Problem<f64>,
    seen: Vec<f64>,
    least: f64,
}

fn cases() -> Result<Vec<Case>, Error> {
    let football = melmo_data::bundled::football().expect("the bundled graph").adjacency;
    let side = football.shape[0];
    let real: Vec<f64> = Seeded::new(4).normals::<f64>(100 * 100).iter().map(|v| 0.2 * v).collect();
    let both = [("football, 115×115, entries 0 and 1", football.data, side), ("normal entries, 100×100", real, 100)];
    let case = |(name, y, side): (&'static str, Vec<f64>, usize)| {
        let mask: Vec<f64> = Seeded::new(5).mask(y.len(), 0.5);
        let seen: Vec<f64> = y.iter().zip(&mask).map(|(y, m)| y * m).collect();
        let least: f64 = y.iter().zip(&mask).filter(|(_, m)| **m == 1.0).map(|(y, _)| entry_optimum(*y)).sum();
        let layout = Layout::matrix(side, side)?;
        let loss = MaskedLeastSquares::new(layout.clone(), y, Some(mask))?;
        let penalty = Entrywise::new(Mcp::new(LAMBDA, MU)?, side * side);
        Ok(Case { name, problem: Problem::new(loss, penalty, Identity::new(layout))?, seen, least })
    };
    both.into_iter().map(case).collect()
}

/// Both, from 0, for a comparison of two versions.
pub(crate) fn contests() -> Vec<Contest> {
    let contest = |at: usize| {
        let case = cases().expect("two matrices").swap_remove(at);
        Contest {
            name: case.name.into(),
            starts: vec![vec![0.0; case.seen.len()]],
            problem: Box::new(move || Ok(cases()?.swap_remove(at).problem)),
            geometry: (Norm::L2, Oracle::Auto),
            methods: &["auto", "metric", "scaled", "tilted"],
            seconds: [0.05, 0.2],
        }
    };
    [0, 1].map(contest).into()
}

/// (F, steps to the optimum if it came there) from a start; `None` where the method refuses.
fn recover(case: &Case, method: &str, x0: &[f64]) -> Result<Option<(f64, Option<u64>)>, Error> {
    let rows = methods::<f64>();
    let row = find("method", &rows, method)?;
    let geometry = for_layout(Norm::L2, case.problem.layout(), Oracle::Auto)?;
    let mut solver = match (row.build)(&Arguments::defaults(&row.entry)?, &case.problem, geometry, x0) {
        Err(Error::Unsupported(_)) => return Ok(None),
        built => built?,
    };
    let stop = Stop { target: Some(case.least + 1e-9), ..Stop::after(STEPS) };
    let mut best = Best::new(&mut *solver);
    let report = run(&mut *solver, &Options::new(stop), &mut [&mut best]);
    let steps = (report.status == Status::Target).then(|| report.info.k - 1);
    Ok(Some((best.objective.min(lowest(&case.problem, &report)), steps)))
}

fn table(case: &Case) -> Result<(String, Vec<Instance>), Error> {
    let mut text = format!("**{}**, F* = {:.6}\n\n", case.name, case.least);
    text += "| method | F − F* from 0 | steps to 1e-9 | F − F* from M⊙Y | steps to 1e-9 |\n|---|---|---|---|---|\n";
    let mut reached = [Vec::new(), Vec::new()];
    for row in methods::<f64>() {
        let name = row.entry.name;
        let mut cells = String::new();
        for (x0, reached) in [vec![0.0; case.seen.len()], case.seen.clone()].iter().zip(&mut reached) {
            let Some((objective, steps)) = recover(case, name, x0)? else { continue };
            let steps = steps.map_or("–".into(), |steps| steps.to_string());
            cells += &format!(" {:.1e} | {steps} |", objective - case.least);
            reached.push((name.to_string(), objective));
        }
        if !cells.is_empty() {
            text += &format!("| {name} |{cells}\n");
        }
    }
    let starts = ["0", "M⊙Y"].into_iter().zip(&reached);
    let instances = starts.map(|(start, reached)| Instance::new(format!("{}, from {start}", case.name), reached));
    Ok((text, instances.collect()))
}

pub(crate) fn section(flags: &Flags) -> Section {
    let mut section = Section { text: "## Masked recovery\n\n".into(), instances: Vec::new() };
    let cases = match cases() {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("FAILED: {error}");
            return section;
        }
    };
    let job = |case| Job { cost: 1.0, work: Box::new(move || table(case)) };
    for answer in parallel(flags.threads, cases.iter().map(job).collect()) {
        match answer {
            Ok((text, instances)) => {
                section.text += &format!("{text}\n");
                section.instances.extend(instances);
            }
            Err(error) => eprintln!("FAILED: {error}"),
        }
    }
    section
}
