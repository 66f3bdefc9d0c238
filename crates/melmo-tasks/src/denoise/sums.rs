//! F of a whole image, strip by strip: the problem of all of it takes several times the memory that the image does.

use std::ops::Range;

use melmo::real::Real;
use melmo::threads;

use super::{Plan, Strip, activity, model};
use crate::error::Error;
use crate::until::Until;

/// Rows around a strip's own that their differences see.
const REACH: usize = 2;

impl<S: Real> Plan<'_, S> {
    /// Whether [`Plan::objective`] knows F: of the automatic problem of differences.
    pub fn sums_in_strips(&self) -> bool {
        !self.strips().is_empty() && self.is_automatic()
    }

    /// F at a point of the whole image's problem; NaN where it is over before that is known.
    pub fn objective(&self, x: &[S], until: &Until) -> f64 {
        let of = |strip: &Strip| match until.is_over("adding up F") {
            true => f64::NAN,
            false => self.of_rows(strip.own.clone(), x).unwrap_or(f64::NAN),
        };
        threads::map(self.strips().iter(), of).into_iter().sum()
    }

    /// What these rows add to F: their loss, and the penalty of their pixels, that of the rows around them weighing nothing.
    fn of_rows(&self, own: Range<usize>, x: &[S]) -> Result<f64, Error> {
        let ([rows, cols], channels) = (self.shape(), x.len() / (self.shape()[0] * self.shape()[1]));
        let seen = own.start.saturating_sub(REACH)..rows.min(own.end + REACH);
        let within = (own.start - seen.start) * cols..(own.end - seen.start) * cols;
        let y = self.samples_of(&Strip { seen: seen.clone(), own });
        let stretch = |c: usize| &x[(c * rows + seen.start) * cols..(c * rows + seen.end) * cols];
        let part: Vec<S> = (0..channels).flat_map(stretch).copied().collect();
        let pixels = seen.len() * cols;
        let planes = part.chunks_exact(pixels).zip(y.chunks_exact(pixels));
        let square = |(x, y): (&S, &S)| (x.f64() - y.f64()).powi(2);
        let loss: f64 =
            planes.map(|(x, y)| x[within.clone()].iter().zip(&y[within.clone()]).map(square).sum::<f64>()).sum();
        let mut weights = activity::weights(&self.planes(), seen.clone(), self.level());
        weights[..within.start].fill(S::ZERO);
        weights[within.end..].fill(S::ZERO);
        // With the part as its own data what is left is the penalty.
        let penalty = model::automatic(part.clone(), weights, [seen.len(), cols, channels], self.strength())?;
        Ok(0.5 * loss + penalty.objective(&part))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Planes, Prior};
    use super::*;
    use melmo::seeded::Seeded;

    #[test]
    fn strips_add_up_to_the_whole() {
        for channels in [1, 3] {
            let (rows, cols) = (1200, 700);
            let mut seeded = Seeded::new(2);
            let pixel = |at: usize| 0.3 + 0.4 * f64::from(u8::from((at / 200).is_multiple_of(2)));
            let y: Vec<f64> = (0..rows * cols * channels).map(|at| pixel(at) + 0.05 * seeded.normal()).collect();
            let options = Options { prior: Some(Prior::Differences), ..Options::default() };
            let plan = Plan::new(Planes::new(&y, rows, cols, channels).unwrap(), &options).unwrap();
            assert!(plan.strips().len() > 1 && plan.sums_in_strips(), "{channels}");
            let x: Vec<f64> = plan.view().of_image(&y).iter().map(|y| 0.9 * y + 0.3 * seeded.normal()).collect();
            let whole = plan.whole(&Until::done()).unwrap().problem.objective(&x);
            let sum = plan.objective(&x, &Until::done());
            assert!((sum - whole).abs() < 1e-10 * whole, "{channels}: {sum} {whole}");
            let over = Until::done().asking(|_| std::ops::ControlFlow::Break(()));
            assert!(plan.objective(&x, &over).is_nan());
        }
        let y = vec![0.5; 100];
        let plan = Plan::new(Planes::new(&y, 10, 10, 1).unwrap(), &Options::default()).unwrap();
        assert!(!plan.sums_in_strips(), "there is nothing to do");
    }
}
