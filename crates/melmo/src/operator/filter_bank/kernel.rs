//! The loops: a row of all responses, and what it adds to the rows around it.

use super::product::{Product, Rows};
use crate::block::Layout;
use crate::error::Error;
use crate::real::Real;
use crate::vector::{self, simd};

/// Rows are whole vectors of any machine.
const TILE: usize = 16;
/// Pixels of a row computed together: what their windows hold stays in the first cache.
const TOGETHER: usize = 128;

/// The filters in the order in which the loops read them.
///
/// A filter is the sum of an even and an odd one, w(−a) = ±w(a). The even one needs only the sums x(a) + x(−a) of opposite pixels
/// of a window, the odd one only their differences: where filters are even or odd, half of all multiplications are saved.
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
    /// Which filter stands at each place: even ones, then those that are neither, then odd ones.
    order: Vec<usize>,
    /// Where filters begin that have an odd part.
    odd: usize,
    /// Responses from sums and from differences; sums and differences from responses.
    from: [Product<S>; 2],
    to: [Product<S>; 2],
}

impl<S: Real> Kernel<S> {
    /// Refuses an image whose margins memory cannot address.
    pub fn new(filters: &[S], side: usize, (rows, cols): (usize, usize)) -> Result<Self, Error> {
        let (taps, channels) = (side * side, filters.len() / (side * side));
        let width = cols.checked_next_multiple_of(TILE).unwrap_or(usize::MAX);
        let stride = width.saturating_add(side - 1);
        Layout::new([("image with margins", rows.saturating_add(side - 1), stride)])?;
        let filter = |c: usize| &filters[c * taps..][..taps];
        let is = |c: usize, sign: S| filter(c).iter().zip(filter(c).iter().rev()).all(|(&a, &b)| a == sign * b);
        let kind = |c: usize| if is(c, S::ONE) { 0 } else { 1 + usize::from(is(c, -S::ONE)) };
        let mut order: Vec<usize> = (0..channels).collect();
        order.sort_by_key(|&c| kind(c));
        let odd = order.iter().filter(|&&c| kind(c) == 0).count();
        let even = order.iter().filter(|&&c| kind(c) < 2).count();
        let half =
            |c: usize, t: usize, sign: S| S::of(0.5) * (filter(order[c])[t] + sign * filter(order[c])[taps - 1 - t]);
        let middle = taps / 2;
        let of_sum = |c: usize, t: usize| if t == middle { filter(order[c])[t] } else { half(c, t, S::ONE) };
        let of_difference = |c: usize, t: usize| half(odd + c, t, -S::ONE);
        let from = [Product::new(even, middle + 1, of_sum), Product::new(channels - odd, middle, of_difference)];
        let to = [
            Product::new(middle + 1, even, |t, c| of_sum(c, t)),
            Product::new(middle, channels - odd, |t, c| of_difference(c, t)),
        ];
        Ok(Self { side, channels, rows, cols, stride, width, odd, from, to, order })
    }

    /// Numbers of so many rows with their margins.
    pub fn padded_len(&self, rows: usize) -> usize {
        (rows + self.side - 1) * self.stride
    }

    /// Numbers of a row of all responses, of which the last few belong to no filter, and of what opposite pixels hold.
    pub fn row_len(&self) -> usize {
        self.responses_len() + (self.sums() + Product::<S>::padded(self.side * self.side / 2)) * TOGETHER
    }

    fn responses_len(&self) -> usize {
        Product::<S>::padded(self.channels + 3) * self.width
    }

    /// Rows of sums of opposite pixels.
    fn sums(&self) -> usize {
        Product::<S>::padded(self.side * self.side / 2 + 1)
    }

