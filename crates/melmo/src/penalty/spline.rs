use crate::error::Error;
use crate::penalty::Separable;
use crate::penalty::form::{Psi, Shape};
use crate::real::Real;
use crate::vector::simd;

/// ψ′ odd and piecewise linear: 0 at 0, v_j ≥ 0 at the knots 0 < τ_1 < τ_2 < …, constant from the last knot on.
///
/// ρ = max(0, −min s_j) and sup ψ″ = max(0, max s_j) with the slopes s_j = (v_j − v_{j−1})/(τ_j − τ_{j−1}); slope max v_j. ψ is smooth. The
/// prox is piecewise linear too: on piece j, z + βψ′(z) = x is one linear equation.
/// Goujon, Neumayer, Unser, "Learning weakly convex regularizers for convergent image-reconstruction algorithms" (2023).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spline {
    pieces: [Piece; Spline::MOST],
}

/// From one knot to the next. Pieces that are not used lie at infinity, and have no slope.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    /// Where it begins, and ψ′ there.
    start: f64,
    value: f64,
    width: f64,
    slope: f64,
}

/// Numbers that a [`Table`] looks at together.
const LANES: usize = 32;

impl Spline {
    /// Knots at most.
    pub const MOST: usize = 12;

    /// ψ′ = `values[j]` ≥ 0 at `knots[j]`, 0 < τ_1 < τ_2 < …; at most [`Spline::MOST`] of them, and one at least.
    pub fn new(knots: &[f64], values: &[f64]) -> Result<Self, Error> {
        Error::expect_len("values of a spline", knots.len(), values.len())?;
        let count = knots.len();
        Error::expect_parameter("knots", count as f64, (1..=Self::MOST).contains(&count), "from 1 to 12 of them")?;
        let (mut start, mut value) = (0.0, 0.0);
        let mut pieces = [Piece { start: 0.0, value: 0.0, width: 0.0, slope: 0.0 }; Self::MOST];
        for ((piece, &knot), &next) in pieces.iter_mut().zip(knots).zip(values) {
            let grows = knot > start && knot.is_finite();
            Error::expect_parameter("knot", knot, grows, "finite, and above the one before it")?;
            let holds = next >= 0.0 && next.is_finite();
            Error::expect_parameter("value", next, holds, "a finite number, at least 0")?;
            let width = knot - start;
            let slope = (next - value) / width;
            Error::expect_parameter("slope", slope, slope.is_finite(), "finite: move the knots apart")?;
            *piece = Piece { start, value, width, slope };
            (start, value) = (knot, next);
        }
        pieces[count..].fill(Piece { start, value, width: 0.0, slope: 0.0 });
        Ok(Self { pieces })
    }

    /// ψ(αx)/α² for α > 0: knots and values are divided by α, slopes and ρ stay.
    pub fn scaled(mut self, alpha: f64) -> Result<Self, Error> {
        Error::expect_positive("alpha", alpha)?;
        for piece in &mut self.pieces {
            (piece.start, piece.value, piece.width) = (piece.start / alpha, piece.value / alpha, piece.width / alpha);
        }
        Ok(self)
    }

    /// sup ψ″, at least 0.
    pub fn curvature(&self) -> f64 {
        self.slopes().fold(0.0, f64::max)
    }

    /// Where every piece begins and ψ′ there, how wide it is and the slope of ψ′. Pieces that are not used have neither width nor slope.
    pub fn pieces(&self) -> [[f64; 4]; Self::MOST] {
        self.pieces.map(|Piece { start, value, width, slope }| [start, value, width, slope])
    }

    /// The last knot and ψ′ from there on.
    pub fn end(&self) -> (f64, f64) {
        let last = self.pieces[Self::MOST - 1];
        (last.start + last.width, last.value + last.slope * last.width)
    }

