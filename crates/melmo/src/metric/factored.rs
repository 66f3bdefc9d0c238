use crate::metric::{Hessian, Metric};
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::smooth::Quadratic;
use crate::sparse_cholesky::{Pattern, SparseCholesky};

/// Entries of M, and of its factor, at most, for each of x: a chain has a few, a grid of 60×60 as many as its side.
const WIDEST: usize = 64;

/// M = H + T*T/β with few entries, as LDLᵀ: chains, trends, and graphs whose nodes can be numbered along a line.
///
/// The pattern is analysed once; a new β is a new factorisation in the same room.
pub struct Factored {
    cholesky: SparseCholesky,
    /// The entries of H and of T*T, on one pattern.
    h: Vec<f64>,
    t: Vec<f64>,
    beta: f64,
}

impl Factored {
    /// `None` where M or its factor has too many entries, where T is known by its action alone and not small, and where T is 0.
    pub fn new<S: Real>(hessian: &Hessian<'_, S>, t: &dyn LinOp<S>) -> Option<Self> {
        let n = t.domain().size();
        let mut entries = Vec::new();
        normal(&mut entries, t, |_, value| [0.0, value])?;
        match *hessian {
            Hessian::Constant(c) => entries.extend((0..n).map(|i| (i, i, [c, 0.0]))),
            Hessian::Normal(c, a) => normal(&mut entries, a, |_, value| [c * value, 0.0])?,
        }
        entries.extend((0..n).map(|i| (i, i, [0.0; 2])));
        entries.sort_by_key(|&(i, j, _)| (i, j));
        let (mut starts, mut columns, mut h, mut tt) = (vec![0; n + 1], Vec::new(), Vec::new(), Vec::new());
        for same in entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            starts[same[0].0 + 1] += 1;
            columns.push(same[0].1);
            h.push(same.iter().map(|(.., v)| v[0]).sum());
            tt.push(same.iter().map(|(.., v)| v[1]).sum());
        }
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let seen = tt.iter().any(|v: &f64| *v != 0.0) && tt.iter().chain(&h).all(|v: &f64| v.is_finite());
        let cholesky = SparseCholesky::new(&Pattern { starts, columns }, WIDEST * n).filter(|_| seen)?;
        Some(Self { cholesky, h, t: tt, beta: f64::NAN })
    }
}

/// What the rows of T add to each entry of T*ΘT: a row, and what a unit of its θ is worth.
pub(super) struct Products {
    starts: Vec<usize>,
    shares: Vec<(usize, f64)>,
}

impl Products {
    /// Those of an entry.
    pub fn of(&self, entry: usize) -> &[(usize, f64)] {
        &self.shares[self.starts[entry]..self.starts[entry + 1]]
    }
}

/// A part of an entry of H + T*ΘT: of H, or of a row of T.
#[derive(Clone, Copy)]
enum Share {
    H(f64),
    Row(usize, f64),
}

/// H + T*ΘT for any Θ: room for its factor, the entries of H, and what each row of T adds. `None` where [`Factored::new`] has none.
pub(super) fn with_products<S: Real>(
    hessian: &Quadratic<'_, S>,
    t: &dyn LinOp<S>,
) -> Option<(SparseCholesky, Vec<f64>, Products)> {
    let n = t.domain().size();
    let mut entries = Vec::new();
    normal(&mut entries, t, Share::Row)?;
    match hessian {
        Quadratic::Constant(c) => entries.extend((0..n).map(|i| (i, i, Share::H(*c)))),
        Quadratic::Normal(c, a) => normal(&mut entries, *a, |_, value| Share::H(c * value))?,
        Quadratic::Full(h) => {
            let seen = h.iter().enumerate().filter(|(_, v)| **v != 0.0);
            entries.extend(seen.map(|(at, v)| (at / n, at % n, Share::H(*v))));
        }
    }
    entries.extend((0..n).map(|i| (i, i, Share::H(0.0))));
    entries.sort_by_key(|&(i, j, _)| (i, j));
    let (mut starts, mut columns, mut h) = (vec![0; n + 1], Vec::new(), Vec::new());
    let mut products = Products { starts: vec![0], shares: Vec::new() };
    for same in entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        starts[same[0].0 + 1] += 1;
        columns.push(same[0].1);
        let of_h = |(.., share): &(usize, usize, Share)| if let Share::H(v) = share { *v } else { 0.0 };
        h.push(same.iter().map(of_h).sum());
        let of_row = |(.., share): &(usize, usize, Share)| match *share {
            Share::Row(row, v) => Some((row, v)),
            Share::H(_) => None,
        };
        products.shares.extend(same.iter().filter_map(of_row));
        products.starts.push(products.shares.len());
    }
    (0..n).for_each(|i| starts[i + 1] += starts[i]);
    let cholesky = SparseCholesky::new(&Pattern { starts, columns }, WIDEST * n)?;
    Some((cholesky, h, products))
}

