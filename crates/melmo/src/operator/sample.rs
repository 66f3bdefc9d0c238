use crate::block::Layout;
use crate::error::Error;
use crate::operator::bound::zeros;
use crate::operator::{Form, LinOp, RightInverse};
use crate::real::Real;

/// (Tx)ₖ = x at the k-th observed place: the observed entries as a vector called `y`.
///
/// ‖T‖₂ = 1: the places are distinct, so T drops coordinates and repeats none. TT* = I: the right inverse T* puts the
/// observed entries back and zeros elsewhere, σ_min = 1.
#[derive(Clone, Debug)]
pub struct Sample {
    domain: Layout,
    range: Layout,
    places: Vec<usize>,
}

impl Sample {
    /// The entries of x at these places of its buffer, in this order; no place twice.
    pub fn new(domain: Layout, places: Vec<usize>) -> Result<Self, Error> {
        let size = domain.size();
        let mut seen = zeros::<bool>("entries", size)?;
        for &place in &places {
            if place >= size {
                return Err(Error::Unsupported(format!("place {place} lies outside a variable of {size} entries")));
            }
            if std::mem::replace(&mut seen[place], true) {
                return Err(Error::Unsupported(format!("place {place} is sampled twice: give each place once")));
            }
        }
        let range = Layout::new([("y", places.len(), 1)])?;
        Ok(Self { domain, range, places })
    }

    /// The entries of x where the mask is 1, in the order of the buffer.
    pub fn from_mask<S: Real>(domain: Layout, mask: &[S]) -> Result<Self, Error> {
        domain.check("mask", mask)?;
        Error::expect_mask("mask", mask)?;
        let places = (0..mask.len()).filter(|&i| mask[i] == S::ONE).collect();
        Self::new(domain, places)
    }

    /// Where the observed entries stand in the buffer of x.
    pub fn places(&self) -> &[usize] {
        &self.places
    }
}

impl<S: Real> LinOp<S> for Sample {
    fn domain(&self) -> &Layout {
        &self.domain
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        1.0
    }

    fn rounding(&self) -> f64 {
        S::EPSILON // copies; T*y is added to what is there
    }

    fn apply(&self, y: &mut [S], x: &[S], _: &mut [S]) {
        for (y, &place) in y.iter_mut().zip(&self.places) {
            *y = x[place];
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        for (&y, &place) in y.iter().zip(&self.places) {
            x[place] += y;
        }
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        Some(self)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Sample(&self.places)
    }
}

impl<S: Real> RightInverse<S> for Sample {
    fn right_inverse(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        x.fill(S::ZERO);
        for (&y, &place) in y.iter().zip(&self.places) {
            x[place] = y;
        }
    }

    fn sigma_min(&self) -> f64 {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        let t = Sample::new(Layout::matrix(2, 4).unwrap(), vec![6, 0, 3]).unwrap();
        laws::check::<f32>(&t);
        laws::check::<f64>(&t);
    }

    #[test]
    fn gathers_and_puts_back() {
        let t = Sample::new(Layout::vector(5).unwrap(), vec![3, 1]).unwrap();
        let (mut y, mut x) = ([0.0; 2], [f64::NAN; 5]);
        t.apply(&mut y, &[1.0, 2.0, 3.0, 4.0, 5.0], &mut []);
        assert_eq!(y, [4.0, 2.0]);
        RightInverse::right_inverse(&t, &mut x, &y, &mut []);
        assert_eq!(x, [0.0, 2.0, 0.0, 4.0, 0.0]);
        let same = Sample::from_mask(Layout::vector(5).unwrap(), &[0.0, 1.0, 0.0, 1.0, 0.0]).unwrap();
        assert_eq!(same.places(), [1, 3]);
    }

    #[test]
    fn bad_places_are_refused() {
        let new = |places: &[usize]| Sample::new(Layout::vector(3).unwrap(), places.to_vec()).unwrap_err();
        assert!(matches!(new(&[0, 3]), Error::Unsupported(_)));
        assert!(matches!(new(&[1, 2, 1]), Error::Unsupported(_)));
        assert!(matches!(new(&[]), Error::EmptyBlock { .. }));
        let masked = |mask: &[f64]| Sample::from_mask(Layout::vector(3).unwrap(), mask).unwrap_err();
        assert!(matches!(masked(&[1.0]), Error::Shape { .. }));
        assert!(matches!(masked(&[1.0, 2.0, 0.0]), Error::NotBinary { .. }));
        assert!(matches!(masked(&[0.0; 3]), Error::EmptyBlock { .. }));
    }
}
