//! Dense linear algebra: the only folder that names the linear algebra crate.
//!
//! [`Dense`] has one concrete implementation for `f32` and one for `f64`, so the generic code of the crate behind it
//! is compiled once, here. Matrices are row-major slices with their sizes; scratch is lent by the caller as a slice
//! of the same number type, so nothing here allocates, but for the packing buffer of a thread's first large product and
//! the sums of very long matrices, which it keeps. Large products are shared among threads ([`crate::threads`]): how they are
//! cut depends on their sizes alone. Decompositions end when it is enough ([`crate::patience`]), with the answer false.

mod blocks;
mod cholesky;
mod columns;
mod dots;
mod eigen;
mod gemm;
mod mirror;
mod outer;
mod scratch;
mod svd;
mod tiles;
mod watched;

pub use blocks::roundings;
use faer::{MatMut, MatRef};

/// A row-major matrix, or its transpose, seen through a slice.
#[derive(Clone, Copy, Debug)]
pub struct Mat<'a, S> {
    data: &'a [S],
    rows: usize,
    cols: usize,
    transposed: bool,
}

impl<'a, S> Mat<'a, S> {
    /// The first `rows·cols` entries of `data`, row after row.
    pub fn new(data: &'a [S], rows: usize, cols: usize) -> Self {
        Self { data: &data[..rows * cols], rows, cols, transposed: false }
    }

    /// The transpose, without moving an entry.
    pub fn t(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }

    /// The entries as they lie in memory, before any transposition.
    pub fn entries(&self) -> &'a [S] {
        self.data
    }

    /// Rows, after transposition.
    pub fn rows(&self) -> usize {
        if self.transposed { self.cols } else { self.rows }
    }

    /// Columns, after transposition.
    pub fn cols(&self) -> usize {
        if self.transposed { self.rows } else { self.cols }
    }

    fn faer(&self) -> MatRef<'a, S> {
        let view = MatRef::from_row_major_slice(self.data, self.rows, self.cols);
        if self.transposed { view.transpose() } else { view }
    }

    fn watched(&self) -> Mat<'a, watched::Watched<S>> {
        let Self { data, rows, cols, transposed } = *self;
        Mat { data: watched::watched(data), rows, cols, transposed }
    }
}

fn faer_mut<S>(data: &mut [S], rows: usize, cols: usize) -> MatMut<'_, S> {
    MatMut::from_row_major_slice_mut(&mut data[..rows * cols], rows, cols)
}

/// Whether a product replaces its target or is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Into {
    /// C ← αAB.
    Replace,
    /// C ← C + αAB.
    Add,
}

/// The dense kernels of one number type. Sealed: implemented for `f32` and `f64` only.
pub trait Dense: Sized + sealed::Sealed {
    /// C ← αAB or C + αAB, with C row-major.
    fn gemm(c: &mut [Self], into: Into, alpha: Self, a: Mat<Self>, b: Mat<Self>);

    /// G ← XᵀX, both triangles; a term of an entry is rounded [`roundings`]`(rows)` times at most.
    fn gram(g: &mut [Self], x: Mat<Self>);

    /// C ← AB for symmetric A and B (n×n) whose product is symmetric too: half the work, both triangles filled.
    fn symmetric_product(c: &mut [Self], a: &[Self], b: &[Self], n: usize);

    /// Scratch of [`Dense::eigen`].
    fn eigen_work_len(n: usize) -> usize;

    /// A = Σ valueᵢ·qᵢqᵢᵀ for symmetric A (n×n, lower triangle read), values ascending; row i of `vectors` is qᵢ.
    /// False when the input is not finite or the iteration did not converge.
    fn eigen(values: &mut [Self], vectors: &mut [Self], a: &[Self], n: usize, work: &mut [Self]) -> bool;

    /// Scratch of [`Dense::eigenvalues`].
    fn eigenvalues_work_len(n: usize) -> usize;

    /// The eigenvalues alone, ascending. False as for [`Dense::eigen`].
    fn eigenvalues(values: &mut [Self], a: &[Self], n: usize, work: &mut [Self]) -> bool;

