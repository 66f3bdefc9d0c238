//! Measured slopes beside the guaranteed exponents, and steps to a certificate against ε.

use melmo_page::{Axis, Callout, Cell, Chart, Column, Format, Reference, Section, Series, Style, Table};

use crate::data::Set;
use crate::experiments::rates::{FRACTION, GAMMA, SCALE, SCHEDULES};
use crate::experiments::recovery::SETS;
use crate::experiments::{denoising, factorisation};
use crate::instance::{Experiment, Instance, Outcome};
use crate::results::Results;
use crate::statistics::slope;

/// Slopes are fitted from here to the end of a run.
const FROM: f64 = 64.0;

/// How much shallower than guaranteed a fitted slope may be.
const SLACK: f64 = 0.05;

/// One fitted slope.
pub(super) struct Slope {
    pub schedule: &'static str,
    quantity: &'static str,
    measured: Option<f64>,
    guaranteed: f64,
    window: (f64, f64),
}

impl Slope {
    /// At least as steep, or, for steps against ε, growing no faster.
    pub fn holds(&self) -> Option<bool> {
        let measured = self.measured?;
        let faster = if self.quantity == STEPS {
            measured >= self.guaranteed - SLACK
        } else {
            measured <= self.guaranteed + SLACK
        };
        Some(faster)
    }
}

const LEAST: &str = "min ‖∇F_{β}‖_{∗} against k";
const GAP: &str = "proximal gap against k";
const STEPS: &str = "steps to a certificate against ε";

pub(super) fn section(results: &Results) -> Section {
    let mut section = Section::new("The rates that the theorems promise")
        .paragraph(format!(
            "Masked recovery as stated, ω = {FRACTION}, ℓ2, β = 1: here every assumption of the theorems holds. The start is {SCALE} \
             times standard normal and γ = {GAMMA}, about the distance to go (from X = 0 all observed entries move alike and the \
             run lands on the optimum to the last bit, which shows no rate). A guarantee O(k^{{−a}}) bounds the least dual norm so far from above; the slopes below are fitted by least squares to \
             the logarithms from k = {FROM} to the end. The proximal gap is at most β_{{k}}L_{{g}}, so its exponent is that of β_{{k}}."
        ))
        .item(table(results));
    for set in SETS {
        section = section.columns([dual_norms(results, set), gaps(results, set), certificates(results, set)]);
    }
    section
        .item(
            Callout::note(
                "A bound promises no slope anywhere, only that a constant times the power lies above the curve. Elsewhere than on \
                 masked recovery an assumption fails (no global L_{f} for the factorisation, T not surjective for the differences), \
                 so the slopes of the next table stand there without a verdict.",
            )
            .title("What a slope says"),
        )
        .item(elsewhere(results))
}

fn runs<'a>(results: &'a Results, schedule: &str, set: Set) -> Vec<&'a (Instance, Outcome)> {
    results.group(Experiment::Rates, schedule, |instance| instance.set == set).runs
}

/// (k, least dual norm, gap) of a schedule: along its run, or at the end of the run of each horizon.
fn points(results: &Results, schedule: &str, set: Set) -> Vec<(f64, f64, f64)> {
    let runs = runs(results, schedule, set);
    if schedule == SCHEDULES[2] {
        let last = |(instance, outcome): &&(Instance, Outcome)| {
            (instance.iterations as f64, outcome.end(|p| p.least), outcome.end(|p| p.gap))
        };
        return runs.iter().map(last).collect();
    }
    let all = runs.iter().flat_map(|(_, outcome)| &outcome.points);
    all.map(|point| (point.k as f64, point.least, point.gap)).collect()
}

/// Every slope of a set.
pub(super) fn measured(results: &Results, set: Set) -> Vec<Slope> {
    let (third, quarter) = (-1.0 / 3.0, -0.25);
    // Of the least dual norm, and of β_k, which bounds the gap.
    let guaranteed = [(quarter, third), (third, quarter), (third, third), (third, quarter), (third, third)];
    let mut out = Vec::new();
    for (schedule, (dual, gap)) in SCHEDULES.into_iter().zip(guaranteed) {
        let points = points(results, schedule, set);
        let end = points.iter().map(|point| point.0).fold(0.0, f64::max);
        let window = (FROM, end);
        let least = slope(points.iter().map(|p| (p.0, p.1)), window);
        let gaps = slope(points.iter().map(|p| (p.0, p.2)), window);
        out.push(Slope { schedule, quantity: LEAST, measured: least, guaranteed: dual, window });
        out.push(Slope { schedule, quantity: GAP, measured: gaps, guaranteed: gap, window });
    }
    for (schedule, exponent) in [(SCHEDULES[3], -4.0), (SCHEDULES[4], -3.0)] {
        let found: Vec<(f64, u64)> =
            runs(results, schedule, set).iter().flat_map(|(_, outcome)| outcome.certificates.clone()).collect();
        let window = (found.last().map_or(1.0, |c| c.0), 1.0);
        let steps = slope(found.iter().map(|&(epsilon, k)| (epsilon, k as f64)), window);
        out.push(Slope { schedule, quantity: STEPS, measured: steps, guaranteed: exponent, window });
    }
    out
}

