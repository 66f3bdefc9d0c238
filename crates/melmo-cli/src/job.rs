//! What it means: a command with its options, as data. A job can be written to a file, read back, and completed by what
//! was chosen along the way, so that a checkpoint and a saved result say exactly what was solved.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches, Parser};
use serde::{Deserialize, Serialize};

use crate::args::{self, Cli, Problem};
use crate::error::Error;
use crate::input;
use crate::nearest;
use crate::render::{progress, say};

/// A command and the options that were given for it, in the order of its help page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub command: String,
    pub options: Vec<(String, String)>,
}

/// Options that say how a run is watched and kept, not what is solved.
const ABOUT_THE_RUN: [&str; 16] = [
    "config",
    "save-config",
    "resume",
    "checkpoint",
    "every",
    "force",
    "json",
    "quiet",
    "verbose",
    "trace",
    "result",
    "report",
    "output",
    "format",
    "threads",
    "device",
];

/// Options that commands choose for themselves where they are not given: all that a checkpoint may decide.
pub const CHOSEN: [&str; 10] =
    ["noise", "prior", "lambda", "offset-weight", "rank", "ridge", "penalty", "low-rank", "sparse", "loss"];

/// The program's commands with `--config` taken in: what was typed comes first, the file fills the rest.
pub fn parse(typed: Vec<OsString>) -> Result<(Cli, Job), Error> {
    let mut typed = typed;
    // A first look that forgives everything, to find out what was typed before the file is read.
    let lenient = Cli::command().ignore_errors(true).try_get_matches_from(&typed);
    let named = lenient.as_ref().ok().and_then(innermost);
    if let Some((name, matches)) = named
        && let Some(file) = matches.try_get_one::<std::path::PathBuf>("config").ok().flatten()
    {
        let limit = matches.try_get_one::<Duration>("time_limit").ok().flatten().copied();
        let job = progress::while_reading(file, &progress::time(limit), || read(file))?;
        if job.command != name {
            let message = format!("{} is a job of `melmo {}`, not of `melmo {name}`", file.display(), job.command);
            return Err(Error::option("config", message));
        }
        let typed_already = |option: &str| matches.value_source(&id(option)) == Some(ValueSource::CommandLine);
        let rest = Job { options: job.options.into_iter().filter(|(o, _)| !typed_already(o)).collect(), ..job };
        typed.extend(rest.arguments(file)?);
    }
    let matches = Cli::command().try_get_matches_from(&typed).unwrap_or_else(|error| leave(&error));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| leave(&error));
    let (name, matches) = innermost(&matches).expect("clap asks for a command");
    Ok((cli, Job::of(name, matches)))
}

/// Ends the program with what clap has to say: a page that was asked for, or what is wrong with the options.
fn leave(error: &clap::Error) -> ! {
    if error.use_stderr() {
        say::note(&error.render().to_string());
        say::let_speak();
        std::process::exit(error.exit_code());
    }
    if say::is_silent() {
        std::process::exit(0);
    }
    let unheard =
        say::printed(error.print()).inspect_err(|error| say::note(&format!("melmo: error: {error}"))).is_err();
    std::process::exit(if unheard { 2 } else { 0 })
}

/// The command whose options they are: of `compare`, the problem's.
fn innermost(matches: &ArgMatches) -> Option<(&str, &ArgMatches)> {
    let (name, matches) = matches.subcommand()?;
    Some(innermost(matches).unwrap_or((name, matches)))
}

fn id(option: &str) -> String {
    option.replace('-', "_")
}

fn command(name: &str) -> Option<Command> {
    Cli::command().get_subcommands().find(|command| command.get_name() == name).cloned()
}

fn name(argument: &Arg) -> String {
    argument.get_long().map_or_else(|| argument.get_id().to_string(), Into::into)
}

fn is_flag(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::SetTrue)
}

impl Job {
    fn of(name_of_command: &str, matches: &ArgMatches) -> Self {
        let mut options = Vec::new();
        let known = command(name_of_command);
        for argument in known.iter().flat_map(|command| command.get_arguments()) {
            let key = argument.get_id().as_str();
            if matches.try_contains_id(key).unwrap_or(false)
                && matches.value_source(key) == Some(ValueSource::CommandLine)
            {
                let values =
                    matches.get_raw(key).into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
                let value = if is_flag(argument) { "true".into() } else { values.collect::<Vec<_>>().join(",") };
                options.push((name(argument), value));
            }
        }
        Self { command: name_of_command.into(), options }
    }

    /// The same job with these options set: what was chosen along the way.
    pub fn with(mut self, chosen: &[(&str, String)]) -> Self {
        for (option, value) in chosen {
            self.options.retain(|(known, _)| known != option);
            self.options.push(((*option).into(), value.clone()));
        }
        self
    }

    /// What the job of a saved result can have meant, today's meaning first: results of before found the offsets of rows and columns
    /// by turns alone, had differences as the prior of a picture, and do not say so.
    pub fn readings(&self) -> Vec<Self> {
        let mut readings = vec![self.clone()];
        if self.command == "complete" && self.options.iter().all(|(option, _)| option != "offset-steps") {
            readings.push(self.clone().with(&[("offset-steps", "turns".into())]));
        }
        let says = |option: &str| self.options.iter().any(|(known, _)| known == option);
        if self.command == "denoise" && !says("prior") && !says("penalty") {
            readings.push(self.clone().with(&[("prior", "differences".into())]));
        }
        readings
    }

