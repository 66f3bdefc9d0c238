//! The folder: the page, tables as Markdown, CSV and LaTeX, figures as SVG and PNG, traces as CSV.

use std::path::{Path, PathBuf};

use melmo_data::file;
use melmo_page::Page;

use crate::error::Error;
use crate::instance::{Experiment, Instance, Objective, Outcome};
use crate::results::Results;

/// What is written, by folder and extension.
const WRITTEN: [(&str, &[&str]); 3] =
    [("tables", &["md", "csv", "tex"]), ("figures", &["svg", "png"]), ("traces", &["csv"])];

/// Makes the inner folders, without what an earlier run with other settings wrote there: it would pass for this one's.
fn prepare(folder: &Path) -> std::io::Result<()> {
    for (inner, extensions) in WRITTEN {
        std::fs::create_dir_all(folder.join(inner))?;
        for entry in std::fs::read_dir(folder.join(inner))? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| extensions.iter().any(|known| e == *known)) {
                std::fs::remove_file(path)?;
            }
        }
    }
    Ok(())
}

/// Writes everything into the folder, in place of what an earlier run wrote there; returns the page's path.
pub fn write(folder: &Path, page: &Page, results: &Results) -> Result<PathBuf, Error> {
    prepare(folder).map_err(|source| Error::Folder { path: folder.to_path_buf(), source })?;
    let save = |name: &str, bytes: &[u8]| file::save(&folder.join(name), bytes, true);
    for (name, table) in page.tables() {
        save(&format!("tables/{name}.md"), table.markdown().as_bytes())?;
        save(&format!("tables/{name}.csv"), table.csv().as_bytes())?;
        save(&format!("tables/{name}.tex"), table.latex().as_bytes())?;
    }
    for (name, chart) in page.charts() {
        save(&format!("figures/{name}.svg"), chart.svg().as_bytes())?;
        save(&format!("figures/{name}.png"), &chart.png(2.0))?;
    }
    let mut experiments: Vec<Experiment> = results.runs.iter().map(|(instance, _)| instance.experiment).collect();
    experiments.sort();
    experiments.dedup();
    for experiment in experiments {
        save(&format!("traces/{}.csv", experiment.name()), traces(results, experiment).as_bytes())?;
    }
    save("index.html", page.html().as_bytes())?;
    Ok(folder.join("index.html"))
}

/// A row for each recorded point.
fn traces(results: &Results, experiment: Experiment) -> String {
    let runs: Vec<_> = results.runs.iter().filter(|(instance, _)| instance.experiment == experiment).collect();
    let mut out = String::from("set,method,rank_or_share,steps,seed,k,F,dual_norm,least_dual_norm,prox_gap");
    let extra = match (experiment, runs.first().map(|(instance, _)| instance.minimised)) {
        (Experiment::Oracle, _) => ",relative_reconstruction,eta,xi,delta",
        (_, Some(Objective::Factors { .. })) => ",relative_reconstruction",
        (_, Some(Objective::Image { .. })) => ",ssim",
        _ => ",observed_residual,held_out_error",
    };
    out += extra;
    out += ",seconds\n";
    for (instance, outcome) in runs {
        rows(&mut out, instance, outcome);
    }
    out
}

fn rows(out: &mut String, instance: &Instance, outcome: &Outcome) {
    let which = match instance.minimised {
        Objective::Factors { rank, .. } => rank as f64,
        Objective::Image { noise, .. } => noise,
        Objective::Entries { fraction, .. } => fraction,
    };
    let (set, steps, seed) = (instance.set.name(), instance.iterations, instance.seed);
    let head = format!("{set},\"{}\",{which},{steps},{seed}", instance.label);
    for point in &outcome.points {
        let extra: String = point.extra.iter().map(|value| format!("{value},")).collect();
        let numbers = format!("{},{},{},{}", point.objective, point.dual_norm, point.least, point.gap);
        out.push_str(&format!("{head},{},{numbers},{extra}{:.6}\n", point.k, point.seconds));
    }
}
