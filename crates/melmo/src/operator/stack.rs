use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;
use crate::operator::bound::{finite, rounded_up};
use crate::real::Real;

/// Tx = (T₀x, T₁x, …): operators of one variable, one below another.
///
/// ‖T‖₂² ≤ Σ‖Tᵢ‖₂², since ‖Tx‖² = Σ‖Tᵢx‖². No right inverse is offered: the parts may depend on one another.
pub struct Stack<S> {
    parts: Vec<Box<dyn LinOp<S>>>,
    range: Layout,
    norm_bound: f64,
}

impl<S: Real> Stack<S> {
    /// At least one operator, all on variables of one size; the first one's layout is the domain. Block `dx` of part 0
    /// is called `0.dx` in the range.
    pub fn new(parts: Vec<Box<dyn LinOp<S>>>) -> Result<Self, Error> {
        let Some(first) = parts.first() else {
            return Err(Error::Unsupported("a stack of 0 operators: it needs at least 1".into()));
        };
        let size = first.domain().size();
        for part in &parts {
            Error::expect_len("domain of a stacked operator", size, part.domain().size())?;
        }
        let blocks = parts.iter().enumerate().flat_map(|(i, part)| {
            let blocks = part.range().blocks().iter();
            blocks.map(move |b| (format!("{i}.{}", b.name), b.rows, b.cols))
        });
        let range = Layout::new(blocks)?;
        let norm = parts.iter().fold(0.0, |norm: f64, part| norm.hypot(part.norm_bound()));
        let norm_bound = finite(rounded_up(norm, parts.len()))?;
        Ok(Self { parts, range, norm_bound })
    }
}

impl<S: Real> LinOp<S> for Stack<S> {
    fn domain(&self) -> &Layout {
        self.parts[0].domain()
    }

    fn range(&self) -> &Layout {
        &self.range
    }

    fn norm_bound(&self) -> f64 {
        self.norm_bound
    }

    fn lower_norm_bound(&self) -> f64 {
        self.parts.iter().fold(0.0, |bound: f64, part| bound.hypot(part.lower_norm_bound())) * (1.0 - 1e-15)
    }

    /// Of Tx, √Σϑᵢ²; of T*y also what adding the parts loses.
    fn rounding(&self) -> f64 {
        let parts: f64 = self.parts.iter().map(|part| part.rounding() + S::EPSILON * part.norm_bound()).sum();
        parts + self.parts.len() as f64 * S::EPSILON * self.norm_bound
    }

    /// The parts run one after another.
    fn work_len(&self) -> usize {
        self.parts.iter().map(|part| part.work_len()).max().unwrap_or(0)
    }

    fn apply(&self, mut y: &mut [S], x: &[S], work: &mut [S]) {
        for part in &self.parts {
            let (here, rest) = y.split_at_mut(part.range().size());
            part.apply(here, x, &mut work[..part.work_len()]);
            y = rest;
        }
    }

    fn adjoint_add(&self, x: &mut [S], mut y: &[S], work: &mut [S]) {
        for part in &self.parts {
            let (here, rest) = y.split_at(part.range().size());
            part.adjoint_add(x, here, &mut work[..part.work_len()]);
            y = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Boundary, Convolution, Difference2d, Identity, laws};

    fn laws_of<S: Real>() {
        let image = Layout::matrix(3, 4).unwrap();
        let kernel = [1.0, -2.0, 1.0].map(S::of);
        let t = Stack::<S>::new(vec![
            Box::new(Difference2d::new(3, 4).unwrap()),
            Box::new(Convolution::new((3, 4), &kernel, (3, 1), Boundary::Zero).unwrap()),
            Box::new(Identity::new(image)),
        ])
        .unwrap();
        let matrix = laws::check(&t);
        assert_eq!(matrix[36 * 12], 1.0); // the identity's first entry
        let names: Vec<_> = t.range().blocks().iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["0.dx", "0.dy", "1.x", "2.x"]);
        assert!((t.norm_bound() - 25f64.sqrt()).abs() < 1e-13); // 8 + 4² + 1
        assert!(t.right_inverse().is_none());
    }

    #[test]
    fn obeys_the_laws_in_both_precisions() {
        laws_of::<f32>();
        laws_of::<f64>();
    }

    #[test]
    fn no_parts_and_unequal_domains_are_refused() {
        let d = |rows| Box::new(Difference2d::new(rows, 2).unwrap()) as Box<dyn LinOp<f64>>;
        assert!(matches!(Stack::<f64>::new(vec![]), Err(Error::Unsupported(_))));
        assert!(matches!(Stack::new(vec![d(2), d(3)]), Err(Error::Shape { expected: 4, got: 6, .. })));
    }
}
