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

impl Classified {
    /// Of several classes y = 0, 1, … by a stretch of all rows of t for each; the AUC is the mean of those of one class against the
    /// others.
    pub fn of_several(y: &[f64], t: &[f64], classes: usize) -> Self {
        let n = y.len();
        let of_row = |row: usize| t[row..].iter().step_by(n).copied();
        let chances: Vec<f64> = (0..n).flat_map(|row| softmax(of_row(row))).collect();
        let best = |row: usize| {
            let most = of_row(row).enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            most.map(|(class, _)| class as f64)
        };
        let right = (0..n).filter(|&row| best(row) == Some(y[row])).count() as f64;
        let deviance = 2.0 * n as f64 * super::Loss::Multinomial(classes).mean(y, t, None);
        let (mut null, mut areas) = (0.0, Vec::new());
        for class in 0..classes {
            let own: Vec<f64> = y.iter().map(|&y| if y == class as f64 { 1.0 } else { -1.0 }).collect();
            let up = own.iter().filter(|y| **y > 0.0).count() as f64;
            if up > 0.0 && up < n as f64 {
                null -= 2.0 * up * (up / n as f64).ln();
                let chance: Vec<f64> = chances[class..].iter().step_by(classes).copied().collect();
                areas.push(auc(&own, &chance, up));
            }
        }
        let auc = if areas.len() == classes { areas.iter().sum::<f64>() / classes as f64 } else { f64::NAN };
        let explained = if null > 0.0 { 1.0 - deviance / null } else { f64::NAN };
        Self { accuracy: right / n as f64, auc, deviance, explained }
    }
}

/// exp(t_k)/Σ exp(t).
pub fn softmax(t: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let largest = t.clone().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = t.clone().map(|t| (t - largest).exp()).sum();
    t.map(|t| (t - largest).exp() / total).collect()
}

/// The deviance of counts y whose means are exp(t), and the share of it that t explains: 1 − deviance over that of the best constant.
pub fn deviance_of_counts(y: &[f64], t: &[f64]) -> (f64, f64) {
    let n = y.len() as f64;
    let deviance = |t: &[f64]| 2.0 * n * super::Loss::Poisson.mean(y, t, None);
    let mean = y.iter().map(|y| y / n).sum::<f64>();
    let (own, null) = (deviance(t), deviance(&vec![mean.ln(); y.len()]));
    (own, if mean > 0.0 && null > 0.0 { 1.0 - own / null } else { f64::NAN })
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

    /// Two classes by two outputs are two classes by log-odds.
    #[test]
    fn several_classes() {
        let (y, t) = ([0.0, 0.0, 1.0, 1.0, 0.0], [-2.0, 0.5, 0.7, 3.0, -0.1]);
        let signs: Vec<f64> = y.iter().map(|y| 2.0 * y - 1.0).collect();
        let (one, two) = (Classified::of(&signs, &t), Classified::of_several(&y, &[[0.0; 5], t].concat(), 2));
        assert_eq!((one.accuracy, one.auc), (two.accuracy, two.auc));
        assert!((one.deviance - two.deviance).abs() < 1e-12 && (one.explained - two.explained).abs() < 1e-12);
    }

    #[test]
    fn counts() {
        let y = [0.0, 1.0, 4.0];
        let (perfect, all) = deviance_of_counts(&y, &[-700.0, 0.0, 4f64.ln()]);
        assert!(perfect.abs() < 1e-12 && (all - 1.0).abs() < 1e-12);
        let (_, none) = deviance_of_counts(&y, &[(5.0f64 / 3.0).ln(); 3]);
        assert!(none.abs() < 1e-12);
    }
}
