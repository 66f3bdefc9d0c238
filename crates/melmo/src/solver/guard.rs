//! Momentum has to pay: every few points F_β must have fallen by what a plain step promises, or they are taken back.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::real::Real;
use crate::solver::state::{count, finite};
use crate::space::Space;

/// Extrapolated points between two checks, and 1/c of `docs/theory.md`.
pub(crate) const EVERY: u64 = 4;

/// Watches V = F_β(y) − p, the bound that the step from y promises for F_β where it lands: p = ½‖φ‖²_*/L.
///
/// Every [`EVERY`] points V has to have fallen by the mean of their p, from its value at the last check; what shrinking β may
/// have raised since is allowed for. Otherwise the next point is where the step from the last check landed, without
/// extrapolation: from there a plain step is proven to lower V by p (`docs/theory.md`).
pub(super) struct Guard<X: Space> {
    /// Where the step from the last check landed.
    pub anchor: X::Point,
    /// V at the last check; ∞ before the first.
    value: f64,
    /// Σp over the points since.
    promised: f64,
    /// What shrinking β since may have raised.
    raised: f64,
    /// Points since.
    since: u64,
}

impl<X: Space> Guard<X> {
    pub fn new(space: &mut X) -> Self {
        Self { anchor: space.point(), value: f64::INFINITY, promised: 0.0, raised: 0.0, since: 0 }
    }

    /// Forgets everything: the next point is checked, and passes.
    pub fn reset(&mut self) {
        (self.value, self.promised, self.raised, self.since) = (f64::INFINITY, 0.0, 0.0, 0);
    }

    /// The step from the last point checked has not landed yet.
    pub fn landing(&self) -> bool {
        self.since == 0
    }

    /// Takes in a point whose step promises p; true when it has to be checked.
    pub fn due(&mut self, promised: f64) -> bool {
        self.since += 1;
        self.promised += promised;
        self.since >= EVERY || self.value.is_infinite()
    }

    /// Whether V has fallen by enough.
    pub fn paid(&self, v: f64) -> bool {
        let rounding = 8.0 * X::Real::EPSILON * v.abs();
        v <= self.value + self.raised - self.promised / EVERY as f64 + rounding
    }

    /// Measures from V on.
    pub fn begin(&mut self, v: f64) {
        (self.value, self.promised, self.raised, self.since) = (v, 0.0, 0.0, 0);
    }

    /// β has shrunk: F_β may have risen by so much.
    pub fn allow(&mut self, raised: f64) {
        self.raised += raised;
    }

    /// What a saved state needs.
    pub fn save(&self) -> Checked {
        let value = if self.value.is_finite() { self.value } else { 0.0 };
        Checked { value, promised: self.promised, raised: self.raised, since: self.since }
    }

    /// Takes it up.
    pub fn restore(&mut self, checked: &Checked) -> Result<(), Error> {
        let Checked { value, promised, raised, since } = *checked;
        finite([value, promised, raised])?;
        (self.value, self.promised, self.raised, self.since) = (value, promised, raised, count(since)?);
        Ok(())
    }
}

/// The last check of a [`Guard`], and what came since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Checked {
    value: f64,
    promised: f64,
    raised: f64,
    since: u64,
}
