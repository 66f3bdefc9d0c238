//! The range of samples that nobody stated.

use melmo::real::Real;

/// So many samples, evenly taken, say enough.
const ENOUGH: usize = 1 << 16;

/// The least and the largest sample.
pub(super) fn ends<S: Real>(data: &[S]) -> (f64, f64) {
    data.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (v.f64().min(a), v.f64().max(b)))
}

fn some<S: Real>(data: &[S]) -> impl Iterator<Item = f64> {
    data.iter().step_by(data.len().div_ceil(ENOUGH).max(1)).map(|v| v.f64())
}

/// What 98 % of the samples spread over, in the units that they are in: what a picture's range is without its noise, more or less.
pub(super) fn spread<S: Real>(data: &[S]) -> f64 {
    let mut some: Vec<f64> = some(data).collect();
    some.sort_by(f64::total_cmp);
    let at = |part: f64| some[(part * (some.len() - 1) as f64) as usize];
    let spread = at(0.99) - at(0.01);
    if spread > 0.0 { spread } else { 1.0 }
}

/// What samples are multiples of, where they were 8 bits: a 255th of their range, of 1, or 1.
pub(super) fn step<S: Real>(data: &[S], range: Option<f64>) -> Option<f64> {
    let (low, high) = ends(data);
    let holds = |step: &f64| {
        let whole = |v: f64| (v / step - (v / step).round()).abs() < 1e-3;
        high - low <= 255.5 * step && high - low > 8.0 * step && some(data).all(whole)
    };
    range.map_or(vec![1.0 / 255.0, 1.0], |range| vec![range / 255.0]).into_iter().find(holds)
}
