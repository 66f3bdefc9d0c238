//! Checkpoints: where a run stood, and which job it was.
//!
//! ```text
//! melmo checkpoint 3⏎  SHA-256 of the rest  header  snapshot
//! ```
//!
//! The digest finds damage, not forgery: whoever can write a checkpoint can write its digest. So what a checkpoint may
//! decide is what was chosen along the way (a noise level, a λ); files and `--force` are always those that were typed now.

use std::path::{Path, PathBuf};

use melmo::real::Real;
use melmo_tasks::Snapshot;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::input::{self, Source};
use crate::job::{self, Job};
use crate::output::Placed;

const MAGIC: &[u8] = b"melmo checkpoint 3\n";
/// The same of ranks: what follows the header speaks of their parts, which lie beside it ([`crate::ranks`]).
const OF_RANKS: &[u8] = b"melmo checkpoint of ranks 1\n";
/// What every checkpoint of any version begins with.
const ANY: &[u8] = b"melmo checkpoint ";
const DIGEST: usize = 32;
const ANEW: &str = "start anew without --resume";

/// What was solved: as it was typed, and what was chosen along the way; by which program, on which machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub version: String,
    /// The vector instructions that sums were rounded with.
    pub instructions: String,
    pub typed: Job,
    pub chosen: Vec<(String, String)>,
    pub precision: String,
    pub sources: Vec<Source>,
    /// Outputs that the run was about to put in place when it had ended.
    pub placed: Vec<Placed>,
}

impl Header {
    /// Of this program on this machine.
    pub fn new<S: Real>(typed: &Job, chosen: &[(&str, String)], sources: Vec<Source>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            instructions: melmo::vector::instructions().into(),
            typed: typed.clone(),
            chosen: chosen.iter().map(|(option, value)| ((*option).into(), value.clone())).collect(),
            precision: S::NAME.into(),
            sources,
            placed: Vec::new(),
        }
    }
}

/// A checkpoint that was read: its header, and its snapshot as bytes.
pub struct Checkpoint {
    path: PathBuf,
    pub header: Header,
    snapshot: Vec<u8>,
    /// Several ranks wrote it.
    pub of_ranks: bool,
}

/// Replaces the checkpoint by a new one: there is always a whole one.
pub fn write<S: Real>(path: &Path, header: &Header, snapshot: &Snapshot<S>) -> Result<(), Error> {
    save(path, MAGIC, &encoded(path, header, snapshot)?)
}

/// The same of ranks, whose parts lie beside it already.
pub fn write_set(path: &Path, header: &Header, parts: &impl Serialize) -> Result<(), Error> {
    save(path, OF_RANKS, &encoded(path, header, parts)?)
}

fn encoded(path: &Path, header: &Header, rest: &impl Serialize) -> Result<Vec<u8>, Error> {
    let encoded = postcard::to_extend(header, Vec::new()).and_then(|bytes| postcard::to_extend(rest, bytes));
    encoded.map_err(|error| Error::input(path, format!("could not be encoded: {error}")))
}

fn save(path: &Path, magic: &[u8], body: &[u8]) -> Result<(), Error> {
    let bytes = [magic, &Sha256::digest(body), body].concat();
    Ok(melmo_data::file::save(path, &bytes, true)?)
}

/// Notes in a checkpoint of this run, where there is one, what the run is about to put in place: should it be killed before
/// all of it is there, a resumed run knows its own files again.
pub fn note(path: &Path, header: &Header, placed: Vec<Placed>) -> Result<(), Error> {
    match read(path) {
        Ok(found) if found.header.typed.same_problem(&header.typed) && found.header.sources == header.sources => {
            // What is there of an earlier end stays known until it is replaced.
            let earlier = found.header.placed.iter().filter(|earlier| earlier.is_there()).cloned();
            let placed = placed.into_iter().chain(earlier).collect();
            let header = Header { placed, ..found.header };
            let body = postcard::to_extend(&header, Vec::new())
                .map_err(|error| Error::input(path, format!("could not be encoded: {error}")))?;
            save(path, if found.of_ranks { OF_RANKS } else { MAGIC }, &[body, found.snapshot].concat())
        }
        _ => Ok(()),
    }
}

