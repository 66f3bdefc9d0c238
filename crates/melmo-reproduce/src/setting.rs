//! What is asked for: which of the two settings, how much of it, with which data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The paper's text, or what its numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// The paper's formulas and its tables of settings.
    AsStated,
    /// What makes its numbers come back.
    AsPublished,
}

impl Setting {
    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsStated => "as-stated",
            Self::AsPublished => "as-published",
        }
    }
}

/// Everything that decides what is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which setting.
    pub setting: Setting,
    /// Smaller problems and fewer steps: a look at everything in under a minute.
    pub quick: bool,
    /// How many seeds: starts, masks.
    pub seeds: u64,
    /// Where Olivetti and Spectrometer are, if anywhere.
    pub data: Option<PathBuf>,
}

impl Options {
    /// The whole of it, with five seeds and the bundled data.
    pub fn new(setting: Setting) -> Self {
        Self { setting, quick: false, seeds: 5, data: None }
    }

    /// Published settings are asked for.
    pub fn published(&self) -> bool {
        self.setting == Setting::AsPublished
    }

    /// A number of steps, an eighth of it in a quick run.
    pub(crate) fn steps(&self, full: u64) -> u64 {
        if self.quick { full / 8 } else { full }
    }

    /// The seeds of an experiment that is repeated; two in a quick run at most.
    pub(crate) fn seeds(&self) -> std::ops::Range<u64> {
        0..if self.quick { self.seeds.min(2) } else { self.seeds }
    }
}
