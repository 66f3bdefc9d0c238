//! Numbers of 106 digits, as sums of two, and singular values in them by one-sided Jacobi rotations: the tests' reference.

use std::ops::{Add, Mul, Sub};

use crate::real::Real;

/// high + low, |low| at most half a unit of high.
#[derive(Clone, Copy, Debug)]
pub(super) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    pub fn high(self) -> f64 {
        self.high
    }

    pub fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::from(0.0);
        }
        let root = Self::from(self.high.sqrt());
        root + (self - root * root) * Self::from(0.5 / root.high)
    }

    fn over(self, by: Self) -> Self {
        let quotient = Self::from(self.high / by.high);
        let rest = self - quotient * by;
        quotient + Self::from(rest.high / by.high)
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

fn joined(a: f64, b: f64, low: f64) -> Double {
    let sum = a + b;
    let part = sum - a;
    let low = (a - (sum - part)) + (b - part) + low;
    let high = sum + low;
    Double { high, low: low - (high - sum) }
}

impl Add for Double {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        joined(self.high, b.high, self.low + b.low)
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        joined(self.high, -b.high, self.low - b.low)
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let high = self.high * b.high;
        let low = self.high.mul_add(b.high, -high) + (self.high * b.low + self.low * b.high);
        joined(high, low, 0.0)
    }
}

/// Σσᵢ and σ₁ of the entries times `scale`, a power of two.
pub(super) fn singular_values<S: Real>(x: &[S], rows: usize, cols: usize, scale: f64) -> (Double, Double) {
    let norms = column_norms(x, rows, cols, scale);
    let zero = Double::from(0.0);
    let largest = norms.iter().fold(zero, |m, &v| if v.high > m.high { v } else { m });
    (norms.iter().fold(zero, |sum, &v| sum + v), largest)
}

/// The norms of the columns (of the rows where they are fewer), after rotations that make them orthogonal: the singular values.
pub(super) fn column_norms<S: Real>(x: &[S], rows: usize, cols: usize, scale: f64) -> Vec<Double> {
    let (short, long) = (rows.min(cols), rows.max(cols));
    let at = |i: usize, j: usize| if rows >= cols { x[i * cols + j] } else { x[j * cols + i] };
    let mut columns: Vec<Vec<Double>> =
        (0..short).map(|j| (0..long).map(|i| Double::from(at(i, j).f64() * scale)).collect()).collect();
    for _ in 0..40 {
        let mut turned = false;
        for p in 0..short {
            for q in p + 1..short {
                turned |= rotate(&mut columns, p, q);
            }
        }
        if !turned {
            break;
        }
    }
    columns.iter().map(|column| dot(column, column).sqrt()).collect()
}

fn dot(a: &[Double], b: &[Double]) -> Double {
    a.iter().zip(b).fold(Double::from(0.0), |sum, (&a, &b)| sum + a * b)
}

/// Makes two columns orthogonal; whether they were not.
fn rotate(columns: &mut [Vec<Double>], p: usize, q: usize) -> bool {
    let (alpha, beta, gamma) =
        (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]), dot(&columns[p], &columns[q]));
    if gamma.high.abs() <= 1e-30 * (alpha.high * beta.high).sqrt() || gamma.high == 0.0 {
        return false;
    }
    let one = Double::from(1.0);
    let zeta = (beta - alpha).over(gamma + gamma);
    let size = if zeta.high < 0.0 { Double::from(0.0) - zeta } else { zeta };
    let mut t = one.over(size + (one + zeta * zeta).sqrt());
    if zeta.high < 0.0 {
        t = Double::from(0.0) - t;
    }
    let c = one.over((one + t * t).sqrt());
    let s = c * t;
    let (head, tail) = columns.split_at_mut(q);
    for (a, b) in head[p].iter_mut().zip(&mut tail[0]) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
    true
}
