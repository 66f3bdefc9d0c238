//! Coordinate descent on a working set, for one loss and any penalty that is a sum over units.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::Error;
use crate::penalty::Coordinates;
use crate::real::Real;
use crate::smooth::{Link, Smooth};
use crate::solver::coordinate::anderson::Anderson;
use crate::solver::coordinate::model::Model;
use crate::solver::coordinate::newton::Newton;
use crate::solver::coordinate::{Columns, Score};
use crate::threads;

/// Sweeps of one round, at most.
const SWEEPS: usize = 200;
/// Columns that a thread takes at a time.
const COLUMNS: usize = 32;
/// A round ends when what still moves is so small next to what moved it to start.
pub(super) const ENOUGH: f64 = 0.1;

/// x, and everything that a round of sweeps needs.
///
/// A round: unit by unit, x_c ← prox_{g_c/L_c}(x_c − ∇_cf(x)/L_c) with L_c = max(σ₁(A_c)²·sup h″, 2ρ_c), the exact minimiser
/// along c for a single entry under squares; after six sweeps an extrapolation, kept when F falls by it. Where ρ_c exceeds
/// the curvature of f the exact minimiser may not be unique; the longer L_c makes a step that never raises F. Losses that are not
/// quadratic are swept as quadratic models ([`newton`](super::newton)) as long as that lowers F.
pub(super) struct Descent<S> {
    pub model: Model<S>,
    pub x: Vec<S>,
    /// ∇f(x) at the last evaluation.
    pub grad: Vec<S>,
    /// f(x) at the last evaluation.
    pub f_x: f64,
    /// Unit c is `entries[offsets[c]..offsets[c + 1]]`.
    pub(super) entries: Vec<usize>,
    pub(super) offsets: Vec<usize>,
    /// σ₁(A_c)²·sup h″.
    curvature: Vec<f64>,
    /// How far each unit is from stationary.
    pub scores: Vec<f64>,
    /// The units of this round, ascending, and their entries.
    pub set: Vec<usize>,
    pub(super) set_entries: Vec<usize>,
    pub(super) newton: Newton<S>,
    anderson: Anderson<S>,
    extrapolated: Vec<S>,
    pub(super) unit: Vec<S>,
}

impl<S: Real> Descent<S> {
    /// The units of g; g itself may change as long as its units do not.
    pub fn new(
        f: &dyn Smooth<S>,
        g: &dyn Coordinates<S>,
        columns: Option<Arc<Columns<S>>>,
        x0: &[S],
    ) -> Result<Self, Error> {
        let mut model = Model::new(f, columns)?;
        let (mut entries, mut offsets) = (Vec::new(), vec![0]);
        for c in 0..g.units() {
            g.members(c, &mut entries);
            offsets.push(entries.len());
        }
        Error::expect_len("entries of the penalty's units", x0.len(), entries.len())?;
        let curvature: Vec<f64> = offsets.windows(2).map(|w| model.curvature(&entries[w[0]..w[1]])).collect();
        let largest = offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let (units, n) = (curvature.len(), x0.len());
        let newton = Newton::new(model.newton_rows(), units, n);
        Ok(Self {
            model,
            x: x0.to_vec(),
            grad: vec![S::ZERO; n],
            f_x: f64::NAN,
            entries,
            offsets,
            curvature,
            scores: vec![0.0; units],
            set: Vec::with_capacity(units),
            set_entries: Vec::with_capacity(n),
            newton,
            anderson: Anderson::new(n),
            extrapolated: vec![S::ZERO; n],
            unit: vec![S::ZERO; largest],
        })
    }

    pub fn units(&self) -> usize {
        self.curvature.len()
    }

    pub fn members(&self, c: usize) -> &[usize] {
        &self.entries[self.offsets[c]..self.offsets[c + 1]]
    }

    /// Some entry of unit c is not zero.
    pub fn is_active(&self, c: usize) -> bool {
        self.members(c).iter().any(|&i| self.x[i] != S::ZERO)
    }

    /// L_c.
    fn modulus(&self, g: &dyn Coordinates<S>, c: usize) -> f64 {
        let modulus = self.curvature[c].max(2.0 * g.rho_of(c));
        if modulus > 0.0 { modulus } else { 1.0 }
    }

    /// f(x) and ∇f(x), from x alone.
    pub fn evaluate(&mut self) {
        self.f_x = self.model.stand(&self.x);
        let (model, entries) = (&self.model, self.model.columns.entries());
        // A column is one thread's: who that is changes nothing.
        threads::share(entries / 4, self.grad.chunks_mut(COLUMNS).enumerate(), |(i, grad)| {
            for (j, grad) in grad.iter_mut().enumerate() {
                *grad = S::of(model.partial(i * COLUMNS + j));
            }
        });
    }

