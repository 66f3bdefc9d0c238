//! Small positive definite systems: the normal equations of a row, the weights of a few points.

use crate::real::Real;

/// x ← G⁻¹x for positive definite G, whose lower triangle (the upper is not read) becomes its Cholesky factor.
///
/// A direction whose pivot is `least` or below has no curvature: x becomes (nearly) 0 along it, and the answer is false.
pub fn solve<S: Real>(g: &mut [S], x: &mut [S], least: S) -> bool {
    let n = x.len();
    let dot = |a: &[S], b: &[S]| a.iter().zip(b).fold(S::ZERO, |sum, (&a, &b)| sum + a * b);
    let mut definite = true;
    for i in 0..n {
        let (above, row) = g.split_at_mut(i * n);
        for j in 0..i {
            row[j] = (row[j] - dot(&row[..j], &above[j * n..j * n + j])) / above[j * n + j];
        }
        let rest = row[i] - dot(&row[..i], &row[..i]);
        definite &= rest > least;
        row[i] = if rest > least { rest.sqrt() } else { S::of(1.0 / S::EPSILON) };
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
    for i in (0..n).rev() {
        x[i] = x[i] / g[i * n + i];
        let solved = x[i];
        let row = &g[i * n..i * n + i];
        x[..i].iter_mut().zip(row).for_each(|(x, &l)| *x -= l * solved);
    }
    definite
}

/// The largest entry of G's diagonal: what pivots are small or large beside.
pub fn largest_pivot<S: Real>(g: &[S], n: usize) -> S {
    (0..n).map(|i| g[i * n + i]).fold(S::ZERO, |a, b| if b > a { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_systems_are_solved() {
        let mut g = [4.0, 9.0, 9.0, 2.0, 5.0, 9.0, 1.0, 3.0, 6.0f64]; // the upper triangle is not read
        let mut x = [4.0 + 4.0 + 3.0, 2.0 + 10.0 + 9.0, 1.0 + 6.0 + 18.0];
        assert_eq!(largest_pivot(&g, 3), 6.0);
        assert!(solve(&mut g, &mut x, 0.0));
        assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-14), "{x:?}");
    }

    #[test]
    fn a_direction_without_curvature_is_left_out() {
        let (mut singular, mut x) = ([1.0, 0.0, 1.0, 1.0], [2.0, 2.0]);
        assert!(!solve(&mut singular, &mut x, f64::EPSILON));
        assert_eq!(x, [2.0, 0.0]);
    }
}
