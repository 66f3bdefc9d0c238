//! A first guess: means of what is known nearby, from ever larger squares.

use melmo::real::Real;

/// The plane with every missing pixel replaced by the mean of what is known in the smallest square of 2×2, 4×4, … that knows anything.
pub(super) fn filled<S: Real>(plane: &[S], missing: &[bool], cols: usize) -> Vec<S> {
    let known: Vec<f64> = missing.iter().map(|&missing| f64::from(u8::from(!missing))).collect();
    let sums: Vec<f64> = plane.iter().zip(&known).map(|(v, &known)| if known > 0.0 { v.f64() } else { 0.0 }).collect();
    let means = means(sums, known, cols);
    plane.iter().zip(missing).zip(means).map(|((&v, &missing), mean)| if missing { S::of(mean) } else { v }).collect()
}

/// sum/count, and where nothing was counted what the squares twice as large have.
fn means(sums: Vec<f64>, counts: Vec<f64>, cols: usize) -> Vec<f64> {
    let rows = sums.len() / cols;
    let plain = |at: usize| sums[at] / counts[at];
    if counts.iter().all(|&count| count > 0.0) || rows * cols <= 1 {
        return (0..sums.len()).map(plain).collect();
    }
    let (high, wide) = (rows.div_ceil(2), cols.div_ceil(2));
    let (mut coarse_sums, mut coarse_counts) = (vec![0.0; high * wide], vec![0.0; high * wide]);
    for at in 0..sums.len() {
        let place = at / cols / 2 * wide + at % cols / 2;
        coarse_sums[place] += sums[at];
        coarse_counts[place] += counts[at];
    }
    let coarse = means(coarse_sums, coarse_counts, wide);
    // Between the middles of the larger squares linearly: fewer steps for the solver to smooth.
    let between = |at: usize| {
        let (y, x) = ((at / cols) as f64 / 2.0 - 0.25, (at % cols) as f64 / 2.0 - 0.25);
        let (i, j) = (y.floor(), x.floor());
        let value = |i: f64, j: f64| {
            coarse[i.clamp(0.0, high as f64 - 1.0) as usize * wide + j.clamp(0.0, wide as f64 - 1.0) as usize]
        };
        let (a, b) = (y - i, x - j);
        (1.0 - a) * ((1.0 - b) * value(i, j) + b * value(i, j + 1.0))
            + a * ((1.0 - b) * value(i + 1.0, j) + b * value(i + 1.0, j + 1.0))
    };
    (0..sums.len()).map(|at| if counts[at] > 0.0 { plain(at) } else { between(at) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_stays_and_the_rest_lies_between() {
        let plane: Vec<f64> = (0..35).map(|at| (at % 7) as f64).collect();
        let missing: Vec<bool> = (0..35).map(|at| at % 3 != 0).collect();
        let filled = filled(&plane, &missing, 7);
        for at in 0..35 {
            assert!((0.0..=6.0).contains(&filled[at]), "{at}");
            assert!(missing[at] || filled[at] == plane[at]);
        }
        let lonely: Vec<bool> = (0..35).map(|at| at != 17).collect();
        assert!(super::filled(&plane, &lonely, 7).iter().all(|&v| v == 3.0));
    }
}
