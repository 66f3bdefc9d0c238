mod batch;
mod data;
mod product;

pub use data::{Data, Rows};

use std::sync::Arc;

use crate::block::Layout;
use crate::error::Error;
use crate::linalg::{Into, Mat};
use crate::real::Real;
use crate::smooth::factor::product::times;
use crate::smooth::residual::{observed, residual};
use crate::smooth::{Form, Rounding, Sampled, Smooth, turn};
use crate::sparse::Csr;
use crate::vector::{ROUNDINGS, axpy, dot, norm2, norm2_squared, scale, sum_error};

/// f(W, H) = c‖M⊙(Y − WH)‖² + ν/2·‖H‖², with a mask M of zeros and ones, or none.
///
/// Y may be sparse, what is not stored being 0: by ‖Y‖² − 2⟨Y, WH⟩ + ⟨WᵀW, HHᵀ⟩ no residual is ever formed, and time and memory
/// go with the entries that are stored. Or its rows may be read, a block at a time, from where they are ([`Rows`]).
///
/// ∇f has no global Lipschitz constant. With ν = 0 and a penalty on W alone the objective is degenerate: (tW, H/t) with
/// t → 0 keeps the loss and removes the penalty, so that no point attains the infimum.
#[derive(Clone, Debug)]
pub struct Factorization<S> {
    layout: Layout,
    y: Data<S>,
    mask: Option<Arc<[S]>>,
    rows: usize,
    cols: usize,
    rank: usize,
    coefficient: f64,
    ridge: f64,
    /// ‖Y‖².
    y_squared: f64,
}

impl<S: Real> Factorization<S> {
    /// The rows×cols data Y and the rank r ≥ 1: blocks `W` (rows×r) and `H` (r×cols), c = 1, no mask, ν = 0.
    pub fn new(y: Vec<S>, rows: usize, cols: usize, rank: usize) -> Result<Self, Error> {
        Layout::matrix(rows, cols)?; // Y can be addressed
        Self::of(Data::Dense(observed(y, None, rows * cols)?.into()), rows, cols, rank)
    }

    /// The same for a sparse Y, which is 0 where it has no entry. Its entries are kept twice, by rows and by columns.
    pub fn sparse(y: Csr<S>, rank: usize) -> Result<Self, Error> {
        let (rows, cols) = (y.rows(), y.cols());
        Self::of(Data::sparse(y)?, rows, cols, rank)
    }

    /// The same for a Y whose rows are read when they are needed. They are read once here, for ‖Y‖².
    pub fn of_rows(y: Arc<dyn Rows<S>>, rank: usize) -> Result<Self, Error> {
        let (rows, cols) = y.shape();
        Self::of(Data::Rows(y), rows, cols, rank)
    }

    fn of(y: Data<S>, rows: usize, cols: usize, rank: usize) -> Result<Self, Error> {
        Error::expect_parameter("rank", rank as f64, rank > 0, "at least 1")?;
        let layout = Layout::new([("W", rows, rank), ("H", rank, cols)])?;
        let y_squared = y.squared(cols)?;
        Ok(Self { layout, y, mask: None, rows, cols, rank, coefficient: 1.0, ridge: 0.0, y_squared })
    }

    /// The same with a mask of observed entries (1) and others (0), where Y may be anything, NaN included.
    pub fn masked(y: Vec<S>, mask: Vec<S>, rows: usize, cols: usize, rank: usize) -> Result<Self, Error> {
        Layout::matrix(rows, cols)?; // Y can be addressed
        let y = observed(y, Some(&mask), rows * cols)?;
        Ok(Self { mask: Some(mask.into()), ..Self::new(y, rows, cols, rank)? })
    }

    /// The factor c > 0 in front of the squared norm.
    pub fn coefficient(mut self, c: f64) -> Result<Self, Error> {
        self.coefficient = Error::expect_positive("c", c)?;
        Ok(self)
    }

