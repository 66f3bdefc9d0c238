use crate::block::Layout;
use crate::error::Error;
use crate::operator::bound::{finite, rounded_up, zeros};
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::vector::{self, simd};

/// (Tx)ᵢⱼ = Σ_{a,b} k_ab x_{i−(a−a₀), j−(b−b₀)}: convolution with a kernel centred at a₀ = ⌊(K−1)/2⌋, b₀ = ⌊(L−1)/2⌋.
///
/// The output has the size of the image; the kernel is K×L, odd or even, smaller or larger than the image.
/// ‖T‖₂ ≤ Σ|k_ab| (Young): T is a sum of shifts times k_ab, and a shift, filled with zeros or cyclic, has norm at most 1. By reflection
/// a shift can see a pixel twice; there ‖T‖₂² ≤ ‖T‖_∞‖T‖₁ ≤ Σ|k_ab|·max |T|*1, which is Σ|k_ab| again where the kernel is its own mirror
/// image. The adjoint is the correlation for zeros and cyclic images; by reflection what falls beside the image is folded back onto it.
/// The centre is that of `scipy.signal.convolve2d(mode="same")`, whose boundary `symm` is [`Boundary::Reflect`].
#[derive(Clone, Debug)]
pub struct Convolution<S> {
    layout: Layout,
    boundary: Boundary,
    norm_bound: f64,
    /// Rows and columns of the image with its margins.
    padded: (usize, usize),
    convolve: Taps<S>,
    correlate: Taps<S>,
}

/// What stands outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// Zeros.
    Zero,
    /// The image again, on every side.
    Periodic,
    /// Its mirror image, edge pixels twice: b a | a b c | c b.
    Reflect,
}

/// One direction: the nonzero kernel entries with their places relative to the window, and the margins before the image.
#[derive(Clone, Debug)]
struct Taps<S> {
    top: usize,
    left: usize,
    taps: Vec<(usize, S)>,
}

/// Entries of a row computed together: their sums stay in registers while all taps are added.
const TILE: usize = 32;

impl<S: Real> Convolution<S> {
    /// Convolution of a rows×cols image with a kernel of `kernel_rows`×`kernel_cols` entries, row after row.
    pub fn new(
        (rows, cols): (usize, usize),
        kernel: &[S],
        (kernel_rows, kernel_cols): (usize, usize),
        boundary: Boundary,
    ) -> Result<Self, Error> {
        let layout = Layout::matrix(rows, cols)?;
        let kernel_layout = Layout::new([("kernel", kernel_rows, kernel_cols)])?;
        kernel_layout.check("kernel", kernel)?;
        Error::expect_finite("kernel", kernel)?;
        let padded_rows = rows.saturating_add(kernel_rows - 1);
        let padded_cols = cols.checked_next_multiple_of(TILE).unwrap_or(usize::MAX).saturating_add(kernel_cols - 1);
        Layout::new([("image with margins", padded_rows, padded_cols)])?; // refuses what memory cannot address
        let (row0, col0) = ((kernel_rows - 1) / 2, (kernel_cols - 1) / 2);
        let (last_row, last_col) = (kernel_rows - 1, kernel_cols - 1);
        let mut t = Self {
            layout,
            boundary,
            norm_bound: finite(rounded_up(vector::norm1(kernel), kernel.len()))?,
            padded: (padded_rows, padded_cols),
            convolve: Taps {
                top: last_row - row0,
                left: last_col - col0,
                taps: taps(kernel, kernel_cols, |a, b| (last_row - a) * padded_cols + last_col - b),
            },
            correlate: Taps { top: row0, left: col0, taps: taps(kernel, kernel_cols, |a, b| a * padded_cols + b) },
        };
        if boundary == Boundary::Reflect {
            t.norm_bound = finite((t.norm_bound * t.largest_column()?).sqrt())?;
        }
        Ok(t)
    }

