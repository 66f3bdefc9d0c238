//! Low rank plus sparse by turns: L is the best there is for S, then S for L, and neither needs more room than itself.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::penalty;
use crate::penalty::form::Part;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth;
use crate::solver::state::{self, fits};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector::{self, Total};
use crate::{operator, threads};

/// L ← prox_{g_L}(P), P = L − M⊙(L + S − Y); S ← prox_{g_S}(Y − L) where M is 1, and 0 elsewhere: f(L, S) = ½‖M⊙(Y − L − S)‖² is
/// minimised over one block after the other, exactly where nothing is missing, so that F falls with every half of a step.
///
/// w = (P − L, M⊙(Y − L − S)) ∈ ∂g(L, S), and ∇f + w is 0 in S: what is left in L is by how much S has moved. x and P are all that
/// is kept, and as much again is needed for a step: with `fista` it is five times as much.
///
/// Block coordinate descent, or PALM (Bolte, Sabach and Teboulle 2014) with steps of length 1, the inverse of both constants.
pub struct Turns<'p, S: Real> {
    host: Host<'p, S>,
    y: &'p [S],
    mask: Option<&'p [S]>,
    parts: [Part<'p, S>; 2],
    /// L and S.
    x: Vec<S>,
    /// P, of which L is the prox: once a step was taken.
    p: Vec<S>,
    /// The next P and L on their way; v, or βw, where somebody asks.
    next: Vec<S>,
    /// A step led to x.
    stepped: bool,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    p: Vec<S>,
    stepped: bool,
}

