//! Weights from the data: the noise by medians, the ratio of the two by theory.

use melmo::linalg::{Dense, Into, Mat};
use melmo::patience::Patience;
use melmo::real::Real;
use melmo::statistics::median;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::number;

/// φ of the singular values of L and ψ of the entries of S, nothing left open.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// φ.
    pub low_rank: PenaltyChoice,
    /// ψ.
    pub sparse: PenaltyChoice,
}

/// Noise of standard deviation σ passes λ_S = 3σ in one entry of 370.
const ABOVE_NOISE: f64 = 3.0;

impl Weights {
    /// λ_S = 3σ and λ_L = λ_S·√max(rows, cols), where they are not given: the ratio with which the two parts can be told apart
    /// (Candès, Li, Ma and Wright 2011), at a level where noise is neither. λ_L > σ(√rows + √cols), the norm of the noise.
    pub fn choose(low_rank: &PenaltyChoice, sparse: &PenaltyChoice, sigma: f64, rows: usize, cols: usize) -> Self {
        let lambda = ABOVE_NOISE * sigma;
        Self {
            low_rank: low_rank.clone().or("lambda", number::tidy(lambda * (rows.max(cols) as f64).sqrt())),
            sparse: sparse.clone().or("lambda", number::tidy(lambda)),
        }
    }
}

/// Rows and columns in which noise is looked for, at most: of the shorter and of the longer side. More say little more about
/// one number, and these take a moment only, which is waited for: without weights there is no problem, and nothing to keep.
const SEEN: [usize; 2] = [512, 2048];

/// The standard deviation of the noise in Y = low rank + sparse + noise: 1.4826 times the median size of what remains without
/// the singular values that stand out (above 2.858 times their median: Gavish and Donoho 2014). Entries that are missing are
/// taken as their column's median. At least a thousandth of the data's own spread, for data without noise. Of a large matrix
/// rows and columns are looked at that are spread evenly over it.
pub fn noise<S: Real>(y: &[S], rows: usize, cols: usize) -> Result<f64, Error> {
    crate::magnitude::check_known("Y", y)?;
    let [most_rows, most_cols] = if rows <= cols { SEEN } else { [SEEN[1], SEEN[0]] };
    let (seen_rows, seen_cols) = (rows.min(most_rows), cols.min(most_cols));
    if (seen_rows, seen_cols) == (rows, cols) {
        return noise_of(y, rows, cols);
    }
    let row = |i: usize| (0..seen_cols).map(move |j| y[i * rows / seen_rows * cols + j * cols / seen_cols]);
    noise_of(&(0..seen_rows).flat_map(row).collect::<Vec<S>>(), seen_rows, seen_cols)
}

fn noise_of<S: Real>(y: &[S], rows: usize, cols: usize) -> Result<f64, Error> {
    const STANDS_OUT: f64 = 2.858;
    const TO_DEVIATION: f64 = 1.4826;
    let medians = column_medians(y, cols);
    let filled: Vec<f64> =
        y.iter().enumerate().map(|(at, y)| if y.f64().is_nan() { medians[at % cols] } else { y.f64() }).collect();
    let size = rows.min(cols);
    let (mut values, mut u, mut v) = (vec![0.0; size], vec![0.0; rows * size], vec![0.0; cols * size]);
    let mut work = vec![0.0; f64::svd_work_len(rows, cols)];
    let y_filled = Mat::new(&filled, rows, cols);
    if !Patience::endless().run(|| f64::svd(&mut values, &mut u, &mut v, y_filled, &mut work)) {
        return Err(Error::input("Y", "infinite entries, or none that can be decomposed", "finite numbers"));
    }
    let typical = values[size / 2];
    // Never more than half of them: of noise alone none stands out.
    let kept = values.iter().take(size / 2).filter(|value| **value > STANDS_OUT * typical).count();
    let mut rest = filled.clone();
    for (at, entry) in u.iter_mut().enumerate() {
        *entry *= if at % size < kept { values[at % size] } else { 0.0 };
    }
    if kept > 0 {
        f64::gemm(&mut rest, Into::Add, -1.0, Mat::new(&u, rows, size), Mat::new(&v, cols, size).t());
    }
    let known = rest.iter().zip(y).filter(|(_, y)| !y.f64().is_nan()).map(|(rest, _)| rest.abs());
    let sigma = TO_DEVIATION * median(&known.collect::<Vec<_>>());
    let middle = median(&filled);
    let spread = (filled.iter().map(|y| (y - middle).powi(2)).sum::<f64>() / filled.len() as f64).sqrt();
    Ok(sigma.max(1e-3 * spread).max(f64::MIN_POSITIVE.sqrt()))
}

/// The median of every column's numbers; 0 for a column without any.
pub(super) fn column_medians<S: Real>(y: &[S], cols: usize) -> Vec<f64> {
    let column = |j: usize| y.iter().skip(j).step_by(cols).map(|y| y.f64()).filter(|y| !y.is_nan());
    let median = |known: Vec<f64>| if known.is_empty() { 0.0 } else { median(&known) };
    (0..cols).map(|j| median(column(j).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::seeded::Seeded;

    #[test]
    fn medians_ignore_what_is_missing() {
        assert_eq!(column_medians(&[1.0, f64::NAN, 5.0, f64::NAN, 3.0, 4.0], 2), [3.0, 4.0]);
        assert_eq!(column_medians(&[f64::NAN], 1), [0.0]);
    }

    #[test]
    fn noise_is_found_under_low_rank_and_outliers() {
        let (rows, cols, sigma) = (40, 300, 0.02);
        let mut seeded = Seeded::new(5);
        let (a, b): (Vec<f64>, Vec<f64>) = (seeded.normals(rows), seeded.normals(cols));
        let mut y: Vec<f64> = (0..rows * cols).map(|at| a[at / cols] * b[at % cols]).collect();
        for entry in &mut y {
            *entry += sigma * seeded.normal() + if seeded.uniform() < 0.03 { 2.0 } else { 0.0 };
        }
        let found = noise(&y, rows, cols).unwrap();
        assert!((0.7..2.5).contains(&(found / sigma)), "{found}");
        assert!(noise(&[0.5f32; 12], 3, 4).unwrap() > 0.0);
    }

    #[test]
    fn the_noise_of_a_large_matrix_is_that_of_a_part() {
        let (rows, cols, sigma) = (3000, 40, 0.02);
        let mut seeded = Seeded::new(6);
        let y: Vec<f64> = (0..rows * cols).map(|at| (at % cols) as f64 + sigma * seeded.normal()).collect();
        let found = noise(&y, rows, cols).unwrap();
        let part: Vec<f64> = (0..SEEN[1]).flat_map(|i| y[i * rows / SEEN[1] * cols..][..cols].to_vec()).collect();
        assert_eq!(found, noise_of(&part, SEEN[1], cols).unwrap());
        assert!((0.8..1.3).contains(&(found / sigma)), "{found}");
        assert!(noise(&[f64::INFINITY; 12], 3, 4).is_err());
    }
}
