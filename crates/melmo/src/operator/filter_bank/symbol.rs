//! √S, S = sup_ω Σ_c|ŵ_c(ω)|²: how much a bank of filters can enlarge a wave.

use std::f64::consts::{PI, TAU};

use crate::vector;

/// Points of the grid for each degree of the polynomial: S is then found to 0.06 %.
const POINTS: usize = 128;
/// Points of the grid in a direction, at most.
const MOST: usize = 1024;

/// √S, rounded up; the filters are divided by their largest entry first, so that squares neither overflow nor vanish.
pub(super) fn largest(bank: &[f64], side: usize) -> f64 {
    let unit = vector::norm_inf(bank);
    if unit == 0.0 {
        return 0.0;
    }
    let scaled: Vec<f64> = bank.iter().map(|w| w / unit).collect();
    unit * supremum(&scaled, side).sqrt()
}

/// S, rounded up: Σ_c|ŵ_c|² is a real trigonometric polynomial P ≥ 0 of degree n = K − 1 in each direction.
///
/// Near its largest value, taken at θ₀, P(θ) ≥ P(θ₀)cos(n(θ − θ₀)) (M. Riesz). The next of N points of a grid is π/N away at most; in
/// two directions, one after the other, sup P ≤ max over the grid/cos²(πn/N).
fn supremum(bank: &[f64], side: usize) -> f64 {
    let degree = side - 1;
    if degree == 0 {
        return vector::norm2_squared(bank);
    }
    let points = (POINTS * degree).min(MOST).max(4 * degree);
    let lags = 2 * degree + 1;
    let together = correlations(bank, side);
    let wave = |k: usize, lag: usize| TAU * ((k * (lag + points - degree)) % points) as f64 / points as f64;
    let (mut most, mut along) = (0.0f64, vec![(0.0, 0.0); lags]);
    let table: Vec<(f64, f64)> = (0..points * lags).map(|at| wave(at / lags, at % lags).sin_cos()).collect();
    // P(ω) = P(−ω): half of the rows are enough.
    for k in 0..=points / 2 {
        for (along, row) in along.iter_mut().zip(together.chunks_exact(lags)) {
            let waves = &table[k * lags..][..lags];
            *along = row.iter().zip(waves).fold((0.0, 0.0), |(s, c), (r, (sin, cos))| (s + r * sin, c + r * cos));
        }
        for waves in table.chunks_exact(lags) {
            let terms = along.iter().zip(waves);
            most = most.max(terms.map(|((s, c), (sin, cos))| c * cos - s * sin).sum());
        }
    }
    most / (PI * degree as f64 / points as f64).cos().powi(2) * (1.0 + 1e-10)
}

/// Σ_c of the correlations of w_c with itself, at all lags.
fn correlations(bank: &[f64], side: usize) -> Vec<f64> {
    let lags = 2 * side - 1;
    let mut sums = vec![0.0; lags * lags];
    for w in bank.chunks_exact(side * side) {
        for (s, a) in w.iter().enumerate() {
            for (t, b) in w.iter().enumerate() {
                let (down, right) = (side - 1 + t / side - s / side, side - 1 + t % side - s % side);
                sums[down * lags + right] += a * b;
            }
        }
    }
    sums
}

/// Whether turning all filters upside down, or left to right, gives the same filters up to order and sign.
pub(super) fn has_mirror_images(bank: &[f64], side: usize) -> bool {
    let upright: Vec<&[f64]> = bank.chunks_exact(side * side).collect();
    let closed = |turn: &dyn Fn(&[f64]) -> Vec<f64>| {
        let mut left = upright.clone();
        upright.iter().all(|w| {
            let turned = turn(w);
            let same = |v: &&[f64]| turned == **v || turned.iter().zip(*v).all(|(a, b)| *a == -b);
            left.iter().position(same).map(|at| left.swap_remove(at)).is_some()
        })
    };
    let upside_down = |w: &[f64]| w.chunks_exact(side).rev().flatten().copied().collect();
    let left_to_right = |w: &[f64]| w.chunks_exact(side).flat_map(|row| row.iter().rev().copied()).collect();
    closed(&upside_down) && closed(&left_to_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_banks() {
        let close = |found: f64, expected: f64| {
            assert!(found * found >= expected * (1.0 - 1e-12) && found * found < expected * 1.001, "{found}")
        };
        close(largest(&[2.0, 1.0], 1), 5.0);
        let (across, down) =
            ([0.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0]);
        close(largest(&across, 3), 4.0);
        close(largest(&[across, down].concat(), 3), 8.0);
        close(largest(&[1.0 / 9.0; 9], 3), 1.0);
        assert!((largest(&[1e-200 / 9.0; 9], 3) / 1e-200 - 1.0).abs() < 1e-3);
        assert_eq!(largest(&[0.0; 9], 3), 0.0);
    }

    #[test]
    fn mirror_images_are_found() {
        let across = [0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        let corner = [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!(has_mirror_images(&across, 3));
        assert!(!has_mirror_images(&corner, 3));
        assert!(!has_mirror_images(&[across, corner].concat(), 3));
    }
}
