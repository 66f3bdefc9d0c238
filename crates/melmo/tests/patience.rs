//! Runs that have to end while a step is under way.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use melmo::certificate::{Asked, Certificate};
use melmo::drive::{Keep, Observer, Snapshot, run_on};
use melmo::patience::{self, Patience};
use melmo::penalty::Prox;
use melmo::prelude::*;
use melmo::report::Report;
use melmo::seeded::Seeded;
use melmo::solver::{Info, ProximalGradient, Solver};

const N: usize = 20;

/// λ‖·‖₁, as long as there are calls left; then its prox takes until it is given up, as a large decomposition does.
struct Stuck {
    g: Entrywise<L1, f64>,
    calls: AtomicUsize,
    /// How long each of the calls takes.
    each: Duration,
}

impl Prox<f64> for Stuck {
    fn size(&self) -> usize {
        N
    }

    fn weak_convexity(&self) -> f64 {
        0.0
    }

    fn lipschitz(&self) -> Option<f64> {
        self.g.lipschitz()
    }

    fn work_len(&self) -> usize {
        self.g.work_len()
    }

    fn value(&self, u: &[f64], work: &mut [f64]) -> f64 {
        self.g.value(u, work)
    }

    fn prox(&self, z: &mut [f64], u: &[f64], beta: f64, work: &mut [f64]) -> f64 {
        let left = self.calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left.is_ok() {
            std::thread::sleep(self.each);
            return self.g.prox(z, u, beta, work);
        }
        while !patience::is_over() {
            std::thread::yield_now();
        }
        z.fill(f64::NAN);
        f64::NAN
    }

    fn subgradient(&self, v: &mut [f64], u: &[f64], work: &mut [f64]) -> f64 {
        self.g.subgradient(v, u, work)
    }
}

fn problem(calls: usize, each: Duration) -> Problem<f64> {
    let layout = Layout::vector(N).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), Seeded::new(3).normals(N), None).unwrap();
    let g = Stuck { g: Entrywise::new(L1::new(0.3).unwrap(), N), calls: AtomicUsize::new(calls), each };
    Problem::new(f, g, Identity::new(layout)).unwrap()
}

fn start() -> Vec<f64> {
    Seeded::new(4).normals(N)
}

fn end(problem: &Problem<f64>, stop: Stop, observer: &mut dyn Observer<f64>) -> Report<f64> {
    let mut solver = ProximalGradient::new(problem, true, &start()).unwrap();
    run(&mut solver, &Options::new(stop), &mut [observer])
}

