use std::ops::Range;

use crate::block::Layout;
use crate::error::Error;
use crate::operator::{Form, LinOp, RightInverse};
use crate::real::Real;
use crate::vector;

/// T(x₁, …, x_B) = (x_b for the named blocks b), as T(W, H) = W.
///
/// ‖T‖₂ = 1: T drops coordinates and repeats none. TT* = I, so T* (zero in the other blocks) is a right inverse, σ_min = 1.
#[derive(Clone, Debug)]
pub struct Select {
    domain: Layout,
    range: Layout,
    /// Where the blocks of the range stand in the domain.
    sources: Vec<Range<usize>>,
}

impl Select {
    /// The blocks of these names, in this order; each name occurs in `domain`, and once only here.
    pub fn new(domain: &Layout, names: &[&str]) -> Result<Self, Error> {
        let blocks = names.iter().map(|name| domain.require(name)).collect::<Result<Vec<_>, _>>()?;
        let range = Layout::new(blocks.iter().map(|b| (b.name.as_str(), b.rows, b.cols)))?;
        let sources = blocks.iter().map(|b| b.range()).collect();
        Ok(Self { domain: domain.clone(), range, sources })
    }

    /// (block of x, block of Tx) as ranges of the buffers.
    pub fn pairs(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        self.sources.iter().cloned().zip(self.range.blocks().iter().map(|b| b.range()))
    }
}

impl<S: Real> LinOp<S> for Select {
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
        for (in_x, in_y) in self.pairs() {
            y[in_y].copy_from_slice(&x[in_x]);
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        for (in_x, in_y) in self.pairs() {
            vector::axpy(&mut x[in_x], 1.0, &y[in_y]);
        }
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        Some(self)
    }

    fn form(&self) -> Form<'_, S> {
        Form::Select(self)
    }
}

impl<S: Real> RightInverse<S> for Select {
    fn right_inverse(&self, x: &mut [S], y: &[S], _: &mut [S]) {
        x.fill(S::ZERO);
        for (in_x, in_y) in self.pairs() {
            x[in_x].copy_from_slice(&y[in_y]);
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

    fn factors() -> Layout {
        Layout::new([("W", 2, 2), ("H", 2, 1), ("b", 1, 3)]).unwrap()
    }

    #[test]
    fn obeys_the_laws() {
        laws::check::<f32>(&Select::new(&factors(), &["W"]).unwrap());
        laws::check::<f64>(&Select::new(&factors(), &["b", "W"]).unwrap());
    }

    #[test]
    fn picks_blocks_in_the_order_asked_for() {
        let t = Select::new(&factors(), &["b", "H"]).unwrap();
        let range = LinOp::<f64>::range(&t);
        assert_eq!(range, &Layout::new([("b", 1, 3), ("H", 2, 1)]).unwrap());
        let (x, mut y) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], [0.0; 5]);
        t.apply(&mut y, &x, &mut []);
        assert_eq!(y, [7.0, 8.0, 9.0, 5.0, 6.0]);
        let mut filled = [f64::NAN; 9];
        RightInverse::right_inverse(&t, &mut filled, &y, &mut []);
        assert_eq!(filled, [0.0, 0.0, 0.0, 0.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    }

    #[test]
    fn unknown_repeated_and_no_names_are_refused() {
        assert!(matches!(Select::new(&factors(), &["w"]), Err(Error::UnknownName { .. })));
        assert!(matches!(Select::new(&factors(), &["W", "W"]), Err(Error::RepeatedBlock { .. })));
        assert!(matches!(Select::new(&factors(), &[]), Err(Error::EmptyBlock { .. })));
    }
}
