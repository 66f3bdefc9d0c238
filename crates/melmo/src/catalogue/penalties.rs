//! Penalties: ψ of one number, and the lifts that carry it to entries, groups and singular values.

use crate::block::Layout;
use crate::catalogue::{Arguments, Entry, Parameter};
use crate::error::Error;
use crate::penalty::{
    ElasticNet, Entrywise, Group, Huber, Interval, L1, LogSum, Mcp, Nonnegative, Positive, Prox, Ridge, Scad,
    Separable, Spectral, Spline, Sum,
};
use crate::real::Real;

/// What a penalty of one number is applied to.
#[derive(Clone, Debug, PartialEq)]
pub enum Lift<S> {
    /// Every entry.
    Entries,
    /// Every entry, and none may be negative.
    Nonnegative,
    /// The ℓ2 norm of every row.
    Rows,
    /// The ℓ2 norm of every column.
    Columns,
    /// The ℓ2 norm of a pixel's components across blocks: isotropic total variation on differences.
    Pixels,
    /// The ℓ2 norm of every given group of entries.
    Groups(Vec<Vec<usize>>),
    /// The singular values of every block.
    SingularValues,
    /// What another one says, each with a weight: entries, rows, columns, pixels or groups. Singular values have no names to hang one on.
    Weighted(Box<Self>, Vec<S>),
}

impl<S> Lift<S> {
    /// The same, each with a weight.
    pub fn weighted(self, weights: Vec<S>) -> Self {
        Self::Weighted(Box::new(self), weights)
    }

    /// The name users type.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Nonnegative => "nonnegative",
            Self::Rows => "rows",
            Self::Columns => "columns",
            Self::Pixels => "pixels",
            Self::Groups(_) => "groups",
            Self::SingularValues => "singular-values",
            Self::Weighted(lift, _) => lift.name(),
        }
    }
}

/// Builds a penalty on a buffer of some layout.
pub type BuildPenalty<S> = fn(&Arguments, &Lift<S>, &Layout) -> Result<Box<dyn Prox<S>>, Error>;

/// One penalty.
pub struct PenaltyRow<S> {
    /// Its text.
    pub entry: Entry,
    /// Builds it on a buffer of that layout.
    pub build: BuildPenalty<S>,
    /// ψ(−x) = ψ(x): it can be lifted to groups and singular values.
    pub even: bool,
}

impl<S> AsRef<Entry> for PenaltyRow<S> {
    fn as_ref(&self) -> &Entry {
        &self.entry
    }
}

fn lift<S: Real, P: Separable<S>>(psi: P, lift: &Lift<S>, layout: &Layout) -> Result<Box<dyn Prox<S>>, Error> {
    Ok(match lift {
        Lift::Entries => Box::new(Entrywise::new(psi, layout.size())),
        Lift::Nonnegative => Box::new(Entrywise::new(Positive::new::<S>(psi)?, layout.size())),
        Lift::SingularValues => Box::new(Spectral::new(psi, layout)?),
        Lift::Weighted(lift, weights) => weighted(psi, lift, weights.clone(), layout)?,
        norms => Box::new(groups(psi, norms, layout)?),
    })
}

/// The norms of rows, columns, pixels or groups.
fn groups<S: Real, P: Separable<S>>(psi: P, lift: &Lift<S>, layout: &Layout) -> Result<Group<P, S>, Error> {
    match lift {
        Lift::Rows => Group::rows(psi, layout),
        Lift::Columns => Group::columns(psi, layout),
        Lift::Pixels => Group::pixels(psi, layout),
        Lift::Groups(groups) => Group::given(psi, groups.clone(), layout.size()),
        other => Err(Error::Unsupported(format!("weights: {} have none", other.name()))),
    }
}

/// The same with a weight for each.
fn weighted<S: Real, P: Separable<S>>(
    psi: P,
    lift: &Lift<S>,
    weights: Vec<S>,
    layout: &Layout,
) -> Result<Box<dyn Prox<S>>, Error> {
    if matches!(lift, Lift::Entries | Lift::Nonnegative) {
        layout.check("weights", &weights)?;
    }
    Ok(match lift {
        Lift::Entries => Box::new(Entrywise::weighted(psi, weights)?),
        Lift::Nonnegative if weights.iter().all(|w| *w > S::ZERO) => {
            Box::new(Entrywise::weighted(Positive::new::<S>(psi)?, weights)?)
        }
        // A weight of 0 takes ψ away, not the sign.
        Lift::Nonnegative => {
            Positive::new::<S>(psi.clone())?;
            let sign = Entrywise::new(Nonnegative, layout.size());
            Box::new(Sum::new(vec![Box::new(sign), Box::new(Entrywise::weighted(psi, weights)?)], 0.0)?)
        }
        norms => Box::new(groups(psi, norms, layout)?.weighted(weights)?),
    })
}

const LAMBDA: Parameter = Parameter::new("lambda", 1.0, "weight λ > 0");