    /// The weight ν ≥ 0 of ½‖H‖².
    pub fn ridge(mut self, nu: f64) -> Result<Self, Error> {
        let holds = nu >= 0.0 && nu.is_finite();
        self.ridge = Error::expect_parameter("ridge", nu, holds, "a finite number, at least 0")?;
        Ok(self)
    }

    /// Y; 0 where it is not observed.
    pub fn data(&self) -> &Data<S> {
        &self.y
    }

    /// ‖Y‖².
    pub fn data_squared(&self) -> f64 {
        self.y_squared
    }

    /// M, of zeros and ones; `None` when everything is observed.
    pub fn mask(&self) -> Option<&[S]> {
        self.mask.as_deref()
    }

    /// Rows and columns of Y, and the rank.
    pub fn shape(&self) -> (usize, usize, usize) {
        (self.rows, self.cols, self.rank)
    }

    /// c and ν.
    pub fn weights(&self) -> (f64, f64) {
        (self.coefficient, self.ridge)
    }

    /// W = U√Σ and H = √ΣVᵀ from the r largest singular values of Y (0 where it is not observed): a start, and without penalty
    /// and mask the best fit there is. Allocates; `None` where the decomposition fails, and where Y is not dense.
    pub fn svd_start(&self) -> Option<Vec<S>> {
        let Self { rows, cols, rank, .. } = *self;
        let y = self.y.dense()?;
        let size = rows.min(cols);
        let (mut values, mut u, mut v) = (vec![S::ZERO; size], vec![S::ZERO; rows * size], vec![S::ZERO; cols * size]);
        let mut work = vec![S::ZERO; S::svd_work_len(rows, cols)];
        if !S::svd(&mut values, &mut u, &mut v, Mat::new(y, rows, cols), &mut work) {
            return None;
        }
        let entry = |of: &[S], i: usize, k: usize| if k < size { values[k].sqrt() * of[i * size + k] } else { S::ZERO };
        let w = (0..rows * rank).map(|at| entry(&u, at / rank, at % rank));
        let h = (0..rank * cols).map(|at| entry(&v, at % cols, at / cols));
        Some(w.chain(h).collect())
    }

    /// What rounding can have done at a point of these ‖W‖ and ‖H‖, where f has this value: R = WH − Y is rounded as a product over the
    /// rank, 2cRHᵀ and 2cWᵀR as products over columns and rows; or YHᵀ and W(HHᵀ) in place of RHᵀ, which the sizes of W, H and Y bound
    /// alike.
    pub fn rounding_for(&self, [w, h]: [f64; 2], value: f64) -> Rounding {
        let y = self.y_squared.sqrt();
        let unit = S::EPSILON;
        let sizes = w * h + y;
        let residual = unit * (self.rank as f64 + 2.0) * sizes;
        let longest = self.rows.max(self.cols) as f64 + self.rank as f64;
        let grad = 2.0 * self.coefficient * (residual + unit * longest * sizes) * w.hypot(h) + unit * self.ridge * h;
        // Where the square is expanded; of a sparse Y in double precision.
        let squares = match self.y {
            Data::Sparse(_) => f64::EPSILON * (self.rank as f64 + longest + 4.0 * ROUNDINGS) * sizes * sizes,
            _ => unit * (self.rank as f64 + longest) * sizes * sizes,
        };
        let summed = sum_error(self.rows.saturating_mul(self.cols));
        Rounding { value: self.coefficient * squares + (8.0 * unit + summed) * value.abs(), grad }
    }

