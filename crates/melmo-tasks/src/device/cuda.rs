//! NVIDIA's GPUs.

use melmo::catalogue::{self, Arguments, SAMPLED, Value, method_on, sampled_on};
use melmo::geometry::{BlockNorm, Oracle};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::Form;
use melmo::solver::Solver;
pub use melmo_cuda::described;
use melmo_cuda::{Arithmetic, Device, Gpu, Plan};

use crate::error::Error;

/// Refuses a problem that no GPU can do all of by this method.
fn check<S: Real>(problem: &Problem<S>, method: &str) -> Result<(), melmo::error::Error> {
    let plan = Plan::of(problem)?;
    if method == SAMPLED { plan.expect_samples() } else { Ok(()) }
}

/// The name of GPU 0 where there is one that can do all of a problem by this method, or why not.
pub(crate) fn first<S: Real>(problem: &Problem<S>, method: &str) -> Result<String, String> {
    check(problem, method).map_err(|error| error.to_string())?;
    let all = described()?;
    all.first().map(|first| first.name.clone()).ok_or_else(|| "there is no GPU here".into())
}

/// A solver on a GPU, and what is said of that.
pub(crate) fn solver<'p, S: Real>(
    ordinal: usize,
    problem: &'p Problem<S>,
    (name, given): (&str, &[(&str, Value)]),
    norms: Vec<BlockNorm>,
    oracle: Oracle,
    start: &[S],
) -> Result<(Box<dyn Solver<S> + 'p>, String), Error> {
    let refused =
        |reason: String| Error::Library(melmo::error::Error::Unsupported(format!("{reason}; device cpu needs none")));
    let arithmetic = Arithmetic::of(oracle)?;
    check(problem, name)?; // what no GPU can do is said first
    let gpu = Gpu::open(ordinal).map_err(refused)?;
    if let Form::Lent(lent) = problem.f().form()
        && lent.device() != ordinal
    {
        return Err(refused(format!("the data are on cuda:{}, and cuda:{ordinal} was asked for", lent.device())));
    }
    let told = format!("cuda:{ordinal} ({})", gpu.describe().name);
    let rows = catalogue::methods::<S>();
    let arguments = Arguments::new(&catalogue::find("method", &rows, name)?.entry, given)?;
    if name == SAMPLED {
        let space = Device::sampled(problem, norms, arithmetic, gpu)?;
        return Ok((sampled_on(&arguments, problem, space, start)?, told));
    }
    let space = Device::with(problem, norms, arithmetic, gpu)?;
    Ok((method_on(name, &arguments, problem, space, start)?, told))
}
