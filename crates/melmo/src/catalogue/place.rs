//! Methods by name wherever x lives: those that touch no entry of it.

use crate::catalogue::Arguments;
use crate::catalogue::beyond::rule;
use crate::catalogue::methods::{power, restart, smoothed};
use crate::error::Error;
use crate::problem::Problem;
use crate::schedule::{EpochConstant, EpochPower, Horizon};
use crate::solver::{Adaptive, Epoch, Melmo, Smoothing, Solver, Stochastic, Subgradient};
use crate::space::{Sampled, Space};

/// The names of the methods that run in any space.
pub const ANYWHERE: [&str; 7] =
    ["melmo", "melmo-horizon", "epoch-power", "epoch-constant", "variable-smoothing", "subgradient", "scaled"];

/// The name of the method that takes minibatches, in any space whose loss offers them.
pub const SAMPLED: &str = "stochastic";

/// [`SAMPLED`] in a space of that problem.
pub fn sampled_on<'s, X: Sampled + 's>(
    a: &Arguments,
    problem: &Problem<X::Real>,
    space: X,
    x0: &[X::Real],
) -> Result<Box<dyn Solver<X::Real> + 's>, Error> {
    problem.check_start(x0)?;
    Ok(Box::new(Stochastic::on(space, rule(a, problem), x0)?))
}

/// A method of the catalogue in a space of that problem; refuses one that needs slices.
pub fn method_on<'s, X: Space + 's>(
    name: &str,
    a: &Arguments,
    problem: &Problem<X::Real>,
    space: X,
    x0: &[X::Real],
) -> Result<Box<dyn Solver<X::Real> + 's>, Error> {
    problem.check_start(x0)?;
    method_in(name, a, space, x0, |_| Smoothing::start(problem, x0))
}

/// The same where nobody holds the whole problem: everything is asked of the space, but the β that a method finds for itself starts from,
/// which `first` finds where it is not given.
pub fn method_in<'s, X: Space + 's>(
    name: &str,
    a: &Arguments,
    mut space: X,
    x0: &[X::Real],
    first: impl FnOnce(&mut X) -> f64,
) -> Result<Box<dyn Solver<X::Real> + 's>, Error> {
    let gamma = a.number("gamma");
    let beta = a.given("beta").unwrap_or_else(|| space.facts().default_beta());
    Ok(match name {
        "melmo" => Box::new(Melmo::on(space, power(a, beta), x0)?),
        "melmo-horizon" => Box::new(Melmo::on(space, Horizon { beta, gamma, steps: a.whole("steps") }, x0)?),
        "epoch-power" => Box::new(Epoch::on(space, EpochPower { power: power(a, beta) }, x0)?),
        "epoch-constant" => {
            let schedule = EpochConstant { beta, gamma, restart: restart(a)? };
            Box::new(Epoch::on(space, schedule, x0)?)
        }
        "variable-smoothing" => Box::new(smoothed(a, beta, &space.norms())?.on(space, x0)?),
        "subgradient" => Box::new(Subgradient::on(space, a.number("step"), x0)?),
        "scaled" => {
            let beta = a.given("beta").unwrap_or_else(|| first(&mut space));
            let smoothing = Smoothing::new::<X::Real>(beta).with(a.given("kappa"), a.given("floor"))?;
            Box::new(Adaptive::on(space, smoothing, x0)?)
        }
        _ => {
            let message =
                format!("`{name}` runs where x can be touched, on the processor; anywhere run {}", ANYWHERE.join(", "));
            return Err(Error::Unsupported(message));
        }
    })
}
