//! p = p_K∘…∘p_1, each p_k the odd quintic that minimises max |1 − p_k| over the image of the steps before it.
//!
//! On [l, u] the best odd quintic has four points where its error is ±E in turn: l, its local maximum, its local
//! minimum and u. It maps [l, u] onto [1 − E, 1 + E], where the next one is best: the greedy choice is the optimal
//! composition (Amsel, Persson, Musco & Gower 2025). 8 steps from l = 10⁻⁴ leave |1 − p| ≤ 3·10⁻⁵, 12 steps from 10⁻⁶
//! 2·10⁻¹¹.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::quintic::{Interval, Quintic};

/// More steps than any precision can use.
pub(super) const MOST: u8 = 16;

/// The limit of the best quintic as the interval shrinks to 1: third-order contact there.
const LIMIT: Quintic = Quintic { a: 15.0 / 8.0, b: -10.0 / 8.0, c: 3.0 / 8.0 };

/// Half the width below which Remez would work with differences of rounding errors. The limit loses a factor 4 in the
/// error of this one step, which is then below 10⁻⁸.
const NARROW: f64 = 1e-3;

/// Each early interval is widened by so much of itself. The best quintics are steep at the right end (p′(1) = 24 in
/// the first step): a singular value pushed outside by rounding would be thrown further out by every step that
/// follows.
const MARGIN: f64 = 1e-3;

/// Where entries are rounded to eleven binary digits, every interval is widened by so much of itself.
const WIDE_MARGIN: f64 = 0.04;

/// How far the image of a step is widened before the next one is made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Margin {
    /// By a thousandth, and by less and less.
    Narrow,
    /// By a twenty-fifth at every step.
    Wide,
}

impl Margin {
    fn around(self, image: Interval) -> Interval {
        match self {
            Self::Narrow => {
                Interval::new(image.lo * (1.0 - MARGIN * (1.0 - image.lo)), image.hi + MARGIN * (image.hi - 1.0))
            }
            Self::Wide => Interval::new(image.lo * (1.0 - WIDE_MARGIN), image.hi * (1.0 + WIDE_MARGIN)),
        }
    }
}

/// At most so many steps for numbers of the given unit, from an l that the number of steps decides. Found once, then known.
pub(super) fn minimax(steps: u8, unit: f64) -> Vec<Quintic> {
    with_margin(steps, unit, Margin::Narrow)
}

/// The same with intervals widened as a kind of rounding asks for it.
pub(super) fn with_margin(steps: u8, unit: f64, margin: Margin) -> Vec<Quintic> {
    static KNOWN: Mutex<BTreeMap<(u8, u64, Margin), Vec<Quintic>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry((steps, unit.to_bits(), margin)).or_insert_with(|| search(steps, unit, margin)).clone()
}

fn search(steps: u8, unit: f64, margin: Margin) -> Vec<Quintic> {
    let l = floor(steps, unit, margin);
    // A step after the error is at rounding level would only lift rounding errors: slope 15/8 at 0.
    let enough = |k: &u8| error(&compose(*k, l, margin), l) <= 4.0 * unit;
    compose((1..steps).find(enough).unwrap_or(steps), l, margin)
}

/// The l where so many steps leave max |1 − p| = l on [l, 1]: as much is lost above l as below it. Not below √unit,
/// the precision's unit: rounding errors of that size in φ would be lifted along with its singular values.
fn floor(steps: u8, unit: f64, margin: Margin) -> f64 {
    let (mut below, mut above) = (unit.sqrt(), 1.0f64);
    for _ in 0..40 {
        let l = (below * above).sqrt();
        if error(&compose(steps, l, margin), l) > l { below = l } else { above = l }
    }
    above
}

/// The best steps for [l, 1], one after another.
pub(super) fn compose(steps: u8, l: f64, margin: Margin) -> Vec<Quintic> {
    let mut over = Interval::new(l, 1.0);
    let next = |_| {
        let p = best(over);
        over = margin.around(p.image(over));
        p
    };
    (0..steps).map(next).collect()
}

