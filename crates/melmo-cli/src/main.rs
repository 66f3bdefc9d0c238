//! The program `melmo`: [`args`] (what was typed) → [`job`] (what it means) → [`command`] → [`render`].

mod args;
mod checkpoint;
mod command;
mod error;
mod input;
mod job;
mod nearest;
mod output;
mod picture;
mod render;
mod result;
mod session;
mod statement;

use std::process::ExitCode;

use clap::CommandFactory;

use args::{Cli, Command, Problem};
use command::solving;
use error::Error;
use job::Job;
use melmo::patience::Patience;
use melmo::threads::Threads;
use render::{progress, say, summary};

#[global_allocator]
static ALLOCATOR: melmo_alloc::Aligned = melmo_alloc::Aligned;

fn main() -> ExitCode {
    progress::catch_interrupts();
    match progress::patience().run(|| job::parse(std::env::args_os().collect()).and_then(|(cli, job)| run(cli, job))) {
        Ok(code) => code,
        Err(error) => {
            say::note(&format!("melmo: error: {error}"));
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli, job: Job) -> Result<ExitCode, Error> {
    match cli.command {
        Command::Solve(problem) => solve(problem, &job),
        Command::Compare(compare) => {
            use_threads(solving!(&compare.problem, problem => problem.solving.threads))?;
            command::compare::run(&compare, &job)
        }
        Command::Check(check) => {
            use_threads(solving!(&check.problem, problem => problem.solving.threads))?;
            command::check::run(&check, &job)
        }
        Command::Reproduce(reproduce) => {
            use_threads(reproduce.threads)?;
            // Its runs are ended by those who watch them, who know then that they are not whole.
            Patience::endless().run(|| command::reproduce::run(&reproduce))
        }
        Command::Predict(predict) => command::predict::run(&predict),
        Command::Verify(verify) => {
            use_threads(None)?;
            command::verify::run(&verify)
        }
        Command::List(list) => show(&command::list::text(&list)),
        Command::Explain(explain) => show(&command::explain::text(&explain)?),
        Command::Manual(manual) => command::manual::run(&manual),
        Command::Completions(completions) => {
            let mut script = Vec::new();
            clap_complete::generate(completions.shell, &mut Cli::command(), "melmo", &mut script);
            show(&String::from_utf8_lossy(&script))
        }
    }
}

fn solve(problem: Problem, job: &Job) -> Result<ExitCode, Error> {
    let solving = solving!(&problem, problem => &problem.solving);
    use_threads(solving.threads)?;
    let path = solving.checkpoint.clone().filter(|_| solving.resume);
    let begun = path.as_ref().map(|path| checkpoint::read(path)).transpose()?;
    let problem = match (&path, &begun) {
        (Some(path), Some(begun)) => begun.completed(job)?.problem_of(path)?,
        _ => problem,
    };
    if let Problem::Denoise(denoise) = &problem {
        return command::denoise::run(denoise, job, begun);
    }
    solving!(&problem, problem => session::run(problem, job, begun))
}

/// So many threads; unless given, what the environment says, or all cores.
fn use_threads(threads: Option<usize>) -> Result<(), Error> {
    /// More threads than any machine has cores.
    const MOST: usize = 4096;
    if let Some(threads) = threads.filter(|&threads| threads > MOST) {
        return Err(Error::option("threads", format!("{threads}: expected at most {MOST}")));
    }
    let threads = threads.map_or_else(Threads::from_environment, Threads::new);
    threads.map(Threads::make_default).map_err(|error| Error::option("threads", error.to_string()))
}

/// Text for people.
fn show(text: &str) -> Result<ExitCode, Error> {
    say::printed(summary::print(text))?;
    Ok(ExitCode::SUCCESS)
}
