use crate::block::Layout;
use crate::error::Error;
use crate::real::Real;
use crate::smooth::{Rounding, Smooth};

/// f(x₁, x₂, …) = Σ f_b(x_b): losses of variables that have nothing to do with one another, as the planes of a picture.
///
/// L = max L_b, m = min m_b, and lower bounds add up.
pub struct Separate<S> {
    parts: Vec<Box<dyn Smooth<S>>>,
    layout: Layout,
}

impl<S: Real> Separate<S> {
    /// The losses, one after another; the blocks of part b are called as they were, with b behind their names.
    pub fn new(parts: Vec<Box<dyn Smooth<S>>>) -> Result<Self, Error> {
        let blocks = parts.iter().enumerate().flat_map(|(b, part)| {
            let named = move |block: &crate::block::Block| (format!("{}{}", block.name, b + 1), block.rows, block.cols);
            part.layout().blocks().iter().map(named)
        });
        let layout = Layout::new(blocks)?;
        Ok(Self { parts, layout })
    }

    /// Part after part, with where its variable stands.
    fn each(&self) -> impl Iterator<Item = (&dyn Smooth<S>, std::ops::Range<usize>)> {
        let mut start = 0;
        self.parts.iter().map(move |part| {
            let range = start..start + part.layout().size();
            start = range.end;
            (&**part, range)
        })
    }

    /// A number of every part, where all have it.
    fn all(&self, of: impl Fn(&dyn Smooth<S>) -> Option<f64>) -> Option<Vec<f64>> {
        self.parts.iter().map(|part| of(&**part)).collect()
    }
}

impl<S: Real> Smooth<S> for Separate<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn work_len(&self) -> usize {
        self.parts.iter().map(|part| part.work_len()).max().unwrap_or(0)
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let value = |(part, at): (&dyn Smooth<S>, std::ops::Range<usize>)| {
            part.value_grad(&mut grad[at.clone()], &x[at], &mut work[..part.work_len()])
        };
        self.each().map(value).sum()
    }

    fn lipschitz(&self) -> Option<f64> {
        self.all(|part| part.lipschitz()).map(|all| all.into_iter().fold(0.0, f64::max))
    }

    fn strong_convexity(&self) -> Option<f64> {
        self.all(|part| part.strong_convexity()).map(|all| all.into_iter().fold(f64::INFINITY, f64::min))
    }

    fn is_convex(&self) -> bool {
        self.parts.iter().all(|part| part.is_convex())
    }

    fn lower_bound(&self) -> Option<f64> {
        self.all(|part| part.lower_bound()).map(|all| all.iter().sum::<f64>() * (1.0 - 1e-12))
    }

    /// Values are not asked for again: each part is taken to have all of it, which is more than its share where none is negative.
    fn rounding(&self, x: &[S], value: f64, grad: &[S]) -> Rounding {
        let of = |(part, at): (&dyn Smooth<S>, std::ops::Range<usize>)| part.rounding(&x[at.clone()], value, &grad[at]);
        let each: Vec<Rounding> = self.each().map(of).collect();
        Rounding {
            value: each.iter().map(|part| part.value).sum::<f64>() + each.len() as f64 * f64::EPSILON * value.abs(),
            grad: each.iter().map(|part| part.grad).fold(0.0, f64::hypot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::{LeastSquares, MaskedLeastSquares, laws};

    #[test]
    fn obeys_the_laws_and_is_the_sum() {
        let first = || LeastSquares::new(Box::new(laws::Table::noise(5, 3)), laws::noise(5, 2)).unwrap();
        let second = || MaskedLeastSquares::new(Layout::matrix(2, 2).unwrap(), laws::noise(4, 3), None).unwrap();
        let f = Separate::new(vec![Box::new(first()) as Box<dyn Smooth<f64>>, Box::new(second())]).unwrap();
        laws::check(&f);
        let (x, mut grad) = (laws::noise(7, 5), [0.0; 7]);
        let value = f.value_grad(&mut grad, &x, &mut vec![f64::NAN; f.work_len()]);
        let mut own = [0.0; 4];
        let last = second().value_grad(&mut own, &x[3..], &mut []);
        assert_eq!(grad[3..], own);
        assert!(value > last && f.lipschitz() == first().lipschitz().map(|l| l.max(1.0)));
        assert!(Separate::<f64>::new(vec![]).is_err());
    }
}
