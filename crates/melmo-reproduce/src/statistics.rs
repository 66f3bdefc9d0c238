//! Medians, ranges, slopes.

pub use melmo::statistics::median;

/// The least and the largest.
pub fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

/// The slope of log y against log x by least squares, over the points with x in the window.
pub fn slope(points: impl IntoIterator<Item = (f64, f64)>, window: (f64, f64)) -> Option<f64> {
    let inside = |&(x, y): &(f64, f64)| window.0 <= x && x <= window.1 && x > 0.0 && y > 0.0;
    let logs: Vec<(f64, f64)> = points.into_iter().filter(inside).map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let shared: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    (logs.len() > 2 && spread > 0.0).then(|| shared / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(range(&[2.0, -1.0, 5.0]), (-1.0, 5.0));
    }

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points = (1..50).map(|k| (f64::from(k), 3.0 * f64::from(k).powf(-0.25)));
        assert!((slope(points, (5.0, 40.0)).unwrap() + 0.25).abs() < 1e-12);
        assert_eq!(slope([(1.0, 1.0), (2.0, 1.0)], (0.0, 9.0)), None);
    }
}
