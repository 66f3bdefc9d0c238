//! Noise that neighbouring pixels share, as the filters see it.

use melmo::real::Real;

use super::weights::Weights;

/// Side of a square.
const SIDE: usize = 16;
/// One square in so many is taken to hold nothing but noise, but at least a few.
const QUIET: usize = 20;
const FEWEST: usize = 6;
/// What the quietest squares say is below the mean, and noise that neighbours share is averaged over fewer of them: so much more is removed
/// (measured: docs/denoising.md).
const MORE: f64 = 1.4;
/// How much more or less a filter may see.
const MOST: f64 = 4.0;

/// How much of noise every filter sees, beside what it sees of white noise of the same strength: plane by plane.
pub(crate) struct Spectrum {
    /// That of a pixel, in the units of the samples.
    pub level: f64,
    /// For each plane a number for each filter of [`super::weights::first`] and of [`super::weights::adapted`].
    planes: Vec<[Vec<f64>; 2]>,
}

impl Spectrum {
    /// From the quietest squares of every plane.
    pub(super) fn of<S: Real>(planes: &[&[S]], (rows, cols): (usize, usize), banks: [&Weights; 2]) -> Self {
        let seen: Vec<[Vec<f64>; 2]> = planes
            .iter()
            .map(|plane| {
                let quiet = quiet(plane, (rows, cols), banks[1]);
                banks.map(|bank| energies(plane, cols, &quiet, bank))
            })
            .collect();
        let size = |bank: &Weights| -> Vec<f64> { norms(bank).collect() };
        let sizes = banks.map(size);
        let of_plane = |seen: &[Vec<f64>; 2]| seen[1].iter().sum::<f64>() / sizes[1].iter().sum::<f64>();
        let level = (seen.iter().map(of_plane).sum::<f64>() / planes.len() as f64).sqrt();
        let relative = |seen: &[f64], sizes: &[f64]| -> Vec<f64> {
            let one = |(e, n): (&f64, &f64)| ((e / n).sqrt() / level).clamp(1.0 / MOST, MOST);
            seen.iter().zip(sizes).map(one).collect()
        };
        let planes = seen.iter().map(|seen| [0, 1].map(|k| relative(&seen[k], &sizes[k]))).collect();
        Self { level: MORE * level, planes }
    }

    /// Of a plane, for the filters of the first picture.
    pub fn first(&self, plane: usize) -> &[f64] {
        &self.planes[plane][0]
    }

    /// The same for those that follow it.
    pub fn adapted(&self, plane: usize) -> &[f64] {
        &self.planes[plane][1]
    }
}

/// ‖w_c‖² of every filter.
fn norms(bank: &Weights) -> impl Iterator<Item = f64> {
    let filters: Vec<f64> = bank.filters().copied().collect();
    let taps = bank.side * bank.side;
    (0..bank.channels()).map(move |c| filters[c * taps..][..taps].iter().map(|w| w * w).sum())
}

/// Upper left corners of the quietest squares, by what a filter bank sees in them; every fourth pixel is asked.
fn quiet<S: Real>(plane: &[S], (rows, cols): (usize, usize), bank: &Weights) -> Vec<usize> {
    let margin = bank.side / 2;
    let corner = |i: usize, j: usize| (i + margin) * cols + j + margin;
    let down = (0..rows.saturating_sub(SIDE + 2 * margin - 1)).step_by(SIDE);
    let mut all: Vec<(f64, usize)> = down
        .flat_map(|i| {
            let across = (0..cols.saturating_sub(SIDE + 2 * margin - 1)).step_by(SIDE);
            across.map(move |j| corner(i, j))
        })
        .map(|at| {
            let mut sum = 0.0;
            for (i, j) in (0..SIDE).step_by(2).flat_map(|i| (0..SIDE).step_by(2).map(move |j| (i, j))) {
                let p = at + i * cols + j;
                let v = |q: usize| plane[q].f64();
                // Second differences over two pixels: smooth noise shows in them.
                sum += (v(p - 2) - 2.0 * v(p) + v(p + 2)).powi(2)
                    + (v(p - 2 * cols) - 2.0 * v(p) + v(p + 2 * cols)).powi(2);
            }
            (sum, at)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.truncate(all.len().div_ceil(QUIET).max(FEWEST));
    all.into_iter().map(|(_, at)| at).collect()
}

/// Mean squares of every filter's responses in these squares.
fn energies<S: Real>(plane: &[S], cols: usize, corners: &[usize], bank: &Weights) -> Vec<f64> {
    let (side, half) = (bank.side, bank.side / 2);
    let filters: Vec<f64> = bank.filters().copied().collect();
    let mut sums = vec![0.0; bank.channels()];
    let mut window = vec![0.0; side * side];
    let mut count = 0.0f64;
    for &at in corners {
        for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
            let first = at + i * cols + j - half * cols - half;
            for (k, line) in window.chunks_exact_mut(side).enumerate() {
                line.iter_mut().zip(&plane[first + k * cols..][..side]).for_each(|(w, v)| *w = v.f64());
            }
            for (sum, filter) in sums.iter_mut().zip(filters.chunks_exact(side * side)) {
                let response: f64 = filter.iter().zip(&window).map(|(w, v)| w * v).sum();
                *sum += response * response;
            }
            count += 1.0;
        }
    }
    sums.iter().map(|sum| sum / count.max(1.0)).collect()
}