    /// max |T|*1, rounded upwards: the largest sum of a column of absolute values.
    fn largest_column(&self) -> Result<f64, Error> {
        let mut absolute = self.clone();
        absolute.convolve.taps.iter_mut().for_each(|(_, weight)| *weight = weight.abs());
        let size = self.layout.size();
        let (mut sums, mut work) = (zeros("entries", size)?, zeros("entries with margins", self.work_len())?);
        absolute.adjoint_add(&mut sums, &vec![S::ONE; size], &mut work);
        Ok(vector::norm_inf(&sums) * (1.0 + (self.terms() + 8) as f64 * S::EPSILON))
    }

    /// Numbers that an entry of Tx or T*y is the sum of, at most: every tap and, by reflection, what is folded onto it.
    fn terms(&self) -> usize {
        let block = &self.layout.blocks()[0];
        let folds = (self.padded.0 / block.rows + 2) * (self.padded.1 / block.cols + 2);
        self.convolve.taps.len() + if self.boundary == Boundary::Reflect { folds } else { 0 }
    }

    /// The image between its margins: after this no boundary is left to look at.
    fn pad(&self, padded: &mut [S], image: &[S], taps: &Taps<S>) {
        let block = &self.layout.blocks()[0];
        for (i, line) in padded.chunks_exact_mut(self.padded.1).enumerate() {
            let Some(source) = self.source(i, taps.top, block.rows) else {
                line.fill(S::ZERO);
                continue;
            };
            let row = &image[source * block.cols..(source + 1) * block.cols];
            let (before, rest) = line.split_at_mut(taps.left);
            let (inside, after) = rest.split_at_mut(block.cols);
            let margin = |j| self.source(j, taps.left, block.cols).map_or(S::ZERO, |j| row[j]);
            before.iter_mut().enumerate().for_each(|(j, v)| *v = margin(j));
            inside.copy_from_slice(row);
            after.iter_mut().enumerate().for_each(|(j, v)| *v = margin(taps.left + block.cols + j));
        }
    }

    /// Which of `len` rows (columns) stands at place i, when `margin` places come before the first.
    fn source(&self, i: usize, margin: usize, len: usize) -> Option<usize> {
        match self.boundary {
            Boundary::Zero => i.checked_sub(margin).filter(|&i| i < len),
            Boundary::Periodic => Some((i + len - margin % len) % len),
            Boundary::Reflect => {
                let i = (i + 2 * len - margin % (2 * len)) % (2 * len);
                Some(i.min(2 * len - 1 - i))
            }
        }
    }

    /// x ← x + T*y by reflection: every tap of every row where it belongs between the margins, and these folded onto the image.
    fn fold_adjoint(&self, x: &mut [S], y: &[S], padded: &mut [S]) {
        let (block, width) = (&self.layout.blocks()[0], self.padded.1);
        padded.fill(S::ZERO);
        for (i, row) in y.chunks_exact(block.cols).enumerate() {
            for &(place, weight) in &self.convolve.taps {
                vector::axpy(&mut padded[i * width + place..][..block.cols], weight.f64(), row);
            }
        }
        for (i, line) in padded.chunks_exact(width).enumerate() {
            let Some(target) = self.source(i, self.convolve.top, block.rows) else { continue };
            let row = &mut x[target * block.cols..][..block.cols];
            for (j, &v) in line.iter().enumerate() {
                if let Some(target) = self.source(j, self.convolve.left, block.cols) {
                    row[target] += v;
                }
            }
        }
    }

    /// Calls `write` with each stretch of a row of the target and the sums that belong there.
    fn sweep(&self, target: &mut [S], source: &[S], taps: &Taps<S>, work: &mut [S], write: impl Fn(&mut S, S)) {
        self.pad(work, source, taps);
        let (width, padded) = (self.padded.1, &*work);
        simd(
            #[inline(always)]
            || {
                for (i, row) in target.chunks_exact_mut(self.layout.blocks()[0].cols).enumerate() {
                    for (tile, row) in row.chunks_mut(TILE).enumerate() {
                        let sums = window_sums(&padded[i * width + tile * TILE..], &taps.taps);
                        row.iter_mut().zip(sums).for_each(
                            #[inline(always)]
                            |(v, sum)| write(v, sum),
                        );
                    }
                }
            },
        )
    }
}