    /// ‖Y − WH‖² = ‖Y‖² − 2⟨W, YHᵀ⟩ + ⟨WᵀW, HHᵀ⟩ with its gradients W(HHᵀ) − YHᵀ and (WᵀW)H − WᵀY: two products with Y
    /// instead of three, and no residual. The gradients are as accurate as with a residual, which carries the rounding of
    /// Y too; the value loses digits where the fit is nearly exact. `None` there, with a mask, and in single precision.
    fn by_products(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> Option<f64> {
        const CANCELLED: f64 = 1e-6;
        if self.mask.is_some() || S::EPSILON > 1e-10 {
            return None;
        }
        let Self { rows, cols, rank, .. } = *self;
        let (w, h) = x.split_at(rows * rank);
        let (grad_w, grad_h) = grad.split_at_mut(rows * rank);
        let (w_mat, h_mat) = (Mat::new(w, rows, rank), Mat::new(h, rank, cols));
        let (grams, work) = work.split_at_mut(2 * rank * rank);
        let (gram_w, gram_h) = grams.split_at_mut(rank * rank);
        let twice_c = 2.0 * self.coefficient;
        S::gram(gram_w, w_mat); // WᵀW
        S::gram(gram_h, h_mat.t()); // HHᵀ
        self.y.both([grad_w, grad_h], -twice_c, w_mat, h_mat, work); // −2cYHᵀ and −2cWᵀY
        let (cross, quadratic) = (dot(w, grad_w) / self.coefficient, dot(gram_w, gram_h));
        let squared = self.y_squared + cross + quadratic;
        // Written so that a NaN goes on: what is not finite is not cancelled.
        if squared < CANCELLED * (self.y_squared + quadratic) {
            return None;
        }
        self.add_grams(grad_w, grad_h, x, grams);
        Some(squared)
    }

    /// ∇_W += 2cW(HHᵀ) and ∇_H += 2c(WᵀW)H.
    fn add_grams(&self, grad_w: &mut [S], grad_h: &mut [S], x: &[S], grams: &[S]) {
        let Self { rows, cols, rank, .. } = *self;
        let (w, h) = x.split_at(rows * rank);
        let [gram_w, gram_h] = [0, 1].map(|at| Mat::new(&grams[at * rank * rank..], rank, rank));
        let twice_c = S::of(2.0 * self.coefficient);
        S::gemm(grad_w, Into::Add, twice_c, Mat::new(w, rows, rank), gram_h);
        S::gemm(grad_h, Into::Add, twice_c, gram_w.t(), Mat::new(h, rank, cols));
    }

    /// The same for a sparse Y. What the value is made of is summed in double precision, from W and H as they are: it loses no more
    /// digits than [`Smooth::rounding`] says, in single precision too.
    fn by_entries(&self, pair: &[Csr<S>; 2], grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let Self { rows, cols, rank, .. } = *self;
        let (w, h) = x.split_at(rows * rank);
        let (grad_w, grad_h) = grad.split_at_mut(rows * rank);
        turn(grad_w, w, rows, rank);
        let quadratic = inner_of_grams(grad_w, h, rank); // ⟨WᵀW, HHᵀ⟩
        let (grams, work) = work.split_at_mut(2 * rank * rank);
        let (gram_w, gram_h) = grams.split_at_mut(rank * rank);
        S::gram(gram_w, Mat::new(w, rows, rank));
        S::gram(gram_h, Mat::new(h, rank, cols).t());
        let thin = &mut work[..cols * rank];
        turn(thin, h, rank, cols);
        let cross = times(&pair[0], grad_w, thin, rank, Some(w)); // YHᵀ, and ⟨Y, WH⟩
        times(&pair[1], thin, w, rank, None); // YᵀW
        turn(grad_h, thin, cols, rank);
        scale(grad_w, -2.0 * self.coefficient);
        scale(grad_h, -2.0 * self.coefficient);
        self.add_grams(grad_w, grad_h, x, grams);
        let squared = self.y_squared - 2.0 * cross + quadratic;
        if squared < 0.0 { 0.0 } else { squared } // a NaN goes on
    }

    /// The same through R = M⊙(WH − Y), strip by strip; returns ‖R‖².
    fn by_residual(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let Self { rows, cols, rank, .. } = *self;
        let (w, h) = x.split_at(rows * rank);
        let (grad_w, grad_h) = grad.split_at_mut(rows * rank);
        let h_mat = Mat::new(h, rank, cols);
        let twice_c = S::of(2.0 * self.coefficient);
        let (r, work) = work.split_at_mut(self.strip() * cols);
        let mut squared = 0.0;
        for top in (0..rows).step_by(self.strip()) {
            let height = self.strip().min(rows - top);
            let entries = top * cols..(top + height) * cols;
            let w_s = Mat::new(&w[top * rank..], height, rank);
            let r_s = &mut r[..height * cols];
            S::gemm(r_s, Into::Replace, S::ONE, w_s, h_mat); // R = M⊙(WH − Y), strip by strip
            let mask = self.mask.as_ref().map(|mask| &mask[entries.clone()]);
            let Some(y) = self.y.strip(top, height, cols, work) else { return f64::NAN };
            squared += residual(r_s, [], y, mask);
            let r_s = Mat::new(r_s, height, cols);
            S::gemm(&mut grad_w[top * rank..], Into::Replace, twice_c, r_s, h_mat.t()); // ∇_W = 2cRHᵀ
            let into = if top == 0 { Into::Replace } else { Into::Add };
            S::gemm(grad_h, into, twice_c, w_s.t(), r_s); // ∇_H = 2cWᵀR
        }
        squared
    }

    /// Rows of a strip: the residual of a strip stays in cache between the three products that use it, and still has
    /// enough rows for those to run at full speed. Strips of equal height, so that the last is not a sliver.
    fn strip(&self) -> usize {
        const BYTES: usize = 256 * 1024;
        const ENOUGH: usize = 128;
        if let Data::Rows(source) = &self.y {
            return source.height();
        }
        let most = (BYTES / (size_of::<S>() * self.cols)).max(ENOUGH);
        self.rows.div_ceil(self.rows.div_ceil(most))
    }
}

/// ⟨AAᵀ, BBᵀ⟩ for matrices of so many rows, summed in double precision.
fn inner_of_grams<S: Real>(a: &[S], b: &[S], rows: usize) -> f64 {
    let [of_a, of_b] = [a, b].map(|m| move |i: usize| &m[i * (m.len() / rows)..(i + 1) * (m.len() / rows)]);
    let entry = |i: usize, j: usize| dot(of_a(i), of_a(j)) * dot(of_b(i), of_b(j));
    let twice: f64 = (0..rows).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).sum();
    2.0 * twice + (0..rows).map(|i| entry(i, i)).sum::<f64>()
}

