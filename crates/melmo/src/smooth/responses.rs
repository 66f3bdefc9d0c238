//! What the rows of a linear model know and cost.

use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::cox::Risk;
use crate::smooth::link::for_link;
use crate::smooth::{Link, Rounding};
use crate::smooth::{cox, multinomial};
use crate::vector::{norm_inf, simd, sum, sum_error};

/// H(y) for y = Ax + o: a datum bᵢ, a weight wᵢ and an offset oᵢ a row.
#[derive(Clone, Debug)]
pub struct Responses<S> {
    target: Vec<S>,
    kind: Kind,
    /// Numbers of y that a row has.
    outputs: usize,
    weights: Option<Vec<S>>,
    offset: Option<Vec<S>>,
}

/// What H is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Σᵢ wᵢ·h(yᵢ; bᵢ).
    Each(Link),
    /// Σᵢ wᵢ·(log Σ_k exp(y_ik) − y_ib) for so many classes k, bᵢ = 0, 1, …. y has a stretch of all rows for each class.
    Classes(usize),
    /// Minus the logarithm of Cox's partial likelihood.
    Cox(Risk),
}

impl<S: Real> Responses<S> {
    /// Every weight 1, every offset 0. Refuses data that the link does not take.
    pub fn new(target: Vec<S>, link: Link) -> Result<Self, Error> {
        link.check(&target)?;
        Error::expect_finite("b", &target)?;
        Ok(Self { target, kind: Kind::Each(link), outputs: 1, weights: None, offset: None })
    }

    /// Several outputs a row, each with its own datum: b has a stretch of all rows for each.
    pub fn stacked(target: Vec<S>, link: Link, outputs: usize) -> Result<Self, Error> {
        let whole = outputs > 0 && target.len().is_multiple_of(outputs);
        Error::expect_parameter("outputs", outputs as f64, whole, "a divisor of the number of data")?;
        Ok(Self { outputs, ..Self::new(target, link)? })
    }

    /// Responses of so many classes, bᵢ = 0, 1, … that of row i.
    pub fn of_classes(target: Vec<S>, classes: usize) -> Result<Self, Error> {
        Error::expect_parameter("classes", classes as f64, classes >= 2, "2 at least")?;
        for b in &target {
            let holds = b.f64() >= 0.0 && b.f64() < classes as f64 && b.f64().fract() == 0.0;
            Error::expect_parameter("class", b.f64(), holds, "0, 1, …, one less than the number of classes")?;
        }
        Ok(Self { target, kind: Kind::Classes(classes), outputs: classes, weights: None, offset: None })
    }

    /// Responses with a time bᵢ > 0 until an event, or until nobody looked any longer.
    pub fn of_times(times: Vec<S>, events: &[bool]) -> Result<Self, Error> {
        let risk = Risk::new(&times, events)?;
        Ok(Self { target: times, kind: Kind::Cox(risk), outputs: 1, weights: None, offset: None })
    }

    /// The same in one number a row: t with an event at t, −t without one until t.
    pub fn of_signed_times(times: Vec<S>) -> Result<Self, Error> {
        let events: Vec<bool> = times.iter().map(|t| *t > S::ZERO).collect();
        Self::of_times(times.iter().map(|t| t.abs()).collect(), &events)
    }

    /// With weights wᵢ ≥ 0, not all 0.
    pub fn weighted(mut self, weights: Vec<S>) -> Result<Self, Error> {
        Error::expect_len("weights", self.count(), weights.len())?;
        Error::expect_finite("weights", &weights)?;
        let least = weights.iter().fold(f64::INFINITY, |least, w| least.min(w.f64()));
        Error::expect_parameter("weight", least, least >= 0.0, "0 at least")?;
        let largest = norm_inf(&weights);
        Error::expect_parameter("largest weight", largest, largest > 0.0, "above 0")?;
        // One for every datum.
        self.weights = Some(weights.repeat(self.target.len() / weights.len().max(1)));
        Ok(self)
    }

    /// With offsets: what is known of Ax already.
    pub fn shifted(mut self, offset: Vec<S>) -> Result<Self, Error> {
        Error::expect_len("offset", self.outputs * self.count(), offset.len())?;
        Error::expect_finite("offset", &offset)?;
        self.offset = Some(offset);
        Ok(self)
    }

    /// How many.
    pub fn count(&self) -> usize {
        if let Kind::Each(_) = self.kind { self.target.len() / self.outputs } else { self.target.len() }
    }

    /// b.
    pub fn target(&self) -> &[S] {
        &self.target
    }

