use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::{LinearModel, Responses};

/// f(x) = Σᵢ log Σ_{tⱼ ≥ tᵢ} exp((Ax)ⱼ) − (Ax)ᵢ over the rows i with an event at tᵢ: minus the logarithm of Cox's partial likelihood,
/// by Breslow where events fall on one time.
///
/// A weight wᵢ counts row i as so many. L_f = ‖A‖²/2 times the number of events. Cox, "Regression models and life-tables" (1972);
/// Breslow, "Covariance analysis of censored survival data" (1974).
pub type Cox<S> = LinearModel<S, Times>;

/// The kind of [`Cox`].
pub struct Times;

impl<S: Real> Cox<S> {
    /// The operator A, and for each entry of its range a time, with an event or without one.
    pub fn new(a: Box<dyn LinOp<S>>, times: Vec<S>, events: &[bool]) -> Result<Self, Error> {
        Self::from_rows(a, Responses::of_times(times, events)?)
    }

    /// The same in one number a row: t with an event at t, −t without one until t.
    pub fn signed(a: Box<dyn LinOp<S>>, times: Vec<S>) -> Result<Self, Error> {
        Self::from_rows(a, Responses::of_signed_times(times)?)
    }
}

/// Who is at risk when.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    /// Responses, the latest first.
    order: Vec<usize>,
    /// Where each stretch of equal times ends in `order`.
    ends: Vec<usize>,
    /// Responses with an event.
    event: Vec<bool>,
}

impl Risk {
    /// Refuses times that are not above 0, and no event at all.
    pub(super) fn new<S: Real>(times: &[S], events: &[bool]) -> Result<Self, Error> {
        Error::expect_len("events", times.len(), events.len())?;
        for t in times {
            Error::expect_parameter("time", t.f64(), t.f64() > 0.0 && t.f64().is_finite(), "above 0, and finite")?;
        }
        let count = events.iter().filter(|event| **event).count();
        Error::expect_parameter("events", count as f64, count > 0, "at least one")?;
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[b].f64().total_cmp(&times[a].f64()));
        let mut ends: Vec<usize> = (1..order.len()).filter(|&at| times[order[at]] != times[order[at - 1]]).collect();
        ends.push(order.len());
        Ok(Self { order, ends, event: events.to_vec() })
    }

    /// How many events.
    pub(super) fn events(&self) -> usize {
        self.event.iter().filter(|event| **event).count()
    }

    /// The rows of each time, the latest first.
    fn times(&self) -> impl DoubleEndedIterator<Item = &[usize]> {
        let start = |at: usize| if at == 0 { 0 } else { self.ends[at - 1] };
        (0..self.ends.len()).map(move |at| &self.order[start(at)..self.ends[at]])
    }
}

fn weight<S: Real>(weights: Option<&[S]>, i: usize) -> f64 {
    weights.map_or(1.0, |weights| weights[i].f64())
}

/// The weight of the events of one time: d(t).
fn events_of<S: Real>(rows: &[usize], risk: &Risk, weights: Option<&[S]>) -> f64 {
    rows.iter().filter(|&&i| risk.event[i]).map(|&i| weight(weights, i)).sum()
}

/// yᵢ ← yᵢ − log S(tᵢ), S(t) the sum of wⱼexp(yⱼ) over everybody at risk at t; returns H(y). From the latest time on, S as s·exp(m).
fn relative<S: Real>(y: &mut [S], risk: &Risk, weights: Option<&[S]>) -> f64 {
    let (mut m, mut s, mut value) = (f64::NEG_INFINITY, 0.0f64, 0.0);
    for rows in risk.times() {
        for &i in rows.iter().filter(|&&i| weight(weights, i) > 0.0) {
            let at = y[i].f64() + weight(weights, i).ln();
            s = if at > m { s * (m - at).exp() + 1.0 } else { s + (at - m).exp() };
            m = m.max(at);
        }
        let total = m + s.ln();
        for &i in rows {
            let cost = if risk.event[i] { weight(weights, i) * (total - y[i].f64()) } else { 0.0 };
            value += cost;
            y[i] = S::of(y[i].f64() - total);
        }
    }
    value
}