    /// L_c‖x_c − prox_{g_c/L_c}(x_c − ∇_cf/L_c)‖ for every unit, from the gradient of the last evaluation; returns the largest.
    /// At x_c = 0 it is the distance from −∇_cf to ∂g_c(0).
    pub fn score(&mut self, g: &dyn Coordinates<S>) -> Score {
        let mut score = Score::default();
        for c in 0..self.units() {
            let modulus = self.modulus(g, c);
            let (members, unit) = (self.offsets[c]..self.offsets[c + 1], &mut self.unit);
            let unit = &mut unit[..members.len()];
            for (u, &i) in unit.iter_mut().zip(&self.entries[members.clone()]) {
                *u = self.x[i] - S::of(self.grad[i].f64() / modulus);
            }
            g.prox_of(c, unit, 1.0 / modulus);
            let moves = unit.iter().zip(&self.entries[members]).map(|(u, &i)| (u.f64() - self.x[i].f64()).powi(2));
            self.scores[c] = modulus * moves.sum::<f64>().sqrt();
            score.largest = score.largest.max(self.scores[c]);
            score.squared += self.scores[c].powi(2);
        }
        score
    }

    /// The least t ≥ 1 at which 0 is stationary for t²g(·/t), where x = 0 and its gradient is known: ‖∇_cf(0)‖ ≤ t·(the kink of g_c).
    pub fn first_dilation(&self, g: &dyn Coordinates<S>) -> f64 {
        let ratio = |c: usize| {
            let slope = self.members(c).iter().map(|&i| self.grad[i].f64().powi(2)).sum::<f64>().sqrt();
            let kink = g.threshold_of(c);
            if kink > 0.0 { slope / kink } else { 1.0 }
        };
        (0..self.units()).map(ratio).filter(|t| t.is_finite()).fold(1.0, f64::max)
    }

    /// Σ_c g_c(x_c).
    pub fn penalty(&mut self, g: &dyn Coordinates<S>) -> f64 {
        (0..self.units()).map(|c| self.penalty_of(g, c)).sum()
    }

    fn penalty_of(&mut self, g: &dyn Coordinates<S>, c: usize) -> f64 {
        let members = &self.entries[self.offsets[c]..self.offsets[c + 1]];
        self.unit.iter_mut().zip(members).for_each(|(u, &i)| *u = self.x[i]);
        g.value_of(c, &mut self.unit[..members.len()])
    }

    /// Sweeps over the set until nothing moves by much more than `ENOUGH` of the largest score; `go_on` is asked after each,
    /// and its last answer returned.
    pub fn round(
        &mut self,
        g: &dyn Coordinates<S>,
        largest: f64,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.set_entries.clear();
        for &c in &self.set {
            self.set_entries.extend_from_slice(&self.entries[self.offsets[c]..self.offsets[c + 1]]);
        }
        if self.model.link != Link::Squares && self.newton_round(g, largest, go_on)? {
            return ControlFlow::Continue(());
        }
        self.anderson.clear();
        for _ in 0..SWEEPS {
            let moved = self.sweep(g);
            if moved <= ENOUGH * largest || moved.is_nan() {
                break;
            }
            if self.anderson.push(self.set_entries.iter().map(|&i| self.x[i])) {
                self.extrapolate(g);
            }
            go_on()?;
        }
        ControlFlow::Continue(())
    }

    /// One pass over the set; returns the largest L_c‖change of x_c‖.
    fn sweep(&mut self, g: &dyn Coordinates<S>) -> f64 {
        let mut largest = 0.0;
        for at in 0..self.set.len() {
            let moved = self.step(g, self.set[at]);
            largest = if moved <= largest { largest } else { moved };
        }
        largest
    }

    /// x_c ← prox_{g_c/L_c}(x_c − ∇_cf(x)/L_c); returns L_c‖change‖.
    fn step(&mut self, g: &dyn Coordinates<S>, c: usize) -> f64 {
        let modulus = self.modulus(g, c);
        let members = self.offsets[c]..self.offsets[c + 1];
        let unit = &mut self.unit[..members.len()];
        for (u, &i) in unit.iter_mut().zip(&self.entries[members.clone()]) {
            *u = self.x[i] - S::of(self.model.partial(i) / modulus);
        }
        g.prox_of(c, unit, 1.0 / modulus);
        let mut squared = 0.0;
        for (&u, &i) in unit.iter().zip(&self.entries[members]) {
            let change = u.f64() - self.x[i].f64();
            if change != 0.0 {
                self.model.shift(i, change);
                self.x[i] = u;
                squared += change * change;
            }
        }
        modulus * squared.sqrt()
    }

    /// Goes to the Anderson combination of the last points of the set, when F is lower there.
    fn extrapolate(&mut self, g: &dyn Coordinates<S>) {
        let size = self.set_entries.len();
        if !self.anderson.combine(&mut self.extrapolated[..size]) {
            return;
        }
        let before = self.model.value() + self.set_penalty(g);
        self.model.keep();
        for at in 0..size {
            let i = self.set_entries[at];
            let change = self.extrapolated[at].f64() - self.x[i].f64();
            self.model.move_only(i, change);
            std::mem::swap(&mut self.x[i], &mut self.extrapolated[at]);
        }
        let after = self.model.value() + self.set_penalty(g);
        if after >= before || after.is_nan() {
            self.model.go_back();
            for (&i, &v) in self.set_entries.iter().zip(&self.extrapolated) {
                self.x[i] = v;
            }
        }
    }

    pub(super) fn set_penalty(&mut self, g: &dyn Coordinates<S>) -> f64 {
        (0..self.set.len()).map(|at| self.penalty_of(g, self.set[at])).sum()
    }
}
