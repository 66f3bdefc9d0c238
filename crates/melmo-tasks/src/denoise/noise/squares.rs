//! What a picture does from pixel to pixel, square by square: where it does least, that is noise.

use std::collections::VecDeque;

use melmo::real::Real;

/// A channel's least or largest value counts as clipped where more than one pixel in so many has it.
const CLIPPED: usize = 256;
/// Responses for each independent one: neighbours share pixels.
const SHARED: f64 = 3.4;

/// Mean squares of a channel's responses over squares of side×side, in squares of a unit:
///
/// ```text
/// r = ([1 −2 1]ᵀ[1 −2 1] ∗ X)/6        var r is that of noise, 0 on planes and along straight edges
/// ```
///
/// Samples that are clipped, at the channel's least or largest value, are left out.
pub(super) fn squares<S: Real>(x: &[S], (rows, cols): (usize, usize), side: usize, unit: f64) -> Squares {
    let clipped = clipped(x);
    // A line has no second direction; an image of two lines is looked at along them.
    let (deep, wide) = (rows >= 3, cols >= 3);
    let reach = (if deep { 2 } else { 0 }, if wide { 2 } else { 0 });
    let mut found = Squares { all: Vec::new(), side, shared: if deep && wide { SHARED } else { SHARED.sqrt() } };
    if !deep && !wide {
        return found;
    }
    let gain = if deep && wide { 6.0 } else { 6f64.sqrt() };
    let (height, width) = (rows - reach.0, cols - reach.1);
    let line = |i: usize| Line::new(&x[i * cols..(i + 1) * cols], wide, gain * unit, clipped);
    // A line is looked at once, for the three responses that it is in.
    let mut lines: VecDeque<Line> = (0..reach.0).map(line).collect();
    for top in (0..height).step_by(side) {
        let mut band = vec![Square::default(); width.div_ceil(side)];
        for i in top..height.min(top + side) {
            lines.push_back(line(i + reach.0));
            for j in 0..width {
                let along = |di: usize| lines[di].response[j];
                if !lines.iter().any(|line| line.clipped[j]) {
                    let response = if deep { along(0) - 2.0 * along(1) + along(2) } else { along(0) };
                    let middle = x[(i + reach.0 / 2) * cols + j + reach.1 / 2].f64() / unit;
                    band[j / side].take(response, middle);
                }
            }
            lines.pop_front();
        }
        found.all.extend(band);
    }
    found
}

/// One line of a channel: [1 −2 1] along it, or itself where it is short, and whether a sample under that is clipped.
struct Line {
    response: Vec<f64>,
    clipped: Vec<bool>,
}

impl Line {
    fn new<S: Real>(x: &[S], wide: bool, unit: f64, clipped: Option<Clipped>) -> Self {
        let reach = if wide { 3 } else { 1 };
        let at = |v: S| v.f64() / unit;
        let response = |part: &[S]| match part {
            [a, b, c] => at(*a) - 2.0 * at(*b) + at(*c),
            _ => at(part[0]),
        };
        let touches = |part: &[S]| clipped.is_some_and(|is| part.iter().any(|v| is.holds(v.f64())));
        Self { response: x.windows(reach).map(response).collect(), clipped: x.windows(reach).map(touches).collect() }
    }
}

/// A sum of squared responses, and of the samples that they are at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Square {
    count: usize,
    sum: f64,
    samples: f64,
}

impl Square {
    fn take(&mut self, response: f64, sample: f64) {
        self.count += 1;
        self.sum += response * response;
        self.samples += sample;
    }

    /// The mean square of responses.
    pub fn energy(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// The mean of samples.
    pub fn brightness(&self) -> f64 {
        self.samples / self.count as f64
    }

    fn and(self, other: &Self) -> Self {
        Self { count: self.count + other.count, sum: self.sum + other.sum, samples: self.samples + other.samples }
    }
}

/// Those of a channel, or of several.
pub(super) struct Squares {
    pub all: Vec<Square>,
    side: usize,
    /// Responses for each independent one: neighbours share pixels.
    pub shared: f64,
}

impl Squares {
    /// Those of which at least half is not clipped.
    pub fn full(&self) -> Vec<Square> {
        self.all.iter().filter(|square| 2 * square.count >= self.side * self.side).copied().collect()
    }

    /// The variance of noise, from below: one square in `one_in` is taken to hold noise alone, and its energy is divided by what this order
    /// statistic of pure noise would be. A small image is one square; a drawing whose ground is all one colour has no noise.
    pub fn quiet(&self, one_in: usize) -> f64 {
        let mut squares = self.full();
        if squares.is_empty() {
            let bare = self.all.iter().filter(|square| square.count == 0).count();
            if 4 * bare > self.all.len() {
                return 0.0;
            }
            squares = vec![self.all.iter().fold(Square::default(), Square::and)];
        }
        lower(&mut squares, one_in, self.shared)
    }
}

/// The energy of noise that the quietest of these squares speak for.
pub(super) fn lower(squares: &mut [Square], one_in: usize, shared: f64) -> f64 {
    squares.sort_by(|a, b| a.energy().total_cmp(&b.energy()));
    let (n, rank) = (squares.len(), squares.len().div_ceil(one_in));
    let Some(square) = squares.get(rank.saturating_sub(1)).filter(|square| square.count >= 4) else { return 0.0 };
    // Wilson and Hilferty's cube root of χ², at the order statistic's median.
    let freedom = square.count as f64 / shared;
    let spread = 2.0 / (9.0 * freedom);
    let z = normal_quantile((rank as f64 - 0.375) / (n as f64 + 0.25));
    square.energy() / (1.0 - spread + z * spread.sqrt()).powi(3).max(0.05)
}

/// Φ⁻¹(p) to 4·10⁻⁴: Hastings' rational approximation (Abramowitz and Stegun 26.2.23).
fn normal_quantile(p: f64) -> f64 {
    let t = (-2.0 * p.min(1.0 - p).ln()).sqrt();
    let over = 2.515517 + t * (0.802853 + t * 0.010328);
    let under = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    (over / under - t) * (0.5 - p).signum()
}

/// The values of a channel at which it is clipped.
#[derive(Clone, Copy, Debug)]
struct Clipped {
    low: Option<f64>,
    high: Option<f64>,
}

impl Clipped {
    fn holds(&self, value: f64) -> bool {
        self.low == Some(value) || self.high == Some(value)
    }
}

fn clipped<S: Real>(x: &[S]) -> Option<Clipped> {
    let low = x.iter().copied().fold(x[0], S::smaller);
    let high = x.iter().copied().fold(x[0], S::larger);
    let often = |value: S| {
        let count = x.iter().filter(|&&v| v == value).count();
        (count > 2 && count > x.len() / CLIPPED).then_some(value.f64())
    };
    let clipped = Clipped { low: often(low), high: often(high) };
    (clipped.low.is_some() || clipped.high.is_some()).then_some(clipped)
}
