//! What was reached, in a form that anyone can re-check from the point and the problem alone.

mod bound;
mod look;
mod room;
mod rounding;
mod verify;
mod witness;

pub use bound::{At, can_bound, lower_bound, separable};
pub use look::{Evidence, Seen};
pub use room::Room;
pub use rounding::Allowance;
pub use verify::{Check, Recomputed, Verification};
pub use witness::{Shown, Witness};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::{BlockNorm, Bracket, check_tiling};
use crate::guarantee::Facts;
use crate::patience;
use crate::problem::Problem;
use crate::real::Real;

/// At (x, u, β), with z = prox_{βg}(u), w = (u − z)/β ∈ ∂g(z) and v = ∇f(x) + T*w: ‖v‖_* ∈ `dual_norm`, ‖Tx − z‖₂ = `prox_gap`,
/// what follows for surjective T, and how far F(x) can be from the least there is. x itself is stored beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Certificate<S: Real> {
    /// `f32` or `f64`: the precision the point is stored in.
    pub precision: String,
    /// β < 1/ρ.
    pub beta: f64,
    /// u, where it is not Tx.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub u: Option<Vec<S>>,
    /// The norm, block by block.
    pub norms: Vec<BlockNorm>,
    /// Bounds on ‖v‖_* for v as it was computed, proven (docs/brackets.md).
    pub dual_norm: Bracket,
    /// ‖Tx − z‖₂.
    pub prox_gap: f64,
    /// What was asked for and reached, if it was.
    pub claim: Option<Claim>,
    /// Near-stationarity of the problem itself, when T is surjective.
    pub stationarity: Option<Stationarity<S>>,
    /// How far from optimal x is, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimality: Option<Optimality>,
    /// Why it cannot be told, where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_gap: Option<String>,
}

/// What was asked for and reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The ε that ‖v‖_* does not exceed, if one was asked for.
    #[serde(default)]
    pub dual_norm: Option<f64>,
    /// The ε that ‖Tx − z‖₂ does not exceed, if one was asked for.
    #[serde(default)]
    pub prox_gap: Option<f64>,
    /// What F(x) − F* does not exceed, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
}

impl Claim {
    /// ‖v‖_* ≤ ε and ‖Tx − z‖₂ ≤ ε.
    pub fn epsilon(epsilon: f64) -> Self {
        Self { dual_norm: Some(epsilon), prox_gap: Some(epsilon), gap: None }
    }
}

/// x̃ near x with Tx̃ = z, and a bound on how far 0 is from ∇f(x̃) + T*w, w ∈ ∂g(z).
///
/// Where T picks entries, Tx̃ is z to the last bit, and the bound is one on dist₂(−∇f(x̃), T*∂g(Tx̃)). For other operators it
/// speaks of the pair (x̃, z): a w ∈ ∂g(z) need not lie in ∂g at a Tx̃ that rounding has moved away from a kink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Stationarity<S: Real> {
    /// x̃ = x + R(z − Tx), R the operator's right inverse.
    pub point: Vec<S>,
    /// ‖x̃ − x‖₂ ≤ ‖Tx − z‖₂/σ_min(T).
    pub distance: f64,
    /// ‖∇f(x̃) + T*w‖₂: computed, it needs no L_f.
    pub bound: f64,
    /// ‖Tx̃ − z‖₂: 0, or rounding. Not there in certificates of version 0.1, which spoke of Tx̃ alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
}

/// F* ≥ `bound`, so F(x) − F* ≤ `gap`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Optimality {
    /// F(x).
    pub objective: f64,
    /// What no point lies below.
    pub bound: f64,
    /// F(x) − `bound`, with room for rounding.
    pub gap: f64,
    /// The radius that minimisers were said to lie in, where one was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
}

/// g(Tx) lies below what w promises of it.
const NO_SUBGRADIENT: &str = "w is no subgradient of g at z: prox is not that of g, or ρ is too small; check the terms";

impl Optimality {
    /// Of what the witness saw last; the reason where there is no bound.
    pub(crate) fn of<W: Witness>(
        witness: &mut W,
        x: &W::Point,
        seen: &Seen,
        radius: Option<f64>,
    ) -> Result<Self, String> {
        let facts = witness.facts();
        Self::by::<W::Real>(&facts, seen, radius, |allowance| witness.lower_bound(x, seen, allowance, radius))
    }