/// Reads a checkpoint; refuses one that is damaged anywhere, or that another version wrote.
pub fn read(path: &Path) -> Result<Checkpoint, Error> {
    let refused = |message: String| Err(Error::input(path, message));
    let bytes = input::own(path).map_err(|error| {
        Error::input(path, format!("could not read the checkpoint: {error}; without --resume the run starts anew"))
    })?;
    let of_ranks = bytes.starts_with(OF_RANKS);
    let Some(rest) = bytes.strip_prefix(if of_ranks { OF_RANKS } else { MAGIC }) else {
        return match bytes.starts_with(ANY) {
            true => refused(format!(
                "is a checkpoint of another version of this program, in another format: resume it with that version, or {ANEW}"
            )),
            false => refused("is not a checkpoint of this program".into()),
        };
    };
    let whole = rest.split_at_checked(DIGEST).filter(|(digest, body)| Sha256::digest(body).as_slice() == *digest);
    let Some((_, body)) = whole else {
        return refused(format!("the checkpoint is damaged: its checksum is not that of its content; {ANEW}"));
    };
    let (header, snapshot) = postcard::take_from_bytes::<Header>(body).map_err(|error| damaged(path, error))?;
    if header.version != env!("CARGO_PKG_VERSION") {
        return refused(format!(
            "was written by melmo {}, and this is melmo {}: a state means something to its own version only; resume it with that version, or {ANEW}",
            header.version,
            env!("CARGO_PKG_VERSION")
        ));
    }
    Ok(Checkpoint { path: path.into(), header, snapshot: snapshot.to_vec(), of_ranks })
}

fn damaged(path: &Path, error: postcard::Error) -> Error {
    Error::input(path, format!("the checkpoint is damaged ({error}): {ANEW}"))
}

impl Checkpoint {
    /// What follows the header of a checkpoint of ranks.
    pub fn rest<T: for<'d> Deserialize<'d>>(&self) -> Result<T, Error> {
        if !self.of_ranks {
            let message = "is a checkpoint of one machine: go on without mpirun, or start anew without --resume";
            return Err(Error::input(&self.path, message));
        }
        postcard::from_bytes(&self.snapshot).map_err(|error| damaged(&self.path, error))
    }

    /// The snapshot.
    pub fn snapshot<S: Real>(&self) -> Result<Snapshot<S>, Error> {
        if self.of_ranks {
            let message = format!("is a checkpoint of ranks: go on under mpirun, on any number of them, or {ANEW}");
            return Err(Error::input(&self.path, message));
        }
        let snapshot: Snapshot<S> = postcard::from_bytes(&self.snapshot).map_err(|error| damaged(&self.path, error))?;
        // No run has taken a century; times that add up to more than can be counted would.
        const CENTURY: u64 = 100 * 366 * 86_400;
        if snapshot.elapsed.as_secs() > CENTURY {
            return Err(Error::input(&self.path, format!("claims {} s of work; {ANEW}", snapshot.elapsed.as_secs())));
        }
        Ok(snapshot)
    }

    /// The job that was typed now, with what was chosen when the run began: that is not chosen again. Refuses another job
    /// than the one that was interrupted, and choices that no run makes.
    pub fn completed(&self, typed: &Job) -> Result<Job, Error> {
        let header = &self.header;
        if !header.typed.same_problem(typed) {
            let differing = header.typed.differences(typed);
            let what =
                if differing.is_empty() { "the command".into() } else { format!("--{}", differing.join(", --")) };
            let message = format!("is the checkpoint of another job ({what} differs): use the same options");
            return Err(Error::input(&self.path, message));
        }
        if let Some((option, _)) = header.chosen.iter().find(|(option, _)| !job::CHOSEN.contains(&option.as_str())) {
            let message =
                format!("chooses --{option}, which no run chooses for itself: it was not written by this program");
            return Err(Error::input(&self.path, message));
        }
        let chosen: Vec<_> = header.chosen.iter().map(|(option, value)| (option.as_str(), value.clone())).collect();
        Ok(typed.clone().with(&chosen))
    }

    /// Refuses to go on with inputs that have changed.
    pub fn check_sources(&self, sources: &[Source]) -> Result<(), Error> {
        match self.header.sources.iter().find(|source| !sources.contains(source)) {
            Some(source) => Err(Error::input(&source.path, "has changed since the checkpoint was written")),
            None => Ok(()),
        }
    }

    /// What it means to go on here, where that is not the same run bit for bit.
    pub fn caveat(&self) -> Option<String> {
        let (there, here) = (&self.header.instructions, melmo::vector::instructions());
        (there != here).then(|| {
            format!(
                "begun with {there} instructions, continued with {here}: the same run up to rounding, not bit for bit"
            )
        })
    }
}
