//! Coordinate descent on a working set, for one loss and any penalty that is a sum over units.

use std::ops::ControlFlow;

use crate::error::Error;
use crate::penalty::Coordinates;
use crate::real::Real;
use crate::solver::coordinate::Score;
use crate::solver::coordinate::anderson::Anderson;
use crate::solver::coordinate::model::Model;
use crate::solver::coordinate::newton::Newton;
use crate::threads;

/// Sweeps of one round, at most.
const SWEEPS: usize = 200;
/// One sweep in so many is over the whole set, the others over what is not zero of it.
pub(super) const WHOLE: usize = 6;
/// Columns that a thread takes at a time.
const COLUMNS: usize = 32;
/// A round ends when what still moves is so small next to what moved it to start.
pub(super) const ENOUGH: f64 = 0.1;

/// x, and everything that a round of sweeps needs.
///
/// A round: unit by unit, x_c ← prox_{g_c/L_c}(x_c − ∇_cf(x)/L_c) with L_c = max(σ₁(A_c)²·sup H″, 2ρ_c), the exact minimiser
/// along c for a single entry under squares; after six sweeps an extrapolation, kept when F falls by it. Where ρ_c exceeds
/// the curvature of f the exact minimiser may not be unique; the longer L_c makes a step that never raises F. Losses that are not
/// quadratic are swept as quadratic models ([`newton`](super::newton)) as long as that lowers F.
pub(super) struct Descent<'d, S: Clone> {
    pub model: Model<'d, S>,
    pub x: Vec<S>,
    /// ∇f(x) at the last evaluation.
    pub grad: Vec<S>,
    /// f(x) at the last evaluation.
    pub f_x: f64,
    /// Unit c is `entries[offsets[c]..offsets[c + 1]]`.
    pub(super) entries: Vec<usize>,
    pub(super) offsets: Vec<usize>,
    /// σ₁(A_c)².
    squares: Vec<f64>,
    /// sup H″, or what it is where x stands.
    curvature: f64,
    /// The kink of each unit at 0, for the penalty of the last `face`.
    kinks: Vec<f64>,
    /// How far each unit is from stationary.
    pub scores: Vec<f64>,
    /// The units with an entry that is not zero, at the last `score`.
    pub(super) active: Vec<usize>,
    /// The units of this round, in the order of a sweep, and their entries.
    pub set: Vec<usize>,
    pub(super) set_entries: Vec<usize>,
    pub(super) newton: Newton<S>,
    anderson: Anderson<S>,
    extrapolated: Vec<S>,
    pub(super) unit: Vec<S>,
}

impl<'d, S: Real> Descent<'d, S> {
    /// The units of g; g itself may change as long as its units do not. Stands at x₀, evaluated.
    pub fn new(mut model: Model<'d, S>, g: &dyn Coordinates<S>, x0: &[S]) -> Result<Self, Error> {
        let (mut entries, mut offsets) = (Vec::with_capacity(x0.len()), Vec::with_capacity(g.units() + 1));
        offsets.push(0);
        for c in 0..g.units() {
            g.members(c, &mut entries);
            offsets.push(entries.len());
        }
        Error::expect_len("entries of the penalty's units", x0.len(), entries.len())?;
        let f_x = model.stand(x0);
        let (grad, squares) = gradient_and_squares(&model, x0.len());
        let of_unit = |span: &[usize]| match &entries[span[0]..span[1]] {
            &[j] => squares[j],
            members => model.square(members),
        };
        let squares: Vec<f64> = offsets.windows(2).map(of_unit).collect();
        let curvature = model.curvature();
        let largest = offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let (units, n) = (squares.len(), x0.len());
        let newton = Newton::new(model.newton_rows(), units, n);
        Ok(Self {
            model,
            x: x0.to_vec(),
            grad,
            f_x,
            entries,
            offsets,
            squares,
            curvature,
            kinks: vec![0.0; units],
            scores: vec![0.0; units],
            active: Vec::with_capacity(units),
            set: Vec::with_capacity(2 * units),
            set_entries: Vec::with_capacity(n),
            newton,
            anderson: Anderson::new(n),
            extrapolated: vec![S::ZERO; n],
            unit: vec![S::ZERO; largest],
        })
    }

    pub fn units(&self) -> usize {
        self.squares.len()
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
        let modulus = (self.curvature * self.squares[c]).max(2.0 * g.rho_of(c));
        if modulus > 0.0 { modulus } else { 1.0 }
    }

    /// f(x) and ∇f(x), from x alone.
    pub fn evaluate(&mut self) {
        self.f_x = self.model.stand(&self.x);
        self.differentiate();
    }