impl<'p, S: Real> Turns<'p, S> {
    /// Starts at x₀, which is copied; S is 0 there where Y is missing. Refuses what does not fit ([`Turns::fits`]).
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        let Terms { y, mask, parts } = terms(problem)?;
        let (n, mut x) = (y.len(), x0.to_vec());
        if let Some(mask) = mask {
            clear(&mut x[n..], mask);
        }
        let (host, p, next) = (Host::euclidean(problem)?, vec![S::ZERO; n], vec![S::ZERO; 2 * n]);
        Ok(Run::new(Self { host, y, mask, parts, x, p, next, stepped: false }))
    }

    /// Refuses other problems, and penalties with ρ ≥ 1: the best block need not be one then.
    pub fn fits(problem: &Problem<S>) -> Result<(), Error> {
        terms(problem).map(|_| ())
    }

    /// The start is judged as a smoothed point: by z = prox_{βg}(x).
    fn begin(&mut self) -> Info {
        let n = self.y.len();
        let Self { host, parts, x, next, .. } = self;
        let (problem, work) = host.parts();
        let beta = problem.default_beta();
        let proxed = parts
            .iter()
            .map(|Part { range, weight, g }| g.prox(&mut next[range.clone()], &x[range.clone()], beta * weight, work));
        let finite = proxed.sum::<f64>().is_finite();
        let (x, next) = (&self.x, &self.next);
        let [of_low_rank, of_sparse, apart] = self.sums(|at, rest| {
            let slope = |at: usize| (x[at] - next[at]).f64() / beta;
            let [l, s] = [at, n + at].map(slope);
            [(l + rest).powi(2), (s + rest).powi(2), beta * beta * (l * l + s * s)]
        });
        let size = (of_low_rank + of_sparse).sqrt();
        let info = Info::unsmoothed(1, 1.0, self.host.between(), [size, size], apart.sqrt());
        Info { finite: info.finite && finite, ..info }
    }

    /// Σ of three terms over the entries, each of which knows its place and M⊙(L + S − Y) there.
    fn sums(&self, each: impl Fn(usize, f64) -> [f64; 3] + Sync) -> [f64; 3] {
        let (n, size) = (self.y.len(), threads::block(self.y.len(), vector::BLOCK, 1 << 15));
        let (y, mask, (low_rank, sparse)) = (self.y, self.mask, self.x.split_at(n));
        let of_block = |block: Range<usize>| {
            let mut sums = [0.0; 3];
            for at in block {
                let known = mask.is_none_or(|mask| mask[at] != S::ZERO);
                let rest = if known { (low_rank[at] + sparse[at] - y[at]).f64() } else { 0.0 };
                sums.iter_mut().zip(each(at, rest)).for_each(|(sum, term)| *sum += term);
            }
            sums
        };
        threads::sums(2 * n, (0..n).step_by(size), |from| {
            let (end, mut totals) = (n.min(from + size), [Total::default(); 3]);
            for block in (from..end).step_by(vector::BLOCK) {
                let sums = vector::simd(|| of_block(block..end.min(block + vector::BLOCK)));
                totals.iter_mut().zip(sums).for_each(|(total, sum)| total.add(sum));
            }
            totals.map(|total| total.value())
        })
    }

    /// L for S, then S for L; g there, or NaN where there was no time for it: x has not moved then.
    fn turn(&mut self) -> f64 {
        let n = self.y.len();
        let Self { host, y, mask, parts: [of_low_rank, of_sparse], x, p, next, .. } = self;
        let (_, work) = host.parts();
        let (low_rank, sparse) = x.split_at_mut(n);
        let (next_p, next_low_rank) = next.split_at_mut(n);
        without(next_p, y, sparse, mask.map(|mask| (mask, &*low_rank)));
        let value = of_low_rank.weight * of_low_rank.g.prox(next_low_rank, next_p, of_low_rank.weight, work);
        if !value.is_finite() {
            return value;
        }
        p.copy_from_slice(next_p);
        low_rank.copy_from_slice(next_low_rank);
        without(next_p, y, low_rank, None);
        if let Some(mask) = mask {
            clear(next_p, mask);
        }
        value + of_sparse.weight * of_sparse.g.prox(sparse, next_p, of_sparse.weight, work)
    }

    /// What is known of the point that a turn led to.
    fn info(&mut self, k: u64, penalty: f64) -> Info {
        let (low_rank, p) = (&self.x[..self.y.len()], &self.p);
        let [left, squares, _] = self.sums(|at, rest| {
            let left = (p[at] - low_rank[at]).f64() + rest;
            [left * left, rest * rest, 0.0]
        });
        let [size, objective] = [left.sqrt(), 0.5 * squares + penalty];
        let info = Info::unsmoothed(k, 1.0, self.host.between(), [size, size], 0.0);
        Info { objective: Some(objective), finite: info.finite && objective.is_finite(), ..info }
    }

    /// next ← w.
    fn slopes(&mut self) {
        let n = self.y.len();
        let Self { y, mask, x, p, next, .. } = self;
        let ((low_rank, sparse), (of_low_rank, of_sparse)) = (x.split_at(n), next.split_at_mut(n));
        without(of_low_rank, p, low_rank, None);
        without(of_sparse, y, low_rank, None);
        vector::axpy(of_sparse, -1.0, sparse);
        if let Some(mask) = mask {
            clear(of_sparse, mask);
        }
    }
}

/// What a problem is made of that turns can solve.
struct Terms<'p, S> {
    y: &'p [S],
    mask: Option<&'p [S]>,
    parts: [Part<'p, S>; 2],
}

