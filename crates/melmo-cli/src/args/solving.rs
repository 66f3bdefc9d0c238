//! Options of every solving command.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use melmo::catalogue::Value;
use melmo::drive::{Epsilon, Gap};
use melmo::geometry::Oracle;
use melmo::schedule::Restart;
use melmo_tasks::{DeviceChoice, GeometryChoice, Settings, number};

use crate::args::known;

/// The names of methods: shells complete them, and a slip is answered with the nearest.
fn methods() -> PossibleValuesParser {
    PossibleValuesParser::new(melmo::catalogue::methods::<f64>().iter().map(|row| row.entry.name))
}

/// How to solve, when to stop, what to keep.
#[derive(Args, Clone, Debug)]
pub struct Solving {
    /// Method: auto, or a name from `melmo list methods`
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = methods(), hide_possible_values = true, help_heading = "Solving")]
    pub method: String,
    /// Norm of the steps: l2, l1, linf, spectral, nuclear, column, row, or one for
    /// each block as in W=spectral,H=l2; unless given spectral for two factors by squares, else l2
    #[arg(long, value_name = "NORM", value_parser = known::geometries(), hide_possible_values = true, help_heading = "Solving")]
    pub geometry: Option<GeometryChoice>,
    /// Where it is solved: cpu, cuda, cuda:N (GPU N), or auto
    #[arg(long, default_value = "cpu", value_name = "NAME", value_parser = known::devices(), hide_possible_values = true, help_heading = "Solving")]
    pub device: DeviceChoice,
    /// How spectral directions are found: auto, newton-schulz:6, minimax:8, gram, svd
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = known::oracles(), hide_possible_values = true, help_heading = "Solving")]
    pub oracle: Oracle,
    /// Exponent of the step: γ_k = γk^-p; the method's own unless given (`melmo list methods`)
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse, help_heading = "Solving")]
    pub p: Option<f64>,
    /// Exponent of the smoothing: β_k = βk^-q; the method's own unless given
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse, help_heading = "Solving")]
    pub q: Option<f64>,
    /// Step length γ; the method's own unless given
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse, help_heading = "Solving")]
    pub gamma: Option<f64>,
    /// Smoothing β, at most 1/(2ρ); the method's own unless given
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse, help_heading = "Solving")]
    pub beta: Option<f64>,
    /// L_f, the Lipschitz constant of ∇f, for variable-smoothing; the loss's own unless given
    #[arg(long, value_name = "L", allow_negative_numbers = true, value_parser = number::parse, help_heading = "Solving")]
    pub lipschitz: Option<f64>,
    /// variable-smoothing: step along normalised blocks
    #[arg(long, help_heading = "Solving")]
    pub normalized: bool,
    /// Step of the subgradient method; 5e-4 unless given
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse, help_heading = "Solving")]
    pub step: Option<f64>,
    /// epoch-constant: what an epoch starts from; best unless given
    #[arg(long, help_heading = "Solving", value_parser = PossibleValuesParser::new(["best", "start", "none"]).try_map(|word| word.parse::<Restart>()))]
    pub restart: Option<Restart>,
    /// Other parameters of the method (`melmo list methods`), as in kappa=1e-3
    #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',', value_parser = parameter, help_heading = "Solving")]
    pub set: Vec<(String, Value)>,
    /// f32 or f64; f64 unless given, f32 for a large picture that is denoised and a large film
    #[arg(long, value_parser = ["f32", "f64"], help_heading = "Solving")]
    pub precision: Option<String>,
    /// Threads to use; unless given as many as MELMO_THREADS or OMP_NUM_THREADS says, else all cores. The result does not depend on it
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub threads: Option<usize>,
    /// How many numbers an input file may become; unless given 2²², or 64 for each byte of a longer file
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub max_entries: Option<usize>,
    /// Seed of everything random: starts, held-out entries, added noise
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Solving")]
    pub seed: u64,

    /// Steps at most; unless given the command's own number, and 5000 or more where a certificate or a gap is asked for
    #[arg(long, value_name = "N", help_heading = "Stopping")]
    pub iterations: Option<u64>,
    /// Stop at a certificate: dual norm and proximal gap both at most ε
    #[arg(long, value_name = "EPS", allow_negative_numbers = true, value_parser = number::parse, help_heading = "Stopping")]
    pub epsilon: Option<f64>,
    /// The same, with ε relative to the values at the start
    #[arg(long, value_name = "EPS", allow_negative_numbers = true, value_parser = number::parse, conflicts_with = "epsilon", help_heading = "Stopping")]
    pub relative_epsilon: Option<f64>,
    /// Stop where F is proven to lie at most this far above the least value there is
    #[arg(long, value_name = "GAP", allow_negative_numbers = true, value_parser = positive, conflicts_with_all = ["epsilon", "relative_epsilon"], help_heading = "Stopping")]
    pub gap: Option<f64>,
    /// The same, relative to |F|
    #[arg(long, value_name = "GAP", allow_negative_numbers = true, value_parser = positive, conflicts_with_all = ["gap", "epsilon", "relative_epsilon"], help_heading = "Stopping")]
    pub relative_gap: Option<f64>,
    /// A radius that every minimiser lies in, where the proof of a gap needs one
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = positive, help_heading = "Stopping")]
    pub radius: Option<f64>,
    /// Stop where what is left of the gradients is this small next to them; 1e-6
    /// (1e-4 in f32) unless given or another stop is asked for, 0 for never
    #[arg(long, value_name = "TOL", allow_negative_numbers = true, value_parser = number::parse, help_heading = "Stopping")]
    pub tolerance: Option<f64>,
    /// Stop where F is at most this
    #[arg(long, value_name = "F", allow_negative_numbers = true, value_parser = number::parse, help_heading = "Stopping")]
    pub target_objective: Option<f64>,
    /// Epochs at most, for the epoch methods; n epochs are 2ⁿ − 1 steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=62), help_heading = "Stopping")]
    pub max_epochs: Option<u32>,
    /// Time at most, as in 90, 90s, 5m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Stopping")]
    pub time_limit: Option<Duration>,

    /// Write the convergence, a row a point, as .csv or .jsonl
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// Keep every N-th point in the trace
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    pub trace_every: u64,
    /// Write a page about the run: the result as a picture, the convergence, the certificate
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Write a folder with the point and its certificate, for `melmo verify`
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub result: Option<PathBuf>,
    /// Save the run's state now and then, to go on from with --resume
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub checkpoint: Option<PathBuf>,
    /// How often the checkpoint is written
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration, help_heading = "Output")]
    pub every: Duration,
    /// Go on from the checkpoint
    #[arg(long, requires = "checkpoint", help_heading = "Output")]
    pub resume: bool,
    /// Overwrite files that exist
    #[arg(long, help_heading = "Output")]
    pub force: bool,
    /// Print one JSON object to standard output, and nothing else there
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Take options from a file that --save-config wrote, or that names them by hand
    #[arg(long, value_name = "FILE.toml", help_heading = "Output")]
    pub config: Option<PathBuf>,
    /// Write this job to a file, for --config
    #[arg(long, value_name = "FILE.toml", help_heading = "Output")]
    pub save_config: Option<PathBuf>,
    /// No progress, no summary: errors only
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Say more: what was chosen and why, what the theory promises
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
}

