//! Minibatches of a factorisation: rows of Y and W are picked out, and the products of their residual put back.

use melmo::error::Error;
use melmo::geometry::BlockNorm;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::Factorization;
use melmo::space::Sampled;

use crate::device::{Device, Point};
use crate::linalg::factors::blocks;
use crate::linalg::{Arithmetic, format_of};
use crate::machine::{Address, Args, Factor, Kernel, Machine, Part, Product};
use crate::plan::Plan;

/// Room for a batch of so many rows.
#[derive(Default)]
pub(crate) struct Batch {
    rows: usize,
    /// Which rows, ascending, and where among them another begins.
    members: Address,
    ends: Address,
    /// Rows of W, and of its gradient.
    w: Address,
    of_w: Address,
    /// Rows of a strip of the residual, and the strip.
    height: usize,
    strip: Address,
    /// As many rows of Y and of M, where those are dense.
    y: Address,
    mask: Address,
    /// On this side: the rows in order, and numbers as bytes.
    sorted: Vec<usize>,
    bytes: Vec<u8>,
}

impl Batch {
    /// The rows in order; how many different ones there are.
    fn sort(&mut self, rows: &[usize]) -> usize {
        self.sorted.clear();
        self.sorted.extend_from_slice(rows);
        self.sorted.sort_unstable();
        self.sorted.chunk_by(|a, b| a == b).count()
    }

    fn bytes_of_members(&mut self) -> &[u8] {
        self.bytes.clear();
        self.sorted.iter().for_each(|&row| self.bytes.extend((row as i64).to_ne_bytes()));
        &self.bytes
    }

    fn bytes_of_ends(&mut self) -> &[u8] {
        self.bytes.clear();
        self.bytes.extend(0i64.to_ne_bytes());
        let mut end = 0;
        for same in self.sorted.chunk_by(|a, b| a == b) {
            end += same.len() as i64;
            self.bytes.extend(end.to_ne_bytes());
        }
        &self.bytes
    }
}

impl<'p, S: Real, M: Machine> Device<'p, S, M> {
    /// [`Device::with`] for steps by minibatches: refuses every loss but a factorisation.
    pub fn sampled(
        problem: &'p Problem<S>,
        norms: Vec<BlockNorm>,
        arithmetic: Arithmetic,
        machine: M,
    ) -> Result<Self, Error> {
        Plan::of(problem)?.expect_samples()?;
        Self::with(problem, norms, arithmetic, machine)
    }

    /// Room for so many rows. Dense data have a strip of the residual; one of sparse data is made here.
    fn room_for_batch(&mut self, [count, cols, rank]: [usize; 3]) -> Batch {
        let own = size_of::<S>();
        let whole = self.factors.as_ref().map(|factors| (factors.height, factors.strip));
        let dense = whole.filter(|(height, _)| *height > 0);
        let height = dense.map_or((SPARSE_STRIP / cols).max(1), |(height, _)| height).min(count);
        let size = own * height * cols;
        let of_y = if dense.is_some() { size } else { 0 };
        Batch {
            rows: count,
            height,
            strip: dense.map_or_else(|| self.raw(size), |(_, strip)| strip),
            members: self.raw(8 * count),
            ends: self.raw(8 * (count + 1)),
            w: self.raw(own * count * rank),
            of_w: self.raw(own * count * rank),
            y: if of_y == 0 { 0 } else { self.raw(of_y) },
            mask: if self.data()[1] == 0 { 0 } else { self.raw(of_y) },
            ..Batch::default()
        }
    }

    /// y ← the rows of x that `members` names, so many of so many entries.
    fn gather(&mut self, y: Address, x: Address, members: Address, [rows, cols]: [usize; 2]) {
        let part = Part { members, ..Part::default() };
        self.entries(Kernel::Gather, rows * cols, Args { y, x, cols: cols as i64, part, ..Args::default() });
    }