    /// For many numbers at once: the pieces that matter, in their precision.
    ///
    /// Neighbours whose slopes agree within 4ε·max|s_j| are one: that moves ψ′ no further than its rounding does.
    pub(crate) fn table<S: Real>(&self) -> Table<S> {
        let close = 4.0 * S::EPSILON * self.slopes().fold(0.0, |most: f64, slope| most.max(slope.abs()));
        let mut pieces: Vec<Piece> = Vec::new();
        for &piece in self.pieces.iter().filter(|piece| piece.width > 0.0) {
            match pieces.last_mut().filter(|last| (last.slope - piece.slope).abs() <= close) {
                Some(last) => last.width += piece.width,
                None => pieces.push(piece),
            }
        }
        let of = |p: Piece| [p.start, p.width, p.value, 0.5 * p.slope].map(S::of);
        let (end, tail) = self.end();
        Table { pieces: pieces.into_iter().map(of).collect(), end: S::of(end), tail: S::of(tail) }
    }

    fn slopes(&self) -> impl Iterator<Item = f64> + '_ {
        self.pieces.iter().map(|piece| piece.slope)
    }

    /// (ψ(s), ψ′(s)) for s ≥ 0: what every piece that s has passed, or stands on, adds.
    #[inline(always)]
    fn value_slope<S: Real>(&self, s: S) -> (S, S) {
        let (mut value, mut slope) = (S::ZERO, S::ZERO);
        for piece in &self.pieces {
            let along = S::ZERO.larger(S::of(piece.width).smaller(s - S::of(piece.start)));
            value += along * (S::of(piece.value) + S::of(0.5 * piece.slope) * along);
            slope += along * S::of(piece.slope);
        }
        let (end, last) = self.end();
        (value + S::of(last) * S::ZERO.larger(s - S::of(end)), slope)
    }
}

/// Start, width, value at the start and half of the slope of every piece; where the last one ends, and ψ′ from there on.
#[derive(Clone, Debug)]
pub(crate) struct Table<S> {
    pieces: Vec<[S; 4]>,
    end: S,
    tail: S,
}

impl<S: Real> Table<S> {
    /// Replaces every u by ψ′(u); returns Σψ(u).
    pub fn replace(&self, u: &mut [S]) -> f64 {
        simd(
            #[inline(always)]
            || {
                let mut sums = [0.0; LANES];
                let (whole, rest) = u.as_chunks_mut::<LANES>();
                for u in whole {
                    let values = self.replace_lanes(u);
                    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.f64());
                }
                let mut last = [S::ZERO; LANES];
                last[..rest.len()].copy_from_slice(rest);
                let values = self.replace_lanes(&mut last);
                rest.copy_from_slice(&last[..rest.len()]);
                // ψ(0) = 0: lanes without a number add nothing.
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.f64());
                sums.iter().sum()
            },
        )
    }

    /// Replaces every u by sψ′(u/s), s = `scales` of its place; returns Σs²ψ(u/s).
    pub fn replace_scaled(&self, u: &mut [S], scales: &[Scale]) -> f64 {
        simd(
            #[inline(always)]
            || {
                let mut sums = [0.0; LANES];
                for (u, scales) in u.chunks_mut(LANES).zip(scales.chunks(LANES)) {
                    let (mut lanes, mut s) = ([S::ZERO; LANES], [S::ONE; LANES]);
                    s.iter_mut().zip(scales).for_each(|(s, scale)| *s = scale.get());
                    lanes.iter_mut().zip(&*u).zip(&s).for_each(|((lane, &u), &s)| *lane = u / s);
                    let values = self.replace_lanes(&mut lanes);
                    u.iter_mut().zip(lanes).zip(&s).for_each(|((u, lane), &s)| *u = s * lane);
                    let own = values.iter().zip(&s).map(|(&value, &s)| (s * s * value).f64());
                    sums.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
                }
                sums.iter().sum()
            },
        )
    }

    /// All lanes, piece by piece, as in [`Spline::value_slope`].
    #[inline(always)]
    fn replace_lanes(&self, u: &mut [S; LANES]) -> [S; LANES] {
        let (mut values, mut slopes) = ([S::ZERO; LANES], [S::ZERO; LANES]);
        for &[start, width, value, half] in &self.pieces {
            for i in 0..LANES {
                let along = S::ZERO.larger(width.smaller(u[i].abs() - start));
                let gained = half * along;
                values[i] += along * (value + gained);
                slopes[i] += gained + gained;
            }
        }
        for i in 0..LANES {
            values[i] += self.tail * S::ZERO.larger(u[i].abs() - self.end);
            u[i] = slopes[i].copysign(u[i]);
        }
        values
    }
}

