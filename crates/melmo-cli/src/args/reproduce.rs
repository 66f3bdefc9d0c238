use std::path::PathBuf;

use clap::Args;
use melmo_reproduce::{Options, Setting};

/// Run the paper's experiments again: tables, figures, one page
///
/// Writes a folder with one page, tables, figures and traces.
///
/// Camera, Football, Misérables and the synthetic matrix are bundled. Finished runs are kept in the folder: the same command
/// goes on where it was interrupted, and only what a changed option changes is run again.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: melmo reproduce --quick -o look   (under a minute; then open look/index.html)")]
pub struct Reproduce {
    /// The paper's formulas and tables of settings (the default)
    #[arg(long, conflicts_with = "as_published")]
    pub as_stated: bool,
    /// What makes the paper's numbers come back
    #[arg(long)]
    pub as_published: bool,
    /// Smaller problems, fewer steps: how everything looks, in under a minute
    #[arg(long)]
    pub quick: bool,
    /// Seeds of starts and masks; medians and ranges are over them
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub seeds: u64,
    /// Folder with olivetti_u8.npy and spectrometer.npy or lrs.data
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The folder to write; it is made where it is not there
    #[arg(short, long, value_name = "FOLDER", default_value = "reproduction")]
    pub output: PathBuf,
    /// Threads to use; unless given MELMO_THREADS or OMP_NUM_THREADS, else all cores. The numbers do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print one JSON object to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// No progress, no summary: errors only
    #[arg(short, long)]
    pub quiet: bool,
}

impl Reproduce {
    /// What they mean.
    pub fn options(&self) -> Options {
        let setting = if self.as_published { Setting::AsPublished } else { Setting::AsStated };
        Options { setting, quick: self.quick, seeds: self.seeds, data: self.data_dir.clone() }
    }

    /// As it would be typed; without a seed more than needed.
    pub fn typed(&self) -> String {
        let mut typed = String::from("melmo reproduce");
        typed += if self.as_published { " --as-published" } else { " --as-stated" };
        if self.quick {
            typed += " --quick";
        }
        typed += &format!(" --seeds {}", self.seeds);
        if self.data_dir.is_some() {
            typed += " --data-dir DIR";
        }
        typed
    }
}
