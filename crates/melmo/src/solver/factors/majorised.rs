//! Factors of counts, or of yes and no: entry by entry, each by a parabola above the loss.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::operator;
use crate::penalty::Coordinates;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth::entry_factors::{inner, total_of};
use crate::smooth::turn;
use crate::smooth::{EntryFactors, EntryLoss, Form};
use crate::solver::factors::hals::one_by_one;
use crate::solver::pair::Pair;
use crate::solver::state::{self, fits};
use crate::solver::unsmoothed::Unsmoothed;
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::threads::{self, Threads};

/// Sweeps over the entries of a line before the next line.
const SWEEPS: usize = 2;
/// Lines that one thread takes at a time.
const LINES: usize = 32;

/// x_c ← prox_{g_c/m}(x_c − ∂_cf/m) for every entry of W, line by line, then of H; m the curvature of a parabola above f along c.
///
/// Of a logistic loss that parabola is Jaakkola and Jordan's. Of counts, with W, H ≥ 0, ∂_cf is concave along c: its slope at x_c
/// is the curvature of a parabola above f to the right of x_c, its secant to 0 of one to the left; or, where 0 is no place for x_c, the
/// one that leads where Lee and Seung's (2001) multiplicative step leads, up to there. (Hsieh and Dhillon 2011 take the first alone, and
/// may climb.) So F falls with every entry. No smoothing: its certificates are made of one proximal gradient step.
pub struct Majorised<'p, S> {
    host: Host<'p, S>,
    f: &'p EntryFactors<S>,
    g: &'p dyn Coordinates<S>,
    pair: Pair<S>,
    common: Unsmoothed<S>,
    previous: Vec<S>,
    grad: Vec<S>,
    /// Hᵀ.
    turned: Vec<S>,
    /// Σ over the other factor's lines, component by component.
    totals: Vec<f64>,
    /// Fitted entries of a line, for each thread.
    fitted: Vec<f64>,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
}

impl<'p, S: Real> Majorised<'p, S> {
    /// Starts at x₀ = (W, H), which is copied. Refuses other losses, a g that is no sum over entries of W and H, and for counts one
    /// that allows negative entries.
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        let refused = |what: &str| Err(Error::Unsupported(format!("this method needs {what}")));
        let Form::Entries(f) = problem.f().form() else { return refused("factors of counts, or of yes and no") };
        let identity = matches!(problem.t().form(), operator::Form::Identity);
        let by_entries = problem.g().coordinates().filter(|g| identity && one_by_one(*g, x0.len()));
        let Some(g) = by_entries else { return refused("a penalty of the entries of W and H, and T = I") };
        if f.counts_all() && !(0..x0.len()).all(|c| g.value_of(c, &mut [-S::ONE]) == f64::INFINITY) {
            return refused("W ≥ 0 and H ≥ 0 where Y holds counts");
        }
        let (_, cols, rank) = f.shape();
        Ok(Run::new(Self {
            host: Host::euclidean(problem)?,
            f,
            g,
            pair: Pair::new(problem)?,
            common: Unsmoothed::new(problem, x0),
            previous: x0.to_vec(),
            grad: vec![S::ZERO; x0.len()],
            turned: vec![S::ZERO; cols * rank],
            totals: vec![0.0; rank],
            fitted: vec![0.0; longest(f) * Threads::current().get()],
        }))
    }

    /// ∇f(x), and the pair of one proximal gradient step.
    fn evaluate(&mut self, k: u64) -> Info {
        let Self { host, common, grad, pair, .. } = self;
        let (problem, work) = host.parts();
        let value = problem.f().value_grad(grad, &common.x, work);
        pair.look(host.problem(), &common.x, grad, 0.0);
        let info = Info::unsmoothed(k, 1.0, host.between(), [pair.residual; 2], pair.gap);
        Info { finite: info.finite && value.is_finite(), ..info }
    }

    fn sweep(&mut self) {
        let Self { host, f, g, common, turned, totals, fitted, .. } = self;
        let ((rows, cols, rank), (loss, ridge)) = (f.shape(), f.parts());
        let rho = host.problem().g().weak_convexity();
        let (w, h) = common.x.split_at_mut(rows * rank);
        let mut lines = |side: usize, x: &mut [S], other: &[S], place: Place| {
            let add = if f.counts_all() { 1.0 } else { 0.0 };
            (0..rank).for_each(|k| totals[k] = add * total_of(other, rank, k));
            let ridge = if side == 0 { 0.0 } else { ridge };
            let line = Line { loss, other, totals, rank, ridge, g: *g, rho };
            let (entries, nanoseconds) = (&f.entries()[side], 4 * f.entries()[side].len().saturating_mul(rank));
            let own = fitted.chunks_mut(longest(f).max(1));
            threads::share_with(nanoseconds, own, x.chunks_mut(LINES * rank).enumerate(), |fitted, (part, x)| {
                for (at, x) in x.chunks_exact_mut(rank).enumerate() {
                    let c = part * LINES + at;
                    (0..SWEEPS).for_each(|_| line.descend(x, entries.row(c), fitted, |k| place.unit(c, k)));
                }
            });
        };
        turn(turned, h, rank, cols);
        lines(0, w, turned, Place { first: 0, line: rank, component: 1 });
        lines(1, turned, w, Place { first: rows * rank, line: 1, component: cols });
        turn(h, turned, cols, rank);
    }
}

