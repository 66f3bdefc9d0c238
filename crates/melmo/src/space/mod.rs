//! Where a variable lives, and what is evaluated there: the one seam between solvers and slices, devices or ranks.
//!
//! A solver touches no entry of x. It needs gradients, an oracle, moves, a few sums and copies, and asks a [`Space`] for them; terms and
//! geometries stay on slices. [`Host`] is this machine's memory. On several ranks each holds a part of x, and every number that a
//! space returns is that of the whole: all ranks see the same numbers and take the same steps.

mod host;

pub use host::Host;

use std::borrow::Borrow;

use crate::certificate::{Shown, Witness};
use crate::error::Error;
use crate::geometry::{Answer, BlockNorm};
use crate::guarantee::Facts;
use crate::problem::Evaluation;
use crate::real::Real;

/// A problem and a norm, and points that only this space can read.
///
/// Points are made before the first step ([`Space::point`]); nothing here allocates afterwards, except what says so.
pub trait Space: Send {
    /// The numbers that x is made of.
    type Real: Real;
    /// A point x, or a gradient.
    type Point: Borrow<<Self::Witness as Witness>::Point> + Send;
    /// A point in the range of T.
    type Image: Send;
    /// M with a cheap inverse, where there is one; [`Infallible`](std::convert::Infallible) where there is none.
    type Metric: Send;
    /// Whom certificates ask.
    type Witness: Witness<Real = Self::Real>;

    /// Entries of x that are held here: what [`Space::read`] and [`Space::write`] speak of.
    fn size(&self) -> usize;

    /// The constants of the whole problem, in ‖·‖₂.
    fn facts(&self) -> Facts;

    /// The norm of the steps, as data.
    fn norms(&self) -> Vec<BlockNorm>;

    /// Whoever looks at points for certificates; makes its room when it is asked for first.
    fn witness(&mut self) -> &mut Self::Witness;

    /// A new point, 0. Allocates.
    fn point(&mut self) -> Self::Point;

    /// A new point in the range of T, 0. Allocates.
    fn image(&mut self) -> Self::Image;

    /// The entries of x from `at` on ← `from`: a point can be filled piece by piece, and no host need hold all of it.
    fn write(&mut self, x: &mut Self::Point, at: usize, from: &[Self::Real]);

    /// `to` ← the entries of x from `at` on.
    fn read(&mut self, x: &Self::Point, at: usize, to: &mut [Self::Real]);

    /// y ← x.
    fn copy(&mut self, y: &mut Self::Point, x: &Self::Point);

    /// y ← x + ad.
    fn add_scaled(&mut self, y: &mut Self::Point, x: &Self::Point, a: f64, d: &Self::Point);

    /// y ← y + ax.
    fn add(&mut self, y: &mut Self::Point, a: f64, x: &Self::Point);

    /// y ← ay.
    fn scale(&mut self, y: &mut Self::Point, a: f64);

    /// y ← x + θ(x − before).
    fn extrapolate(&mut self, y: &mut Self::Point, x: &Self::Point, before: &Self::Point, theta: f64);

    /// ⟨a, b⟩.
    fn dot(&mut self, a: &Self::Point, b: &Self::Point) -> f64;

    /// ‖x‖₂².
    fn norm_squared(&mut self, x: &Self::Point) -> f64;

    /// ‖x‖₂, also where its square leaves the range of `f64`.
    fn norm(&mut self, x: &Self::Point) -> f64;

    /// φ ← ∇F_β(x).
    fn gradient(&mut self, phi: &mut Self::Point, x: &Self::Point, beta: f64) -> Evaluation;

    /// φ ← ∇f(x) + T*v with v ∈ ∂g(Tx), and Tx and v themselves; returns F(x).
    fn subgradient(&mut self, phi: &mut Self::Point, x: &Self::Point, tx: &mut Self::Image, v: &mut Self::Image)
    -> f64;

    /// g_β(Tx).
    fn envelope(&mut self, x: &Self::Point, beta: f64) -> f64;

