//! Verification: everything recomputed from (x, u, β) and the problem, compared line by line with what is stored and claimed.

use crate::certificate::look::{Look, Seen};
use crate::certificate::room::Room;
use crate::certificate::rounding::{Allowance, product};
use crate::certificate::{Certificate, Optimality, Stationarity, Witness};
use crate::error::Error;
use crate::geometry::{Bracket, check_tiling};
use crate::guarantee::Facts;
use crate::penalty::Prox;
use crate::problem::Problem;
use crate::real::Real;
use crate::vector;

/// One line of a verification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check {
    /// What is compared.
    pub what: &'static str,
    /// The left side: what is stored; for a claim, what was recomputed.
    pub left: f64,
    /// The right side: what was recomputed; for a claim, its ε.
    pub right: f64,
    /// How far apart the two may be; for a claim, the rounding that was added to the left side.
    pub slack: f64,
    /// Whether it holds; never for NaN, and never where rounding alone could have made it hold.
    pub holds: bool,
}

impl Check {
    fn equal(what: &'static str, left: f64, right: f64, slack: f64) -> Self {
        Self { what, left, right, slack, holds: left == right || (left - right).abs() <= slack }
    }

    fn at_most(what: &'static str, left: f64, right: f64, slack: f64) -> Self {
        Self { what, left, right, slack, holds: left <= right + slack }
    }

    /// What was recomputed, with its rounding, is at most ε.
    fn claim(what: &'static str, found: f64, epsilon: f64, rounding: f64) -> Self {
        Self { what, left: found, right: epsilon, slack: rounding, holds: found + rounding <= epsilon }
    }

    /// A number that has to be there exactly when another is.
    fn present(what: &'static str, stored: bool, found: bool) -> Self {
        let count = |there: bool| f64::from(u8::from(there));
        Self { what, left: count(stored), right: count(found), slack: 0.0, holds: stored == found }
    }
}

/// What a verification found, line by line.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The comparisons made.
    pub checks: Vec<Check>,
}

impl Verification {
    /// Every line holds: what is stored was reproduced, and what is claimed is true.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }
}

/// Rounding that exceeds this part of the sizes involved leaves nothing to verify: a forged, tiny β makes it so.
fn coarsest<S: Real>() -> f64 {
    if S::EPSILON > 1e-10 { 0.1 } else { 1e-3 }
}

/// What a certificate speaks of, recomputed from (x, u, β): numbers of the whole, wherever its parts were looked at.
#[derive(Clone, Debug)]
pub struct Recomputed {
    /// The constants of the terms.
    pub facts: Facts,
    /// What was seen at the point.
    pub seen: Seen,
    /// Proven bounds on ‖v‖_*.
    pub dual_norm: Bracket,
    /// ‖∇f(0)‖₂: how large the data are.
    pub data: f64,
    /// How far from optimal the point is, where that can be told.
    pub optimality: Option<Optimality>,
}

impl<S: Real> Certificate<S> {
    /// Recomputes everything from (x, u, β) and the problem through the terms' plain methods and proven brackets of the dual norm: no
    /// oracle, no schedule, no streamed kernel.
    ///
    /// Stored numbers have to be reproduced to `tolerance` of themselves and the rounding that is proven; a claim holds only if
    /// the *recomputed* number plus its rounding is at most what is claimed.
    pub fn verify(&self, problem: &Problem<S>, x: &[S], tolerance: f64) -> Result<Verification, Error> {
        problem.check_start(x)?;
        problem.check_evidence(&self.evidence())?;
        self.expect_precision()?;
        check_tiling(&self.norms, x.len())?;
        let mut room = Room::new(problem);
        let shown = room.take_up(self.evidence());
        let seen = room.look(x, shown);
        let Some(dual_norm) = room.residual(&self.norms) else {
            return Err(Error::Unsupported("a norm of your own cannot be verified by definition".into()));
        };
        let optimality = Optimality::of(&mut room, x, &seen, self.optimality.and_then(|o| o.radius)).ok();
        let data = size_of_data(problem, &mut room.look.work);
        let facts = room.facts();
        let mut checks = self.compare::<S>(&Recomputed { facts, seen, dual_norm, data, optimality }, tolerance);
        let allowance = Allowance::new::<S>(&facts, &seen);
        checks.extend(self.check_stationarity((problem, x), (&seen, &allowance), &mut room, tolerance));
        Ok(Verification { checks })
    }

