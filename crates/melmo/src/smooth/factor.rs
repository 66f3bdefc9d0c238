use crate::block::Layout;
use crate::error::Error;
use crate::linalg::{Into, Mat};
use crate::real::Real;
use crate::smooth::residual::{observed, residual};
use crate::smooth::{Form, Rounding, Sampled, Smooth};
use crate::vector::{axpy, dot, norm2, norm2_squared, sum_error};

/// f(W, H) = c‖M⊙(Y − WH)‖² + ν/2·‖H‖², with a mask M of zeros and ones, or none.
///
/// ∇f has no global Lipschitz constant. With ν = 0 and a penalty on W alone the objective is degenerate: (tW, H/t) with
/// t → 0 keeps the loss and removes the penalty, so that no point attains the infimum.
#[derive(Clone, Debug)]
pub struct Factorization<S> {
    layout: Layout,
    y: Vec<S>,
    mask: Option<Vec<S>>,
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
        Error::expect_parameter("rank", rank as f64, rank > 0, "at least 1")?;
        let layout = Layout::new([("W", rows, rank), ("H", rank, cols)])?;
        Layout::matrix(rows, cols)?; // Y can be addressed
        let y = observed(y, None, rows * cols)?;
        let y_squared = norm2_squared(&y);
        Ok(Self { layout, y, mask: None, rows, cols, rank, coefficient: 1.0, ridge: 0.0, y_squared })
    }

    /// The same with a mask of observed entries (1) and others (0), where Y may be anything, NaN included.
    pub fn masked(y: Vec<S>, mask: Vec<S>, rows: usize, cols: usize, rank: usize) -> Result<Self, Error> {
        Layout::matrix(rows, cols)?; // Y can be addressed
        let y = observed(y, Some(&mask), rows * cols)?;
        Ok(Self { mask: Some(mask), ..Self::new(y, rows, cols, rank)? })
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
    pub fn data(&self) -> &[S] {
        &self.y
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
    /// and mask the best fit there is. Allocates; `None` where the decomposition fails.
    pub fn svd_start(&self) -> Option<Vec<S>> {
        let Self { rows, cols, rank, .. } = *self;
        let size = rows.min(cols);
        let (mut values, mut u, mut v) = (vec![S::ZERO; size], vec![S::ZERO; rows * size], vec![S::ZERO; cols * size]);
        let mut work = vec![S::ZERO; S::svd_work_len(rows, cols)];
        if !S::svd(&mut values, &mut u, &mut v, Mat::new(&self.y, rows, cols), &mut work) {
            return None;
        }
        let entry = |of: &[S], i: usize, k: usize| if k < size { values[k].sqrt() * of[i * size + k] } else { S::ZERO };
        let w = (0..rows * rank).map(|at| entry(&u, at / rank, at % rank));
        let h = (0..rank * cols).map(|at| entry(&v, at % cols, at / cols));
        Some(w.chain(h).collect())
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
        let (w_mat, h_mat, y) = (Mat::new(w, rows, rank), Mat::new(h, rank, cols), Mat::new(&self.y, rows, cols));
        let (gram_w, gram_h) = work[..2 * rank * rank].split_at_mut(rank * rank);
        let twice_c = S::of(2.0 * self.coefficient);
        S::gram(gram_w, w_mat); // WᵀW
        S::gram(gram_h, h_mat.t()); // HHᵀ
        S::gemm(grad_w, Into::Replace, -twice_c, y, h_mat.t()); // −2cYHᵀ
        let (cross, quadratic) = (dot(w, grad_w) / self.coefficient, dot(gram_w, gram_h));
        let squared = self.y_squared + cross + quadratic;
        // Written so that a NaN goes on: what is not finite is not cancelled.
        if squared < CANCELLED * (self.y_squared + quadratic) {
            return None;
        }
        S::gemm(grad_w, Into::Add, twice_c, w_mat, Mat::new(gram_h, rank, rank)); // ∇_W = 2c(W(HHᵀ) − YHᵀ)
        S::gemm(grad_h, Into::Replace, -twice_c, w_mat.t(), y);
        S::gemm(grad_h, Into::Add, twice_c, Mat::new(gram_w, rank, rank).t(), h_mat); // ∇_H = 2c((WᵀW)H − WᵀY)
        Some(squared)
    }

    /// The same through R = M⊙(WH − Y), strip by strip; returns ‖R‖².
    fn by_residual(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let Self { rows, cols, rank, .. } = *self;
        let (w, h) = x.split_at(rows * rank);
        let (grad_w, grad_h) = grad.split_at_mut(rows * rank);
        let h_mat = Mat::new(h, rank, cols);
        let twice_c = S::of(2.0 * self.coefficient);
        let mut squared = 0.0;
        for top in (0..rows).step_by(self.strip()) {
            let height = self.strip().min(rows - top);
            let entries = top * cols..(top + height) * cols;
            let w_s = Mat::new(&w[top * rank..], height, rank);
            let r_s = &mut work[..height * cols];
            S::gemm(r_s, Into::Replace, S::ONE, w_s, h_mat); // R = M⊙(WH − Y), strip by strip
            let mask = self.mask.as_ref().map(|mask| &mask[entries.clone()]);
            squared += residual(r_s, [], &self.y[entries], mask);
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
        let most = (BYTES / (size_of::<S>() * self.cols)).max(ENOUGH);
        self.rows.div_ceil(self.rows.div_ceil(most))
    }
}

impl<S: Real> Smooth<S> for Factorization<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn work_len(&self) -> usize {
        (self.strip() * self.cols).max(2 * self.rank * self.rank)
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let squared = self.by_products(grad, x, work).unwrap_or_else(|| self.by_residual(grad, x, work));
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

    /// R = WH − Y is rounded as a product over the rank, 2cRHᵀ and 2cWᵀR as products over columns and rows; or YHᵀ and
    /// W(HHᵀ) in place of RHᵀ, which the sizes of W, H and Y bound alike.
    fn rounding(&self, x: &[S], value: f64, _: &[S]) -> Rounding {
        let (w, h) = x.split_at(self.rows * self.rank);
        let (w, h, y) = (norm2(w), norm2(h), self.y_squared.sqrt());
        let unit = S::EPSILON;
        let sizes = w * h + y;
        let residual = unit * (self.rank as f64 + 2.0) * sizes;
        let longest = self.rows.max(self.cols) as f64 + self.rank as f64;
        let grad = 2.0 * self.coefficient * (residual + unit * longest * sizes) * w.hypot(h) + unit * self.ridge * h;
        let squares = unit * (self.rank as f64 + longest) * sizes * sizes; // where the square is expanded
        Rounding { value: self.coefficient * squares + (8.0 * unit + sum_error(self.y.len())) * value.abs(), grad }
    }

    fn sampled(&self) -> Option<&dyn Sampled<S>> {
        Some(self)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Factors(self)
    }
}

/// Its parts are the rows of Y, each with its share of ν/2·‖H‖².
impl<S: Real> Sampled<S> for Factorization<S> {
    fn samples(&self) -> usize {
        self.rows
    }

    fn batch_grad(&self, grad: &mut [S], x: &[S], batch: &[usize], work: &mut [S]) {
        let Self { rows, cols, rank, .. } = *self;
        let (w, h) = x.split_at(rows * rank);
        let (grad_w, grad_h) = grad.split_at_mut(rows * rank);
        let scale = 2.0 * self.coefficient * rows as f64 / batch.len() as f64;
        let r = &mut work[..cols];
        grad_w.fill(S::ZERO);
        grad_h.fill(S::ZERO);
        for &i in batch {
            let (entries, w_i) = (i * cols..(i + 1) * cols, &w[i * rank..(i + 1) * rank]);
            r.fill(S::ZERO);
            for (&w, h) in w_i.iter().zip(h.chunks_exact(cols)) {
                axpy(r, w.f64(), h); // r = wᵢH
            }
            residual(r, [], &self.y[entries.clone()], self.mask.as_ref().map(|mask| &mask[entries])); // r = M⊙(wᵢH − yᵢ)
            for (k, &w) in w_i.iter().enumerate() {
                grad_w[i * rank + k] += S::of(scale * dot(r, &h[k * cols..(k + 1) * cols]));
                axpy(&mut grad_h[k * cols..(k + 1) * cols], scale * w.f64(), r);
            }
        }
        axpy(grad_h, self.ridge, h);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Dense;
    use crate::smooth::laws;

    fn mask(n: usize) -> Vec<f64> {
        (0..n).map(|i| f64::from(i % 3 != 1)).collect()
    }

    #[test]
    fn obeys_the_laws() {
        let f = Factorization::new(laws::noise(42, 1), 6, 7, 3).unwrap();
        laws::check(&f);
        laws::check(&f.clone().coefficient(0.5).unwrap());
        laws::check(&f.clone().ridge(0.3).unwrap());
        let masked = Factorization::masked(laws::noise(42, 1), mask(42), 6, 7, 3).unwrap();
        laws::check(&masked.ridge(0.3).unwrap());
    }

    #[test]
    fn known_value() {
        let f = Factorization::new(vec![1.0f32, 2.0, 3.0, 4.0], 2, 2, 1).unwrap().ridge(2.0).unwrap();
        let (mut grad, mut work) = ([9.0; 4], vec![0.0; f.work_len()]);
        // W = (1, 2)ᵀ, H = (1, 1): R = WH − Y = (0 −1; −1 −2).
        assert_eq!(f.value_grad(&mut grad, &[1.0, 2.0, 1.0, 1.0], &mut work), 6.0 + 2.0);
        assert_eq!(grad, [-2.0, -6.0, -4.0 + 2.0, -10.0 + 2.0]);
    }

    #[test]
    fn strips_add_up_to_the_whole() {
        let (rows, cols, rank) = (300, 401, 2);
        let mask = mask(rows * cols);
        let mut y = laws::noise(rows * cols, 1);
        y[1] = f64::NAN; // not observed
        let f = Factorization::masked(y, mask.clone(), rows, cols, rank).unwrap();
        assert!(f.strip() < rows && f.work_len() < rows * cols);
        let x = laws::noise(f.layout().size(), 2);
        let (mut grad, mut work) = (vec![f64::NAN; x.len()], vec![f64::NAN; f.work_len()]);
        let value = f.value_grad(&mut grad, &x, &mut work);
        let (w, h) = x.split_at(rows * rank);
        let (mut plain, mut plain_grad) = (0.0, vec![0.0; x.len()]);
        for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
            let wh: f64 = (0..rank).map(|k| w[i * rank + k] * h[k * cols + j]).sum();
            let r = mask[i * cols + j] * (wh - f.y[i * cols + j]);
            plain += r * r;
            for k in 0..rank {
                plain_grad[i * rank + k] += 2.0 * r * h[k * cols + j];
                plain_grad[rows * rank + k * cols + j] += 2.0 * r * w[i * rank + k];
            }
        }
        assert!((value - plain).abs() <= 1e-12 * plain);
        assert!(grad.iter().zip(&plain_grad).all(|(a, b)| (a - b).abs() <= 1e-11));
    }

    #[test]
    fn products_and_residual_agree_also_where_the_fit_is_exact() {
        let (rows, cols, rank) = (23, 17, 3);
        let exact = laws::noise((rows + cols) * rank, 4);
        let (w, h) = exact.split_at(rows * rank);
        let mut y = vec![0.0; rows * cols];
        f64::gemm(&mut y, Into::Replace, 1.0, Mat::new(w, rows, rank), Mat::new(h, rank, cols));
        let f = Factorization::new(y, rows, cols, rank).unwrap();
        for size in [1.0, 1e-1, 1e-3, 1e-6, 0.0] {
            let x: Vec<f64> = exact.iter().zip(laws::noise(exact.len(), 5)).map(|(v, e)| v + size * e).collect();
            let (mut grad, mut plain, mut work) = (vec![0.0; x.len()], vec![0.0; x.len()], vec![0.0; f.work_len()]);
            let value = f.value_grad(&mut grad, &x, &mut work);
            let squared = f.by_residual(&mut plain, &x, &mut work);
            assert!((value - squared).abs() <= 1e-9 * squared, "{size}: {value} {squared}");
            assert!(grad.iter().zip(&plain).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs())), "{size}");
        }
    }

    #[test]
    fn the_svd_start_is_the_best_fit() {
        for (rows, cols, rank) in [(9, 6, 3), (4, 7, 2), (3, 2, 4)] {
            let y = laws::noise(rows * cols, 3);
            let (mut sigma, mut work) =
                (vec![0.0; rows.min(cols)], vec![0.0; f64::singular_values_work_len(rows, cols)]);
            assert!(f64::singular_values(&mut sigma, Mat::new(&y, rows, cols), &mut work));
            let f = Factorization::new(y, rows, cols, rank).unwrap();
            let x = f.svd_start().unwrap();
            let value = f.value_grad(&mut vec![0.0; x.len()], &x, &mut vec![0.0; f.work_len()]);
            let tail: f64 = sigma.iter().skip(rank).map(|s| s * s).sum();
            assert!((value - tail).abs() < 1e-12, "{value} {tail}");
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let new = |rank| Factorization::new(vec![0.0; 6], 2, 3, rank);
        assert!(matches!(new(0), Err(Error::Parameter { name: "rank", .. })));
        assert!(matches!(Factorization::new(vec![0.0; 5], 2, 3, 1), Err(Error::Shape { .. })));
        assert!(matches!(Factorization::new(vec![f32::NAN; 6], 2, 3, 1), Err(Error::NotFinite { .. })));
        assert!(matches!(Factorization::<f64>::new(vec![], 0, 3, 1), Err(Error::EmptyBlock { .. })));
        assert!(matches!(new(1).unwrap().coefficient(0.0), Err(Error::Parameter { name: "c", .. })));
        assert!(matches!(new(1).unwrap().ridge(-1.0), Err(Error::Parameter { name: "ridge", .. })));
        let masked = |mask| Factorization::masked(vec![0.0; 6], mask, 2, 3, 1);
        assert!(matches!(masked(vec![1.0; 5]), Err(Error::Shape { .. })));
        assert!(matches!(masked(vec![0.5; 6]), Err(Error::NotBinary { .. })));
    }
}
