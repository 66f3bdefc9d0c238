//! One method on one problem: F after its steps and after a given time, the numbers of its own certificate, seconds of the thread.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use melmo::catalogue::{Arguments, choose, find, methods};
use melmo::drive::Observer;
use melmo::operator::Form;
use melmo::prelude::*;
use melmo::start::tikhonov;

/// A method with its parameters, a number of steps, and where it starts: `admm 400 penalty=2`, `metric 300 start=smooth`.
#[derive(Clone, Debug)]
pub struct Entrant {
    pub method: String,
    pub steps: u64,
    given: Vec<(String, f64)>,
    smooth: bool,
}

impl Entrant {
    pub fn parse(text: &str) -> Self {
        let mut words = text.split_whitespace();
        let method = words.next().expect("a row names a method").to_string();
        let steps = words.next().and_then(|n| n.parse().ok()).expect("a row gives a number of steps");
        let pairs: Vec<(&str, &str)> = words.map(|word| word.split_once('=').expect("name=value")).collect();
        let smooth = pairs.contains(&("start", "smooth"));
        let numbers = pairs.iter().filter(|(name, _)| *name != "start");
        let given = numbers.map(|(name, value)| (name.to_string(), value.parse().expect("a number"))).collect();
        Self { method, steps, given, smooth }
    }

    /// Its name with what was given, and for `auto` what that is.
    pub fn label(&self, problem: &Problem<f64>) -> String {
        let given: String = self.given.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        let start = if self.smooth { " (smooth start)" } else { "" };
        let choice = if self.method == "auto" { format!(" ({})", choose(problem).method) } else { String::new() };
        format!("{}{choice}{given}{start}", self.method)
    }

    fn start(&self, problem: &Problem<f64>, x0: &[f64]) -> Result<Vec<f64>, Error> {
        let rho = problem.g().weak_convexity();
        if self.smooth && rho > 0.0 { tikhonov(problem, 3.0 / rho) } else { Ok(x0.to_vec()) }
    }
}

/// How it did.
pub struct Finish {
    /// F after its steps, at x or with z for the entries that T selects, whichever is lower.
    pub objective: f64,
    /// F after the time that was given.
    pub in_time: f64,
    /// What the steps took.
    pub seconds: f64,
    pub report: Report<f64>,
    pub verified: bool,
}

/// Runs it for its steps; and, where they took less than `time`, again for that time. `None` where it refuses the problem.
pub fn race(
    problem: &Problem<f64>,
    (norm, oracle): (Norm, Oracle),
    entrant: &Entrant,
    x0: &[f64],
    time: Option<f64>,
) -> Result<Option<Finish>, Error> {
    let rows = methods::<f64>();
    let row = find("method", &rows, &entrant.method)?;
    let given: Vec<(&str, f64)> = entrant.given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let arguments = Arguments::new(&row.entry, &given)?;
    let go = |steps: u64, time: f64| -> Result<Option<(Clock, Report<f64>)>, Error> {
        let geometry = for_layout(norm, problem.layout(), oracle)?;
        let mut clock = Clock::new(time, (entrant.steps / 64).max(1));
        let start = entrant.start(problem, x0)?;
        let mut solver = match (row.build)(&arguments, problem, geometry, &start) {
            Err(Error::Unsupported(_)) => return Ok(None),
            built => built?,
        };
        let report = run(&mut *solver, &Options::new(Stop::after(steps)), &mut [&mut clock]);
        clock.stop();
        Ok(Some((clock, report)))
    };
    let Some((clock, report)) = go(entrant.steps, f64::INFINITY)? else { return Ok(None) };
    let objective = lowest(problem, &report);
    let in_time = match time {
        None => objective,
        Some(time) if time <= clock.seconds => clock.before(time),
        Some(time) => go(u64::MAX, time)?.map_or(f64::NAN, |(_, report)| lowest(problem, &report)),
    };
    let tolerance = Certificate::<f64>::default_tolerance();
    let verified = match &report.certificate {
        Some(certificate) => certificate.verify(problem, &report.x, tolerance)?.passed(),
        None => false,
    };
    Ok(Some(Finish { objective, in_time, seconds: clock.seconds, report, verified }))
}

/// F at x, or with z for the entries that T selects.
pub fn lowest(problem: &Problem<f64>, report: &Report<f64>) -> f64 {
    let mut sparse = report.x.clone();
    match problem.t().form() {
        Form::Identity => sparse.copy_from_slice(&report.z),
        Form::Select(select) => select.pairs().for_each(|(in_x, in_z)| sparse[in_x].copy_from_slice(&report.z[in_z])),
        _ => return report.objective,
    }
    let finite = |value: f64| if value.is_finite() { value } else { f64::INFINITY };
    finite(report.objective).min(finite(problem.objective(&sparse)))
}

/// Notes F now and then, without the time that takes, and ends a run when its time is over.
struct Clock {
    began: f64,
    aside: f64,
    limit: f64,
    every: u64,
    seconds: f64,
    noted: Vec<(f64, f64)>,
}

impl Clock {
    fn new(limit: f64, every: u64) -> Self {
        Self { began: seconds(), aside: 0.0, limit, every, seconds: 0.0, noted: Vec::new() }
    }

    fn elapsed(&self) -> f64 {
        seconds() - self.began - self.aside
    }

    fn stop(&mut self) {
        self.seconds = self.elapsed();
    }

    /// F at the last note before a time.
    fn before(&self, time: f64) -> f64 {
        self.noted.iter().take_while(|(at, _)| *at <= time).last().map_or(f64::NAN, |(_, objective)| *objective)
    }
}

impl Observer<f64> for Clock {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<f64>) -> ControlFlow<()> {
        if !(info.k - 1).is_multiple_of(self.every) {
            return ControlFlow::Continue(());
        }
        let now = self.elapsed();
        if now >= self.limit {
            return ControlFlow::Break(());
        }
        if self.limit.is_infinite() {
            let began = seconds();
            self.noted.push((now, solver.objective()));
            self.aside += seconds() - began;
        }
        ControlFlow::Continue(())
    }
}

/// Seconds that this thread has had a processor, which a busy machine does not stretch; of the clock off Linux.
pub fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = scheduled.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |n| 1e-9 * n)
}

/// A piece of work: what it is about costs, and its doing.
pub struct Job<'a, T> {
    pub cost: f64,
    pub work: Box<dyn Fn() -> T + Send + Sync + 'a>,
}

/// Every job on one thread of its own, the most expensive first; answers in the order of the jobs.
pub fn parallel<T: Send>(threads: usize, jobs: Vec<Job<'_, T>>) -> Vec<T> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|&a, &b| jobs[b].cost.total_cmp(&jobs[a].cost));
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<T>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let answer = (jobs[at].work)();
                    *done[at].lock().expect("no job panics while it answers") = Some(answer);
                }
            });
        }
    });
    done.into_iter().map(|slot| slot.into_inner().expect("as above").expect("every job was done")).collect()
}
