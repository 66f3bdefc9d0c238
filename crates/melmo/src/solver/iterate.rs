//! A point with its smoothed gradient, and the move along the oracle's direction: what all smoothing solvers share.

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::Answer;
use crate::guarantee::Facts;
use crate::problem::Evaluation;
use crate::real::Real;
use crate::solver::Info;
use crate::solver::run::Standing;
use crate::solver::state::fits;
use crate::space::{self, Space};

pub(super) struct Iterate<X: Space> {
    pub space: X,
    pub facts: Facts,
    /// x.
    pub x: X::Point,
    /// The point before x, kept whole so that a step that overflows loses nothing; none in a frugal space.
    previous: Option<X::Point>,
    /// φ = ∇F_β(x).
    pub phi: X::Point,
    f_x: f64,
    /// g_β(Tx), once it has been asked for.
    envelope: Option<f64>,
    /// ‖Tx − z‖₂.
    pub prox_gap: f64,
    /// What the oracle said about φ.
    pub answer: Answer,
    /// The smoothing of the last evaluation; 0 before the first.
    pub beta: f64,
    /// The smoothing of the first one.
    first_beta: f64,
    /// The smoothing with which the point before x was evaluated.
    before: f64,
    /// ‖∇F_{β₁}(x₁)‖_* (its upper bound) and ‖Tx₁ − z₁‖₂, of the very first evaluation.
    pub start_measure: Option<[f64; 2]>,
}

/// What an evaluation found.
pub(super) struct Point {
    f: f64,
    pub prox_gap: f64,
    pub answer: Answer,
}

/// Where an [`Iterate`] stands: x, evaluated with β (0 before the first evaluation), and what the oracle started from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(super) struct Place<S: Real> {
    pub x: Vec<S>,
    beta: f64,
    warm_start: Vec<S>,
}

impl<X: Space> Iterate<X> {
    /// Checks that everything fits together, the largest β ever used included; x₀ is copied.
    pub fn new(mut space: X, [first_beta, largest_beta]: [f64; 2], x0: &[X::Real]) -> Result<Self, Error> {
        let x = space::start(&mut space, x0)?;
        let facts = space.facts();
        facts.check_beta(largest_beta)?;
        let mut previous = (!space.is_frugal()).then(|| space.point());
        if let Some(previous) = &mut previous {
            space.copy(previous, &x);
        }
        Ok(Self {
            x,
            previous,
            phi: space.point(),
            space,
            facts,
            f_x: f64::NAN,
            envelope: None,
            prox_gap: f64::NAN,
            answer: Answer::exact(0.0),
            beta: 0.0,
            first_beta,
            before: 0.0,
            start_measure: None,
        })
    }

    /// φ ← ∇F_β(x), and the oracle's answer to it.
    pub fn evaluate(&mut self, beta: f64) -> Point {
        let found = self.space.gradient(&mut self.phi, &self.x, beta);
        self.ask(found, beta)
    }

    /// The oracle's answer to φ.
    fn ask(&mut self, found: Evaluation, beta: f64) -> Point {
        let prox_gap = beta * found.slope_squared.sqrt();
        (self.f_x, self.beta, self.prox_gap, self.envelope) = (found.f, beta, prox_gap, None);
        let answer = self.space.oracle(&self.phi, found.squared);
        self.answer = answer;
        self.start_measure.get_or_insert([answer.dual_norm.upper, prox_gap]);
        Point { f: found.f, prox_gap, answer }
    }

    /// x ← x + γd, φ ← ∇F_β(x), and the oracle's answer to it.
    pub fn advance(&mut self, gamma: f64, beta: f64) -> Point {
        let Self { space, previous, x, phi, .. } = self;
        let found = match previous {
            Some(previous) => {
                let found = space.advance_and_evaluate(previous, x, phi, [gamma, beta]);
                std::mem::swap(x, previous);
                found
            }
            None => {
                space.step(x, phi, gamma);
                space.gradient(phi, x, beta)
            }
        };
        self.before = self.beta;
        self.ask(found, beta)
    }

    /// x ← what `write` makes of φ.
    pub fn replace(&mut self, write: impl FnOnce(&mut X, &mut X::Point, &X::Point)) {
        let mut to = self.another();
        write(&mut self.space, &mut to, &self.phi);
        self.turn(to);
    }

