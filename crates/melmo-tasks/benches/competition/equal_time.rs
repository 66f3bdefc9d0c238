//! F that the default methods reach in given seconds, for comparing two versions of the library: `--equal-time`.
//!
//! The lines name an instance, a method and the seconds, so that the lines of another version, built from its own sources with
//! this folder and run on the same machine, stand beside them. F is the median over seeds where there are several; the least and the
//! largest stand behind it. `--only WORD` leaves out the instances without it. `--steps N` takes so many steps from the first start
//! instead, and prints F and the seconds: where both versions take the same steps, the seconds say all, and vary less.

use std::ops::ControlFlow;

use melmo::catalogue::{Arguments, find, methods};
use melmo::drive::Observer;
use melmo::prelude::*;

use crate::Flags;
use crate::race::{Job, lowest, parallel, seconds};
use crate::{factorisation, recovery, tv};

/// A problem with a start of its own, and the methods and times it is run with.
pub struct Contest {
    pub name: String,
    pub problem: Box<dyn Fn() -> Result<Problem<f64>, Error> + Send + Sync>,
    pub starts: Vec<Vec<f64>>,
    pub geometry: (Norm, Oracle),
    pub methods: &'static [&'static str],
    pub seconds: [f64; 2],
}

/// Ends a run when the thread has had the processor for so long; building the solver counts.
struct Limit {
    end: f64,
}

impl Observer<f64> for Limit {
    fn observe(&mut self, _: &Info, _: &mut dyn Solver<f64>) -> ControlFlow<()> {
        if seconds() < self.end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// F after the seconds; not a number where the method refuses.
fn reached(contest: &Contest, method: &str, limit: f64, start: &[f64]) -> Result<f64, Error> {
    let problem = (contest.problem)()?;
    let rows = methods::<f64>();
    let row = find("method", &rows, method)?;
    let mut clock = Limit { end: seconds() + limit };
    let geometry = for_layout(contest.geometry.0, problem.layout(), contest.geometry.1)?;
    let mut solver = (row.build)(&Arguments::defaults(&row.entry)?, &problem, geometry, start)?;
    let report = run(&mut *solver, &Options::new(Stop::after(u64::MAX)), &mut [&mut clock]);
    Ok(lowest(&problem, &report))
}

/// F after so many steps, and the seconds they took.
fn paced(contest: &Contest, method: &str, steps: u64) -> Result<(f64, f64), Error> {
    let problem = (contest.problem)()?;
    let rows = methods::<f64>();
    let row = find("method", &rows, method)?;
    let geometry = for_layout(contest.geometry.0, problem.layout(), contest.geometry.1)?;
    let mut solver = (row.build)(&Arguments::defaults(&row.entry)?, &problem, geometry, &contest.starts[0])?;
    let began = seconds();
    solver.by_ref().take(steps as usize).for_each(drop);
    let took = seconds() - began;
    Ok((solver.objective(), took))
}

/// One line for every instance and method, one after another on this thread.
fn paces(contests: &[Contest], steps: u64) -> String {
    let mut text = String::new();
    for (contest, method) in contests.iter().flat_map(|contest| contest.methods.iter().map(move |m| (contest, m))) {
        let (objective, took) = paced(contest, method, steps).unwrap_or((f64::NAN, f64::NAN));
        text += &format!("{} | {method} | {steps} steps | {objective:.9e} | {took:.4} s\n", contest.name);
    }
    text
}

/// One line for every instance, method and time.
pub(crate) fn lines(flags: &Flags) -> String {
    let mut contests = tv::contests(flags);
    contests.extend(recovery::contests());
    contests.extend(factorisation::contests(flags));
    contests.retain(|contest| flags.after("--only").is_none_or(|word| contest.name.contains(word)));
    if let Some(steps) = flags.after("--steps").and_then(|steps| steps.parse().ok()) {
        return paces(&contests, steps);
    }
    let (mut jobs, mut labels) = (Vec::new(), Vec::new());
    for contest in &contests {
        for (method, limit) in contest.methods.iter().flat_map(|m| contest.seconds.map(|limit| (*m, limit))) {
            labels.push((format!("{} | {method} | {limit} s", contest.name), contest.starts.len()));
            for start in &contest.starts {
                let work = move || reached(contest, method, limit, start).unwrap_or(f64::NAN);
                jobs.push(Job { cost: limit, work: Box::new(work) });
            }
        }
    }
    let mut found = parallel(flags.threads, jobs).into_iter();
    let line = |(label, starts): (String, usize)| {
        let values: Vec<f64> = found.by_ref().take(starts).collect();
        let (least, largest) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        format!("{label} | {:.9e} | {least:.9e} to {largest:.9e}\n", melmo::statistics::median(&values))
    };
    labels.into_iter().map(line).collect()
}
