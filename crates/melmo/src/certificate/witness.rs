//! Whom a certificate asks: whoever holds the point and evaluates the terms there.

use crate::certificate::rounding::Allowance;
use crate::certificate::{Seen, Stationarity};
use crate::geometry::{BlockNorm, Bracket};
use crate::guarantee::Facts;
use crate::real::Real;

/// The dual side of a certificate, where the witness has u at hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// β.
    pub beta: f64,
    /// u is what the witness was shown last; otherwise it is Tx.
    pub stored: bool,
}

impl Shown {
    /// u = Tx: what a method that smooths shows.
    pub fn smoothed(beta: f64) -> Self {
        Self { beta, stored: false }
    }

    /// u = z + βw, from the largest |zᵢ| and |wᵢ|: with the largest convenient β, a power of two. βw is about as large as z, so that
    /// rounding of u costs few digits of either, and β ≤ `limit`, which is 1/(2ρ).
    pub fn of_pair([z, w]: [f64; 2], limit: f64) -> Self {
        let ratio = if z / w > 0.0 && (z / w).is_finite() { z / w } else { 1.0 };
        let beta = ratio.min(limit).clamp(f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        Self { beta: 2f64.powi(beta.log2().floor() as i32), stored: true }
    }
}

/// Looks at (x, u, β) and answers what a certificate asks. Every number is that of the whole problem, wherever its parts are; vectors
/// are the part that is held here.
pub trait Witness {
    /// The numbers that x is made of.
    type Real: Real;
    /// A point.
    type Point: ?Sized;

    /// The constants of the terms.
    fn facts(&self) -> Facts;

    /// Evaluates everything at x. What follows speaks of the last look.
    fn look(&mut self, x: &Self::Point, shown: Shown) -> Seen;

    /// u ← z + βw for the z and w that were seen, with the largest convenient β.
    fn strengthen(&mut self) -> Shown;

    /// Proven bounds on ‖v‖_*, by the definition of the norm; none for a norm of a user's own.
    fn residual(&mut self, norms: &[BlockNorm]) -> Option<Bracket>;

    /// A lower bound on F*, rounded downwards, or the reason why there is none.
    fn lower_bound(
        &mut self,
        x: &Self::Point,
        seen: &Seen,
        allowance: &Allowance,
        radius: Option<f64>,
    ) -> Result<f64, String>;

    /// x̃ = x + R(z − Tx) for surjective T, with what holds there; it uses up what was seen. Allocates.
    fn near(&mut self, x: &Self::Point) -> Option<Stationarity<Self::Real>>;

    /// `to` ← Tx.
    fn image(&mut self, x: &Self::Point, to: &mut Vec<Self::Real>);

    /// `to` ← u, as it was shown.
    fn u(&mut self, to: &mut Vec<Self::Real>);

    /// `to` ← z.
    fn z(&mut self, to: &mut Vec<Self::Real>);

    /// u, given away: nothing else is asked of this look but z. A large point is not there twice.
    fn give_u(&mut self) -> Vec<Self::Real> {
        let mut u = Vec::new();
        self.u(&mut u);
        u
    }

    /// z, given away: nothing else is asked of this look.
    fn give_z(&mut self) -> Vec<Self::Real> {
        let mut z = Vec::new();
        self.z(&mut z);
        z
    }
}
