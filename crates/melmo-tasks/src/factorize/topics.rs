//! What the rows of H are about: the columns that weigh most in each, and how often those occur together.

use melmo::real::Real;
use melmo::sparse::Csr;

/// The columns that weigh most in each row of H, largest |H_kj| first; none of weight 0.
pub fn strongest<S: Real>(h: &[S], rank: usize, most: usize) -> Vec<Vec<usize>> {
    let cols = h.len() / rank;
    let of_row = |row: &[S]| {
        let weight = |j: usize| row[j].f64().abs();
        let mut columns: Vec<usize> = (0..cols).filter(|&j| weight(j) > 0.0).collect();
        let order = |a: &usize, b: &usize| weight(*b).total_cmp(&weight(*a)).then(a.cmp(b));
        if columns.len() > most {
            columns.select_nth_unstable_by(most, order);
            columns.truncate(most);
        }
        columns.sort_unstable_by(order);
        columns
    };
    h.chunks_exact(cols).map(of_row).collect()
}

/// The mean normalised pointwise mutual information of the pairs among some columns (Bouma 2009; Lau, Newman and Baldwin 2014):
///
/// ```text
/// NPMI(i, j) = log(p_ij/(p_ip_j))/(−log p_ij)
/// ```
///
/// with p the share of the rows in which a column, or both, are not 0: 1 for columns that always come together, 0 for columns that
/// know nothing of each other, −1 for columns that never meet. `by_columns` is Yᵀ. `None` of fewer than two columns.
pub fn coherence<S: Real>(by_columns: &Csr<S>, columns: &[usize]) -> Option<f64> {
    let all = by_columns.cols() as f64;
    let rows: Vec<Vec<u32>> = columns.iter().map(|&j| present(by_columns, j)).collect();
    let (mut sum, mut pairs) = (0.0, 0.0);
    for (at, a) in rows.iter().enumerate() {
        for b in &rows[..at] {
            sum += npmi([a.len(), b.len(), common(a, b)].map(|n| n as f64 / all));
            pairs += 1.0;
        }
    }
    (pairs > 0.0).then_some(sum / pairs)
}

/// The rows in which column j is not 0, ascending as they are in a transpose.
fn present<S: Real>(by_columns: &Csr<S>, j: usize) -> Vec<u32> {
    let (rows, values) = by_columns.row(j);
    rows.iter().zip(values).filter(|(_, v)| **v != S::ZERO).map(|(&i, _)| i).collect()
}

/// How many two ascending lists share.
fn common(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        shared += usize::from(x == y);
        (i, j) = (i + usize::from(x <= y), j + usize::from(y <= x));
    }
    shared
}

/// Of the shares of one, of the other and of both; its limits where a share is 0 or 1.
fn npmi([a, b, both]: [f64; 3]) -> f64 {
    match both {
        0.0 => -1.0,
        1.0 => 1.0,
        _ => (both / (a * b)).ln() / -both.ln(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::sparse::Misfit;

    #[test]
    fn the_heaviest_columns_come_first() {
        let h = [0.1, -3.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0];
        assert_eq!(strongest(&h, 2, 2), [vec![1, 3], vec![3]]);
        assert_eq!(strongest(&h, 2, 9), [vec![1, 3, 0], vec![3]]);
    }

    #[test]
    fn coherence_is_one_for_companions_and_minus_one_for_strangers() {
        // Columns 0 and 1 always together, 2 never with them, 3 half of the time with each.
        let rows = [[1.0, 2.0, 0.0, 1.0], [3.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]];
        let entries = (0..16).map(|at| (at % 4, at / 4, rows[at as usize / 4][at as usize % 4]));
        let by_columns = Csr::from_entries(4, 4, entries, |_, _, _| Err(Misfit("twice".into()))).unwrap();
        let of = |columns: &[usize]| coherence(&by_columns, columns);
        assert_eq!((of(&[0, 1]), of(&[0, 2]), of(&[1])), (Some(1.0), Some(-1.0), None));
        assert!(of(&[0, 3]).unwrap().abs() < 1e-15, "as if by chance");
        assert!((of(&[0, 1, 2]).unwrap() + 1.0 / 3.0).abs() < 1e-15);
    }
}
