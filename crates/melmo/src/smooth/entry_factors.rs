use std::sync::Arc;

use crate::block::Layout;
use crate::error::Error;
use crate::real::Real;
use crate::smooth::logistic::logistic;
use crate::smooth::turn;
use crate::smooth::{Form, Rounding, Smooth};
use crate::sparse::Csr;
use crate::threads;
use crate::vector::{axpy, norm1, norm2, norm2_squared, simd, sum, sum_error};

/// h(t) of an entry y that is stored, where t = (WH)ᵢⱼ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EntryLoss {
    /// t + y·log(y/t) − y, and t where nothing is stored: counts, missing = 0 (Poisson, generalised Kullback–Leibler). Below the
    /// `floor` −log t goes on as the parabola that touches it there, so that f is defined for every W and H.
    Poisson {
        /// Where the parabola begins.
        floor: f64,
    },
    /// log(1 + exp(−bt)), b = 1 for y > 0 and −1 otherwise: yes or no, over the entries that are stored.
    Logistic,
}

impl EntryLoss {
    /// h(t) and h′(t), without the t that every entry of a Poisson loss has.
    #[inline(always)]
    pub(crate) fn value_slope(self, y: f64, t: f64) -> (f64, f64) {
        match self {
            Self::Poisson { floor } => {
                let (at, below) = (t.max(floor), (t - floor).min(0.0) / floor);
                let constant = if y > 0.0 { y * (y / at).ln() - y } else { 0.0 };
                (constant - y * below * (1.0 - 0.5 * below), -y / at * (1.0 - below))
            }
            Self::Logistic => logistic(t, if y > 0.0 { 1.0 } else { -1.0 }),
        }
    }

    /// h′(t) and the curvature of a parabola through it: h″(t) for a Poisson loss, which lies above h to the right of t; for a
    /// logistic loss tanh(t/2)/(2t), which lies above it everywhere (Jaakkola and Jordan 2000).
    #[inline(always)]
    pub(crate) fn slope_bend(self, y: f64, t: f64) -> (f64, f64) {
        let slope = self.value_slope(y, t).1;
        match self {
            Self::Poisson { floor } => (slope, y / t.max(floor).powi(2)),
            Self::Logistic if t.abs() < 1e-4 => (slope, 0.25),
            Self::Logistic => (slope, (0.5 * t).tanh() / (2.0 * t)),
        }
    }
}

/// f(W, H) = Σ h((WH)ᵢⱼ) + ν/2·‖H‖² over the entries of a sparse Y: counts or yes and no, by [`EntryLoss`].
///
/// Σ (WH)ᵢⱼ over all places is ⟨Wᵀ1, H1⟩: time and memory go with the entries that are stored. ∇f has no global Lipschitz constant.
#[derive(Clone, Debug)]
pub struct EntryFactors<S> {
    layout: Layout,
    /// By rows and by columns.
    entries: Arc<[Csr<S>; 2]>,
    rank: usize,
    loss: EntryLoss,
    ridge: f64,
}

impl<S: Real> EntryFactors<S> {
    /// The entries and the rank r ≥ 1: blocks `W` (rows×r) and `H` (r×cols), ν = 0. Counts are at least 0, and a floor is above 0.
    pub fn new(y: Csr<S>, loss: EntryLoss, rank: usize) -> Result<Self, Error> {
        Error::expect_parameter("rank", rank as f64, rank > 0, "at least 1")?;
        let layout = Layout::new([("W", y.rows(), rank), ("H", rank, y.cols())])?;
        Error::expect_finite("entries of Y", y.values())?;
        if let EntryLoss::Poisson { floor } = loss {
            Error::expect_positive("floor", floor)?;
            let least = y.values().iter().fold(0.0f64, |least, v| least.min(v.f64()));
            Error::expect_parameter("the least count", least, least >= 0.0, "at least 0")?;
        }
        let turned = y.transposed();
        Ok(Self { layout, entries: Arc::new([y, turned]), rank, loss, ridge: 0.0 })
    }

    /// The weight ν ≥ 0 of ½‖H‖².
    pub fn ridge(mut self, nu: f64) -> Result<Self, Error> {
        let holds = nu >= 0.0 && nu.is_finite();
        self.ridge = Error::expect_parameter("ridge", nu, holds, "a finite number, at least 0")?;
        Ok(self)
    }

    /// The entries, by rows and by columns.
    pub fn entries(&self) -> &[Csr<S>; 2] {
        &self.entries
    }

    /// Rows and columns of Y, and the rank.
    pub fn shape(&self) -> (usize, usize, usize) {
        (self.entries[0].rows(), self.entries[0].cols(), self.rank)
    }

    /// h and ν.
    pub fn parts(&self) -> (EntryLoss, f64) {
        (self.loss, self.ridge)
    }

    /// h of every place has t in it: those of a Poisson loss.
    pub(crate) fn counts_all(&self) -> bool {
        matches!(self.loss, EntryLoss::Poisson { .. })
    }