/// The entries (i, j, what the k-th row and a value make) of A*A, row by row of A; `None` where there are too many.
fn normal<S: Real, V>(
    out: &mut Vec<(usize, usize, V)>,
    a: &dyn LinOp<S>,
    place: impl Fn(usize, f64) -> V,
) -> Option<()> {
    let most = WIDEST * a.domain().size();
    let rows = rows(a)?;
    if rows.iter().map(|row| row.len() * row.len()).sum::<usize>() > most {
        return None;
    }
    for (k, row) in rows.iter().enumerate() {
        for &(i, u) in row {
            out.extend(row.iter().map(|&(j, v)| (i, j, place(k, u * v))));
        }
    }
    Some(())
}

/// The rows of A without their zeros. An operator known by its action alone is asked for its columns, where there are few.
fn rows<S: Real>(a: &dyn LinOp<S>) -> Option<Vec<Vec<(usize, f64)>>> {
    let (m, n) = (a.range().size(), a.domain().size());
    let sparse = |row: &mut dyn Iterator<Item = (usize, f64)>| row.filter(|(_, v)| *v != 0.0).collect::<Vec<_>>();
    match a.form() {
        Form::Sparse(a) => Some((0..m).map(|i| sparse(&mut a.row(i).map(|(j, v)| (j, v.f64())))).collect()),
        _ if n > super::decomposed::LARGEST => None,
        _ => {
            let (mut unit, mut column) = (vec![S::ZERO; n], vec![S::ZERO; m]);
            let (mut work, mut rows) = (vec![S::ZERO; a.work_len()], vec![Vec::new(); m]);
            for j in 0..n {
                unit[j] = S::ONE;
                a.apply(&mut column, &unit, &mut work);
                unit[j] = S::ZERO;
                for (row, v) in rows.iter_mut().zip(&column).filter(|(_, v)| **v != S::ZERO) {
                    row.push((j, v.f64()));
                }
            }
            Some(rows)
        }
    }
}

impl<S: Real> Metric<S> for Factored {
    fn prepare(&mut self, _: &[S], beta: f64) {
        if self.beta.to_bits() != beta.to_bits() {
            let Self { cholesky, h, t, .. } = self;
            cholesky.factor(|at| h[at] + t[at] / beta);
            self.beta = beta;
        }
    }

    fn solve(&mut self, v: &mut [S]) {
        self.cholesky.solve(v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Decomposed;
    use crate::operator::{Dense, Sparse};
    use crate::seeded::Seeded;

    /// Second differences, as a matrix with few entries and as one with all of them.
    #[test]
    fn it_is_the_inverse_that_a_decomposition_gives() {
        let n = 30;
        let triplets = (0..n - 2).flat_map(|i| [(i, i, 1.0), (i, i + 1, -2.0), (i, i + 2, 1.0)]);
        let sparse = Sparse::from_triplets(n - 2, n, triplets.clone()).unwrap();
        let mut matrix = vec![0.0; (n - 2) * n];
        triplets.for_each(|(i, j, v)| matrix[i * n + j] = v);
        let dense = Dense::new(matrix, n - 2, n).unwrap();
        let hessian = || Hessian::<f64>::Constant(2.0);
        let mut by_eigen = Decomposed::new(&hessian(), &dense).unwrap();
        for t in [&sparse as &dyn LinOp<f64>, &dense] {
            let mut factored = Factored::new(&hessian(), t).unwrap();
            for beta in [1e-3, 5.0] {
                let mut found: Vec<f64> = Seeded::new(1).normals(n);
                let mut wanted = found.clone();
                factored.prepare(&found, beta);
                factored.solve(&mut found);
                by_eigen.prepare(&[], beta);
                by_eigen.solve(&mut wanted);
                assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {wanted:?}");
            }
        }
    }

    #[test]
    fn a_full_matrix_is_none_of_its() {
        let full = Dense::new(Seeded::new(2).normals(200 * 100), 200, 100).unwrap();
        assert!(Factored::new(&Hessian::<f64>::Constant(1.0), &full).is_none());
    }
}
