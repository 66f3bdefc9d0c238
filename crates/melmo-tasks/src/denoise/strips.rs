//! Large images are worked on in horizontal strips that overlap and fade into one another.

use std::ops::Range;

use melmo::real::Real;

/// Samples that are worked on together, at least.
const SAMPLES: usize = 1 << 19;
/// Rows of a strip, at least.
const ROWS: usize = 256;
/// Rows that a strip sees beyond those it answers for.
const MARGIN: usize = 32;
/// Rows on each side of a border over which neighbours fade into one another.
const FADE: usize = 16;

/// One strip: what it sees and what it answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The rows that are solved for.
    pub seen: Range<usize>,
    /// The rows between its borders.
    pub own: Range<usize>,
}

/// The strips of an image, from top to bottom: decided by its size alone, whoever works on them.
pub fn strips(rows: usize, cols: usize, channels: usize) -> Vec<Strip> {
    let height = ROWS.max(SAMPLES.div_ceil(cols * channels));
    let count = ((rows + height / 2) / height).max(1);
    let border = |i: usize| i * rows / count;
    let strip = |i: usize| {
        let own = border(i)..border(i + 1);
        Strip { seen: own.start.saturating_sub(MARGIN)..rows.min(own.end + MARGIN), own }
    };
    (0..count).map(strip).collect()
}

impl Strip {
    /// All rows of an image in one piece.
    pub fn whole(rows: usize) -> Self {
        Self { seen: 0..rows, own: 0..rows }
    }

    /// What row i of the image takes from this strip: 1 inside, falling to 0 across a border; neighbours sum to 1.
    fn share(&self, i: usize, rows: usize) -> f64 {
        let ramp = |past: f64| (0.5 + past / (2 * FADE) as f64).clamp(0.0, 1.0);
        let middle = i as f64 + 0.5;
        let top = if self.own.start == 0 { 1.0 } else { ramp(middle - self.own.start as f64) };
        let foot = if self.own.end == rows { 1.0 } else { ramp(self.own.end as f64 - middle) };
        top.min(foot)
    }

    /// out += share·x: the strip's part of the image, from its solution.
    pub(super) fn place<S: Real>(&self, out: &mut [S], x: &[S], rows: usize, cols: usize) {
        let planes = out.chunks_exact_mut(rows * cols).zip(x.chunks_exact(self.seen.len() * cols));
        for (out, x) in planes {
            for (i, x) in self.seen.clone().zip(x.chunks_exact(cols)) {
                let share = self.share(i, rows);
                if share > 0.0 {
                    melmo::vector::axpy(&mut out[i * cols..(i + 1) * cols], share, x);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_share_every_row_fully() {
        for (rows, cols, channels) in [(1, 1, 1), (512, 512, 1), (1024, 1024, 1), (3000, 4000, 3), (5000, 100, 3)] {
            let strips = strips(rows, cols, channels);
            assert_eq!((strips[0].own.start, strips[strips.len() - 1].own.end), (0, rows));
            for i in 0..rows {
                let shares = strips.iter().filter(|s| s.seen.contains(&i)).map(|s| s.share(i, rows));
                assert!((shares.sum::<f64>() - 1.0).abs() < 1e-12);
                let unseen = strips.iter().filter(|s| !s.seen.contains(&i)).map(|s| s.share(i, rows));
                assert_eq!(unseen.sum::<f64>(), 0.0);
            }
        }
    }

    #[test]
    fn small_images_are_one_strip() {
        assert_eq!(strips(512, 512, 1).len(), 1);
        assert_eq!(strips(1024, 1024, 1).len(), 2);
        assert_eq!(strips(3000, 4000, 3).len(), 12);
    }
}
