//! Minibatches beside full gradients: what it costs to bring F down to where full-gradient steps bring it.
//!
//!     cargo run --release -p melmo --example minibatches                    small ones
//!     cargo run --release -p melmo --example minibatches -- 10000000 4000   logistic regression of 10⁷ × 50, factors of 4000 × 1000
//!
//! Both methods are MELMO in f32, with the same penalty, norm and start; only their gradients differ. The step length of each is the best of
//! five: of the regression on one of 20 000 rows, of the factors on themselves, where it depends on their size. One thread; times are processor seconds; passes that only measure F are not counted.

use std::time::Instant;

use melmo::prelude::*;
use melmo::schedule::Averaging;
use melmo::solver::{Momentum, Rule, Run, Stochastic};
use melmo::space::Host;

/// What is raced: how many full-gradient steps, and how batches are taken.
#[derive(Clone, Copy)]
struct Race {
    gammas: [f64; 5],
    steps: u64,
    batch: u64,
    p: f64,
    a: f64,
    /// Batches of a trial of γ.
    trial: usize,
}

const LOGISTIC: Race = Race { gammas: [0.3, 1.0, 3.0, 10.0, 30.0], steps: 30, batch: 512, p: 0.75, a: 0.5, trial: 120 };
const FACTORS: Race =
    Race { gammas: [10.0, 30.0, 50.0, 100.0, 200.0], steps: 100, batch: 128, p: 7.0 / 12.0, a: 0.3, trial: 1000 };
const COLS: usize = 50;
const BLOCK: usize = 1 << 16;

fn main() -> Result<(), Error> {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let rows = sizes.first().copied().unwrap_or(20_000);
    let few = rows.min(20_000);
    race(&format!("logistic regression {rows} × {COLS}"), &logistic(rows)?, &logistic(few)?, LOGISTIC)?;
    let rows = sizes.get(1).copied().unwrap_or(300);
    let whole = factors(rows)?;
    race(&format!("factors of {rows} × {}, rank 20", rows / 4), &whole, &whole, FACTORS)
}

/// Σ log(1 + exp(−b⟨a, x⟩))/n + λ‖x‖₁. Rows are generated in blocks, a seed for each, straight into the matrix.
fn logistic(rows: usize) -> Result<(Problem<f32>, Vec<f32>), Error> {
    let truth: Vec<f32> = (0..COLS).map(|j| if j % 5 == 0 { 3.0 - (j % 3) as f32 * 2.0 } else { 0.0 }).collect();
    let (mut a, mut labels) = (Vec::with_capacity(rows * COLS), Vec::with_capacity(rows));
    for block in 0..rows.div_ceil(BLOCK) {
        let mut seeded = Seeded::new(block as u64);
        for _ in 0..BLOCK.min(rows - block * BLOCK) {
            let first = a.len();
            a.extend((0..COLS).map(|_| (2.0 * seeded.uniform() - 1.0) as f32));
            let at: f32 = a[first..].iter().zip(&truth).map(|(a, x)| a * x).sum();
            labels.push(if f64::from(at) + seeded.normal() > 0.0 { 1.0 } else { -1.0 });
        }
    }
    let loss =
        Logistic::new(Box::new(Dense::design(a, rows, COLS)?), labels)?.weighted(vec![1.0 / rows as f32; rows])?;
    let layout = loss.layout().clone();
    Ok((Problem::new(loss, Entrywise::new(L1::new(1e-3)?, COLS), Identity::new(layout))?, vec![0.0; COLS]))
}

/// ‖Y − WH‖²/n + MCP on W, Y of rank 20 with noise.
fn factors(rows: usize) -> Result<(Problem<f32>, Vec<f32>), Error> {
    let (cols, rank) = (rows / 4, 20);
    let mut seeded = Seeded::new(7);
    let w: Vec<f32> =
        (0..rows * rank).map(|_| if seeded.uniform() < 0.3 { seeded.normal() as f32 } else { 0.0 }).collect();
    let h: Vec<f32> = seeded.normals(rank * cols);
    let mut y: Vec<f32> = seeded.normals(rows * cols);
    for (i, row) in y.chunks_exact_mut(cols).enumerate() {
        row.iter_mut().for_each(|v| *v *= 0.3);
        for (l, h) in h.chunks_exact(cols).enumerate() {
            row.iter_mut().zip(h).for_each(|(v, h)| *v += w[i * rank + l] * h);
        }
    }
    let loss = Factorization::new(y, rows, cols, rank)?.coefficient(1.0 / rows as f64)?.ridge(1e-3)?;
    let select = Select::new(loss.layout(), &["W"])?;
    let start = seeded.normals(loss.layout().size());
    Ok((Problem::new(loss, Entrywise::new(Mcp::new(0.02, 3.0)?, rows * rank), select)?, start))
}