impl Solving {
    /// The precision that was asked for, or the usual one.
    pub fn precision(&self) -> &str {
        self.precision.as_deref().unwrap_or("f64")
    }

    /// What they mean to the solver.
    pub fn settings(&self) -> Settings {
        let number = |value: Option<f64>| value.map(Value::Number);
        let values = [
            ("p", number(self.p)),
            ("q", number(self.q)),
            ("gamma", number(self.gamma)),
            ("beta", number(self.beta)),
            ("lipschitz", number(self.lipschitz)),
            ("step", number(self.step)),
            ("normalized", self.normalized.then(|| "yes".into())),
            ("restart", self.restart.map(|restart| restart.name().into())),
        ];
        let given = values.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
        let given = given.chain(self.set.iter().cloned());
        let absolute = self.epsilon.map(Epsilon::Absolute);
        Settings {
            method: self.method.clone(),
            arguments: given.collect(),
            geometry: self.geometry.clone(),
            device: self.device,
            oracle: self.oracle,
            iterations: self.iterations,
            epsilon: absolute.or(self.relative_epsilon.map(Epsilon::Relative)),
            gap: self.gap.map(Gap::Absolute).or(self.relative_gap.map(Gap::Relative)),
            radius: self.radius,
            tolerance: self.tolerance,
            target: self.target_objective,
            max_epochs: self.max_epochs,
            time_limit: self.time_limit,
        }
    }
}

/// A number above 0.
fn positive(text: &str) -> Result<f64, String> {
    let value = number::parse(text).map_err(|error| error.to_string())?;
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err("expected a number above 0".into()) }
}

/// `key=value`.
fn parameter(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("expected key=value, as in kappa=1e-3")?;
    Ok((key.trim().into(), number::value(value)))
}

/// `90`, `90s`, `1.5m`, `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let found = units.iter().find_map(|&(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (amount, seconds) = found.unwrap_or((text, 1.0));
    let amount = number::parse(amount).ok().filter(|amount| *amount >= 0.0);
    amount
        .and_then(|amount| Duration::try_from_secs_f64(amount * seconds).ok())
        .ok_or_else(|| "expected a time such as 90, 90s, 5m or 1h".into())
}