/// Every penalty of one number.
pub(super) fn rows<S: Real>() -> Vec<PenaltyRow<S>> {
    vec![
        PenaltyRow {
            entry: Entry {
                name: "l1",
                formula: "λ|x|",
                about: "convex; soft thresholding; the lasso, anisotropic TV, the nuclear norm",
                parameters: &[LAMBDA],
            },
            build: |a, to, layout| lift(L1::new(a.number("lambda"))?, to, layout),
            even: true,
        },
        PenaltyRow {
            entry: Entry {
                name: "mcp",
                formula: "λ|x| − x²/(2μ) if |x| ≤ μλ, else μλ²/2",
                about: "minimax concave penalty; firm thresholding; ρ = 1/μ; large entries are not shrunk",
                parameters: const { &[LAMBDA, Parameter::new("mu", 3.0, "concavity μ > 0")] },
            },
            build: |a, to, layout| lift(Mcp::new(a.number("lambda"), a.number("mu"))?, to, layout),
            even: true,
        },
        PenaltyRow {
            entry: Entry {
                name: "scad",
                formula: "λ|x| if |x| ≤ λ; (2aλ|x| − x² − λ²)/(2(a−1)) if |x| ≤ aλ; else λ²(a+1)/2",
                about: "smoothly clipped absolute deviation; ρ = 1/(a−1); large entries are not shrunk",
                parameters: const { &[LAMBDA, Parameter::new("a", 3.7, "where it flattens, a > 2")] },
            },
            build: |a, to, layout| lift(Scad::new(a.number("lambda"), a.number("a"))?, to, layout),
            even: true,
        },
        PenaltyRow {
            entry: Entry {
                name: "huber",
                formula: "λx²/(2δ) if |x| ≤ δ, else λ(|x| − δ/2)",
                about: "convex and smooth; small entries are shrunk, not set to zero",
                parameters: const { &[LAMBDA, Parameter::new("delta", 1.0, "where it becomes linear, δ > 0")] },
            },
            build: |a, to, layout| lift(Huber::new(a.number("lambda"), a.number("delta"))?, to, layout),
            even: true,
        },
        PenaltyRow {
            entry: Entry {
                name: "log-sum",
                formula: "λ·log(1 + |x|/θ)",
                about: "the limit of reweighted ℓ1; ρ = λ/θ²",
                parameters: const { &[LAMBDA, Parameter::new("theta", 1.0, "scale θ > 0")] },
            },
            build: |a, to, layout| lift(LogSum::new(a.number("lambda"), a.number("theta"))?, to, layout),
            even: true,
        },
        PenaltyRow {
            entry: Entry {
                name: "elastic-net",
                formula: "λ|x| + νx²/2",
                about: "convex; sparse and shrunk; not Lipschitz, so statements that need L_g do not apply",
                parameters: const { &[LAMBDA, Parameter::new("nu", 1.0, "ridge ν ≥ 0")] },
            },
            build: |a, to, layout| lift(ElasticNet::new(a.number("lambda"), a.number("nu"))?, to, layout),
            even: true,
        },
        PenaltyRow {
            entry: Entry {
                name: "ridge",
                formula: "νx²/2",
                about: "convex and smooth; on both factors of a matrix it is the nuclear norm; not Lipschitz",
                parameters: const { &[Parameter::new("nu", 1.0, "weight ν > 0")] },
            },
            build: |a, to, layout| lift(Ridge::new(a.number("nu"))?, to, layout),
            even: true,
        },
        PenaltyRow {
            entry: Entry {
                name: "spline",
                formula: "ψ′ piecewise linear: up to λ at p, down to t at e, t from there",
                about: "smooth; ρ = (λ − t)/(e − p); large entries are not shrunk where t = 0; learned potentials are of this kind",
                parameters: const {
                    &[
                        Parameter::new("lambda", 1.0, "λ ≥ 0, what ψ′ rises to"),
                        Parameter::new("peak", 0.25, "where it gets there, p > 0"),
                        Parameter::new("end", 2.25, "where it has fallen, e > p"),
                        Parameter::new("tail", 0.0, "t ≥ 0, what is left of ψ′"),
                    ]
                },
            },
            build: |a, to, layout| {
                let spline =
                    Spline::new(&[a.number("peak"), a.number("end")], &[a.number("lambda"), a.number("tail")])?;
                lift(spline, to, layout)
            },
            even: true,
        },
        PenaltyRow {
            entry: Entry {
                name: "nonnegative",
                formula: "0 if x ≥ 0, else ∞",
                about: "indicator; the prox is the projection; not Lipschitz",
                parameters: &[],
            },
            build: |_, to, layout| lift(Nonnegative, to, layout),
            even: false,
        },
        PenaltyRow {
            entry: Entry {
                name: "box",
                formula: "0 if lower ≤ x ≤ upper, else ∞",
                about: "indicator; the prox is the projection; not Lipschitz",
                parameters: const {
                    &[
                        Parameter::new("lower", 0.0, "smallest value allowed"),
                        Parameter::new("upper", 1.0, "largest value allowed"),
                    ]
                },
            },
            build: |a, to, layout| lift(Interval::new(a.number("lower"), a.number("upper"))?, to, layout),
            even: false,
        },
    ]
}

/// What a penalty can be applied to, by the name users type.
pub fn lifts() -> [Entry; 7] {
    let entry = |name, formula, about| Entry { name, formula, about, parameters: &[] };
    [
        entry("entries", "Σ wᵢψ(uᵢ)", "every entry, weighted or not"),
        entry("nonnegative", "Σ wᵢψ(uᵢ), uᵢ ≥ 0", "every entry, and none may be negative"),
        entry("rows", "Σ wᵢψ(‖u_i·‖₂)", "the norm of every row"),
        entry("columns", "Σ wⱼψ(‖u_·j‖₂)", "the norm of every column"),
        entry("pixels", "Σ w_ij ψ(‖(∇ₓ, ∇ᵧ)_ij‖₂)", "a pixel's components together: isotropic total variation"),
        entry("groups", "Σ w_g ψ(‖u_g‖₂)", "the norm of every given group"),
        entry("singular-values", "Σ ψ(σᵢ)", "the singular values: nuclear norm, singular-value MCP and SCAD"),
    ]
}