/// max |1 − p| on [l, 1].
fn error(steps: &[Quintic], l: f64) -> f64 {
    let image = steps.iter().fold(Interval::new(l, 1.0), |over, p| p.image(over));
    (1.0 - image.lo).max(image.hi - 1.0)
}

/// The odd quintic nearest to 1 on an interval, by Remez exchange.
fn best(over: Interval) -> Quintic {
    let Interval { lo, hi } = over;
    if hi - lo < 2.0 * NARROW {
        return LIMIT;
    }
    let (mut left, mut right) = ((3.0 * lo + hi) / 4.0, (lo + 3.0 * hi) / 4.0);
    let (mut p, mut error) = (LIMIT, 0.0);
    for _ in 0..60 {
        let (candidate, e) = equioscillating([lo, left, right, hi]);
        let mut extremes = candidate.critical_points();
        let (Some(x), Some(y)) = (extremes.next(), extremes.next()) else { break };
        let settled = (e - error).abs() <= 1e-15;
        (p, error, left, right) = (candidate, e, x, y);
        if settled {
            break;
        }
    }
    p
}

/// p and E with p(x₀) = 1 − E, p(x₁) = 1 + E, p(x₂) = 1 − E, p(x₃) = 1 + E: four linear equations.
fn equioscillating(points: [f64; 4]) -> (Quintic, f64) {
    let mut rows = [[0.0; 5]; 4];
    for ((row, x), sign) in rows.iter_mut().zip(points).zip([1.0, -1.0, 1.0, -1.0]) {
        *row = [x, x.powi(3), x.powi(5), sign, 1.0];
    }
    for k in 0..4 {
        let pivot = (k..4).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap_or(k);
        rows.swap(k, pivot);
        let pivot = rows[k];
        for row in &mut rows[k + 1..] {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(pivot).for_each(|(v, p)| *v -= factor * p);
        }
    }
    let mut solution = [0.0; 4];
    for k in (0..4).rev() {
        let known: f64 = (k + 1..4).map(|j| rows[k][j] * solution[j]).sum();
        solution[k] = (rows[k][4] - known) / rows[k][k];
    }
    let [a, b, c, e] = solution;
    (Quintic { a, b, c }, e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_the_known_ones() {
        for (steps, l, reached) in [(8, 1e-4, 3e-5), (12, 1e-6, 2e-11)] {
            let e = error(&compose(steps, l, Margin::Narrow), l);
            assert!(e <= reached, "{steps} from {l:e}: {e:e}");
        }
    }

    #[test]
    fn the_number_of_steps_decides_where_they_start() {
        for steps in 1..=14 {
            let l = floor(steps, 1e-16, Margin::Narrow);
            let e = error(&compose(steps, l, Margin::Narrow), l);
            assert!((e / l - 1.0).abs() < 1e-6, "{steps} steps: error {e:e} from {l:e}");
        }
        assert!((floor(16, 1e-16, Margin::Narrow) / 1e-8 - 1.0).abs() < 1e-6);
        // What double precision needs twelve steps for, single precision has no digits for.
        assert_eq!(minimax(12, 6e-8).len(), 8);
        assert_eq!(minimax(12, 1e-16).len(), 12);
    }

    #[test]
    fn errors_alternate_at_four_points() {
        for (lo, hi) in [(1e-4, 1.0), (0.1, 1.9), (0.9, 1.1)] {
            let p = best(Interval::new(lo, hi));
            let inner: Vec<f64> = p.critical_points().collect();
            let errors: Vec<f64> = [lo, inner[0], inner[1], hi].map(|x| 1.0 - p.at(x)).to_vec();
            for pair in errors.windows(2) {
                assert!((pair[0] + pair[1]).abs() < 1e-12, "{errors:?}");
            }
        }
    }
}