    /// g(Tx).
    fn penalty(&mut self, x: &Self::Point) -> f64;

    /// Brackets ‖φ‖_*, and remembers what the direction needs. `squared` is ‖φ‖₂², where the evaluation found it.
    fn oracle(&mut self, phi: &Self::Point, squared: Option<f64>) -> Answer;

    /// y ← x + γd for the direction d of the last [`Space::oracle`], which saw this same φ.
    fn advance(&mut self, y: &mut Self::Point, x: &Self::Point, phi: &Self::Point, gamma: f64);

    /// y ← x + γd as [`Space::advance`] does, and φ ← ∇F_β(y): in one pass over memory where there is one.
    fn advance_and_evaluate(
        &mut self,
        y: &mut Self::Point,
        x: &Self::Point,
        phi: &mut Self::Point,
        [gamma, beta]: [f64; 2],
    ) -> Evaluation {
        in_turn(self, y, x, phi, [gamma, beta])
    }

    /// Whether memory is so short that a step writes where it reads, and the point before it is not kept ([`Space::step`]).
    fn is_frugal(&self) -> bool {
        false
    }

    /// x ← x + γd as [`Space::advance`] does, where it stands. Allocates in a space that is not frugal.
    fn step(&mut self, x: &mut Self::Point, phi: &Self::Point, gamma: f64) {
        let mut y = self.point();
        self.advance(&mut y, x, phi, gamma);
        self.copy(x, &y);
    }

    /// Why the place where x lives can compute no more, where it cannot: every number is NaN from then on.
    fn fault(&self) -> Option<String> {
        None
    }

    /// ‖φ‖_* to rounding.
    fn dual_norm(&mut self, phi: &Self::Point) -> f64;

    /// d ← M⁻¹d, M made for a step from x with β.
    fn solve(&mut self, metric: &mut Self::Metric, d: &mut Self::Point, x: &Self::Point, beta: f64);

    /// Shows the witness u = z + β′w for w = scaled/step ∈ ∂g(z).
    fn show(&mut self, z: &Self::Image, scaled: &Self::Image, step: f64) -> Shown;

    /// What the last oracle call started from. Allocates.
    fn warm_start(&self) -> Vec<Self::Real>;

    /// Takes up what [`Space::warm_start`] gave; nothing at all takes the oracle back to where it was when new.
    fn resume(&mut self, warm_start: &[Self::Real]);
}

/// A space whose loss is a sum of parts that can be evaluated a few at a time.
pub trait Sampled: Space {
    /// How many parts the loss has.
    fn samples(&self) -> usize;

    /// grad ← ∇f_B(x), whose mean over batches is ∇f(x).
    fn batch_gradient(&mut self, grad: &mut Self::Point, x: &Self::Point, batch: &[usize]);

    /// What ‖∇f_B(x)‖₂ is at most for every batch of one part, where the loss knows it without a pass over the data.
    fn part_bound(&mut self, x: &Self::Point) -> Option<f64>;

    /// φ ← φ + T*∇g_β(Tx); returns ‖∇g_β(Tx)‖₂².
    fn penalty_gradient_add(&mut self, phi: &mut Self::Point, x: &Self::Point, beta: f64) -> f64;
}

/// [`Space::advance_and_evaluate`] as two passes.
fn in_turn<X: Space + ?Sized>(
    space: &mut X,
    y: &mut X::Point,
    x: &X::Point,
    phi: &mut X::Point,
    [gamma, beta]: [f64; 2],
) -> Evaluation {
    space.advance(y, x, phi, gamma);
    space.gradient(phi, y, beta)
}

/// A point that stands at x₀; refuses a start of the wrong length, or with NaN or ∞ in it. Allocates.
pub(crate) fn start<X: Space>(space: &mut X, x0: &[X::Real]) -> Result<X::Point, Error> {
    Error::expect_len("start", space.size(), x0.len())?;
    Error::expect_finite("start", x0)?;
    let mut x = space.point();
    space.write(&mut x, 0, x0);
    Ok(x)
}
