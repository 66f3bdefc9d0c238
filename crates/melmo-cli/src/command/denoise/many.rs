//! Several pictures, one after another: what is wrong with one does not keep the others waiting.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use melmo_tasks::Until;

use crate::args::Denoise;
use crate::command::pages;
use crate::error::Error;
use crate::input::is_standard;
use crate::job::Job;
use crate::render::{Summary, progress, say};
use crate::session::Done;

/// Denoises every picture into the folder. Status 0 when all are whole, 1 when the time or Ctrl-C cut some short, 2 when one could not be
/// done.
pub fn run(denoise: &Denoise, job: &Job, folder: &Path) -> Result<ExitCode, Error> {
    let all = targets(denoise, folder)?;
    if folder.is_file() {
        return Err(Error::input(folder, "this is a file; expected a folder"));
    }
    std::fs::create_dir_all(folder).map_err(|error| Error::input(folder, format!("could not be created: {error}")))?;
    let solving = &denoise.solving;
    let until = progress::until(solving.quiet, solving.time_limit);
    let (mut told, mut failed, mut short) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (input, output)) in all.iter().enumerate() {
        if ended(&until) {
            short.extend(all[i..].iter().map(|(input, _)| input.clone()));
            break;
        }
        if !solving.quiet {
            say::note(&format!("{} of {}: {}", i + 1, all.len(), input.display()));
        }
        let one = Denoise {
            input: input.clone(),
            more: Vec::new(),
            output: Some(output.clone()),
            out_dir: None,
            ..denoise.clone()
        };
        match pages::finish(&one, job, None) {
            Ok(done) => {
                if done.cut_short {
                    short.push(input.clone());
                } else {
                    progress::one_is_whole();
                }
                told.push(done.summary.json());
            }
            Err(error) => {
                say::note(&format!("melmo: error: {error}"));
                failed.push(input.clone());
            }
        }
    }
    let whole = all.len() - failed.len() - short.len();
    let mut summary = Summary::default();
    summary.silent("command", job.command.clone());
    summary.silent("pictures", told);
    summary.add("done", whole, "done", format!("{whole} of {} pictures, in {}", all.len(), folder.display()));
    for (key, files) in [("failed", &failed), ("unfinished", &short)] {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        if !names.is_empty() {
            summary.add(key, names.clone(), key, names.join(", "));
        }
    }
    let code = ExitCode::from(if failed.is_empty() { u8::from(!short.is_empty()) } else { 2 });
    Done { summary, aside: false, code, cut_short: !short.is_empty() }.tell(solving)
}

fn ended(until: &Until) -> bool {
    progress::interrupted() || until.left().is_some_and(|left| left.is_zero())
}

/// Where each picture goes: two of one name would be one file.
fn targets(denoise: &Denoise, folder: &Path) -> Result<Vec<(PathBuf, PathBuf)>, Error> {
    let mut taken = BTreeSet::new();
    let mut all = Vec::new();
    for input in std::iter::once(&denoise.input).chain(&denoise.more) {
        let name = input.file_name().filter(|_| !is_standard(input));
        let name = name.ok_or_else(|| Error::input(input, "expected the name of a file: what comes out has it too"))?;
        let mut target = folder.join(name);
        if let Some(format) = &denoise.format_name {
            target.set_extension(format);
        }
        if !taken.insert(target.clone()) {
            let message =
                format!("another picture is to become {} as well: use another folder for it", target.display());
            return Err(Error::input(input, message));
        }
        all.push((input.clone(), target));
    }
    Ok(all)
}