    /// out_i ← Σ_j h′(⟨a_i, b_j⟩)b_j over the stored entries of every line i; returns the sum of h.
    fn pass(&self, side: usize, out: &mut [S], a: &[S], b: &[S]) -> f64 {
        let (entries, rank, loss) = (&self.entries[side], self.rank, self.loss);
        let size = threads::block(entries.rows(), 1, 16);
        let parts = out.chunks_mut(size * rank).zip(a.chunks(size * rank)).enumerate();
        let [total] = threads::sums(entries.len().saturating_mul(2 * rank + 20), parts, |(part, (out, a))| {
            let mut total = 0.0;
            for (at, (out, a)) in out.chunks_exact_mut(rank).zip(a.chunks_exact(rank)).enumerate() {
                let line = entries.row(part * size + at);
                total += simd(
                    #[inline(always)]
                    || line_pass(loss, line, out, a, b),
                );
            }
            [total]
        });
        total
    }
}

#[inline(always)]
fn line_pass<S: Real>(loss: EntryLoss, (places, values): (&[u32], &[S]), out: &mut [S], a: &[S], b: &[S]) -> f64 {
    let mut total = 0.0;
    out.fill(S::ZERO);
    for (&j, &y) in places.iter().zip(values) {
        let b = &b[j as usize * a.len()..][..a.len()];
        let (value, slope) = loss.value_slope(y.f64(), inner(a, b));
        total += value;
        let slope = S::of(slope);
        out.iter_mut().zip(b).for_each(|(out, &b)| *out += slope * b);
    }
    total
}

/// ⟨a, b⟩ in double precision, four lanes.
#[inline(always)]
pub(crate) fn inner<S: Real>(a: &[S], b: &[S]) -> f64 {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut lanes = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        (0..4).for_each(|l| lanes[l] += a[l].f64() * b[l].f64());
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a.f64() * b.f64()).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Σ over the lines of component k.
pub(crate) fn total_of<S: Real>(lines: &[S], rank: usize, k: usize) -> f64 {
    lines.iter().skip(k).step_by(rank).map(|v| v.f64()).sum()
}

