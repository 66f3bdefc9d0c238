//! Y of a factorisation: every entry, the entries that are not 0, or rows that are read when they are needed.

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::Error;
use crate::linalg::{Into, Mat};
use crate::real::Real;
use crate::smooth::factor::product::times;
use crate::smooth::turn;
use crate::sparse::Csr;
use crate::vector;

/// Y, wherever its entries are. Copies share them.
#[derive(Clone, Debug)]
pub enum Data<S> {
    /// Every entry, row-major.
    Dense(Arc<[S]>),
    /// The entries that are not 0, by rows and by columns.
    Sparse(Arc<[Csr<S>; 2]>),
    /// Rows that are read, a block at a time, whenever they are needed.
    Rows(Arc<dyn Rows<S>>),
}

/// The rows of a matrix that need not fit into memory.
pub trait Rows<S>: Debug + Send + Sync {
    /// Rows and columns.
    fn shape(&self) -> (usize, usize);

    /// Rows of a block: as many as are read at a time.
    fn height(&self) -> usize;

    /// `to` ← whole rows from `first` on, as many as it has room for; `false` where they cannot be had. The run then ends at its
    /// last good point, and whoever made the source may keep the reason.
    fn read(&self, first: usize, to: &mut [S]) -> bool;
}

impl<S: Real> Data<S> {
    /// Both orders of a sparse matrix. Allocates.
    pub fn sparse(by_rows: Csr<S>) -> Result<Self, Error> {
        Error::expect_finite("entries of Y", by_rows.values())?;
        let by_columns = by_rows.transposed();
        Ok(Self::Sparse(Arc::new([by_rows, by_columns])))
    }

    /// Every entry, where they are at hand.
    pub fn dense(&self) -> Option<&[S]> {
        match self {
            Self::Dense(y) => Some(y),
            Self::Sparse(_) | Self::Rows(_) => None,
        }
    }

    /// ‖Y‖², where all its entries are finite. A source of rows is read once.
    pub(super) fn squared(&self, cols: usize) -> Result<f64, Error> {
        match self {
            Self::Dense(y) => Ok(vector::norm2_squared(y)),
            Self::Sparse(pair) => Ok(vector::norm2_squared(pair[0].values())),
            Self::Rows(source) => {
                let mut work = vec![S::ZERO; source.height() * cols];
                let (mut total, mut checked) = (vector::Total::default(), Ok(()));
                let whole = each_block(&**source, &mut work, |top, block| {
                    total.add(vector::norm2_squared(block));
                    if let (Ok(()), Some(at)) = (&checked, block.iter().position(|v| !v.is_finite())) {
                        checked = Err(Error::NotFinite { what: "Y", index: top * cols + at, value: block[at].f64() });
                    }
                });
                checked?;
                if whole { Ok(total.value()) } else { Err(Error::Unsupported("rows of Y could not be read".into())) }
            }
        }
    }

    /// Scratch of the products below, in numbers.
    pub fn work_len(&self, cols: usize, rank: usize) -> usize {
        match self {
            Self::Dense(_) => 0,
            Self::Sparse(_) => cols * rank,
            Self::Rows(source) => source.height() * cols,
        }
    }

    /// out ← aYHᵀ, for H of so many columns and the rank as rows.
    pub fn times_turned(&self, out: &mut [S], a: f64, h: Mat<'_, S>, work: &mut [S]) {
        let (rank, cols) = (h.rows(), h.cols());
        let rows = out.len() / rank;
        match self {
            Self::Dense(y) => S::gemm(out, Into::Replace, S::of(a), Mat::new(y, rows, cols), h.t()),
            Self::Sparse(pair) => {
                turn(&mut work[..cols * rank], h.entries(), rank, cols);
                times(&pair[0], out, work, rank, None);
                vector::scale(out, a);
            }
            Self::Rows(source) => {
                let whole = each_block(&**source, work, |top, block| {
                    let y = Mat::new(block, block.len() / cols, cols);
                    S::gemm(&mut out[top * rank..][..y.rows() * rank], Into::Replace, S::of(a), y, h.t());
                });
                unless(whole, out);
            }
        }
    }

