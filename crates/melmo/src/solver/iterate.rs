//! A point with its smoothed gradient, and the move along the oracle's direction: what all smoothing solvers share.

use crate::error::Error;
use crate::geometry::{Answer, Geometry, check_tiling};
use crate::problem::{Evaluation, Problem};
use crate::real::Real;
use crate::solver::Info;

pub(super) struct Iterate<'p, S> {
    pub problem: &'p Problem<S>,
    pub geometry: Box<dyn Geometry<S>>,
    /// x.
    pub x: Vec<S>,
    /// The point before x, kept whole so that a step that overflows loses nothing.
    previous: Vec<S>,
    /// φ = ∇F_β(x).
    phi: Vec<S>,
    work: Vec<S>,
    f_x: f64,
    /// g_β(Tx), once it has been asked for.
    envelope: Option<f64>,
    /// ‖Tx − z‖₂.
    pub prox_gap: f64,
    /// What the oracle said about φ.
    pub answer: Answer,
    /// The smoothing of the last evaluation; 0 before the first.
    pub beta: f64,
    /// ‖∇F_{β₁}(x₁)‖_* (its upper bound) and ‖Tx₁ − z₁‖₂: what relative thresholds are relative to.
    pub start_measure: Option<[f64; 2]>,
}

/// What an evaluation found.
pub(super) struct Point {
    f: f64,
    pub prox_gap: f64,
    pub answer: Answer,
}

impl Point {
    pub fn is_finite(&self) -> bool {
        self.f.is_finite() && self.prox_gap.is_finite() && self.answer.dual_norm.upper.is_finite()
    }
}

impl<'p, S: Real> Iterate<'p, S> {
    /// Checks that everything fits together, the largest β ever used included; x₀ is copied.
    pub fn new(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        largest_beta: f64,
        x0: &[S],
    ) -> Result<Self, Error> {
        problem.check_start(x0)?;
        Error::expect_len("the geometry measures the variable", problem.layout().size(), geometry.size())?;
        check_tiling(&geometry.norms(), x0.len())?;
        problem.check_beta(largest_beta)?;
        let n = x0.len();
        Ok(Self {
            problem,
            geometry,
            x: x0.to_vec(),
            previous: x0.to_vec(),
            phi: vec![S::ZERO; n],
            work: vec![S::ZERO; problem.work_len()],
            f_x: f64::NAN,
            envelope: None,
            prox_gap: f64::NAN,
            answer: Answer::exact(0.0),
            beta: 0.0,
            start_measure: None,
        })
    }

    /// φ ← ∇F_β(x), and the oracle's answer to it.
    pub fn evaluate(&mut self, beta: f64) -> Point {
        let found = self.problem.smoothed_gradient(&mut self.phi, &self.x, beta, &mut self.work);
        self.ask(found, beta)
    }

    /// The oracle's answer to φ.
    fn ask(&mut self, found: Evaluation, beta: f64) -> Point {
        let prox_gap = beta * found.slope_squared.sqrt();
        (self.f_x, self.beta, self.prox_gap, self.envelope) = (found.f, beta, prox_gap, None);
        let answer = self.geometry.oracle(&self.phi);
        self.answer = answer;
        self.start_measure.get_or_insert([answer.dual_norm.upper, prox_gap]);
        Point { f: found.f, prox_gap, answer }
    }

    /// x ← x + γd.
    pub fn advance(&mut self, gamma: f64) {
        self.geometry.advance(&mut self.previous, &self.x, &self.phi, gamma);
        std::mem::swap(&mut self.x, &mut self.previous);
    }

    /// x ← what `write` makes of φ.
    pub fn replace(&mut self, write: impl FnOnce(&mut [S], &[S])) {
        write(&mut self.previous, &self.phi);
        std::mem::swap(&mut self.x, &mut self.previous);
    }

    /// x ← x + γd if F_β there is `acceptable`; otherwise nothing moves. `spare` has the length of x.
    pub fn attempt(
        &mut self,
        gamma: f64,
        spare: &mut Vec<S>,
        acceptable: impl FnOnce(f64) -> bool,
    ) -> Option<(Point, f64)> {
        self.geometry.advance(&mut self.previous, &self.x, &self.phi, gamma);
        let found = self.problem.smoothed_gradient(spare, &self.previous, self.beta, &mut self.work);
        let value = found.f + self.problem.envelope(&self.previous, self.beta, &mut self.work);
        if !acceptable(value) {
            return None;
        }
        std::mem::swap(&mut self.x, &mut self.previous);
        std::mem::swap(&mut self.phi, spare);
        let point = self.ask(found, self.beta);
        self.envelope = Some(value - found.f);
        Some((point, value))
    }