    /// Scratch of [`Dense::positive_definite`].
    fn positive_definite_work_len(n: usize) -> usize;

    /// Whether symmetric A (n×n, both triangles filled) is positive definite; A is overwritten, by its factor if it is.
    /// False when it is not finite.
    fn positive_definite(a: &mut [Self], n: usize, work: &mut [Self]) -> bool;

    /// X ← A⁻¹X for X of n rows, with the factor that [`Dense::positive_definite`] left of A.
    fn solve_columns(factor: &[Self], n: usize, x: &mut [Self]);

    /// X ← XA⁻¹ for X of n columns, with the factor that [`Dense::positive_definite`] left of A.
    fn solve_rows(factor: &[Self], n: usize, x: &mut [Self]);

    /// Scratch of [`Dense::svd`].
    fn svd_work_len(rows: usize, cols: usize) -> usize;

    /// A = U diag(values) Vᵀ, thin, values descending; U and V row-major, a column a vector.
    /// False when the input is not finite or the iteration did not converge.
    fn svd(values: &mut [Self], u: &mut [Self], v: &mut [Self], a: Mat<Self>, work: &mut [Self]) -> bool;

    /// Scratch of [`Dense::singular_values`].
    fn singular_values_work_len(rows: usize, cols: usize) -> usize;

    /// The singular values alone, descending. False as for [`Dense::svd`].
    fn singular_values(values: &mut [Self], a: Mat<Self>, work: &mut [Self]) -> bool;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! dense {
    ($($t:ty),*) => {$(
        impl Dense for $t {
            fn gemm(c: &mut [Self], into: Into, alpha: Self, a: Mat<Self>, b: Mat<Self>) {
                gemm::product(c, into, alpha, a, b)
            }
            fn gram(g: &mut [Self], x: Mat<Self>) {
                gemm::gram(g, x)
            }
            fn symmetric_product(c: &mut [Self], a: &[Self], b: &[Self], n: usize) {
                gemm::symmetric_product(c, a, b, n)
            }
            fn eigen_work_len(n: usize) -> usize {
                eigen::work_len::<Self>(n, true)
            }
            fn eigen(values: &mut [Self], vectors: &mut [Self], a: &[Self], n: usize, work: &mut [Self]) -> bool {
                eigen::decompose(values, Some(vectors), a, n, work)
            }
            fn eigenvalues_work_len(n: usize) -> usize {
                eigen::work_len::<Self>(n, false)
            }
            fn eigenvalues(values: &mut [Self], a: &[Self], n: usize, work: &mut [Self]) -> bool {
                eigen::decompose(values, None, a, n, work)
            }
            fn positive_definite_work_len(n: usize) -> usize {
                cholesky::work_len::<Self>(n)
            }
            fn positive_definite(a: &mut [Self], n: usize, work: &mut [Self]) -> bool {
                cholesky::positive_definite(a, n, work)
            }
            fn solve_columns(factor: &[Self], n: usize, x: &mut [Self]) {
                let k = x.len() / n;
                cholesky::solve(factor, n, faer_mut(x, n, k))
            }
            fn solve_rows(factor: &[Self], n: usize, x: &mut [Self]) {
                let k = x.len() / n;
                cholesky::solve(factor, n, faer_mut(x, k, n).transpose_mut())
            }
            fn svd_work_len(rows: usize, cols: usize) -> usize {
                svd::work_len::<Self>(rows, cols, svd::Vectors::Thin)
            }
            fn svd(values: &mut [Self], u: &mut [Self], v: &mut [Self], a: Mat<Self>, work: &mut [Self]) -> bool {
                svd::decompose(values, Some((u, v)), a, work)
            }
            fn singular_values_work_len(rows: usize, cols: usize) -> usize {
                svd::work_len::<Self>(rows, cols, svd::Vectors::None)
            }
            fn singular_values(values: &mut [Self], a: Mat<Self>, work: &mut [Self]) -> bool {
                svd::decompose(values, None, a, work)
            }
        }
    )*};
}
dense!(f32, f64);
