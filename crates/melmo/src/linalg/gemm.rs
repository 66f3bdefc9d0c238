//! Products: general, Gram, symmetric.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::traits::ComplexField;
use faer::{Accum, Par};

use super::{Into, Mat, faer_mut};

pub(super) fn product<T: ComplexField>(c: &mut [T], into: Into, alpha: T, a: Mat<T>, b: Mat<T>) {
    let accum = match into {
        Into::Replace => Accum::Replace,
        Into::Add => Accum::Add,
    };
    let c = faer_mut(c, a.rows(), b.cols());
    faer::linalg::matmul::matmul(c, accum, a.faer(), b.faer(), alpha, Par::Seq);
}

/// From this size on, half of a symmetric product is cheaper than all of it at full speed. Measured: at n = 64 half
/// takes 1.1–1.3 times as long as all in `f64`, at 72 three quarters; in `f32` the two meet at 128.
const fn half_pays<T>(n: usize) -> bool {
    n >= if size_of::<T>() == 8 { 72 } else { 128 }
}

pub(super) fn gram<T: ComplexField + Copy>(g: &mut [T], x: Mat<T>) {
    lower_product(g, x.t(), x, x.cols());
}

pub(super) fn symmetric_product<T: ComplexField + Copy>(c: &mut [T], a: &[T], b: &[T], n: usize) {
    lower_product(c, Mat::new(a, n, n), Mat::new(b, n, n), n);
}

/// C ← AB, known to be symmetric: the lower triangle is computed and mirrored.
fn lower_product<T: ComplexField + Copy>(c: &mut [T], a: Mat<T>, b: Mat<T>, n: usize) {
    if !half_pays::<T>(n) {
        return product(c, Into::Replace, T::one_impl(), a, b);
    }
    triangular::matmul(
        faer_mut(c, n, n),
        BlockStructure::TriangularLower,
        Accum::Replace,
        a.faer(),
        BlockStructure::Rectangular,
        b.faer(),
        BlockStructure::Rectangular,
        T::one_impl(),
        Par::Seq,
    );
    mirror(c, n);
}

/// Copies the lower triangle onto the upper one, tile by tile so that both sides stay in cache.
fn mirror<T: Copy>(c: &mut [T], n: usize) {
    const TILE: usize = 32;
    for top in (0..n).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for i in top..(top + TILE).min(n) {
                for j in left..(left + TILE).min(i) {
                    c[j * n + i] = c[i * n + j];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dense, Into, Mat};

    #[test]
    fn half_products_equal_whole_ones() {
        for n in [3, 71, 72, 100] {
            let x: Vec<f64> = (0..n * (n + 5)).map(|i| ((i * i) as f64 * 0.11).cos()).collect();
            let (mut g, mut whole) = (vec![0.0; n * n], vec![0.0; n * n]);
            let x = Mat::new(&x, n + 5, n);
            f64::gram(&mut g, x);
            f64::gemm(&mut whole, Into::Replace, 1.0, x.t(), x);
            assert!(g.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-11));
            let (mut square, g2) = (vec![0.0; n * n], Mat::new(&g, n, n));
            f64::symmetric_product(&mut square, &g, &g, n);
            f64::gemm(&mut whole, Into::Replace, 1.0, g2, g2);
            assert!(square.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-8));
        }
    }
}
