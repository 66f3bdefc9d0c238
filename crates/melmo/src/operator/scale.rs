use crate::block::Layout;
use crate::error::Error;
use crate::operator::bound::finite;
use crate::operator::{LinOp, RightInverse};
use crate::real::Real;
use crate::vector::{self, simd};

/// (cT)x = c·Tx for any operator T and c ≠ 0.
///
/// ‖cT‖₂ = |c|·‖T‖₂. R/c is a right inverse where R is one of T, with σ_min = |c|·σ_min(T).
pub struct Scale<S> {
    c: S,
    t: Box<dyn LinOp<S>>,
    norm_bound: f64,
}

impl<S: Real> Scale<S> {
    /// c·T; c is finite and not 0, also after rounding to the number type.
    pub fn new(c: f64, t: Box<dyn LinOp<S>>) -> Result<Self, Error> {
        let rounded = S::of(c);
        Error::expect_parameter("c", c, rounded.is_finite() && rounded != S::ZERO, "finite and not 0")?;
        let norm_bound = finite(rounded.abs().f64() * t.norm_bound())?;
        Ok(Self { c: rounded, t, norm_bound })
    }
}

impl<S: Real> LinOp<S> for Scale<S> {
    fn domain(&self) -> &Layout {
        self.t.domain()
    }

    fn range(&self) -> &Layout {
        self.t.range()
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    fn lower_norm_bound(&self) -> f64 {
        self.c.abs().f64() * self.t.lower_norm_bound()
    }

    fn rounding(&self) -> f64 {
        self.c.abs().f64() * (self.t.rounding() + 2.0 * S::EPSILON * self.t.norm_bound())
    }

    /// c·y for the adjoint, then T's own.
    fn work_len(&self) -> usize {
        self.range().size() + self.t.work_len()
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        self.t.apply(y, x, &mut work[self.range().size()..]);
        simd(
            #[inline(always)]
            || {
                for y in y {
                    *y *= self.c;
                }
            },
        )
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let (scaled, work) = work.split_at_mut(y.len());
        vector::scale_into(scaled, self.c.f64(), y);
        self.t.adjoint_add(x, scaled, work);
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        self.t.right_inverse().map(|_| self as _)
    }
}

/// Meant to be reached through [`LinOp::right_inverse`]: without a right inverse of T, σ_min is 0 and x becomes NaN.
impl<S: Real> RightInverse<S> for Scale<S> {
    fn right_inverse(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        match self.t.right_inverse() {
            Some(inverse) => inverse.right_inverse(x, y, &mut work[y.len()..]),
            None => x.fill(S::of(f64::NAN)),
        }
        for x in x {
            *x = *x / self.c; // 1/c may leave the number range where x/c does not
        }
    }

    fn sigma_min(&self) -> f64 {
        self.t.right_inverse().map_or(0.0, |inverse| self.c.abs().f64() * inverse.sigma_min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Dense, Difference2d, laws};

    fn laws_of<S: Real>() {
        let a = Dense::new([1.0, 2.0, 3.0, 4.0, 5.0, 7.0].map(S::of).to_vec(), 2, 3).unwrap();
        let t = Scale::new(-2.0, Box::new(a)).unwrap();
        assert_eq!(laws::check(&t), [-2.0, -4.0, -6.0, -8.0, -10.0, -14.0]);
        assert!(LinOp::right_inverse(&t).is_some());
        let d = Scale::<S>::new(0.5, Box::new(Difference2d::new(3, 4).unwrap())).unwrap();
        laws::check(&d);
        assert!(LinOp::right_inverse(&d).is_none() && matches!(d.form(), crate::operator::Form::General));
        let twice = Scale::new(3.0, Box::new(t)).unwrap();
        laws::check(&twice);
    }

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        laws_of::<f32>();
        laws_of::<f64>();
    }

    #[test]
    fn a_factor_that_is_no_number_is_refused() {
        fn refused<S: Real>(c: f64) -> bool {
            let t = Box::new(Difference2d::new(2, 2).unwrap());
            matches!(Scale::<S>::new(c, t), Err(Error::Parameter { .. }))
        }
        assert!([0.0, f64::NAN, f64::INFINITY, 1.7e308].into_iter().all(refused::<f64>));
        assert!([1e-60, 1e60].into_iter().all(refused::<f32>));
    }
}
