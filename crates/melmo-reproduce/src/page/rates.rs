//! Measured slopes beside the guaranteed exponents, and steps to a certificate against ε.

use melmo_page::{Axis, Callout, Cell, Chart, Column, Format, Reference, Section, Series, Style, Table};

use crate::data::Set;
use crate::experiments::rates::{FRACTION, FROM, GAMMA, SCALE, SCHEDULES};
use crate::experiments::recovery::SETS;
use crate::experiments::{denoising, factorisation};
use crate::instance::Experiment;
use crate::results::Results;
use crate::slopes::{LANDED, Quantity, SLACK, Slope, certificates, measured, points};
use crate::statistics::slope;

pub(super) fn section(results: &Results) -> Section {
    Section::new("The rates that the theorems promise")
        .paragraph(format!(
            "Masked recovery as stated, ω = {FRACTION}, ℓ2, β = 1: here every assumption of the theorems holds. The start is {SCALE} \
             times standard normal and γ = {GAMMA} (from X = 0 all observed entries move alike and the run lands on the optimum to \
             the last bit, which shows no rate). A guarantee O(k^{{−a}}) is about one number for each k: the least dual norm so far \
             for power schedules, that of a whole run of K steps for the horizon schedule (a run for each K), and that of the epoch \
             which ends at k for the epoch-wise ones. The medians of these over the seeds are drawn, and slopes are fitted to their \
             logarithms by least squares from k = {FROM} on, as far as the table says: by then the steps together are longer than the way to go. The \
             proximal gap is at most β_{{k}}L_{{g}}, so its exponent is that of β_{{k}}."
        ))
        .item(table(results))
        .columns(SETS.map(|set| dual_norms(results, set)))
        .columns(SETS.map(|set| gaps(results, set)))
        .item(steps_table(results))
        .columns(SETS.map(|set| steps(results, set)))
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

fn exponent(name: &str) -> Column {
    Column::number(name).format(Format::Fixed(3))
}

fn verdict(slopes: &[&Slope]) -> Cell {
    let all: Option<Vec<bool>> = slopes.iter().map(|slope| slope.holds()).collect();
    Cell::from(match all {
        Some(all) if all.iter().all(|holds| *holds) => "● yes",
        Some(_) => "○ no",
        None => "too few points",
    })
}

fn table(results: &Results) -> Table {
    let (norms, gaps) = ("min ‖∇F_{β}‖_{∗}", "proximal gap");
    let columns = [
        Column::text("Data"),
        Column::text("schedule"),
        Column::text("up to k"),
        exponent("fitted").group(norms),
        Column::text("single seeds").group(norms),
        exponent("bound").group(norms),
        exponent("fitted").group(gaps),
        exponent("bound").group(gaps),
        Column::text("holds"),
    ];
    let mut table = Table::new(columns).title("Fitted slopes beside guaranteed exponents").caption(format!(
        "From k = {FROM} as far as the third column says: to the end, or until the runs land on a stationary point (a median \
         dual norm below {LANDED}). At least as steep, both of them, within {SLACK}."
    ));
    for set in SETS {
        table = table.rule();
        let slopes = measured(results, set);
        for (row, pair) in slopes.chunks(2).take(SCHEDULES.len()).enumerate() {
            let [norm, gap] = pair else { continue };
            let seeds = norm
                .seeds
                .map_or(Cell::EMPTY, |(low, high)| Cell::from(format!("{low:.2} … {high:.2}").replace('-', "−")));
            table = table.row([
                Cell::from(if row == 0 { set.name() } else { "" }),
                Cell::from(norm.schedule),
                Cell::from(format!("{:.0}", norm.window.1)),
                Cell::from(norm.fitted.unwrap_or(f64::NAN)),
                seeds,
                Cell::from(norm.guaranteed),
                Cell::from(gap.fitted.unwrap_or(f64::NAN)),
                Cell::from(gap.guaranteed),
                verdict(&[norm, gap]),
            ]);
        }
    }
    table
}

fn steps_table(results: &Results) -> Table {
    let columns = [
        Column::text("Data"),
        Column::text("schedule"),
        Column::text("ε from, to"),
        exponent("fitted"),
        exponent("guaranteed"),
        Column::text("holds"),
    ];
    let mut table = Table::new(columns).title("Steps to an ε-certificate: slopes against ε").caption(format!(
        "Medians over the seeds, from the first ε whose certificate takes {FROM} steps to the last that every seed came to; growing no faster, within {SLACK}."
    ));
    for set in SETS {
        table = table.rule();
        for (row, slope) in measured(results, set).iter().filter(|s| s.quantity == Quantity::Steps).enumerate() {
            let format = Format::Significant(3);
            table = table.row([
                Cell::from(if row == 0 { set.name() } else { "" }),
                Cell::from(slope.schedule),
                Cell::from(format!("{}, {}", format.write(slope.window.1), format.write(slope.window.0))),
                Cell::from(slope.fitted.unwrap_or(f64::NAN)),
                Cell::from(slope.guaranteed),
                verdict(&[slope]),
            ]);
        }
    }
    table
}

fn drawn(results: &Results, set: Set, title: String, label: &str, quantity: Quantity) -> Chart {
    let mut chart = Chart::new(title, [Axis::log("iteration")], Axis::log(label));
    let mut start = (FROM as f64, 1.0);
    for (slot, schedule) in SCHEDULES.into_iter().enumerate() {
        let points = points(results, schedule, set, quantity);
        if slot == 0 {
            start = points.iter().find(|p| p.0 >= FROM as f64).map_or(start, |p| (p.0, 2.0 * p.1));
        }
        let (k, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let style = if slot >= 2 { Style::Points } else { Style::Line };
        chart = chart.series(Series::new(schedule, k, y).slot(slot).style(style));
    }
    chart.reference(Reference::power("k^{−1/4}", -0.25, start)).reference(Reference::power(
        "k^{−1/3}",
        -1.0 / 3.0,
        start,
    ))
}

fn dual_norms(results: &Results, set: Set) -> Chart {
    let title = format!("Least dual norm, {}", set.name());
    drawn(results, set, title, "min ‖∇F_{β}(X_{j})‖_{∗}", Quantity::DualNorm)
}

fn gaps(results: &Results, set: Set) -> Chart {
    let title = format!("Proximal gap, {}", set.name());
    drawn(results, set, title, "‖X_{k} − prox(X_{k})‖", Quantity::Gap)
}

fn steps(results: &Results, set: Set) -> Chart {
    let title = format!("Steps to an ε-certificate, {}", set.name());
    let mut chart = Chart::new(title, [Axis::log("ε")], Axis::log("steps"));
    for (slot, exponent) in [(3, -4.0), (4, -3.0)] {
        let found = certificates(results, SCHEDULES[slot], set);
        let through = found.iter().find(|(_, k)| *k >= FROM as f64).map_or((1.0, 1.0), |(e, k)| (*e, 2.0 * k));
        let (epsilon, steps): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
        chart = chart
            .series(Series::new(SCHEDULES[slot], epsilon, steps).slot(slot).style(Style::Points))
            .reference(Reference::power(format!("ε^{{−{}}}", -exponent), exponent, through));
    }
    chart
}

/// Slopes where an assumption fails.
fn elsewhere(results: &Results) -> Table {
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
        let fitted = slope(outcome.points.iter().map(|p| (p.k as f64, p.least)), (FROM as f64, f64::INFINITY));
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
