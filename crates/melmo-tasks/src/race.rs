//! A short race: where g is not convex, whoever is first down a hill need not be down the lowest, and no rule knows who is.

use std::ops::{ControlFlow, RangeInclusive};
use std::time::Duration;

use melmo::clock::Instant;
use melmo::drive::{Observer, Status, Stop};
use melmo::operator::Form as Operator;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::report::Report;
use melmo::smooth::Form as Loss;
use melmo::solver::{Info, Solver};
use melmo::trace::Row;

use crate::device::DeviceChoice;
use crate::error::Error;
use crate::prepared::Defaults;
use crate::settings::Settings;
use crate::solve::{Solved, Watch, driven, driven_on, ended, iterations, solve_from, solver};

/// Numbers that a rival's steps may touch in all, and how many steps that may be: where it is fewer, nobody races.
const WORK: u64 = 100_000_000;
const STEPS: RangeInclusive<u64> = 150..=1000;
/// Steps of the method that `auto` takes, before others are tried.
const FIRST: u64 = 5000;
/// Who is tried; where one of them ends lower, so are the others.
const HEAT: [&str; 3] = ["fista", "lbfgs", "admm-graduated"];
const OTHERS: [&str; 6] = ["reweighted", "dca", "admm-graduated", "tilted", "primal-dual", "metric"];
/// An end is lower than another if it is by this part of F.
const LOWER: f64 = 1e-6;

/// [`solve_from`]; where `auto` chooses and g is not convex, other methods are tried after the first, each for a few steps from the same start, and the lowest
/// goes on. Every number that decides is one of steps, so that the same problem ends the same. Not for large problems, nor
/// where parameters, a certificate or a gap are asked for. Rows and snapshots are those of the first.
pub fn solve_raced<S: Real>(
    problem: &Problem<S>,
    start: &[S],
    defaults: &Defaults,
    settings: &Settings,
    watch: Watch<'_, S>,
) -> Result<Solved<S>, Error> {
    let leg = leg(problem);
    let plain = settings.method == "auto"
        && defaults.tuned.is_none()
        && settings.arguments.is_empty()
        && settings.device == DeviceChoice::Cpu
        && settings.epsilon.is_none()
        && settings.gap.is_none();
    if !plain || problem.g().weak_convexity() == 0.0 || leg < *STEPS.start() {
        return solve_from(problem, start, defaults, settings, watch);
    }
    let Watch { watcher, trace_every, exact, keep, resume, look } = watch;
    let begun = Instant::now();
    let mut counted = Counted { inner: watcher, before: 0 };
    let (mut first, method, reason, device) = solver(problem, start, defaults, settings)?;
    let watched = Watch { watcher: Some(&mut counted), trace_every, exact, keep, resume, look };
    let begin = Settings { iterations: Some(iterations(defaults, settings).min(FIRST)), ..settings.clone() };
    let (report, stop) = driven(&mut *first, defaults, &begin, watched)?;
    let best = Lane { solver: first, report, stop, method: method.clone(), finish: None };
    let (taken, spent) = (best.steps(), best.report.elapsed);
    let mut race =
        Race { problem, start, defaults, settings, begun, leg, taken, spent, counted, best, tried: Vec::new() };
    let below = race.run(&method);
    race.go_on(trace_every, exact);
    let Race { mut best, tried, taken, spent, .. } = race;
    let reason = told(&reason.unwrap_or_default(), &method, &best, &tried, below);
    (best.report.info.k, best.report.elapsed) = (taken + 1, spent);
    let report = ended(best.report, problem, start, (best.solver.norms(), &best.stop), true);
    Ok(Solved { report, method: best.method, reason: Some(reason), device })
}

