use crate::block::Layout;
use crate::error::Error;
use crate::known::{Feedback, Known, Side};
use crate::linalg::{Into, Mat};
use crate::real::Real;
use crate::smooth::{Form, Rounding, Smooth};
use crate::sparse::Csr;
use crate::vector::{axpy, norm_inf, norm2, norm2_squared, sum_error};

/// f(W, H) = ½Σ (y − (WH)ᵢⱼ)² + ν/2·‖H‖² over the entries y of a matrix that are known, or with [`Feedback::Implicit`].
///
/// Memory goes with the entries and the factors; nothing has as many numbers as the matrix has places. ∇f has no global Lipschitz
/// constant. The same function as [`Factorization`](crate::smooth::Factorization) with c = ½ and a mask, where both fit.
#[derive(Clone, Debug)]
pub struct KnownFactors<S> {
    layout: Layout,
    known: Known<S>,
    rank: usize,
    ridge: f64,
    /// ‖y‖ over the entries, and the largest |y|.
    size: f64,
    largest: f64,
}

impl<S: Real> KnownFactors<S> {
    /// The known entries and the rank r ≥ 1: blocks `W` (rows×r) and `H` (r×cols), with ν ≥ 0. They are kept twice, by rows and by
    /// columns.
    pub fn new(entries: Csr<S>, feedback: Feedback, rank: usize, nu: f64) -> Result<Self, Error> {
        Error::expect_parameter("rank", rank as f64, rank > 0, "at least 1")?;
        let layout = Layout::new([("W", entries.rows(), rank), ("H", rank, entries.cols())])?;
        let holds = nu >= 0.0 && nu.is_finite();
        let ridge = Error::expect_parameter("ridge", nu, holds, "a finite number, at least 0")?;
        let (size, largest) = (norm2(entries.values()), norm_inf(entries.values()));
        Ok(Self { layout, known: Known::new(entries, feedback)?, rank, ridge, size, largest })
    }

    /// The entries.
    pub fn known(&self) -> &Known<S> {
        &self.known
    }

    /// ν.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Rows and columns of the matrix, and the rank.
    pub fn shape(&self) -> (usize, usize, usize) {
        (self.known.entries().rows(), self.known.entries().cols(), self.rank)
    }

    /// grad ← ∇f and f(W, H) for W and the transpose of H; of H the gradient is transposed as well. `gram` has room for 2r².
    pub(crate) fn evaluate(&self, grad_w: &mut [S], grad_ht: &mut [S], w: &[S], ht: &[S], gram: &mut [S]) -> f64 {
        let (rows, cols, rank) = self.shape();
        let mut value = self.known.gradient::<S>(Side::Rows, grad_w, [w, ht], rank, None);
        self.known.gradient::<S>(Side::Columns, grad_ht, [ht, w], rank, None);
        if self.known.feedback() == Feedback::Implicit {
            let (gram_w, gram_h) = gram[..2 * rank * rank].split_at_mut(rank * rank);
            let (w, ht) = (Mat::new(w, rows, rank), Mat::new(ht, cols, rank));
            S::gram(gram_w, w);
            S::gram(gram_h, ht);
            S::gemm(grad_w, Into::Add, S::ONE, w, Mat::new(gram_h, rank, rank)); // + W(HHᵀ)
            S::gemm(grad_ht, Into::Add, S::ONE, ht, Mat::new(gram_w, rank, rank));
            value += 0.5 * gram_w.iter().zip(&*gram_h).map(|(a, b)| a.f64() * b.f64()).sum::<f64>();
        }
        axpy(grad_ht, self.ridge, ht); // + νH
        value + 0.5 * self.ridge * norm2_squared(ht)
    }

    /// The same with every sum in double precision: single precision leaves nothing of a sum over a million entries to certify.
    fn evaluate_closely(&self, grad_w: &mut [S], grad_ht: &mut [S], w: &[S], ht: &[S]) -> f64 {
        let implicit = self.known.feedback() == Feedback::Implicit;
        let [of_h, of_w] = [ht, w].map(|lines| implicit.then(|| gram(lines, self.rank)));
        let mut value = self.known.gradient(Side::Rows, grad_w, [w, ht], self.rank, of_h.as_deref());
        self.known.gradient(Side::Columns, grad_ht, [ht, w], self.rank, of_w.as_deref());
        if let Some((of_h, of_w)) = of_h.zip(of_w) {
            value += 0.5 * of_h.iter().zip(&of_w).map(|(a, b)| a * b).sum::<f64>();
        }
        axpy(grad_ht, self.ridge, ht); // + νH
        value + 0.5 * self.ridge * norm2_squared(ht)
    }
}

/// AᵀA of the lines of A.
fn gram<S: Real>(lines: &[S], rank: usize) -> Vec<f64> {
    let mut gram = vec![0.0; rank * rank];
    for line in lines.chunks_exact(rank) {
        for (row, &a) in gram.chunks_exact_mut(rank).zip(line) {
            row.iter_mut().zip(line).for_each(|(sum, &b)| *sum += a.f64() * b.f64());
        }
    }
    gram
}

