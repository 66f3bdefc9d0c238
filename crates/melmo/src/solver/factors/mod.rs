//! c‖M⊙(Y − WH)‖² + ν/2·‖H‖² with one factor held while the other moves: what factorisation methods share.

pub(in crate::solver) mod alternating;
pub(in crate::solver) mod explore;
pub(in crate::solver) mod hals;
mod lines;
pub(in crate::solver) mod majorised;
mod observed;
pub(in crate::solver) mod palm;
mod rescale;

pub use alternating::{Alternating, HANDOVER};
pub use explore::Explored;
pub use hals::Hals;
pub use majorised::Majorised;
pub use palm::Palm;

use crate::error::Error;
use crate::linalg::{Into, Mat};
use crate::operator;
use crate::penalty::Coordinates;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth::turn;
use crate::smooth::{Data, Factorization, Form};
use crate::solver::factors::lines::Lines;
use crate::solver::factors::observed::Observed;
use crate::vector;

/// The loss, with what was last looked at of W and of H. Two products with Y a sweep: WᵀY and YHᵀ.
pub(super) struct Factors<'p, S> {
    f: &'p Factorization<S>,
    /// Rows and columns of Y.
    rows: usize,
    cols: usize,
    pub rank: usize,
    /// 2c.
    twice: f64,
    /// ν.
    pub ridge: f64,
    y_squared: f64,
    /// WᵀW and HHᵀ.
    pub gram_w: Vec<S>,
    pub gram_h: Vec<S>,
    /// WᵀY and YHᵀ; with a mask, W itself and Hᵀ.
    left: Vec<S>,
    right: Vec<S>,
    /// With a mask: the observed entries by rows and by columns.
    masked: Option<[Observed<S>; 2]>,
    /// Hᵀ, for a mask.
    turned: Vec<S>,
    work: Vec<S>,
    /// What products with Y need, and panels of lines.
    products: Vec<S>,
}

impl<'p, S: Real> Factors<'p, S> {
    /// Refuses a loss that is no factorisation, and a penalty on anything but W.
    pub fn new(problem: &'p Problem<S>) -> Result<Self, Error> {
        let this = Self::of(problem)?;
        let on_w = match problem.t().form() {
            operator::Form::Select(t) => t.pairs().eq([(0..this.split(), 0..this.split())]),
            _ => false,
        };
        if !on_w {
            return Err(Error::Unsupported("this method needs the penalty on W alone: T(W, H) = W".into()));
        }
        Ok(this)
    }

    /// Refuses a loss that is no factorisation.
    fn of(problem: &'p Problem<S>) -> Result<Self, Error> {
        let Form::Factors(f) = problem.f().form() else {
            return Err(Error::Unsupported(
                "this method needs a factorisation, f(W, H) = c‖M⊙(Y − WH)‖² + ν/2·‖H‖²".into(),
            ));
        };
        let (rows, cols, rank) = f.shape();
        let (c, ridge) = f.weights();
        let seen = f.mask().zip(f.data().dense());
        let masked = seen.map(|(mask, y)| [false, true].map(|turned| Observed::new(y, mask, rows, cols, turned)));
        let zeros = |n: usize| vec![S::ZERO; n];
        let (left, right) = if masked.is_some() { (rows, cols) } else { (cols, rows) };
        let work = S::positive_definite_work_len(rank).max(S::eigenvalues_work_len(rank) + rank).max(rank);
        Ok(Self {
            f,
            rows,
            cols,
            rank,
            twice: 2.0 * c,
            ridge,
            y_squared: f.data_squared(),
            gram_w: zeros(rank * rank),
            gram_h: zeros(rank * rank),
            left: zeros(left * rank),
            right: zeros(right * rank),
            turned: zeros(if masked.is_some() { cols * rank } else { 0 }),
            masked,
            work: zeros(work + rank * rank),
            products: zeros(f.data().work_len(cols, rank).max(rows.max(cols) * rank)),
        })
    }

    /// Number of entries of W.
    pub fn split(&self) -> usize {
        self.rows * self.rank
    }

    /// Holds W.
    pub fn look_at_w(&mut self, w: &[S]) {
        let (rows, rank) = (self.rows, self.rank);
        let w_mat = Mat::new(w, rows, rank);
        S::gram(&mut self.gram_w, w_mat);
        match self.masked {
            Some(_) => self.left.copy_from_slice(w),
            None => self.f.data().turned_times(&mut self.left, 1.0, w_mat, &mut self.products),
        }
    }

