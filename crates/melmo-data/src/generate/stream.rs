//! Random numbers that are the same on every machine.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// PCG XSL RR 128/64 (O'Neill 2014), with normal numbers by the polar method of Marsaglia.
///
/// Integers and +, −, ×, ÷, √ have one result anywhere. A logarithm has not: systems differ in its last bit, so it comes
/// from `libm`, which is the same code everywhere.
pub(super) struct Stream(Pcg64);

impl Stream {
    pub(super) fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal.
    pub(super) fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if 0.0 < s && s < 1.0 {
                return u * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    /// n standard normal numbers.
    pub(super) fn normals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }

    /// Uniform in 0..n, for n > 0: the bits above the last multiple of n are drawn again.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        let multiple = u64::MAX - u64::MAX % n;
        loop {
            let bits = self.0.next_u64();
            if bits < multiple {
                return bits % n;
            }
        }
    }
}
