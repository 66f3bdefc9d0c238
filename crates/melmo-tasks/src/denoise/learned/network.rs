//! A scale for every response, from what the filters see around a pixel in a plain picture and in the data.

use std::ops::Range;
use std::sync::OnceLock;

use melmo::operator::{FilterBank, LinOp};
use melmo::penalty::Scale;
use melmo::real::Real;
use melmo::threads;
use melmo::vector;

use super::weights::{Weights, whole};
use crate::error::Error;

/// Kinds of averages that are looked at: of |T x̂| near, around and far, and of |T y| far.
const KINDS: usize = 4;
/// Rows of a band.
const ROWS: usize = 32;
/// Rows around a band: what the filters and the widest average reach.
const MARGIN: usize = 12;

/// What scales of a plane are made from, in units of the noise.
pub(super) struct Looks<'a, S> {
    /// A plain picture.
    pub x: &'a [S],
    /// The data.
    pub y: &'a [S],
    /// What each filter sees of noise that is not white, beside white noise.
    pub seen: Option<&'a [f64]>,
}

/// log s = W₂ max(0, W₁u + b + l·log(noise/n₀)) + c, within ±`most`; u = a/(a + k) for every average a, k its knee.
///
/// The symmetries of the square only permute its rows and columns, so that a turned picture has the turned scales.
pub(super) struct Network {
    /// Weights of the averages, the same down and across.
    near: Vec<f64>,
    mid: Vec<f64>,
    far: Vec<f64>,
    /// For each kind and family.
    knee: Vec<f64>,
    /// A row for each hidden number: kind after kind, filter after filter.
    first: Vec<Vec<f64>>,
    level: Vec<f64>,
    bias: Vec<f64>,
    /// A row for each filter.
    second: Vec<Vec<f64>>,
    offset: Vec<f64>,
    most: f64,
}

/// Rows of every filter's responses, or of their averages, one plane after another.
struct Seen {
    planes: Vec<f32>,
    rows: usize,
    cols: usize,
}

/// Read once.
pub(super) fn network() -> Result<&'static Network, Error> {
    static READ: OnceLock<Option<Network>> = OnceLock::new();
    whole(READ.get_or_init(|| Network::read(include_str!("network.txt"))))
}

