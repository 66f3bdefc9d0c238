//! Saved results: a folder with the point and its certificate, and what was solved.

use std::path::Path;

use melmo::certificate::Certificate;
use melmo::real::Real;
use melmo_data::npy;
use melmo_tasks::Solved;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::input::{self, Source, array};
use crate::job::Job;
use crate::nearest;

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

/// The files of a result, of which one without u has three.
pub const FILES: [&str; 4] = ["result.json", "x.npy", "z.npy", "u.npy"];

/// Only a folder that holds a result and nothing else may be replaced by another.
pub fn replaceable(folder: &Path) -> Result<(), Error> {
    let other = || Error::input(folder, "holds other files than a result: choose another folder for --result");
    melmo_data::staged::expect_only(folder, &FILES.map(Into::into)).map_err(|_| other())?;
    read::<Outline>(folder).map(drop).map_err(|_| other())
}

/// Writes the files of a result into a folder.
pub fn fill<S: Real>(folder: &Path, mut saved: Saved<S>, solved: &Solved<S>) -> Result<(), Error> {
    let u = saved.certificate.u.take();
    tell(folder, saved)?;
    let arrays =
        [("x.npy", Some(&solved.report.x[..])), ("z.npy", Some(&solved.report.z[..])), ("u.npy", u.as_deref())];
    for (name, data) in arrays.into_iter().filter_map(|(name, data)| Some((name, data?))) {
        npy::write(&folder.join(name), &array(vec![data.len()], data), false)?;
    }
    Ok(())
}

/// Writes everything but the arrays.
pub fn tell<S: Real>(folder: &Path, mut saved: Saved<S>) -> Result<(), Error> {
    saved.certificate.u = None;
    let json = serde_json::to_string_pretty(&saved)
        .map_err(|error| Error::input(folder, format!("result.json could not be encoded: {error}")))?;
    Ok(melmo_data::file::save(&folder.join("result.json"), json.as_bytes(), false)?)
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
    let text = input::own(&file).map_err(|error| match folder.metadata() {
        Err(_) => Error::input(folder, nearest::missing_own(folder, "folder; expected one that --result wrote")),
        Ok(data) if !data.is_dir() => Error::input(folder, "this is a file; expected a folder that --result wrote"),
        Ok(_) => Error::input(&file, format!("could not read it: {error}; expected a folder that --result wrote")),
    })?;
    serde_json::from_slice(&text).map_err(|error| Error::input(&file, format!("is not a saved result: {error}")))
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
