//! How strong the noise of an image is: white, Gaussian, as strong everywhere.

use std::collections::VecDeque;

use melmo::real::Real;
use melmo::threads;

use super::planes::Planes;

/// Responses are averaged over squares of this side.
const SIDE: usize = 16;
/// A twentieth of the squares is taken to hold nothing but noise.
const QUIET: usize = 20;
/// A channel's least or largest value counts as clipped where more than one pixel in so many has it.
const CLIPPED: usize = 256;
/// Responses for each independent one: neighbours share pixels.
const SHARED: f64 = 3.4;

/// σ̂: the standard deviation of the noise, in the image's units; 0 where none can be seen.
///
/// ```text
/// r = ([1 −2 1]ᵀ[1 −2 1] ∗ X)/6        var r = σ² on noise, 0 on planes and along straight edges
/// ```
///
/// Of the means of r² over squares of 16×16, one twentieth from below is taken to be noise alone, and divided by what this
/// order statistic of pure noise would be. Textures and edges make other squares larger; squares that are clipped, at the
/// channel's least or largest value, are left out. Means of squares, unlike medians, count the rounding to 8 bits as the
/// noise it is. Channels are combined by their mean variance.
pub fn estimate<S: Real>(image: &Planes<'_, S>) -> f64 {
    let unit = unit(image);
    let of_channel = |c: usize| variance(image.channel(c), image.rows, image.cols, unit);
    let variances = threads::map(0..image.channels, of_channel);
    (variances.iter().sum::<f64>() / image.channels as f64).sqrt() * unit
}

/// 1, or for samples whose squares would overflow or vanish a power of two of about their size.
fn unit<S: Real>(image: &Planes<'_, S>) -> f64 {
    let largest = image.data.iter().map(|v| v.f64().abs()).fold(0.0, f64::max);
    if largest == 0.0 || (1e-100..1e100).contains(&largest) {
        1.0
    } else {
        largest.log2().clamp(-1000.0, 1000.0).floor().exp2()
    }
}

/// σ̂² of one channel, in squares of a unit.
fn variance<S: Real>(x: &[S], rows: usize, cols: usize, unit: f64) -> f64 {
    let clipped = clipped(x);
    let mut squares: Vec<Square> = Vec::new();
    // A line has no second direction; an image of two lines is looked at along them.
    let (deep, wide) = (rows >= 3, cols >= 3);
    let reach = (if deep { 2 } else { 0 }, if wide { 2 } else { 0 });
    if !deep && !wide {
        return 0.0;
    }
    let (height, width) = (rows - reach.0, cols - reach.1);
    let line = |i: usize| Line::new(&x[i * cols..(i + 1) * cols], wide, unit, clipped);
    // A line is looked at once, for the three responses that it is in.
    let mut lines: VecDeque<Line> = (0..reach.0).map(line).collect();
    for top in (0..height).step_by(SIDE) {
        let mut band = vec![Square::default(); width.div_ceil(SIDE)];
        for i in top..height.min(top + SIDE) {
            lines.push_back(line(i + reach.0));
            for j in 0..width {
                let along = |di: usize| lines[di].response[j];
                if !lines.iter().any(|line| line.clipped[j]) {
                    band[j / SIDE].take(if deep { along(0) - 2.0 * along(1) + along(2) } else { along(0) });
                }
            }
            lines.pop_front();
        }
        squares.extend(band);
    }
    let gain = if deep && wide { 36.0 } else { 6.0 };
    let shared = if deep && wide { SHARED } else { SHARED.sqrt() };
    quiet(&mut squares, shared) / gain
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

/// A sum of squared responses.
#[derive(Clone, Copy, Debug, Default)]
struct Square {
    count: usize,
    sum: f64,
}

impl Square {
    fn take(&mut self, response: f64) {
        self.count += 1;
        self.sum += response * response;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// The variance of responses where there is noise alone.
fn quiet(squares: &mut Vec<Square>, shared: f64) -> f64 {
    let full = SIDE * SIDE / 2;
    if squares.iter().any(|square| square.count >= full) {
        squares.retain(|square| square.count >= full);
    } else {
        // A small image is one square.
        let add = |a: Square, b: &Square| Square { count: a.count + b.count, sum: a.sum + b.sum };
        *squares = vec![squares.iter().fold(Square::default(), add)];
    }
    squares.sort_by(|a, b| a.mean().total_cmp(&b.mean()));
    let (n, rank) = (squares.len(), squares.len().div_ceil(QUIET));
    let square = squares[rank - 1];
    if square.count < 4 {
        return 0.0;
    }
    // Wilson and Hilferty's cube root of χ², at the order statistic's median.
    let freedom = square.count as f64 / shared;
    let spread = 2.0 / (9.0 * freedom);
    let z = normal_quantile((rank as f64 - 0.375) / (n as f64 + 0.25));
    square.mean() / (1.0 - spread + z * spread.sqrt()).powi(3).max(0.05)
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