    /// Refuses to verify what is stored in another precision.
    pub fn expect_precision(&self) -> Result<(), Error> {
        if self.precision == S::NAME {
            return Ok(());
        }
        Err(Error::Unsupported(format!("a certificate in {} cannot be verified in {}", self.precision, S::NAME)))
    }

    /// All that a certificate says but x̃, line by line. The numbers may have been recomputed in a finer precision `R` from the same bits
    /// of x and u: then what is stored has the rounding of `S`, and a claim only that of `R` to bear.
    pub fn compare<R: Real>(&self, found: &Recomputed, tolerance: f64) -> Vec<Check> {
        let Recomputed { facts, seen, dual_norm: exact, optimality, .. } = found;
        let finer = R::EPSILON < S::EPSILON;
        let (own, allowance) = (Allowance::new::<R>(facts, seen), Allowance::of_stored::<S, R>(facts, seen));
        let mut checks = vec![fine_enough::<S>(found, &allowance)];
        let slack = tolerance * exact.upper + allowance.dual(&self.norms);
        let gap_slack = tolerance * seen.prox_gap + allowance.gap;
        // Brackets of one machine may differ from those of another by what they leave open, which may be more there.
        let open = slack + 4.0 * (exact.upper - exact.lower);
        if self.is_of_before() || finer {
            checks.push(Check::at_most("stationarity, from below", self.dual_norm.lower, exact.upper, slack));
            checks.push(Check::at_most("stationarity, from above", exact.lower, self.dual_norm.upper, slack));
        } else {
            checks.push(Check::equal("stationarity, from below", self.dual_norm.lower, exact.lower, open));
            checks.push(Check::equal("stationarity, from above", self.dual_norm.upper, exact.upper, open));
        }
        checks.push(Check::equal("proximal gap", self.prox_gap, seen.prox_gap, gap_slack));
        checks.push(Check::at_most("least of the norms that are stored", 0.0, self.least_norm(), 0.0));
        let (promised, rounded) = seen.promise::<R>(facts);
        if (promised - rounded).is_finite() {
            checks.push(Check::at_most("g(Tx), by what w promises of it", promised, seen.at_tx, rounded));
        }
        self.check_optimality(optimality.as_ref(), (tolerance, allowance.value), finer, &mut checks);
        if let Some(claim) = self.claim {
            let mut claimed = |what, found, limit: Option<f64>, rounding| {
                checks.extend(limit.map(|limit| Check::claim(what, found, limit, rounding)));
            };
            claimed("claimed: stationarity ≤ ε", exact.upper, claim.dual_norm, own.dual(&self.norms));
            claimed("claimed: proximal gap ≤ ε", seen.prox_gap, claim.prox_gap, own.gap);
            // The gap has its rounding in it.
            claimed("claimed: F − F* ≤ gap", optimality.map_or(f64::INFINITY, |o| o.gap), claim.gap, 0.0);
        }
        checks
    }

    /// Certificates of version 0.1 have the brackets of their methods, which may be wide, and do not say how far Tx̃ is from z.
    fn is_of_before(&self) -> bool {
        self.stationarity.as_ref().is_some_and(|near| near.residual.is_none())
    }

