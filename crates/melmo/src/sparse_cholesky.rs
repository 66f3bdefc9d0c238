//! LDLᵀ of a sparse symmetric matrix whose values change and whose pattern does not (Davis 2005).

use std::collections::VecDeque;

use crate::real::Real;

/// No parent in the elimination tree.
const NONE: usize = usize::MAX;

/// M = LDLᵀ up to an order of rows that keeps L narrow (reverse Cuthill–McKee): chains stay banded, grids nearly so.
///
/// What allocates is [`SparseCholesky::new`]; [`factor`](SparseCholesky::factor) and [`solve`](SparseCholesky::solve) do not.
pub(crate) struct SparseCholesky {
    /// Row k of the ordered matrix is row `order[k]` of M.
    order: Vec<usize>,
    /// Column k of the ordered matrix has the rows `rows[starts[k]..starts[k + 1]]`, all at most k, with the values at `from` of M's.
    starts: Vec<usize>,
    rows: Vec<usize>,
    from: Vec<usize>,
    parent: Vec<usize>,
    /// L by columns, without its unit diagonal.
    l_starts: Vec<usize>,
    l_rows: Vec<usize>,
    l_values: Vec<f64>,
    diagonal: Vec<f64>,
    count: Vec<usize>,
    flag: Vec<usize>,
    pattern: Vec<usize>,
    column: Vec<f64>,
}

/// The places of the entries of a symmetric matrix, both triangles and the diagonal, row by row.
pub(crate) struct Pattern {
    /// Row i has `columns[starts[i]..starts[i + 1]]`.
    pub starts: Vec<usize>,
    pub columns: Vec<usize>,
}