    /// Where a new point goes: the place of the one before x, which may have to be made.
    fn another(&mut self) -> X::Point {
        self.previous.take().unwrap_or_else(|| self.space.point())
    }

    /// x ← what was written; the point before it is the x that was.
    fn turn(&mut self, to: X::Point) {
        self.previous = Some(std::mem::replace(&mut self.x, to));
        self.before = self.beta;
    }

    /// x ← x + γd if F_β there is `acceptable`; otherwise nothing moves. `spare` is a point.
    pub fn attempt(
        &mut self,
        gamma: f64,
        spare: &mut X::Point,
        acceptable: impl FnOnce(f64) -> bool,
    ) -> Option<(Point, f64)> {
        let mut to = self.another();
        self.space.advance(&mut to, &self.x, &self.phi, gamma);
        let found = self.space.gradient(spare, &to, self.beta);
        let value = found.f + self.space.envelope(&to, self.beta);
        if !acceptable(value) {
            self.previous = Some(to);
            return None;
        }
        self.turn(to);
        std::mem::swap(&mut self.phi, spare);
        let point = self.ask(found, self.beta);
        self.envelope = Some(value - found.f);
        Some((point, value))
    }

    /// g(Tx) − g_β(Tx) ≥ 0: what the smoothing hides, for the β of the last evaluation.
    pub fn hidden(&mut self) -> f64 {
        let exact = self.space.penalty(&self.x);
        exact - self.envelope()
    }

    /// g_β(Tx), for the x and β of the last evaluation: computed once.
    fn envelope(&mut self) -> f64 {
        let Self { space, x, beta, envelope, .. } = self;
        *envelope.get_or_insert_with(|| space.envelope(x, *beta))
    }

    /// Undoes the last move, evaluating the point before it again, where that was kept.
    pub fn retreat(&mut self) {
        let beta = self.before;
        if let Some(previous) = self.previous.take() {
            self.turn(previous);
        }
        self.evaluate(beta);
    }

    /// Where it stands. Allocates.
    pub fn save(&mut self) -> Place<X::Real> {
        let mut x = vec![X::Real::ZERO; self.space.size()];
        self.space.read(&self.x, 0, &mut x);
        let warm_start = if self.beta > 0.0 { self.space.warm_start() } else { Vec::new() };
        Place { x, beta: self.beta, warm_start }
    }

    /// Stands there again, as if x had just been evaluated: the oracle starts from where it started then.
    pub fn restore(&mut self, place: &Place<X::Real>) -> Result<(), Error> {
        let Place { x, beta, warm_start } = place;
        fits(x, self.space.size())?;
        let expected = if warm_start.is_empty() { 0 } else { self.space.warm_start().len() };
        Error::expect_len("the warm start of a saved state", expected, warm_start.len())?;
        Error::expect_finite("the warm start of a saved state", warm_start)?;
        if *beta != 0.0 {
            self.facts.check_beta(*beta)?;
        }
        self.space.write(&mut self.x, 0, x);
        if let Some(previous) = &mut self.previous {
            self.space.write(previous, 0, x);
        }
        self.space.resume(warm_start);
        (self.beta, self.before, self.start_measure) = (0.0, *beta, None);
        if *beta > 0.0 {
            self.evaluate(*beta);
        }
        Ok(())
    }
}

impl<X: Space> Standing<X> for Iterate<X> {
    fn place(&mut self) -> (&mut X, &X::Point) {
        (&mut self.space, &self.x)
    }

    /// For the x of the last evaluation.
    fn objective(&mut self) -> f64 {
        self.f_x + self.space.penalty(&self.x)
    }

    /// For the x and β of the last evaluation.
    fn smoothed(&mut self) -> f64 {
        self.f_x + self.envelope()
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.space.dual_norm(&self.phi)
    }

    fn show(&mut self) -> Shown {
        Shown::smoothed(if self.beta > 0.0 { self.beta } else { self.first_beta })
    }
}

impl Point {
    pub fn is_finite(&self) -> bool {
        self.f.is_finite() && self.prox_gap.is_finite() && self.answer.dual_norm.upper.is_finite()
    }

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
