//! A bank of small filters on one image: every response, the exact adjoint, a sharp bound on the norm.

mod kernel;
mod product;
mod symbol;

use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;
use crate::operator::bound::{finite, rounded_up};
use crate::real::Real;
use crate::threads::{self, Threads};
use crate::vector;

use kernel::Kernel;

/// (T_c x)ᵢⱼ = Σ_{a,b} w_c,ab x̄_{i+a−p, j+b−p}: correlations of one image with C filters of K×K entries, K = 2p + 1.
///
/// x̄ is the image continued by reflection, edge pixels twice. The range has a block of rows×cols for each filter, so that each
/// can have a penalty of its own. With S = sup_ω Σ_c|ŵ_c(ω)|² (`symbol.rs` bounds it):
///
/// ```text
/// ‖Tx‖² ≤ Σ_c‖w_c ⋆ x̄‖² over a period of x̄ ≤ S‖x̄‖² = 4S‖x‖²
/// ```
///
/// since a period of x̄ is the image four times, mirrored. Where the mirror images of filters are filters too, up to their sign,
/// the four quarters of the sum are the same number, and ‖T‖² ≤ S: sharp for large images.
#[derive(Clone, Debug)]
pub struct FilterBank<S> {
    domain: Layout,
    range: Layout,
    rows: usize,
    cols: usize,
    kernel: Kernel<S>,
    norm_bound: f64,
    rounding: f64,
}

impl<S: Real> FilterBank<S> {
    /// Filters of side×side entries, one after another, for an image of rows×cols. The side is odd.
    pub fn new((rows, cols): (usize, usize), filters: &[S], side: usize) -> Result<Self, Error> {
        let domain = Layout::matrix(rows, cols)?;
        Error::expect_parameter("side", side as f64, side % 2 == 1 && side < 64, "odd, and below 64")?;
        let (taps, channels) = (side * side, filters.len() / (side * side));
        Error::expect_len("filters", channels.max(1) * taps, filters.len())?;
        Error::expect_finite("filters", filters)?;
        let range = Layout::new((0..channels).map(|c| (format!("filter {c}"), rows, cols)))?;
        let bank: Vec<f64> = filters.iter().map(|w| w.f64()).collect();
        let fourfold = if symbol::has_mirror_images(&bank, side) { 1.0 } else { 2.0 };
        let larger = |(a, b): (&f64, &f64)| a.abs().max(b.abs());
        let size = |w: &[f64]| w.iter().zip(w.iter().rev()).map(larger).sum();
        let sizes: Vec<f64> = bank.chunks_exact(taps).map(size).collect();
        let absolute = 2.0 * vector::norm2(&sizes);
        Ok(Self {
            domain,
            range,
            rows,
            cols,
            kernel: Kernel::new(filters, side, (rows, cols))?,
            norm_bound: finite(fourfold * rounded_up(symbol::largest(&bank, side), 64))?,
            rounding: (channels + taps + 4) as f64 * S::EPSILON * absolute,
        })
    }

    /// How many filters there are.
    pub fn channels(&self) -> usize {
        self.kernel.channels
    }

    /// grad ← grad + T*u, u_c = `each`(c, i, ·) of every row i of T_c x, which it replaces; returns the sum of what it returns.
    ///
    /// Nothing as large as Tx is written down: a row of all responses stays in cache. Blocks of rows are shared by threads; each
    /// has a gradient of its own, and these are added in their order.
    pub fn through(
        &self,
        grad: &mut [S],
        x: &[S],
        work: &mut [S],
        each: impl Fn(usize, usize, &mut [S]) -> f64 + Sync,
    ) -> f64 {
        let (kernel, block) = (&self.kernel, self.block());
        let (image, rest) = work.split_at_mut(kernel.padded_len(self.rows));
        let (parts, own) = rest.split_at_mut(self.rows.div_ceil(block) * kernel.padded_len(block));
        kernel.pad(image, x);
        let image = &*image;
        let tops = (0..self.rows).step_by(block);
        let items = tops.clone().zip(parts.chunks_exact_mut(kernel.padded_len(block)));
        let nanoseconds = self.rows * self.cols * kernel.channels * kernel.side;
        let [sum] =
            threads::sums_with(nanoseconds, own.chunks_exact_mut(kernel.row_len()), items, |row, (top, part)| {
                part.fill(S::ZERO);
                let mut sum = 0.0;
                for i in top..self.rows.min(top + block) {
                    kernel.responses(row, &image[i * kernel.stride..]);
                    for (c, row) in kernel.channels_of(row) {
                        sum += each(c, i, row);
                    }
                    kernel.scatter(&mut part[(i - top) * kernel.stride..], row);
                }
                [sum]
            });
        for (top, part) in tops.zip(parts.chunks_exact(kernel.padded_len(block))) {
            kernel.fold_add(grad, part, top, self.rows.min(top + block) - top);
        }
        sum
    }

