//! Σσᵢ from a singular value decomposition that is believed as far as its residuals go: X − UΣVᵀ, UᵀU − I and VᵀV − I.

use super::residual::off_orthonormal;
use super::{UNDERFLOW, UNIT, parts};
use crate::geometry::Bracket;
use crate::geometry::spectral::Shape;
use crate::linalg::{Dense, Into, Mat};
use crate::vector::{ROUNDINGS, norm1, norm2};

/// ‖U‖‖V‖ further from 1 than this proves nothing.
const DEFECT: f64 = 0.01;

/// Of X; none where the iteration fails or its vectors are not orthonormal.
pub(super) fn sum(x: &[f64], shape: Shape) -> Option<Bracket> {
    let (Shape { rows, cols }, short) = (shape, shape.short());
    let work = f64::svd_work_len(rows, cols);
    let lengths = [rows * short, cols * short, short, short * short, rows * cols, work];
    let mut room = vec![0.0; lengths.iter().sum()];
    let [u, v, values, square, residual, work] = parts(&mut room, lengths);
    if !f64::svd(values, u, v, Mat::new(x, rows, cols), work) {
        return None;
    }
    let mut defect = |of: &[f64], rows: usize| off_orthonormal(Mat::new(of, rows, short), square);
    let off = defect(u, rows) + defect(v, cols);
    for row in v.chunks_exact_mut(short) {
        row.iter_mut().zip(&*values).for_each(|(v, s)| *v *= s);
    }
    f64::gemm(residual, Into::Replace, 1.0, Mat::new(u, rows, short), Mat::new(v, cols, short).t());
    residual.iter_mut().zip(x).for_each(|(r, x)| *r -= x);
    // A term of the product is rounded short + 2 times, the difference once; ‖U‖_F ≤ 1.01√short, ‖VΣ‖_F ≤ 1.01‖Σ‖_F.
    let root = (short as f64).sqrt();
    let rounding = 1.03 * UNIT * (short + 6) as f64 * root * norm2(values);
    let residual = root * (1.0 + 1e-12) * (norm2(residual) + rounding) + UNDERFLOW;
    let (sum, sums) = (norm1(values), UNIT * (ROUNDINGS + 4.0));
    let bracket = Bracket {
        lower: sum * (1.0 - 1.02 * off - sums) - residual,
        upper: sum * (1.0 + 1.02 * off + sums) + residual,
    };
    (off <= DEFECT).then_some(bracket)
}
