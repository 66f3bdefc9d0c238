//! What every operator obeys. Small operators are compared entry by entry, as the matrices they stand for: a sign error
//! in one entry hides in a sum over all of them.

use crate::linalg::{Dense as _, Mat};
use crate::operator::LinOp;
use crate::real::Real;
use crate::vector;

/// `len` numbers in [−1, 1), the same for the same seed.
pub(super) fn random<S: Real>(len: usize, seed: u64) -> Vec<S> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        S::of((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    (0..len).map(|_| next()).collect()
}

/// The laws, entry by entry; returns the matrix of T, row-major, to compare with a known answer.
pub(super) fn check<S: Real>(t: &dyn LinOp<S>) -> Vec<f64> {
    let (m, n) = (t.range().size(), t.domain().size());
    let matrix = matrix_of(t);
    let close = 64.0 * S::EPSILON * (1.0 + t.norm_bound());
    assert_adjoint_entries(t, &matrix, close);
    assert_adjoint(t);
    let norm = singular_values(&matrix, m, n)[0];
    let rounding = 1e-14 + 8.0 * S::EPSILON; // of the entries as they come out, and of the decomposition
    assert!(norm <= t.norm_bound() * (1.0 + rounding), "‖T‖ = {norm} > {}", t.norm_bound());
    assert_right_inverse(t, close);
    matrix
}

/// ⟨Tx, p⟩ = ⟨x, T*p⟩ and ‖Tx‖ ≤ bound·‖x‖ on random vectors, of any size.
pub(super) fn assert_adjoint<S: Real>(t: &dyn LinOp<S>) {
    for seed in 1..4 {
        let (x, p) = (random::<S>(t.domain().size(), seed), random::<S>(t.range().size(), seed + 100));
        let (mut tx, mut adjoint_p) = (vec![S::of(f64::NAN); p.len()], vec![S::ZERO; x.len()]);
        t.apply(&mut tx, &x, &mut scratch(t));
        t.adjoint_add(&mut adjoint_p, &p, &mut scratch(t));
        let (left, right) = (vector::dot(&tx, &p), vector::dot(&x, &adjoint_p));
        let scale = t.norm_bound() * vector::norm2(&x) * vector::norm2(&p);
        assert!((left - right).abs() <= 8.0 * S::EPSILON * scale, "⟨Tx, p⟩ = {left}, ⟨x, T*p⟩ = {right}");
        assert!(vector::norm2(&tx) <= t.norm_bound() * vector::norm2(&x) * (1.0 + 8.0 * S::EPSILON));
    }
}

/// Scratch of the stated length, full of NaN: nobody may count on what it holds.
fn scratch<S: Real>(t: &dyn LinOp<S>) -> Vec<S> {
    vec![S::of(f64::NAN); t.work_len()]
}

fn unit<S: Real>(len: usize, i: usize) -> Vec<S> {
    let mut e = vec![S::ZERO; len];
    e[i] = S::ONE;
    e
}

fn matrix_of<S: Real>(t: &dyn LinOp<S>) -> Vec<f64> {
    let (m, n) = (t.range().size(), t.domain().size());
    let mut matrix = vec![0.0; m * n];
    for j in 0..n {
        let mut column = vec![S::of(f64::NAN); m];
        t.apply(&mut column, &unit(n, j), &mut scratch(t));
        (0..m).for_each(|i| matrix[i * n + j] = column[i].f64());
    }
    matrix
}

fn assert_adjoint_entries<S: Real>(t: &dyn LinOp<S>, matrix: &[f64], close: f64) {
    let (m, n) = (t.range().size(), t.domain().size());
    for i in 0..m {
        let mut row = vec![S::ONE; n]; // not zero: the adjoint is added
        t.adjoint_add(&mut row, &unit(m, i), &mut scratch(t));
        for j in 0..n {
            let (expected, got) = (matrix[i * n + j], row[j].f64() - 1.0);
            assert!((expected - got).abs() <= close, "T[{i}, {j}] = {expected}, T*[{j}, {i}] = {got}");
        }
    }
}

fn assert_right_inverse<S: Real>(t: &dyn LinOp<S>, close: f64) {
    let Some(inverse) = t.right_inverse() else { return };
    let (m, n) = (t.range().size(), t.domain().size());
    let sigma = inverse.sigma_min();
    assert!(sigma > 0.0);
    let mut matrix = vec![0.0; n * m];
    for i in 0..m {
        let (mut x, mut back) = (vec![S::of(f64::NAN); n], vec![S::ZERO; m]);
        inverse.right_inverse(&mut x, &unit(m, i), &mut scratch(t));
        t.apply(&mut back, &x, &mut scratch(t));
        let e = unit::<S>(m, i);
        assert!(back.iter().zip(&e).all(|(a, b)| (*a - *b).abs().f64() <= close / sigma), "T(Re_{i}) = {back:?}");
        (0..n).for_each(|j| matrix[j * m + i] = x[j].f64());
    }
    let norm = singular_values(&matrix, n, m)[0];
    assert!(norm <= (1.0 + 8.0 * S::EPSILON) / sigma, "‖R‖ = {norm} > 1/σ = {}", 1.0 / sigma);
}

fn singular_values(matrix: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    let mut values = vec![0.0; rows.min(cols)];
    let mut work = vec![0.0; f64::singular_values_work_len(rows, cols)];
    assert!(f64::singular_values(&mut values, Mat::new(matrix, rows, cols), &mut work));
    values
}