    /// What H is.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Numbers of y that a row has: one, one a class, or several that were asked for.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The largest weight.
    fn largest_weight(&self) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| norm_inf(weights))
    }

    /// w; all 1 when there are none.
    pub fn weights(&self) -> Option<&[S]> {
        self.weights.as_deref()
    }

    /// wᵢ.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i].f64())
    }

    /// oᵢ.
    pub fn offset(&self, i: usize) -> f64 {
        self.offset.as_ref().map_or(0.0, |offset| offset[i].f64())
    }

    /// H = ½‖y − b‖².
    pub fn is_plain(&self) -> bool {
        self.kind == Kind::Each(Link::Squares) && self.weights.is_none()
    }

    /// There are offsets.
    pub fn is_shifted(&self) -> bool {
        self.offset.is_some()
    }

    /// How far rounding takes H(Ax + o) and its gradient, from ‖x‖₂ and the value.
    pub fn rounding(&self, a: &dyn LinOp<S>, x_norm: f64, value: f64) -> Rounding {
        let applied = a.rounding() * x_norm;
        let slopes = self.slopes_bound(value);
        let of_slopes = self.curvature_below(value) * applied + 8.0 * S::EPSILON * slopes;
        Rounding {
            value: slopes * applied + (8.0 * S::EPSILON + sum_error(self.count())) * value.abs(),
            grad: a.norm_bound() * of_slopes + a.rounding() * slopes,
        }
    }

    /// sup H″; ∞ where there is none. A softmax bends by ½ at most; so does the logarithm of a sum of exponentials, once for every event.
    pub fn curvature(&self) -> f64 {
        self.largest_weight()
            * match &self.kind {
                Kind::Each(link) => link.curvature(),
                Kind::Classes(_) => 0.5,
                Kind::Cox(risk) => 0.5 * risk.events() as f64,
            }
    }

    /// sup H″ where H(y) ≤ `value`. For counts b, exp(y) ≤ 2h(y) + 1.4b, since t/2 − 1 − log t ≥ −log 2.
    pub fn curvature_below(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Each(Link::Poisson) => 2.0 * value.max(0.0) + 1.4 * self.largest_weight() * norm_inf(&self.target),
            _ => self.curvature(),
        }
    }

    /// A bound on ‖H′(y)‖ where H(y) = `value`: (wh′)² ≤ 2w·wh for squares and Huber's loss, |h′| ≤ 1 for most others.
    pub fn slopes_bound(&self, value: f64) -> f64 {
        let (largest, rows) = (self.largest_weight(), self.target.len() as f64);
        match &self.kind {
            Kind::Each(Link::Squares | Link::Huber(_)) => (2.0 * largest * value.max(0.0)).sqrt(),
            Kind::Each(Link::Logistic | Link::Quantile { .. }) => largest * rows.sqrt(),
            Kind::Each(Link::Poisson) => {
                2.0 * value.max(0.0) + 2.4 * largest * self.target.iter().map(|b| b.f64()).sum::<f64>()
            }
            Kind::Classes(_) => largest * (2.0 * rows).sqrt(),
            Kind::Cox(risk) => largest * 2.0 * risk.events() as f64,
        }
    }

    /// The interval of (Ax)ᵢ in which row i costs `most` at most; `None` where it costs nothing, or nothing alone.
    pub fn level(&self, i: usize, most: f64) -> Option<[f64; 2]> {
        let (weight, offset) = (self.weight(i), self.offset(i));
        let Kind::Each(link) = self.kind else { return None };
        let level = (weight > 0.0).then(|| link.level(self.target[i].f64(), most / weight));
        level.map(|ends| ends.map(|end| end - offset))
    }

    /// y ← o.
    pub fn start(&self, y: &mut [S]) {
        match &self.offset {
            Some(offset) => y.copy_from_slice(offset),
            None => y.fill(S::ZERO),
        }
    }

    /// y ← y + o.
    pub fn shift(&self, y: &mut [S]) {
        if let Some(offset) = &self.offset {
            y.iter_mut().zip(offset).for_each(|(y, &o)| *y += o);
        }
    }

    /// The slope of row i at y, where H is a sum over rows; else NaN.
    #[inline]
    pub fn slope(&self, i: usize, y: S) -> S {
        let Kind::Each(link) = self.kind else { return S::of(f64::NAN) };
        let slope = link.slope(y, self.target[i]);
        self.weights.as_ref().map_or(slope, |weights| weights[i] * slope)
    }

    /// y ← H′(y); returns H(y).
    pub fn slopes(&self, y: &mut [S]) -> f64 {
        match &self.kind {
            Kind::Each(link) => for_link!(*link, h => replace_by_slopes(
                y,
                &self.target,
                self.weights.as_deref(),
                #[inline(always)]
                |y, b| h.value_slope(y, b),
            )),
            Kind::Classes(_) => multinomial::slopes(y, &self.target, self.weights.as_deref()),
            Kind::Cox(risk) => cox::slopes(y, risk, self.weights.as_deref()),
        }
    }

    /// slopes ← H′(y), without H(y) where that is cheaper.
    pub fn slopes_of(&self, slopes: &mut [S], y: &[S]) {
        let Kind::Each(link) = self.kind else {
            slopes.copy_from_slice(y);
            self.slopes(slopes);
            return;
        };
        for_link!(link, h => write_slopes(
            slopes,
            y,
            &self.target,
            #[inline(always)]
            |y, b| h.slope(y, b),
        ));
        if let Some(weights) = &self.weights {
            slopes.iter_mut().zip(weights).for_each(|(slope, &w)| *slope = w * *slope);
        }
    }

    /// bends ← the diagonal of H″ at y, where H′ is `slopes`, or a little more (`Link::least_bend`).
    pub fn bends(&self, bends: &mut [S], slopes: &[S], y: &[S]) {
        let link = match &self.kind {
            Kind::Each(link) => *link,
            Kind::Classes(_) => return multinomial::bends(bends, slopes, &self.target, self.weights.as_deref()),
            Kind::Cox(risk) => return cox::bends(bends, y, risk, self.weights.as_deref()),
        };
        let least = S::of(link.least_bend());
        match &self.weights {
            None => {
                for ((bend, &slope), &b) in bends.iter_mut().zip(slopes).zip(&self.target) {
                    *bend = link.bend(slope, b).larger(least);
                }
            }
            Some(weights) => {
                for (((bend, &slope), &b), &w) in bends.iter_mut().zip(slopes).zip(&self.target).zip(weights) {
                    *bend = if w > S::ZERO { w * link.bend(slope / w, b).larger(least) } else { S::ZERO };
                }
            }
        }
    }
}

