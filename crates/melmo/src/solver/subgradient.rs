//! The subgradient method: the baseline without smoothing.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::solver::measure::Measure;
use crate::solver::{Info, Solver, State};
use crate::vector;

/// x_{k+1} = x_k − s(∇f(x_k) + T*v_k), v_k ∈ ∂g(Tx_k), with a fixed step s.
///
/// Its infos have β = 0 and proximal gap 0 (z = Tx, w = v), F for F_β, and the norm of the subgradient.
pub struct Subgradient<'p, S> {
    problem: &'p Problem<S>,
    step: f64,
    x: Vec<S>,
    previous: Vec<S>,
    direction: Vec<S>,
    work: Vec<S>,
    measure: Measure<S>,
    objective: f64,
    k: u64,
    ended: bool,
}

impl<'p, S: Real> Subgradient<'p, S> {
    /// Starts at x₀, which is copied, with a fixed step s > 0.
    pub fn new(problem: &'p Problem<S>, step: f64, x0: &[S]) -> Result<Self, Error> {
        problem.check_start(x0)?;
        Ok(Self {
            problem,
            step: Error::expect_positive("step", step)?,
            x: x0.to_vec(),
            previous: x0.to_vec(),
            direction: vec![S::ZERO; x0.len()],
            work: vec![S::ZERO; problem.subgradient_work_len()],
            measure: Measure::new(problem),
            objective: f64::NAN,
            k: 0,
            ended: false,
        })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.measure = Measure::in_norm(self.problem, geometry)?;
        Ok(self)
    }

    fn evaluate(&mut self) -> f64 {
        self.objective = self.problem.subgradient(&mut self.direction, &self.x, &mut self.work); // ∇f(x) + T*v
        vector::norm2(&self.direction)
    }

    fn advance(&mut self) -> Info {
        if self.k > 0 {
            vector::add_scaled(&mut self.previous, &self.x, -self.step, &self.direction);
            std::mem::swap(&mut self.x, &mut self.previous);
        }
        self.k += 1;
        let norm = self.evaluate();
        let info = Info {
            k: self.k,
            epoch: None,
            beta: 0.0,
            gamma: self.step,
            dual_norm: self.measure.bracket(norm, norm),
            eta: 0.0,
            excess: 0.0,
            prox_gap: 0.0,
            objective: Some(self.objective),
            finite: self.objective.is_finite() && norm.is_finite(),
            candidate: true,
        };
        if info.finite {
            self.measure.start.get_or_insert([info.dual_norm.upper, 0.0]);
        } else {
            self.ended = true;
            std::mem::swap(&mut self.x, &mut self.previous);
            self.evaluate();
        }
        info
    }
}

impl<S: Real> Iterator for Subgradient<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        if self.ended { None } else { Some(self.advance()) }
    }
}

impl<S: Real> Solver<S> for Subgradient<'_, S> {
    fn problem(&self) -> &Problem<S> {
        self.problem
    }

    fn x(&self) -> &[S] {
        &self.x
    }

    fn objective(&mut self) -> f64 {
        self.objective
    }

    fn smoothed(&mut self) -> f64 {
        self.objective
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.measure.norm(&self.direction)
    }

    fn norms(&self) -> Vec<BlockNorm> {
        self.measure.norms()
    }

    fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
        if self.k == 0 {
            return Evidence::smoothed(self.problem.default_beta());
        }
        let (tx, v) = self.work.split_at(u.len()); // where the evaluation left them
        Evidence::of_pair(self.problem, u, tx, &v[..tx.len()], 1.0)
    }

    fn start_measure(&self) -> Option<[f64; 2]> {
        self.measure.start
    }

    fn save(&self) -> State<S> {
        State {
            solver: "subgradient".into(),
            k: self.k,
            numbers: self.measure.start.unwrap_or_default().to_vec(),
            vectors: vec![self.x.clone()],
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let start = state.check("subgradient", 1, self.x.len())?;
        self.x.copy_from_slice(&state.vectors[0]);
        self.previous.copy_from_slice(&state.vectors[0]);
        (self.k, self.ended) = (state.k, false);
        self.measure.start = (self.k > 0).then_some(start);
        if self.k > 0 {
            self.evaluate();
        }
        Ok(())
    }
}
