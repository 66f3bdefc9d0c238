use std::marker::PhantomData;

use crate::block::{Block, Layout};
use crate::error::Error;
use crate::linalg::{Into, Mat};
use crate::low_rank;
use crate::penalty::{Envelope, Prox, Separable};
use crate::real::Real;

/// g(u) = Σ_b Σᵢ ψ(σᵢ(u_b)): an even penalty on the singular values of each block.
///
/// ρ = ρ_ψ, L = slope·√(number of singular values); the prox keeps the singular vectors. With ψ = λ|x| it is the nuclear
/// norm (singular value thresholding: Cai, Candès and Shen, 2010), with MCP or SCAD a nearly unbiased rank penalty. Every
/// call computes a singular value decomposition, a prox of large blocks only of what it does not make 0. A block that is not finite gives NaN throughout.
#[derive(Clone, Debug)]
pub struct Spectral<P, S> {
    psi: P,
    layout: Layout,
    number: PhantomData<S>,
}

impl<S: Real, P: Separable<S>> Spectral<P, S> {
    /// ψ on the singular values of every block.
    pub fn new(psi: P, layout: &Layout) -> Result<Self, Error> {
        if !psi.is_even() {
            let message = "a penalty of singular values must be even, ψ(−x) = ψ(x): this one is not";
            return Err(Error::Unsupported(message.into()));
        }
        Ok(Self { psi, layout: layout.clone(), number: PhantomData })
    }

    /// out_b ← U diag(factor(σ)) Vᵀ on every block, where `reply` answers to a singular value with the factor and its
    /// share of two sums, both 0 up to `threshold`; returns the sums.
    fn lift(
        &self,
        out: &mut [S],
        u: &[S],
        threshold: f64,
        work: &mut [S],
        reply: impl Fn(S) -> (S, Envelope),
    ) -> Envelope {
        let mut total = Envelope::default();
        for block in self.layout.blocks() {
            let range = block.range();
            let Some(share) = lift_block(&mut out[range.clone()], &u[range], block, threshold, work, &reply) else {
                out.fill(S::of(f64::NAN));
                return Envelope { value: f64::NAN, slope_squared: f64::NAN };
            };
            total += share;
        }
        total
    }
}

/// Number of singular values.
fn rank(block: &Block) -> usize {
    block.rows.min(block.cols)
}

/// The largest σ that the prox makes 0, as far as bisection tells: what lies above it decides the prox.
fn made_zero<S: Real>(psi: &impl Separable<S>, beta: S, largest: f64) -> f64 {
    const HALVINGS: usize = 40;
    let is_zero = |sigma: f64| psi.prox_psi(S::of(sigma), beta) == S::ZERO;
    let (mut low, mut high) = (0.0, largest);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_zero(middle) { low = middle } else { high = middle }
    }
    low
}

/// One block of [`Spectral::lift`]; `None` when there is no decomposition. Singular values up to `threshold` are answered with 0 and
/// have no share.
fn lift_block<S: Real>(
    out: &mut [S],
    a: &[S],
    block: &Block,
    threshold: f64,
    work: &mut [S],
    reply: impl Fn(S) -> (S, Envelope),
) -> Option<Envelope> {
    let (rows, cols, rank) = (block.rows, block.cols, rank(block));
    let (values, work) = work.split_at_mut(rank);
    let (u, work) = work.split_at_mut(rows * rank);
    let (v, work) = work.split_at_mut(cols * rank);
    // Where there are fewer vectors than values, the others are 0: so is what an even penalty makes of them.
    let a = Mat::new(a, rows, cols);
    let above = (threshold > 0.0).then(|| low_rank::svd_above(values, u, v, a, threshold, work)).flatten();
    let found = above.or_else(|| low_rank::svd(values, u, v, a, work))?;
    let mut total = Envelope::default();
    for value in values.iter_mut() {
        let share;
        (*value, share) = reply(*value);
        total += share;
    }
    let kept = keep(&mut u[..rows * found], &values[..found], true);
    keep(&mut v[..cols * found], &values[..found], false);
    match kept {
        0 => out.fill(S::ZERO),
        _ => S::gemm(out, Into::Replace, S::ONE, Mat::new(u, rows, kept), Mat::new(v, cols, kept).t()),
    }
    Some(total)
}