    /// Scratch of [`FilterBank::through`], in numbers, for as many threads as there are now.
    pub fn through_work_len(&self) -> usize {
        let (kernel, blocks) = (&self.kernel, self.rows.div_ceil(self.block()));
        let own = blocks.min(Threads::current().get()) * kernel.row_len();
        kernel.padded_len(self.rows) + blocks * kernel.padded_len(self.block()) + own
    }

    /// How many additions a number goes through at most in the sum of [`FilterBank::through`]: along its row, over the rows and filters of
    /// its block, and over blocks.
    pub fn additions(&self) -> usize {
        self.cols + self.block() * self.kernel.channels + threads::BLOCKS
    }

    /// Rows of a block: what lies around them is a small part.
    fn block(&self) -> usize {
        self.rows.div_ceil(threads::BLOCKS).max(32).min(self.rows)
    }
}

impl<S: Real> LinOp<S> for FilterBank<S> {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    /// A response is a sum over a filter, an entry of T*y one over filters, their entries and at most four mirror images. Even and odd
    /// parts apart, |w(a)| becomes the larger of |w(a)| and |w(−a)|, v: the norm of all absolute values is at most 2(Σ_c‖v_c‖₁²)^½ (Young).
    fn rounding(&self) -> f64 {
        self.rounding
    }