    /// The least of the numbers that cannot be negative; NaN where one of them is.
    fn least_norm(&self) -> f64 {
        let of_near = |near: &Stationarity<S>| [near.distance, near.bound, near.residual.unwrap_or(0.0)];
        let near = self.stationarity.as_ref().map_or([0.0; 3], of_near);
        let gap = self.optimality.map_or(0.0, |found| found.gap);
        let norms = [self.dual_norm.lower, self.dual_norm.upper, self.prox_gap, gap];
        let radii = self.norms.iter().map(|block| block.radius);
        norms
            .into_iter()
            .chain(near)
            .chain(radii)
            .fold(0.0, |least, norm| if norm < least || norm.is_nan() { norm } else { least })
    }

    /// F(x), the bound and the gap, where they are stored.
    fn check_optimality(
        &self,
        found: Option<&Optimality>,
        (tolerance, rounding): (f64, f64),
        finer: bool,
        checks: &mut Vec<Check>,
    ) {
        let Some(stored) = self.optimality else { return };
        let Some(found) = found else {
            checks.push(Check::present("a lower bound on F* exists", true, false));
            return;
        };
        let slack = tolerance * found.gap + 2.0 * rounding;
        // The gap has rounding in it already, which excuses a quarter of it at most.
        let last_digits = 16.0 * f64::EPSILON * found.objective.abs();
        let of_gap = tolerance * found.gap + (2.0 * rounding).min(0.25 * found.gap + last_digits);
        checks.push(Check::equal("F(x)", stored.objective, found.objective, 2.0 * rounding));
        if finer {
            // What is stored has room for more rounding, and a finer look may only find the point to be better.
            checks.push(Check::at_most("lower bound on F*", stored.bound, found.bound, slack));
            checks.push(Check::at_most("F(x) − F* at most", found.gap, stored.gap, of_gap));
            return;
        }
        checks.push(Check::equal("lower bound on F*", stored.bound, found.bound, slack));
        checks.push(Check::equal("F(x) − F* at most", stored.gap, found.gap, of_gap));
    }

    /// x̃, its distance, how far Tx̃ is from z, and the bound.
    fn check_stationarity(
        &self,
        (problem, x): (&Problem<S>, &[S]),
        (seen, allowance): (&Seen, &Allowance),
        room: &mut Room<'_, S>,
        tolerance: f64,
    ) -> Vec<Check> {
        let [z, w] = room.pair().map(<[S]>::to_vec);
        let found = room.near(x);
        let (Some(stored), Some(found)) = (&self.stationarity, &found) else {
            let (stored, found) = (self.stationarity.is_some(), found.is_some());
            let wrong = Check::present("x̃ is stored exactly when T is surjective", stored, found);
            return if stored == found { vec![] } else { vec![wrong] };
        };
        if stored.point.len() != found.point.len() {
            let [stored, found] = [stored, found].map(|near| near.point.len() as f64);
            return vec![Check::equal("length of x̃", stored, found, 0.0)];
        }
        let apart: Vec<S> = stored.point.iter().zip(&found.point).map(|(&a, &b)| a - b).collect();
        let inverse = problem.t().right_inverse().map_or(1.0, |r| r.sigma_min().recip());
        let moved = product(inverse, allowance.gap) + 4.0 * S::EPSILON * seen.x_norm;
        // A constant that has left the range of numbers says nothing, and allows nothing.
        let curved = problem.f().lipschitz().filter(|lipschitz| lipschitz.is_finite()).unwrap_or(0.0) * moved;
        let bound_slack = tolerance * found.bound + 2.0 * allowance.v + curved;
        let distance_slack = tolerance * found.distance + moved;
        vec![
            Check::at_most("x̃ is where it should be", vector::norm2(&apart), 0.0, moved),
            Check::equal("distance of x̃", stored.distance, found.distance, distance_slack),
            Check::equal("bound on stationarity at x̃", stored.bound, found.bound, bound_slack),
            self.check_residual(problem, stored, (found.residual, allowance.gap), (&w, &z), &mut room.look),
        ]
    }

