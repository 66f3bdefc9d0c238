//! L-BFGS on the smoothed objective: what one would use first once g is smooth.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::iterate::{Iterate, Point, forward_to_iterate};
use crate::solver::memory::Memory;
use crate::solver::smoothing::Smoothing;
use crate::solver::{Info, Solver, State};
use crate::vector;

/// x ← x − tHφ, φ = ∇F_β(x), H made of the last few moves (Liu & Nocedal 1989), t by a weak Wolfe search that doubles and bisects
/// (Lewis & Overton 2013). β falls by the κ-rule ([`Smoothing`]), as it does for our own methods, or stays where its floor is; when
/// it falls H is forgotten, since it speaks of another function.
///
/// A step evaluates F_β and φ once or twice, rarely more.
pub struct Lbfgs<'p, S> {
    iterate: Iterate<'p, S>,
    memory: Memory<S>,
    smoothing: Smoothing,
    /// F_β(x).
    value: f64,
    /// ‖Tx − z‖₂ at x.
    prox_gap: f64,
    /// Where a search begins: x, φ, and the direction d = −Hφ.
    base: Vec<S>,
    slope: Vec<S>,
    d: Vec<S>,
    /// ⟨s, y⟩/‖y‖² of the last pair that was kept: H's first guess where L_f is not known.
    scale: f64,
    first_beta: f64,
    k: u64,
    ended: bool,
}

/// F_β falls by this part of what the slope promises, and the slope to this part of itself.
const WOLFE: (f64, f64) = (1e-4, 0.9);
/// Lengths that a search tries before it gives up.
const PATIENCE: usize = 20;

impl<'p, S: Real> Lbfgs<'p, S> {
    /// Starts at x₀, which is copied; `memory` pairs are kept. The geometry measures, and has no part in the steps.
    pub fn new(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        smoothing: Smoothing,
        memory: usize,
        x0: &[S],
    ) -> Result<Self, Error> {
        Error::expect_parameter("memory", memory as f64, memory > 0, "at least 1")?;
        let first_beta = smoothing.beta();
        let iterate = Iterate::new(problem, geometry, first_beta, x0)?;
        let [base, slope, d] = [(); 3].map(|()| x0.to_vec());
        let memory = Memory::new(memory, x0.len());
        let (value, prox_gap) = (f64::NAN, f64::NAN);
        let (scale, k, ended) = (0.0, 0, false);
        Ok(Self { iterate, memory, smoothing, value, prox_gap, base, slope, d, scale, first_beta, k, ended })
    }

    fn first_beta(&self) -> f64 {
        self.first_beta
    }

    /// F_β and φ at the current x.
    fn evaluate(&mut self, beta: f64) -> Point {
        let point = self.iterate.evaluate(beta);
        (self.value, self.prox_gap) = (self.iterate.smoothed(), point.prox_gap);
        point
    }

    fn step(&mut self) -> Info {
        let last_beta = self.iterate.beta;
        let (point, length) = if self.k == 0 { (self.evaluate(self.smoothing.beta()), 0.0) } else { self.descend() };
        if point.is_finite() && self.value.is_finite() {
            self.k += 1;
            return point.info(self.k, self.iterate.beta, length);
        }
        self.ended = true;
        let info = Info { finite: false, ..point.info(self.k + u64::from(self.k == 0), self.iterate.beta, 0.0) };
        if self.k > 0 {
            self.stand_at_base(last_beta);
        }
        info
    }

    /// One accepted step; a smaller β first where the step promises too little.
    fn descend(&mut self) -> (Point, f64) {
        self.base.copy_from_slice(&self.iterate.x);
        let mut promised = self.turn();
        let rho = self.iterate.problem.g().weak_convexity();
        let Self { smoothing, iterate, .. } = self;
        if smoothing.consider(0.5 * promised, self.prox_gap, rho, || iterate.hidden()) {
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
        let problem = self.iterate.problem;
        let phi = self.iterate.phi();
        let guess = match problem.f().lipschitz() {
            Some(lipschitz) => 1.0 / (lipschitz + problem.t().norm_bound().powi(2) / self.iterate.beta),
            None if self.scale > 0.0 => self.scale,
            None => self.value.abs().max(f64::MIN_POSITIVE) / vector::norm2_squared(phi).max(f64::MIN_POSITIVE),
        };
        self.memory.direction(&mut self.d, phi, guess);
        if vector::dot(phi, &self.d) >= 0.0 && self.memory.count > 0 {
            self.memory.clear(); // rounding has bent it upwards
            self.memory.direction(&mut self.d, phi, guess);
        }
        self.slope.copy_from_slice(phi);
        -vector::dot(phi, &self.d)
    }

    /// Goes to base + td for the first t of the search that satisfies both conditions, or the last that lowered F_β.
    fn search(&mut self, promised: f64) -> (Point, f64) {
        let (start, beta) = (self.value, self.iterate.beta);
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..PATIENCE {
            let Self { iterate, base, d, .. } = self;
            iterate.replace(|x, _| vector::add_scaled(x, base, t, d));
            let point = self.evaluate(beta);
            let falls = self.value <= start - WOLFE.0 * t * promised;
            if falls && -vector::dot(self.iterate.phi(), &self.d) <= WOLFE.1 * promised {
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
        let Self { iterate, base, d, .. } = self;
        iterate.replace(|x, _| vector::add_scaled(x, base, low, d));
        (self.evaluate(beta), low)
    }

    fn learn(&mut self) {
        let Self { memory, iterate, base, slope, .. } = self;
        memory.learn([&iterate.x, base], [iterate.phi(), slope]);
        self.scale = memory.scale().unwrap_or(self.scale);
    }

    fn stand_at_base(&mut self, beta: f64) {
        let Self { iterate, base, .. } = self;
        iterate.replace(|x, _| x.copy_from_slice(base));
        self.evaluate(beta);
    }
}

impl<S: Real> Iterator for Lbfgs<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.step()) }
    }
}

impl<S: Real> Solver<S> for Lbfgs<'_, S> {
    forward_to_iterate!();

    fn save(&self) -> State<S> {
        let own = [self.memory.count as f64, self.memory.at as f64, self.scale];
        State {
            solver: "lbfgs".into(),
            k: self.k,
            numbers: [&own[..], &self.smoothing.numbers(), &self.iterate.numbers()].concat(),
            vectors: std::iter::once(&self.iterate.x).chain(&self.memory.pairs).cloned().collect(),
            warm_start: self.iterate.warm_start(),
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let [count, at, scale, next_beta, since, beta, dual_norm, prox_gap] =
            state.check("lbfgs", 1 + self.memory.pairs.len(), self.iterate.x.len())?;
        self.smoothing.restore([next_beta, since])?;
        self.iterate.restore(&state.vectors[0], [beta, dual_norm, prox_gap], &state.warm_start)?;
        self.memory.resume(&state.vectors[1..], count as usize, at as usize);
        (self.scale, self.k, self.ended) = (scale, state.k, false);
        if self.k > 0 {
            self.evaluate(beta);
        }
        Ok(())
    }
}