/// A positive number of about three digits in 16 bits: the upper half of its `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale(u16);

impl Scale {
    /// The nearest one below; numbers outside 2⁻²⁰ … 2²⁰ and what is no number are moved to the ends.
    pub fn of(value: f32) -> Self {
        const END: f32 = (1 << 20) as f32;
        let value = if value.is_nan() { 1.0 / END } else { value.clamp(1.0 / END, END) };
        Self((value.to_bits() >> 16) as u16)
    }

    /// What it stands for, exactly.
    #[inline(always)]
    pub fn get<S: Real>(self) -> S {
        S::of(f64::from(f32::from_bits(u32::from(self.0) << 16)))
    }
}

impl<S: Real> Separable<S> for Spline {
    #[inline(always)]
    fn psi(&self, x: S) -> S {
        self.value_slope(x.abs()).0
    }

    /// x ↦ z undoes z ↦ z + βψ′(z), which goes through (τ_j, τ_j + βv_j) with slopes 1 + βs_j > 0.
    #[inline(always)]
    fn prox_psi(&self, x: S, beta: S) -> S {
        let (s, mut z) = (x.abs(), S::ZERO);
        for piece in &self.pieces {
            let from = S::of(piece.start) + beta * S::of(piece.value);
            let steep = S::ONE + beta * S::of(piece.slope);
            let along = (s - from) / steep;
            z += S::ZERO.larger(S::of(piece.width).smaller(along));
        }
        let (end, last) = self.end();
        (z + S::ZERO.larger(s - (S::of(end) + beta * S::of(last)))).copysign(x)
    }

    #[inline(always)]
    fn derivative(&self, x: S) -> S {
        self.value_slope(x.abs()).1.copysign(x)
    }

    fn rho(&self) -> f64 {
        self.slopes().fold(0.0, |rho: f64, slope| rho.max(-slope))
    }

    fn form(&self) -> Option<Psi> {
        Some(Shape::Spline(*self).into())
    }

    fn slope(&self) -> Option<f64> {
        let last = self.end().1;
        Some(self.pieces.iter().map(|piece| piece.value).fold(last, f64::max) * (1.0 + 32.0 * f64::EPSILON))
    }

