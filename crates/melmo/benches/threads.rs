//! The same steps on 1, 2, 4, 8, … threads: milliseconds of each, and how many times as fast as one thread.
//!
//! `cargo bench -p melmo --bench threads` prints the table of `docs/performance.md`. After `--`: words keep the rows that
//! contain one of them; `--counts 1,2,16` says which numbers of threads; `--seconds 300` ends it in time (rows that do not
//! begin before that are left out, and it says so).
//!
//! The numbers of threads take turns, and a ratio is the median over turns, so that a noisy machine disturbs all of them. A
//! triad y = x + a·d on the same threads shows what memory allows.

use std::hint::black_box;
use std::time::{Duration, Instant};

use melmo::prelude::*;
use melmo::solver::LambdaPath;
use melmo::threads::Threads;
use melmo::{statistics, vector};

/// One call of a subject.
type Subject = Box<dyn FnMut()>;

struct Bench {
    words: Vec<String>,
    counts: Vec<usize>,
    ends: Instant,
}

impl Bench {
    fn from_arguments() -> Self {
        let (mut words, mut counts, mut seconds) = (Vec::new(), powers_of_two(Threads::all().get()), 330.0);
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("a value after it");
            match argument.as_str() {
                "--counts" => counts = value().split(',').map(|n| n.parse().expect("numbers of threads")).collect(),
                "--seconds" => seconds = value().parse().expect("seconds"),
                "--bench" => {}
                _ => words.push(argument),
            }
        }
        Self { words, counts, ends: Instant::now() + Duration::from_secs_f64(seconds) }
    }

    fn header(&self) {
        let columns: String = self.counts.iter().map(|n| format!(" {n} |")).collect();
        println!("| f64, ms (times one thread) on threads: |{columns}");
        println!("|---|{}", "---|".repeat(self.counts.len()));
    }

    fn row(&self, name: &str, make: impl FnOnce() -> Subject) {
        if !self.words.is_empty() && !self.words.iter().any(|word| name.contains(word.as_str())) {
            return;
        }
        if Instant::now() > self.ends {
            return println!("| {name} | left out: time is up |");
        }
        // Scratch for as many threads as will ever take part.
        let most = self.counts.iter().copied().max().unwrap_or(1);
        let mut subject = Threads::new(most).expect("a number of threads").run(make);
        let mut on = |threads: usize, calls: u32| {
            Threads::new(threads).expect("a number of threads").run(|| {
                let begun = Instant::now();
                (0..calls).for_each(|_| subject());
                begun.elapsed().as_secs_f64() / f64::from(calls)
            })
        };
        on(most, 1);
        let once = on(self.counts[0], 1);
        let calls = (0.03 / once).clamp(1.0, 1e5) as u32;
        let turns = (1.5 / (once * f64::from(calls))).clamp(2.0, 15.0) as usize;
        let times: Vec<Vec<f64>> =
            (0..turns).map(|_| self.counts.iter().map(|&threads| on(threads, calls)).collect()).collect();
        print!("| {name} |");
        for at in 0..self.counts.len() {
            let time = statistics::median(&times.iter().map(|turn| turn[at]).collect::<Vec<_>>());
            let ratio = statistics::median(&times.iter().map(|turn| turn[0] / turn[at]).collect::<Vec<_>>());
            print!(" {:.3} ({ratio:.2}) |", time * 1e3);
        }
        println!();
    }
}

/// 1, 2, 4, … and the number of cores itself.
fn powers_of_two(cores: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = (0..).map(|k| 1 << k).take_while(|&n| n < cores).collect();
    counts.push(cores);
    counts
}

/// One step of MELMO on a problem, as a closure that owns everything: it is leaked, as a benchmark may.
fn iteration(problem: Problem<f64>, norm: Norm, x0: Vec<f64>) -> Subject {
    let problem: &'static Problem<f64> = Box::leak(Box::new(problem));
    let geometry = for_layout(norm, problem.layout(), Oracle::Auto).expect("a geometry");
    let schedule = Power { gamma: 1e-3, ..Power::balanced(problem.default_beta()) };
    let mut solver = Melmo::new(problem, geometry, schedule, &x0).expect("a solver");
    Box::new(move || {
        black_box(solver.next());
    })
}