impl Network {
    /// A name and numbers a line.
    fn read(text: &str) -> Option<Self> {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let mut named: [(&str, Vec<f64>); 8] =
            ["near", "mid", "far", "knee", "level", "bias", "offset", "most"].map(|name| (name, Vec::new()));
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, numbers) = line.split_once(' ')?;
            let numbers: Vec<f64> = numbers.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
            match name {
                "first" => first.push(numbers),
                "second" => second.push(numbers),
                _ => named.iter_mut().find(|(known, _)| *known == name)?.1 = numbers,
            }
        }
        let [near, mid, far, knee, level, bias, offset, most] = named.map(|(_, numbers)| numbers);
        let (hidden, channels) = (first.len(), second.len());
        let fits =
            first.iter().all(|row| row.len() == KINDS * channels) && second.iter().all(|row| row.len() == hidden);
        let odd = [&near, &mid, &far].iter().all(|taps| taps.len() % 2 == 1);
        let sizes = [level.len(), bias.len(), offset.len(), most.len()] == [hidden, hidden, channels, 1];
        let most = *most.first()?;
        (fits && odd && sizes && hidden > 0).then_some(Self {
            near,
            mid,
            far,
            knee,
            first,
            level,
            bias,
            second,
            offset,
            most,
        })
    }

    /// Scales of all responses of a bank to a picture of rows×cols: row after row, in a row filter after filter. Noise is this part of the
    /// full range.
    pub fn scales<S: Real>(
        &self,
        weights: &Weights,
        looks: &Looks<'_, S>,
        (rows, cols): (usize, usize),
        noise: f64,
    ) -> Result<Vec<Scale>, Error> {
        let bands: Vec<Range<usize>> = (0..rows).step_by(ROWS).map(|top| top..rows.min(top + ROWS)).collect();
        let one = |band: &Range<usize>| self.band(weights, looks, (rows, cols), band, noise);
        let made: Vec<Vec<Scale>> = threads::map(bands.iter(), one).into_iter().collect::<Result<_, _>>()?;
        Ok(made.concat())
    }

    /// The scales of a band of rows.
    fn band<S: Real>(
        &self,
        weights: &Weights,
        looks: &Looks<'_, S>,
        (rows, cols): (usize, usize),
        band: &Range<usize>,
        noise: f64,
    ) -> Result<Vec<Scale>, Error> {
        let seen = band.start.saturating_sub(MARGIN)..rows.min(band.end + MARGIN);
        let filters: Vec<f32> = weights.filters().map(|&w| w as f32).collect();
        let bank = FilterBank::new((seen.len(), cols), &filters, weights.side)?;
        let size = |picture: &[S]| {
            let part: Vec<f32> = picture[seen.start * cols..seen.end * cols].iter().map(|v| v.f64() as f32).collect();
            let mut planes = vec![0.0; bank.range().size()];
            bank.apply(&mut planes, &part, &mut vec![0.0; bank.work_len()]);
            planes.iter_mut().for_each(|v| *v = v.abs());
            Seen { planes, rows: seen.len(), cols }
        };
        let [mut plain, mut data] = [looks.x, looks.y].map(size);
        if let Some(of_noise) = looks.seen {
            for seen in [&mut plain, &mut data] {
                let planes = seen.planes.chunks_exact_mut(seen.rows * seen.cols);
                planes.zip(of_noise).for_each(|(plane, part)| plane.iter_mut().for_each(|v| *v /= *part as f32));
            }
        }
        let [near, mid, far] = [&self.near, &self.mid, &self.far].map(|taps| plain.average(taps));
        let mut kinds = [near, mid, far, data.average(&self.far)];
        self.bend(&mut kinds, weights);
        let mut scales = Vec::with_capacity(band.len() * weights.channels() * cols);
        let mut work = vec![0.0; (self.first.len() + 1) * cols];
        for i in band.clone() {
            self.row(&mut scales, &kinds, i - seen.start, noise, &mut work);
        }
        Ok(scales)
    }

    /// a ← a/(a + k).
    fn bend(&self, kinds: &mut [Seen; KINDS], weights: &Weights) {
        let families = self.knee.len() / KINDS;
        for (kind, seen) in kinds.iter_mut().enumerate() {
            let plane = seen.rows * seen.cols;
            for (family, plane) in weights.family().zip(seen.planes.chunks_exact_mut(plane)) {
                let knee = self.knee[kind * families + family] as f32;
                plane.iter_mut().for_each(|a| *a /= *a + knee);
            }
        }
    }

    /// Appends the scales of row i.
    fn row(&self, scales: &mut Vec<Scale>, kinds: &[Seen; KINDS], i: usize, noise: f64, work: &mut [f32]) {
        let cols = kinds[0].cols;
        let (hidden, out) = work.split_at_mut(self.first.len() * cols);
        let level = (noise * 255.0 / 20.0).max(f64::MIN_POSITIVE).ln();
        for (h, hidden) in hidden.chunks_exact_mut(cols).enumerate() {
            hidden.fill((self.bias[h] + self.level[h] * level) as f32);
            for (weights, seen) in self.first[h].chunks_exact(self.second.len()).zip(kinds) {
                let plane = seen.rows * cols;
                for (&w, plane) in weights.iter().zip(seen.planes.chunks_exact(plane)) {
                    vector::axpy(hidden, w, &plane[i * cols..][..cols]);
                }
            }
            hidden.iter_mut().for_each(|v| *v = v.max(0.0));
        }
        for (weights, offset) in self.second.iter().zip(&self.offset) {
            out.fill(*offset as f32);
            weights.iter().zip(hidden.chunks_exact(cols)).for_each(|(&w, hidden)| vector::axpy(out, w, hidden));
            let most = self.most as f32;
            scales.extend(out.iter().map(|v| Scale::of(v.clamp(-most, most).exp())));
        }
    }
}