/// slopesᵢ ← slope(yᵢ, bᵢ).
#[inline(always)]
fn write_slopes<S: Real>(slopes: &mut [S], y: &[S], b: &[S], slope: impl Fn(S, S) -> S) {
    simd(
        #[inline(always)]
        move || {
            for ((out, &y), &b) in slopes.iter_mut().zip(y).zip(b) {
                *out = slope(y, b);
            }
        },
    )
}

/// yᵢ ← wᵢhᵢ′(yᵢ); returns Σᵢ wᵢhᵢ(yᵢ).
#[inline(always)]
fn replace_by_slopes<S: Real>(y: &mut [S], b: &[S], weights: Option<&[S]>, h: impl Fn(S, S) -> (S, S)) -> f64 {
    const STRETCH: usize = 256;
    simd(
        #[inline(always)]
        move || {
            let (mut total, mut values) = (0.0, [S::ZERO; STRETCH]);
            for (k, (y, b)) in y.chunks_mut(STRETCH).zip(b.chunks(STRETCH)).enumerate() {
                for ((y, &b), value) in y.iter_mut().zip(b).zip(&mut values) {
                    (*value, *y) = h(*y, b);
                }
                if let Some(weights) = weights {
                    for ((y, value), &w) in y.iter_mut().zip(&mut values).zip(&weights[k * STRETCH..]) {
                        (*y, *value) = (w * *y, w * *value);
                    }
                }
                total += sum(&values[..y.len()], S::f64);
            }
            total
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_so_many_rows_and_an_offset_moves_y() {
        let quantile = Link::Quantile { level: 0.7, width: 0.5 };
        for link in [Link::Squares, Link::Logistic, Link::Huber(0.5), Link::Poisson, quantile] {
            let b = if link == Link::Poisson { [2.0, 0.0, 1.0] } else { [1.0, -1.0, 1.0] };
            let y = [0.3, -2.0, 0.7];
            let twice = [b[0], b[0], b[1], b[2]];
            let rows = Responses::new(twice.to_vec(), link).unwrap();
            let weighted = Responses::new(b.to_vec(), link).unwrap().weighted(vec![2.0, 1.0, 1.0]).unwrap();
            let weighted = weighted.shifted(vec![0.1, 0.2, 0.3]).unwrap();
            let mut full = [y[0] + 0.1, y[0] + 0.1, y[1] + 0.2, y[2] + 0.3];
            let mut few = y;
            weighted.shift(&mut few);
            let at = few;
            let values = [rows.slopes(&mut full), weighted.slopes(&mut few)];
            assert!((values[0] - values[1]).abs() < 1e-14);
            assert!((full[0] + full[1] - few[0]).abs() < 1e-15 && full[2] == few[1]);
            let mut alone = [0.0; 3];
            weighted.slopes_of(&mut alone, &at);
            assert!(alone.iter().zip(&few).all(|(a, b): (&f64, &f64)| (a - b).abs() < 1e-15));
            assert!((0..3).all(|i| (weighted.slope(i, at[i]) - few[i]).abs() < 1e-15));
            let (mut one, mut two) = ([0.0; 4], [0.0; 3]);
            rows.bends(&mut one, &full, &[0.0; 4]);
            weighted.bends(&mut two, &few, &at);
            assert!((one[0] + one[1] - two[0]).abs() < 1e-15);
        }
    }

    #[test]
    fn bad_rows_are_refused() {
        let rows = || Responses::new(vec![1.0, 2.0], Link::Squares).unwrap();
        assert!(rows().weighted(vec![1.0]).is_err() && rows().shifted(vec![1.0]).is_err());
        assert!(rows().weighted(vec![1.0, -1.0]).is_err() && rows().weighted(vec![0.0, 0.0]).is_err());
        assert!(rows().weighted(vec![1.0, f64::NAN]).is_err() && rows().shifted(vec![f64::NAN, 0.0]).is_err());
        assert!(Responses::new(vec![1.0, 2.0], Link::Logistic).is_err());
    }
}