impl<S: Real> Smooth<S> for EntryFactors<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Hᵀ and its gradient.
    fn work_len(&self) -> usize {
        2 * self.entries[0].cols() * self.rank
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let (rows, cols, rank) = self.shape();
        let (w, h) = x.split_at(rows * rank);
        let (grad_w, grad_h) = grad.split_at_mut(rows * rank);
        let (ht, grad_ht) = work[..2 * cols * rank].split_at_mut(cols * rank);
        turn(ht, h, rank, cols);
        let mut value = self.pass(0, grad_w, w, ht);
        self.pass(1, grad_ht, ht, w);
        if self.counts_all() {
            for k in 0..rank {
                let (of_w, of_h) = (total_of(w, rank, k), sum(&h[k * cols..(k + 1) * cols], |v| v.f64()));
                value += of_w * of_h;
                grad_w.iter_mut().skip(k).step_by(rank).for_each(|g| *g += S::of(of_h));
                grad_ht.iter_mut().skip(k).step_by(rank).for_each(|g| *g += S::of(of_w));
            }
        }
        turn(grad_h, grad_ht, cols, rank);
        if self.ridge > 0.0 {
            axpy(grad_h, self.ridge, h);
            value += 0.5 * self.ridge * norm2_squared(h);
        }
        value
    }

    fn lower_bound(&self) -> Option<f64> {
        (!self.counts_all()).then_some(0.0)
    }

    /// Each t is a product over the rank, h′ and h a few operations of it, and sums are as long as a line. Where W and H have no
    /// negative entries nothing cancels in t; elsewhere, for counts, an error of t is one of h times y/floor.
    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        let (rows, cols, rank) = self.shape();
        let (w, h) = x.split_at(rows * rank);
        let (unit, n) = (S::EPSILON, self.entries[0].len() as f64);
        let longest = rows.max(cols).min(self.entries[0].len()) as f64 + rank as f64 + 8.0;
        let (all, sizes) = (norm1(self.entries[0].values()), norm2(w) * norm2(h));
        let cancels = x.iter().any(|v| *v < S::ZERO);
        let places = ((rows as f64) * cols as f64).sqrt();
        // Σ|h| and ‖h′‖ at most: of counts up to |log(y/t)| ≤ 800 in double precision.
        let (values, slopes, steep) = match self.loss {
            EntryLoss::Poisson { floor } => (800.0 * all + sizes * places, places, all / floor / floor.min(1.0)),
            EntryLoss::Logistic => (n * std::f64::consts::LN_2 + sizes * n.sqrt(), n.sqrt(), n.sqrt()),
        };
        let moved = if cancels { f64::EPSILON * rank as f64 * sizes * steep } else { 0.0 };
        let grad =
            unit * longest * (norm2(grad) + 2.0 * slopes * norm2(w).hypot(norm2(h))) + moved * norm2(w).hypot(norm2(h));
        let summed = (8.0 * f64::EPSILON * rank as f64 + sum_error(self.entries[0].len())) * values;
        Rounding {
            value: summed + moved + 8.0 * unit * value.abs().min(values),
            grad: grad + unit * self.ridge * norm2(h),
        }
    }

    fn form(&self) -> Form<'_, S> {
        Form::Entries(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::laws;
    use crate::sparse::Misfit;
    use crate::threads::Threads;

    fn counts<S: Real>(rows: usize, cols: usize) -> Csr<S> {
        let list = (0..rows * cols).filter(|at| at % 3 != 1);
        let list = list.map(|at| ((at / cols) as u32, (at % cols) as u32, S::of((at * 7 % 5) as f64)));
        Csr::from_entries(rows, cols, list, |_, _, _| Err(Misfit("twice".into()))).unwrap()
    }

    #[test]
    fn obeys_the_laws() {
        laws::check(&EntryFactors::new(counts(6, 7), EntryLoss::Logistic, 3).unwrap().ridge(0.3).unwrap());
        laws::check(&EntryFactors::new(counts(6, 7), EntryLoss::Poisson { floor: 0.7 }, 3).unwrap());
    }

    #[test]
    fn poisson_is_the_divergence_over_all_places_and_logistic_over_those_stored() {
        let (rows, cols, rank) = (9, 8, 2);
        let y = counts::<f64>(rows, cols);
        let x: Vec<f64> = laws::noise((rows + cols) * rank, 4).iter().map(|v| v.abs() + 0.1).collect();
        let product =
            |i: usize, j: usize| -> f64 { (0..rank).map(|k| x[i * rank + k] * x[rows * rank + k * cols + j]).sum() };
        let mut divergence: f64 = (0..rows * cols).map(|at| product(at / cols, at % cols)).sum();
        let mut chances = 0.0;
        for (i, j, y) in y.iter() {
            let t = product(i, j);
            divergence += if y > 0.0 { y * (y / t).ln() - y } else { 0.0 };
            chances += (1.0 + (if y > 0.0 { -t } else { t }).exp()).ln();
        }
        let value = |loss: EntryLoss| {
            let f = EntryFactors::new(y.clone(), loss, rank).unwrap();
            f.value_grad(&mut vec![0.0; x.len()], &x, &mut vec![f64::NAN; f.work_len()])
        };
        assert!((value(EntryLoss::Poisson { floor: 1e-10 }) - divergence).abs() < 1e-10 * divergence);
        assert!((value(EntryLoss::Logistic) - chances).abs() < 1e-10 * chances);
    }

    #[test]
    fn single_precision_stays_within_its_rounding_on_any_number_of_threads() {
        let (rows, cols, rank) = (300, 80, 5);
        let x: Vec<f32> = laws::noise((rows + cols) * rank, 4).iter().map(|v| v.abs() as f32 + 0.1).collect();
        let double: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
        for loss in [EntryLoss::Poisson { floor: 1e-10 }, EntryLoss::Logistic] {
            let f = EntryFactors::new(counts::<f32>(rows, cols), loss, rank).unwrap().ridge(0.1).unwrap();
            let exact = EntryFactors::new(counts::<f64>(rows, cols), loss, rank).unwrap().ridge(0.1).unwrap();
            let at = |threads: usize| {
                let mut grad = vec![f32::NAN; x.len()];
                let work = &mut vec![f32::NAN; f.work_len()];
                let value = Threads::new(threads).unwrap().run(|| f.value_grad(&mut grad, &x, work));
                (value, grad)
            };
            let (value, grad) = at(1);
            assert_eq!(at(3), (value, grad.clone()));
            let mut known = vec![0.0; x.len()];
            let known_value = exact.value_grad(&mut known, &double, &mut vec![0.0; exact.work_len()]);
            let room = f.rounding(&x, value, &grad);
            let off: f64 = grad.iter().zip(&known).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>().sqrt();
            assert!(
                (value - known_value).abs() <= room.value && off <= room.grad,
                "{value} {known_value} {off} {room:?}"
            );
            assert!(room.value < 1e-4 * known_value, "{room:?} {known_value}");
        }
    }

    #[test]
    fn bad_counts_are_refused() {
        let minus = counts::<f64>(3, 4).map(|v| -v);
        assert!(EntryFactors::new(minus.clone(), EntryLoss::Poisson { floor: 1e-10 }, 1).is_err());
        assert!(EntryFactors::new(minus, EntryLoss::Logistic, 1).is_ok());
        assert!(EntryFactors::new(counts::<f64>(3, 4), EntryLoss::Poisson { floor: 0.0 }, 1).is_err());
        assert!(EntryFactors::new(counts::<f64>(3, 4), EntryLoss::Logistic, 0).is_err());
    }
}
