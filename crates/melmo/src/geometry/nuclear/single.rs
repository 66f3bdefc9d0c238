//! G = XᵀX in single precision, at half the cost: products Gq for the iteration, and a proof that σ₁ is not much larger
//! than what it found, by a Cholesky factor of τ²I − G.
//!
//! The room for rounding is its usual size, with some to spare, which is what an iteration goes by (docs/brackets.md).

use super::{LOOSE, Shape, product};
use crate::linalg::Dense;
use crate::real::Real;

const EPSILON: f64 = f32::EPSILON as f64;

/// τ² is this much of the rounding above σ₁² as found, so that its true size does not spoil the factorisation.
const ROOM: f64 = 0.25;

pub(super) struct Single {
    shape: Shape,
    formed: bool,
    x: Vec<f32>,
    g: Vec<f32>,
    work: Vec<f32>,
}

impl Single {
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            formed: false,
            x: vec![0.0; shape.size()],
            g: vec![0.0; shape.square()],
            work: vec![0.0; f32::positive_definite_work_len(shape.short())],
        }
    }

    /// There is a new X: G is not formed.
    pub fn forget(&mut self) {
        self.formed = false;
    }

    pub fn is_formed(&self) -> bool {
        self.formed
    }

    pub fn form<S: Real>(&mut self, x: &[S]) {
        if !self.formed {
            self.x.iter_mut().zip(x).for_each(|(to, from)| *to = from.f64() as f32);
            self.shape.gram(&mut self.g, &self.x);
            self.formed = true;
        }
    }

    /// w ← Gq.
    pub fn product(&self, w: &mut [f64], q: &[f64]) {
        product::symmetric(w, &self.g, q);
    }

    /// Whether a proof above `lower` would be tight enough, for the given ‖X‖_F, which is 1 or so unless φ is extreme.
    pub fn serves(&self, lower: f64, frobenius: f64) -> bool {
        frobenius >= 0.5 && self.aim(lower, frobenius).1 <= lower * (1.0 + LOOSE)
    }

    /// An upper bound of σ₁ close to `lower`, if single precision can prove one. G is used up.
    pub fn upper<S: Real>(&mut self, lower: f64, frobenius: f64, x: &[S]) -> Option<f64> {
        if !self.serves(lower, frobenius) {
            return None;
        }
        self.form(x);
        self.formed = false;
        let (squared, upper) = self.aim(lower, frobenius);
        self.g.iter_mut().for_each(|g| *g = -*g);
        self.g.iter_mut().step_by(self.shape.short() + 1).for_each(|g| *g += squared);
        f32::positive_definite(&mut self.g, self.shape.short(), &mut self.work).then_some(upper)
    }

    /// τ², and the bound of σ₁ that a factor would prove.
    fn aim(&self, lower: f64, frobenius: f64) -> (f32, f64) {
        let rounding = self.rounding(frobenius / lower);
        let squared = (lower * lower * (1.0 + ROOM * rounding)) as f32;
        (squared, f64::from(squared).sqrt() * (1.0 + 0.5 * rounding) + 0.5 * EPSILON * frobenius)
    }

    /// How far an eigenvalue bound of G that a factor proves may be off, for σ₁ = 1 and the given ‖X‖_F. An eighth of it
    /// was seen at most, up to 1024×1024 and 2500×700.
    fn rounding(&self, frobenius: f64) -> f64 {
        let (n, m) = (self.shape.short() as f64, self.shape.long() as f64);
        let factor = 16.0 + n / 2.0;
        let systematic = 8.0 + m / 8.0;
        let independent = (4.0 + m.sqrt() / 4.0) * frobenius;
        EPSILON * (factor + systematic + independent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;
    use crate::seeded::Seeded;
    use crate::vector::norm2;

    /// Flat, clustered, graded and structured; with equal entries, whose rounding errors are equal too.
    fn zoo(rows: usize, cols: usize, seed: u64) -> Vec<(&'static str, Vec<f64>)> {
        let normals: Vec<f64> = Seeded::new(seed).normals(rows * cols);
        let map = |f: &dyn Fn(usize, usize, f64) -> f64| -> Vec<f64> {
            normals.iter().enumerate().map(|(at, &v)| f(at / cols, at % cols, v)).collect()
        };
        let diagonal = |i: usize, j: usize, v: f64| if i == j { v } else { 0.0 };
        let hadamard = |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        vec![
            ("flat", map(&|_, _, v| v)),
            ("positive", map(&|_, _, v| v.abs())),
            ("signs", map(&|_, _, v| 0.7 * v.signum())),
            ("shifted", map(&|_, _, v| v + 0.3)),
            ("shifted signs", map(&|_, _, v| 0.37 * v.signum() + 0.1)),
            ("Hadamard", map(&|i, j, _| 0.3 * hadamard(i, j))),
            ("blocks of equal entries", map(&|i, j, _| 0.3 * hadamard(i / 8, j / 8))),
            ("Hadamard and a constant", map(&|i, j, _| 0.3 * hadamard(i, j) + 0.01)),
            ("steps", map(&|i, j, v| (2.0 * v).round() / 3.0 + ((i / 32 + j / 32) % 2) as f64)),
            ("identity", map(&|i, j, _| diagonal(i, j, 1.0))),
            ("clustered", map(&|i, j, v| 1e-3 * v + diagonal(i, j, if i < 7 { 1.0 } else { 0.9 }))),
            ("graded columns", map(&|_, j, v| v * 0.97f64.powi(j as i32))),
            ("graded rows", map(&|i, _, v| v * 0.8f64.powi(i as i32))),
            ("constant", map(&|_, _, _| 0.1)),
            ("rank one", map(&|i, j, _| (1.0 + i as f64) * (j as f64 - 0.4))),
            ("sparse", map(&|_, _, v| if v > 2.0 { v } else { 0.0 })),
            ("smooth", map(&|i, j, _| (0.1 * i as f64).sin() * (0.07 * j as f64).cos() + 1.0 / (1.0 + (i + j) as f64))),
        ]
    }

    fn largest(x: &[f64], rows: usize, cols: usize) -> f64 {
        let (mut values, mut work) = (vec![0.0; rows.min(cols)], vec![0.0; f64::singular_values_work_len(rows, cols)]);
        assert!(f64::singular_values(&mut values, Mat::new(x, rows, cols), &mut work));
        values[0]
    }

    /// How far from σ₁², in units of the rounding that is allowed for, the least τ² with a factor is.
    fn least<S: Real>(shape: Shape, x: &[S], exact: f64, frobenius: f64) -> f64 {
        let mut single = Single::new(shape);
        let rounding = single.rounding(frobenius / exact);
        let with_factor = (-20..=20).map(|step| f64::from(step) / 16.0).find(|share| {
            let squared = exact * exact * (1.0 + share * rounding);
            single.forget();
            single.upper((squared / (1.0 + ROOM * rounding)).sqrt(), frobenius, x).is_some()
        });
        with_factor.expect("a factor for a large τ")
    }

    /// A factor may exist where τ is below σ₁, by rounding, but not as far below as the bound allows for; and as far
    /// above as τ is chosen it does exist.
    #[test]
    fn the_rounding_is_less_than_allowed_for() {
        for (rows, cols) in [(81, 81), (150, 100), (100, 220), (256, 256), (300, 290)] {
            for seed in 0..2 {
                for (kind, mut x) in zoo(rows, cols, seed) {
                    let length = norm2(&x);
                    x.iter_mut().for_each(|v| *v *= 1.5 / length);
                    let exact = largest(&x, rows, cols);
                    let rounded: Vec<f32> = x.iter().map(|&v| v as f32).collect();
                    let shape = Shape { rows, cols };
                    for least in [least(shape, &x, exact, 1.5), least(shape, &rounded, exact, 1.5)] {
                        assert!((-0.25..=ROOM).contains(&least), "{rows}×{cols} {kind}: {least}");
                    }
                }
            }
        }
    }
}