/// Steps of a rival: few where each touches many numbers.
fn leg<S: Real>(problem: &Problem<S>) -> u64 {
    let (x, tx) = (problem.layout().size() as u64, problem.t().range().size() as u64);
    let g = problem.g();
    // A prox of which nothing is known may decompose a matrix.
    let prox = if g.coordinates().is_some() || g.streamed().is_some() { tx } else { tx * tx.isqrt() };
    let design = match problem.f().form() {
        Loss::Linear { operator, .. } | Loss::Coupled { operator, .. } => match operator.form() {
            Operator::Dense(a) => a.entries().len(),
            Operator::Sparse(a) => (0..operator.range().size()).map(|i| a.row(i).count()).sum(),
            _ => 0,
        },
        _ => 0,
    };
    (WORK / (x + prox + design as u64).max(1)).min(*STEPS.end())
}

/// Why that method: what the rule said, and what the race came to.
fn told<S: Real>(reason: &str, first: &str, best: &Lane<'_, S>, tried: &[&str], below: f64) -> String {
    let finished = best.finish.map_or(String::new(), |finish| format!(", finished by `{finish}`"));
    match (tried.is_empty(), best.method == first) {
        (true, _) => reason.into(),
        (false, true) => format!("{reason}; none of {} ended lower", quoted(tried)),
        (false, false) => {
            let below = 100.0 * below;
            format!(
                "g is not convex, and of a short race between `{first}` and {} this one ended lowest{finished}: {below:.2} % below the first",
                quoted(tried)
            )
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A method's run.
struct Lane<'p, S: Real> {
    solver: Box<dyn Solver<S> + 'p>,
    report: Report<S>,
    stop: Stop,
    method: String,
    /// Who went on from its end to the last digits.
    finish: Option<&'static str>,
}

impl<S: Real> Lane<'_, S> {
    fn steps(&self) -> u64 {
        self.report.info.k.saturating_sub(1)
    }

    /// Below another end by more than rounding.
    fn is_below(&self, other: &Report<S>) -> bool {
        let (own, other) = (self.report.objective, other.objective);
        own.is_finite() && (!other.is_finite() || own + LOWER * other.abs() < other)
    }
}

/// What a race remembers between its methods.
struct Race<'p, 'w, S: Real> {
    problem: &'p Problem<S>,
    start: &'p [S],
    defaults: &'p Defaults,
    settings: &'p Settings,
    begun: Instant,
    leg: u64,
    /// Steps of all, and their time.
    taken: u64,
    spent: Duration,
    counted: Counted<'w, S>,
    best: Lane<'p, S>,
    tried: Vec<&'static str>,
}

impl<'p, S: Real> Race<'p, '_, S> {
    /// Tries the rivals; says how far below the first the lowest ended, relative to it.
    fn run(&mut self, first: &str) -> f64 {
        let of_first = self.best.report.objective;
        // The prox of g∘T is at hand: short steps from an end are exact, and never lead up.
        let finish = match first {
            "coordinate-graduated" => Some("coordinate-descent"),
            "fista-graduated" => Some("fista"),
            _ => None,
        };
        let fits = |name: &&str| *name != first && !(finish.is_some() && *name == "admm-graduated");
        let heat = HEAT.into_iter().filter(fits);
        if self.all(heat, finish).is_continue() && self.best.method != first {
            let _ = self.all(OTHERS.into_iter().filter(|name| *name != first), finish);
        }
        (of_first - self.best.report.objective) / of_first.abs()
    }

    /// One rival after another, as long as nobody ends it.
    fn all(&mut self, rivals: impl Iterator<Item = &'static str>, finish: Option<&'static str>) -> ControlFlow<()> {
        for name in rivals {
            if !matches!(self.best.report.status, Status::Settled | Status::Stalled | Status::Iterations) {
                return ControlFlow::Break(());
            }
            if self.tried.contains(&name) {
                continue;
            }
            let Some(steps) = self.steps_left() else { return ControlFlow::Break(()) };
            let start = self.start;
            let Some(mut lane) = self.lane(name, start, steps) else { continue };
            self.tried.push(name);
            let mut over = self.is_over(&lane);
            if let (Some(finish), Some(steps), false) = (finish, self.steps_left(), over) {
                let from = lane.report.z.clone();
                if let Some(last) = self.lane(finish, &from, steps) {
                    over = self.is_over(&last);
                    if last.report.objective <= lane.report.objective {
                        lane = Lane { method: lane.method, finish: Some(finish), ..last };
                    }
                }
            }
            if lane.is_below(&self.best.report) {
                self.best = lane;
            }
            if over {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// A method's run from there; none where it refuses the problem.
    fn lane(&mut self, name: &str, from: &[S], steps: u64) -> Option<Lane<'p, S>> {
        let Self { problem, defaults, .. } = *self;
        let settings = Settings {
            method: name.into(),
            iterations: Some(steps),
            max_epochs: None,
            time_limit: self.time_left(Duration::ZERO),
            ..self.settings.clone()
        };
        let (mut solver, method, ..) = solver(problem, from, defaults, &settings).ok()?;
        self.counted.before = self.taken;
        let watch = Watch { watcher: Some(&mut self.counted), ..Watch::default() };
        let (report, stop) = driven(&mut *solver, defaults, &settings, watch).ok()?;
        let lane = Lane { solver, report, stop, method, finish: None };
        self.taken += lane.steps();
        self.spent += lane.report.elapsed;
        Some(lane)
    }

    /// It was ended from outside.
    fn is_over(&self, lane: &Lane<'_, S>) -> bool {
        lane.report.had_to_end()
    }

    /// Steps of the next rival; none where what was asked for is used up.
    fn steps_left(&self) -> Option<u64> {
        let most = self.settings.iterations.map_or(u64::MAX, |most| most.saturating_sub(self.taken));
        Some(self.leg.min(most)).filter(|&steps| steps > 0)
    }

    /// The rest of the time, for a run that has had so much of it already.
    fn time_left(&self, had: Duration) -> Option<Duration> {
        self.settings.time_limit.map(|limit| limit.saturating_sub(self.begun.elapsed()) + had)
    }

    /// The lowest goes on where nothing but its steps ended it.
    fn go_on(&mut self, trace_every: u64, exact: bool) {
        let own = self.best.steps();
        let most = iterations(self.defaults, self.settings);
        let most = if self.settings.iterations.is_some() { most.saturating_sub(self.taken - own) } else { most };
        if self.best.report.status != Status::Iterations || most <= own {
            return;
        }
        let had = self.best.report.elapsed;
        let settings = Settings {
            iterations: Some(most),
            max_epochs: None,
            time_limit: self.time_left(had),
            ..self.settings.clone()
        };
        self.counted.before = self.taken - own;
        let trace_every = if self.best.report.trace.is_empty() { 0 } else { trace_every };
        let rows: Vec<Row> = std::mem::take(&mut self.best.report.trace);
        let watch = Watch { watcher: Some(&mut self.counted), trace_every, exact, ..Watch::default() };
        let (report, stop) = driven_on(&mut *self.best.solver, self.defaults, &settings, watch, (rows, had));
        (self.best.report, self.best.stop) = (report, stop);
        self.taken += self.best.steps() - own;
        self.spent += self.best.report.elapsed - had;
    }
}

/// Shows the points of one run after another as if they were one run's.
struct Counted<'w, S: Real> {
    inner: Option<&'w mut dyn Observer<S>>,
    /// Steps of the runs before this one.
    before: u64,
}

impl<S: Real> Observer<S> for Counted<'_, S> {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()> {
        let info = Info { k: info.k + self.before, ..*info };
        self.inner.as_mut().map_or(ControlFlow::Continue(()), |inner| inner.observe(&info, solver))
    }

    fn recorded(&mut self, row: &Row, solver: &mut dyn Solver<S>) {
        if let Some(inner) = &mut self.inner {
            inner.recorded(row, solver);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::catalogue::choose;
    use melmo::operator::{Dense, Identity};
    use melmo::penalty::{Entrywise, L1, Mcp, Prox};
    use melmo::seeded::Seeded;
    use melmo::smooth::{LeastSquares, Smooth};

    /// Spikes behind a wide blur: columns that are nearly alike.
    fn spikes(g: Box<dyn Prox<f64>>) -> Problem<f64> {
        let n = 100usize;
        let noise: Vec<f64> = Seeded::new(3).normals(n);
        let entry = |i: usize, j: usize| (-(i as f64 - j as f64).powi(2) / 18.0).exp();
        let spike = |j: usize| if j % 17 == 5 { 1.0 + 0.1 * (j % 5) as f64 } else { 0.0 };
        let row = |i: usize| (0..n).map(|j| entry(i, j) * spike(j)).sum::<f64>() + 0.05 * noise[i];
        let a = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let f = LeastSquares::new(Box::new(Dense::new(a, n, n).unwrap()), (0..n).map(row).collect()).unwrap();
        let t = Identity::new(f.layout().clone());
        Problem::from_boxes(Box::new(f), g, Box::new(t)).unwrap()
    }

    fn mcp() -> Box<dyn Prox<f64>> {
        Box::new(Entrywise::new(Mcp::new(0.3, 3.0).unwrap(), 100))
    }

    /// F, with what was told, and k of the last point seen.
    fn raced(problem: &Problem<f64>, settings: &Settings) -> (Solved<f64>, u64) {
        let mut last = 0;
        let mut see = |info: &Info, _: &mut dyn Solver<f64>| {
            assert!(info.k >= last, "{} after {last}", info.k);
            last = info.k;
            ControlFlow::Continue(())
        };
        let watch = Watch { watcher: Some(&mut see), ..Watch::default() };
        let defaults = Defaults::of(problem, settings);
        let solved = solve_raced(problem, &[0.0; 100], &defaults, settings, watch).unwrap();
        (solved, last)
    }

    #[test]
    fn no_end_above_the_first_and_certified() {
        let problem = spikes(mcp());
        let (solved, last) = raced(&problem, &Settings::default());
        let alone = solve_from(&problem, &[0.0; 100], &Defaults::default(), &Settings::default(), Watch::default());
        let alone = alone.unwrap();
        assert_eq!(alone.method, choose(&problem).method);
        assert!(solved.report.objective <= alone.report.objective, "{}", solved.report.objective);
        assert!(solved.reason.unwrap().contains(if solved.method == alone.method { "ended lower" } else { "race" }));
        assert!(solved.report.certificate.unwrap().passed(&problem, &solved.report.x, 1e-5).unwrap());
        assert_eq!(solved.report.info.k, last);
    }

    #[test]
    fn a_convex_problem_a_named_method_and_parameters_have_no_race() {
        let convex = spikes(Box::new(Entrywise::new(L1::new(0.3).unwrap(), 100)));
        let problem = spikes(mcp());
        let named = Settings { method: "fista".into(), ..Settings::default() };
        let fall = vec![("fall".to_string(), 0.9.into())];
        let tuned = Settings { arguments: fall, ..Settings::default() };
        for (problem, settings) in [(&convex, Settings::default()), (&problem, named), (&problem, tuned)] {
            let reason = raced(problem, &settings).0.reason.unwrap_or_default();
            assert!(!reason.contains("race") && !reason.contains("none of"), "{reason}");
        }
    }

    #[test]
    fn steps_are_those_of_all_together() {
        let problem = spikes(mcp());
        for most in [0, 1, 30, 200, 700] {
            let (solved, last) = raced(&problem, &Settings { iterations: Some(most), ..Settings::default() });
            assert!(solved.report.info.k <= most + 1 && last <= most + 1, "{most}: {last}");
        }
    }

    #[test]
    fn whoever_watches_ends_it() {
        let problem = spikes(mcp());
        for end in [3, 40, 300] {
            let mut see = |info: &Info, _: &mut dyn Solver<f64>| match info.k < end {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            };
            let watch = Watch { watcher: Some(&mut see), ..Watch::default() };
            let settings = Settings::default();
            let solved = solve_raced(&problem, &[0.0; 100], &Defaults::default(), &settings, watch).unwrap();
            assert!(solved.report.info.k <= end + 1 && solved.report.objective.is_finite());
        }
    }
}
