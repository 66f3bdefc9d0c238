//! The kernels of a plan: one source, and what it is compiled with.

use melmo::error::Error;
use melmo::real::Real;

use crate::plan::Plan;

/// Sources in the order in which they build upon one another.
const SOURCES: [&str; 4] = [
    include_str!("../kernels/real.cuh"),
    include_str!("../kernels/format.cuh"),
    include_str!("../kernels/sums.cuh"),
    include_str!("../kernels/penalty.cuh"),
];

/// What is walked through in one pass.
const WALKED: [&str; 3] =
    [include_str!("../kernels/unit.cuh"), include_str!("../kernels/walk.cuh"), include_str!("../kernels/problem.cu")];

/// What is evaluated link by link.
const CHAINED: [&str; 3] =
    [include_str!("../kernels/operator.cuh"), include_str!("../kernels/answer.cu"), include_str!("../kernels/pull.cu")];

/// What solvers do to points, whatever the problem.
const POINTS: [&str; 3] =
    [include_str!("../kernels/vector.cu"), include_str!("../kernels/lines.cu"), include_str!("../kernels/matrix.cu")];

/// A source and its definitions (`-D…`).
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// All of the source.
    pub source: String,
    /// What is defined in it.
    pub defines: Vec<String>,
}

/// Losses that are made of products.
const FACTORS: [&str; 3] =
    [include_str!("../kernels/factors.cu"), include_str!("../kernels/sparse.cu"), include_str!("../kernels/batch.cu")];

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
        if let Some(chain) = &plan.chain {
            defines.push(format!("-DOPERATOR={}", chain.number()));
        }
        let blurred = plan.chain.as_ref().is_some_and(|chain| chain.blurred.is_some());
        let flags = [
            (double, "DOUBLE"),
            (plan.psi.nonnegative, "NONNEGATIVE"),
            (plan.weights.is_some(), "WEIGHTED"),
            (plan.pixels, "PIXELS"),
            (plan.mask.is_some() && !plan.given(), "MASKED"),
            (plan.given(), "GIVEN"),
            (blurred, "BLURRED"),
            (plan.components > 1 && plan.shape[2].is_multiple_of(4), "WHOLE"),
        ];
        defines.extend(flags.iter().filter(|(set, _)| *set).map(|(_, name)| format!("-D{name}")));
        let (own, products) = if plan.chain.is_some() { (&CHAINED[..], &[][..]) } else { (&WALKED[..], &FACTORS[..]) };
        Ok(Self { source: [&SOURCES[..], own, &POINTS, products].concat().concat(), defines })
    }
}
