//! Fitted slopes of the rate experiment beside the guaranteed exponents.
//!
//! A guarantee speaks of one number for each k: the least dual norm up to k (power schedules), that of a whole run of K steps
//! (horizon), or that of an epoch which ends at k (epoch-wise). These are what is fitted, each the median over the seeds.

use std::collections::BTreeMap;

use crate::data::Set;
use crate::experiments::rates::{FROM, SCHEDULES};
use crate::instance::{Experiment, Instance, Outcome};
use crate::results::Results;
use crate::statistics::{median, range, slope};

/// A dual norm below this means that the run has landed on a stationary point: what follows is rounding, and shows no rate.
pub const LANDED: f64 = 1e-3;

/// How much shallower than guaranteed a fitted slope may be.
pub const SLACK: f64 = 0.05;

/// What is plotted against what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// min ‖∇F_β‖_* against k.
    DualNorm,
    /// The proximal gap against k.
    Gap,
    /// Steps to a certificate against ε.
    Steps,
}

/// One fitted slope.
#[derive(Clone, Debug)]
pub struct Slope {
    /// Of which schedule.
    pub schedule: &'static str,
    /// Of what.
    pub quantity: Quantity,
    /// The slope of the medians; `None` of too few points.
    pub fitted: Option<f64>,
    /// The least and the largest slope of a single seed.
    pub seeds: Option<(f64, f64)>,
    /// The guaranteed exponent.
    pub guaranteed: f64,
    /// The window: in k, or in ε.
    pub window: (f64, f64),
}

impl Slope {
    /// At least as steep, or, for steps against ε, growing no faster.
    pub fn holds(&self) -> Option<bool> {
        let fitted = self.fitted?;
        Some(match self.quantity {
            Quantity::Steps => fitted >= self.guaranteed - SLACK,
            _ => fitted <= self.guaranteed + SLACK,
        })
    }
}

/// x with a number for each seed that has one.
type Curve = BTreeMap<u64, Vec<f64>>;

/// (x, median over the seeds), where every seed has a number.
fn medians(curve: &Curve) -> Vec<(f64, f64)> {
    let seeds = curve.values().map(Vec::len).max().unwrap_or(0);
    let whole = curve.iter().filter(|(_, values)| values.len() == seeds);
    whole.map(|(&k, values)| (k as f64, median(values))).collect()
}

fn runs<'a>(results: &'a Results, schedule: &str, set: Set) -> Vec<&'a (Instance, Outcome)> {
    results.group(Experiment::Rates, schedule, |instance| instance.set == set).runs
}

/// (k, dual norm, gap): the numbers that the guarantee is about.
fn numbers(run: &(Instance, Outcome), schedule: &str) -> Vec<(u64, f64, f64)> {
    let (instance, outcome) = run;
    if schedule == SCHEDULES[2] {
        outcome.points.last().map(|p| (instance.iterations, p.least, p.gap)).into_iter().collect()
    } else if outcome.epochs.is_empty() {
        outcome.points.iter().map(|p| (p.k, p.least, p.gap)).collect()
    } else {
        outcome.epochs.iter().map(|epoch| (2 << epoch.l, epoch.least, epoch.gap)).collect()
    }
}

/// (k, the number asked for), until the dual norm says that the run has landed.
fn until_landed(all: impl IntoIterator<Item = (f64, f64, f64)>, quantity: Quantity) -> Vec<(f64, f64)> {
    let flying = all.into_iter().take_while(|(_, least, _)| *least >= LANDED);
    flying.map(|(k, least, gap)| (k, if quantity == Quantity::Gap { gap } else { least })).collect()
}

/// (k, median over the seeds) of a schedule.
pub fn points(results: &Results, schedule: &str, set: Set, quantity: Quantity) -> Vec<(f64, f64)> {
    let (mut norms, mut gaps) = (Curve::new(), Curve::new());
    for run in runs(results, schedule, set) {
        for (k, least, gap) in numbers(run, schedule) {
            norms.entry(k).or_default().push(least);
            gaps.entry(k).or_default().push(gap);
        }
    }
    let both = medians(&norms).into_iter().zip(medians(&gaps));
    until_landed(both.map(|((k, least), (_, gap))| (k, least, gap)), quantity)
}

/// (ε, median steps) of an epoch-wise schedule, for every ε that all seeds came to.
pub fn certificates(results: &Results, schedule: &str, set: Set) -> Vec<(f64, f64)> {
    let runs = runs(results, schedule, set);
    let reached = runs.iter().map(|(_, outcome)| outcome.certificates.len()).min().unwrap_or(0);
    let at = |index: usize| {
        let steps: Vec<f64> = runs.iter().map(|(_, outcome)| outcome.certificates[index].1 as f64).collect();
        (runs[0].1.certificates[index].0, median(&steps))
    };
    (0..reached).map(at).collect()
}

/// Slopes of the single seeds; the horizon's runs of a seed belong together.
fn of_seeds(results: &Results, schedule: &str, set: Set, quantity: Quantity, window: (f64, f64)) -> Option<(f64, f64)> {
    let mut seeds: BTreeMap<u64, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for run in runs(results, schedule, set) {
        let numbers = numbers(run, schedule).into_iter().map(|(k, least, gap)| (k as f64, least, gap));
        seeds.entry(run.0.seed).or_default().extend(numbers);
    }
    seeds.values_mut().for_each(|points| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let slopes: Vec<f64> = seeds.into_values().filter_map(|all| slope(until_landed(all, quantity), window)).collect();
    (!slopes.is_empty()).then(|| range(&slopes))
}

/// Every slope of a set.
pub fn measured(results: &Results, set: Set) -> Vec<Slope> {
    let (third, quarter) = (-1.0 / 3.0, -0.25);
    // Of the least dual norm, and of β_k, which bounds the gap.
    let guaranteed = [(quarter, third), (third, quarter), (third, third), (third, quarter), (third, third)];
    let mut out = Vec::new();
    for (schedule, exponents) in SCHEDULES.into_iter().zip(guaranteed) {
        for (quantity, guaranteed) in [(Quantity::DualNorm, exponents.0), (Quantity::Gap, exponents.1)] {
            let points = points(results, schedule, set, quantity);
            let window = (FROM as f64, points.last().map_or(FROM as f64, |point| point.0));
            let seeds = of_seeds(results, schedule, set, quantity, window);
            out.push(Slope { schedule, quantity, fitted: slope(points, window), seeds, guaranteed, window });
        }
    }
    for (schedule, guaranteed) in [(SCHEDULES[3], -4.0), (SCHEDULES[4], -3.0)] {
        let mut found = certificates(results, schedule, set);
        found.retain(|(_, steps)| *steps >= FROM as f64);
        let window = (found.last().map_or(f64::NAN, |c| c.0), found.first().map_or(f64::NAN, |c| c.0));
        let fitted = slope(found, window);
        out.push(Slope { schedule, quantity: Quantity::Steps, fitted, seeds: None, guaranteed, window });
    }
    out
}
