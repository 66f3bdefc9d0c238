//! What tells noise that pixels share from a texture: pixels of 2×2, what channels have in common, and where it is.

use melmo::real::Real;

use super::super::planes::Planes;
use super::squares::squares;

/// Side of a square, in pixels of 2×2.
const SIDE: usize = 8;

/// Means of 2×2, in a unit.
pub(super) fn half<S: Real>(x: &[S], (rows, cols): (usize, usize), unit: f64) -> (Vec<f64>, (usize, usize)) {
    let shape = (rows / 2, cols / 2);
    let mut out = Vec::with_capacity(shape.0 * shape.1);
    for pair in x.chunks_exact(2 * cols) {
        let (above, below) = pair.split_at(cols);
        let sum = |j: usize| above[j].f64() + above[j + 1].f64() + below[j].f64() + below[j + 1].f64();
        out.extend((0..shape.1).map(|j| 0.25 / unit * sum(2 * j)));
    }
    (out, shape)
}

/// How far the channels of a picture do the same in its quietest squares: the correlation of the first with the second and of the second
/// with the third. 1 for a texture of light and shade, about 0 for noise.
pub(super) fn agreement<S: Real>(image: &Planes<'_, S>, unit: f64) -> f64 {
    let shape = (image.rows, image.cols);
    let planes: Vec<_> = (0..image.channels).map(|c| half(image.channel(c), shape, unit)).collect();
    let (rows, cols) = planes[0].1;
    let response = |c: usize, i: usize, j: usize| {
        let x = &planes[c].0;
        let along = |i: usize| x[i * cols + j] - 2.0 * x[i * cols + j + 1] + x[i * cols + j + 2];
        along(i) - 2.0 * along(i + 1) + along(i + 2)
    };
    let mut products: Vec<[f64; 5]> = Vec::new();
    for top in (0..rows.saturating_sub(SIDE + 1)).step_by(SIDE) {
        for left in (0..cols.saturating_sub(SIDE + 1)).step_by(SIDE) {
            let mut sums = [0.0; 5];
            for (i, j) in (top..top + SIDE).flat_map(|i| (left..left + SIDE).map(move |j| (i, j))) {
                let [a, b, c] = [0, 1, 2].map(|channel| response(channel, i, j));
                [a * a, b * b, c * c, a * b, b * c].iter().zip(&mut sums).for_each(|(v, sum)| *sum += v);
            }
            products.push(sums);
        }
    }
    products.sort_by(|a, b| a[..3].iter().sum::<f64>().total_cmp(&b[..3].iter().sum::<f64>()));
    products.truncate((products.len() / 10).max(4));
    let sum = |k: usize| products.iter().map(|v| v[k]).sum::<f64>();
    let correlation = |ab: usize, a: usize, b: usize| sum(ab) / (sum(a) * sum(b)).sqrt();
    let found = 0.5 * (correlation(3, 0, 1) + correlation(4, 1, 2));
    if found.is_nan() { 1.0 } else { found }
}

/// How much a quarter of the squares differ from the quietest twentieth, as a quotient of energies: 1.3 for noise.
pub(super) fn unevenness<S: Real>(image: &Planes<'_, S>, unit: f64) -> f64 {
    let (plane, shape) = half(image.channel(0), (image.rows, image.cols), unit);
    let mut all: Vec<f64> = squares(&plane, shape, SIDE, 1.0).full().iter().map(|square| square.energy()).collect();
    all.sort_by(f64::total_cmp);
    match (all.get(all.len() / 4), all.get(all.len() / 20)) {
        (Some(quarter), Some(least)) if *least > 0.0 => quarter / least,
        _ => f64::INFINITY,
    }
}
