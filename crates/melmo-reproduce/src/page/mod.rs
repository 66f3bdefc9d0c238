//! The page: a section an experiment, each discrepancy where it bites.

mod curve;
mod denoising;
mod envelope;
mod factorisation;
mod oracle;
mod rates;
mod recovery;
mod summary;

use melmo_page::Page;

use crate::data::{Matrix, Set};
use crate::results::Results;
use crate::setting::Setting;

/// How the results came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The program and its version.
    pub program: String,
    /// What was typed.
    pub command: String,
    /// The machine: processor, cores, system.
    pub machine: String,
    /// How long it took, in words; empty in a page that is compared with another.
    pub time: String,
}

/// Everything on one page.
pub fn page(results: &Results, about: &About) -> Page {
    let options = &results.options;
    let what = match options.setting {
        Setting::AsStated => {
            "Setting: **as stated**. The paper’s formulas and its tables of settings; `--as-published` runs what makes its numbers come back."
        }
        Setting::AsPublished => {
            "Setting: **as published**. What makes the paper’s numbers come back, as far as re-running can tell; `--as-stated` runs its formulas."
        }
    };
    let page = Page::new("Reproducing the MELMO paper: every table and figure")
        .subtitle(what)
        .section(summary::section(results))
        .section(factorisation::section(results))
        .section(oracle::section(results))
        .section(denoising::section(results))
        .section(recovery::section(results))
        .section(envelope::section())
        .section(rates::section(results));
    let seeds: Vec<String> = options.seeds().map(|seed| seed.to_string()).collect();
    let runs = results.runs.len();
    let page = page
        .fact("command", format!("`{}`", about.command.replace('`', "")))
        .fact("program", melmo_page::plain(&about.program))
        .fact("setting", options.setting.name())
        .fact("seeds", seeds.join(", "))
        .fact("data", data(results))
        .fact("runs", format!("{runs}, each on one core, arrays in double precision"))
        .fact("machine", melmo_page::plain(&about.machine));
    if about.time.is_empty() { page } else { page.fact("time", melmo_page::plain(&about.time)) }
}

/// The sets with their shapes and the first digits of the SHA-256 of their numbers.
fn data(results: &Results) -> String {
    let all = Set::FACTORISED.into_iter().chain([Set::Miserables]);
    let there = all.filter_map(|set| results.library.get(set).map(|matrix| (set, matrix)));
    let one = |(set, m): (Set, &Matrix)| format!("{} {}×{} `{}`", set.name(), m.rows, m.cols, &m.digest[..8]);
    there.map(one).collect::<Vec<_>>().join(", ")
}