fn table(results: &Results) -> Table {
    let exponent = |name: &str| Column::number(name).format(Format::Fixed(3));
    let columns = [
        Column::text("Data"),
        Column::text("schedule"),
        Column::text("quantity"),
        Column::text("window"),
        exponent("fitted slope"),
        exponent("guaranteed"),
        Column::text("at least as good"),
    ];
    let mut table = Table::new(columns).title("Fitted slopes beside guaranteed exponents").caption(format!(
        "At least as steep, within {SLACK}; for steps against ε: growing no faster. The window is in k, or in ε. A horizon has one run for each K."
    ));
    for set in SETS {
        table = table.rule();
        for (row, slope) in measured(results, set).iter().enumerate() {
            let format = Format::Significant(3);
            let window = format!("{} to {}", format.write(slope.window.0), format.write(slope.window.1));
            let verdict = match slope.holds() {
                Some(true) => "● yes",
                Some(false) => "○ no",
                None => "too few points",
            };
            table = table.row([
                Cell::from(if row == 0 { set.name() } else { "" }),
                Cell::from(slope.schedule),
                Cell::from(slope.quantity),
                Cell::from(window),
                Cell::from(slope.measured.unwrap_or(f64::NAN)),
                Cell::from(slope.guaranteed),
                Cell::from(verdict),
            ]);
        }
    }
    table
}

fn drawn(results: &Results, set: Set, title: String, label: &str, of: fn(&(f64, f64, f64)) -> f64) -> Chart {
    let mut chart = Chart::new(title, [Axis::log("iteration")], Axis::log(label));
    for (slot, schedule) in SCHEDULES.into_iter().enumerate() {
        let points = points(results, schedule, set);
        let (k, y): (Vec<f64>, Vec<f64>) = points.iter().map(|point| (point.0, of(point))).unzip();
        let style = if slot == 2 { Style::Points } else { Style::Line };
        chart = chart.series(Series::new(schedule, k, y).slot(slot).style(style));
    }
    chart
}

fn dual_norms(results: &Results, set: Set) -> Chart {
    let title = format!("Least dual norm so far, {}", set.name());
    let start =
        points(results, SCHEDULES[0], set).iter().find(|p| p.0 >= FROM).map_or((FROM, 1.0), |p| (p.0, 2.0 * p.1));
    drawn(results, set, title, "min_{j ≤ k} ‖∇F_{β}(X_{j})‖_{∗}", |point| point.1)
        .reference(Reference::power("k^{−1/4}", -0.25, start))
        .reference(Reference::power("k^{−1/3}", -1.0 / 3.0, start))
}

fn gaps(results: &Results, set: Set) -> Chart {
    let start =
        points(results, SCHEDULES[0], set).iter().find(|p| p.0 >= FROM).map_or((FROM, 1.0), |p| (p.0, 2.0 * p.2));
    drawn(results, set, format!("Proximal gap, {}", set.name()), "‖X_{k} − prox(X_{k})‖", |point| point.2)
        .reference(Reference::power("k^{−1/4}", -0.25, start))
        .reference(Reference::power("k^{−1/3}", -1.0 / 3.0, start))
}

fn certificates(results: &Results, set: Set) -> Chart {
    let title = format!("Steps to an ε-certificate, {}", set.name());
    let mut chart = Chart::new(title, [Axis::log("ε")], Axis::log("steps"));
    for (slot, exponent) in [(3, -4.0), (4, -3.0)] {
        let found: Vec<(f64, u64)> =
            runs(results, SCHEDULES[slot], set).iter().flat_map(|(_, outcome)| outcome.certificates.clone()).collect();
        let (epsilon, steps): (Vec<f64>, Vec<f64>) = found.iter().map(|&(epsilon, k)| (epsilon, k as f64)).unzip();
        let through = epsilon.first().copied().zip(steps.first().map(|k| 2.0 * k)).unwrap_or((1.0, 1.0));
        chart = chart
            .series(Series::new(SCHEDULES[slot], epsilon, steps).slot(slot).style(Style::Points))
            .reference(Reference::power(format!("ε^{{−{}}}", -exponent), exponent, through));
    }
    chart
}

/// Slopes where an assumption fails.
fn elsewhere(results: &Results) -> Table {
    let exponent = |name: &str| Column::number(name).format(Format::Fixed(3));
    let columns = [
        Column::text("experiment"),
        Column::text("method"),
        exponent("slope of min ‖∇F_{β}‖_{∗}"),
        exponent("exponent of the schedule"),
    ];
    let mut table = Table::new(columns)
        .title("Slopes elsewhere, without a verdict")
        .caption(format!("From k = {FROM} to the end."));
    let mut add = |experiment: Experiment, set: Set, what: &str, label: &str, exponent: f64| {
        let group = results.group(experiment, label, |instance| instance.set == set);
        let Some((_, outcome)) = group.first() else { return };
        let fitted = slope(outcome.points.iter().map(|p| (p.k as f64, p.least)), (FROM, f64::INFINITY));
        let shown = Cell::from(fitted.unwrap_or(f64::NAN));
        table = table.clone().row([Cell::from(what), Cell::from(label), shown, Cell::from(exponent)]);
    };
    for (column, exponent) in [(2, -0.25), (3, -1.0 / 3.0)] {
        for set in [Set::Camera, Set::Football] {
            let what = format!("factorisation of {}, r = 10", set.name());
            add(Experiment::Factorisation, set, &what, factorisation::METHODS[column], exponent);
        }
    }
    for label in &denoising::METHODS[2..] {
        add(Experiment::Denoising, Set::Camera, "denoising", label, -0.25);
    }
    table
}