impl Seen {
    /// Every plane averaged with these weights, down and across; beyond the edges are mirror images, edge pixels twice.
    fn average(&self, taps: &[f64]) -> Self {
        let (rows, cols, half) = (self.rows, self.cols, taps.len() / 2);
        let mut planes = vec![0.0; self.planes.len()];
        let mut wide = vec![0.0; cols + 2 * half];
        for (out, plane) in planes.chunks_exact_mut(rows * cols).zip(self.planes.chunks_exact(rows * cols)) {
            for (i, out) in out.chunks_exact_mut(cols).enumerate() {
                wide.fill(0.0);
                for (t, &w) in taps.iter().enumerate() {
                    let row = &plane[mirror(i + t, half, rows) * cols..][..cols];
                    vector::axpy(&mut wide[half..half + cols], w, row);
                }
                for j in (0..half).chain(half + cols..cols + 2 * half) {
                    wide[j] = wide[half + mirror(j, half, cols)];
                }
                taps.iter().enumerate().for_each(|(t, &w)| vector::axpy(out, w, &wide[t..t + cols]));
            }
        }
        Self { planes, rows, cols }
    }
}

/// Which of n pixels stands at place i, when `margin` places come before the first: the edge pixels twice, as often as it takes.
fn mirror(i: usize, margin: usize, n: usize) -> usize {
    let i = (i + 2 * n * margin - margin) % (2 * n);
    i.min(2 * n - 1 - i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::denoise::learned::weights::adapted;
    use melmo::seeded::Seeded;

    #[test]
    fn the_text_is_whole_and_fits_the_filters() {
        let (network, weights) = (network().unwrap(), adapted().unwrap());
        assert_eq!(network.second.len(), weights.channels());
        assert_eq!(network.knee.len(), KINDS * (weights.family().max().unwrap() + 1));
        assert!(weights.side / 2 + network.far.len() / 2 <= MARGIN);
        assert!(Network::read("").is_none() && Network::read("nonsense 1").is_none());
        assert!(Network::read("first 1 2 3\nmost 1").is_none());
    }

    fn look<'a>(x: &'a [f64], y: &'a [f64]) -> Looks<'a, f64> {
        Looks { x, y, seen: None }
    }

    #[test]
    fn scales_do_not_depend_on_the_bands_and_a_mirrored_picture_has_mirrored_ones() {
        let (rows, cols, network, weights) = (70, 9, network().unwrap(), adapted().unwrap());
        let y: Vec<f64> = Seeded::new(4).normals(rows * cols);
        let x: Vec<f64> = y.iter().map(|v| 0.3 * v).collect();
        let all = network.scales(weights, &look(&x, &y), (rows, cols), 0.1).unwrap();
        assert_eq!(all.len(), rows * cols * weights.channels());
        assert!(all.iter().any(|s| *s != all[0]));
        // The same rows in a picture that is cut well above them.
        let cut = 20 * cols;
        let part = network.scales(weights, &look(&x[cut..], &y[cut..]), (rows - 20, cols), 0.1).unwrap();
        let row = cols * weights.channels();
        let close = |(a, b): (&Scale, &Scale)| (a.get::<f64>() / b.get::<f64>() - 1.0).abs() < 0.01;
        assert!(all[40 * row..].iter().zip(&part[20 * row..]).all(close));
        // The first family lies along the rows, and its first filter is its own mirror image.
        let turned =
            |v: &[f64]| -> Vec<f64> { v.chunks_exact(cols).flat_map(|row| row.iter().rev().copied()).collect() };
        let other = network.scales(weights, &look(&turned(&x), &turned(&y)), (rows, cols), 0.1).unwrap();
        for i in 0..rows {
            let [here, there] = [&all, &other].map(|scales| &scales[i * row..][..cols]);
            assert!(here.iter().zip(there.iter().rev()).all(close), "row {i}");
        }
    }
}