fn taps<S: Real>(kernel: &[S], cols: usize, place: impl Fn(usize, usize) -> usize) -> Vec<(usize, S)> {
    let entries = kernel.iter().enumerate().filter(|(_, weight)| **weight != S::ZERO);
    let mut taps: Vec<_> = entries.map(|(k, &weight)| (place(k / cols, k % cols), weight)).collect();
    taps.sort_by_key(|&(place, _)| place); // memory is read forwards
    taps
}

/// Σ weight·window[place + l] for l = 0, …, TILE − 1.
#[inline(always)]
fn window_sums<S: Real>(window: &[S], taps: &[(usize, S)]) -> [S; TILE] {
    let mut sums = [S::ZERO; TILE];
    for &(place, weight) in taps {
        for (sum, &v) in sums.iter_mut().zip(&window[place..place + TILE]) {
            *sum += weight * v;
        }
    }
    sums
}

/// A kernel as it was given, and what stands outside the image.
pub struct Kernel<S> {
    /// K×L entries, row after row.
    pub entries: Vec<S>,
    /// K and L.
    pub shape: (usize, usize),
    /// What stands outside the image.
    pub boundary: Boundary,
}

impl<S: Real> Convolution<S> {
    /// Rows and columns of the image.
    pub fn shape(&self) -> (usize, usize) {
        let block = &self.layout.blocks()[0];
        (block.rows, block.cols)
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel<S> {
        let Taps { top, left, taps } = &self.convolve;
        let (high, wide) = (top + self.correlate.top + 1, left + self.correlate.left + 1);
        let mut entries = vec![S::ZERO; high * wide];
        for &(place, weight) in taps {
            entries[(high - 1 - place / self.padded.1) * wide + wide - 1 - place % self.padded.1] = weight;
        }
        Kernel { entries, shape: (high, wide), boundary: self.boundary }
    }
}

impl<S: Real> LinOp<S> for Convolution<S> {
    fn domain(&self) -> &Layout {
        &self.layout
    }

