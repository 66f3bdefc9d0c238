//! d = −u₁v₁ᵀ, ‖φ‖_* = σ₁: the nuclear norm, whose oracle is the leading singular pair of φ.
//!
//! Small blocks: exact, by eigenvectors of the Gram matrix ([`exact`]). Larger ones: [`lanczos`], which starts from
//! the pair that it found last, and for flat spectra a Gram matrix in single precision ([`single`]).

mod exact;
mod lanczos;
mod product;
mod single;
#[cfg(test)]
mod tests;
mod tridiagonal;

use super::spectral::{Shape, eigenvalue_error};
use crate::block::Block;
use crate::error::Error;
use crate::geometry::{Answer, BlockNorm, Bracket, Geometry, Inexactness, Norm};
use crate::real::Real;
use crate::vector;

/// Whether all eigenvectors of the Gram matrix are found about as fast as the leading one by iteration: the short
/// side is small, or so much smaller than the long one that the Gram matrix costs no more than a few passes over φ
/// (measured).
fn is_small(shape: Shape) -> bool {
    shape.short() <= 80 || shape.short() * shape.short() <= 8 * shape.long()
}

/// An upper end that the iteration leaves further than this above the lower one is proved anew, by a factorisation.
const LOOSE: f64 = 1e-4;

/// The smallest tolerance that products in single precision are good for.
const SINGLE: f64 = 1e-6;

/// Room for the rounding of ‖Xv‖ and ‖φ‖_F.
const ROUNDING: f64 = 1e-14;

/// A vector of the short side that is nearly the leading singular one, by iteration; X has ‖X‖_F = `frobenius`.
pub(super) fn leading_vector(x: &[f64], shape: Shape, frobenius: f64) -> Vec<f64> {
    let mut q = vec![0.0; shape.short()];
    lanczos::Lanczos::new(shape, 1e-9).leading(&mut q, x, frobenius * frobenius, None);
    q
}

/// d = −u₁v₁ᵀ, ‖φ‖_* = σ₁: rank-one steps along the leading singular pair.
///
/// On larger blocks (short side above 80) the pair is found by iteration, started from the last one, to a residual of
/// 10⁻⁶: ⟨φ, −d⟩ is then at least (1 − 10⁻⁶)σ for a singular value σ, and as a rule within the square of the residual
/// over the gap. That σ is the largest one is for the bracket to say. Its lower end is ‖φv‖. Its upper end follows from
/// the singular values found when they carry most of φ, mostly to 10⁻⁸; for a flat spectrum (pure noise) it takes a
/// Gram matrix and a Cholesky factor, in single precision where that proves 10⁻⁴, as it does up to 1500 rows or so, and
/// in double precision, to 10⁻⁶, elsewhere. A tolerance below 10⁻⁶ keeps single precision out: the bracket is then good
/// to 10⁻⁸ for flat spectra too.
pub struct Nuclear<S> {
    block: Block,
    shape: Shape,
    exact: exact::Leading,
    tolerance: f64,
    iteration: Option<lanczos::Lanczos<S>>,
    /// Where the tolerance leaves room for single precision.
    single: Option<single::Single>,
    /// φ times a power of two.
    x: Vec<S>,
    /// The leading singular vector of the short side, and its image.
    q: Vec<f64>,
    image: Vec<f64>,
    /// d = −(long)(short)ᵀ, or its transpose when the block is wide.
    short: Vec<S>,
    long: Vec<S>,
}

impl<S: Real> Nuclear<S> {
    /// On one block, with a relative residual of 10⁻⁶ where the pair is found by iteration.
    pub fn new(block: &Block) -> Result<Self, Error> {
        Self::with_tolerance(block, 1e-6)
    }

    /// On one block; an iteration stops when ‖φᵀφv − σ²v‖ ≤ tolerance·σ², up to the rounding of its products: a few
    /// 10⁻⁷σ² where they are in single precision, which a tolerance below 10⁻⁶ rules out.
    pub fn with_tolerance(block: &Block, tolerance: f64) -> Result<Self, Error> {
        let within = 0.0 < tolerance && tolerance <= 0.1;
        Error::expect_parameter("tolerance of the nuclear oracle", tolerance, within, "above 0 and at most 0.1")?;
        let shape = Shape { rows: block.rows, cols: block.cols };
        let iterate = !is_small(shape);
        Ok(Self {
            block: block.clone(),
            shape,
            exact: exact::Leading::new(shape, !iterate),
            tolerance,
            iteration: iterate.then(|| lanczos::Lanczos::new(shape, tolerance)),
            single: (iterate && tolerance >= SINGLE).then(|| single::Single::new(shape)),
            x: vec![S::ZERO; shape.size()],
            q: vec![0.0; shape.short()],
            image: vec![0.0; shape.long()],
            short: vec![S::ZERO; shape.short()],
            long: vec![S::ZERO; shape.long()],
        })
    }

