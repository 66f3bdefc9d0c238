//! The loops: a row of all responses, and what it adds to the rows around it.

use crate::block::Layout;
use crate::error::Error;
use crate::real::Real;
use crate::vector::{self, simd};

/// Pixels of a row computed together.
const TILE: usize = 32;
/// Filters, or entries of filters, computed together: their sums for a tile stay in registers.
const TOGETHER: usize = 4;

/// The filters in the order in which the loops read them.
#[derive(Clone, Debug)]
pub(super) struct Kernel<S> {
    pub side: usize,
    pub channels: usize,
    rows: usize,
    cols: usize,
    /// Numbers from one row of an image with margins to the next.
    pub stride: usize,
    /// Whole tiles that a row is made of, in numbers.
    width: usize,
    /// For four filters at a time, the four weights of each tap.
    by_tap: Vec<[S; TOGETHER]>,
    /// For four taps at a time, the four weights of each filter.
    by_filter: Vec<[S; TOGETHER]>,
}

impl<S: Real> Kernel<S> {
    /// Refuses an image whose margins memory cannot address.
    pub fn new(filters: &[S], side: usize, (rows, cols): (usize, usize)) -> Result<Self, Error> {
        let (taps, channels) = (side * side, filters.len() / (side * side));
        let width = cols.checked_next_multiple_of(TILE).unwrap_or(usize::MAX);
        let stride = width.saturating_add(side - 1);
        Layout::new([("image with margins", rows.saturating_add(side - 1), stride)])?;
        let weight = |c: usize, t: usize| if c < channels && t < taps { filters[c * taps + t] } else { S::ZERO };
        let quads = |n: usize| (0..n.div_ceil(TOGETHER)).map(|q| q * TOGETHER);
        let by_tap =
            quads(channels).flat_map(|c| (0..taps).map(move |t| std::array::from_fn(|k| weight(c + k, t)))).collect();
        let by_filter =
            quads(taps).flat_map(|t| (0..channels).map(move |c| std::array::from_fn(|k| weight(c, t + k)))).collect();
        Ok(Self { side, channels, rows, cols, stride, width, by_tap, by_filter })
    }

    /// Numbers of so many rows with their margins.
    pub fn padded_len(&self, rows: usize) -> usize {
        (rows + self.side - 1) * self.stride
    }

    /// Numbers of a row of all responses; the last few belong to no filter.
    pub fn row_len(&self) -> usize {
        self.channels.next_multiple_of(TOGETHER) * self.width
    }

    /// The rows of the filters.
    pub fn channels_of<'r>(&self, row: &'r mut [S]) -> impl Iterator<Item = &'r mut [S]> {
        row.chunks_exact_mut(self.width).take(self.channels)
    }

    /// The image between its mirror images; zeros where a last tile reaches beyond.
    pub fn pad(&self, padded: &mut [S], image: &[S]) {
        let half = self.side / 2;
        for (i, line) in padded.chunks_exact_mut(self.stride).enumerate() {
            let row = &image[mirror(i, half, self.rows) * self.cols..][..self.cols];
            let (line, beyond) = line.split_at_mut(self.cols + 2 * half);
            line[half..half + self.cols].copy_from_slice(row);
            for j in (0..half).chain(half + self.cols..self.cols + 2 * half) {
                line[j] = row[mirror(j, half, self.cols)];
            }
            beyond.fill(S::ZERO);
        }
    }

    /// image ← image + what `count` rows with their margins, the first of them row `top`, say about it: the adjoint of [`Kernel::pad`].
    pub fn fold_add(&self, image: &mut [S], padded: &[S], top: usize, count: usize) {
        let half = self.side / 2;
        for (i, line) in padded.chunks_exact(self.stride).take(count + 2 * half).enumerate() {
            let row = &mut image[mirror(top + i, half, self.rows) * self.cols..][..self.cols];
            vector::axpy(row, 1.0, &line[half..half + self.cols]);
            for j in (0..half).chain(half + self.cols..self.cols + 2 * half) {
                row[mirror(j, half, self.cols)] += line[j];
            }
        }
    }

    /// All responses of the row whose window begins at `window`.
    pub fn responses(&self, row: &mut [S], window: &[S]) {
        let (side, taps) = (self.side, self.side * self.side);
        simd(
            #[inline(always)]
            || {
                for (rows, weights) in row.chunks_exact_mut(TOGETHER * self.width).zip(self.by_tap.chunks_exact(taps)) {
                    for at in (0..self.width).step_by(TILE) {
                        let mut sums = [[S::ZERO; TILE]; TOGETHER];
                        for (a, weights) in weights.chunks_exact(side).enumerate() {
                            let line = &window[a * self.stride + at..][..TILE + side - 1];
                            for (b, weights) in weights.iter().enumerate() {
                                add(&mut sums, weights, &line[b..b + TILE]);
                            }
                        }
                        for (k, sums) in sums.iter().enumerate() {
                            rows[k * self.width + at..][..TILE].copy_from_slice(sums);
                        }
                    }
                }
            },
        )
    }

    /// Adds T* of a row of all responses to the rows around it, which begin at `padded`.
    pub fn scatter(&self, padded: &mut [S], row: &mut [S]) {
        for row in self.channels_of(row) {
            row[self.cols..].fill(S::ZERO);
        }
        let (row, taps) = (&*row, self.side * self.side);
        simd(
            #[inline(always)]
            || {
                for at in (0..self.width).step_by(TILE) {
                    for (quad, weights) in self.by_filter.chunks_exact(self.channels).enumerate() {
                        let mut sums = [[S::ZERO; TILE]; TOGETHER];
                        for (c, weights) in weights.iter().enumerate() {
                            add(&mut sums, weights, &row[c * self.width + at..][..TILE]);
                        }
                        for (t, sums) in (quad * TOGETHER..taps).zip(&sums) {
                            let place = t / self.side * self.stride + t % self.side + at;
                            let target = &mut padded[place..place + TILE];
                            target.iter_mut().zip(sums).for_each(|(target, &sum)| *target += sum);
                        }
                    }
                }
            },
        )
    }
}

/// sums_k ← sums_k + weights_k·line.
#[inline(always)]
fn add<S: Real>(sums: &mut [[S; TILE]; TOGETHER], weights: &[S; TOGETHER], line: &[S]) {
    for (sums, &weight) in sums.iter_mut().zip(weights) {
        for (sum, &v) in sums.iter_mut().zip(line) {
            *sum += weight * v;
        }
    }
}

/// Which of n pixels stands at place i, when `margin` places come before the first: the edge pixels twice, as often as it takes.
fn mirror(i: usize, margin: usize, n: usize) -> usize {
    let i = (i + 2 * n * margin - margin) % (2 * n);
    i.min(2 * n - 1 - i)
}