    /// The filters, and the row of each.
    pub fn channels_of<'r>(&'r self, row: &'r mut [S]) -> impl Iterator<Item = (usize, &'r mut [S])> {
        self.order.iter().zip(row.chunks_exact_mut(self.width)).map(|(&c, row)| (c, &mut row[..self.cols]))
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
        let (row, opposite) = row.split_at_mut(self.responses_len());
        row.fill(S::ZERO);
        opposite.fill(S::ZERO);
        let (sums, differences) = opposite.split_at_mut(self.sums() * TOGETHER);
        for at in (0..self.width).step_by(TOGETHER) {
            let len = TOGETHER.min(self.width - at);
            for (t, here, there) in self.pairs(at) {
                let own = t * TOGETHER..t * TOGETHER + len;
                let pixels = [&window[here..here + len], &window[there..there + len]];
                sums_and_differences(&mut sums[own.clone()], &mut differences[own], pixels);
            }
            let (t, here) = self.middle(at);
            sums[t * TOGETHER..][..len].copy_from_slice(&window[here..here + len]);
            for (product, top, data) in [(&self.from[0], 0, &*sums), (&self.from[1], self.odd, &*differences)] {
                let c = Rows { data: &mut row[top * self.width + at..], stride: self.width };
                product.add(c, Rows { data, stride: TOGETHER }, len);
            }
        }
    }

    /// Adds T* of a row of all responses to the rows around it, which begin at `padded`.
    pub fn scatter(&self, padded: &mut [S], row: &mut [S]) {
        let (row, opposite) = row.split_at_mut(self.responses_len());
        row.chunks_exact_mut(self.width).take(self.channels).for_each(|row| row[self.cols..].fill(S::ZERO));
        row[self.channels * self.width..].fill(S::ZERO);
        let (sums, differences) = opposite.split_at_mut(self.sums() * TOGETHER);
        for at in (0..self.width).step_by(TOGETHER) {
            let len = TOGETHER.min(self.width - at);
            for (product, top, data) in [(&self.to[0], 0, &mut *sums), (&self.to[1], self.odd, &mut *differences)] {
                data.fill(S::ZERO);
                let b = Rows { data: &row[top * self.width + at..], stride: self.width };
                product.add(Rows { data, stride: TOGETHER }, b, len);
            }
            for (t, here, there) in self.pairs(at) {
                let own = t * TOGETHER..t * TOGETHER + len;
                add(&mut padded[here..here + len], &sums[own.clone()], &differences[own.clone()], |s, d| s + d);
                add(&mut padded[there..there + len], &sums[own.clone()], &differences[own], |s, d| s - d);
            }
            let (t, here) = self.middle(at);
            vector::axpy(&mut padded[here..here + len], 1.0, &sums[t * TOGETHER..][..len]);
        }
    }

    /// Opposite entries of a filter: the number of the first, and where both lie in a window that begins at pixel `at`.
    fn pairs(&self, at: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let (taps, place) = (self.side * self.side, self.places(at));
        (0..taps / 2).map(move |t| (t, place(t), place(taps - 1 - t)))
    }

    /// The same of the entry in the middle.
    fn middle(&self, at: usize) -> (usize, usize) {
        let t = self.side * self.side / 2;
        (t, self.places(at)(t))
    }

    fn places(&self, at: usize) -> impl Fn(usize) -> usize + use<S> {
        let (side, stride) = (self.side, self.stride);
        move |t| t / side * stride + t % side + at
    }
}

/// a + b and a − b.
fn sums_and_differences<S: Real>(sums: &mut [S], differences: &mut [S], [a, b]: [&[S]; 2]) {
    simd(
        #[inline(always)]
        || {
            for (((sum, difference), &a), &b) in sums.iter_mut().zip(differences).zip(a).zip(b) {
                (*sum, *difference) = (a + b, a - b);
            }
        },
    )
}

/// Adds what `of` makes of a sum and a difference.
#[inline(always)]
fn add<S: Real>(target: &mut [S], sums: &[S], differences: &[S], of: impl Fn(S, S) -> S) {
    simd(
        #[inline(always)]
        || {
            for ((target, &sum), &difference) in target.iter_mut().zip(sums).zip(differences) {
                *target += of(sum, difference);
            }
        },
    )
}

/// Which of n pixels stands at place i, when `margin` places come before the first: the edge pixels twice, as often as it takes.
fn mirror(i: usize, margin: usize, n: usize) -> usize {
    let i = (i + 2 * n * margin - margin) % (2 * n);
    i.min(2 * n - 1 - i)
}