    /// X ← φ times a power of two, which is returned, with 1 ≤ ‖X‖_F ≤ 2; or the dual norm where nothing is to be
    /// scaled: 0, and NaN when ‖φ‖_F is not finite.
    fn scale(&mut self, phi: &[S], frobenius: f64) -> Result<f64, f64> {
        if frobenius == 0.0 || !frobenius.is_finite() {
            return Err(if frobenius == 0.0 { 0.0 } else { f64::NAN });
        }
        let power = vector::power_of_two_scale::<S>(frobenius);
        vector::scale_into(&mut self.x, power, phi);
        Ok(power)
    }

    /// d = 0: for φ = 0, and for one that is not finite, whose dual norm is NaN.
    fn nothing(&mut self, dual_norm: f64) -> Answer {
        self.short.fill(S::ZERO);
        self.long.fill(S::ZERO);
        Answer::exact(dual_norm)
    }

    /// A smaller upper bound of σ₁(X) where the given one is loose; `frobenius` is ‖X‖_F.
    fn tighten(&mut self, lower: f64, upper: f64, frobenius: f64) -> f64 {
        if upper <= lower * (1.0 + LOOSE) {
            return upper.max(lower);
        }
        let single = self.single.as_mut().and_then(|single| single.upper(lower, frobenius, &self.x));
        let proved = single.or_else(|| {
            let guess = lower * lower * (1.0 + self.tolerance.max(1e-8));
            self.exact.upper_near(guess, &self.x)
        });
        proved.map_or(upper, |proved| proved.min(upper))
    }

    /// The pair in numbers of type S, with the decrease and the length that these rounded vectors have.
    fn round_pair(&mut self) -> Answer {
        let Self { shape, x, q, image, short, long, .. } = self;
        for (short, q) in short.iter_mut().zip(&mut *q) {
            *short = S::of(*q);
            *q = short.f64();
        }
        product::image(image, *shape, x, q);
        let (length, image_length) = (vector::norm2(q), vector::norm2(image));
        if image_length == 0.0 {
            return self.nothing(0.0);
        }
        for (long, &t) in long.iter_mut().zip(&*image) {
            *long = S::of(t / image_length);
        }
        let decrease = long.iter().zip(&*image).map(|(l, t)| l.f64() * t).sum();
        let excess = (length * vector::norm2(long) - 1.0).max(0.0);
        Answer { dual_norm: Bracket { lower: image_length / length, upper: f64::NAN }, decrease, excess }
    }
}

impl<S: Real> Geometry<S> for Nuclear<S> {
    fn size(&self) -> usize {
        self.block.size()
    }

    fn norms(&self) -> Vec<BlockNorm> {
        vec![BlockNorm { block: self.block.clone(), norm: Norm::Nuclear, radius: 1.0 }]
    }

    fn oracle(&mut self, phi: &[S]) -> Answer {
        let frobenius = vector::norm2(phi);
        let power = match self.scale(phi, frobenius) {
            Ok(power) => power,
            Err(dual_norm) => return self.nothing(dual_norm),
        };
        let scaled = power * frobenius;
        if let Some(single) = &mut self.single {
            single.forget();
        }
        let upper = match &mut self.iteration {
            Some(lanczos) => Some(lanczos.leading(&mut self.q, &self.x, scaled * scaled, self.single.as_mut())),
            None => self.exact.pair(&mut self.q, &self.x),
        };
        let Some(upper) = upper else { return self.nothing(f64::NAN) };
        let found = self.round_pair();
        if let Some(lanczos) = &mut self.iteration {
            lanczos.remember(&self.short);
        }
        let lower = found.dual_norm.lower * (1.0 - ROUNDING);
        let upper = self.tighten(lower, upper.min(scaled * (1.0 + ROUNDING)), scaled);
        Answer {
            dual_norm: Bracket { lower: lower / power, upper: upper / power },
            decrease: found.decrease / power,
            excess: found.excess,
        }
    }

    fn advance(&self, y: &mut [S], x: &[S], _phi: &[S], gamma: f64) {
        let tall = self.shape.rows >= self.shape.cols;
        let (u, v) = if tall { (&self.long, &self.short) } else { (&self.short, &self.long) };
        product::add_outer(y, x, -gamma, u, v);
    }

    /// Where it does not iterate, that of the largest eigenvalue; what an iteration misses is for each bracket to say.
    fn inexactness(&self) -> Option<Inexactness> {
        let rounding = eigenvalue_error(self.shape, 1.0) * self.shape.short() as f64 + 2.0 * S::EPSILON;
        self.iteration.is_none().then_some(Inexactness { eta: rounding, excess: rounding, proven: false })
    }

    fn dual_norm(&mut self, phi: &[S]) -> f64 {
        match self.scale(phi, vector::norm2(phi)) {
            Ok(power) => self.exact.largest(&self.x).unwrap_or(f64::NAN) / power,
            Err(dual_norm) => dual_norm,
        }
    }

    fn warm_start(&self) -> Vec<S> {
        self.iteration.as_ref().map_or_else(Vec::new, |lanczos| lanczos.start().to_vec())
    }

    fn resume(&mut self, warm_start: &[S]) {
        if let Some(lanczos) = &mut self.iteration {
            lanczos.remember(warm_start);
        }
    }
}
