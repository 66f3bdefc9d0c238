//! Factors of known entries whose rows lie in parts, as on ranks: W with its rows, H everywhere.

use melmo::cholesky;
use melmo::known::{Feedback, Known, Scratch, Side};
use melmo::real::Real;
use melmo::sparse::Csr;

use super::alternate::Pair;
use super::fit::{self, Model, Plan, SWEEPS, TOLERANCE, path};
use crate::error::Error;
use crate::prepared::Prepared;

/// Some rows of known entries, and what is known of all.
pub struct Rows<'a> {
    /// Their entries, without offsets.
    pub entries: &'a Csr<f64>,
    /// Rows of the whole.
    pub rows: usize,
    /// Entries of the whole, and the sum of their squares.
    pub count: usize,
    /// Σy².
    pub squares: f64,
}

impl Rows<'_> {
    /// Where factors start from: W and H by turns, each exactly, along a path of ridges where the entries are few. `sum` replaces numbers
    /// by their sums over the parts, in one order, and says whether it is time to end; every part asks for as much.
    pub fn start<S: Real, E>(
        &self,
        plan: &Plan,
        seed: u64,
        mut sum: impl FnMut(&mut [f64]) -> Result<bool, E>,
    ) -> Result<Vec<S>, E>
    where
        E: From<Error>,
    {
        let (rank, ridge) = plan.factors()?;
        let sides = [self.entries.rows(), self.entries.cols()];
        let random = (self.squares / self.count as f64 / rank as f64).powf(0.25);
        let mut pair = Pair::of_sides(sides, rank, random, seed);
        if plan.feedback == Feedback::Explicit {
            let known = Known::new(self.entries.clone(), Feedback::Explicit).map_err(Error::from)?;
            let norm = self.squares.sqrt();
            if fit::has_path(self.count, rank) && ridge <= norm {
                let size = fit::size_of(norm, [self.rows, sides[1]]);
                pair = Pair::of_sides(sides, rank, size, seed);
                for larger in path(norm, Some(ridge)) {
                    pair.stir(0.05 * size, seed);
                    if lower(&known, &mut pair, larger, (SWEEPS, TOLERANCE), &mut sum)? {
                        break;
                    }
                }
            }
            lower(&known, &mut pair, ridge, (fit::sweeps(self.count, rank), 1e-8), &mut sum)?;
        }
        Ok(pair.w.iter().copied().chain(pair.h()).map(S::of).collect())
    }

    /// The problem of these rows, from a start; the ridge on H is one part's.
    pub fn prepare<S: Real>(&self, plan: &Plan, start: Vec<S>, has_ridge: bool) -> Result<Prepared<S>, Error> {
        let (rank, ridge) = plan.factors()?;
        let of_h = if has_ridge { ridge } else { 0.0 };
        let mut prepared = fit::of_factors(self.entries.map(S::of), plan.feedback, rank, [ridge, of_h], start)?;
        prepared.defaults.iterations = 500;
        prepared.defaults.tuned = None;
        Ok(prepared)
    }
}

impl Plan {
    /// Rank and ridge of the model of factors.
    fn factors(&self) -> Result<(usize, f64), Error> {
        match self.model {
            Model::Factors { rank, ridge } => Ok((rank, ridge)),
            Model::SingularValues(_) => Err(Error::input("a completion in parts", "singular values", "factors")),
        }
    }
}

/// Lowers F by turns until it falls by less than a tolerance or the sweeps are done; true where it was time to end.
fn lower<E>(
    known: &Known<f64>,
    pair: &mut Pair,
    ridge: f64,
    (sweeps, tolerance): (usize, f64),
    sum: &mut impl FnMut(&mut [f64]) -> Result<bool, E>,
) -> Result<bool, E> {
    let (rank, cols) = (pair.rank, known.entries().cols());
    let (mut scratch, mut last) = (Scratch::new(rank), f64::INFINITY);
    let width = rank * (rank + 1) / 2 + rank;
    let mut told = vec![0.0; cols * width + 1];
    for _ in 0..sweeps {
        // The least over W for the H that there is: a row at a time, and all of a row is here.
        let own = known.ridge(Side::Rows, &mut pair.w, &pair.ht, ridge, None, &mut scratch);
        told.fill(0.0);
        told[cols * width] = own;
        for (i, j, y) in known.entries().iter() {
            add_row(&mut told[j * width..][..width], &pair.w[i * rank..][..rank], y);
        }
        if sum(&mut told)? {
            return Ok(true);
        }
        let value = told[cols * width] + 0.5 * ridge * pair.ht.iter().map(|h| h * h).sum::<f64>();
        let mut gram = vec![0.0; rank * rank];
        for (column, h) in told.chunks_exact(width).zip(pair.ht.chunks_exact_mut(rank)) {
            solve_column(&mut gram, column, h, ridge);
        }
        if last - value <= tolerance * value {
            break;
        }
        last = value;
    }
    Ok(false)
}

