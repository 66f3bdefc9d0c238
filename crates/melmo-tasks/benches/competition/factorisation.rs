//! Sparse factorisation, every method from the same standard normal start.
//!
//! The well-posed twin is ‖Y − WH‖² + ν/2·‖H‖² + Σ MCP_{3,1}(W), ν = 0.1; the paper's objective has ν = 0. Y is scaled to [0, 1].
//! Spectrometer and Olivetti are read from the folder of `--data`; Olivetti from one seed, the others from three.

use std::sync::Arc;

use melmo::linalg::{Dense as _, Into, Mat};
use melmo::prelude::*;
use melmo::statistics::median;
use melmo_data::{Array, Kind, bundled, npy};

use crate::Flags;
use crate::equal_time::Contest;
use crate::page::{Instance, Section};
use crate::race::{Entrant, Job, parallel, race};

/// Data, and the best F that the paper prints for r = 10, 20, 30.
struct Data {
    name: &'static str,
    y: Vec<f64>,
    rows: usize,
    cols: usize,
    published: [f64; 3],
}

const PUBLISHED: [(&str, [f64; 3]); 6] = [
    ("camera", [390.4, 272.3, 238.4]),
    ("football", [569.5, 395.5, 283.5]),
    ("spectrometer", [52.2, 64.3, 87.7]),
    ("olivetti", [11430.0, 8508.0, 6914.0]),
    // Held out: not looked at while anything was chosen.
    ("synthetic", [47.9, 49.1, 67.5]),
    ("miserables", [f64::NAN; 3]),
];

/// The twin's columns, `auto` first: the others are given its time too.
const TWIN: [&str; 9] = [
    "auto",
    "melmo beta=1.5",
    "variable-smoothing beta=1.5 lipschitz=2 normalized=1",
    "palm",
    "ipalm",
    "ipalm rescale=10",
    "fista",
    "lbfgs",
    "alternating rescale=10 explore=1",
];

/// The paper's objective.
const PAPER: [&str; 4] = ["auto", "ipalm", "ipalm rescale=10", "alternating rescale=10"];

/// The 100×100 entrywise product of two products of standard normal factors of rank 35.
fn synthetic() -> Array {
    let (n, rank, mut seeded) = (100, 35, Seeded::new(35));
    let mut product = || {
        let (w, h): (Vec<f64>, Vec<f64>) = (seeded.normals(n * rank), seeded.normals(rank * n));
        let mut wh = vec![0.0; n * n];
        f64::gemm(&mut wh, Into::Replace, 1.0, Mat::new(&w, n, rank), Mat::new(&h, rank, n));
        wh
    };
    let data = product().iter().zip(product()).map(|(a, b)| a * b).collect();
    Array { shape: vec![n, n], data, kind: Kind::F64 }
}

fn load(flags: &Flags, name: &'static str, published: [f64; 3]) -> Result<Data, String> {
    let stored = |file: &str| npy::read(&flags.file("--data", file)?).map_err(|e| e.to_string());
    let array = match name {
        "camera" => bundled::camera256().map_err(|e| e.to_string())?,
        "football" => bundled::football().map_err(|e| e.to_string())?.adjacency,
        "synthetic" => synthetic(),
        "miserables" => bundled::miserables(None).map_err(|e| e.to_string())?.adjacency,
        "spectrometer" => stored("spectrometer.npy")?,
        _ => stored("olivetti_u8.npy")?,
    };
    let rows = array.shape[0];
    let (low, high) = array.data.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let y: Vec<f64> = array.data.iter().map(|v| (v - low) / (high - low)).collect();
    Ok(Data { name, cols: y.len() / rows, y, rows, published })
}

fn problem(data: &Data, rank: usize, nu: f64) -> Result<Problem<f64>, Error> {
    let f = Factorization::new(data.y.clone(), data.rows, data.cols, rank)?.ridge(nu)?;
    let t = Select::new(f.layout(), &["W"])?;
    Problem::new(f, Entrywise::new(Mcp::new(1.0, 3.0)?, data.rows * rank), t)
}

