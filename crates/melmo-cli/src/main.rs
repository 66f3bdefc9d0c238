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
mod ranks;
mod render;
mod result;
mod rows;
mod session;
mod statement;
mod target;

use std::process::ExitCode;

use clap::CommandFactory;

use args::{Cli, Command, Problem};
use checkpoint::Checkpoint;
use command::solving;
use error::Error;
use job::Job;
use melmo::patience::Patience;
use melmo::threads::Threads;
use ranks::Started;
use render::{progress, say, summary};

#[global_allocator]
static ALLOCATOR: melmo_alloc::Aligned = melmo_alloc::Aligned;

fn main() -> ExitCode {
    progress::catch_interrupts();
    let started = ranks::started().filter(|started| started.size > 1);
    if started.is_some_and(|started| started.rank > 0) {
        say::be_silent(); // rank 0 speaks
    }
    match progress::patience().run(|| job::parse(std::env::args_os().collect()).and_then(|(cli, job)| run(cli, job))) {
        Ok(code) => code,
        Err(error) => {
            say::note(&format!("melmo: error: {error}"));
            say::let_speak();
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli, job: Job) -> Result<ExitCode, Error> {
    if let Some(started) = several(&cli) {
        return on_ranks(started, cli, &job);
    }
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
    let (problem, begun) = taken_up(problem, job)?;
    match &problem {
        Problem::Denoise(denoise) => command::denoise::run(denoise, job, begun),
        Problem::Rpca(rpca) => command::rpca::run(rpca, job, begun),
        Problem::Deblur(deblur) => command::restore::run(deblur, job, begun),
        Problem::Inpaint(inpaint) => command::restore::run(inpaint, job, begun),
        Problem::Upscale(upscale) => command::restore::run(upscale, job, begun),
        _ => solving!(&problem, problem => session::run(problem, job, begun)),
    }
}

/// The problem as it was begun, and where it stood, where a run is taken up.
fn taken_up(problem: Problem, job: &Job) -> Result<(Problem, Option<Checkpoint>), Error> {
    let solving = solving!(&problem, problem => &problem.solving);
    let path = solving.checkpoint.clone().filter(|_| solving.resume);
    let begun = path.as_ref().map(|path| checkpoint::read(path)).transpose()?;
    Ok(match (&path, &begun) {
        (Some(path), Some(found)) => (found.completed(job)?.problem_of(path)?, begun),
        _ => (problem, None),
    })
}

/// Which of several processes this is: where there is more than one, or where one goes on from what several wrote.
fn several(cli: &Cli) -> Option<Started> {
    let of_ranks = || match &cli.command {
        Command::Solve(problem) => solving!(problem, problem => {
            let solving = &problem.solving;
            solving.resume && solving.checkpoint.as_ref().is_some_and(|path| ranks::is_set(path))
        }),
        _ => false,
    };
    ranks::started().filter(|started| started.size > 1 || of_ranks())
}

/// The same commands, where `mpirun` started several processes of them.
fn on_ranks(started: Started, cli: Cli, job: &Job) -> Result<ExitCode, Error> {
    progress::on_ranks();
    let mut ends = ranks::join(started)?;
    let done = match cli.command {
        Command::Solve(problem) => {
            let threads = solving!(&problem, problem => problem.solving.threads);
            use_threads(threads.or_else(|| started.threads()))?;
            solve_on_ranks(problem, job, &mut ends)
        }
        _ => Err(ranks::refusal(&format!("`melmo {}`", job.command))),
    };
    match done {
        // Everybody has this one.
        Err(Error::Ranks(message)) => Err(Error::Ranks(message)),
        Err(error) => {
            say::note(&format!("melmo: error: {error}"));
            say::let_speak();
            // Others may wait for this one: who leaves without a farewell ends them too.
            std::process::exit(2);
        }
        done => done,
    }
}

fn solve_on_ranks(
    problem: Problem,
    job: &Job,
    ends: &mut dyn FnMut() -> Box<dyn melmo_mpi::Ranks>,
) -> Result<ExitCode, Error> {
    let (problem, begun) = ranks::Crew::new(ends()).agree(taken_up(problem, job))?;
    match &problem {
        Problem::Complete(complete) => ranks::run(complete, job, begun, ends),
        Problem::Denoise(denoise) => ranks::run(denoise, job, begun, ends),
        Problem::Factorize(factorize) => ranks::run(factorize, job, begun, ends),
        Problem::Regress(regress) => ranks::run(regress, job, begun, ends),
        Problem::Rpca(rpca) => ranks::run(rpca, job, begun, ends),
        _ => Err(ranks::refusal(&format!("`melmo {}`", job.command))),
    }
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
