//! Newton–Schulz with 6 and 2 steps against the exact oracle.

use melmo_page::{Axis, Callout, Cell, Chart, Column, Format, Section, Series, Style, Table};

use super::curve;
use crate::data::Set;
use crate::experiments::factorisation::ranks;
use crate::experiments::oracle::ORACLES;
use crate::instance::{Experiment, Point};
use crate::results::{Group, Results};

pub(super) fn section(results: &Results) -> Section {
    let section = Section::new("Newton–Schulz against the exact oracle")
        .paragraph(
            "The spectral oracle needs the polar factor UVᵀ of the gradient φ. The paper approximates it by six Newton–Schulz \
             steps and shows what two steps do. Here the same start is run with both and with the singular value \
             decomposition, and each direction d̃ is compared with the exact one d: ⟨φ, d̃⟩ = −(1 − η)‖φ‖_{∗}, ‖d̃‖ = 1 + ξ, \
             ‖d̃ − d‖ = δ.",
        )
        .item(table(results))
        .item(
            Callout::note(
                "The paper asks for ‖d̃ − d‖ ≤ δ < 1. A polynomial does not lift tiny singular values to 1, so no δ < 1 holds for \
                 every gradient; the table shows how large it was here. What the proofs use is η and ξ.",
            )
            .title("δ is not what matters"),
        );
    let charts = ranks(&results.options).iter().map(|&rank| chart(results, rank)).chain([errors(results)]);
    section.columns(charts)
}

/// η along the runs of both inexact oracles, at every rank.
fn errors(results: &Results) -> Chart {
    let mut chart = Chart::new("η of the oracle along the run", [Axis::log("iteration")], Axis::log("η"));
    let inexact = ORACLES[..2].iter().zip(["6 steps", "2 steps"]);
    for ((label, _), short) in inexact {
        for &rank in ranks(&results.options) {
            let Some((_, outcome)) = find(results, label, rank).first() else { continue };
            let points = outcome.points.iter().filter_map(|p| Some((p.k as f64, *p.extra.get(1)?)));
            let (k, eta): (Vec<f64>, Vec<f64>) = points.filter(|(_, eta)| *eta > 0.0).unzip();
            chart = chart.series(Series::new(format!("{short}, r = {rank}"), k, eta));
        }
    }
    chart
}

fn find<'a>(results: &'a Results, label: &str, rank: usize) -> Group<'a> {
    results.factors(Experiment::Oracle, label, Set::Camera, rank)
}

fn chart(results: &Results, rank: usize) -> Chart {
    let styles = [Style::Line, Style::Line, Style::Dashed];
    let labels = ORACLES.iter().zip(styles).enumerate();
    let labels = labels.map(|(slot, ((label, _), style))| ((*label).to_owned(), slot, style));
    let title = format!("F on Camera by oracle, r = {rank}");
    curve::chart(title, Axis::log("F(x_{k})"), labels, |label| {
        curve::rows(&find(results, label, rank), |point| point.objective)
    })
}

fn table(results: &Results) -> Table {
    let number = |name: &str| Column::number(name).format(Format::Significant(3));
    let columns = [
        Column::text("oracle"),
        Column::number("r"),
        Column::number("final F"),
        number("η, largest"),
        number("ξ, largest"),
        number("δ, largest"),
    ];
    let mut table = Table::new(columns)
        .title("Measured errors of the oracle")
        .caption("Over the recorded points of one run, about eight to each doubling of k; ξ below 0 means that d̃ lies inside the ball.");
    for (label, _) in ORACLES {
        table = table.rule();
        for &rank in ranks(&results.options) {
            let Some((_, outcome)) = find(results, label, rank).first() else { continue };
            let most = |at: usize| {
                let values = outcome.points.iter().filter_map(|point: &Point| point.extra.get(at).copied());
                Cell::from(values.fold(f64::NEG_INFINITY, f64::max))
            };
            let name = if rank == ranks(&results.options)[0] { label } else { "" };
            table = table.row([
                Cell::from(name),
                Cell::from(rank as f64),
                Cell::from(outcome.last()),
                most(1),
                most(2),
                most(3),
            ]);
        }
    }
    table
}
