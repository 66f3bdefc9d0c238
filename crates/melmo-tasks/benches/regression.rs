//! Penalised regression, ½‖Ax − b‖² + Σφ(x_j) with columns of norm 1: the tables of `docs/competition.md`.
//!
//! `cargo bench -p melmo-tasks --bench regression -- [--quick] [--data FOLDER] [--only diabetes,wide] [--lambdas 10]`
//!
//! FOLDER holds scikit-learn's `diabetes_data_raw.csv` and `diabetes_target.csv` (unpacked from its wheel,
//! `sklearn/datasets/data/*.csv.gz`); the design is then all products of at most two of its ten columns. The others are made
//! from a seed: correlated columns (0.5 to the power of their distance), 1 % of them behind the target, as much noise as
//! a quarter of the signal. Every method goes along the same λs, from λ_max down to λ_max/20, each from its own last answer;
//! `polished` takes coordinate descent's path and looks past each of its points.
//! Seconds are of this thread on the processor, so that a busy machine does not count.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use melmo::catalogue::{Arguments, find, methods};
use melmo::drive::Stalled;
use melmo::prelude::*;
use melmo::smooth::Form;
use melmo::solver::{LambdaPath, geometric};
use melmo_data::csv;

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

/// Seconds that this thread has spent on the processor; of the clock where that is not known.
fn seconds() -> f64 {
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = read.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64()),
        |n| 1e-9 * n,
    )
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
    (method, steps): (&str, u64),
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
        let stalled = (!looks).then_some(Stalled { steps: 100, relative: 1e-9 });
        let report = run(&mut *solver, &Options::new(Stop { stalled, ..Stop::after(steps) }), &mut []);
        reached.push(problem.objective(&report.z).min(problem.objective(&report.x)));
        x = report.z;
    }
    Some((reached, seconds() - began))
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let has = |name: &str| words.iter().any(|word| word == name);
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1).cloned());
    let (quick, only) = (has("--quick"), after("--only"));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|word| word == name));
    let count = after("--lambdas").and_then(|v| v.parse().ok()).unwrap_or(10);
    let folder = after("--data");
    type Load<'a> = Box<dyn Fn() -> Result<Arc<LeastSquares<f64>>, String> + 'a>;
    let instances: Vec<(&str, Load)> = vec![
        ("diabetes", Box::new(|| diabetes(Path::new(folder.as_ref().ok_or("no folder given: --data FOLDER")?)))),
        ("small", Box::new(|| Ok(synthetic(200, 1000)))),
        ("wide", Box::new(|| Ok(synthetic(1000, 5000)))),
        ("large", Box::new(|| if quick { Err("left out by --quick".into()) } else { Ok(synthetic(5000, 20000)) })),
    ];
    let others = ["polished", "fista", "metric"];
    println!("### Along {count} λs from λ_max to λ_max/20: seconds, and F over coordinate descent's, least and most\n");
    println!("| | rows×columns | penalty | coordinate descent | {} |", others.join(" | "));
    println!("|---|---|---|---|{}", "---|".repeat(others.len()));
    for (name, load) in instances.iter().filter(|(name, _)| wanted(name)) {
        let f = match load() {
            Ok(f) => f,
            Err(reason) => {
                eprintln!("SKIPPED {name}: {reason}");
                continue;
            }
        };
        let Form::Linear { operator, .. } = f.form() else { continue };
        let (rows, cols) = (operator.range().size(), operator.domain().size());
        for (label, penalty) in PENALTIES {
            let mut path = LambdaPath::new(&*f, None, |lambda| Ok(penalty(lambda, cols))).unwrap();
            let lambdas = geometric(path.lambda_max().unwrap(), 0.05, count);
            drop(path);
            let ((base, took), points) = coordinates(&f, penalty, &lambdas);
            print!("| {name} | {rows}×{cols} | {label} | {took:.2} s |");
            let _ = std::io::stdout().flush();
            for method in others {
                // Smoothing a problem whose prox is at hand is a detour: on large designs it is left out.
                let large = rows * cols > 1_000_000;
                let steps = match method {
                    "polished" => 600,
                    _ if rows * cols > 10_000_000 => 500,
                    _ if large => 2000,
                    _ => 3000,
                };
                // Ours goes along the same path, and looks past every point of it.
                let starts = (method == "polished").then_some(&points[..]);
                let reached = match large && method == "metric" {
                    true => None,
                    false => along(&f, penalty, &lambdas, (method, steps), starts),
                };
                match reached {
                    Some((reached, took)) => {
                        let over: Vec<f64> = reached.iter().zip(&base).map(|(a, b)| a / b - 1.0).collect();
                        let (least, most) = over.iter().fold((f64::MAX, f64::MIN), |(l, m), &v| (l.min(v), m.max(v)));
                        print!(" {least:+.1e} to {most:+.1e}, {took:.2} s |");
                    }
                    None => print!(" – |"),
                }
                let _ = std::io::stdout().flush();
            }
            println!();
        }
    }
}
