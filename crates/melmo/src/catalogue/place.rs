//! Methods by name wherever x lives: those that touch no entry of it.

use crate::catalogue::Arguments;
use crate::catalogue::beyond::smoothing;
use crate::catalogue::methods::{beta, power, restart, smoothed};
use crate::error::Error;
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::{EpochConstant, EpochPower, Horizon};
use crate::solver::{Adaptive, Epoch, Melmo, Solver, Subgradient};
use crate::space::Space;

/// The names of the methods that run in any space.
pub const ANYWHERE: [&str; 7] =
    ["melmo", "melmo-horizon", "epoch-power", "epoch-constant", "variable-smoothing", "subgradient", "scaled"];

/// A method of the catalogue in a space of that problem; refuses one that needs slices.
pub fn method_on<'s, X: Space + 's>(
    name: &str,
    a: &Arguments,
    problem: &Problem<X::Real>,
    space: X,
    x0: &[X::Real],
) -> Result<Box<dyn Solver<X::Real> + 's>, Error> {
    let gamma = a.number("gamma");
    Ok(match name {
        "melmo" => Box::new(Melmo::on(space, power(a, problem), x0)?),
        "melmo-horizon" => Box::new(Melmo::on(space, horizon(a, problem), x0)?),
        "epoch-power" => Box::new(Epoch::on(space, EpochPower { power: power(a, problem) }, x0)?),
        "epoch-constant" => {
            let schedule = EpochConstant { beta: beta(a, problem), gamma, restart: restart(a)? };
            Box::new(Epoch::on(space, schedule, x0)?)
        }
        "variable-smoothing" => Box::new(smoothed(a, problem, &space.norms())?.on(space, x0)?),
        "subgradient" => Box::new(Subgradient::on(space, a.number("step"), x0)?),
        "scaled" => Box::new(Adaptive::on(space, smoothing(a, problem, x0)?, x0)?),
        _ => {
            let message =
                format!("`{name}` runs where x can be touched, on the processor; anywhere run {}", ANYWHERE.join(", "));
            return Err(Error::Unsupported(message));
        }
    })
}

/// The schedule for a number of steps known in advance.
fn horizon<S: Real>(a: &Arguments, problem: &Problem<S>) -> Horizon {
    Horizon { beta: beta(a, problem), gamma: a.number("gamma"), steps: a.whole("steps") }
}
