use crate::metric::Metric;
use crate::real::Real;
use crate::vector::simd;

/// M = diag(m) + 1/β for the loss ½‖m⊙(x − y)‖² with T = I; m = 1 without a mask.
pub struct Diagonal<S> {
    inverse: Vec<S>,
    mask: Option<Vec<S>>,
}

impl<S: Real> Diagonal<S> {
    /// On n entries.
    pub fn new(n: usize, mask: Option<&[S]>) -> Self {
        Self { inverse: vec![S::ZERO; n], mask: mask.map(<[S]>::to_vec) }
    }
}

impl<S: Real> Metric<S> for Diagonal<S> {
    fn prepare(&mut self, _: &[S], beta: f64) {
        let [seen, hidden] = [S::of(1.0 / (1.0 + 1.0 / beta)), S::of(beta)];
        match &self.mask {
            None => self.inverse.fill(seen),
            Some(mask) => {
                for (inverse, &m) in self.inverse.iter_mut().zip(mask) {
                    *inverse = if m > S::ZERO { seen } else { hidden };
                }
            }
        }
    }

    fn solve(&mut self, v: &mut [S]) {
        simd(
            #[inline(always)]
            || v.iter_mut().zip(&self.inverse).for_each(|(v, &inverse)| *v *= inverse),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seen_and_hidden_entries() {
        let mut metric = Diagonal::new(2, Some(&[1.0, 0.0]));
        metric.prepare(&[0.0; 2], 0.5);
        let mut v = [3.0, 3.0];
        metric.solve(&mut v);
        assert_eq!(v, [1.0, 1.5]);
    }
}
