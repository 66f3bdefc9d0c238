//! σ₁ of larger blocks: from below by ‖Xq‖/‖q‖ for some vector q, from above by a Cholesky factor of τI − XᵀX.
//!
//! Where q comes from plays no part: a bad one makes the bracket wide, not wrong.

use super::UNIT;
use super::residual::of_gram;
use crate::geometry::Bracket;
use crate::geometry::nuclear::leading_vector;
use crate::geometry::spectral::Shape;
use crate::linalg::{Dense, Into, Mat};
use crate::vector::{ROUNDINGS, norm2};

/// Up to so many columns all eigenvectors take no longer.
pub(super) const SMALL: usize = 128;

/// How far above the lower end τ is tried, relative to it.
const ROOM: [f64; 5] = [1e-9, 1e-7, 1e-5, 1e-3, 0.1];

/// Of X.
pub(super) fn of(x: &[f64], shape: Shape) -> Option<Bracket> {
    let frobenius = norm2(x);
    let lower = lower(x, shape, frobenius);
    let (n, sums) = (shape.short(), UNIT * ROUNDINGS);
    let mut g = vec![0.0; n * n];
    shape.gram(&mut g, x);
    let trace: f64 = g.iter().step_by(n + 1).sum();
    let (mut factor, mut work) = (vec![0.0; n * n], vec![0.0; f64::positive_definite_work_len(n)]);
    let proven = ROOM.into_iter().find_map(|room| {
        let tau = lower * lower * (1.0 + room);
        factor.iter_mut().zip(&g).for_each(|(f, g)| *f = -g);
        factor.iter_mut().step_by(n + 1).for_each(|f| *f += tau);
        // The factor is exact for a matrix that is off by n + 8 units of its trace, which is nτ at most; τ itself is rounded.
        let off = tau * UNIT * (1.01 * ((n + 8) * n) as f64 + 4.0);
        f64::positive_definite(&mut factor, n, &mut work).then_some(tau + off + of_gram(shape, trace))
    });
    let upper = proven.unwrap_or(f64::INFINITY).sqrt().min(frobenius) * (1.0 + sums);
    lower.is_finite().then_some(Bracket { lower, upper })
}

/// ‖Xq‖/‖q‖, less its rounding.
fn lower(x: &[f64], shape: Shape, frobenius: f64) -> f64 {
    let (n, long) = (shape.short(), shape.long());
    let (q, mut image) = (leading_vector(x, shape, frobenius), vec![0.0; long]);
    f64::gemm(&mut image, Into::Replace, 1.0, shape.tall(x), Mat::new(&q, n, 1));
    let (length, image) = (norm2(&q), norm2(&image));
    let sums = 2.0 * UNIT * ROUNDINGS;
    // A term of the image is rounded n + 1 times.
    (image * (1.0 - sums) / length - 1.01 * UNIT * (n + 4) as f64 * frobenius).max(0.0)
}