/// The twins, for a comparison of two versions: Olivetti five times as long.
pub(crate) fn contests(flags: &Flags) -> Vec<Contest> {
    let loaded = PUBLISHED.iter().filter_map(|&(name, published)| load(flags, name, published).ok());
    let all: Vec<Arc<Data>> = loaded.map(Arc::new).collect();
    let contest = |(data, rank): (Arc<Data>, usize)| {
        let seconds = if data.name == "olivetti" { [5.0, 20.0] } else { [1.0, 4.0] };
        let size = (data.rows + data.cols) * rank;
        Contest {
            name: format!("factors of {} r={rank}", data.name),
            starts: (0..5).map(|seed| Seeded::new(seed).normals(size)).collect(),
            problem: Box::new(move || problem(&data, rank, 0.1)),
            geometry: (Norm::Spectral, Oracle::NewtonSchulz(6)),
            methods: &["auto"],
            seconds,
        }
    };
    all.iter().flat_map(|data| [10, 20, 30].map(|rank| (data.clone(), rank))).map(contest).collect()
}

/// F, F in the time given, seconds.
type Numbers = [f64; 3];

/// One method from one start.
fn one(case: &Case<'_>, text: &str, steps: u64, time: Option<f64>) -> Result<Option<Numbers>, Error> {
    let problem = problem(case.data, case.rank, case.nu)?;
    let x0: Vec<f64> = Seeded::new(case.seed).normals(problem.layout().size());
    let (method, given) = text.split_once(' ').unwrap_or((text, ""));
    let entrant = Entrant::parse(&format!("{method} {steps} {given}"));
    // Variable smoothing knows the Euclidean norm alone.
    let norm = if method == "variable-smoothing" { Norm::L2 } else { Norm::Spectral };
    let finish = race(&problem, (norm, Oracle::NewtonSchulz(6)), &entrant, &x0, time)?;
    Ok(finish.map(|finish| [finish.objective, finish.in_time, finish.seconds]))
}

/// Every method on every case: `auto` first, then all the others at once, each also in `auto`'s time.
fn runs(cases: &[Case<'_>], steps: u64, threads: usize) -> Vec<Vec<Numbers>> {
    let race = |of: &[(usize, usize)], times: &[f64]| {
        let job = |&(at, m): &(usize, usize)| {
            let (case, time) = (&cases[at], times.get(at).copied().filter(|time| time.is_finite()));
            let numbers = move || one(case, case.methods()[m], steps, time).ok().flatten().unwrap_or([f64::NAN; 3]);
            Job { cost: case.data.y.len() as f64 * case.rank as f64, work: Box::new(numbers) }
        };
        parallel(threads, of.iter().map(job).collect())
    };
    let autos: Vec<(usize, usize)> = (0..cases.len()).map(|at| (at, 0)).collect();
    let first = race(&autos, &[]);
    let times: Vec<f64> = first.iter().map(|numbers| numbers[2]).collect();
    let others: Vec<(usize, usize)> =
        cases.iter().enumerate().flat_map(|(at, case)| (1..case.methods().len()).map(move |m| (at, m))).collect();
    let mut out: Vec<Vec<Numbers>> = first.into_iter().map(|numbers| vec![numbers]).collect();
    others.iter().zip(race(&others, &times)).for_each(|(&(at, _), numbers)| out[at].push(numbers));
    out
}

/// The medians over seeds, method by method.
fn medians(seeds: &[&Vec<Numbers>], methods: usize) -> Vec<Numbers> {
    let of = |m: usize, at: usize| {
        median(&seeds.iter().map(|runs| runs[m][at]).filter(|v| v.is_finite()).collect::<Vec<_>>())
    };
    (0..methods).map(|m| [0, 1, 2].map(|at| of(m, at))).collect()
}

fn cell(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { "–".into() }
}

fn infimum(data: &Data, rank: usize) -> f64 {
    let mut sigma = vec![0.0; data.rows.min(data.cols)];
    let mut work = vec![0.0; f64::singular_values_work_len(data.rows, data.cols)];
    f64::singular_values(&mut sigma, Mat::new(&data.y, data.rows, data.cols), &mut work);
    sigma.iter().skip(rank).map(|s| s * s).sum()
}

/// What is run: data, rank, ν, seed.
struct Case<'d> {
    data: &'d Data,
    rank: usize,
    nu: f64,
    seed: u64,
}

