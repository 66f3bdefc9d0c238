//! `melmo reproduce`: runs what is left, then writes the folder.

use std::process::ExitCode;
use std::time::Instant;

use melmo_reproduce::claims::claims;
use melmo_reproduce::data::{Library, Set};
use melmo_reproduce::page::{About, page};
use melmo_reproduce::results::Results;
use melmo_reproduce::run::Work;
use melmo_reproduce::store::Store;
use melmo_reproduce::{experiments, files};

use crate::args::Reproduce;
use crate::error::Error;
use crate::render::units::Units;
use crate::render::{Summary, say, seconds};

/// Status 0 when everything was run, 1 when it was interrupted.
pub fn run(reproduce: &Reproduce) -> Result<ExitCode, Error> {
    let options = reproduce.options();
    check_folder(reproduce)?;
    let library = Library::load(&options)?;
    let store = Store::open(&reproduce.output.join("instances"))?;
    let work = Work::new(experiments::all(&options, &library), &store);
    let (all, left) = (work.runs.len(), work.left());
    let others = store.others(work.runs.iter().map(|(instance, _)| instance));
    if !reproduce.quiet {
        say_what_is_there(all, left, others);
    }
    let start = Instant::now();
    let units = Units::new(reproduce.quiet, work.units(&library), left);
    let done = work.run(&library, &store, &units);
    units.finish();
    let runs = match done {
        Err(melmo_reproduce::Error::Interrupted) => {
            say::note(&format!("melmo: {}", melmo_reproduce::Error::Interrupted));
            return Ok(ExitCode::FAILURE);
        }
        done => done?,
    };
    let elapsed = start.elapsed().as_secs_f64();
    let solving: f64 = runs.iter().map(|(_, outcome)| outcome.seconds).sum();
    let results = Results { options, library, runs };
    let time = match left {
        0 => format!("all {all} runs were kept from before; {} in the solvers", seconds(solving)),
        _ => format!("{} for {left} of {all} runs; {} in the solvers of all", seconds(elapsed), seconds(solving)),
    };
    let about = About {
        program: concat!("melmo ", env!("CARGO_PKG_VERSION")).into(),
        command: reproduce.typed(),
        machine: machine(),
        time: time.clone(),
    };
    let written = files::write(&reproduce.output, &page(&results, &about), &results)?;
    let mut summary = Summary::default();
    summary.silent("command", "reproduce");
    summary.text("setting", "setting", results.options.setting.name());
    summary.add("runs", all, "runs", time);
    summary.silent("run", left);
    summary.silent("others", others);
    summary.silent("seconds", elapsed);
    say_what_holds(&mut summary, &results);
    let missing: Vec<&str> = results.library.missing().into_iter().map(Set::name).collect();
    if !missing.is_empty() {
        let text = format!("{} (the page says how to get them)", missing.join(", "));
        summary.add("missing", missing, "missing", text);
    }
    summary.text("page", "page", written.display().to_string());
    if !reproduce.quiet || reproduce.json {
        say::printed(summary.print(reproduce.json, false))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The paper's sentences, counted.
fn say_what_holds(summary: &mut Summary, results: &Results) {
    let claims = claims(results);
    let count = |holds| claims.iter().filter(|claim| claim.ours.holds == holds).count();
    let (holding, against) = (count(Some(true)), count(Some(false)));
    if !claims.is_empty() {
        let text = format!("{holding} of {} sentences of the paper confirmed, {against} contradicted", claims.len());
        summary.add("holding", holding, "claims", text);
        summary.silent("contradicted", against);
    }
}

/// What an earlier run left: what is kept, and what a change of settings leaves aside.
fn say_what_is_there(all: usize, left: usize, others: usize) {
    if left < all {
        say::note(&format!("melmo: {} of {all} runs were finished before and are kept", all - left));
    }
    if others > 0 {
        say::note(&format!(
            "melmo: {others} more in the folder are of other settings, data or versions; they are left alone and not shown"
        ));
    }
}

/// A folder of someone else's is not written into.
fn check_folder(reproduce: &Reproduce) -> Result<(), Error> {
    let folder = &reproduce.output;
    if folder.is_file() {
        return Err(Error::input(folder, "is a file; expected the name of a folder"));
    }
    let occupied = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !folder.join("instances").is_dir() {
        return Err(Error::input(folder, "is not empty and not a folder of `melmo reproduce`: choose another"));
    }
    match &reproduce.data_dir {
        Some(data) if !data.is_dir() => Err(Error::option("data-dir", format!("`{}` is no folder", data.display()))),
        _ => Ok(()),
    }
}

/// Processor, cores and system, as far as they can be known.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let described = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = described.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("processor unknown", |(_, name)| name.trim());
    format!("{model}, {cores} cores, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}