    /// Holds H.
    pub fn look_at_h(&mut self, h: &[S]) {
        let (cols, rank) = (self.cols, self.rank);
        let h_mat = Mat::new(h, rank, cols);
        S::gram(&mut self.gram_h, h_mat.t());
        match self.masked {
            Some(_) => turn(&mut self.right, h, rank, cols),
            None => self.f.data().times_turned(&mut self.right, 1.0, h_mat, &mut self.products),
        }
    }

    /// out ← ∇_Wf(V, H) = 2c·M⊙(VH − Y)Hᵀ for the H that is held; with `linear`, without the Y.
    pub fn gradient_w(&self, out: &mut [S], v: &[S], linear: bool) {
        if let Some([by_rows, _]) = &self.masked {
            return by_rows.gradient(out, v, &self.right, self.rank, self.twice, linear);
        }
        let (gram, v) = (Mat::new(&self.gram_h, self.rank, self.rank), Mat::new(v, self.rows, self.rank));
        S::gemm(out, Into::Replace, S::of(self.twice), v, gram);
        if !linear {
            vector::axpy(out, -self.twice, &self.right);
        }
    }

    /// out ← ∇_Hf(W, X) = 2cWᵀ(M⊙(WX − Y)) + νX for the W that is held.
    pub fn gradient_h(&mut self, out: &mut [S], x: &[S]) {
        let (cols, rank) = (self.cols, self.rank);
        if let Some([_, by_cols]) = &self.masked {
            let (turned, part) = (&mut self.turned, &mut *out);
            turn(turned, x, rank, cols);
            by_cols.gradient(part, turned, &self.left, rank, self.twice, false);
            turned.copy_from_slice(part);
            turn(out, turned, cols, rank);
            return vector::axpy(out, self.ridge, x);
        }
        // (2cWᵀW + νI)X − 2cWᵀY: in one pass after the product's.
        let Self { gram_w, left, work, .. } = self;
        let matrix = &mut work[..rank * rank];
        shifted(matrix, gram_w, self.twice, self.ridge, rank);
        vector::scale_into(out, -self.twice, left);
        S::gemm(out, Into::Add, S::ONE, Mat::new(matrix, rank, rank), Mat::new(x, rank, cols));
    }

    /// z ← argmin_W c‖M⊙(Y − WH)‖² + ‖W − z‖²/(2β) for the H that is held.
    pub fn ridge_w(&mut self, z: &mut [S], beta: f64) {
        let Self { rank, twice, gram_h, right, work, masked, .. } = self;
        if let Some([by_rows, _]) = masked {
            return by_rows.ridge(z, right, *rank, (*twice, 1.0 / beta, true), work);
        }
        // (2cβHHᵀ + I)W = 2cβYHᵀ + z: of unit size however small β is.
        let (factor, work) = work.split_at_mut(*rank * *rank);
        vector::axpy(z, *twice * beta, right);
        shifted(factor, gram_h, *twice * beta, 1.0, *rank);
        if S::positive_definite(factor, *rank, work) {
            S::solve_rows(factor, *rank, z);
        } else {
            z.fill(S::of(f64::NAN));
        }
    }

    /// h ← argmin_H c‖M⊙(Y − WH)‖² + ν/2·‖H‖² for the W that is held; without ν, with the least that makes it solvable.
    pub fn ridge_h(&mut self, h: &mut [S]) {
        let Self { rank, cols, twice, gram_w, left, work, masked, turned, .. } = self;
        let trace: f64 = (0..*rank).map(|i| gram_w[i * *rank + i].f64()).sum();
        let least = 16.0 * S::EPSILON * (*twice * trace).max(f64::MIN_POSITIVE / S::EPSILON);
        let ridge = self.ridge.max(least);
        if let Some([_, by_cols]) = masked {
            by_cols.ridge(turned, left, *rank, (*twice, ridge, false), work);
            return turn(h, turned, *cols, *rank);
        }
        let (factor, work) = work.split_at_mut(*rank * *rank);
        h.iter_mut().zip(&*left).for_each(|(h, &v)| *h = S::of(*twice) * v);
        shifted(factor, gram_w, *twice, ridge, *rank);
        if S::positive_definite(factor, *rank, work) {
            S::solve_columns(factor, *rank, h);
        } else {
            h.fill(S::of(f64::NAN));
        }
    }