/// Moves the columns with a nonzero factor together, scaled or as they are: the product then costs only their number.
fn keep<S: Real>(vectors: &mut [S], factors: &[S], scaled: bool) -> usize {
    let mut to = 0;
    for from in (0..vectors.len()).step_by(factors.len().max(1)) {
        for (c, &factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != S::ZERO) {
            vectors[to] = if scaled { factor * vectors[from + c] } else { vectors[from + c] };
            to += 1;
        }
    }
    factors.iter().filter(|factor| **factor != S::ZERO).count()
}

impl<S: Real, P: Separable<S>> Prox<S> for Spectral<P, S> {
    fn size(&self) -> usize {
        self.layout.size()
    }

    fn weak_convexity(&self) -> f64 {
        self.psi.rho()
    }

    fn lipschitz(&self) -> Option<f64> {
        let values: usize = self.layout.blocks().iter().map(rank).sum();
        Some(self.psi.slope()? * (values as f64).sqrt())
    }

    fn strong_convexity(&self) -> f64 {
        self.psi.strong_convexity()
    }

    /// The largest singular value over λ.
    fn polar(&self, v: &[S], work: &mut [S]) -> Option<f64> {
        let lambda = self.psi.growth()?;
        let largest = self.layout.blocks().iter().map(|b| {
            let (values, work) = work.split_at_mut(rank(b));
            let found = S::singular_values(values, Mat::new(&v[b.range()], b.rows, b.cols), work);
            // Singular values are right to a modest multiple of the unit times the largest (backward stable).
            let room = 1.0 + (b.rows + b.cols) as f64 * S::EPSILON;
            if found { values[0].f64() * room } else { f64::INFINITY }
        });
        Some(largest.fold(0.0, f64::max) / lambda)
    }

    fn reach(&self) -> Option<f64> {
        let values: usize = self.layout.blocks().iter().map(rank).sum();
        Some(self.psi.reach()? * (values as f64).sqrt() * (1.0 + f64::EPSILON))
    }

    /// A decomposition and a product, both over the longer side of a block.
    fn rounding(&self) -> f64 {
        let longest = self.layout.blocks().iter().map(|b| b.rows + b.cols).max().unwrap_or(0);
        (16.0 + 4.0 * longest as f64) * S::EPSILON
    }

    fn work_len(&self) -> usize {
        let block = |b: &Block| {
            let general = low_rank::svd_work_len::<S>(b.rows, b.cols);
            let vectors = general.max(low_rank::svd_above_work_len::<S>(b.rows, b.cols)) + (b.rows + b.cols) * rank(b);
            rank(b) + vectors.max(low_rank::singular_values_work_len::<S>(b.rows, b.cols))
        };
        self.layout.blocks().iter().map(block).max().unwrap_or(0)
    }

    fn value(&self, u: &[S], work: &mut [S]) -> f64 {
        let mut total = 0.0;
        for b in self.layout.blocks() {
            let (values, work) = work.split_at_mut(rank(b));
            if !low_rank::singular_values(values, Mat::new(&u[b.range()], b.rows, b.cols), work) {
                return f64::NAN;
            }
            total += values.iter().map(|&value| self.psi.psi(value).f64()).sum::<f64>();
        }
        total
    }