    fn range(&self) -> &Layout {
        &self.layout
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    /// As many terms a sum as the kernel has and are folded, of sizes that add up to its ℓ1 norm, or to that of |T|.
    fn rounding(&self) -> f64 {
        (self.terms() + 1) as f64 * S::EPSILON * self.norm_bound
    }

    /// One image with margins.
    fn work_len(&self) -> usize {
        self.padded.0 * self.padded.1
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        self.sweep(y, x, &self.convolve, work, |y, sum| *y = sum);
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        match self.boundary {
            Boundary::Reflect => self.fold_adjoint(x, y, work),
            _ => self.sweep(x, y, &self.correlate, work, |x, sum| *x += sum),
        }
    }

    fn form(&self) -> Form<'_, S> {
        Form::Convolution(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Boundary::{Periodic, Reflect, Zero};
    use super::*;
    use crate::operator::laws;

    /// The formula, entry by entry.
    fn plain(x: &[f64], (rows, cols): (usize, usize), k: &[f64], (kr, kc): (usize, usize), b: Boundary) -> Vec<f64> {
        let place = |i: usize, a: usize, k: usize, n: usize| {
            let s = i as isize - (a as isize - ((k - 1) / 2) as isize);
            let n = n as isize;
            match b {
                Zero => Some(s).filter(|s| (0..n).contains(s)),
                Periodic => Some(s.rem_euclid(n)),
                Reflect => Some(s.rem_euclid(2 * n).min(2 * n - 1 - s.rem_euclid(2 * n))),
            }
        };
        let mut y = vec![0.0; rows * cols];
        for (n, y) in y.iter_mut().enumerate() {
            for (t, k) in k.iter().enumerate() {
                if let (Some(i), Some(j)) = (place(n / cols, t / kc, kr, rows), place(n % cols, t % kc, kc, cols)) {
                    *y += k * x[i as usize * cols + j as usize];
                }
            }
        }
        y
    }

    #[test]
    fn is_the_formula_and_obeys_the_laws() {
        let shapes = [((5, 6), (3, 3)), ((4, 7), (2, 4)), ((1, 9), (1, 5)), ((3, 2), (5, 7)), ((2, 35), (3, 1))];
        for ((image, kernel_shape), boundary) in shapes.iter().flat_map(|s| [Zero, Periodic, Reflect].map(|b| (*s, b)))
        {
            let kernel: Vec<f64> = laws::random(kernel_shape.0 * kernel_shape.1, 3);
            let t = Convolution::new(image, &kernel, kernel_shape, boundary).unwrap();
            laws::check(&t);
            let x: Vec<f64> = laws::random(image.0 * image.1, 5);
            let (mut y, mut work) = (vec![f64::NAN; x.len()], vec![f64::NAN; t.work_len()]);
            t.apply(&mut y, &x, &mut work);
            let expected = plain(&x, image, &kernel, kernel_shape, boundary);
            assert!(y.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13), "{image:?} {kernel_shape:?}");
            let single: Vec<f32> = kernel.iter().map(|&k| k as f32).collect();
            laws::check(&Convolution::new(image, &single, kernel_shape, boundary).unwrap());
        }
    }

    #[test]
    fn the_kernel_comes_back() {
        let kernel: Vec<f64> = laws::random(12, 3);
        let found = Convolution::new((5, 6), &kernel, (3, 4), Reflect).unwrap().kernel();
        assert_eq!((found.entries, found.shape, found.boundary), (kernel, (3, 4), Reflect));
    }

    #[test]
    fn large_images_obey_the_laws() {
        let kernel = laws::random::<f32>(15, 9);
        laws::assert_adjoint(&Convolution::new((70, 101), &kernel, (5, 3), Periodic).unwrap());
        laws::assert_adjoint(&Convolution::new((70, 101), &kernel, (3, 5), Zero).unwrap());
        laws::assert_adjoint(&Convolution::new((70, 101), &kernel, (5, 3), Reflect).unwrap());
    }

    #[test]
    fn a_symmetric_kernel_reflected_has_the_norm_of_its_sum() {
        let blur = [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0].map(|k| k / 16.0);
        let bound = |kernel: &[f64]| Convolution::new((8, 9), kernel, (3, 3), Reflect).unwrap().norm_bound();
        assert!((1.0..1.0 + 1e-12).contains(&bound(&blur)));
        // A shift sees an edge twice: its norm is √2, not 1.
        let shift = Convolution::new((1, 6), &[0.0, 0.0, 1.0], (1, 3), Reflect).unwrap();
        assert!((2f64.sqrt()..2f64.sqrt() + 1e-12).contains(&shift.norm_bound()));
        laws::check(&shift);
    }

    #[test]
    fn an_even_kernel_reaches_back() {
        let shifted = |boundary| {
            let t = Convolution::new((1, 3), &[0.0, 1.0], (1, 2), boundary).unwrap();
            let (mut y, mut work) = ([f64::NAN; 3], vec![0.0; t.work_len()]);
            t.apply(&mut y, &[1.0, 2.0, 3.0], &mut work);
            y
        };
        assert_eq!(shifted(Zero), [0.0, 1.0, 2.0]);
        assert_eq!(shifted(Periodic), [3.0, 1.0, 2.0]);
        assert_eq!(shifted(Reflect), [1.0, 1.0, 2.0]);
    }

    #[test]
    fn bad_input_is_refused() {
        let new = |image, kernel: &[f64], shape| Convolution::new(image, kernel, shape, Zero).unwrap_err();
        assert!(matches!(new((0, 3), &[1.0], (1, 1)), Error::EmptyBlock { .. }));
        assert!(matches!(new((3, 3), &[], (0, 1)), Error::EmptyBlock { .. }));
        assert!(matches!(new((3, 3), &[1.0; 3], (2, 2)), Error::Shape { expected: 4, got: 3, .. }));
        assert!(matches!(new((3, 3), &[f64::NAN], (1, 1)), Error::NotFinite { .. }));
        assert!(matches!(new((3, usize::MAX / 4), &[1.0; 2], (2, 1)), Error::EmptyBlock { .. }));
        assert!(matches!(new((3, 3), &[f64::MAX; 2], (2, 1)), Error::Parameter { .. }));
    }
}
