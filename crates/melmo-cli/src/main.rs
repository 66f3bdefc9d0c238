//! The program `melmo`: [`args`] (what was typed) → [`job`] (what it means) → [`command`] → [`render`].

mod allocator;
mod args;
mod checkpoint;
mod command;
mod error;
mod input;
mod job;
mod output;
mod picture;
mod render;
mod result;
mod session;

use std::process::ExitCode;

use clap::CommandFactory;

use args::{Cli, Command};
use command::solving;
use error::Error;
use job::Job;
use render::{progress, summary};

fn main() -> ExitCode {
    progress::catch_interrupts();
    match job::parse(std::env::args_os().collect()).and_then(|(cli, job)| run(cli, job)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("melmo: error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli, job: Job) -> Result<ExitCode, Error> {
    let solving = solving!(&cli.command, command => &command.solving, return look(&cli.command));
    use_threads(solving.threads)?;
    let command = match solving.checkpoint.as_ref().filter(|_| solving.resume) {
        // What was chosen when the run began is not chosen again.
        Some(path) => {
            let (header, _) = checkpoint::read(path)?;
            checkpoint::check_job(path, &header, &job)?;
            let chosen: Vec<_> = header.resolved.options.iter().map(|(o, v)| (o.as_str(), v.clone())).collect();
            job.clone().with(&chosen).command(path)?.command
        }
        None => cli.command,
    };
    if let Command::Denoise(denoise) = &command {
        return command::denoise::run(denoise, &job);
    }
    solving!(&command, command => session::run(command, &job), look(&command))
}

/// So many threads, all cores unless given.
fn use_threads(threads: Option<usize>) -> Result<(), Error> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Error::option("threads", error.to_string()))
}

/// Commands that solve no problem of the user's.
fn look(command: &Command) -> Result<ExitCode, Error> {
    let text = match command {
        Command::List(list) => command::list::text(list),
        Command::Explain(explain) => command::explain::text(explain)?,
        Command::Verify(verify) => return command::verify::run(verify),
        Command::Reproduce(reproduce) => {
            use_threads(reproduce.threads)?;
            return command::reproduce::run(reproduce);
        }
        Command::Completions(completions) => {
            let mut script = Vec::new();
            clap_complete::generate(completions.shell, &mut Cli::command(), "melmo", &mut script);
            String::from_utf8_lossy(&script).into_owned()
        }
        _ => String::new(),
    };
    // A reader that went away early has seen enough.
    let _ = summary::print(&text);
    Ok(ExitCode::SUCCESS)
}