    fn prox(&self, z: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> f64 {
        let beta = S::of(beta);
        let reply = |sigma| {
            let shrunk = self.psi.prox_psi(sigma, beta);
            (shrunk, Envelope { value: self.psi.psi(shrunk).f64(), slope_squared: 0.0 })
        };
        self.lift(z, u, made_zero(&self.psi, beta, crate::vector::norm2(u)), work, reply).value
    }

    /// U diag(ψ_β′(σ)) Vᵀ: no difference u − z whose digits cancel, and only the shrunk directions to multiply.
    fn moreau(&self, grad: &mut [S], u: &[S], beta: f64, work: &mut [S]) -> Envelope {
        let beta = S::of(beta);
        let reply = |sigma| {
            let (value, slope) = self.psi.envelope(sigma, beta);
            (slope, Envelope { value: value.f64(), slope_squared: slope.f64() * slope.f64() })
        };
        self.lift(grad, u, 0.0, work, reply)
    }

    fn subgradient(&self, v: &mut [S], u: &[S], work: &mut [S]) -> f64 {
        let reply =
            |sigma| (self.psi.derivative(sigma), Envelope { value: self.psi.psi(sigma).f64(), slope_squared: 0.0 });
        self.lift(v, u, 0.0, work, reply).value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{Interval, L1, Mcp, Nonnegative, Scad, laws};

    #[test]
    fn obeys_the_laws() {
        let layout = Layout::new([("tall", 5, 3), ("wide", 2, 4), ("row", 1, 3)]).unwrap();
        laws::whole(&Spectral::<_, f64>::new(L1::new(0.6).unwrap(), &layout).unwrap());
        laws::whole(&Spectral::<_, f64>::new(Mcp::new(0.6, 1.5).unwrap(), &layout).unwrap());
        laws::whole(&Spectral::<_, f64>::new(Scad::new(0.4, 2.5).unwrap(), &layout).unwrap());
    }

    #[test]
    fn thresholds_a_diagonal_matrix() {
        let g = Spectral::new(L1::new(2.0).unwrap(), &Layout::matrix(3, 2).unwrap()).unwrap();
        let mut work = vec![0.0f32; g.work_len()];
        let (u, mut z) = ([0.0, -3.0, 0.5, 0.0, 0.0, 0.0], [9.0; 6]);
        assert!((g.value(&u, &mut work) - 7.0).abs() < 1e-6);
        assert!((g.prox(&mut z, &u, 0.5, &mut work) - 4.0).abs() < 1e-6);
        assert!(z.iter().zip([0.0, -2.0, 0.0, 0.0, 0.0, 0.0]).all(|(z, e): (&f32, f32)| (z - e).abs() < 1e-6));
        assert_eq!(g.lipschitz(), Some(2.0 * 2f64.sqrt()));
    }

    #[test]
    fn projects_on_the_spectral_ball() {
        let g = Spectral::new(Interval::new(-1.0, 1.0).unwrap(), &Layout::matrix(2, 2).unwrap()).unwrap();
        let (mut work, mut z) = (vec![0.0f64; g.work_len()], [0.0; 4]);
        assert_eq!(g.prox(&mut z, &[3.0, 0.0, 0.0, 0.5], 1.0, &mut work), 0.0);
        assert!(z.iter().zip([1.0, 0.0, 0.0, 0.5]).all(|(z, e)| (z - e).abs() < 1e-14));
    }

    #[test]
    fn nan_gives_nan() {
        let g = Spectral::new(L1::new(1.0).unwrap(), &Layout::matrix(2, 2).unwrap()).unwrap();
        let (mut work, mut z) = (vec![0.0; g.work_len()], [0.0; 4]);
        assert!(g.prox(&mut z, &[1.0, 2.0, f64::NAN, 0.0], 0.1, &mut work).is_nan());
        assert!(z.iter().all(|v| v.is_nan()));
        assert!(g.value(&[1.0, f64::INFINITY, 0.0, 0.0], &mut work).is_nan());
    }

    #[test]
    fn a_penalty_that_is_not_even_is_refused() {
        let built = Spectral::<_, f64>::new(Nonnegative, &Layout::matrix(2, 2).unwrap());
        assert!(matches!(built, Err(Error::Unsupported(_))));
    }
}