    /// Of what was seen in `S`, and of a lower bound on F* that has its rounding in it; the reason where there is none.
    pub fn by<S: Real>(
        facts: &Facts,
        seen: &Seen,
        radius: Option<f64>,
        lower_bound: impl FnOnce(&Allowance) -> Result<f64, String>,
    ) -> Result<Self, String> {
        let objective = seen.objective();
        if !objective.is_finite() {
            return Err("F(x) is not finite: x is not in the domain of g∘T".into());
        }
        if !seen.keeps_promise::<S>(facts) {
            return Err(NO_SUBGRADIENT.into());
        }
        let allowance = Allowance::new::<S>(facts, seen);
        let in_time = |reason| if patience::is_over() { "there was no time for a bound".into() } else { reason };
        let bound = lower_bound(&allowance).map_err(in_time)?;
        let gap = objective - bound + allowance.value + seen.broken::<S>(facts);
        if !gap.is_finite() {
            return Err("the bound is not finite: the numbers are too large for it".into());
        }
        // Rounding is in it already: far below 0 a term is wrong, and just below 0 nothing is known to be better than that.
        if gap < -(8.0 * allowance.value + S::EPSILON.sqrt() * (objective.abs() + bound.abs())) {
            return Err("the bound on F* lies above F(x): a term is not what it says; check the terms".into());
        }
        Ok(Self { objective, bound, gap: gap.abs(), radius })
    }
}

/// What is asked of a certificate, besides the point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asked {
    /// What was asked for and reached.
    pub claim: Option<Claim>,
    /// What its oracle said about ‖∇F_β(x)‖_*, for a norm of the user's own, where u is Tx; others are computed by their definition, and
    /// proven.
    pub dual_norm: Option<Bracket>,
    /// A radius that minimisers lie in.
    pub radius: Option<f64>,
}

impl Asked {
    /// Of what is shown: an oracle speaks of u = Tx alone.
    fn of(self, shown: Shown) -> Self {
        Self { dual_norm: self.dual_norm.filter(|_| !shown.stored), ..self }
    }
}

/// A certificate with what a look at its point found besides.
#[derive(Clone, Debug)]
pub struct Certified<S: Real> {
    /// z.
    pub z: Vec<S>,
    /// F(x).
    pub objective: f64,
    /// f(x) + g(z): what x is worth where Tx keeps a constraint but for ‖Tx − z‖.
    pub of_pair: f64,
    /// The certificate, or why there is none.
    pub certificate: Result<Certificate<S>, Error>,
}

/// What is shown; where it is u = Tx with so small a β that rounding would show, the same z and w with a larger one.
pub(crate) fn strongest<W: Witness>(witness: &mut W, x: &W::Point, shown: Shown) -> Shown {
    if shown.stored || !witness.look(x, shown).shows_rounding::<W::Real>(&witness.facts()) {
        return shown;
    }
    witness.strengthen()
}

impl<S: Real> Certificate<S> {
    /// The certificate of (x, u, β). The dual norm is computed by its definition, and its bracket holds whatever rounding does;
    /// `dual_norm` is what the oracle said, for a norm of the user's own.
    pub fn new(
        problem: &Problem<S>,
        x: &[S],
        evidence: Evidence<'_, S>,
        norms: Vec<BlockNorm>,
        dual_norm: Option<Bracket>,
        claim: Option<Claim>,
    ) -> Result<Self, Error> {
        problem.check_start(x)?;
        problem.check_evidence(&evidence)?;
        check_tiling(&norms, x.len())?;
        let mut room = Room::new(problem);
        let shown = room.take_up(evidence);
        let seen = room.look(x, shown);
        Self::of_look(&mut room, x, &seen, norms, Asked { claim, dual_norm, radius: None })
    }

    /// The certificate of x with u = Tx and this β, or with the same z and w and a larger β where rounding would show; with z and F.
    pub fn at(problem: &Problem<S>, x: &[S], beta: f64, norms: Vec<BlockNorm>, asked: Asked) -> Certified<S> {
        let mut room = Room::new(problem);
        let shown = strongest(&mut room, x, Shown::smoothed(beta));
        Self::seen_by(&mut room, x, shown, norms, asked)
    }

    /// The certificate of what a witness sees at x, with z and F there. The one way to a certificate, wherever x lives.
    pub(crate) fn seen_by<W: Witness<Real = S>>(
        witness: &mut W,
        x: &W::Point,
        shown: Shown,
        norms: Vec<BlockNorm>,
        asked: Asked,
    ) -> Certified<S> {
        let seen = witness.look(x, shown);
        let certificate = Self::of_look(witness, x, &seen, norms, asked.of(shown));
        // A look that was given up has left nothing there.
        let given_up = seen.objective().is_nan() && patience::is_over();
        let z = if given_up { Vec::new() } else { witness.give_z() };
        Certified { z, objective: seen.objective(), of_pair: seen.f + seen.at_z, certificate }
    }

    /// The same without z, which may be several times as large as x: where memory is what counts.
    pub(crate) fn shown_by<W: Witness<Real = S>>(
        witness: &mut W,
        x: &W::Point,
        shown: Shown,
        norms: Vec<BlockNorm>,
        asked: Asked,
    ) -> Result<Self, Error> {
        let seen = witness.look(x, shown);
        Self::of_look(witness, x, &seen, norms, asked.of(shown))
    }