    /// The same from y as sweeps left it: good to their rounding.
    pub fn evaluate_here(&mut self) {
        self.f_x = self.model.value();
        self.differentiate();
    }

    fn differentiate(&mut self) {
        self.curvature = self.model.curvature();
        let (model, entries) = (&self.model, self.model.columns.entries());
        // A column is one thread's: who that is changes nothing.
        threads::share(entries / 4, self.grad.chunks_mut(COLUMNS).enumerate(), |(i, grad)| {
            for (j, grad) in grad.iter_mut().enumerate() {
                *grad = S::of(model.partial(i * COLUMNS + j));
            }
        });
    }

    /// Another penalty with the same units.
    pub fn face(&mut self, g: &dyn Coordinates<S>) {
        self.kinks.iter_mut().enumerate().for_each(|(c, kink)| *kink = g.threshold_of(c));
    }

    /// L_c‖x_c − prox_{g_c/L_c}(x_c − ∇_cf/L_c)‖ for every unit, from the gradient of the last evaluation; returns the largest.
    /// At x_c = 0 it is the distance from −∇_cf to ∂g_c(0): none where ‖∇_cf‖ is below the kink.
    pub fn score(&mut self, g: &dyn Coordinates<S>) -> Score {
        let mut score = Score::default();
        self.active.clear();
        for c in 0..self.units() {
            let members = &self.entries[self.offsets[c]..self.offsets[c + 1]];
            let mut squared = 0.0;
            let mut zero = true;
            for &i in members {
                squared += self.grad[i].f64() * self.grad[i].f64();
                zero &= self.x[i] == S::ZERO;
            }
            if !zero {
                self.active.push(c);
            } else if self.kinks[c] > 0.0 && squared <= self.kinks[c] * self.kinks[c] {
                self.scores[c] = 0.0;
                continue;
            }
            self.scores[c] = self.score_of(g, c);
            score.largest = score.largest.max(self.scores[c]);
            score.squared += self.scores[c].powi(2);
        }
        score
    }

    fn score_of(&mut self, g: &dyn Coordinates<S>, c: usize) -> f64 {
        let modulus = self.modulus(g, c);
        let members = &self.entries[self.offsets[c]..self.offsets[c + 1]];
        let unit = &mut self.unit[..members.len()];
        for (u, &i) in unit.iter_mut().zip(members) {
            *u = self.x[i] - S::of(self.grad[i].f64() / modulus);
        }
        g.prox_of(c, unit, 1.0 / modulus);
        let moves = unit.iter().zip(members).map(|(u, &i)| (u.f64() - self.x[i].f64()).powi(2));
        modulus * moves.sum::<f64>().sqrt()
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
        // Where nothing bounds H″, nothing is known of plain sweeps.
        if !self.model.is_plain() && (self.newton_round(g, largest, go_on)? || !self.model.is_bounded()) {
            return ControlFlow::Continue(());
        }
        self.anderson.clear();
        let mut whole = true;
        for sweep in 0..SWEEPS {
            let moved = self.sweep(g, whole);
            let enough = moved <= ENOUGH * largest || moved.is_nan();
            if enough && whole {
                break;
            }
            whole = enough || (sweep + 1) % WHOLE == 0;
            if self.anderson.push(self.set_entries.iter().map(|&i| self.x[i])) {
                self.extrapolate(g);
            }
            go_on()?;
        }
        ControlFlow::Continue(())
    }

    /// One pass over the set, or over what is not zero of it; returns the largest L_c‖change of x_c‖.
    fn sweep(&mut self, g: &dyn Coordinates<S>, whole: bool) -> f64 {
        let mut largest = 0.0;
        for at in 0..self.set.len() {
            let c = self.set[at];
            if whole || self.is_active(c) {
                let moved = self.step(g, c);
                largest = if moved <= largest { largest } else { moved };
            }
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

/// ∇f where the model stands, and ‖a_j‖² of every column.
fn gradient_and_squares<S: Real>(model: &Model<'_, S>, n: usize) -> (Vec<S>, Vec<f64>) {
    let (mut grad, mut squares) = (vec![S::ZERO; n], vec![0.0; n]);
    let parts = grad.chunks_mut(COLUMNS).zip(squares.chunks_mut(COLUMNS)).enumerate();
    threads::share(model.columns.entries() / 4, parts, |(i, (grad, squares))| {
        for (j, (grad, square)) in grad.iter_mut().zip(squares).enumerate() {
            let (partial, own) = model.partial_and_square(i * COLUMNS + j);
            (*grad, *square) = (S::of(partial), own);
        }
    });
    (grad, squares)
}
