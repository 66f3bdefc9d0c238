//! What every loss must satisfy, and a small operator for their tests.

use crate::block::Layout;
use crate::operator::LinOp;
use crate::real::Real;
use crate::seeded::Seeded;
use crate::smooth::Smooth;
use crate::vector::norm2;

/// A dense matrix, for tests.
pub struct Table<S> {
    data: Vec<S>,
    domain: Layout,
    range: Layout,
}

impl<S: Real> Table<S> {
    pub fn new(data: Vec<S>, rows: usize, cols: usize) -> Self {
        Self { data, domain: Layout::vector(cols).unwrap(), range: Layout::vector(rows).unwrap() }
    }

    pub fn noise(rows: usize, cols: usize) -> Self {
        Self::new(noise(rows * cols, 9).into_iter().map(S::of).collect(), rows, cols)
    }
}

impl<S: Real> LinOp<S> for Table<S> {
    fn domain(&self) -> &Layout {
        &self.domain
    }
    fn range(&self) -> &Layout {
        &self.range
    }
    fn norm_bound(&self) -> f64 {
        norm2(&self.data)
    }
    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        for (y, row) in y.iter_mut().zip(self.data.chunks(x.len())) {
            *y = row.iter().zip(x).fold(S::ZERO, |sum, (&a, &x)| sum + a * x);
        }
    }
    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        for (&y, row) in y.iter().zip(self.data.chunks(x.len())) {
            x.iter_mut().zip(row).for_each(|(x, &a)| *x += a * y);
        }
    }
}

/// A fixed sequence of standard normal numbers.
pub fn noise(n: usize, seed: u64) -> Vec<f64> {
    Seeded::new(seed).normals(n)
}

/// The gradient agrees with central differences, one coordinate at a time, and with the Lipschitz constant.
pub fn check(f: &dyn Smooth<f64>) {
    let n = f.layout().size();
    for (seed, size) in [(11, 0.0), (12, 0.3), (13, 3.0)] {
        let x: Vec<f64> = noise(n, seed).iter().map(|v| size * v).collect();
        let grad = gradient(f, &x);
        for i in 0..n {
            let value = |step: f64| {
                let mut moved = x.clone();
                moved[i] += step;
                f.value_grad(&mut vec![f64::NAN; n], &moved, &mut vec![f64::NAN; f.work_len()])
            };
            let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
            let scale = 1.0 + norm2(&grad) + size * size;
            assert!((grad[i] - difference).abs() <= 1e-7 * scale, "entry {i}: {} against {difference}", grad[i]);
        }
        let Some(most) = f.lipschitz() else { continue };
        let y: Vec<f64> = x.iter().zip(noise(n, seed + 50)).map(|(x, d)| x + d).collect();
        let between = |a: &[f64], b: &[f64]| norm2(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>());
        assert!(between(&gradient(f, &y), &grad) <= most * between(&y, &x) * (1.0 + 1e-12), "Lipschitz constant");
    }
}

fn gradient(f: &dyn Smooth<f64>, x: &[f64]) -> Vec<f64> {
    let mut grad = vec![f64::NAN; x.len()];
    f.value_grad(&mut grad, x, &mut vec![f64::NAN; f.work_len()]);
    grad
}
