//! Penalised regression, ½‖Ax − b‖² + Σψ(x_j) with columns of norm 1.
//!
//! `--diabetes` names a folder with scikit-learn's `diabetes_data_raw.csv` and `diabetes_target.csv` (unpacked from its wheel,
//! `sklearn/datasets/data/*.csv.gz`); the design is then all products of at most two of its ten columns. The others are made
//! from a seed: correlated columns (0.5 to the power of their distance), 1 % of them behind the target, as much noise as
//! a quarter of the signal. Every method goes along the same λs, from λ_max down to λ_max/20, each from its own last answer;
//! `polished` takes coordinate descent's path and looks past each of its points. `--designs wide,large` names those wanted,
//! `--seconds N` ends a method after N seconds of the clock for each λ (not `path`).

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use melmo::catalogue::{Arguments, find, methods};
use melmo::prelude::*;
use melmo::smooth::Form;
use melmo::solver::{Info, LambdaPath, geometric};
use melmo_data::csv;

use crate::Flags;
use crate::page::{Instance, Section};
use crate::race::{Job, parallel, seconds};

/// One loss for many problems.
struct Shared(Arc<LeastSquares<f64>>);

impl Smooth<f64> for Shared {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn work_len(&self) -> usize {
        self.0.work_len()
    }

    fn value_grad(&self, grad: &mut [f64], x: &[f64], work: &mut [f64]) -> f64 {
        self.0.value_grad(grad, x, work)
    }

    fn lipschitz(&self) -> Option<f64> {
        self.0.lipschitz()
    }

    fn form(&self) -> Form<'_, f64> {
        self.0.form()
    }
}

/// Columns of mean 0 and norm 1, a target of mean 0.
fn standardised(mut a: Vec<f64>, mut b: Vec<f64>, cols: usize) -> Arc<LeastSquares<f64>> {
    let rows = b.len();
    let (mut mean, mut square) = (vec![0.0; cols], vec![0.0; cols]);
    a.chunks(cols).for_each(|row| row.iter().zip(&mut mean).for_each(|(v, m)| *m += v / rows as f64));
    for row in a.chunks_mut(cols) {
        for ((v, m), s) in row.iter_mut().zip(&mean).zip(&mut square) {
            *v -= m;
            *s += *v * *v;
        }
    }
    for row in a.chunks_mut(cols) {
        row.iter_mut().zip(&square).for_each(|(v, s)| *v /= if *s > 1e-12 { s.sqrt() } else { 1.0 });
    }
    let mean = b.iter().sum::<f64>() / rows as f64;
    b.iter_mut().for_each(|v| *v -= mean);
    Arc::new(LeastSquares::new(Box::new(Dense::new(a, rows, cols).unwrap()), b).unwrap())
}

fn synthetic(rows: usize, cols: usize) -> Arc<LeastSquares<f64>> {
    let mut seeded = Seeded::new((rows + cols) as u64);
    let mut a = vec![0.0; rows * cols];
    for row in a.chunks_mut(cols) {
        let mut last = seeded.normal();
        for v in row {
            *v = last;
            last = 0.5 * last + 0.75f64.sqrt() * seeded.normal();
        }
    }
    let truth: Vec<f64> = (0..cols).map(|j| if j % 100 == 50 { seeded.normal().signum() } else { 0.0 }).collect();
    let signal: Vec<f64> = a.chunks(cols).map(|row| row.iter().zip(&truth).map(|(a, x)| a * x).sum()).collect();
    let size = (signal.iter().map(|v| v * v).sum::<f64>() / rows as f64).sqrt();
    let b = signal.iter().map(|v| v + 0.5 * size * seeded.normal()).collect();
    standardised(a, b, cols)
}

/// Ten columns, their squares and their products: 65 columns.
fn diabetes(folder: &Path) -> Result<Arc<LeastSquares<f64>>, String> {
    let read = |file: &str| csv::read(&folder.join(file)).map(|table| table.array).map_err(|e| e.to_string());
    let (data, target) = (read("diabetes_data_raw.csv")?, read("diabetes_target.csv")?);
    let (rows, base) = (data.shape[0], data.shape[1]);
    let centred: Vec<f64> = {
        let mean: Vec<f64> =
            (0..base).map(|j| data.data.iter().skip(j).step_by(base).sum::<f64>() / rows as f64).collect();
        data.data.iter().enumerate().map(|(at, v)| v - mean[at % base]).collect()
    };
    let products = |row: &[f64]| {
        let pairs = (0..base).flat_map(|i| (i..base).map(move |j| (i, j))).map(|(i, j)| row[i] * row[j]);
        row.iter().copied().chain(pairs).collect::<Vec<_>>()
    };
    let a: Vec<f64> = centred.chunks(base).flat_map(products).collect();
    Ok(standardised(a, target.data, base + base * (base + 1) / 2))
}

