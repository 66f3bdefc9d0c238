//! Judging points: against ε, against a gap, and whether anything is left to do; and the certificate of the last one.

use crate::certificate::{Asked, Certified, Claim, Seen};
use crate::drive::{Epsilon, Stop};
use crate::geometry::{BlockNorm, Bracket, product_dual_growth};
use crate::real::Real;
use crate::solver::{Info, Solver};

/// A number that a method only bounds is looked at exactly where the bound is within this factor of what is asked for.
const NEAR: f64 = 4.0;

/// After a look that decided nothing, the next one waits for this part of the steps so far.
const PATIENCE: u64 = 16;

/// What is remembered between looks. All room is made before the first point, if any look can become necessary.
pub(super) struct Judge {
    stop: Stop,
    norms: Vec<BlockNorm>,
    /// c with ‖·‖_* ≤ c‖·‖₂.
    growth: f64,
    /// The claim that was reached, and the bracket that decided it.
    decided: Option<(Claim, Option<Bracket>)>,
    /// ‖∇f(x)‖₂ + ‖T*w‖₂ and ‖Tx‖₂ at the last look.
    sizes: [f64; 2],
    /// The largest ‖∇f(x)‖₂ + ‖T*w‖₂ of all looks.
    largest: f64,
    /// No look is taken before this point, unless something has come near.
    next: u64,
    /// Nor, after one that decided nothing, before this one.
    again: u64,
    next_gap: u64,
}

impl Judge {
    pub fn new<S: Real>(stop: Stop, solver: &mut dyn Solver<S>) -> Self {
        let norms = solver.norms();
        let growth = product_dual_growth(&norms).unwrap_or(1.0);
        let looks = stop.epsilon.is_some() || stop.gap.is_some() || stop.tolerance.is_some();
        if looks {
            solver.make_room();
        }
        let sizes = [0.0; 2];
        Self { stop, norms, growth, decided: None, sizes, largest: 0.0, next: 2, again: 0, next_gap: 1 }
    }

    /// ε or the gap that was asked for is reached, and proven to be.
    pub fn is_certified<S: Real>(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
        self.reaches_epsilon(info, solver) || self.reaches_gap(info, solver)
    }

    /// Tests the point against ε; where the bracket straddles ε, the exact dual norm decides. What it decides has to hold when it
    /// is recomputed, with its rounding: that is how it will be verified.
    fn reaches_epsilon<S: Real>(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
        let Some((claim, [dual_norm, prox_gap])) = thresholds(self.stop.epsilon, solver.start_measure()) else {
            return false;
        };
        let mut bracket = info.dual_norm;
        if !info.candidate || info.prox_gap > prox_gap || bracket.lower > dual_norm {
            return false;
        }
        if bracket.upper > dual_norm {
            // Brackets of methods that do not smooth have no lower end: an exact look costs them a step.
            let loose = info.beta == 0.0 && bracket.upper > NEAR * dual_norm;
            if loose && info.k < self.again {
                return false;
            }
            // "Exact" means to rounding.
            let rounding = if S::EPSILON > 1e-10 { 1e-4 } else { 1e-10 };
            bracket.upper = bracket.upper.min(solver.exact_dual_norm() * (1.0 + rounding));
        }
        let certified = bracket.upper <= dual_norm && self.is_proven(&claim, solver);
        if !certified {
            self.again = info.k + (info.k / PATIENCE).max(1);
        }
        self.decided = certified.then_some((claim, (info.beta > 0.0).then_some(bracket)));
        certified
    }

    fn is_proven<S: Real>(&self, claim: &Claim, solver: &mut dyn Solver<S>) -> bool {
        // A norm of the user's own: only its oracle can say.
        let of_its_own = product_dual_growth(&self.norms).is_none();
        if of_its_own {
            let seen = solver.look(true);
            return solver.keeps_promise(&seen);
        }
        solver.proven(&self.norms).meets(claim)
    }