    /// grad ← ∇f_B(x): the rows of a batch stand for all, times rows/|B|.
    fn gradient_of_batch(&mut self, f: &Factorization<S>, grad: Address, x: Address, rows: &[usize]) {
        let (all, cols, rank) = f.shape();
        let mut batch = std::mem::take(&mut self.batch);
        if batch.rows < rows.len() {
            batch = self.room_for_batch([rows.len(), cols, rank]);
        }
        let height = batch.height.min(rows.len());
        let different = batch.sort(rows);
        self.overwrite(batch.members, batch.bytes_of_members());
        self.overwrite(batch.ends, batch.bytes_of_ends());
        let ([w, h], [of_w, of_h]) = (blocks::<S>(x, [all, cols, rank]), blocks::<S>(grad, [all, cols, rank]));
        self.gather(batch.w, w, batch.members, [rows.len(), rank]);
        let twice_c = 2.0 * f.weights().0 * all as f64 / rows.len() as f64;
        for top in (0..rows.len()).step_by(height) {
            self.strip_of_batch(&batch, [top, height.min(rows.len() - top)], [h, of_h], [cols, rank], twice_c);
        }
        self.entries(Kernel::Clear, all * rank, Args { y: of_w, ..Args::default() });
        let part = Part { members: batch.members, ends: batch.ends, ..Part::default() };
        let args = Args { y: of_w, x: batch.of_w, cols: rank as i64, part, ..Args::default() };
        self.entries(Kernel::Spread, different * rank, args);
        self.add_ridge(f, of_h, h);
        self.batch = batch;
    }

    /// R = M⊙(WH − Y) of some rows of the batch, aRHᵀ, and aWᵀR added to what those before gave.
    fn strip_of_batch(
        &mut self,
        batch: &Batch,
        [top, height]: [usize; 2],
        [h, of_h]: [Address; 2],
        [cols, rank]: [usize; 2],
        a: f64,
    ) {
        let (format, strip, members) = (format_of::<S>(), batch.strip, batch.members + 8 * top as Address);
        let beside = (top * rank * size_of::<S>()) as Address;
        let (w, of_w) = (Factor::plain(batch.w + beside, rank), Factor::plain(batch.of_w + beside, rank));
        let (r, plain_h) = (Factor::plain(strip, cols), Factor::plain(h, cols));
        let product =
            |to, left, right, size, alpha, beta| Product { to, stored: format, left, right, format, size, alpha, beta };
        self.multiply(product(r, w, plain_h, [height, cols, rank], 1.0, 0.0));
        self.subtract_rows(batch, members, [height, cols]);
        self.multiply(product(of_w, r, Factor::turned(h, cols), [height, rank, cols], a, 0.0));
        let (w, add) = (Factor::turned(batch.w + beside, rank), if top == 0 { 0.0 } else { 1.0 });
        self.multiply(product(Factor::plain(of_h, cols), w, r, [rank, cols, height], a, add));
    }
}

/// Entries of a strip of the residual of sparse data, at most.
const SPARSE_STRIP: usize = 1 << 22;

impl<S: Real, M: Machine> Device<'_, S, M> {
    /// R ← M⊙(R − Y) for the rows that `members` names.
    fn subtract_rows(&mut self, batch: &Batch, members: Address, [height, cols]: [usize; 2]) {
        if let Some(sparse) = self.factors.as_ref().and_then(|factors| factors.sparse) {
            return self.subtract_sparse_rows(sparse, batch.strip, members, [height, cols]);
        }
        let [y, mask] = self.data();
        self.gather(batch.y, y, members, [height, cols]);
        if mask != 0 {
            self.gather(batch.mask, mask, members, [height, cols]);
        }
        let args = Args { y: batch.strip, d: batch.y, mask: batch.mask, ..Args::default() };
        self.entries(Kernel::Residual, height * cols, args);
    }
}

impl<S: Real, M: Machine> Sampled for Device<'_, S, M> {
    /// Rows of Y; none of a loss without minibatches, which [`Device::sampled`] refuses.
    fn samples(&self) -> usize {
        self.plan.factorization().map_or(0, |f| f.shape().0)
    }

    fn batch_gradient(&mut self, grad: &mut Point, x: &Point, batch: &[usize]) {
        let (grad, x) = (self.at(grad), self.at(x));
        if let Some(f) = self.plan.factorization() {
            self.gradient_of_batch(f, grad, x, batch);
        }
    }

    fn part_bound(&mut self, _: &Point) -> Option<f64> {
        None
    }

    fn penalty_gradient_add(&mut self, phi: &mut Point, x: &Point, beta: f64) -> f64 {
        let (out, at) = (self.at(phi), self.at(x));
        self.walk(Kernel::Gradient, Args { out, target: out, x: at, beta, ..Args::default() });
        self.evaluation(x).slope_squared
    }
}
