//! p(x) = ax + bx³ + cx⁵, and compositions of such polynomials, on intervals.

/// p(x) = ax + bx³ + cx⁵: applied to a matrix as X(aI + bG + cG²), G = XᵀX, it acts on every singular value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Quintic {
    pub a: f64,
    pub b: f64,
    pub c: f64,
}

/// The closed interval [lo, hi].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub lo: f64,
    pub hi: f64,
}

impl Interval {
    pub fn new(lo: f64, hi: f64) -> Self {
        Self { lo, hi }
    }

    pub fn widened(self, by: f64) -> Self {
        Self::new(self.lo - by, self.hi + by)
    }
}

impl Quintic {
    pub(super) fn at(&self, x: f64) -> f64 {
        let t = x * x;
        x * (self.a + t * (self.b + t * self.c))
    }

    pub(super) fn slope(&self, x: f64) -> f64 {
        let t = x * x;
        self.a + t * (3.0 * self.b + t * 5.0 * self.c)
    }

    /// x ↦ p(x/t).
    pub fn of_quotient(&self, t: f64) -> Self {
        Self { a: self.a / t, b: self.b / t.powi(3), c: self.c / t.powi(5) }
    }

    /// The roots x > 0 of p′(x) = a + 3bx² + 5cx⁴, ascending.
    pub(super) fn critical_points(&self) -> impl Iterator<Item = f64> + use<> {
        let (a, b, c) = (self.a, 3.0 * self.b, 5.0 * self.c);
        let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
        // Without cancellation: one root from the sum of equal signs, the other from their product a/c.
        let s = -0.5 * (b + root.copysign(b));
        let (mut t, mut u) = (s / c, a / s);
        if t > u {
            std::mem::swap(&mut t, &mut u);
        }
        [t, u].into_iter().filter(|t| *t > 0.0 && t.is_finite()).map(f64::sqrt)
    }

    /// The exact image of an interval: its extremes are at its ends or at critical points of this odd polynomial.
    pub(super) fn image(&self, over: Interval) -> Interval {
        let inner = self.critical_points().flat_map(|x| [x, -x]).filter(|&x| over.lo < x && x < over.hi);
        let values = inner.chain([over.lo, over.hi]).map(|x| self.at(x));
        values.fold(Interval::new(f64::INFINITY, f64::NEG_INFINITY), |r, v| Interval::new(r.lo.min(v), r.hi.max(v)))
    }

    /// sup |p′| over an interval: a + 3bt + 5ct² in t = x² has its extremes at the ends or at its vertex.
    pub(super) fn steepest(&self, over: Interval) -> f64 {
        let (lo, hi) = (over.lo.abs().min(over.hi.abs()), over.lo.abs().max(over.hi.abs()));
        let lo = if over.lo < 0.0 && over.hi > 0.0 { 0.0 } else { lo };
        let vertex = (-0.3 * self.b / self.c).max(0.0).sqrt();
        let vertex = if lo < vertex && vertex < hi { self.slope(vertex).abs() } else { 0.0 };
        self.slope(lo).abs().max(self.slope(hi).abs()).max(vertex)
    }

    /// |a|x + |b|x³ + |c|x⁵: what rounding errors of a step are proportional to.
    pub(super) fn magnitude(&self, x: f64) -> f64 {
        Self { a: self.a.abs(), b: self.b.abs(), c: self.c.abs() }.at(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_those_of_a_fine_grid() {
        let p = Quintic { a: 3.9, b: -8.1, c: 4.9 };
        for (lo, hi) in [(0.0, 1.0), (0.1, 0.4), (0.6, 1.1), (-0.5, 0.2)] {
            let grid = (0..=100_000).map(|i| p.at(lo + (hi - lo) * i as f64 / 1e5));
            let seen = grid.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            let image = p.image(Interval::new(lo, hi));
            assert!((image.lo - seen.0).abs() < 1e-8 && (image.hi - seen.1).abs() < 1e-8, "{image:?} {seen:?}");
        }
        for (lo, hi) in [(0.0, 1.0), (0.1, 0.4), (0.6, 1.1), (-0.5, 0.2)] {
            let seen = (0..=100_000).map(|i| p.slope(lo + (hi - lo) * i as f64 / 1e5).abs()).fold(0.0, f64::max);
            assert!((p.steepest(Interval::new(lo, hi)) - seen).abs() < 1e-6);
        }
        for x in p.critical_points() {
            assert!(p.slope(x).abs() < 1e-12);
        }
        assert_eq!(p.critical_points().count(), 2);
    }
}