    /// out ← aWᵀY, for W of as many rows as Y has.
    pub fn turned_times(&self, out: &mut [S], a: f64, w: Mat<'_, S>, work: &mut [S]) {
        let (rows, rank) = (w.rows(), w.cols());
        let cols = out.len() / rank;
        match self {
            Self::Dense(y) => S::gemm(out, Into::Replace, S::of(a), w.t(), Mat::new(y, rows, cols)),
            Self::Sparse(pair) => {
                times(&pair[1], &mut work[..cols * rank], w.entries(), rank, None);
                turn(out, &work[..cols * rank], cols, rank);
                vector::scale(out, a);
            }
            Self::Rows(source) => {
                let whole = each_block(&**source, work, |top, block| add_block(out, a, w, top, block, cols));
                unless(whole, out);
            }
        }
    }

    /// Both products: of rows that are read, from one reading.
    pub(super) fn both(&self, outs: [&mut [S]; 2], a: f64, w: Mat<'_, S>, h: Mat<'_, S>, work: &mut [S]) {
        let ([right, left], cols, rank) = (outs, h.cols(), h.rows());
        let Self::Rows(source) = self else {
            self.times_turned(right, a, h, work);
            return self.turned_times(left, a, w, work);
        };
        let whole = each_block(&**source, work, |top, block| {
            let y = Mat::new(block, block.len() / cols, cols);
            S::gemm(&mut right[top * rank..][..y.rows() * rank], Into::Replace, S::of(a), y, h.t());
            add_block(left, a, w, top, block, cols);
        });
        unless(whole, right);
    }

    /// So many rows from `first` on, every entry of them. `None` where they cannot be read.
    pub(super) fn strip<'a>(&'a self, first: usize, height: usize, cols: usize, work: &'a mut [S]) -> Option<&'a [S]> {
        if let Self::Dense(y) = self {
            return Some(&y[first * cols..][..height * cols]);
        }
        let work = &mut work[..height * cols];
        match self {
            Self::Dense(_) => {}
            Self::Sparse(pair) => {
                work.fill(S::ZERO);
                for (at, row) in work.chunks_exact_mut(cols).enumerate() {
                    let (columns, values) = pair[0].row(first + at);
                    columns.iter().zip(values).for_each(|(&j, &v)| row[j as usize] = v);
                }
            }
            Self::Rows(source) => {
                if !source.read(first, work) {
                    return None;
                }
            }
        }
        Some(work)
    }
}

/// out ← out + aWᵀY for a block of the rows of Y; the first block begins it.
fn add_block<S: Real>(out: &mut [S], a: f64, w: Mat<'_, S>, top: usize, block: &[S], cols: usize) {
    let (height, rank) = (block.len() / cols, w.cols());
    let part = Mat::new(&w.entries()[top * rank..], height, rank);
    let into = if top == 0 { Into::Replace } else { Into::Add };
    S::gemm(out, into, S::of(a), part.t(), Mat::new(block, height, cols));
}

/// Hands the rows on, block by block, each with the number of its first; `false` where one could not be read.
fn each_block<S: Real>(source: &dyn Rows<S>, work: &mut [S], mut each: impl FnMut(usize, &[S])) -> bool {
    let (rows, cols) = source.shape();
    (0..rows).step_by(source.height()).all(|top| {
        let block = &mut work[..source.height().min(rows - top) * cols];
        let read = source.read(top, block);
        if read {
            each(top, block);
        }
        read
    })
}

/// NaN where something could not be read: nothing is made of half of Y.
fn unless<S: Real>(whole: bool, out: &mut [S]) {
    if !whole {
        out.fill(S::of(f64::NAN));
    }
}