type Penalty = fn(f64, usize) -> Box<dyn Prox<f64>>;

const PENALTIES: [(&str, Penalty); 3] = [
    ("ℓ1", |lambda, n| Box::new(Entrywise::new(L1::new(lambda).unwrap(), n))),
    ("MCP, μ = 3", |lambda, n| Box::new(Entrywise::new(Mcp::new(lambda, 3.0).unwrap(), n))),
    ("SCAD, a = 3.7", |lambda, n| Box::new(Entrywise::new(Scad::new(lambda, 3.7).unwrap(), n))),
];

/// F at every λ, and the seconds for all.
type Along = (Vec<f64>, f64);

/// Coordinate descent along the path: also its points.
fn coordinates(f: &Arc<LeastSquares<f64>>, penalty: Penalty, lambdas: &[f64]) -> (Along, Vec<Vec<f64>>) {
    let (began, n) = (seconds(), f.layout().size());
    let mut path = LambdaPath::new(&**f, None, |lambda| Ok(penalty(lambda, n))).unwrap().accuracy(1e-8, 200);
    let points = lambdas.iter().map(|&lambda| path.solve(lambda).unwrap());
    let (reached, points) = points.map(|point| (point.objective, point.x)).unzip();
    ((reached, seconds() - began), points)
}

