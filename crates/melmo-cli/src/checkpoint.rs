//! Checkpoints: where a run stood, and which job it was.

use std::path::Path;

use melmo::real::Real;
use melmo_tasks::Snapshot;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::input::Source;
use crate::job::Job;

const MAGIC: &[u8] = b"melmo checkpoint 1\n";

/// What was solved: as it was typed, and with everything that was chosen along the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub typed: Job,
    pub resolved: Job,
    pub precision: String,
    pub sources: Vec<Source>,
}

/// Replaces the checkpoint by a new one: there is always a whole one.
pub fn write<S: Real>(path: &Path, header: &Header, snapshot: &Snapshot<S>) -> Result<(), Error> {
    let wrong = |error: postcard::Error| Error::input(path, format!("could not be encoded: {error}"));
    let bytes = postcard::to_extend(header, MAGIC.to_vec()).map_err(wrong)?;
    let bytes = postcard::to_extend(snapshot, bytes).map_err(wrong)?;
    Ok(melmo_data::file::save(path, &bytes, true)?)
}

/// The header, and the bytes of the snapshot after it.
pub fn read(path: &Path) -> Result<(Header, Vec<u8>), Error> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::input(path, format!("could not read the checkpoint: {error}; without --resume the run starts anew"))
    })?;
    let body = bytes.strip_prefix(MAGIC).ok_or_else(|| Error::input(path, "is not a checkpoint of this program"))?;
    let (header, rest) = postcard::take_from_bytes::<Header>(body).map_err(|error| damaged(path, error))?;
    Ok((header, rest.to_vec()))
}

/// The snapshot of a checkpoint.
pub fn snapshot<S: Real>(path: &Path, bytes: &[u8]) -> Result<Snapshot<S>, Error> {
    postcard::from_bytes(bytes).map_err(|error| damaged(path, error))
}

fn damaged(path: &Path, error: postcard::Error) -> Error {
    Error::input(path, format!("the checkpoint is damaged ({error}): start anew without --resume"))
}

/// Refuses to go on with another job than the one that was interrupted.
pub fn check_job(path: &Path, header: &Header, typed: &Job) -> Result<(), Error> {
    let differing = header.typed.differences(typed);
    if header.typed.command == typed.command && differing.is_empty() {
        return Ok(());
    }
    let what = if differing.is_empty() { "the command".into() } else { format!("--{}", differing.join(", --")) };
    Err(Error::input(path, format!("is the checkpoint of another job ({what} differs): use the same options")))
}

/// Refuses to go on with inputs that have changed.
pub fn check_sources(header: &Header, sources: &[Source]) -> Result<(), Error> {
    match header.sources.iter().find(|source| !sources.contains(source)) {
        Some(source) => Err(Error::input(&source.path, "has changed since the checkpoint was written")),
        None => Ok(()),
    }
}
