//! The kernels of a plan: one source, and what it is compiled with.

use melmo::error::Error;
use melmo::real::Real;

use crate::plan::Plan;

/// Sources in the order in which they build upon one another.
const SOURCES: [&str; 11] = [
    include_str!("../kernels/real.cuh"),
    include_str!("../kernels/format.cuh"),
    include_str!("../kernels/sums.cuh"),
    include_str!("../kernels/penalty.cuh"),
    include_str!("../kernels/unit.cuh"),
    include_str!("../kernels/walk.cuh"),
    include_str!("../kernels/problem.cu"),
    include_str!("../kernels/vector.cu"),
    include_str!("../kernels/lines.cu"),
    include_str!("../kernels/matrix.cu"),
    include_str!("../kernels/factors.cu"),
];

/// A source and its definitions (`-D…`).
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// All of the source.
    pub source: String,
    /// What is defined in it.
    pub defines: Vec<String>,
}

impl Program {
    /// The kernels of a plan; refuses a penalty without a formula there.
    pub fn of<S: Real>(plan: &Plan<'_, S>) -> Result<Self, Error> {
        let Some((shape, _)) = plan.formula() else {
            return Err(Error::Unsupported("this penalty has no formula on the GPU: take device cpu".into()));
        };
        let double = S::EPSILON < 1e-10;
        let mut defines = vec![
            format!("-DREAL={}", if double { "double" } else { "float" }),
            format!("-DSHAPE={shape}"),
            format!("-DCOMPONENTS={}", plan.components),
        ];
        let flags = [
            (double, "DOUBLE"),
            (plan.phi.nonnegative, "NONNEGATIVE"),
            (plan.weights.is_some(), "WEIGHTED"),
            (plan.pixels, "PIXELS"),
            (plan.mask.is_some() && !plan.given(), "MASKED"),
            (plan.given(), "GIVEN"),
            (plan.components > 1 && plan.shape[2].is_multiple_of(4), "WHOLE"),
        ];
        defines.extend(flags.iter().filter(|(set, _)| *set).map(|(_, name)| format!("-D{name}")));
        Ok(Self { source: SOURCES.concat(), defines })
    }
}
