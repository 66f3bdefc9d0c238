//! Finished runs, a small file each, named by a digest of everything that decides their numbers. A changed setting has
//! another name and is run; an unchanged one is read back.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use melmo_data::file;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::instance::{Instance, Outcome};

/// Changes when the numbers of an unchanged instance may.
const VERSION: u32 = 2;

/// A folder of finished runs.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Finished {
    version: u32,
    instance: Instance,
    outcome: Outcome,
}

impl Store {
    /// Makes the folder where it is not there.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Folder { path: folder.to_path_buf(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        Ok(Self { folder: folder.to_path_buf() })
    }

    fn path(&self, instance: &Instance) -> PathBuf {
        let text = serde_json::to_string(&(VERSION, instance)).unwrap_or_default();
        let digest: String =
            Sha256::digest(text.as_bytes()).iter().take(10).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{}-{digest}.json", instance.experiment.name()))
    }

    /// What came out of this very instance, if it was finished. A damaged file counts as none.
    pub fn get(&self, instance: &Instance) -> Option<Outcome> {
        let bytes = std::fs::read(self.path(instance)).ok()?;
        let finished: Finished = serde_json::from_slice(&bytes).ok()?;
        (finished.version == VERSION && finished.instance == *instance).then_some(finished.outcome)
    }

    /// How many finished runs of other settings, data or versions are in the folder.
    pub fn others<'i>(&self, instances: impl IntoIterator<Item = &'i Instance>) -> usize {
        let mine: HashSet<PathBuf> = instances.into_iter().map(|instance| self.path(instance)).collect();
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| path.extension().is_some_and(|e| e == "json") && !mine.contains(path)).count()
    }

    /// Keeps it.
    pub fn put(&self, instance: &Instance, outcome: &Outcome) -> Result<(), Error> {
        let finished = Finished { version: VERSION, instance: instance.clone(), outcome: outcome.clone() };
        let bytes = serde_json::to_vec(&finished).unwrap_or_default();
        Ok(file::save(&self.path(instance), &bytes, true)?)
    }
}