    /// Refuses options that mean nothing to a command that takes the problem of another.
    pub fn refuse(&self, meaningless: &[&str], why: impl Fn(&str) -> &'static str) -> Result<(), Error> {
        match self.options.iter().find(|(option, _)| meaningless.contains(&option.as_str())) {
            Some((option, _)) => Err(Error::option(option, why(option))),
            None => Ok(()),
        }
    }

    /// The options that decide what is solved.
    pub fn problem(&self) -> Self {
        let keep = |(option, _): &&(String, String)| !ABOUT_THE_RUN.contains(&option.as_str());
        Self { command: self.command.clone(), options: self.options.iter().filter(keep).cloned().collect() }
    }

    /// The same problem, however the run is watched and kept.
    pub fn same_problem(&self, other: &Self) -> bool {
        self.command == other.command && self.differences(other).is_empty()
    }

    /// Options of what is solved that differ between two jobs.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let set = |job: &Self| job.problem().options.into_iter().collect::<BTreeSet<_>>();
        let (mine, theirs) = (set(self), set(other));
        mine.symmetric_difference(&theirs)
            .map(|(option, _)| option.clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// The job as it would be typed, after `melmo COMMAND`; `file` is named where an option is unknown.
    fn arguments(&self, file: &Path) -> Result<Vec<OsString>, Error> {
        let command = command(&self.command)
            .ok_or_else(|| Error::input(file, format!("no command is called `{}`", self.command)))?;
        let mut typed = Vec::new();
        for (option, value) in &self.options {
            let Some(argument) = command.get_arguments().find(|argument| name(argument) == *option) else {
                let known: Vec<String> = command.get_arguments().map(name).collect();
                let message =
                    format!("`{option}` is no option of `melmo {}`; known: {}", self.command, known.join(", "));
                return Err(Error::input(file, message));
            };
            if argument.is_positional() {
                typed.push(value.into());
            } else if !is_flag(argument) {
                typed.push(format!("--{option}={value}").into());
            } else if value == "true" {
                typed.push(format!("--{option}").into());
            }
        }
        Ok(typed)
    }

    /// The job as it would be typed.
    pub fn line(&self) -> String {
        let quoted = |text: &str| {
            if text.contains(|c: char| c.is_whitespace() || "\"'$*?[]{}()&|;<>`\\#~".contains(c)) {
                format!("'{}'", text.replace('\'', "'\\''"))
            } else {
                text.to_string()
            }
        };
        let arguments = self.arguments(Path::new("")).unwrap_or_default();
        let arguments: Vec<String> = arguments.iter().map(|argument| quoted(&argument.to_string_lossy())).collect();
        format!("melmo {} {}", self.command, arguments.join(" "))
    }

    /// The problem that this job is.
    pub fn problem_of(&self, file: &Path) -> Result<Problem, Error> {
        let mut typed: Vec<OsString> = vec!["melmo".into(), self.command.clone().into()];
        typed.extend(self.arguments(file)?);
        match Cli::try_parse_from(typed).map_err(|error| Error::input(file, error.to_string()))?.command {
            args::Command::Solve(problem) => Ok(problem),
            _ => Err(Error::input(file, format!("`melmo {}` solves nothing", self.command))),
        }
    }

    /// As TOML: `command`, then an option a line; numbers and flags as such. Without those that are meant for one run alone.
    pub fn to_toml(&self) -> String {
        let mut table = toml::Table::new();
        table.insert("command".into(), self.command.clone().into());
        let about = ["config", "save-config", "force", "quiet", "verbose"];
        for (option, value) in self.options.iter().filter(|(option, _)| !about.contains(&option.as_str())) {
            let value = if value == "true" {
                toml::Value::Boolean(true)
            } else {
                let whole = value.parse::<i64>().ok().filter(|n| n.to_string() == *value).map(toml::Value::Integer);
                whole.unwrap_or_else(|| toml::Value::String(value.clone()))
            };
            table.insert(option.clone(), value);
        }
        format!("# A job for `melmo {} --config`: options are named as on the command line.\n{table}", self.command)
    }
}

/// Reads a job from TOML.
fn read(file: &Path) -> Result<Job, Error> {
    if !file.exists() {
        return Err(Error::input(file, nearest::missing_own(file, "file")));
    }
    let text = input::configuration(file).map_err(|error| Error::input(file, format!("could not read it: {error}")))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| Error::input(file, error.to_string()))?;
    let mut job = Job { command: String::new(), options: Vec::new() };
    for (key, value) in table {
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Boolean(flag) => flag.to_string(),
            _ => return Err(Error::input(file, format!("`{key}`: expected a text, a number, true or false"))),
        };
        match key.as_str() {
            "command" => job.command = value,
            _ => job.options.push((key, value)),
        }
    }
    if job.command.is_empty() {
        return Err(Error::input(file, "expected a line such as command = \"denoise\""));
    }
    Ok(job)
}
