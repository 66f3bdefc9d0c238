//! Solving where nobody holds all of x, as on ranks: everything is asked of a space.

use melmo::catalogue::{self, Arguments, method_in};
use melmo::geometry::BlockNorm;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::space::Space;

use crate::device::ON_A_GPU;
use crate::error::Error;
use crate::prepared::Defaults;
use crate::settings::Settings;
use crate::solve::{Solved, Watch, driven, geometry, given};

/// The method that settings ask for, and why where it was left to `auto`.
pub fn method(settings: &Settings) -> (String, Option<String>) {
    match settings.method.as_str() {
        "auto" => (ON_A_GPU.0.into(), Some("of the methods that run on several ranks, the one past the paper".into())),
        name => (name.into(), None),
    }
}

/// The norm of each block of a part of the problem that settings ask for; none where it is ‖x‖₂ over all blocks. Whether a gap can be asked for
/// is not a part's to say.
pub fn norms<S: Real>(
    part: &Problem<S>,
    defaults: &Defaults,
    settings: &Settings,
) -> Result<Option<Vec<BlockNorm>>, Error> {
    let rows = catalogue::methods::<S>();
    let used = catalogue::find("method", &rows, &method(settings).0)?.uses_geometry;
    match settings.geometry.is_none() && !used {
        true => Ok(None),
        false => Ok(Some(geometry(part, defaults, settings, used)?.norms())),
    }
}

/// Solves in a space, from a start of which this is what is held here; `first` finds the β that a method starts from. Everybody takes the
/// same decisions: settings have no time limit here, and whoever watches ends all or none.
pub fn solve_in<'s, X: Space + 's>(
    space: X,
    start: &[X::Real],
    (defaults, settings): (&Defaults, &Settings),
    first: impl FnOnce(&mut X) -> f64,
    watch: Watch<'_, X::Real>,
) -> Result<Solved<X::Real>, Error> {
    let (method, reason) = method(settings);
    let rows = catalogue::methods::<X::Real>();
    let row = catalogue::find("method", &rows, &method)?;
    let arguments = Arguments::new(&row.entry, &given(&row.entry, Vec::new(), defaults, settings))?;
    let mut solver = method_in(&method, &arguments, space, start, first)?;
    let (report, _) = driven(&mut *solver, defaults, settings, watch)?;
    Ok(Solved { report: report.if_finite(), method, reason, device: None })
}