/// Another method along the path, by its name: from its own last answer, or from given points. `None` where there is no such
/// method for this problem.
fn along(
    f: &Arc<LeastSquares<f64>>,
    penalty: Penalty,
    lambdas: &[f64],
    (method, steps, time): (&str, u64, Option<Duration>),
    starts: Option<&[Vec<f64>]>,
) -> Option<Along> {
    let (began, n) = (seconds(), f.layout().size());
    let rows = methods::<f64>();
    let row = find("method", &rows, method).ok()?;
    let (mut x, mut reached) = (vec![0.0; n], Vec::new());
    for (i, &lambda) in lambdas.iter().enumerate() {
        if let Some(starts) = starts {
            x.clone_from(&starts[i]);
        }
        let layout = f.layout().clone();
        let t = Box::new(Identity::new(layout.clone()));
        let problem = Problem::from_boxes(Box::new(Shared(f.clone())), penalty(lambda, n), t).unwrap();
        let geometry = for_layout(Norm::L2, &layout, Oracle::Auto).unwrap();
        let mut solver = (row.build)(&Arguments::defaults(&row.entry).unwrap(), &problem, geometry, &x).ok()?;
        // `polished` seems to stand still while it looks past a point, which it does where g is not convex.
        let looks = method == "polished" && problem.g().weak_convexity() > 0.0;
        let (mut since, mut least) = (1, f64::INFINITY);
        let mut stalled = |info: &Info, solver: &mut dyn Solver<f64>| {
            let objective = info.objective.unwrap_or_else(|| solver.objective());
            if objective < least - 1e-9 * least.abs() || least.is_infinite() {
                (since, least) = (info.k, objective);
            }
            if !looks && info.k - since >= 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let report = run(&mut *solver, &Options::new(Stop { time, ..Stop::after(steps) }), &mut [&mut stalled]);
        reached.push(problem.objective(&report.z).min(problem.objective(&report.x)));
        x = report.z;
    }
    Some((reached, seconds() - began))
}

/// Whoever goes along the path: `path` is coordinate descent with its own bookkeeping of λs.
const METHODS: [&str; 8] = ["path", "auto", "polished", "fista", "proximal-gradient", "primal-dual", "lbfgs", "metric"];

/// Steps for each λ, or `None` where a method is left out: on large designs smoothing is a detour.
fn budget(method: &str, entries: usize) -> Option<u64> {
    let large = entries > 1_000_000;
    match method {
        "polished" => Some(600),
        "metric" | "lbfgs" | "dca" | "primal-dual" | "proximal-gradient" if large => None,
        "fista" if entries > 10_000_000 => Some(500),
        "fista" if large => Some(1000),
        _ => Some(3000),
    }
}

/// A design with its name.
struct Design {
    name: &'static str,
    f: Arc<LeastSquares<f64>>,
    lambdas: usize,
}

impl Design {
    fn shape(&self) -> (usize, usize) {
        let Form::Linear { operator, .. } = self.f.form() else { unreachable!("least squares is linear") };
        (operator.range().size(), operator.domain().size())
    }
}

fn designs(flags: &Flags) -> Vec<Design> {
    let count = flags.after("--lambdas").and_then(|v| v.parse().ok()).unwrap_or(10);
    let usual = if flags.quick { "diabetes,small" } else { "diabetes,small,wide,large" };
    let named = flags.after("--designs").unwrap_or(usual).split(',');
    let read = |name: &str| match name {
        "diabetes" => Ok(Design { name: "diabetes", f: diabetes(&flags.file("--diabetes", "")?)?, lambdas: count }),
        "small" => Ok(Design { name: "small", f: synthetic(200, 1000), lambdas: count }),
        "wide" => Ok(Design { name: "wide", f: synthetic(1000, 5000), lambdas: count }),
        "large" => Ok(Design { name: "large", f: synthetic(5000, 20000), lambdas: 3 }),
        _ => Err("no such design".to_string()),
    };
    let told = |name: &str| read(name).inspect_err(|reason| eprintln!("SKIPPED {name}: {reason}")).ok();
    named.filter_map(told).collect()
}

/// F at every λ and the seconds of one method on one design with one penalty.
fn go(design: &Design, penalty: Penalty, method: &str, time: Option<Duration>) -> Option<Along> {
    let (rows, cols) = design.shape();
    let steps = budget(method, rows * cols)?;
    let mut path = LambdaPath::new(&*design.f, None, |lambda| Ok(penalty(lambda, cols))).ok()?;
    let lambdas = geometric(path.lambda_max().ok()?, 0.05, design.lambdas);
    drop(path);
    match method {
        "path" => Some(coordinates(&design.f, penalty, &lambdas).0),
        "polished" => {
            let points = coordinates(&design.f, penalty, &lambdas).1;
            along(&design.f, penalty, &lambdas, (method, steps, time), Some(&points))
        }
        _ => along(&design.f, penalty, &lambdas, (method, steps, time), None),
    }
}

pub(crate) fn section(flags: &Flags) -> Section {
    let designs = designs(flags);
    let time = flags.after("--seconds").and_then(|v| v.parse().ok()).map(Duration::from_secs_f64);
    let mut jobs: Vec<Job<Option<Along>>> = Vec::new();
    for design in &designs {
        let (rows, cols) = design.shape();
        for (_, penalty) in PENALTIES {
            for method in METHODS {
                let heavy = if ["fista", "polished"].contains(&method) { 10.0 } else { 1.0 };
                let cost = heavy * (rows * cols * design.lambdas) as f64;
                jobs.push(Job { cost, work: Box::new(move || go(design, penalty, method, time)) });
            }
        }
    }
    let mut found = parallel(flags.threads, jobs).into_iter();
    let mut section = Section::default();
    section.text += "## Regression: seconds along the λs, and F over coordinate descent's, least and most\n\n";
    section.text += &format!("| | rows×columns | λs | penalty | {} |\n", METHODS.join(" | "));
    section.text += &format!("|---|---|---|---|{}\n", "---|".repeat(METHODS.len()));
    for design in &designs {
        let (rows, cols) = design.shape();
        for (label, _) in PENALTIES {
            let lines: Vec<Option<Along>> = found.by_ref().take(METHODS.len()).collect();
            let cells: Vec<String> = lines.iter().map(|line| cell(line.as_ref(), lines[0].as_ref())).collect();
            let (name, count) = (design.name, design.lambdas);
            section.text += &format!("| {name} | {rows}×{cols} | {count} | {label} | {} |\n", cells.join(" | "));
            section.instances.push(instance(&format!("{name}, {label}"), &lines));
        }
    }
    section
}

fn cell(line: Option<&Along>, base: Option<&Along>) -> String {
    let (Some((reached, took)), Some((base, _))) = (line, base) else { return "–".into() };
    let over = reached.iter().zip(base).map(|(a, b)| a / b - 1.0);
    let (least, most) = over.fold((f64::MAX, f64::MIN), |(l, m), v| (l.min(v), m.max(v)));
    format!("{least:+.1e} to {most:+.1e}, {took:.2} s")
}

/// A path is an instance: F summed over its λs.
fn instance(name: &str, lines: &[Option<Along>]) -> Instance {
    let sum = |line: &Along| line.0.iter().sum::<f64>();
    let reached =
        METHODS.iter().zip(lines).filter_map(|(method, line)| Some((method.to_string(), sum(line.as_ref()?))));
    Instance::new(format!("path, {name}"), &reached.collect::<Vec<_>>())
}
