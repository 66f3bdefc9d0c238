//! Weights from the data: the noise by what L and S leave, the ratio of the two by theory.

use melmo::real::Real;
use melmo::statistics::median;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::number;
use crate::rpca::apart::{ABOVE_NOISE, Apart, apart};
use crate::until::Until;

/// ψ_L of the singular values of L and ψ_S of the entries of S, nothing left open.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// ψ_L.
    pub low_rank: PenaltyChoice,
    /// ψ_S.
    pub sparse: PenaltyChoice,
}

impl Weights {
    /// λ_S = 3·noise and λ_L = λ_S·√max(rows, cols), where they are not given: the ratio with which the two parts can be told apart
    /// (Candès, Li, Ma and Wright 2011), at a level where noise is neither. λ_L > noise·(√rows + √cols), the norm of the noise.
    pub fn choose(low_rank: &PenaltyChoice, sparse: &PenaltyChoice, noise: f64, rows: usize, cols: usize) -> Self {
        let lambda = ABOVE_NOISE * noise;
        Self {
            low_rank: low_rank.clone().or("lambda", number::tidy(lambda * (rows.max(cols) as f64).sqrt())),
            sparse: sparse.clone().or("lambda", number::tidy(lambda)),
        }
    }
}

/// Rows and columns in which noise is looked for, at most: of the shorter and of the longer side. More say little more about
/// one number.
const SEEN: [usize; 2] = [512, 2048];

/// The standard deviation of the noise in Y = low rank + sparse + noise, found with the two others (`apart.rs`). At least a thousandth
/// of what the columns' medians leave, for data without noise. Of a large matrix rows and columns are looked at that are spread
/// evenly over it. Where it is over before, what the medians leave: without weights there is no problem.
pub fn noise<S: Real>(y: &[S], rows: usize, cols: usize, until: &Until) -> Result<f64, Error> {
    crate::magnitude::check_known("Y", y)?;
    if y.iter().any(|y| y.f64().is_infinite()) {
        return Err(Error::input("Y", "infinite entries", "finite numbers"));
    }
    let [most_rows, most_cols] = if rows <= cols { SEEN } else { [SEEN[1], SEEN[0]] };
    let (seen_rows, seen_cols) = (rows.min(most_rows), cols.min(most_cols));
    if (seen_rows, seen_cols) == (rows, cols) {
        return Ok(level(y, rows, cols, until));
    }
    let row = |i: usize| (0..seen_cols).map(move |j| y[i * rows / seen_rows * cols + j * cols / seen_cols]);
    let seen: Vec<S> = (0..seen_rows).flat_map(row).collect();
    Ok(level(&seen, seen_rows, seen_cols, until))
}

fn level<S: Real>(y: &[S], rows: usize, cols: usize, until: &Until) -> f64 {
    apart(y, rows, cols, None, until).unwrap_or_else(|| Apart::first(y, rows, cols, None)).noise
}

/// The median of every column's numbers; 0 for a column without any.
pub(super) fn column_medians<S: Real>(y: &[S], cols: usize) -> Vec<f64> {
    // Rows are long: some columns are read together.
    const TOGETHER: usize = 64;
    let mut columns = [(); TOGETHER].map(|()| Vec::with_capacity(y.len() / cols));
    let mut medians = Vec::with_capacity(cols);
    for from in (0..cols).step_by(TOGETHER) {
        let here = from..cols.min(from + TOGETHER);
        columns.iter_mut().for_each(Vec::clear);
        for row in y.chunks(cols) {
            let known = columns.iter_mut().zip(&row[here.clone()]).filter(|(_, y)| !y.f64().is_nan());
            known.for_each(|(column, y)| column.push(y.f64()));
        }
        let median = |known: &Vec<f64>| if known.is_empty() { 0.0 } else { median(known) };
        medians.extend(columns[..here.len()].iter().map(median));
    }
    medians
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

    /// Rank `rank`, entries of which the share `outliers` is off by up to 20, and noise.
    fn mixed(rows: usize, cols: usize, rank: usize, outliers: f64, level: f64) -> Vec<f64> {
        let mut seeded = Seeded::new(5);
        let (a, b): (Vec<f64>, Vec<f64>) = (seeded.normals(rows * rank), seeded.normals(cols * rank));
        let low_rank = |i: usize, j: usize| (0..rank).map(|r| a[i * rank + r] * b[j * rank + r]).sum::<f64>();
        let entry = |at: usize, seeded: &mut Seeded| {
            let outlier = if seeded.uniform() < outliers { 40.0 * seeded.uniform() - 20.0 } else { 0.0 };
            low_rank(at / cols, at % cols) + outlier + level * seeded.normal()
        };
        (0..rows * cols).map(|at| entry(at, &mut seeded)).collect()
    }

    /// It was 3 to 75 times too high.
    #[test]
    fn noise_is_found_under_low_rank_and_outliers() {
        for (rows, cols, rank, outliers, level) in [
            (40, 300, 1, 0.03, 0.02),
            (150, 60, 5, 0.05, 0.1),
            (120, 100, 3, 0.3, 0.1),
            (60, 60, 0, 0.05, 1.0),
            (80, 80, 8, 0.0, 0.3),
        ] {
            let found = noise(&mixed(rows, cols, rank, outliers, level), rows, cols, &Until::done()).unwrap();
            assert!((0.85..1.2).contains(&(found / level)), "{rows}×{cols}, {outliers}: {found} for {level}");
        }
        assert!(noise(&[0.5f32; 12], 3, 4, &Until::done()).unwrap() > 0.0);
        let without = mixed(60, 50, 3, 0.05, 0.0);
        assert!(noise(&without, 60, 50, &Until::done()).unwrap() < 1e-2);
    }

    #[test]
    fn the_noise_of_a_large_matrix_is_that_of_a_part() {
        let (rows, cols, level) = (3000, 40, 0.02);
        let mut seeded = Seeded::new(6);
        let y: Vec<f64> = (0..rows * cols).map(|at| (at % cols) as f64 + level * seeded.normal()).collect();
        let found = noise(&y, rows, cols, &Until::done()).unwrap();
        assert!((0.9..1.1).contains(&(found / level)), "{found}");
        assert!(noise(&[f64::INFINITY; 12], 3, 4, &Until::done()).is_err());
    }

    /// Every third entry was looked at, and here it is every third that is missing: the noise came out as 10⁻¹⁵⁴.
    #[test]
    fn gaps_in_step_with_the_look_are_no_matter() {
        let (rows, cols, level) = (480, 500, 0.1);
        let mut y = mixed(rows, cols, 2, 0.02, level);
        (0..rows * cols).filter(|at| at % 3 == 0).for_each(|at| y[at] = f64::NAN);
        let found = noise(&y, rows, cols, &Until::done()).unwrap();
        assert!((0.85..1.2).contains(&(found / level)), "{found}");
    }

    #[test]
    fn without_time_the_medians_decide() {
        let y = mixed(50, 40, 1, 0.05, 0.1);
        let found = noise(&y, 50, 40, &Until::after(Some(std::time::Duration::ZERO))).unwrap();
        assert!(found > 0.1 && found < 10.0, "{found}");
    }
}