type Instance = (Problem<f32>, Vec<f32>);

/// Full-gradient steps, and then minibatches until F is as low.
fn race(name: &str, whole: &Instance, small: &Instance, how: Race) -> Result<(), Error> {
    let Race { steps, batch, .. } = how;
    let of_full = best(how.gammas, |gamma| Ok(full(small, gamma, steps)?.0))?;
    let of_batches = best(how.gammas, |gamma| {
        let mut run = batches(small, gamma, how)?;
        run.by_ref().take(how.trial).for_each(drop);
        Ok(run.objective())
    })?;
    let (target, seconds) = full(whole, of_full, steps)?;
    println!("{name}\n  {steps} full-gradient steps (γ = {of_full}): F = {target:.6}, {seconds:.3} s");
    let mut run = batches(whole, of_batches, how)?;
    let samples = whole.0.f().sampled().map_or(1, |f| f.samples());
    let (mut spent, mut taken) = (0.0, 0);
    while taken < 200 * steps {
        let clock = Clock::new();
        run.by_ref().take(steps as usize / 2).for_each(drop);
        spent += clock.seconds();
        taken += steps / 2;
        let reached = run.objective();
        if reached <= target {
            let passes = (taken * batch) as f64 / samples as f64;
            println!(
                "  {taken} batches of {batch} (γ = {of_batches}): F = {reached:.6}, {spent:.3} s, {passes:.3} passes over the data"
            );
            println!("  {:.1} times as fast", seconds / spent);
            return Ok(());
        }
    }
    println!(
        "  {taken} batches of {batch} (γ = {of_batches}) did not reach it: F = {:.6}, {spent:.3} s",
        run.objective()
    );
    Ok(())
}

/// The γ with the least F.
fn best(gammas: [f64; 5], mut objective: impl FnMut(f64) -> Result<f64, Error>) -> Result<f64, Error> {
    let mut found = (f64::INFINITY, gammas[0]);
    for gamma in gammas {
        let reached = objective(gamma)?;
        if reached < found.0 {
            found = (reached, gamma);
        }
    }
    Ok(found.1)
}

/// F after so many steps, and their time.
fn full((problem, start): &Instance, gamma: f64, steps: u64) -> Result<(f64, f64), Error> {
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto)?;
    let power = Power { gamma, ..Power::balanced(problem.default_beta()) };
    let clock = Clock::new();
    let mut run = Melmo::new(problem, geometry, power, start)?;
    run.by_ref().take(steps as usize).for_each(drop);
    let seconds = clock.seconds();
    Ok((run.objective(), seconds))
}

fn batches<'p>((problem, start): &'p Instance, gamma: f64, how: Race) -> Result<Run<Stochastic<Host<'p, f32>>>, Error> {
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto)?;
    let power = Power { beta: problem.default_beta(), gamma, p: how.p, q: 0.25 };
    let schedule = Averaging { power, alpha: 1.0, a: how.a, horizon: None };
    let rule = Rule { schedule, momentum: Momentum::HeavyBall, batch: how.batch as usize, seed: 1, ball: None };
    Stochastic::new(problem, geometry, rule, start)
}

/// Processor time of this thread where the system tells it (Linux), else time on the wall.
struct Clock(Instant, Option<f64>);

impl Clock {
    fn new() -> Self {
        Self(Instant::now(), on_processor())
    }

    fn seconds(&self) -> f64 {
        match (self.1, on_processor()) {
            (Some(before), Some(now)) => now - before,
            _ => self.0.elapsed().as_secs_f64(),
        }
    }
}

fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
}
