//! Saved results: a folder with the point and its certificate, and what was solved.

use std::fs;
use std::path::Path;

use melmo::certificate::Certificate;
use melmo::real::Real;
use melmo_data::npy;
use melmo_tasks::Solved;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::input::{Source, array};
use crate::job::Job;

/// `result.json`: everything but the arrays, which lie beside it as `x.npy`, `z.npy` and, where it is not Tx, `u.npy`.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Saved<S: Real> {
    /// The version of the program.
    pub version: String,
    /// What was solved, with everything that was chosen along the way.
    pub job: Job,
    /// The files it was solved from.
    pub sources: Vec<Source>,
    /// What was printed.
    pub summary: serde_json::Value,
    /// What was reached.
    pub certificate: Certificate<S>,
}

/// Writes the folder whole: it is made under another name and renamed.
pub fn write<S: Real>(folder: &Path, force: bool, mut saved: Saved<S>, solved: &Solved<S>) -> Result<(), Error> {
    let u = saved.certificate.u.take();
    let failed = |error: std::io::Error| Error::input(folder, format!("could not be written: {error}"));
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(folder.file_name().ok_or_else(|| Error::option("result", "expected the name of a folder"))?);
    hidden.push(format!(".{}.part", std::process::id()));
    let temporary = folder.with_file_name(hidden);
    fs::create_dir(&temporary).map_err(failed)?;
    let written = fill(&temporary, &saved, solved, u.as_deref()).and_then(|()| {
        if force && folder.is_dir() {
            replaceable(folder)?;
            fs::remove_dir_all(folder).map_err(failed)?;
        }
        fs::rename(&temporary, folder).map_err(failed)
    });
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_dir_all(&temporary);
    }
    written
}

/// Only a folder that this program wrote may be replaced.
pub fn replaceable(folder: &Path) -> Result<(), Error> {
    let ours = |name: &std::ffi::OsStr| ["result.json", "x.npy", "z.npy", "u.npy"].iter().any(|known| name == *known);
    let all_ours = fs::read_dir(folder).map(|mut all| all.all(|file| file.is_ok_and(|file| ours(&file.file_name()))));
    match all_ours {
        Ok(true) => Ok(()),
        _ => Err(Error::input(folder, "holds other files than a result: choose another folder for --result")),
    }
}

fn fill<S: Real>(folder: &Path, saved: &Saved<S>, solved: &Solved<S>, u: Option<&[S]>) -> Result<(), Error> {
    let json = serde_json::to_string_pretty(saved)
        .map_err(|error| Error::input(folder, format!("result.json could not be encoded: {error}")))?;
    melmo_data::file::save(&folder.join("result.json"), json.as_bytes(), false)?;
    let arrays = [("x.npy", Some(&solved.report.x[..])), ("z.npy", Some(&solved.report.z[..])), ("u.npy", u)];
    for (name, data) in arrays.into_iter().filter_map(|(name, data)| Some((name, data?))) {
        npy::write(&folder.join(name), &array(vec![data.len()], data), false)?;
    }
    Ok(())
}

/// The parts of a result that do not depend on its precision, to find out which it is.
#[derive(Deserialize)]
pub struct Outline {
    pub certificate: Precision,
}

/// The precision of a certificate.
#[derive(Deserialize)]
pub struct Precision {
    pub precision: String,
}

/// Reads `result.json` as one or the other.
pub fn read<T: for<'d> Deserialize<'d>>(folder: &Path) -> Result<T, Error> {
    let file = folder.join("result.json");
    let text = fs::read_to_string(&file).map_err(|error| {
        Error::input(&file, format!("could not read it: {error}; expected a folder that --result wrote"))
    })?;
    serde_json::from_str(&text).map_err(|error| Error::input(&file, format!("is not a saved result: {error}")))
}

/// A result with its arrays.
pub struct Kept<S: Real> {
    pub saved: Saved<S>,
    pub x: Vec<S>,
    pub z: Vec<S>,
}

/// Everything that the folder holds.
pub fn open<S: Real>(folder: &Path) -> Result<Kept<S>, Error> {
    let array =
        |name: &str| -> Result<Vec<S>, Error> { Ok(crate::input::convert(&npy::read(&folder.join(name))?.data)) };
    let mut saved: Saved<S> = read(folder)?;
    if saved.certificate.u.is_none() && folder.join("u.npy").exists() {
        saved.certificate.u = Some(array("u.npy")?);
    }
    Ok(Kept { saved, x: array("x.npy")?, z: array("z.npy")? })
}
