//! The two number types, `f32` and `f64`.
//!
//! Arrays hold a [`Real`]; every scalar that crosses a trait boundary (β, γ, objective values, norms) is an `f64`, so that
//! sums over millions of single-precision entries keep their digits and reports look the same in both precisions.

use std::fmt::{Debug, Display, LowerExp};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use melmo_base::cosines::Cosines;
use melmo_base::fourier::Fourier;

use crate::catalogue::Tables;
use crate::linalg::Dense;

/// A floating-point number that arrays are made of: `f32` or `f64`, and no other (the trait is sealed).
pub trait Real:
    Dense
    + Cosines
    + Fourier
    + Tables
    + Copy
    + PartialOrd
    + Default
    + Debug
    + Display
    + LowerExp
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + serde::Serialize
    + serde::de::DeserializeOwned
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The distance from 1 to the next larger number.
    const EPSILON: f64;
    /// The least number above 0 that has all its digits.
    const SMALLEST: f64;
    /// The name that users type: `f32` or `f64`.
    const NAME: &'static str;
    /// The nearest number of this type.
    fn of(v: f64) -> Self;
    /// The same number as an `f64`.
    fn f64(self) -> f64;
    /// √self.
    fn sqrt(self) -> Self;
    /// |self|.
    fn abs(self) -> Self;
    /// |self| with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// exp(self).
    fn exp(self) -> Self;
    /// log(1 + self), accurate near 0.
    fn ln_1p(self) -> Self;
    /// self·b + c, rounded once: one instruction where [`crate::vector::simd`] finds it, else a slow function.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;

    /// The larger of two numbers by one comparison; `other` when `self` is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    /// The smaller of two numbers by one comparison; `other` when `self` is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    /// −1, 0 or 1, with sign(0) = 0.
    #[inline(always)]
    fn sign(self) -> Self {
        if self > Self::ZERO {
            Self::ONE
        } else if self < Self::ZERO {
            -Self::ONE
        } else {
            Self::ZERO
        }
    }
}

macro_rules! real {
    ($($t:ident),*) => {$(
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: f64 = $t::EPSILON as f64;
            const SMALLEST: f64 = $t::MIN_POSITIVE as f64;
            const NAME: &'static str = stringify!($t);
            #[inline(always)]
            fn of(v: f64) -> Self { v as $t }
            #[inline(always)]
            fn f64(self) -> f64 { self as f64 }
            #[inline(always)]
            fn sqrt(self) -> Self { <$t>::sqrt(self) }
            #[inline(always)]
            fn abs(self) -> Self { <$t>::abs(self) }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self { <$t>::copysign(self, sign) }
            #[inline(always)]
            fn exp(self) -> Self { <$t>::exp(self) }
            #[inline(always)]
            fn ln_1p(self) -> Self { <$t>::ln_1p(self) }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self { <$t>::mul_add(self, b, c) }
            #[inline(always)]
            fn is_finite(self) -> bool { <$t>::is_finite(self) }
        }
    )*};
}
real!(f32, f64);
