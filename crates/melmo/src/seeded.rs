//! Reproducible numbers for examples, tests and starts: the same seed gives the same numbers on every machine.

use crate::real::Real;

/// SplitMix64 (Steele, Lea & Flood 2014), with normal numbers by the polar method of Marsaglia.
#[derive(Clone, Debug)]
pub struct Seeded {
    state: u64,
}

impl Seeded {
    /// A stream of its own for every seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if 0.0 < s && s < 1.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// n standard normal numbers.
    pub fn normals<S: Real>(&mut self, n: usize) -> Vec<S> {
        (0..n).map(|_| S::of(self.normal())).collect()
    }

    /// n entries that are 1 with the given probability and 0 otherwise.
    pub fn mask<S: Real>(&mut self, n: usize, probability: f64) -> Vec<S> {
        (0..n).map(|_| if self.uniform() < probability { S::ONE } else { S::ZERO }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_are_those_of_the_reference() {
        let mut seeded = Seeded::new(1234567);
        assert_eq!(seeded.bits(), 6457827717110365317);
        assert_eq!(seeded.bits(), 3203168211198807973);
    }

    #[test]
    fn normals_have_mean_0_and_variance_1() {
        let x: Vec<f64> = Seeded::new(7).normals(20000);
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
