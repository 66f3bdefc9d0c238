use crate::block::Layout;
use crate::error::Error;
use crate::real::Real;
use crate::smooth::{Rounding, Smooth};

/// f(z) = f₀(x), x = z at the places that are free and what is given everywhere else: some entries are held.
///
/// A restriction to an affine subspace with orthonormal directions: L, m and lower bounds are those of f₀.
pub struct Held<S> {
    whole: Box<dyn Smooth<S>>,
    layout: Layout,
    given: Vec<S>,
    /// Where z stands in x, in order.
    free: Vec<usize>,
}

impl<S: Real> Held<S> {
    /// f₀, what is held (anything where it is free), and which entries are free, in order.
    pub fn new(whole: Box<dyn Smooth<S>>, given: Vec<S>, free: Vec<usize>) -> Result<Self, Error> {
        whole.layout().check("given entries", &given)?;
        let ordered = free.windows(2).all(|pair| pair[0] < pair[1]) && free.last().is_none_or(|&at| at < given.len());
        if !ordered {
            return Err(Error::Unsupported("free places: expected places of the variable, each once, in order".into()));
        }
        let mut given = given;
        free.iter().for_each(|&at| given[at] = S::ZERO);
        Error::expect_finite("given entries", &given)?;
        Ok(Self { layout: Layout::vector(free.len())?, whole, given, free })
    }

    /// x: what is given, and z where it is free.
    fn fill(&self, x: &mut [S], z: &[S]) {
        x.copy_from_slice(&self.given);
        self.free.iter().zip(z).for_each(|(&at, &z)| x[at] = z);
    }
}

impl<S: Real> Smooth<S> for Held<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// x and its gradient, then what f₀ needs.
    fn work_len(&self) -> usize {
        2 * self.given.len() + self.whole.work_len()
    }

    fn value_grad(&self, grad: &mut [S], z: &[S], work: &mut [S]) -> f64 {
        let (x, rest) = work.split_at_mut(self.given.len());
        let (slope, rest) = rest.split_at_mut(self.given.len());
        self.fill(x, z);
        let value = self.whole.value_grad(slope, x, &mut rest[..self.whole.work_len()]);
        grad.iter_mut().zip(&self.free).for_each(|(grad, &at)| *grad = slope[at]);
        value
    }

    fn lipschitz(&self) -> Option<f64> {
        self.whole.lipschitz()
    }

    fn strong_convexity(&self) -> Option<f64> {
        self.whole.strong_convexity()
    }

    fn is_convex(&self) -> bool {
        self.whole.is_convex()
    }

    fn lower_bound(&self) -> Option<f64> {
        self.whole.lower_bound()
    }

    /// That of f₀ at x, whose gradient is asked for again: it may be larger where entries are held.
    fn rounding(&self, z: &[S], value: f64, _: &[S]) -> Rounding {
        let (mut x, mut slope) = (self.given.clone(), self.given.clone());
        self.fill(&mut x, z);
        self.whole.value_grad(&mut slope, &x, &mut vec![S::ZERO; self.whole.work_len()]);
        self.whole.rounding(&x, value, &slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{LeastSquares, laws};

    fn held(free: Vec<usize>) -> Result<Held<f64>, Error> {
        let whole = LeastSquares::new(Box::new(laws::Table::noise(9, 6)), laws::noise(9, 2))?;
        Held::new(Box::new(whole), vec![0.5, f64::NAN, -1.0, f64::NAN, 2.0, f64::NAN], free)
    }

    #[test]
    fn obeys_the_laws() {
        laws::check(&held(vec![1, 3, 5]).unwrap());
    }

    #[test]
    fn what_is_held_stays() {
        let f = held(vec![1, 3, 5]).unwrap();
        let whole = LeastSquares::new(Box::new(laws::Table::noise(9, 6)), laws::noise(9, 2)).unwrap();
        let (mut grad, mut all) = ([9.0; 3], [9.0; 6]);
        let value = f.value_grad(&mut grad, &[7.0, 8.0, 9.0], &mut vec![f64::NAN; f.work_len()]);
        let there = whole.value_grad(&mut all, &[0.5, 7.0, -1.0, 8.0, 2.0, 9.0], &mut vec![0.0; whole.work_len()]);
        assert_eq!((value, grad), (there, [all[1], all[3], all[5]]));
    }

    #[test]
    fn bad_places_and_gaps_are_refused() {
        assert!(held(vec![1, 3]).is_err()); // 5 is neither given nor free
        assert!(held(vec![3, 1, 5]).is_err() && held(vec![1, 3, 6]).is_err());
        assert!(held(vec![]).is_err());
    }
}
