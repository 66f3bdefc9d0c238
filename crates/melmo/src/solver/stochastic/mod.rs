//! MELMO with minibatches.

mod sampling;

pub use sampling::Estimate;

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::{Answer, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::schedule::Averaging;
use crate::seeded::Seeded;
use crate::solver::state::{self, finite, fits};
use crate::solver::{Info, Method, Run, Standing};
use crate::space::{self, Host, Sampled};

/// m ← (1−α)m + α∇f_B(x), φ = m + T*∇g_β(Tx), x ← x + γ·lmo(φ).
///
/// The batch of point k follows from k and the seed alone, so that a resumed run is the same run. What is known at a point is an
/// estimate, and never claimed: dual norms, F and certificates come from full passes. One is made after every pass over the data, at the points
/// that are tested against ε; the others are made when somebody asks.
pub struct Stochastic<X: Sampled> {
    space: X,
    rule: Rule,
    x: X::Point,
    /// The point before x.
    previous: X::Point,
    /// m.
    average: X::Point,
    /// ∇f_B(x), and then the m before: a step that overflows loses nothing.
    fresh: X::Point,
    /// ∇f_B at the point before, for STORM; and a gradient for whoever asks.
    spare: X::Point,
    phi: X::Point,
    batch: Vec<usize>,
    answer: Answer,
    beta: f64,
    before: f64,
    /// Length of the step from x.
    pending: f64,
    start: Option<[f64; 2]>,
}

/// How m follows the gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Momentum {
    /// m ← (1−α)m + α∇f_B(x).
    HeavyBall,
    /// m ← ∇f_B(x) + (1−α)(m − ∇f_B(x before)): STORM (Cutkosky & Orabona 2019), two gradients a step.
    Storm,
}

/// What a stochastic method is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// β_k, γ_k and α_k.
    pub schedule: Averaging,
    /// How m follows the gradients.
    pub momentum: Momentum,
    /// Parts of the loss in a batch.
    pub batch: usize,
    /// What batches follow from.
    pub seed: u64,
    /// r: x ← (1−γ/r)x + γ·lmo(φ), so that the points stay in ‖x‖ ≤ r.
    pub ball: Option<f64>,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
    previous: Vec<S>,
    average: Vec<S>,
    warm_start: Vec<S>,
    beta: f64,
    pending: f64,
}

impl<'p, S: Real> Stochastic<Host<'p, S>> {
    /// Starts at x₀, which is copied. Refuses a loss without minibatches, β > 1/(2ρ), a start outside the ball.
    pub fn new(
        problem: &'p Problem<S>,
        geometry: Box<dyn Geometry<S>>,
        rule: Rule,
        x0: &[S],
    ) -> Result<Run<Self>, Error> {
        Self::on(Host::sampled(problem, geometry)?, rule, x0)
    }
}

impl<X: Sampled> Stochastic<X> {
    /// The same wherever x lives.
    pub fn on(mut space: X, rule: Rule, x0: &[X::Real]) -> Result<Run<Self>, Error> {
        rule.schedule.check()?;
        let samples = space.samples();
        let must = "at least 1, and at most the parts of the loss";
        Error::expect_parameter("batch", rule.batch as f64, (1..=samples).contains(&rule.batch), must)?;
        if let Some(ball) = rule.ball {
            Error::expect_positive("ball", ball)?;
        }
        let x = space::start(&mut space, x0)?;
        let beta = rule.schedule.at(1).0.beta;
        space.facts().check_beta(beta)?;
        let mut previous = space.point();
        space.copy(&mut previous, &x);
        let [average, fresh, spare, phi] = std::array::from_fn(|_| space.point());
        let (batch, answer) = (vec![0; rule.batch], Answer::exact(0.0));
        let (before, pending, start) = (beta, 0.0, None);
        Ok(Run::new(Self {
            space,
            rule,
            x,
            previous,
            average,
            fresh,
            spare,
            phi,
            batch,
            answer,
            beta,
            before,
            pending,
            start,
        }))
    }

    /// x ← x + γd, from (1−γ/r)x in a ball.
    fn advance(&mut self) {
        let Self { space, previous, x, phi, pending: gamma, .. } = self;
        space.advance(previous, x, phi, *gamma);
        if let Some(r) = self.rule.ball {
            space.add(previous, -(*gamma / r).min(1.0), x);
        }
        std::mem::swap(&mut self.x, &mut self.previous);
        self.before = self.beta;
    }

    /// m ← the average with the batch of x_k in it.
    fn average(&mut self, k: u64, alpha: f64) {
        draw(&mut self.batch, self.rule.seed, k, self.space.samples());
        let Self { space, fresh, spare, average, batch, x, previous, .. } = self;
        space.batch_gradient(fresh, x, batch);
        if k > 1 {
            match self.rule.momentum {
                Momentum::HeavyBall => space.scale(fresh, alpha),
                Momentum::Storm => {
                    space.batch_gradient(spare, previous, batch);
                    space.add(fresh, alpha - 1.0, spare);
                }
            }
            space.add(fresh, 1.0 - alpha, average);
        }
        std::mem::swap(&mut self.average, &mut self.fresh);
    }

    /// φ = m + T*∇g_β(Tx), and the oracle's answer to it; whether all of it is finite, and ‖Tx − z‖₂.
    fn ask(&mut self, beta: f64) -> (bool, f64) {
        let Self { space, phi, average, x, .. } = self;
        space.copy(phi, average);
        let prox_gap = beta * space.penalty_gradient_add(phi, x, beta).sqrt();
        self.answer = space.oracle(phi, None);
        self.beta = beta;
        (prox_gap.is_finite() && self.answer.dual_norm.upper.is_finite(), prox_gap)
    }