/// A column's normal equations with one more row: the lower triangle of wwᵀ, then yw.
fn add_row(column: &mut [f64], w: &[f64], y: f64) {
    let mut at = 0;
    for (a, &first) in w.iter().enumerate() {
        w[..=a].iter().for_each(|second| {
            column[at] += first * second;
            at += 1;
        });
    }
    column[at..].iter_mut().zip(w).for_each(|(sum, w)| *sum += y * w);
}

fn solve_column(gram: &mut [f64], column: &[f64], h: &mut [f64], ridge: f64) {
    let (rank, mut at) = (h.len(), 0);
    for a in 0..rank {
        gram[a * rank..=a * rank + a].copy_from_slice(&column[at..=at + a]);
        gram[a * rank + a] += ridge;
        at += a + 1;
    }
    h.copy_from_slice(&column[at..]);
    let least = f64::EPSILON * cholesky::largest_pivot(gram, rank);
    cholesky::solve(gram, h, least);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complete::{Entries, Offsets, Wanted, choose};
    use crate::until::Until;
    use melmo::seeded::Seeded;
    use std::sync::{Barrier, Mutex};

    /// Two parts that add up what both have, the first one's numbers first.
    fn together<R: Send>(
        part: impl Fn(usize, &mut dyn FnMut(&mut [f64]) -> Result<bool, Error>) -> R + Sync,
    ) -> Vec<R> {
        let (told, barrier) = (Mutex::new(vec![Vec::new(), Vec::new()]), Barrier::new(2));
        let one = |at: usize| {
            part(at, &mut |own: &mut [f64]| {
                told.lock().unwrap()[at] = own.to_vec();
                barrier.wait();
                let both = told.lock().unwrap().clone();
                barrier.wait();
                own.iter_mut().enumerate().for_each(|(k, sum)| *sum = both[0][k] + both[1][k]);
                Ok(false)
            })
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..2)
                .map(|at| {
                    scope.spawn({
                        let one = &one;
                        move || one(at)
                    })
                })
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    fn part_of(matrix: &Csr<f64>, rows: std::ops::Range<usize>) -> Csr<f64> {
        let own = matrix.iter().filter(|(i, ..)| rows.contains(i));
        let own: Vec<_> = own.map(|(i, j, y)| ((i - rows.start) as u32, j as u32, y)).collect();
        let once = |_: usize, _: usize, values: &[f64]| Ok::<_, melmo::sparse::Misfit>(values[0]);
        Csr::from_entries(rows.len(), matrix.cols(), own.into_iter(), once).unwrap()
    }

    #[test]
    fn parts_have_the_offsets_and_the_least_of_all() {
        let (w, h): (Vec<f64>, Vec<f64>) = (Seeded::new(1).normals(60), Seeded::new(2).normals(50));
        let all = (0..30 * 25).map(|at| (at / 25, at % 25)).filter(|(i, j)| (i * 7 + j * 3) % 5 != 0);
        let y = |i: usize, j: usize| 1.0 + w[2 * i] * h[2 * j] + w[2 * i + 1] * h[2 * j + 1] + 0.1 * (i as f64);
        let entries = Entries::new(30, 25, all.map(|(i, j)| (i, j, y(i, j))).collect()).unwrap();
        let parts = [part_of(entries.matrix(), 0..11), part_of(entries.matrix(), 11..30)];
        let whole = Offsets::fit(&entries, 2.0, &Until::done());
        let found = together(|at, sum| Offsets::fit_part(&parts[at], 2.0, sum).unwrap());
        assert_eq!(found[0].column, found[1].column);
        let rows = [&found[0].row[..], &found[1].row].concat();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10);
        assert!(near(&rows, &whole.row) && near(&found[0].column, &whole.column));

        let wanted = Wanted { rank: Some(2), ridge: Some(0.5), ..Wanted::default() };
        let plan = choose(&entries, &wanted, 0, &Until::done()).unwrap();
        let alone = plan.prepare::<f64>(entries.clone(), 3, &Until::done()).unwrap();
        let squares = entries.iter().map(|(.., y)| y * y).sum();
        let start = together(|at, sum| {
            let rows = Rows { entries: &parts[at], rows: 30, count: entries.count(), squares };
            rows.start::<f64, Error>(&plan, 3, sum).unwrap()
        });
        assert_eq!(start[0][22..], start[1][38..], "every part has the same H");
        let x = [&start[0][..22], &start[1][..38], &start[0][22..]].concat();
        let (least, found) = (alone.problem.objective(&alone.start), alone.problem.objective(&x));
        assert!((found - least).abs() < 1e-5 * least, "{found} {least}");
    }
}