    /// ψ_β′(x) = ψ′(z): no digits are lost in x − z.
    #[inline(always)]
    fn envelope(&self, x: S, beta: S) -> (S, S) {
        let (value, slope) = self.value_slope(self.prox_psi(x, beta).abs());
        (value + S::of(0.5) * beta * slope * slope, slope.copysign(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::laws;

    fn tent() -> Spline {
        Spline::new(&[0.25, 0.5, 2.0, 3.0], &[1.0, 1.25, 0.0, 0.0]).unwrap()
    }

    #[test]
    fn obeys_the_laws() {
        // Not tent(): it bends where the laws take differences.
        let bent = Spline::new(&[0.25, 0.5, 2.03, 3.03], &[1.0, 1.25, 0.0, 0.0]).unwrap();
        laws::scalar(&bent);
        laws::scalar(&bent.scaled(2.5).unwrap());
        laws::scalar(&Spline::new(&[0.5, 1.5], &[0.25, 0.75]).unwrap());
        let twelve: Vec<f64> = (1..=12).map(|j| 0.3 * f64::from(j)).collect();
        let waves: Vec<f64> = twelve.iter().map(|t| 1.0 + (2.0 * t).sin()).collect();
        laws::scalar(&Spline::new(&twelve, &waves).unwrap());
    }

    #[test]
    fn known_values() {
        let psi = tent();
        assert_eq!(psi.derivative(-0.125), -0.5);
        assert_eq!(psi.derivative(9.0), 0.0);
        assert_eq!(psi.psi(9.0), 0.125 + 0.28125 + 0.9375);
        assert_eq!(psi.prox_psi(0.5f64, 0.25), 0.25);
        assert_eq!(psi.prox_psi(-7.0f64, 0.25), -7.0);
        assert!((Separable::<f64>::rho(&psi) - 1.25 / 1.5).abs() < 1e-15);
        assert_eq!(psi.curvature(), 4.0);
        let scaled = psi.scaled(4.0).unwrap();
        assert_eq!(scaled.psi(0.5f64), psi.psi(2.0f64) / 16.0);
        assert_eq!(Separable::<f64>::rho(&scaled), Separable::<f64>::rho(&psi));
    }

    #[test]
    fn a_table_gives_the_same_and_joins_pieces_in_line() {
        // 1/0.3 twice, then down: the first two pieces are one.
        let spline = Spline::new(&[0.3, 0.6, 1.5], &[1.0, 2.0, 0.5]).unwrap();
        let mut u: Vec<f64> = (0..77).map(|i| 0.05 * f64::from(i) - 1.7).collect();
        let expected: Vec<(f64, f64)> = u.iter().map(|&u| (spline.psi(u), spline.derivative(u))).collect();
        let table = spline.table();
        assert_eq!(table.pieces.len(), 2);
        let sum = table.replace(&mut u);
        assert!((sum - expected.iter().map(|(psi, _)| psi).sum::<f64>()).abs() < 1e-12 * sum);
        assert!(u.iter().zip(&expected).all(|(u, (_, slope))| (u - slope).abs() < 1e-14));
    }

    #[test]
    fn a_table_scales_each_number_as_it_is_told() {
        let spline = tent();
        let scales: Vec<Scale> = (0..77).map(|i| Scale::of(0.3 + 0.05 * i as f32)).collect();
        let mut u: Vec<f64> = (0..77).map(|i| 0.05 * f64::from(i) - 1.7).collect();
        let own = |(&u, &s): (&f64, &Scale)| {
            let scaled = spline.scaled(1.0 / s.get::<f64>()).unwrap();
            (scaled.psi(u), scaled.derivative(u))
        };
        let expected: Vec<(f64, f64)> = u.iter().zip(&scales).map(own).collect();
        let sum = spline.table().replace_scaled(&mut u, &scales);
        assert!((sum - expected.iter().map(|(psi, _)| psi).sum::<f64>()).abs() < 1e-12 * sum);
        assert!(u.iter().zip(&expected).all(|(u, (_, slope))| (u - slope).abs() < 1e-13));
    }

    #[test]
    fn scales_keep_three_digits_and_are_never_zero_or_infinite() {
        for value in [0.11f32, 0.5, 1.0, 1.7, 9.0] {
            let kept: f64 = Scale::of(value).get();
            assert!((kept / f64::from(value) - 1.0).abs() < 1.0 / 128.0, "{kept} for {value}");
        }
        for odd in [f32::NAN, 0.0, -1.0, f32::INFINITY, 1e-40] {
            assert!((1e-7..1e7).contains(&Scale::of(odd).get::<f64>()), "{odd}");
        }
    }

    #[test]
    fn the_bend_is_a_huber_function() {
        let huber = crate::penalty::Huber::new(0.7, 0.4).unwrap();
        let spline = Spline::new(&[0.4], &[0.7]).unwrap();
        for x in [-3.0, -0.3, 0.0, 0.2, 1.0] {
            assert!((huber.psi(x) - spline.psi(x)).abs() < 1e-15);
            assert!((huber.prox_psi(x, 0.6) - spline.prox_psi(x, 0.6)).abs() < 1e-15);
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        laws::refuses("knots", Spline::new(&[], &[]));
        laws::refuses("knots", Spline::new(&[1.0; 13], &[1.0; 13]));
        laws::refuses("knot", Spline::new(&[1.0, 1.0], &[1.0, 1.0]));
        laws::refuses("knot", Spline::new(&[0.0], &[1.0]));
        laws::refuses("value", Spline::new(&[1.0], &[-1.0]));
        laws::refuses("value", Spline::new(&[1.0], &[f64::NAN]));
        laws::refuses("alpha", tent().scaled(0.0));
        assert!(matches!(Spline::new(&[1.0], &[]), Err(Error::Shape { .. })));
    }
}