    /// At least as much is sure to be gained by going from the H that is held to the least one for the W that is held: with
    /// q(H) = f(W, H) − c‖Y‖², it is q(H) + c⟨WᵀY, H_least⟩, less what rounding can make of such sums; ⟨WᵀY, H⟩ is ⟨W, YHᵀ⟩.
    /// `None` where there is a mask.
    pub fn sure_gain_h(&self, w: &[S], least: &[S]) -> Option<f64> {
        /// Units of rounding: no sum here loses more.
        const LOST: f64 = 65536.0;
        if self.masked.is_some() {
            return None;
        }
        let trace = |gram: &[S]| (0..self.rank).map(|i| gram[i * self.rank + i].f64()).sum::<f64>();
        let (half, w_squared, h_squared) = (0.5 * self.twice, trace(&self.gram_w), trace(&self.gram_h));
        let quadratic = half * vector::dot(&self.gram_w, &self.gram_h) + 0.5 * self.ridge * h_squared;
        let (along, squared) = vector::dot_and_square(&self.left, least);
        let gained = quadratic - self.twice * vector::dot(&self.right, w) + half * along;
        let largest = h_squared.max(squared);
        let size = half * ((w_squared * largest).sqrt() + self.y_squared.sqrt()).powi(2) + 0.5 * self.ridge * largest;
        Some(gained - LOST * S::EPSILON * size)
    }

    /// W ← the same after some sweeps of coordinate descent on c‖M⊙(Y − WH)‖² + g(W), entry by entry, for the H that is held.
    pub fn descend_w(&mut self, g: &dyn Coordinates<S>, rho: f64, w: &mut [S], sweeps: usize) {
        let Self { rank, twice, right, work, masked, .. } = self;
        let Some([by_rows, _]) = masked else { return self.lines_of_w(g, rho, w, sweeps) };
        let (rank, twice) = (*rank, *twice);
        let (gram, target) = work[..rank * (rank + 1)].split_at_mut(rank * rank);
        for (i, w) in w.chunks_exact_mut(rank).enumerate() {
            by_rows.row_equations(i, right, twice, gram, target);
            for _ in 0..sweeps {
                for j in 0..rank {
                    let row = &gram[j * rank..(j + 1) * rank];
                    let slope = row.iter().zip(&*w).fold(S::ZERO, |sum, (&g, &w)| sum + g * w) - target[j];
                    let modulus = row[j].f64().max(2.0 * g.rho_of(i * rank + j));
                    if modulus > 0.0 {
                        let mut entry = [w[j] - slope * S::of(1.0 / modulus)];
                        g.prox_of(i * rank + j, &mut entry, 1.0 / modulus);
                        w[j] = entry[0];
                    }
                }
            }
        }
    }

    /// The same without a mask: every row has the same HHᵀ.
    fn lines_of_w(&mut self, g: &dyn Coordinates<S>, rho: f64, w: &mut [S], sweeps: usize) {
        let Self { rank, twice, gram_h, right, work, products, .. } = self;
        let (rank, scale, gram) = (*rank, *twice, &mut work[..*rank * *rank]);
        shifted(gram, gram_h, scale, 0.0, rank);
        Lines { g, first: 0, rho, gram, scale, target: right, rank, columns: false }.descend(w, sweeps, products);
    }

    /// H ← the same after some sweeps on c‖Y − WH‖² + ν/2·‖H‖² + g(H), for the W that is held; rows whose column of W is 0 may rest.
    fn lines_of_h(&mut self, g: &dyn Coordinates<S>, rho: f64, h: &mut [S], sweeps: usize, rest: bool) {
        let first = self.split();
        let Self { rank, twice, ridge, gram_w, left, work, products, .. } = self;
        let (rank, scale, gram) = (*rank, *twice, &mut work[..*rank * *rank]);
        shifted(gram, gram_w, scale, *ridge, rank);
        if rest {
            let idle = |k: &usize| gram_w[k * (rank + 1)] == S::ZERO;
            (0..rank).filter(idle).for_each(|k| gram[k * (rank + 1)] = S::ZERO);
        }
        Lines { g, first, rho, gram, scale, target: left, rank, columns: true }.descend(h, sweeps, products);
    }