impl Pattern {
    fn row(&self, i: usize) -> &[usize] {
        &self.columns[self.starts[i]..self.starts[i + 1]]
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

impl SparseCholesky {
    /// The order and L's pattern; `None` where L would have more than `most` entries.
    pub fn new(pattern: &Pattern, most: usize) -> Option<Self> {
        let n = pattern.len();
        let order = narrow(pattern);
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let (mut starts, mut rows, mut from) = (vec![0], Vec::new(), Vec::new());
        for (k, &i) in order.iter().enumerate() {
            for (at, &j) in pattern.row(i).iter().enumerate() {
                if place[j] <= k {
                    rows.push(place[j]);
                    from.push(pattern.starts[i] + at);
                }
            }
            starts.push(rows.len());
        }
        let mut this = Self {
            order,
            starts,
            rows,
            from,
            parent: vec![NONE; n],
            l_starts: vec![0; n + 1],
            l_rows: Vec::new(),
            l_values: Vec::new(),
            diagonal: vec![0.0; n],
            count: vec![0; n],
            flag: vec![NONE; n],
            pattern: vec![0; n],
            column: vec![0.0; n],
        };
        this.analyse(most).then_some(this)
    }

    /// The elimination tree and the columns' lengths; whether L has at most `most` entries.
    fn analyse(&mut self, most: usize) -> bool {
        let n = self.order.len();
        let mut entries = 0;
        for k in 0..n {
            self.flag[k] = k;
            for at in self.starts[k]..self.starts[k + 1] {
                let mut i = self.rows[at];
                while self.flag[i] != k {
                    if self.parent[i] == NONE {
                        self.parent[i] = k;
                    }
                    self.count[i] += 1;
                    entries += 1;
                    self.flag[i] = k;
                    i = self.parent[i];
                }
            }
            if entries > most {
                return false;
            }
        }
        for k in 0..n {
            self.l_starts[k + 1] = self.l_starts[k] + self.count[k];
        }
        (self.l_rows, self.l_values) = (vec![0; entries], vec![0.0; entries]);
        true
    }

    /// LDLᵀ of the matrix with these values, in the order of the pattern. A pivot below rounding is lifted to it: such a direction
    /// is one that the matrix does not see.
    pub fn factor(&mut self, value: impl Fn(usize) -> f64) {
        let n = self.order.len();
        let largest = self.from.iter().map(|&at| value(at).abs()).fold(f64::MIN_POSITIVE, f64::max);
        self.flag.fill(NONE);
        self.count.fill(0);
        for k in 0..n {
            let mut top = self.reach(k, &value);
            let mut pivot = std::mem::take(&mut self.column[k]);
            while top < n {
                let i = self.pattern[top];
                let y = std::mem::take(&mut self.column[i]);
                let end = self.l_starts[i] + self.count[i];
                for at in self.l_starts[i]..end {
                    self.column[self.l_rows[at]] -= self.l_values[at] * y;
                }
                let l = y / self.diagonal[i];
                pivot -= l * y;
                (self.l_rows[end], self.l_values[end]) = (k, l);
                self.count[i] += 1;
                top += 1;
            }
            self.diagonal[k] = pivot.max(f64::EPSILON * largest);
        }
    }

    /// Column k of the ordered matrix into `column`, and the columns of L that reach it at the end of `pattern`, in order.
    fn reach(&mut self, k: usize, value: &impl Fn(usize) -> f64) -> usize {
        let mut top = self.order.len();
        self.flag[k] = k;
        for at in self.starts[k]..self.starts[k + 1] {
            let mut i = self.rows[at];
            self.column[i] += value(self.from[at]);
            let mut len = 0;
            while self.flag[i] != k {
                self.pattern[len] = i;
                self.flag[i] = k;
                len += 1;
                i = self.parent[i];
            }
            while len > 0 {
                (top, len) = (top - 1, len - 1);
                self.pattern[top] = self.pattern[len];
            }
        }
        top
    }

    /// v ← M⁻¹v.
    pub fn solve(&mut self, v: &mut [impl Real]) {
        let Self { order, l_starts, l_rows, l_values, diagonal, column: x, .. } = self;
        x.iter_mut().zip(&*order).for_each(|(x, &i)| *x = v[i].f64());
        for j in 0..x.len() {
            let here = x[j];
            for at in l_starts[j]..l_starts[j + 1] {
                x[l_rows[at]] -= l_values[at] * here;
            }
        }
        for j in (0..x.len()).rev() {
            let mut here = x[j] / diagonal[j];
            for at in l_starts[j]..l_starts[j + 1] {
                here -= l_values[at] * x[l_rows[at]];
            }
            x[j] = here;
        }
        for (x, &i) in x.iter_mut().zip(&*order) {
            v[i] = Real::of(std::mem::take(x));
        }
    }
}

/// Reverse Cuthill–McKee: breadth first from a node far out, neighbours of few neighbours first, the whole backwards.
fn narrow(pattern: &Pattern) -> Vec<usize> {
    let n = pattern.len();
    let degree = |i: usize| pattern.row(i).len();
    let (mut order, mut seen) = (Vec::with_capacity(n), vec![false; n]);
    let mut by_degree: Vec<usize> = (0..n).collect();
    by_degree.sort_by_key(|&i| degree(i));
    let mut spare = vec![NONE; n];
    for &first in &by_degree {
        if seen[first] {
            continue;
        }
        let far = farthest(pattern, first, &mut spare);
        let mut next = order.len();
        seen[far] = true;
        order.push(far);
        while next < order.len() {
            let begins = order.len();
            for &j in pattern.row(order[next]) {
                if !seen[j] {
                    seen[j] = true;
                    order.push(j);
                }
            }
            order[begins..].sort_by_key(|&j| degree(j));
            next += 1;
        }
    }
    order.reverse();
    order
}

/// The last node that a breadth-first search from `first` comes to; `found` marks who was seen from where.
fn farthest(pattern: &Pattern, first: usize, found: &mut [usize]) -> usize {
    let mut queue = VecDeque::from([first]);
    found[first] = first;
    let mut last = first;
    while let Some(i) = queue.pop_front() {
        last = i;
        for &j in pattern.row(i) {
            if found[j] != first {
                found[j] = first;
                queue.push_back(j);
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded::Seeded;

    /// A symmetric positive definite matrix with few entries, as rows of (column, value).
    fn matrix(n: usize, seed: u64) -> (Pattern, Vec<f64>, Vec<f64>) {
        let mut seeded = Seeded::new(seed);
        let mut dense = vec![0.0; n * n];
        for _ in 0..2 * n {
            let ends: Vec<f64> = seeded.normals(2);
            let [i, j] = [ends[0], ends[1]].map(|v: f64| (v.abs() * 1e6) as usize % n);
            let value = ends[0];
            (dense[i * n + j], dense[j * n + i]) = (value, value);
        }
        for i in 0..n {
            dense[i * n + i] = 1.0 + dense[i * n..(i + 1) * n].iter().map(|v| v.abs()).sum::<f64>();
        }
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            for j in (0..n).filter(|&j| dense[i * n + j] != 0.0) {
                columns.push(j);
                values.push(dense[i * n + j]);
            }
            starts.push(columns.len());
        }
        (Pattern { starts, columns }, values, dense)
    }

    #[test]
    fn it_is_the_inverse_and_can_be_factored_again() {
        let n = 40;
        let (pattern, values, dense) = matrix(n, 3);
        let mut cholesky = SparseCholesky::new(&pattern, n * n).unwrap();
        for scale in [1.0, 7.0] {
            cholesky.factor(|at| scale * values[at]);
            let b: Vec<f64> = Seeded::new(4).normals(n);
            let mut x = b.clone();
            cholesky.solve(&mut x);
            for i in 0..n {
                let row: f64 = (0..n).map(|j| scale * dense[i * n + j] * x[j]).sum();
                assert!((row - b[i]).abs() < 1e-12, "{i}: {row} {}", b[i]);
            }
        }
    }

    #[test]
    fn a_chain_in_any_order_stays_a_chain() {
        let n = 50;
        let at = |i: usize| i * 7 % n; // node i of the chain has this number
        let mut rows = vec![Vec::new(); n];
        for i in 0..n {
            rows[at(i)].push(at(i));
            if i + 1 < n {
                rows[at(i)].push(at(i + 1));
                rows[at(i + 1)].push(at(i));
            }
        }
        let starts = std::iter::once(0)
            .chain(rows.iter().scan(0, |s, r| {
                *s += r.len();
                Some(*s)
            }))
            .collect();
        let pattern = Pattern { starts, columns: rows.concat() };
        assert!(SparseCholesky::new(&pattern, n - 1).is_some());
        assert!(SparseCholesky::new(&pattern, n - 2).is_none());
    }
}