fn factorisation(rows: usize, cols: usize, rank: usize) -> Subject {
    let mut seeded = Seeded::new(1);
    let y: Vec<f64> = (0..rows * cols).map(|_| seeded.uniform()).collect();
    let loss = Factorization::new(y, rows, cols, rank).expect("a loss");
    let select = Select::new(loss.layout(), &["W"]).expect("a selection");
    let x0 = seeded.normals(loss.layout().size());
    let penalty = Entrywise::new(Mcp::new(1.0, 3.0).expect("mcp"), rows * rank);
    iteration(Problem::new(loss, penalty, select).expect("a problem"), Norm::Spectral, x0)
}

fn total_variation(n: usize, norm: Norm) -> Subject {
    let mut seeded = Seeded::new(2);
    let y: Vec<f64> = (0..n * n).map(|i| ((i / n / 32 + i % n / 32) % 2) as f64 + 0.1 * seeded.uniform()).collect();
    let differences = Difference2d::new(n, n).expect("differences");
    let loss = MaskedLeastSquares::new(Layout::matrix(n, n).expect("a layout"), y.clone(), None).expect("a loss");
    let penalty = Entrywise::new(Mcp::new(0.05, 2.0).expect("mcp"), 2 * n * n);
    iteration(Problem::new(loss, penalty, differences).expect("a problem"), norm, y)
}

fn oracle(rows: usize, cols: usize, oracle: Oracle) -> Subject {
    let layout = Layout::matrix(rows, cols).expect("a layout");
    let phi: Vec<f64> = Seeded::new(3).normals(rows * cols);
    let mut geometry = for_layout::<f64>(Norm::Spectral, &layout, oracle).expect("a geometry");
    Box::new(move || {
        black_box(geometry.oracle(&phi));
    })
}

/// Coordinate descent from 0 to the solution for λ_max/10: rounds of sweeps over few columns and looks at all of them.
fn coordinate_descent(rows: usize, cols: usize) -> Subject {
    let mut seeded = Seeded::new(5);
    let a: Vec<f64> = (0..rows * cols).map(|_| seeded.uniform() - 0.5).collect();
    let b: Vec<f64> = a.chunks(cols).map(|row| row[..20].iter().sum::<f64>() + 0.1 * seeded.uniform()).collect();
    let design = Dense::new(a, rows, cols).expect("a matrix");
    let f: &'static _ = Box::leak(Box::new(LeastSquares::new(Box::new(design), b).expect("a loss")));
    let penalty = move |lambda| Ok(Box::new(Entrywise::new(L1::new(lambda)?, cols)) as Box<dyn Prox<f64>>);
    let mut path = LambdaPath::new(f, None, penalty).expect("a path");
    let (lambda, zero) = (0.1 * path.lambda_max().expect("λ_max"), vec![0.0; cols]);
    Box::new(move || {
        path.start_at(&zero).expect("a start");
        black_box(path.solve(lambda).expect("a solution"));
    })
}

fn triad(n: usize) -> Subject {
    let (x, d, mut y) = (vec![1.0f64; n], vec![2.0f64; n], vec![0.0f64; n]);
    Box::new(move || {
        vector::add_scaled(&mut y, &x, 3.0, &d);
        black_box(&y);
    })
}

fn main() {
    let bench = Bench::from_arguments();
    bench.header();
    bench.row("triad of 4096²", || triad(4096 * 4096));
    bench.row("TV 4096², ℓ2", || total_variation(4096, Norm::L2));
    bench.row("TV 1024², ℓ2", || total_variation(1024, Norm::L2));
    bench.row("TV 256², ℓ2", || total_variation(256, Norm::L2));
    bench.row("TV 77², ℓ2", || total_variation(77, Norm::L2));
    bench.row("TV 1024², spectral", || total_variation(1024, Norm::Spectral));
    bench.row("TV 256², spectral", || total_variation(256, Norm::Spectral));
    bench.row("TV 77², spectral", || total_variation(77, Norm::Spectral));
    bench.row("factorise 4096², r = 64, spectral", || factorisation(4096, 4096, 64));
    bench.row("factorise 400×4096, r = 30, spectral", || factorisation(400, 4096, 30));
    bench.row("oracle 4096×64, gram", || oracle(4096, 64, Oracle::Gram));
    bench.row("oracle 4096×64, auto", || oracle(4096, 64, Oracle::Auto));
    bench.row("coordinate descent 5000×20000", || coordinate_descent(5000, 20_000));
    bench.row("factorise 8192², r = 64, spectral", || factorisation(8192, 8192, 64));
}