    /// There is a mask.
    fn has_mask(&self) -> bool {
        self.masked.is_some()
    }

    /// YHᵀ of the H that is held.
    fn right(&self) -> &[S] {
        &self.right
    }

    /// Holds H + θ(H − H_before), given its YHᵀ at both.
    fn hold_h(&mut self, ahead: &[S], right: &[S], before: &[S], theta: f64) {
        S::gram(&mut self.gram_h, Mat::new(ahead, self.rank, self.cols).t());
        vector::extrapolate(&mut self.right, right, before, theta);
    }

    /// Sweeps over W and over H that together cost half of a product with Y, and one at least.
    fn sweeps(&self, most: usize) -> [usize; 2] {
        let entries = match self.f.data() {
            Data::Sparse(pair) => pair[0].len(),
            Data::Dense(_) | Data::Rows(_) => self.rows.saturating_mul(self.cols),
        };
        [self.rows, self.cols].map(|lines| (1 + entries / (2 * lines * self.rank)).min(most))
    }

    /// f(W, H) for the W that is held and any H, which is looked at here: from ‖Y‖² − 2⟨WᵀY, H⟩ + ⟨WᵀW, HHᵀ⟩.
    fn value_at(&mut self, h: &[S]) -> f64 {
        let Self { rank, cols, gram_w, left, work, .. } = self;
        let gram = &mut work[..*rank * *rank];
        S::gram(gram, Mat::new(h, *rank, *cols).t());
        let (along, squared) = vector::dot_and_square(left, h);
        let squares = self.y_squared - 2.0 * along + vector::dot(gram_w, gram);
        0.5 * self.twice * squares + 0.5 * self.ridge * squared
    }

    /// 2c‖H‖²: at least the Lipschitz constant of ∇_Wf(·, H).
    pub fn trace_w(&self) -> f64 {
        self.twice * (0..self.rank).map(|i| self.gram_h[i * self.rank + i].f64()).sum::<f64>()
    }

    /// 2cσ₁(HHᵀ): the Lipschitz constant of ∇_Wf(·, H).
    pub fn lipschitz_w(&mut self) -> f64 {
        self.twice * largest(&self.gram_h, self.rank, &mut self.work)
    }

    /// 2cσ₁(WᵀW) + ν: the Lipschitz constant of ∇_Hf(W, ·).
    pub fn lipschitz_h(&mut self) -> f64 {
        self.twice * largest(&self.gram_w, self.rank, &mut self.work) + self.ridge
    }

    /// f(W, H), both held. From ‖Y‖² − 2⟨W, YHᵀ⟩ + ⟨WᵀW, HHᵀ⟩; `None` where that loses too many digits.
    pub fn value(&self, w: &[S], h: &[S]) -> Option<f64> {
        const CANCELLED: f64 = 1e-6;
        let squared = match &self.masked {
            Some([by_rows, _]) => by_rows.squares(w, &self.right, self.rank),
            None => {
                let quadratic = vector::dot(&self.gram_w, &self.gram_h);
                let squared = self.y_squared - 2.0 * vector::dot(w, &self.right) + quadratic;
                if S::EPSILON > 1e-10 || squared < CANCELLED * (self.y_squared + quadratic) {
                    return None;
                }
                squared
            }
        };
        Some(0.5 * self.twice * squared + 0.5 * self.ridge * vector::norm2_squared(h))
    }
}

/// factor ← scale·gram + shift·I.
fn shifted<S: Real>(factor: &mut [S], gram: &[S], scale: f64, shift: f64, rank: usize) {
    factor.iter_mut().zip(gram).for_each(|(out, &g)| *out = S::of(scale * g.f64()));
    (0..rank).for_each(|i| factor[i * rank + i] += S::of(shift));
}

/// The largest eigenvalue of a Gram matrix; its trace where that cannot be had.
fn largest<S: Real>(gram: &[S], rank: usize, work: &mut [S]) -> f64 {
    let (values, work) = work.split_at_mut(rank);
    match S::eigenvalues(values, gram, rank, work) {
        true => values[rank - 1].f64(),
        false => (0..rank).map(|i| gram[i * rank + i].f64()).sum(),
    }
}
