//! The kernels of a plan: one source, and what it is compiled with.

use melmo::error::Error;
use melmo::real::Real;

use crate::formula::Kind;
use crate::plan::Plan;

/// Sources in the order in which they build upon one another.
const SOURCES: [&str; 3] =
    [include_str!("../kernels/real.cuh"), include_str!("../kernels/format.cuh"), include_str!("../kernels/sums.cuh")];

/// A formula, and what chooses between several.
const PENALTY: &str = include_str!("../kernels/penalty.cuh");
const SEVERAL: &str = include_str!("../kernels/several.cuh");

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
        let Some(kinds) = plan.kinds() else {
            return Err(Error::Unsupported("this penalty has no formula on the GPU: take device cpu".into()));
        };
        let (penalty, of_penalty) = penalty(&kinds);
        let double = S::EPSILON < 1e-10;
        let mut defines = vec![
            format!("-DREAL={}", if double { "double" } else { "float" }),
            format!("-DCOMPONENTS={}", plan.components),
        ];
        if let Some(chain) = &plan.chain {
            defines.push(format!("-DOPERATOR={}", chain.number()));
        }
        let blurred = plan.chain.as_ref().is_some_and(|chain| chain.blurred.is_some());
        let flags = [
            (double, "DOUBLE"),
            (plan.weights.is_some(), "WEIGHTED"),
            (plan.pixels, "PIXELS"),
            (plan.mask.is_some() && !plan.given(), "MASKED"),
            (plan.given(), "GIVEN"),
            (blurred, "BLURRED"),
            (plan.components > 1 && plan.shape[2].is_multiple_of(4), "WHOLE"),
        ];
        defines.extend(flags.iter().filter(|(set, _)| *set).map(|(_, name)| format!("-D{name}")));
        defines.extend(of_penalty);
        let own = if plan.chain.is_some() { &CHAINED } else { &WALKED };
        let products = if plan.chain.is_some() && !plan.given() { &[][..] } else { &FACTORS[..] };
        let source = [&SOURCES[..], &[penalty.as_str()], own, &POINTS, products].concat().concat();
        Ok(Self { source, defines })
    }
}

/// The formulas, and what is defined where there is one alone. Several are in namespaces, with one ψ that chooses between them.
fn penalty(kinds: &[Kind]) -> (String, Vec<String>) {
    if let [kind] = kinds {
        let mut defines = vec![format!("-DSHAPE={}", kind.number)];
        defines.extend(kind.nonnegative.then(|| "-DNONNEGATIVE".to_string()));
        return (PENALTY.into(), defines);
    }
    let own = |(k, kind): (usize, &Kind)| {
        let sign = if kind.nonnegative { "#define NONNEGATIVE" } else { "#undef NONNEGATIVE" };
        format!("#undef SHAPE\n#define SHAPE {}\n{sign}\nnamespace formula_{k} {{\n{PENALTY}\n}}\n", kind.number)
    };
    let all = kinds.iter().enumerate().map(own).collect::<String>();
    let each = (0..kinds.len()).map(|k| format!(" ASK({k}, name, __VA_ARGS__)")).collect::<String>();
    (format!("{all}#define OF_EACH_FORMULA(name, ...){each}\n{SEVERAL}"), Vec::new())
}
