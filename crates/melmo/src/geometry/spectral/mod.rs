//! d = −UVᵀ, ‖φ‖_* = Σσᵢ: the spectral norm, whose oracle is the polar factor of φ = UΣVᵀ.
//!
//! Every way to the polar factor is a file: [`polynomial`] evaluates compositions of odd quintics ([`newton_schulz`],
//! [`minimax`]) with a bracket from [`bounds`]; [`gram`] takes eigenvectors of φᵀφ, [`svd`] singular vectors of φ.

mod bounds;
mod exact_norm;
mod gram;
mod minimax;
mod newton_schulz;
mod oracle;
mod plans;
mod polynomial;
mod quintic;
mod rounding;
mod shape;
mod svd;
#[cfg(test)]
mod tests;

pub use bounds::{Arithmetic, Found};
pub(super) use gram::eigenvalue_error;
pub use oracle::Oracle;
pub use plans::Polynomials;
use polynomial::Scale;
pub use quintic::Quintic;
pub(super) use shape::Shape;

use crate::block::Block;
use crate::error::Error;
use crate::geometry::{Answer, BlockNorm, Bracket, Geometry, Inexactness, Norm};
use crate::real::Real;
use crate::vector;

/// d = −UVᵀ over the nonzero singular values of φ, ‖φ‖_* = Σσᵢ: every singular direction moves equally far.
pub struct Spectral<S> {
    block: Block,
    method: Oracle,
    polar: Box<dyn Polar<S>>,
    exact: exact_norm::NuclearNorm,
    direction: Vec<S>,
}

/// A way to the polar factor.
trait Polar<S>: Send {
    /// d ← −UVᵀ, as nearly as this way leads there, for a φ with finite ‖φ‖_F > 0.
    fn polar(&mut self, d: &mut [S], phi: &[S], frobenius: f64) -> Answer;

    /// η and ξ that no answer exceeds, whatever φ of this shape.
    fn inexactness(&self) -> Inexactness;
}

impl<S: Real> Spectral<S> {
    /// On one block, by the given oracle.
    pub fn new(block: &Block, oracle: Oracle) -> Result<Self, Error> {
        let shape = Shape { rows: block.rows, cols: block.cols };
        let method = match oracle.checked()? {
            Oracle::Auto => choose::<S>(shape),
            oracle => oracle,
        };
        // Where it is not said how many steps: more than the fewest for a φ that needs them.
        let most = |steps: u8| if oracle == Oracle::Auto { steps.max(MOST) } else { steps };
        let minimax = |steps: u8, unit: f64| (steps..=most(steps)).map(|k| minimax::minimax(k, unit)).collect();
        let polar: Box<dyn Polar<S>> = match method {
            Oracle::NewtonSchulz(steps) => {
                let steps = newton_schulz::newton_schulz(steps);
                Box::new(polynomial::Polynomial::new(shape, vec![steps], Scale::Frobenius))
            }
            Oracle::Minimax { steps } => {
                Box::new(polynomial::Polynomial::new(shape, minimax(steps, 0.5 * S::EPSILON), Scale::Tight))
            }
            Oracle::MinimaxSingle { steps } => {
                let polynomials = minimax(steps, 0.5 * f64::from(f32::EPSILON));
                Box::new(polynomial::Single::new(shape, polynomials, Scale::Tight))
            }
            Oracle::Gram | Oracle::Auto => Box::new(gram::Gram::new(shape)),
            Oracle::Svd => Box::new(svd::Svd::new(shape)),
        };
        let direction = vec![S::ZERO; shape.size()];
        Ok(Self { block: block.clone(), method, polar, exact: exact_norm::NuclearNorm::new(shape), direction })
    }

    /// The oracle in use: never [`Oracle::Auto`], but what it chose, with the fewest steps that it takes.
    pub fn method(&self) -> Oracle {
        self.method
    }
}

/// The most steps of minimax polynomials that are taken where their number is not given.
const MOST: u8 = 8;

/// Where a block is tall (or wide) with 9 to 64 columns, in double precision: polynomials in Gram space, always of six steps,
/// good to 10⁻³ with a bracket of 0.2 % (3 % at rank one). Nearly square: polynomials in single precision, of as many steps as
/// φ needs, good to 1 % with a bracket of 1 to 6 %, and wider for large φ of low rank (up to 28 % at 1000², rank one); in a
/// fraction of the Gram oracle's time (see docs/performance.md); on the paper's problems F after equal steps was 6 % below to
/// 2 % above that with exact directions. Else, and where a decomposition takes next to nothing, the Gram oracle, which is exact.
fn choose<S: Real>(shape: Shape) -> Oracle {
    let (short, long, single) = (shape.short(), shape.long(), S::EPSILON > 1e-10);
    let tall = long >= 2 * short;
    match () {
        () if short < 9 => Oracle::Gram,
        () if tall && short <= 64 && !single => Oracle::Minimax { steps: 6 },
        () if tall => Oracle::Gram,
        () if single => Oracle::Minimax { steps: 4 },
        () => Oracle::MinimaxSingle { steps: 4 },
    }
}

impl<S: Real> Geometry<S> for Spectral<S> {
    fn size(&self) -> usize {
        self.block.size()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        vec![BlockNorm { block: self.block.clone(), norm: Norm::Spectral, radius: 1.0 }]
    }

    fn oracle(&mut self, phi: &[S]) -> Answer {
        match vector::norm2(phi) {
            0.0 => {
                self.direction.fill(S::ZERO);
                Answer::exact(0.0)
            }
            frobenius if frobenius.is_finite() => self.polar.polar(&mut self.direction, phi, frobenius),
            _ => lost(&mut self.direction),
        }
    }

    fn advance(&self, y: &mut [S], x: &[S], _phi: &[S], gamma: f64) {
        vector::add_scaled(y, x, gamma, &self.direction);
    }

    fn inexactness(&self) -> Option<Inexactness> {
        Some(self.polar.inexactness())
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        match vector::norm2(phi) {
            0.0 => 0.0,
            frobenius if frobenius.is_finite() => self.exact.of(phi, frobenius),
            _ => f64::NAN,
        }
    }
}

/// φ is not finite, or an iteration did not converge: no direction, and a bracket that says so.
fn lost<S: Real>(d: &mut [S]) -> Answer {
    d.fill(S::ZERO);
    let nan = f64::NAN;
    Answer { dual_norm: Bracket { lower: nan, upper: nan }, decrease: nan, excess: 0.0 }
}

/// X ← φ/‖φ‖_F in the number type T: by a power of two first, so that neither factor leaves the range.
fn normalise<S: Real, T: Real>(x: &mut [T], phi: &[S], frobenius: f64) {
    let power = vector::power_of_two_scale::<S>(frobenius);
    let (power, rest) = (S::of(power), 1.0 / (power * frobenius));
    vector::map_into(
        x,
        phi,
        #[inline(always)]
        |phi| T::of((power * phi).f64() * rest),
    );
}