/// The most entries of a row or a column.
fn longest<S: Real>(f: &EntryFactors<S>) -> usize {
    f.entries().iter().flat_map(|side| (0..side.rows()).map(|i| side.span(i).len())).max().unwrap_or(0)
}

/// Where the entries of a factor stand in x.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    line: usize,
    component: usize,
}

impl Place {
    fn unit(self, c: usize, k: usize) -> usize {
        self.first + c * self.line + k * self.component
    }
}

/// One line of a factor while the other rests: Σ_j h(⟨x, b_j⟩) + ⟨totals, x⟩ + ν/2·‖x‖² + g(x).
struct Line<'a, S> {
    loss: EntryLoss,
    other: &'a [S],
    totals: &'a [f64],
    rank: usize,
    ridge: f64,
    g: &'a dyn Coordinates<S>,
    rho: f64,
}

impl<S: Real> Line<'_, S> {
    /// Every entry of x once.
    fn descend(&self, x: &mut [S], entries: (&[u32], &[S]), fitted: &mut [f64], unit: impl Fn(usize) -> usize) {
        let b = |j: u32| &self.other[j as usize * self.rank..][..self.rank];
        fitted.iter_mut().zip(entries.0).for_each(|(t, &j)| *t = inner(x, b(j)));
        for (k, x) in x.iter_mut().enumerate() {
            let next = self.step(k, *x, entries, fitted, unit(k));
            let moved = next.f64() - x.f64();
            if moved != 0.0 {
                let column = |j: u32| self.other[j as usize * self.rank + k].f64();
                fitted.iter_mut().zip(entries.0).for_each(|(t, &j)| *t += moved * column(j));
                *x = next;
            }
        }
    }

    /// Where entry k, which is x, goes to.
    fn step(&self, k: usize, x: S, (places, values): (&[u32], &[S]), fitted: &[f64], unit: usize) -> S {
        let at = x.f64();
        let (mut slope, mut bend) = (self.totals[k] + self.ridge * at, self.ridge);
        for ((&j, &y), &t) in places.iter().zip(values).zip(fitted) {
            let b = self.other[j as usize * self.rank + k].f64();
            let (first, second) = self.loss.slope_bend(y.f64(), t);
            slope += first * b;
            bend += second * b * b;
        }
        let by = |bend: f64| {
            let modulus = bend.max(2.0 * self.rho).max(f64::MIN_POSITIVE);
            let mut entry = [S::of(at - slope / modulus)];
            self.g.prox_of(unit, &mut entry, 1.0 / modulus);
            entry[0]
        };
        let next = by(bend);
        if next >= x || matches!(self.loss, EntryLoss::Logistic) {
            return next;
        }
        let secant = (slope - self.slope_at_zero(k, at, (places, values), fitted)) / at;
        let mixed = self.totals[k] / at + self.ridge;
        match secant <= mixed {
            true => by(secant.max(bend)),
            false => by(mixed.max(bend)).larger(S::of(at - (slope - self.ridge * at) * at / self.totals[k])),
        }
    }

    /// ∂_kf where entry k is 0 and the others are as they are.
    fn slope_at_zero(&self, k: usize, at: f64, (places, values): (&[u32], &[S]), fitted: &[f64]) -> f64 {
        let entries = places.iter().zip(values).zip(fitted);
        let slopes = entries.map(|((&j, &y), &t)| {
            let b = self.other[j as usize * self.rank + k].f64();
            b * self.loss.value_slope(y.f64(), t - at * b).1
        });
        self.totals[k] + slopes.sum::<f64>()
    }
}

impl<'p, S: Real> Method for Majorised<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        if k > 0 {
            self.previous.copy_from_slice(&self.common.x);
            self.sweep();
        }
        Some(self.evaluate(k + 1))
    }

    fn retreat(&mut self) {
        self.common.x.copy_from_slice(&self.previous);
        self.evaluate(0);
    }

    fn standing(&mut self, k: u64) -> impl Standing<Host<'p, S>> {
        self.common.standing(&mut self.host, (k > 0).then_some(self.pair.known()))
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        state::Memo::Majorised(Memo { x: self.common.x.clone() })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Majorised(memo) = memo else { return memo.is_none_of("majorised") };
        fits(&memo.x, self.previous.len())?;
        self.common.x.copy_from_slice(&memo.x);
        self.previous.copy_from_slice(&memo.x);
        if k > 0 {
            self.evaluate(k);
        }
        Ok(())
    }
}

impl<S: Real> Measured for Majorised<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}
