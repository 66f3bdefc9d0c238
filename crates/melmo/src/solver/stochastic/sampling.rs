//! ‖∇F_β(x)‖_* from some parts of the loss, with a stated error and confidence.

use super::{Stochastic, draw};
use crate::error::Error;
use crate::geometry::{Between, Bracket};
use crate::solver::Run;
use crate::space::Sampled;

/// What a sample of the parts says about ‖∇F_β(x)‖_*.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Holds ‖∇F_β(x)‖_* with probability `confidence` at least, whatever the data are: Proposition 11 of `docs/theory.md`. Never a certificate:
    /// that is a full pass.
    pub dual_norm: Bracket,
    /// ‖·‖_* of the sample's mean, in the middle of the bracket.
    pub mean: f64,
    /// What ‖e‖₂ is at most: √(2Lv̂/n) + (2 + 2√2)DL/n with L = log(3/(1 − confidence)).
    pub error: f64,
    /// √v̂, the deviation of a part's gradient that the sample has.
    pub deviation: f64,
    /// D: no two parts' gradients are farther apart.
    pub diameter: f64,
    /// n.
    pub parts: usize,
    /// 1 − δ.
    pub confidence: f64,
}

impl<X: Sampled> Run<Stochastic<X>> {
    /// Looks at n parts of the loss, drawn uniformly by a seed of their own, at the point of the run, which goes on as if nobody had looked. Refuses
    /// losses that know no bound on the gradients of their parts. Allocates two points.
    pub fn sampled_dual_norm(&mut self, parts: usize, confidence: f64, seed: u64) -> Result<Estimate, Error> {
        Error::expect_parameter("parts", parts as f64, parts >= 2, "at least 2")?;
        let inside = 0.0 < confidence && confidence < 1.0;
        Error::expect_parameter("confidence", confidence, inside, "above 0 and below 1")?;
        let method = &mut self.method;
        let Some(bound) = method.space.part_bound(&method.x) else {
            let message = "an estimate with a stated error needs a bound on the gradients of a loss's parts, which regressions on a \
                           matrix know; make a full pass instead";
            return Err(Error::Unsupported(message.into()));
        };
        Ok(method.estimate(parts, confidence, seed, 2.0 * bound))
    }
}

impl<X: Sampled> Stochastic<X> {
    fn estimate(&mut self, parts: usize, confidence: f64, seed: u64, diameter: f64) -> Estimate {
        let mut drawn = vec![0; parts];
        draw(&mut drawn, seed, u64::MAX, self.space.samples());
        let (mut mean, mut part) = (self.space.point(), self.space.point());
        let (count, mut squares) = (parts as f64, 0.0);
        for &i in &drawn {
            self.space.batch_gradient(&mut part, &self.x, &[i]);
            squares += self.space.dot(&part, &part);
            self.space.scale(&mut part, count.recip());
            self.space.add(&mut mean, 1.0, &part);
        }
        let variance = (squares - count * self.space.dot(&mean, &mean)) / (count - 1.0);
        let deviation = variance.max(0.0).sqrt();
        let error = error_of(deviation, diameter, count, confidence);
        self.space.penalty_gradient_add(&mut mean, &self.x, self.beta);
        let found = self.space.dual_norm(&mean);
        self.space.dual_norm(&self.phi); // a geometry remembers what it looked at last: the move comes from φ
        let within = Between::new(&self.space.norms()).bracket(0.0, error).upper;
        let dual_norm = Bracket { lower: (found - within).max(0.0), upper: found + within };
        Estimate { dual_norm, mean: found, error, deviation, diameter, parts, confidence }
    }
}

/// √(2Lv̂/n) + (2 + 2√2)DL/n, L = log(3/δ).
fn error_of(deviation: f64, diameter: f64, count: f64, confidence: f64) -> f64 {
    let log = (3.0 / (1.0 - confidence)).ln();
    deviation * (2.0 * log / count).sqrt() + (2.0 + 8f64.sqrt()) * diameter * log / count
}
