//! The program `melmo`: [`args`] (what was typed) → [`job`] (what it means) → [`command`] → [`render`].

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
mod statement;

use std::process::ExitCode;

use clap::CommandFactory;

use args::{Cli, Command, Problem};
use command::solving;
use error::Error;
use job::Job;
use render::{progress, summary};

#[global_allocator]
static ALLOCATOR: melmo_alloc::Aligned = melmo_alloc::Aligned;

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
    match cli.command {
        Command::Solve(problem) => solve(problem, &job),
        Command::Compare(compare) => {
            use_threads(solving!(&compare.problem, problem => problem.solving.threads))?;
            command::compare::run(&compare, &job)
        }
        Command::Reproduce(reproduce) => {
            use_threads(reproduce.threads)?;
            command::reproduce::run(&reproduce)
        }
        Command::Verify(verify) => command::verify::run(&verify),
        Command::List(list) => Ok(show(&command::list::text(&list))),
        Command::Explain(explain) => Ok(show(&command::explain::text(&explain)?)),
        Command::Completions(completions) => {
            let mut script = Vec::new();
            clap_complete::generate(completions.shell, &mut Cli::command(), "melmo", &mut script);
            Ok(show(&String::from_utf8_lossy(&script)))
        }
    }
}

fn solve(problem: Problem, job: &Job) -> Result<ExitCode, Error> {
    let solving = solving!(&problem, problem => &problem.solving);
    use_threads(solving.threads)?;
    let problem = match solving.checkpoint.as_ref().filter(|_| solving.resume) {
        // What was chosen when the run began is not chosen again.
        Some(path) => {
            let (header, _) = checkpoint::read(path)?;
            checkpoint::check_job(path, &header, job)?;
            let chosen: Vec<_> = header.resolved.options.iter().map(|(o, v)| (o.as_str(), v.clone())).collect();
            job.clone().with(&chosen).problem_of(path)?
        }
        None => problem,
    };
    if let Problem::Denoise(denoise) = &problem {
        return command::denoise::run(denoise, job);
    }
    solving!(&problem, problem => session::run(problem, job))
}

/// So many threads, all cores unless given.
fn use_threads(threads: Option<usize>) -> Result<(), Error> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Error::option("threads", error.to_string()))
}

/// Text for people; a reader that went away early has seen enough.
fn show(text: &str) -> ExitCode {
    let _ = summary::print(text);
    ExitCode::SUCCESS
}