impl<S: Real> Smooth<S> for Factorization<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn work_len(&self) -> usize {
        let products = self.y.work_len(self.cols, self.rank) + 2 * self.rank * self.rank;
        // What is not there is read: a strip or a row of Y beside its residual. A batch has rows of W beside that.
        let residual = match self.y {
            Data::Dense(_) => self.strip() * self.cols,
            Data::Sparse(_) => 2 * self.cols,
            Data::Rows(_) => 2 * self.strip() * self.cols,
        };
        products.max(residual + 2 * self.rank)
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let squared = match &self.y {
            Data::Sparse(pair) => self.by_entries(pair, grad, x, work),
            _ => self.by_products(grad, x, work).unwrap_or_else(|| self.by_residual(grad, x, work)),
        };
        if self.ridge == 0.0 {
            return self.coefficient * squared;
        }
        let (h, grad_h) = (&x[self.rows * self.rank..], &mut grad[self.rows * self.rank..]);
        axpy(grad_h, self.ridge, h); // ∇_H += νH
        self.coefficient * squared + 0.5 * self.ridge * norm2_squared(h)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn rounding(&self, x: &[S], value: f64, _: &[S]) -> Rounding {
        let (w, h) = x.split_at(self.rows * self.rank);
        self.rounding_for([norm2(w), norm2(h)], value)
    }

    fn sampled(&self) -> Option<&dyn Sampled<S>> {
        Some(self)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Factors(self)
    }
}

#[cfg(test)]
mod tests;
