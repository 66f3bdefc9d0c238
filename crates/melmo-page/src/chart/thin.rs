//! Fewer points, the same picture: the least and the largest value of every stretch stay.

use super::Scale;

/// Which of `n` points to keep: for each of `bins` stretches of x, equal on each of the scales that it is shown on, the points
/// where a value is least and largest; the first and the last point; the edges of gaps. In order,
/// at most about `4·bins` for a list of values and a scale.
pub(crate) fn keep(x: &[f64], values: &[&[f64]], bins: usize, scales: &[Scale]) -> Vec<usize> {
    let n = x.len();
    if n <= 4 * bins {
        return (0..n).collect();
    }
    let mut kept = vec![false; n];
    [0, n - 1].into_iter().for_each(|i| kept[i] = true);
    // A linear and a logarithmic axis show different stretches: the first percent fills half of the latter.
    for scale in scales {
        let warp = match scale {
            Scale::Linear => |v: f64| v,
            Scale::Log => f64::ln,
        };
        for y in values {
            mark_extremes(&mut kept, x, y, bins, warp);
        }
    }
    if let Some(y) = values.first() {
        mark_gaps(&mut kept, y, bins);
    }
    (0..n).filter(|&i| kept[i]).collect()
}

/// Where values begin and end to be missing. A series that is mostly gaps, more than `bins` of them, is drawn without.
fn mark_gaps(kept: &mut [bool], y: &[f64], bins: usize) {
    let edges: Vec<usize> =
        (1..y.len().min(kept.len())).filter(|&i| y[i].is_finite() != y[i - 1].is_finite()).collect();
    if edges.len() <= 2 * bins {
        edges.into_iter().for_each(|i| (kept[i - 1], kept[i]) = (true, true));
    }
}

fn mark_extremes(kept: &mut [bool], x: &[f64], y: &[f64], bins: usize, warp: fn(f64) -> f64) {
    let places = || x.iter().map(|&v| warp(v)).filter(|v| v.is_finite());
    let (low, high) = places().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let mut least = vec![usize::MAX; bins];
    let mut largest = vec![usize::MAX; bins];
    for (i, (&x, &value)) in x.iter().zip(y).enumerate() {
        let place = warp(x);
        if !value.is_finite() || !place.is_finite() {
            continue;
        }
        let share = (place - low) / (high - low);
        let bin = ((share * bins as f64) as usize).min(bins - 1);
        if least[bin] == usize::MAX || value < y[least[bin]] {
            least[bin] = i;
        }
        if largest[bin] == usize::MAX || value > y[largest[bin]] {
            largest[bin] = i;
        }
    }
    least.into_iter().chain(largest).filter(|&i| i != usize::MAX).for_each(|i| kept[i] = true);
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Scale; 2] = [Scale::Linear, Scale::Log];

    fn picked(y: &[f64], kept: &[usize]) -> Vec<f64> {
        kept.iter().map(|&i| y[i]).collect()
    }

    #[test]
    fn extremes_and_ends_stay() {
        let n = 100_000;
        let x: Vec<f64> = (1..=n).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|k| (k * 0.37).sin() + 10.0 / k).collect();
        y[54_321] = 99.0;
        y[777] = -99.0;
        let kept = keep(&x, &[&y], 150, &BOTH);
        assert!(kept.len() <= 8 * 150 && kept.is_sorted());
        assert_eq!((kept[0], kept[kept.len() - 1]), (0, n as usize - 1));
        let values = picked(&y, &kept);
        assert!(values.contains(&99.0) && values.contains(&-99.0));
    }

    #[test]
    fn the_start_is_not_lost_on_a_log_axis() {
        let x: Vec<f64> = (1..=100_000).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|k| 1.0 / k).collect();
        let early = keep(&x, &[&y], 100, &BOTH).into_iter().filter(|&i| i < 1000).count();
        assert!(early > 40, "{early}");
    }

    #[test]
    fn gaps_stay_gaps() {
        let x: Vec<f64> = (1..=10_000).map(f64::from).collect();
        let mut y = vec![1.0; 10_000];
        y[5000] = f64::NAN;
        let kept = keep(&x, &[&y], 20, &BOTH);
        assert!([4999, 5000, 5001].iter().all(|i| kept.contains(i)));

        // Recorded at every other point: 5000 gaps, none of which anyone could see.
        let y: Vec<f64> = (0..10_000).map(|i| if i % 2 == 0 { 1.0 } else { f64::NAN }).collect();
        assert!(keep(&x, &[&y], 20, &BOTH).len() <= 8 * 20);
    }

    #[test]
    fn few_points_all_stay() {
        assert_eq!(keep(&[1.0, 2.0, 3.0], &[&[0.0, f64::NAN, 1.0]], 10, &BOTH), [0, 1, 2]);
        assert!(keep(&[], &[&[]], 10, &BOTH).is_empty());
    }

    #[test]
    fn one_place_is_one_bin() {
        let y: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(picked(&y, &keep(&[2.0; 1000], &[&y], 10, &BOTH)), [0.0, 999.0]);
    }
}
