//! Our methods beside the best that others would use: every table of `docs/competition.md`, by one command.
//!
//! ```text
//! cargo bench -p melmo-tasks --bench competition -- [tv] [recovery] [factorisation] [regression]
//!     [--data FOLDER] [--images FOLDER] [--diabetes FOLDER] [--threads N] [--quick] [--row "admm 400 penalty=2"]…
//! ```
//!
//! All four sections unless some are named. FOLDER of `--data` holds `camera256_noisy.npy`, `spectrometer.npy` and
//! `olivetti_u8.npy`; of `--images` any pictures; of `--diabetes` scikit-learn's `diabetes_data_raw.csv` and
//! `diabetes_target.csv`. What is not there is skipped, and said so. Every run has one thread; seconds are of that thread on the
//! processor. At the end `auto` is held against the lowest F of every instance, and the status is 1 where it is more than 0.5 %
//! above. `--equal-time` prints instead what the default methods reach in given seconds, for comparing two versions of the library;
//! `--designs wide,large` and `--seconds N` choose designs of the regression and bound the seconds for each λ.

mod equal_time;
mod factorisation;
mod page;
mod race;
mod recovery;
mod regression;
mod tv;

use std::path::PathBuf;
use std::process::ExitCode;

use page::{Section, WITHIN, auto_wins};

/// What was typed.
pub(crate) struct Flags {
    words: Vec<String>,
    quick: bool,
    threads: usize,
}

impl Flags {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
        let mut flags = Self { quick: false, threads: 1, words };
        flags.quick = flags.words.iter().any(|word| word == "--quick");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        flags.threads = flags.after("--threads").and_then(|n| n.parse().ok()).unwrap_or(cores);
        flags
    }

    /// What follows a name.
    fn after(&self, name: &str) -> Option<&str> {
        self.all_after(name).into_iter().next()
    }

    fn all_after(&self, name: &str) -> Vec<&str> {
        self.words.windows(2).filter(|pair| pair[0] == name).map(|pair| pair[1].as_str()).collect()
    }

    /// A file in the folder that an option names.
    fn file(&self, option: &str, name: &str) -> Result<PathBuf, String> {
        let folder = self.after(option).ok_or_else(|| format!("{option} names no folder"))?;
        Ok(PathBuf::from(folder).join(name))
    }

    fn wants(&self, section: &str) -> bool {
        let sections = SECTIONS.map(|(name, _)| name);
        let mut named = self.words.iter().filter(|word| sections.contains(&word.as_str())).peekable();
        named.peek().is_none() || named.any(|word| word == section)
    }
}

type Measure = fn(&Flags) -> Section;

const SECTIONS: [(&str, Measure); 4] = [
    ("tv", tv::section),
    ("recovery", recovery::section),
    ("factorisation", factorisation::section),
    ("regression", regression::section),
];

fn main() -> ExitCode {
    let flags = Flags::read();
    if flags.words.iter().any(|word| word == "--equal-time") {
        print!("{}", equal_time::lines(&flags));
        return ExitCode::SUCCESS;
    }
    let mut instances = Vec::new();
    for (_, measure) in SECTIONS.iter().filter(|(name, _)| flags.wants(name)) {
        let section = measure(&flags);
        println!("{}", section.text);
        instances.extend(section.instances);
    }
    let (text, holds) = auto_wins(&instances);
    println!("## `auto` against the lowest F of every instance\n\n{text}");
    if holds {
        println!("`auto` is within {} % of the lowest everywhere.", 100.0 * WITHIN);
        return ExitCode::SUCCESS;
    }
    println!("`auto` is NOT within {} % of the lowest everywhere.", 100.0 * WITHIN);
    ExitCode::FAILURE
}