    fn of_look<W: Witness<Real = S>>(
        witness: &mut W,
        x: &W::Point,
        seen: &Seen,
        norms: Vec<BlockNorm>,
        asked: Asked,
    ) -> Result<Self, Error> {
        let dual_norm = witness
            .residual(&norms)
            .or(asked.dual_norm)
            .ok_or_else(|| Error::Unsupported("a norm of your own needs the bracket that its oracle gave".into()))?;
        if !seen.is_finite() || !dual_norm.upper.is_finite() {
            return Err(Error::Unsupported("the problem cannot be evaluated at this point: no certificate".into()));
        }
        let (optimality, no_gap) = match Optimality::of(witness, x, seen, asked.radius) {
            Ok(optimality) => (Some(optimality), None),
            Err(reason) => (None, Some(reason)),
        };
        let stationarity = witness.near(x);
        let u = seen.stored.then(|| witness.give_u());
        Ok(Self {
            precision: S::NAME.into(),
            beta: seen.beta,
            u,
            norms,
            dual_norm,
            prox_gap: seen.prox_gap,
            claim: asked.claim,
            stationarity,
            optimality,
            no_gap,
        })
    }

    /// (u, β).
    pub fn evidence(&self) -> Evidence<'_, S> {
        Evidence { u: self.u.as_deref(), beta: self.beta }
    }

    /// A bound on F(x) − F*, where there is one.
    pub fn gap(&self) -> Option<f64> {
        self.optimality.map(|optimality| optimality.gap)
    }

    /// Whether the point is what a tolerance asks for, recomputed and with rounding added: ‖v‖₂ ≤ tolerance·(‖∇f(x)‖₂ + ‖T*w‖₂) and
    /// ‖Tx − z‖₂ ≤ tolerance·‖Tx‖₂, or F(x) − F* ≤ tolerance·|F(x)|.
    pub fn passed(&self, problem: &Problem<S>, x: &[S], tolerance: f64) -> Result<bool, Error> {
        problem.check_start(x)?;
        problem.check_evidence(&self.evidence())?;
        let mut room = Room::new(problem);
        let shown = room.take_up(self.evidence());
        let seen = room.look(x, shown);
        let allowance = Allowance::new::<S>(&room.facts(), &seen);
        let stationary = seen.of_sum + allowance.v <= tolerance * (seen.of_f + seen.of_g);
        let met = seen.prox_gap + allowance.gap <= tolerance * seen.tx_norm;
        let radius = self.optimality.and_then(|found| found.radius);
        let gap = Optimality::of(&mut room, x, &seen, radius);
        let kept = seen.keeps_promise::<S>(&room.facts());
        Ok(kept && stationary && met || gap.is_ok_and(|found| found.gap <= tolerance * found.objective.abs()))
    }

    /// The tolerance with which stored numbers have to be reproduced, on top of what rounding allows: 10⁻⁶ in `f64`, 10⁻⁴ in
    /// `f32`.
    pub fn default_tolerance() -> f64 {
        if S::EPSILON > 1e-10 { 1e-4 } else { 1e-6 }
    }
}

/// What is proven of (x, u, β): each number recomputed, with its rounding added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proven {
    /// ‖v‖_* is at most this.
    pub dual_norm: f64,
    /// ‖Tx − z‖₂ is at most this.
    pub prox_gap: f64,
    /// F(x) − F* is at most this, where a bound exists.
    pub gap: Option<f64>,
}

impl Proven {
    /// Recomputes everything. NaN where the norm is a user's own.
    pub(crate) fn of<W: Witness>(witness: &mut W, x: &W::Point, shown: Shown, norms: &[BlockNorm]) -> Self {
        let seen = witness.look(x, shown);
        let allowance = Allowance::new::<W::Real>(&witness.facts(), &seen);
        let exact = witness.residual(norms).map_or(f64::NAN, |found| found.upper);
        let gap = Optimality::of(witness, x, &seen, None).ok().map(|o| o.gap);
        let kept = seen.keeps_promise::<W::Real>(&witness.facts());
        let dual_norm = if kept { exact + allowance.dual(norms) } else { f64::INFINITY };
        Self { dual_norm, prox_gap: seen.prox_gap + allowance.gap, gap }
    }

    /// Whether a claim follows.
    pub fn meets(&self, claim: &Claim) -> bool {
        let holds = |limit: Option<f64>, number: f64| limit.is_none_or(|limit| number <= limit);
        holds(claim.dual_norm, self.dual_norm)
            && holds(claim.prox_gap, self.prox_gap)
            && claim.gap.is_none_or(|limit| self.gap.is_some_and(|gap| gap <= limit))
    }
}