fn terms<S: Real>(problem: &Problem<S>) -> Result<Terms<'_, S>, Error> {
    let refused = |needs: &str| Err(Error::Unsupported(format!("turns need {needs}")));
    let smooth::Form::Sum { target: y, mask } = problem.f().form() else {
        return refused("f(L, S) = ½‖M⊙(Y − L − S)‖²");
    };
    let (penalty::Form::Blocks(parts), operator::Form::Identity) = (problem.g().form(), problem.t().form()) else {
        return refused("T = I and a penalty of each of L and S");
    };
    let of = |range| parts.iter().find(|part| part.range == range).map(|part| Part { range, ..*part });
    let (Some(low_rank), Some(sparse)) = (of(0..y.len()), of(y.len()..2 * y.len())) else {
        return refused("a penalty of each of L and S");
    };
    if sparse.g.coordinates().is_none() {
        return refused("a penalty of the entries of S, or of groups of them");
    }
    if problem.g().weak_convexity() >= 1.0 {
        return refused("penalties with ρ < 1, as MCP with μ > 1 has");
    }
    // What is 0 has to stay 0, or nothing is known of a slope there.
    let mut work = vec![S::ZERO; sparse.g.work_len()];
    let [mut nothing, zeros] = [S::ONE, S::ZERO].map(|value| vec![value; if mask.is_some() { y.len() } else { 0 }]);
    if mask.is_some() {
        sparse.g.prox(&mut nothing, &zeros, sparse.weight, &mut work);
    }
    if nothing.iter().any(|&s| s != S::ZERO) {
        return refused("a penalty of S that is least at 0, where some of Y is missing");
    }
    Ok(Terms { y, mask, parts: [low_rank, sparse] })
}

/// to ← a − b where M is 1, and what else there is elsewhere.
fn without<S: Real>(to: &mut [S], a: &[S], b: &[S], elsewhere: Option<(&[S], &[S])>) {
    vector::add_scaled(to, a, -1.0, b);
    let Some((mask, other)) = elsewhere else { return };
    let missing = to.iter_mut().zip(other).zip(mask).filter(|(_, mask)| **mask == S::ZERO);
    missing.for_each(|((to, &other), _)| *to = other);
}

/// 0 where M is.
fn clear<S: Real>(to: &mut [S], mask: &[S]) {
    to.iter_mut().zip(mask).filter(|(_, mask)| **mask == S::ZERO).for_each(|(to, _)| *to = S::ZERO);
}

impl<'p, S: Real> Method for Turns<'p, S> {
    type Space = Host<'p, S>;

    const WHOLE_STEPS: bool = true;

    fn step(&mut self, k: u64) -> Option<Info> {
        if k == 0 {
            return Some(self.begin());
        }
        let penalty = self.turn();
        if !penalty.is_finite() {
            return Some(Info { k: k + 1, ..Info::unknown() });
        }
        self.stepped = true;
        Some(self.info(k + 1, penalty))
    }

    fn standing(&mut self, _: u64) -> impl Standing<Host<'p, S>> {
        self
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        state::Memo::Turns(Memo { x: self.x.clone(), p: self.p.clone(), stepped: self.stepped })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Turns(Memo { x, p, stepped }) = memo else { return memo.is_none_of("turns") };
        fits(x, self.x.len())?;
        fits(p, self.p.len())?;
        self.x.copy_from_slice(x);
        self.p.copy_from_slice(p);
        self.stepped = *stepped;
        Ok(())
    }
}

impl<'p, S: Real> Standing<Host<'p, S>> for Turns<'p, S> {
    fn place(&mut self) -> (&mut Host<'p, S>, &Vec<S>) {
        (&mut self.host, &self.x)
    }

    fn objective(&mut self) -> f64 {
        let [squares, ..] = self.sums(|_, rest| [rest * rest, 0.0, 0.0]);
        let (problem, work) = self.host.parts();
        0.5 * squares + problem.penalty(&self.x, work)
    }

    fn exact_dual_norm(&mut self) -> f64 {
        if self.stepped {
            // In S, w and ∇f are one another's opposites; ∇f is the same in L.
            self.slopes();
            let (low_rank, sparse) = self.next.split_at_mut(self.y.len());
            vector::axpy(low_rank, -1.0, sparse);
            sparse.fill(S::ZERO);
        } else {
            let (problem, work) = self.host.parts();
            problem.smoothed_gradient(&mut self.next, &self.x, problem.default_beta(), work);
        }
        self.host.dual_norm_of(&self.next)
    }

    fn show(&mut self) -> Shown {
        if !self.stepped {
            return Shown::smoothed(self.host.problem().default_beta());
        }
        self.slopes();
        self.host.show_pair(&self.x, &self.next, 1.0)
    }
}

impl<S: Real> Measured for Turns<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