fn nobody(_: &Info, _: &mut dyn Solver<f64>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn a_step_that_outlasts_the_time_limit_is_given_up() {
    let limit = Some(Duration::from_millis(50));
    let report = end(&problem(4, Duration::ZERO), Stop { time: limit, ..Stop::after(1000) }, &mut nobody);
    assert_eq!(report.status, Status::Time);
    // The run ends where it stood before that step, and says what it knows there.
    let whole = problem(usize::MAX, Duration::ZERO);
    let before = end(&whole, Stop::after(report.info.k - 1), &mut nobody);
    assert!(report.info.k > 1);
    assert_eq!((&report.x, report.objective), (&before.x, whole.objective(&before.x)));
    assert!(report.unseen && report.certificate.is_none() && !before.unseen);
    assert_eq!(report.z, report.x);
}

#[test]
fn a_start_that_cannot_be_evaluated_in_time_is_returned() {
    let asked = Patience::until(|| true);
    let report = asked.run(|| end(&problem(0, Duration::ZERO), Stop::after(1000), &mut nobody));
    assert_eq!((report.status, report.unseen, report.certificate.is_none()), (Status::Interrupted, true, true));
    assert_eq!((&report.x, &report.z), (&start(), &start()));
    assert_eq!(report.objective, problem(9, Duration::ZERO).objective(&start()));
}

/// A look at a large point is several long passes: it is given up between two of them, and nothing is certified from it.
#[test]
fn a_look_is_given_up_between_its_passes() {
    let (whole, x) = (problem(usize::MAX, Duration::ZERO), start());
    let norms = || ProximalGradient::new(&whole, true, &x).unwrap().norms();
    for passes in 0..12 {
        let asked = AtomicUsize::new(0);
        let patience = Patience::until(move || asked.fetch_add(1, Ordering::Relaxed) >= passes);
        let looked = patience.run(|| Certificate::at(&whole, &x, 0.5, norms(), Asked::default()));
        assert!(looked.certificate.is_err() && looked.objective.is_nan() && looked.z.is_empty(), "{passes}");
    }
    let looked = Certificate::at(&whole, &x, 0.5, norms(), Asked::default());
    assert!(looked.certificate.is_ok() && looked.objective == whole.objective(&x) && looked.z.len() == N);
}

/// Whoever needs the point alone does not pay for a look.
#[test]
fn a_run_without_a_look_has_its_point_and_f() {
    let whole = problem(usize::MAX, Duration::ZERO);
    let ended = |look: bool| {
        let mut solver = ProximalGradient::new(&whole, true, &start()).unwrap();
        run(&mut solver, &Options { look, ..Options::new(Stop::after(5)) }, &mut [])
    };
    let (plain, seen) = (ended(false), ended(true));
    assert_eq!((&plain.x, plain.status, plain.info.k), (&seen.x, seen.status, seen.info.k));
    assert!(plain.unseen && plain.certificate.is_none() && plain.objective == whole.objective(&plain.x));
}

/// After a run that had no time for a look there is none for what would be told besides.
#[test]
fn what_is_told_besides_has_the_time_that_is_left() {
    let patience = |limit: u64, look: bool| {
        let (whole, stop) = (problem(usize::MAX, Duration::ZERO), Stop::after(5));
        let mut solver = ProximalGradient::new(&whole, true, &start()).unwrap();
        let time = (limit == 0).then_some(Duration::ZERO);
        run(&mut solver, &Options { look, ..Options::new(Stop { time, ..stop }) }, &mut []).patience()
    };
    assert!(patience(0, false).is_over());
    assert!(!patience(0, true).is_over() && !patience(1, false).is_over() && !patience(1, true).is_over());
}

#[test]
fn whoever_calls_ends_a_run_between_its_steps_too() {
    let asked = Arc::new(AtomicBool::new(false));
    let said = asked.clone();
    let mut at_the_third = move |info: &Info, _: &mut dyn Solver<f64>| {
        asked.store(info.k == 3, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let patience = Patience::until(move || said.load(Ordering::Relaxed));
    let whole = problem(usize::MAX, Duration::ZERO);
    let report = patience.run(|| end(&whole, Stop::after(1000), &mut at_the_third));
    assert_eq!((report.status, report.info.k, report.unseen), (Status::Interrupted, 3, false));
    assert!(report.certificate.unwrap().verify(&whole, &report.x, 1e-9).unwrap().passed());
}

/// Where steps take long, the state before each is kept: the run goes on from it with the same bits, and has its certificate.
#[test]
fn a_run_goes_on_from_before_the_step_that_was_given_up() {
    let long = Duration::from_millis(510);
    let mut kept = None;
    let keep = Box::new(|snapshot: &Snapshot<f64>| {
        kept = Some(snapshot.state.clone());
        ControlFlow::Continue(())
    });
    let stuck = problem(1, long);
    let asked = Arc::new(AtomicUsize::new(0));
    let patience = Patience::until(move || asked.fetch_add(1, Ordering::Relaxed) > 10);
    let mut solver = ProximalGradient::new(&stuck, true, &start()).unwrap();
    let (options, past) = (Options::new(Stop::after(1000)), (Vec::new(), Duration::ZERO));
    let keep = Some((Duration::from_secs(3600), keep as Keep<'_, f64>));
    let report = patience.run(|| run_on(&mut solver, &options, past, keep, &mut []));
    assert_eq!((report.status, report.unseen), (Status::Interrupted, true));
    let whole = problem(usize::MAX, Duration::ZERO);
    let mut again = ProximalGradient::new(&whole, true, &start()).unwrap();
    again.restore(&kept.expect("a state was kept")).unwrap();
    assert_eq!(again.x(), report.x);
    let (mut straight, k) = (ProximalGradient::new(&whole, true, &start()).unwrap(), report.info.k);
    straight.by_ref().take(k as usize + 3).for_each(drop);
    again.by_ref().take(3).for_each(drop);
    assert_eq!(again.x(), straight.x());
}