    /// φ.
    pub fn phi(&self) -> &[S] {
        &self.phi
    }

    /// g(Tx) − g_β(Tx) ≥ 0: what the smoothing hides, for the β of the last evaluation.
    pub fn hidden(&mut self) -> f64 {
        let exact = self.problem.penalty(&self.x, &mut self.work);
        exact - self.envelope()
    }

    /// g_β(Tx), for the x and β of the last evaluation: computed once.
    fn envelope(&mut self) -> f64 {
        let Self { problem, x, beta, work, envelope, .. } = self;
        *envelope.get_or_insert_with(|| problem.envelope(x, *beta, work))
    }

    /// Undoes the last `advance`, evaluating the point before it again.
    pub fn retreat(&mut self, beta: f64) {
        std::mem::swap(&mut self.x, &mut self.previous);
        self.evaluate(beta);
    }

    /// F(x), for the x of the last evaluation.
    pub fn objective(&mut self) -> f64 {
        self.f_x + self.problem.penalty(&self.x, &mut self.work)
    }

    /// F_β(x), for the x and β of the last evaluation.
    pub fn smoothed(&mut self) -> f64 {
        self.f_x + self.envelope()
    }

    /// ‖φ‖_* to rounding.
    pub fn exact_dual_norm(&mut self) -> f64 {
        self.geometry.dual_norm(&self.phi)
    }

    /// What the last evaluation's oracle started from.
    pub fn warm_start(&self) -> Vec<S> {
        if self.beta > 0.0 { self.geometry.warm_start() } else { Vec::new() }
    }

    /// β and the start's measure, as a state stores them: 0 before the first evaluation.
    pub fn numbers(&self) -> [f64; 3] {
        let [dual_norm, prox_gap] = self.start_measure.unwrap_or_default();
        [self.beta, dual_norm, prox_gap]
    }

    /// Stands at x as if it had just been evaluated with β: the oracle starts from where it started then.
    pub fn restore(&mut self, x: &[S], [beta, dual_norm, prox_gap]: [f64; 3], warm_start: &[S]) -> Result<(), Error> {
        let expected = if warm_start.is_empty() { 0 } else { self.geometry.warm_start().len() };
        Error::expect_len("the warm start of a saved state", expected, warm_start.len())?;
        Error::expect_finite("the warm start of a saved state", warm_start)?;
        if beta != 0.0 {
            self.problem.check_beta(beta)?;
        }
        self.x.copy_from_slice(x);
        self.previous.copy_from_slice(x);
        self.geometry.resume(warm_start);
        (self.beta, self.start_measure) = (0.0, None);
        if beta > 0.0 {
            self.start_measure = Some([dual_norm, prox_gap]);
            self.evaluate(beta);
        }
        Ok(())
    }
}

impl Point {
    /// The info of x_k, a candidate for a certificate unless the solver says otherwise.
    pub fn info(&self, k: u64, beta: f64, gamma: f64) -> Info {
        Info {
            k,
            epoch: None,
            beta,
            gamma,
            dual_norm: self.answer.dual_norm,
            eta: self.answer.eta(),
            excess: self.answer.excess,
            prox_gap: self.prox_gap,
            objective: None,
            finite: self.is_finite(),
            candidate: true,
        }
    }
}

/// What a solver with an `iterate` and its `first_beta` answers from them alone, inside its `impl Solver<S>`.
macro_rules! forward_to_iterate {
    () => {
        fn problem(&self) -> &Problem<S> {
            self.iterate.problem
        }

        fn x(&self) -> &[S] {
            &self.iterate.x
        }

        fn objective(&mut self) -> f64 {
            self.iterate.objective()
        }

        fn smoothed(&mut self) -> f64 {
            self.iterate.smoothed()
        }

        fn exact_dual_norm(&mut self) -> f64 {
            self.iterate.exact_dual_norm()
        }

        fn norms(&self) -> Vec<BlockNorm> {
            self.iterate.geometry.norms()
        }

        fn evidence<'u>(&self, _: &'u mut [S]) -> Evidence<'u, S> {
            Evidence::smoothed(if self.iterate.beta > 0.0 { self.iterate.beta } else { self.first_beta() })
        }

        fn start_measure(&self) -> Option<[f64; 2]> {
            self.iterate.start_measure
        }
    };
}
pub(super) use forward_to_iterate;
