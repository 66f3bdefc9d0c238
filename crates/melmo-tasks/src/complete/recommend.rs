//! The columns that a row does not have and would like best, and how good such lists are.

use melmo::real::Real;
use melmo::sparse::Csr;
use melmo::threads;

use crate::complete::completed::Completed;
use crate::complete::entries::Entries;

/// A column and what is predicted there.
pub type Suggestion = (usize, f64);

/// How good lists of k columns are, on average over the rows that have something relevant among what was left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// The length of a list.
    pub k: usize,
    /// The share of a list that is relevant.
    pub precision: f64,
    /// Σ 1/log₂(1 + place) over what is relevant, as a share of what the best list has.
    pub ndcg: f64,
    /// Rows that were judged.
    pub rows: usize,
}

/// Rows that are predicted at a time.
const ROWS: usize = 64;

impl<S: Real> Completed<S> {
    /// For every row the n columns of the largest values, best first, without those that are known. Memory goes with the lists.
    pub fn recommend(&self, known: &Csr<f64>, n: usize) -> Vec<Vec<Suggestion>> {
        let (rows, cols) = self.shape();
        let firsts = (0..rows.div_ceil(ROWS)).map(|block| block * ROWS);
        let blocks = threads::map(firsts, |first| {
            let count = ROWS.min(rows - first);
            let mut values = vec![S::ZERO; count * cols];
            self.rows(first, &mut values);
            let row = |(i, values): (usize, &[S])| best(values, known.row(first + i).0, n);
            values.chunks_exact(cols).enumerate().map(row).collect::<Vec<_>>()
        });
        blocks.into_iter().flatten().collect()
    }
}

/// The n largest values but those of `known`, which ascends; of equal ones the first.
fn best<S: Real>(values: &[S], known: &[u32], n: usize) -> Vec<Suggestion> {
    let mut known = known.iter().map(|&j| j as usize).peekable();
    let mut kept: Vec<Suggestion> = Vec::with_capacity(n + 1);
    for (j, value) in values.iter().map(|value| value.f64()).enumerate() {
        if known.next_if_eq(&j).is_some() || (kept.len() == n && value <= kept[n - 1].1) {
            continue;
        }
        let place = kept.partition_point(|&(_, other)| other >= value);
        kept.insert(place, (j, value));
        kept.truncate(n);
    }
    kept
}

impl Ranking {
    /// Of lists of at most k columns a row. What was left out is relevant where it is at least `least`.
    pub fn of(lists: &[Vec<Suggestion>], left_out: &Entries, k: usize, least: f64) -> Self {
        let (mut precision, mut ndcg, mut rows) = (0.0, 0.0, 0);
        for (i, list) in lists.iter().enumerate() {
            let (columns, values) = left_out.matrix().row(i);
            let wanted = columns.iter().zip(values).filter(|(_, value)| **value >= least);
            let relevant: Vec<u32> = wanted.map(|(&j, _)| j).collect();
            if relevant.is_empty() {
                continue;
            }
            let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
            let hits = list.iter().take(k).enumerate();
            let hits = hits.filter(|(_, (j, _))| relevant.binary_search(&(*j as u32)).is_ok()).map(|(place, _)| place);
            precision += hits.clone().count() as f64 / k as f64;
            ndcg += hits.map(gain).sum::<f64>() / (0..k.min(relevant.len())).map(gain).sum::<f64>();
            rows += 1;
        }
        let judged = rows as f64;
        Self { k, precision: precision / judged, ndcg: ndcg / judged, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_that_are_not_known_come_first() {
        let values = [0.5, 3.0, 2.0, 9.0, 2.0, -1.0];
        assert_eq!(best(&values, &[3], 3), [(1, 3.0), (2, 2.0), (4, 2.0)]);
        assert_eq!(best(&values[..2], &[0], 5), [(1, 3.0)]);
        assert!(best(&values[..1], &[0], 5).is_empty());
    }

    /// Row 0: both relevant columns at places 1 and 3 of 3; row 1: nothing relevant; row 2: none found.
    #[test]
    fn measures_are_what_they_say() {
        let left_out =
            Entries::new(3, 6, vec![(0, 1, 5.0), (0, 4, 4.0), (0, 5, 1.0), (1, 1, 2.0), (2, 0, 5.0)]).unwrap();
        let lists = [vec![(1, 9.0), (2, 8.0), (4, 7.0)], vec![(1, 1.0)], vec![(3, 1.0), (4, 0.5)]];
        let ranking = Ranking::of(&lists, &left_out, 3, 3.0);
        let best = 1.0 + 1.0 / 3f64.log2();
        assert_eq!((ranking.k, ranking.rows), (3, 2));
        assert!((ranking.precision - 1.0 / 3.0).abs() < 1e-15);
        assert!((ranking.ndcg - 0.5 * 1.5 / best).abs() < 1e-15);
    }
}
