//! How good predictions are, in the measures people use.

/// Predictions t of numbers y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// 1 − Σ(y − t)²/Σ(y − ȳ)²: 1 is perfect, 0 no better than the mean of these y. NaN where all y are one number.
    pub r2: f64,
    /// The root of the mean square.
    pub rmse: f64,
    /// The mean size.
    pub mae: f64,
}

impl Measured {
    /// Of n ≥ 1 numbers.
    pub fn of(y: &[f64], t: &[f64]) -> Self {
        let n = y.len() as f64;
        let mean = y.iter().map(|y| y / n).sum::<f64>();
        let (mut squares, mut sizes, mut around) = (0.0, 0.0, 0.0);
        for (y, t) in y.iter().zip(t) {
            squares += (y - t).powi(2);
            sizes += (y - t).abs();
            around += (y - mean).powi(2);
        }
        let r2 = if around > 0.0 { 1.0 - squares / around } else { f64::NAN };
        Self { r2, rmse: (squares / n).sqrt(), mae: sizes / n }
    }
}

/// Predictions of two classes y = ±1 by log-odds t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classified {
    /// The share of rows where t has the sign of y.
    pub accuracy: f64,
    /// The share of pairs, one of each class, that t puts in the right order; a tie counts half. NaN with one class.
    pub auc: f64,
    /// 2Σ log(1 + exp(−yt)).
    pub deviance: f64,
    /// 1 − deviance over that of the best constant: 1 is perfect, 0 says nothing. NaN with one class.
    pub explained: f64,
}

impl Classified {
    /// Of n ≥ 1 rows.
    pub fn of(y: &[f64], t: &[f64]) -> Self {
        let n = y.len() as f64;
        let right = y.iter().zip(t).filter(|(y, t)| (**t > 0.0) == (**y > 0.0)).count() as f64;
        let deviance = 2.0 * n * super::Loss::Logistic.mean(y, t, None);
        let up = y.iter().filter(|y| **y > 0.0).count() as f64;
        let both = up > 0.0 && up < n;
        let null = -2.0 * (up * (up / n).ln() + (n - up) * (1.0 - up / n).ln());
        let explained = if both { 1.0 - deviance / null } else { f64::NAN };
        Self { accuracy: right / n, auc: if both { auc(y, t, up) } else { f64::NAN }, deviance, explained }
    }
}

/// By the sum of the ranks of the upper class (Mann and Whitney).
fn auc(y: &[f64], t: &[f64], up: f64) -> f64 {
    let mut order: Vec<usize> = (0..y.len()).collect();
    order.sort_by(|&a, &b| t[a].total_cmp(&t[b]));
    let (mut before, mut ranks) = (0usize, 0.0);
    for tied in order.chunk_by(|&a, &b| t[a] == t[b]) {
        let rank = before as f64 + (tied.len() as f64 + 1.0) / 2.0;
        ranks += rank * tied.iter().filter(|&&row| y[row] > 0.0).count() as f64;
        before += tied.len();
    }
    (ranks - up * (up + 1.0) / 2.0) / (up * (y.len() as f64 - up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let measured = Measured::of(&[1.0, 2.0, 3.0, 6.0], &[1.0, 2.0, 5.0, 6.0]);
        assert!((measured.r2 - (1.0 - 4.0 / 14.0)).abs() < 1e-15);
        assert_eq!((measured.rmse, measured.mae), (1.0, 0.5));
        assert!(Measured::of(&[2.0, 2.0], &[1.0, 2.0]).r2.is_nan());
    }

    #[test]
    fn classes() {
        let y = [-1.0, -1.0, 1.0, 1.0];
        let found = Classified::of(&y, &[-2.0, 0.5, 0.5, 3.0]);
        assert_eq!((found.accuracy, found.auc), (0.75, 0.875), "3½ of 4 pairs are in order");
        let nothing = Classified::of(&y, &[0.0; 4]);
        assert!((nothing.deviance - 8.0 * 2f64.ln()).abs() < 1e-14 && nothing.explained.abs() < 1e-15);
        assert_eq!(nothing.auc, 0.5);
        assert!(Classified::of(&[1.0], &[1.0]).auc.is_nan());
    }
}
