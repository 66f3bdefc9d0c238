//! How much goes on around each pixel, beyond the noise: what the penalty is weighted by.

use std::ops::Range;

use melmo::real::Real;

use super::planes::Planes;

/// Two means over squares of this radius, one after the other.
pub(super) const RADIUS: usize = 12;
/// Activity, in units of the noise, below which nothing can be told from noise.
const FLOOR: f64 = 0.5;
/// How strongly activity lowers the penalty.
const POWER: f64 = 0.4;

/// w = √C·(a² + ¼)^{−0.2} on these rows: a² is what is left of the local mean of ‖∇Y‖²/(C·noise²) without the 4 of noise.
///
/// Were differences Laplacian with local spread a, the most probable image would ask for weights 1/a; the weak power keeps
/// what is only an estimate from deciding too much. √C because C channels are tied together.
pub(super) fn weights<S: Real>(image: &Planes<'_, S>, rows: Range<usize>, noise: f64) -> Vec<S> {
    let reach = 2 * RADIUS;
    let seen = rows.start.saturating_sub(reach)..image.rows.min(rows.end + reach);
    let mut energy = energies(image, seen.clone(), noise);
    let mut spare = vec![S::ZERO; energy.len()];
    for _ in 0..2 {
        mean_along_rows(&mut spare, &energy, image.cols);
        mean_down_columns(&mut energy, &spare, image.cols);
    }
    let top = (rows.start - seen.start) * image.cols;
    let channels = image.channels as f64;
    let weight = |energy: &S| {
        let activity = (energy.f64() / channels - 4.0).max(0.0);
        S::of(channels.sqrt() * (activity + FLOOR * FLOOR).powf(-0.5 * POWER))
    };
    energy[top..top + rows.len() * image.cols].iter().map(weight).collect()
}

/// ‖∇Y‖²/noise² of every pixel, summed over channels; the last row and column repeat the differences beside them.
fn energies<S: Real>(image: &Planes<'_, S>, rows: Range<usize>, noise: f64) -> Vec<S> {
    let (cols, scale) = (image.cols, S::of(1.0 / noise));
    let mut energy = vec![S::ZERO; rows.len() * cols];
    for c in 0..image.channels {
        let plane = image.channel(c);
        for (i, energy) in rows.clone().zip(energy.chunks_exact_mut(cols)) {
            let line = |i: usize| &plane[i * cols..(i + 1) * cols];
            let (here, below) =
                if i + 1 < image.rows { (line(i), line(i + 1)) } else { (line(i.saturating_sub(1)), line(i)) };
            let row = line(i);
            let add = |energy: &mut S, d: S| *energy += (d * scale) * (d * scale);
            for j in 0..cols {
                add(&mut energy[j], below[j] - here[j]);
            }
            for j in 0..cols - 1 {
                add(&mut energy[j], row[j + 1] - row[j]);
            }
            if cols > 1 {
                add(&mut energy[cols - 1], row[cols - 1] - row[cols - 2]);
            }
        }
    }
    energy
}

/// Means over the 2·RADIUS + 1 neighbours in a row, as many of them as there are.
fn mean_along_rows<S: Real>(mean: &mut [S], x: &[S], cols: usize) {
    for (mean, x) in mean.chunks_exact_mut(cols).zip(x.chunks_exact(cols)) {
        let mut sum: f64 = x[..RADIUS.min(cols)].iter().map(|v| v.f64()).sum();
        for (j, mean) in mean.iter_mut().enumerate() {
            if let Some(enters) = x.get(j + RADIUS) {
                sum += enters.f64();
            }
            if j > RADIUS {
                sum -= x[j - RADIUS - 1].f64();
            }
            *mean = S::of(sum / ((j + RADIUS + 1).min(cols) - j.saturating_sub(RADIUS)) as f64);
        }
    }
}

/// The same down the columns.
fn mean_down_columns<S: Real>(mean: &mut [S], x: &[S], cols: usize) {
    let rows = x.len() / cols;
    let line = |i: usize| &x[i * cols..(i + 1) * cols];
    let mut sums = vec![0.0; cols];
    let add = |sums: &mut [f64], sign: f64, line: &[S]| {
        for (sum, v) in sums.iter_mut().zip(line) {
            *sum += sign * v.f64();
        }
    };
    (0..RADIUS.min(rows)).for_each(|i| add(&mut sums, 1.0, line(i)));
    for (i, mean) in mean.chunks_exact_mut(cols).enumerate() {
        if i + RADIUS < rows {
            add(&mut sums, 1.0, line(i + RADIUS));
        }
        if i > RADIUS {
            add(&mut sums, -1.0, line(i - RADIUS - 1));
        }
        let count = ((i + RADIUS + 1).min(rows) - i.saturating_sub(RADIUS)) as f64;
        for (mean, sum) in mean.iter_mut().zip(&sums) {
            *mean = S::of(sum / count);
        }
    }
}
