//! L-BFGS on the smoothed objective: what one would use first once g is smooth.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::iterate::{Iterate, Place, Point};
use crate::solver::memory::Memory;
use crate::solver::smoothing::{Shrunk, Smoothing};
use crate::solver::state::{self, count, finite, fits};
use crate::solver::{Info, Method, Run, Standing};
use crate::space::{Host, Space};

/// x ← x − tHφ, φ = ∇F_β(x), H made of the last few moves (Liu & Nocedal 1989), t by a weak Wolfe search that doubles and bisects
/// (Lewis & Overton 2013). β falls by the κ-rule ([`Smoothing`]), as it does for our own methods, or stays where its floor is; when
/// it falls H is forgotten, since it speaks of another function.
///
/// A step evaluates F_β and φ once or twice, rarely more.
pub struct Lbfgs<X: Space> {
    iterate: Iterate<X>,
    memory: Memory<X>,
    smoothing: Smoothing,
    /// F_β(x).
    value: f64,
    /// ‖Tx − z‖₂ at x.
    prox_gap: f64,
    /// Where a search begins: x with the β of its evaluation, φ, and the direction d = −Hφ.
    base: X::Point,
    base_beta: f64,
    slope: X::Point,
    d: X::Point,
    /// ⟨s, y⟩/‖y‖² of the last pair that was kept: H's first guess where L_f is not known.
    scale: f64,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    place: Place<S>,
    smoothing: Shrunk,
    /// s and y, pair after pair.
    pairs: Vec<Vec<S>>,
    /// How many of them are in use, and where the next goes.
    count: u64,
    at: u64,
    scale: f64,
}

/// F_β falls by this part of what the slope promises, and the slope to this part of itself.
const WOLFE: (f64, f64) = (1e-4, 0.9);
/// Lengths that a search tries before it gives up.
const PATIENCE: usize = 20;

impl<'p, S: Real> Lbfgs<Host<'p, S>> {
    /// Starts at x₀, which is copied; `memory` pairs are kept. The geometry measures, and has no part in the steps.
    pub fn new(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        smoothing: Smoothing,
        memory: usize,
        x0: &[S],
    ) -> Result<Run<Self>, Error> {
        Self::on(Host::new(problem, geometry)?, smoothing, memory, x0)
    }
}

impl<X: Space> Lbfgs<X> {
    /// The same wherever x lives.
    pub fn on(space: X, smoothing: Smoothing, memory: usize, x0: &[X::Real]) -> Result<Run<Self>, Error> {
        Error::expect_parameter("memory", memory as f64, memory > 0, "at least 1")?;
        let mut iterate = Iterate::new(space, [smoothing.beta(); 2], x0)?;
        let space = &mut iterate.space;
        let [base, slope, d] = [(); 3].map(|()| space.point());
        let memory = Memory::new(space, memory);
        let (value, prox_gap) = (f64::NAN, f64::NAN);
        let (scale, base_beta) = (0.0, 0.0);
        Ok(Run::new(Self { iterate, memory, smoothing, value, prox_gap, base, base_beta, slope, d, scale }))
    }

    /// F_β and φ at the current x.
    fn evaluate(&mut self, beta: f64) -> Point {
        let point = self.iterate.evaluate(beta);
        (self.value, self.prox_gap) = (self.iterate.smoothed(), point.prox_gap);
        point
    }

    /// One accepted step; a smaller β first where the step promises too little.
    fn descend(&mut self) -> (Point, f64) {
        self.iterate.space.copy(&mut self.base, &self.iterate.x);
        self.base_beta = self.iterate.beta;
        let mut promised = self.turn();
        let Self { smoothing, iterate, .. } = self;
        if smoothing.consider(0.5 * promised, self.prox_gap, iterate.facts.rho, || iterate.hidden()) {
            self.memory.clear();
            let point = self.evaluate(self.smoothing.beta());
            if !point.is_finite() {
                return (point, 0.0);
            }
            promised = self.turn();
        }
        self.search(promised)
    }

