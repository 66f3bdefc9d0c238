//! Judging points: against ε, against a gap, and whether anything is left to do; and the certificate of the last one.

use crate::certificate::{Certificate, Claim, Evidence, Look, Optimality, Proven, Stated};
use crate::drive::{Epsilon, Stop};
use crate::geometry::{BlockNorm, Bracket, product_dual_growth};
use crate::real::Real;
use crate::solver::{Info, Solver};

/// A number that a method only bounds is looked at exactly where the bound is within this factor of what is asked for.
const NEAR: f64 = 4.0;

/// After a look that decided nothing, the next one waits for this part of the steps so far.
const PATIENCE: u64 = 16;

/// What is remembered between looks. All room is made before the first point, if any look can become necessary.
pub(super) struct Judge<S> {
    stop: Stop,
    room: Option<Room<S>>,
    norms: Vec<BlockNorm>,
    /// c with ‖·‖_* ≤ c‖·‖₂.
    growth: f64,
    /// The claim that was reached, and the bracket that decided it.
    decided: Option<(Claim, Option<Bracket>)>,
    /// ‖∇f(x)‖₂ + ‖T*w‖₂ and ‖Tx‖₂ at the last look.
    sizes: [f64; 2],
    /// No look is taken before this point, unless something has come near.
    next: u64,
    /// Nor, after one that decided nothing, before this one.
    again: u64,
    next_gap: u64,
}

/// Buffers for looking.
struct Room<S> {
    look: Look<S>,
    u: Vec<S>,
}

impl<S: Real> Room<S> {
    fn new(solver: &dyn Solver<S>) -> Self {
        let problem = solver.problem();
        Self { look: Look::new(problem), u: vec![S::ZERO; problem.t().range().size()] }
    }
}

/// What a report is made of.
pub(super) struct Ending<S: Real> {
    pub x: Vec<S>,
    pub z: Vec<S>,
    /// F(x).
    pub objective: f64,
    pub certificate: Option<Certificate<S>>,
}

impl<S: Real> Judge<S> {
    pub fn new(stop: Stop, solver: &dyn Solver<S>) -> Self {
        let norms = solver.norms();
        let growth = product_dual_growth(&norms).unwrap_or(1.0);
        let looks = stop.epsilon.is_some() || stop.gap.is_some() || stop.tolerance.is_some();
        let room = looks.then(|| Room::new(solver));
        let sizes = [0.0; 2];
        Self { stop, room, norms, growth, decided: None, sizes, next: 2, again: 0, next_gap: 1 }
    }

    /// ε or the gap that was asked for is reached, and proven to be.
    pub fn is_certified(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
        self.reaches_epsilon(info, solver) || self.reaches_gap(info, solver)
    }

    /// Tests the point against ε; where the bracket straddles ε, the exact dual norm decides. What it decides has to hold when it
    /// is recomputed, with its rounding: that is how it will be verified.
    fn reaches_epsilon(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
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

    fn is_proven(&mut self, claim: &Claim, solver: &dyn Solver<S>) -> bool {
        let Some(Room { look, u }) = &mut self.room else { return false };
        let evidence = strongest(solver, look, u);
        // A norm of the user's own: only its oracle can say.
        let of_its_own = product_dual_growth(&self.norms).is_none();
        of_its_own || Proven::of(solver.problem(), solver.x(), evidence, &self.norms, look).meets(claim)
    }

    fn reaches_gap(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
        let (Some(asked), Some(Room { look, u })) = (self.stop.gap, &mut self.room) else { return false };
        if info.k < self.next_gap {
            return false;
        }
        self.next_gap = info.k + (info.k / PATIENCE).max(1);
        let evidence = strongest(solver, look, u);
        let seen = look.take(solver.problem(), solver.x(), evidence);
        let Ok(found) = Optimality::of(solver.problem(), solver.x(), look, &seen, self.stop.radius) else {
            return false;
        };
        let limit = asked.limit(found.objective);
        let reached = found.gap <= limit;
        self.decided = reached.then_some((Claim { gap: Some(limit), ..Claim::default() }, None));
        reached
    }

    /// Nothing is left to do, to the tolerance that was asked for. Looks are rare: at powers of two, and where both numbers have
    /// come near next to the sizes of the last look.
    pub fn has_settled(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> bool {
        let (Some(tolerance), Some(Room { look, u })) = (self.stop.tolerance, &mut self.room) else { return false };
        let near = |number: f64, size: f64| number <= NEAR * tolerance * size;
        let [gradients, tx] = self.sizes;
        let comes_near = near(info.dual_norm.upper / self.growth, gradients) && near(info.prox_gap, tx);
        if info.epoch.is_some() || (info.k < self.next && !(comes_near && info.k >= self.again)) {
            return false;
        }
        self.next = self.next.max(info.k.saturating_mul(2));
        self.again = info.k + (info.k / PATIENCE).max(1);
        let evidence = solver.evidence(u);
        let seen = look.take(solver.problem(), solver.x(), evidence);
        self.sizes = [seen.of_f + seen.of_g, seen.tx_norm];
        if seen.of_sum <= tolerance * self.sizes[0] && seen.prox_gap <= tolerance * self.sizes[1] {
            return true;
        }
        let gap = Optimality::of(solver.problem(), solver.x(), look, &seen, self.stop.radius);
        gap.is_ok_and(|found| found.gap <= tolerance * found.objective.abs())
    }

    /// The point, its z, F there, and the certificate, with a claim if one was reached.
    pub fn end(mut self, last: Option<&Info>, certified: bool, solver: &mut dyn Solver<S>) -> Ending<S> {
        let (claim, decided) = self.decided.filter(|_| certified).unzip();
        let room = self.room.take();
        let Room { mut look, mut u } = room.unwrap_or_else(|| Room::new(solver));
        let (problem, x) = (solver.problem(), solver.x().to_vec());
        let evidence = strongest(solver, &mut look, &mut u);
        // A method without smoothing brackets no smoothed gradient, and a solver that stepped back another point.
        let last = || last.filter(|info| info.beta > 0.0 && evidence.u.is_none()).map(|info| info.dual_norm);
        let bracket = decided.flatten().filter(|_| evidence.u.is_none()).or_else(last);
        let known = Stated { evidence, norms: self.norms, dual_norm: bracket, claim, radius: self.stop.radius };
        let certificate = Certificate::with(problem, &x, known, &mut look).ok();
        let z = problem.prox_point(&x, evidence);
        let objective = certificate.as_ref().and_then(|c| c.optimality).map(|o| o.objective);
        let objective = objective.unwrap_or_else(|| problem.objective(&x));
        Ending { x, z, objective, certificate }
    }
}

/// What the solver shows; where it is u = Tx with so small a β that rounding would show, the same z and w with a larger one.
fn strongest<'u, S: Real>(solver: &dyn Solver<S>, look: &mut Look<S>, u: &'u mut [S]) -> Evidence<'u, S> {
    let (problem, x) = (solver.problem(), solver.x());
    let Evidence { u: stored, beta } = solver.evidence(u);
    if stored.is_some() {
        return Evidence { u: Some(u), beta };
    }
    let seen = look.take(problem, x, Evidence::smoothed(beta));
    if !seen.shows_rounding(problem) {
        return Evidence::smoothed(beta);
    }
    Evidence::of_pair(problem, u, &look.z, &look.w, 1.0)
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