impl<S: Real> Smooth<S> for KnownFactors<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Hᵀ, its gradient, and two Gram matrices.
    fn work_len(&self) -> usize {
        2 * self.known.entries().cols() * self.rank + 2 * self.rank * self.rank
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let (rows, cols, rank) = self.shape();
        let (w, h) = x.split_at(rows * rank);
        let (grad_w, grad_h) = grad.split_at_mut(rows * rank);
        let (ht, work) = work.split_at_mut(cols * rank);
        let (grad_ht, gram) = work.split_at_mut(cols * rank);
        turn(ht, h, rank, cols);
        let value = match S::EPSILON > f64::EPSILON {
            true => self.evaluate_closely(grad_w, grad_ht, w, ht),
            false => self.evaluate(grad_w, grad_ht, w, ht, gram),
        };
        turn(grad_h, grad_ht, cols, rank);
        value
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    /// An entry's residual is rounded as a product over the rank, a line's gradient as a sum over its entries: no line has more than
    /// the longer side. Confidences multiply both. All sums are in double precision, what is stored of them is not.
    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        let (rows, cols, rank) = self.shape();
        let (w, h) = x.split_at(rows * rank);
        let (w, h, unit) = (norm2(w), norm2(h), S::EPSILON);
        let n = self.known.entries().len();
        let (weight, y) = match self.known.feedback() {
            Feedback::Explicit => (1.0, self.size),
            Feedback::Implicit => (1.0 + self.largest, (n as f64).sqrt()),
        };
        let sizes = w * h + y;
        let longest = match self.known.feedback() {
            Feedback::Explicit => rows.max(cols).min(n),
            Feedback::Implicit => rows.max(cols), // Gram matrices have every line
        };
        let longest = longest as f64 + rank as f64;
        let stored = 2.0 * unit * (norm2(grad) + self.ridge * h);
        let grad = weight * f64::EPSILON * (2.0 * rank as f64 + longest + 4.0) * sizes * w.hypot(h) + stored;
        let summed = if self.known.feedback() == Feedback::Implicit { longest } else { rank as f64 };
        let squares = weight * f64::EPSILON * (summed + 4.0) * sizes * sizes;
        Rounding { value: squares + (8.0 * unit + sum_error(n)) * value.abs(), grad }
    }

    fn form(&self) -> Form<'_, S> {
        Form::Known(self)
    }
}

/// out ← the cols×rows transpose of a rows×cols matrix.
pub(crate) fn turn<S: Real>(out: &mut [S], a: &[S], rows: usize, cols: usize) {
    for (i, row) in a.chunks_exact(cols).enumerate() {
        row.iter().enumerate().for_each(|(j, &v)| out[j * rows + i] = v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{Factorization, laws};
    use crate::sparse::Misfit;

    /// Two of three entries of a matrix.
    fn entries(rows: usize, cols: usize) -> Csr<f64> {
        let y = laws::noise(rows * cols, 1);
        let places = (0..rows * cols).filter(|at| at % 3 != 1);
        let list = places.map(|at| ((at / cols) as u32, (at % cols) as u32, y[at]));
        Csr::from_entries(rows, cols, list, |_, _, y: &[f64]| Ok::<_, Misfit>(y[0])).unwrap()
    }

    #[test]
    fn obeys_the_laws() {
        laws::check(&KnownFactors::new(entries(6, 7), Feedback::Explicit, 3, 0.3).unwrap());
        let confidences = entries(6, 7).map(f64::abs);
        laws::check(&KnownFactors::new(confidences, Feedback::Implicit, 3, 0.0).unwrap());
    }

    #[test]
    fn is_the_masked_factorisation() {
        let (rows, cols, rank) = (40, 31, 9);
        let entries = entries(rows, cols);
        let (mut y, mut mask) = (vec![0.0; rows * cols], vec![0.0; rows * cols]);
        entries.iter().for_each(|(i, j, v)| (y[i * cols + j], mask[i * cols + j]) = (v, 1.0));
        let dense =
            Factorization::masked(y, mask, rows, cols, rank).unwrap().coefficient(0.5).unwrap().ridge(0.2).unwrap();
        let sparse = KnownFactors::new(entries, Feedback::Explicit, rank, 0.2).unwrap();
        let x = laws::noise((rows + cols) * rank, 2);
        let of = |f: &dyn Smooth<f64>| {
            let (mut grad, mut work) = (vec![0.0; x.len()], vec![f64::NAN; f.work_len()]);
            (f.value_grad(&mut grad, &x, &mut work), grad)
        };
        let (one, other) = (of(&dense), of(&sparse));
        assert!((one.0 - other.0).abs() < 1e-11 * one.0);
        assert!(one.1.iter().zip(&other.1).all(|(a, b)| (a - b).abs() < 1e-11 * (1.0 + a.abs())));
    }

    #[test]
    fn implicit_feedback_is_a_sum_over_every_place() {
        let (rows, cols, rank) = (9, 8, 2);
        let entries = entries(rows, cols).map(f64::abs);
        let f = KnownFactors::new(entries.clone(), Feedback::Implicit, rank, 0.0).unwrap();
        let x = laws::noise((rows + cols) * rank, 3);
        let value = f.value_grad(&mut vec![0.0; x.len()], &x, &mut vec![0.0; f.work_len()]);
        let (mut confidence, mut wanted) = (vec![1.0; rows * cols], vec![0.0; rows * cols]);
        entries.iter().for_each(|(i, j, y)| (confidence[i * cols + j], wanted[i * cols + j]) = (1.0 + y, 1.0));
        let s = |i: usize, j: usize| (0..rank).map(|k| x[i * rank + k] * x[rows * rank + k * cols + j]).sum::<f64>();
        let term = |at: usize| 0.5 * confidence[at] * (wanted[at] - s(at / cols, at % cols)).powi(2);
        let plain: f64 = (0..rows * cols).map(term).sum();
        assert!((value - plain).abs() < 1e-12 * plain);
        assert!(KnownFactors::new(entries.map(|y| -y), Feedback::Implicit, 2, 0.0).is_err());
    }
}