    /// d ← −Hφ, which is made to descend; returns −⟨φ, d⟩.
    fn turn(&mut self) -> f64 {
        let Self { iterate: Iterate { space, facts, phi, beta, .. }, memory, d, slope, .. } = self;
        let guess = match facts.lipschitz_f {
            Some(lipschitz) => 1.0 / (lipschitz + facts.operator_squared / *beta),
            None if self.scale > 0.0 => self.scale,
            None => self.value.abs().max(f64::MIN_POSITIVE) / space.norm_squared(phi).max(f64::MIN_POSITIVE),
        };
        memory.direction(space, d, phi, guess);
        if space.dot(phi, d) >= 0.0 && memory.count > 0 {
            memory.clear(); // rounding has bent it upwards
            memory.direction(space, d, phi, guess);
        }
        space.copy(slope, phi);
        -space.dot(phi, d)
    }

    /// Goes to base + td for the first t of the search that satisfies both conditions, or the last that lowered F_β.
    fn search(&mut self, promised: f64) -> (Point, f64) {
        let (start, beta) = (self.value, self.iterate.beta);
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..PATIENCE {
            let point = self.try_at(t, beta);
            let falls = self.value <= start - WOLFE.0 * t * promised;
            if falls && -self.iterate.space.dot(&self.iterate.phi, &self.d) <= WOLFE.1 * promised {
                self.learn();
                return (point, t);
            }
            if falls {
                low = t
            } else {
                high = t
            }
            t = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * low };
        }
        // Rounding: what the last fall led to, or where it began, without the memory that led nowhere.
        self.memory.clear();
        (self.try_at(low, beta), low)
    }

    /// x ← base + td.
    fn try_at(&mut self, t: f64, beta: f64) -> Point {
        let Self { iterate, base, d, .. } = self;
        iterate.replace(|space, x, _| space.add_scaled(x, base, t, d));
        self.evaluate(beta)
    }

    fn learn(&mut self) {
        let Self { memory, iterate: Iterate { space, x, phi, .. }, base, slope, .. } = self;
        memory.learn(space, [x, base], [phi, slope]);
        self.scale = memory.scale(space).unwrap_or(self.scale);
    }
}

impl<X: Space> Method for Lbfgs<X> {
    type Space = X;

    fn step(&mut self, k: u64) -> Option<Info> {
        let (point, length) = if k == 0 { (self.evaluate(self.smoothing.beta()), 0.0) } else { self.descend() };
        let info = point.info(k + 1, self.iterate.beta, length);
        Some(Info { finite: info.finite && self.value.is_finite(), ..info })
    }

    fn retreat(&mut self) {
        let Self { iterate, base, base_beta, .. } = self;
        iterate.replace(|space, x, _| space.copy(x, base));
        let beta = *base_beta;
        self.evaluate(beta);
    }

    fn standing(&mut self, _: u64) -> impl Standing<X> {
        &mut self.iterate
    }

    fn save(&mut self, _: u64) -> state::Memo<X::Real> {
        let Self { iterate, memory, smoothing, scale, .. } = self;
        let place = iterate.save();
        let read = |pair: &X::Point| {
            let mut saved = vec![X::Real::ZERO; iterate.space.size()];
            iterate.space.read(pair, 0, &mut saved);
            saved
        };
        let pairs = memory.pairs.iter().map(read).collect();
        let (count, at, smoothing) = (memory.count as u64, memory.at as u64, smoothing.save());
        state::Memo::Lbfgs(Memo { place, smoothing, pairs, count, at, scale: *scale })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<X::Real>) -> Result<(), Error> {
        let state::Memo::Lbfgs(memo) = memo else { return memo.is_none_of("lbfgs") };
        finite([memo.scale])?;
        let (used, at) = (count(memo.count)? as usize, count(memo.at)? as usize);
        Error::expect_len("buffers of a saved state", self.memory.pairs.len(), memo.pairs.len())?;
        memo.pairs.iter().try_for_each(|pair| fits(pair, self.iterate.space.size()))?;
        self.smoothing.restore(&memo.smoothing)?;
        self.iterate.restore(&memo.place)?;
        for (own, saved) in self.memory.pairs.iter_mut().zip(&memo.pairs) {
            self.iterate.space.write(own, 0, saved);
        }
        let capacity = self.memory.capacity();
        (self.memory.count, self.memory.at, self.scale) = (used.min(capacity), at % capacity, memo.scale);
        if k > 0 {
            self.evaluate(self.iterate.beta);
        }
        Ok(())
    }
}
