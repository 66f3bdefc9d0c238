//! ‖A‖₂ ≤ min(‖A‖_F, √(‖A‖₁‖A‖_∞)): a norm bound read off the entries of a matrix.
//!
//! Both are proven: ‖A‖_F² = Σσᵢ² ≥ σ₁², and σ₁² = ‖AᵀA‖₂ ≤ ‖AᵀA‖_∞ ≤ ‖Aᵀ‖_∞‖A‖_∞ = ‖A‖₁‖A‖_∞, since the spectral
//! radius is below every induced norm. Sums are rounded upwards by more than their rounding error.

use crate::error::Error;
use crate::linalg::{Dense, Mat};
use crate::real::Real;
use crate::vector;

/// The bound for a rows×cols matrix given by its rows: `row(i)` lists columns and values, no column twice.
pub(super) fn entries_bound<'a, S, R>(
    rows: usize,
    cols: usize,
    values: &[S],
    row: impl Fn(usize) -> R,
) -> Result<f64, Error>
where
    S: Real,
    R: Iterator<Item = (usize, &'a S)>,
{
    let mut column_sums = zeros("columns", cols)?;
    let mut largest_row = 0.0f64;
    for i in 0..rows {
        let mut row_sum = 0.0;
        for (j, v) in row(i) {
            row_sum += v.abs().f64();
            column_sums[j] += v.abs().f64();
        }
        largest_row = largest_row.max(row_sum);
    }
    let largest_column = column_sums.iter().fold(0.0, |m: f64, &c| m.max(c));
    // √a·√b: the product ab may leave the range of f64.
    let bound = vector::norm2(values).min(largest_row.sqrt() * largest_column.sqrt());
    finite(rounded_up(bound, values.len()))
}

/// Widest matrix whose smallest singular value is looked for.
const WIDEST: usize = 512;

/// σ ≥ 0 with ‖Ax‖ ≥ σ‖x‖: √(λ_min(AᵀA) − what rounding can have added), in double precision. Products over rows are off by at
/// most rows·ε‖A‖_F² in the Frobenius norm, eigenvalues by cols²·ε‖A‖_F² with room to spare (Weyl). 0 for wide matrices.
pub(super) fn smallest_singular<S: Real>(a: Mat<S>) -> f64 {
    let (rows, cols) = (a.rows(), a.cols());
    if cols > rows || cols > WIDEST {
        return 0.0;
    }
    let entries: Vec<f64> = a.entries().iter().map(|v| v.f64()).collect();
    let (mut gram, mut values) = (vec![0.0; cols * cols], vec![0.0; cols]);
    f64::gram(&mut gram, Mat::new(&entries, rows, cols));
    let mut work = vec![0.0; f64::eigenvalues_work_len(cols)];
    if !f64::eigenvalues(&mut values, &gram, cols, &mut work) {
        return 0.0;
    }
    let room = (rows + cols * cols + 16) as f64 * f64::EPSILON * vector::norm2_squared(&entries);
    let squared = values[0] - room;
    if squared > 0.0 { squared.sqrt() * (1.0 - 4.0 * f64::EPSILON) } else { 0.0 }
}

/// `value`, a sum of `terms` numbers ≥ 0 or a root of one, enlarged by what rounding may have lost.
pub(super) fn rounded_up(value: f64, terms: usize) -> f64 {
    value * (1.0 + (terms as f64 + 8.0) * f64::EPSILON)
}

/// `bound` when it bounds anything: entries near the end of the number range add up to ∞.
pub(super) fn finite(bound: f64) -> Result<f64, Error> {
    Error::expect_parameter("bound on ‖T‖₂", bound, bound.is_finite(), "finite: scale the operator down")
}

/// `len` zeros, or an error where memory does not hold them.
pub(super) fn zeros<T: Clone + Default>(what: &str, len: usize) -> Result<Vec<T>, Error> {
    let mut room = Vec::new();
    room.try_reserve_exact(len).map_err(|e| Error::Unsupported(format!("{len} {what}: {e}")))?;
    room.resize(len, T::default());
    Ok(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(values: &[f64], rows: usize, cols: usize) -> Result<f64, Error> {
        entries_bound(rows, cols, values, |i| values[i * cols..(i + 1) * cols].iter().enumerate())
    }

    #[test]
    fn takes_the_smaller_of_the_two() {
        let diagonal = bound(&[3.0, 0.0, 0.0, 3.0], 2, 2).unwrap(); // √(3·3) = 3 < ‖A‖_F = √18
        assert!((3.0..3.0 + 1e-13).contains(&diagonal));
        let outer = bound(&[3.0, 0.0, 4.0, 0.0], 2, 2).unwrap(); // ‖A‖_F = 5 < √(7·4)
        assert!((5.0..5.0 + 1e-13).contains(&outer));
    }

    #[test]
    fn survives_extreme_entries_and_refuses_infinity() {
        assert!((bound(&[1e200, 1e200], 1, 2).unwrap() / 2f64.sqrt() / 1e200 - 1.0).abs() < 1e-14);
        assert!(matches!(bound(&[f64::MAX; 4], 2, 2), Err(Error::Parameter { .. })));
        assert!(matches!(zeros::<f64>("columns", usize::MAX), Err(Error::Unsupported(_))));
    }
}