    /// Steps that draw as many parts as the loss has.
    fn pass(&self) -> u64 {
        self.space.samples().div_ceil(self.rule.batch) as u64
    }

    /// F_β's gradient by a full pass, in the spare point; f(x).
    fn full(&mut self) -> f64 {
        self.space.gradient(&mut self.spare, &self.x, self.beta).f
    }

    /// ‖∇F_β(x)‖_* by a full pass. A geometry remembers what it looked at last, and that has to be φ: the move comes from it.
    fn full_dual_norm(&mut self) -> f64 {
        self.full();
        let found = self.space.dual_norm(&self.spare);
        self.space.dual_norm(&self.phi);
        found
    }
}

impl<X: Sampled> Run<Stochastic<X>> {
    /// max over ‖v‖ ≤ r of ⟨∇F_β(x), x − v⟩ = ⟨∇F_β(x), x⟩ + r‖∇F_β(x)‖_*, by a full pass: 0 where x is stationary in the ball. `None`
    /// without a ball.
    pub fn frank_wolfe_gap(&mut self) -> Option<f64> {
        let method = &mut self.method;
        let r = method.rule.ball?;
        let dual_norm = method.full_dual_norm();
        Some(method.space.dot(&method.spare, &method.x) + r * dual_norm)
    }
}

/// The batch of point k: parts drawn uniformly, each on its own.
fn draw(batch: &mut [usize], seed: u64, k: u64, samples: usize) {
    let mut seeded = Seeded::new(seed ^ k.wrapping_mul(0xd134_2543_de82_ef95));
    let mut stream = Seeded::new(seeded.bits());
    for part in batch {
        *part = ((u128::from(stream.bits()) * samples as u128) >> 64) as usize;
    }
}

impl<X: Sampled> Method for Stochastic<X> {
    type Space = X;

    fn step(&mut self, k: u64) -> Option<Info> {
        let (step, alpha) = self.rule.schedule.at(k + 1);
        if k > 0 {
            self.advance(); // x_{k+1} = x_k + γ_kd
        }
        self.average(k + 1, alpha);
        let (finite, prox_gap) = self.ask(step.beta);
        let candidate = finite && k.is_multiple_of(self.pass());
        let full = if candidate { self.full_dual_norm() } else { f64::INFINITY };
        if k == 0 {
            self.start = Some([full, prox_gap]);
        }
        if finite {
            self.pending = step.gamma;
        }
        let (eta, excess) = (self.answer.eta(), self.answer.excess);
        // Of ∇F_β, by a full pass or not at all: that of φ is another number.
        let dual_norm = if candidate { Answer::exact(full).dual_norm } else { Info::unknown().dual_norm };
        let (beta, gamma) = (step.beta, step.gamma);
        let rest = Info::unknown();
        Some(Info { k: k + 1, beta, gamma, dual_norm, eta, excess, prox_gap, finite, candidate, ..rest })
    }

    fn retreat(&mut self) {
        std::mem::swap(&mut self.x, &mut self.previous);
        std::mem::swap(&mut self.average, &mut self.fresh);
        self.ask(self.before);
    }

    fn standing(&mut self, _: u64) -> impl Standing<X> {
        self
    }

    fn start_measure(&self) -> Option<[f64; 2]> {
        self.start
    }

    fn save(&mut self, k: u64) -> state::Memo<X::Real> {
        let Self { space, x, previous, average, .. } = self;
        let mut read = |point: &X::Point| {
            let mut out = vec![X::Real::ZERO; space.size()];
            space.read(point, 0, &mut out);
            out
        };
        let [x, previous, average] = [read(x), read(previous), read(average)];
        let warm_start = if k > 0 { self.space.warm_start() } else { Vec::new() };
        let (beta, pending) = (self.beta, self.pending);
        state::Memo::Stochastic(Memo { x, previous, average, warm_start, beta, pending })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<X::Real>) -> Result<(), Error> {
        let state::Memo::Stochastic(memo) = memo else { return memo.is_none_of("stochastic") };
        let size = self.space.size();
        for point in [&memo.x, &memo.previous, &memo.average] {
            fits(point, size)?;
        }
        let expected = if memo.warm_start.is_empty() { 0 } else { self.space.warm_start().len() };
        Error::expect_len("the warm start of a saved state", expected, memo.warm_start.len())?;
        Error::expect_finite("the warm start of a saved state", &memo.warm_start)?;
        finite([memo.beta, memo.pending])?;
        self.space.facts().check_beta(memo.beta)?;
        self.space.write(&mut self.x, 0, &memo.x);
        self.space.write(&mut self.previous, 0, &memo.previous);
        self.space.write(&mut self.average, 0, &memo.average);
        self.space.write(&mut self.fresh, 0, &memo.average);
        self.space.resume(&memo.warm_start);
        (self.pending, self.before) = (memo.pending, memo.beta);
        if k > 0 {
            self.ask(memo.beta);
        }
        Ok(())
    }
}

impl<X: Sampled> Standing<X> for Stochastic<X> {
    fn place(&mut self) -> (&mut X, &X::Point) {
        (&mut self.space, &self.x)
    }

    fn objective(&mut self) -> f64 {
        self.full() + self.space.penalty(&self.x)
    }

    fn smoothed(&mut self) -> f64 {
        self.full() + self.space.envelope(&self.x, self.beta)
    }

    fn exact_dual_norm(&mut self) -> f64 {
        self.full_dual_norm()
    }

    fn show(&mut self) -> Shown {
        Shown::smoothed(self.beta)
    }
}