    /// An image with its margins, and a row of all responses.
    fn work_len(&self) -> usize {
        self.kernel.padded_len(self.rows) + self.kernel.row_len()
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        let (kernel, plane) = (&self.kernel, self.rows * self.cols);
        let (image, row) = work.split_at_mut(kernel.padded_len(self.rows));
        kernel.pad(image, x);
        for i in 0..self.rows {
            kernel.responses(row, &image[i * kernel.stride..]);
            for (c, row) in kernel.channels_of(row) {
                y[c * plane + i * self.cols..][..self.cols].copy_from_slice(row);
            }
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let (kernel, plane) = (&self.kernel, self.rows * self.cols);
        let (image, row) = work.split_at_mut(kernel.padded_len(self.rows));
        image.fill(S::ZERO);
        for i in 0..self.rows {
            for (c, row) in kernel.channels_of(row) {
                row.copy_from_slice(&y[c * plane + i * self.cols..][..self.cols]);
            }
            kernel.scatter(&mut image[i * kernel.stride..], row);
        }
        kernel.fold_add(x, image, 0, self.rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    /// The formula, entry by entry.
    fn plain(x: &[f64], (rows, cols): (usize, usize), filters: &[f64], side: usize) -> Vec<f64> {
        let mirror = |i: isize, n: usize| {
            let i = i.rem_euclid(2 * n as isize) as usize;
            i.min(2 * n - 1 - i)
        };
        let half = (side / 2) as isize;
        let mut y = Vec::new();
        for w in filters.chunks_exact(side * side) {
            for p in 0..rows * cols {
                let term = |t: usize| {
                    let i = mirror((p / cols) as isize + (t / side) as isize - half, rows);
                    let j = mirror((p % cols) as isize + (t % side) as isize - half, cols);
                    w[t] * x[i * cols + j]
                };
                y.push((0..side * side).map(term).sum());
            }
        }
        y
    }

    /// Two filters with all their mirror images: S is what counts.
    fn mirrored(side: usize) -> Vec<f64> {
        let w: Vec<f64> = laws::random(2 * side * side, 4);
        let mut all = Vec::new();
        for w in w.chunks_exact(side * side) {
            all.extend_from_slice(w);
            all.extend(w.chunks_exact(side).rev().flatten().map(|w| -w));
            all.extend(w.chunks_exact(side).flat_map(|row| row.iter().rev()));
            all.extend(w.iter().rev());
        }
        all
    }

    #[test]
    fn is_the_formula_and_obeys_the_laws() {
        for (image, side, channels) in
            [((5, 6), 3, 1), ((4, 37), 3, 5), ((1, 9), 5, 2), ((3, 2), 7, 3), ((35, 4), 1, 2)]
        {
            let filters: Vec<f64> = laws::random(channels * side * side, 3);
            let t = FilterBank::new(image, &filters, side).unwrap();
            laws::check(&t);
            let x: Vec<f64> = laws::random(image.0 * image.1, 5);
            let (mut y, mut work) = (vec![f64::NAN; x.len() * channels], vec![f64::NAN; t.work_len()]);
            t.apply(&mut y, &x, &mut work);
            let expected = plain(&x, image, &filters, side);
            assert!(y.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13), "{image:?} {side}");
            let single: Vec<f32> = filters.iter().map(|&w| w as f32).collect();
            laws::check(&FilterBank::new(image, &single, side).unwrap());
        }
    }

    #[test]
    fn mirror_images_make_the_bound_sharp() {
        let filters = mirrored(3);
        let t = FilterBank::new((24, 20), &filters, 3).unwrap();
        laws::check(&t);
        let alone = FilterBank::new((24, 20), &filters[..9], 3).unwrap();
        laws::check(&alone);
        // ‖T‖ by power iteration: the bound is above it, and not by much.
        let (mut x, mut y) = (laws::random::<f64>(480, 8), vec![0.0; 480 * t.channels()]);
        let (mut norm, mut work) = (0.0, vec![0.0; t.work_len()]);
        for _ in 0..200 {
            let size = vector::norm2(&x);
            x.iter_mut().for_each(|v| *v /= size);
            t.apply(&mut y, &x, &mut work);
            norm = vector::norm2(&y);
            x.fill(0.0);
            t.adjoint_add(&mut x, &y, &mut work);
        }
        assert!(norm <= t.norm_bound() && t.norm_bound() < 1.05 * norm, "{norm} {}", t.norm_bound());
    }

    #[test]
    fn one_pass_is_the_operator_and_its_adjoint() {
        for image in [(3, 4), (70, 33), (1, 1)] {
            let t = FilterBank::new(image, &mirrored(5), 5).unwrap();
            let n = image.0 * image.1;
            let x: Vec<f64> = laws::random(n, 6);
            let (mut y, mut work) = (vec![0.0; n * t.channels()], vec![f64::NAN; t.work_len()]);
            t.apply(&mut y, &x, &mut work);
            let sum: f64 = y.iter().enumerate().map(|(i, y)| (i / n) as f64 * y).sum();
            y.iter_mut().for_each(|y| *y = y.tanh());
            let mut expected = vec![1.0; n];
            t.adjoint_add(&mut expected, &y, &mut work);
            let each = |c: usize, _: usize, row: &mut [f64]| {
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|y| *y = y.tanh());
                c as f64 * sum
            };
            let on = |threads: usize| {
                Threads::new(threads).unwrap().run(|| {
                    let (mut grad, mut work) = (vec![1.0; n], vec![f64::NAN; t.through_work_len()]);
                    (t.through(&mut grad, &x, &mut work, each), grad)
                })
            };
            let (found, grad) = on(1);
            assert!((found - sum).abs() < 1e-9 * (1.0 + sum.abs()));
            assert!(grad.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-11));
            assert_eq!(on(3), (found, grad));
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let new = |image, filters: &[f64], side| FilterBank::new(image, filters, side).unwrap_err();
        assert!(matches!(new((0, 3), &[1.0], 1), Error::EmptyBlock { .. }));
        assert!(matches!(new((3, 3), &[1.0; 4], 2), Error::Parameter { .. }));
        assert!(matches!(new((3, 3), &[1.0; 10], 3), Error::Shape { .. }));
        assert!(matches!(new((3, 3), &[], 3), Error::Shape { .. }));
        assert!(matches!(new((3, 3), &[f64::NAN], 1), Error::NotFinite { .. }));
        assert!(matches!(new((3, 3), &[f64::MAX; 9], 3), Error::Parameter { .. }));
        assert!(FilterBank::new((usize::MAX / 8, 2), &[1.0f64; 9], 3).is_err());
    }
}