    fn reaches_gap<S: Real>(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
        let Some(asked) = self.stop.gap else { return false };
        if info.k < self.next_gap {
            return false;
        }
        self.next_gap = info.k + (info.k / PATIENCE).max(1);
        let seen = solver.look(true);
        let Ok(found) = solver.optimality(&seen, self.stop.radius) else { return false };
        let limit = asked.limit(found.objective);
        let reached = found.gap <= limit;
        self.decided = reached.then_some((Claim { gap: Some(limit), ..Claim::default() }, None));
        reached
    }

    /// Nothing is left to do, to the tolerance that was asked for. Looks are rare: at powers of two, and where both numbers have
    /// come near next to the sizes of the last look.
    pub fn has_settled<S: Real>(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
        let Some(tolerance) = self.stop.tolerance else { return false };
        let near = |number: f64, size: f64| number <= NEAR * tolerance * size;
        let [gradients, tx] = self.sizes;
        let comes_near = near(info.dual_norm.upper / self.growth, gradients) && near(info.prox_gap, tx);
        if info.epoch.is_some() || (info.k < self.next && !(comes_near && info.k >= self.again)) {
            return false;
        }
        self.next = self.next.max(info.k.saturating_mul(2));
        self.again = info.k + (info.k / PATIENCE).max(1);
        let seen = solver.look(false);
        self.sizes = [seen.of_f + seen.of_g, seen.tx_norm];
        self.largest = self.largest.max(self.sizes[0]);
        let gradients_vanish = seen.of_sum <= tolerance * self.sizes[0] || self.is_rounding(&seen, tolerance);
        if gradients_vanish && seen.prox_gap <= tolerance * self.sizes[1] {
            return keeps_constraint(&seen, tolerance) && solver.keeps_promise(&seen);
        }
        let gap = solver.optimality(&seen, self.stop.radius);
        gap.is_ok_and(|found| found.gap <= tolerance * found.objective.abs())
    }

    /// Where a penalty is flat and f is least, both gradients vanish, and what is left of them is small next to neither: it is their
    /// rounding, next to gradients that there were.
    fn is_rounding(&self, seen: &Seen, tolerance: f64) -> bool {
        seen.of_sum <= tolerance * self.largest && seen.of_sum <= seen.rounding.grad && seen.rounding.grad.is_finite()
    }

    /// z and F at the last point, and the certificate, with a claim if one was reached.
    pub fn end<S: Real>(self, last: Option<&Info>, certified: bool, solver: &mut dyn Solver<S>) -> Certified<S> {
        let (claim, decided) = self.decided.filter(|_| certified).unzip();
        // A method without smoothing brackets no smoothed gradient, and a solver that stepped back another point.
        let last = || last.filter(|info| info.beta > 0.0).map(|info| info.dual_norm);
        let dual_norm = decided.flatten().or_else(last);
        solver.certify(Asked { claim, dual_norm, radius: self.stop.radius })
    }
}

/// Where Tx is outside of what g allows, and z inside, F(x) = ∞ says nothing of x. What Tx is away from z may then not matter to F: a
/// multiplier w says what a unit of it is worth, and twice that is an exact penalty. (Where F* = 0, to the square of the tolerance.)
fn keeps_constraint(seen: &Seen, tolerance: f64) -> bool {
    let outside = seen.at_tx == f64::INFINITY && seen.at_z.is_finite();
    let (worth, objective) = (2.0 * seen.w_norm * seen.prox_gap, (seen.f + seen.at_z).abs());
    !outside || worth <= tolerance * (objective + tolerance * seen.w_norm * seen.tx_norm)
}

/// What both numbers must not exceed; unknown where the start was not measured.
fn thresholds(epsilon: Option<Epsilon>, start: Option<[f64; 2]>) -> Option<(Claim, [f64; 2])> {
    let limits = match epsilon? {
        Epsilon::Absolute(epsilon) => [epsilon; 2],
        Epsilon::Relative(epsilon) => {
            let [dual_norm, prox_gap] = start?;
            [epsilon * dual_norm, epsilon * if prox_gap > 0.0 { prox_gap } else { 1.0 }]
        }
    };
    let claim = Claim { dual_norm: Some(limits[0]), prox_gap: Some(limits[1]), gap: None };
    Some((claim, limits))
}
