//! Products of a sparse Y with a factor, as `smooth/factor/product.rs` has them.

use melmo::real::Real;
use melmo::smooth::{Data, Factorization};
use melmo::sparse::Csr;

use crate::device::Device;
use crate::machine::{Address, Args, Kernel, Machine, Part, bytes};

/// Y by rows and by columns, and room for a factor turned.
#[derive(Clone, Copy)]
pub(super) struct Sparse {
    by_rows: Rows,
    by_columns: Rows,
    thin: Address,
}

/// A sparse matrix, row by row.
#[derive(Clone, Copy)]
struct Rows {
    values: Address,
    columns: Address,
    starts: Address,
}

/// Y in both orders, where it is sparse.
pub(super) fn pair<S: Real>(f: &Factorization<S>) -> Option<&[Csr<S>; 2]> {
    if let Data::Sparse(pair) = f.data() { Some(pair) } else { None }
}

/// Bytes beside the values by rows, which are the plan's data.
pub(super) fn bytes_of<S: Real>([by_rows, by_columns]: &[Csr<S>; 2], rank: usize) -> usize {
    let starts = by_rows.starts().len() + by_columns.starts().len();
    let thin = by_rows.cols() * rank;
    (8 + size_of::<S>()) * by_rows.len() + 8 * starts + size_of::<S>() * thin
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    /// Copies what a sparse Y has beside its values by rows.
    pub(super) fn make_sparse(&mut self, [by_rows, by_columns]: &[Csr<S>; 2], rank: usize) -> Sparse {
        let values = [self.data()[0], self.put(bytes(by_columns.values()))];
        let mut rows = |of: &Csr<S>, values: Address| {
            let columns: Vec<u8> = of.columns().iter().flat_map(|j| j.to_ne_bytes()).collect();
            let starts: Vec<u8> = of.starts().iter().flat_map(|&start| (start as i64).to_ne_bytes()).collect();
            Rows { values, columns: self.put(&columns), starts: self.put(&starts) }
        };
        let (by_rows_there, by_columns_there) = (rows(by_rows, values[0]), rows(by_columns, values[1]));
        let thin = self.raw(size_of::<S>() * by_rows.cols() * rank);
        Sparse { by_rows: by_rows_there, by_columns: by_columns_there, thin }
    }

    /// aYHᵀ and aWᵀY where the gradients are; ⟨W, aYHᵀ⟩, summed in double precision before anything is rounded.
    pub(super) fn products_with_sparse(
        &mut self,
        Sparse { by_rows, by_columns, thin }: Sparse,
        [rows, cols, rank]: [usize; 3],
        [w, h]: [Address; 2],
        to: [Address; 2],
        a: f64,
    ) -> f64 {
        self.turn(thin, h, [rank, cols]);
        let inner = self.sparse_times(by_rows, to[0], [thin, w], [rows, rank], a);
        self.sparse_times(by_columns, thin, [w, 0], [cols, rank], a);
        self.turn(to[1], thin, [cols, rank]);
        a * inner
    }

    /// r ← r − y for rows r, one after another, and the rows of Y that `members` names: 32 threads for each.
    pub(super) fn subtract_sparse_rows(&mut self, of: Sparse, r: Address, members: Address, [rows, cols]: [usize; 2]) {
        let Rows { values, columns, starts } = of.by_rows;
        let part = Part { members, ends: starts, ..Part::default() };
        let args =
            Args { y: r, target: values, u: columns, rows: rows as i64, cols: cols as i64, part, ..Args::default() };
        self.run(Kernel::SubtractRows, 32 * rows, args);
    }

    /// y ← aAB; ⟨C, AB⟩ where there is a C.
    fn sparse_times(&mut self, of: Rows, y: Address, [b, c]: [Address; 2], [rows, width]: [usize; 2], a: f64) -> f64 {
        let part = Part { members: of.columns, ends: of.starts, ..Part::default() };
        let args = Args { y, x: c, d: b, target: of.values, cols: width as i64, a, part, ..Args::default() };
        self.entries(Kernel::SparseTimes, rows * width, args);
        if c == 0 { 0.0 } else { self.results()[0] }
    }

    /// y ← xᵀ.
    fn turn(&mut self, y: Address, x: Address, [rows, cols]: [usize; 2]) {
        let args = Args { x, y, rows: rows as i64, cols: cols as i64, ..Args::default() };
        self.entries(Kernel::Turn, rows * cols, args);
    }
}
