//! The tables for each number type, compiled here once: a program that builds from them does not compile every term again.

use crate::catalogue::{GeometryRow, LossRow, MethodRow, OperatorRow, PenaltyRow};
use crate::real::Real;

/// The rows of one number type. Sealed with [`Real`]: implemented for `f32` and `f64` only.
pub trait Tables: Sized {
    /// The rows of [`geometries`](fn@super::geometries).
    fn geometries() -> Vec<GeometryRow<Self>>;
    /// The rows of [`losses`](fn@super::losses).
    fn losses() -> Vec<LossRow<Self>>;
    /// The rows of [`methods`](fn@super::methods).
    fn methods() -> Vec<MethodRow<Self>>;
    /// The rows of [`operators`](fn@super::operators).
    fn operators() -> Vec<OperatorRow<Self>>;
    /// The rows of [`penalties`](fn@super::penalties).
    fn penalties() -> Vec<PenaltyRow<Self>>;
}

macro_rules! tables {
    ($($t:ty),*) => {$(
        impl Tables for $t {
            fn geometries() -> Vec<GeometryRow<Self>> {
                super::geometries::rows()
            }
            fn losses() -> Vec<LossRow<Self>> {
                super::losses::rows()
            }
            fn methods() -> Vec<MethodRow<Self>> {
                super::methods::rows()
            }
            fn operators() -> Vec<OperatorRow<Self>> {
                super::operators::rows()
            }
            fn penalties() -> Vec<PenaltyRow<Self>> {
                super::penalties::rows()
            }
        }
    )*};
}
tables!(f32, f64);

/// Every geometry of one block.
pub fn geometries<S: Real>() -> Vec<GeometryRow<S>> {
    S::geometries()
}

/// Every loss.
pub fn losses<S: Real>() -> Vec<LossRow<S>> {
    S::losses()
}

/// Every method: the paper's and its baselines, what goes past it, and the competitors.
pub fn methods<S: Real>() -> Vec<MethodRow<S>> {
    S::methods()
}

/// Every operator.
pub fn operators<S: Real>() -> Vec<OperatorRow<S>> {
    S::operators()
}

/// Every penalty of one number.
pub fn penalties<S: Real>() -> Vec<PenaltyRow<S>> {
    S::penalties()
}