/// With qᵢ = wᵢexp(yᵢ)/S(tᵢ) and [A, B] = [S·Σ d/S, S²·Σ d/S²] over the times until tᵢ: hands (i, qᵢ, A, B) to `each`, the earliest first. S falls by
/// the factor 1 − Σ q from a time to the next. `relative` has been there.
fn forwards<S: Real>(y: &mut [S], risk: &Risk, weights: Option<&[S]>, each: impl Fn(usize, [f64; 3]) -> f64) {
    let (mut first, mut second) = (0.0, 0.0);
    for rows in risk.times().rev() {
        let events = events_of(rows, risk, weights);
        (first, second) = (first + events, second + events);
        let mut leaving = 0.0;
        for &i in rows {
            let weight = weight(weights, i);
            let q = if weight > 0.0 { weight * y[i].f64().exp() } else { 0.0 };
            leaving += q;
            y[i] = S::of(each(i, [q, first, second]));
        }
        let left = (1.0 - leaving).max(0.0);
        (first, second) = (left * first, left * left * second);
    }
}

/// y ← H′(y); returns H(y): exp(yᵢ)·Σ d/S over the times until tᵢ, less 1 for an event.
pub(super) fn slopes<S: Real>(y: &mut [S], risk: &Risk, weights: Option<&[S]>) -> f64 {
    let value = relative(y, risk, weights);
    let own = |i: usize| if risk.event[i] { weight(weights, i) } else { 0.0 };
    forwards(y, risk, weights, |i, [q, first, _]| q * first - own(i));
    value
}

/// The least share of its first term that a quadratic model gives a row.
const LEAST: f64 = 1e-3;

/// bends ← the diagonal of H″: eᵢΣ d/S − eᵢ²Σ d/S² with eᵢ = wᵢexp(yᵢ), over the times until tᵢ.
pub(super) fn bends<S: Real>(bends: &mut [S], y: &[S], risk: &Risk, weights: Option<&[S]>) {
    bends.copy_from_slice(y);
    relative(bends, risk, weights);
    let bend = |q: f64, first: f64, second: f64| (q * first - q * q * second).max(LEAST * q * first).max(1e-12);
    forwards(bends, risk, weights, |_, [q, first, second]| bend(q, first, second));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{Smooth, laws};

    fn data(n: usize) -> (Vec<f64>, Vec<bool>) {
        let times = (0..n).map(|i| 1.0 + ((7 * i) % 11) as f64).collect(); // some fall on one time
        (times, (0..n).map(|i| i % 3 != 1).collect())
    }

    #[test]
    fn obeys_the_laws() {
        let (times, events) = data(19);
        let f = || Cox::new(Box::new(laws::Table::noise(19, 4)), times.clone(), &events).unwrap();
        laws::check(&f());
        let weights = (0..19).map(|i| 0.5 + f64::from(i % 3)).collect();
        laws::check(&f().weighted(weights).unwrap().shifted(laws::noise(19, 3)).unwrap());
    }

    /// By hand: three rows, events at 1 and 2, the third only watched until 3.
    #[test]
    fn known_value() {
        let a = laws::Table::new(vec![1.0, 0.0, -1.0], 3, 1);
        let f = Cox::new(Box::new(a), vec![1.0, 2.0, 3.0], &[true, true, false]).unwrap();
        let mut grad = [9.0];
        let value = f.value_grad(&mut grad, &[0.5], &mut [0.0; 3]);
        let e = [0.5f64.exp(), 1.0, (-0.5f64).exp()];
        let wanted = (e[0] + e[1] + e[2]).ln() - 0.5 + (e[1] + e[2]).ln();
        let slope = (e[0] - e[2]) / (e[0] + e[1] + e[2]) - 1.0 - e[2] / (e[1] + e[2]);
        assert!((value - wanted).abs() < 1e-14 && (grad[0] - slope).abs() < 1e-14, "{value} {grad:?}");
    }

    #[test]
    fn bends_are_the_diagonal_of_the_hessian() {
        let (times, events) = data(12);
        let rows = Responses::of_times(times, &events).unwrap();
        let y: Vec<f64> = laws::noise(12, 4);
        let mut bends = vec![0.0; 12];
        rows.bends(&mut bends, &[], &y);
        for i in 0..12 {
            let slope = |step: f64| {
                let mut moved = y.clone();
                moved[i] += step;
                rows.slopes(&mut moved);
                moved[i]
            };
            let second = (slope(1e-5) - slope(-1e-5)) / 2e-5;
            assert!((bends[i] - second.max(0.0)).abs() < 1e-3 * (second + 1e-3), "{i}: {} {second}", bends[i]);
        }
    }

    #[test]
    fn bad_times_are_refused() {
        let built = |times: Vec<f64>, events: &[bool]| Cox::new(Box::new(laws::Table::noise(2, 2)), times, events);
        assert!(built(vec![1.0, 2.0], &[true]).is_err() && built(vec![1.0, 2.0], &[false, false]).is_err());
        assert!(built(vec![0.0, 2.0], &[true, true]).is_err() && built(vec![f64::NAN, 2.0], &[true, true]).is_err());
    }
}