    /// Tx̃ is z, as far as is said; where nothing is said, w has to lie in ∂g(Tx̃) itself.
    fn check_residual(
        &self,
        problem: &Problem<S>,
        stored: &Stationarity<S>,
        (found, of_z): (Option<f64>, f64),
        (w, z): (&[S], &[S]),
        look: &mut Look<S>,
    ) -> Check {
        let t = problem.t();
        let mut tx = vec![S::ZERO; z.len()];
        t.apply(&mut tx, &stored.point, &mut look.work);
        let apart = tx.iter().zip(z).map(|(a, b)| (a.f64() - b.f64()).powi(2)).sum::<f64>().sqrt();
        if let Some(said) = stored.residual {
            // Where T picks entries it is 0 on every machine; but x̃ has the z of the machine that made it, and a prox that mixes entries
            // may be rounded otherwise here. Elsewhere it is rounding, and is compared as such.
            let slack = match found {
                Some(0.0) if said == 0.0 && mixes(problem.g()) => of_z,
                Some(0.0) => 0.0,
                _ => 16.0 * t.rounding() * vector::norm2(&stored.point) + of_z,
            };
            return Check::equal("Tx̃ is z", said, apart, slack);
        }
        let off = distance_from_subgradient(problem, &tx, w, self.beta, look);
        Check::at_most("w lies in ∂g(Tx̃)", off, 0.0, 0.0)
    }
}

/// ‖∇f(0)‖₂, where it is a number.
fn size_of_data<S: Real>(problem: &Problem<S>, work: &mut [S]) -> f64 {
    let n = problem.layout().size();
    let (zeros, mut grad) = (vec![S::ZERO; n], vec![S::ZERO; n]);
    problem.f().value_grad(&mut grad, &zeros, work);
    vector::norm2(&grad)
}

/// Rounding is small next to ∇f(x), to the slopes that g can have, and to the data, that is ∇f(0): sizes that x cannot buy.
fn fine_enough<S: Real>(found: &Recomputed, allowance: &Allowance) -> Check {
    let Recomputed { facts, seen, data, .. } = found;
    let steepest = facts.lipschitz_g.unwrap_or(seen.w_norm);
    let data = if data.is_finite() { *data } else { 0.0 };
    let sizes = seen.of_f + product(facts.numerics.operator_norm, steepest) + data;
    // Where they leave the range of numbers, so may rounding: that is not small.
    let small = (coarsest::<S>() * sizes).min(f64::MAX);
    Check::at_most("rounding is small next to the gradients", allowance.v, small, 0.0)
}

/// Entries of Tx̃ in which w ∉ ∂g(Tx̃), by prox_{βg}(Tx̃ + βw) ≠ Tx̃ beyond a few units of rounding of that entry, or of all of them where
/// the prox mixes them; all where g is infinite there.
fn distance_from_subgradient<S: Real>(problem: &Problem<S>, tx: &[S], w: &[S], beta: f64, look: &mut Look<S>) -> f64 {
    let g = problem.g();
    if !g.value(tx, &mut look.work).is_finite() {
        return f64::INFINITY;
    }
    let shifted: Vec<S> = tx.iter().zip(w).map(|(tx, w)| S::of(tx.f64() + beta * w.f64())).collect();
    let mut back = vec![S::ZERO; tx.len()];
    g.prox(&mut back, &shifted, beta, &mut look.work);
    let steep = 1.0 / (1.0 - beta * g.weak_convexity());
    let mixed = if mixes(g) { steep * g.rounding() * vector::norm2(&shifted) } else { 0.0 };
    let off = tx.iter().zip(&back).zip(&shifted).filter(|((tx, back), shifted)| {
        let own =
            if tx.f64() == 0.0 || back.f64() == 0.0 { 0.0 } else { 32.0 * S::EPSILON * shifted.f64().abs() * steep };
        (tx.f64() - back.f64()).abs() > own + mixed
    });
    off.count() as f64
}

/// An entry of the prox depends on others: groups, singular values. Their sums are rounded otherwise with other vector instructions.
fn mixes<S: Real>(g: &dyn Prox<S>) -> bool {
    g.coordinates().is_none_or(|entries| entries.units() != g.size())
}