impl Case<'_> {
    fn methods(&self) -> &'static [&'static str] {
        if self.nu > 0.0 { &TWIN } else { &PAPER }
    }
}

fn cases<'d>(all: &'d [Data], quick: bool) -> Vec<Case<'d>> {
    let ranks: &[usize] = if quick { &[10] } else { &[10, 20, 30] };
    let mut out = Vec::new();
    for data in all {
        let seeds = if quick || data.name == "olivetti" { 1 } else { 3 };
        // The paper's objective on its own real matrices.
        let objectives: &[f64] = if ["synthetic", "miserables"].contains(&data.name) { &[0.1] } else { &[0.1, 0.0] };
        for (&nu, &rank) in objectives.iter().flat_map(|nu| ranks.iter().map(move |rank| (nu, rank))) {
            out.extend((0..seeds).map(|seed| Case { data, rank, nu, seed }));
        }
    }
    out
}

pub(crate) fn section(flags: &Flags) -> Section {
    let mut all = Vec::new();
    for (name, published) in PUBLISHED {
        match load(flags, name, published) {
            Ok(data) => all.push(data),
            Err(reason) => eprintln!("SKIPPED {name}: {reason}"),
        }
    }
    let steps = if flags.quick { 1000 } else { 5000 };
    let cases = cases(&all, flags.quick);
    let found = runs(&cases, steps, flags.threads);
    let of = |data: &Data, rank: usize, nu: f64, methods: usize| {
        let same = |case: &&Case| std::ptr::eq(case.data, data) && case.rank == rank && case.nu == nu;
        let seeds: Vec<_> = cases.iter().zip(&found).filter(|(case, _)| same(case)).map(|(_, runs)| runs).collect();
        medians(&seeds, methods)
    };
    let ranks: &[usize] = if flags.quick { &[10] } else { &[10, 20, 30] };
    let rows: Vec<(&Data, usize)> = all.iter().flat_map(|data| ranks.iter().map(move |&rank| (data, rank))).collect();
    let mut section = Section { text: format!("## Factorisation, {steps} steps\n\n"), instances: Vec::new() };
    twin(&mut section, &rows, |data, rank| of(data, rank, 0.1, TWIN.len()));
    paper(&mut section, &rows, |data, rank| of(data, rank, 0.0, PAPER.len()));
    section
}

fn twin(section: &mut Section, rows: &[(&Data, usize)], of: impl Fn(&Data, usize) -> Vec<Numbers>) {
    let head = |what: &str| format!("{what}\n\n| | {} |\n|{}\n", TWIN.join(" | "), "---|".repeat(TWIN.len() + 1));
    let heads =
        ["Well-posed twin, ν = 0.1: F after all steps", "F in auto's time", "Processor seconds of all steps"].map(head);
    let mut tables = heads;
    for &(data, rank) in rows {
        let found = of(data, rank);
        let name = format!("{} r={rank}", data.name);
        for (at, table) in tables.iter_mut().enumerate() {
            let cells: Vec<String> = found.iter().map(|numbers| cell(numbers[at])).collect();
            *table += &format!("| {name} | {} |\n", cells.join(" | "));
        }
        let reached: Vec<(String, f64)> = TWIN.iter().map(|m| m.to_string()).zip(found.iter().map(|f| f[0])).collect();
        section.instances.push(Instance::new(format!("factors of {name}"), &reached));
    }
    section.text += &format!("{}\n", tables.join("\n"));
}

fn paper(section: &mut Section, rows: &[(&Data, usize)], of: impl Fn(&Data, usize) -> Vec<Numbers>) {
    section.text += "The paper's objective, ν = 0: F after all steps\n\n";
    section.text += &format!(
        "| | best published | {} | infimum |\n|---|---|{}---|\n",
        PAPER.join(" | "),
        "---|".repeat(PAPER.len())
    );
    for &(data, rank) in rows {
        let found = of(data, rank);
        if found.iter().all(|numbers| numbers[0].is_nan()) {
            continue;
        }
        let cells: Vec<String> = found.iter().map(|numbers| cell(numbers[0])).collect();
        let published = data.published[rank / 10 - 1];
        let least = infimum(data, rank);
        section.text += &format!("| {} r={rank} | {published} | {} | {least:.2} |\n", data.name, cells.join(" | "));
    }
}
