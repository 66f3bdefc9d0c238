//! One factor while the other rests: every row by itself, entry by entry.

use melmo::catalogue::Lift;
use melmo::error::Error as Refused;
use melmo::linalg::{Into, Mat};
use melmo::penalty::{Coordinates, Prox};
use melmo::real::Real;
use melmo::threads;

use crate::choice::PenaltyChoice;
use crate::error::Error;

/// Rows that one thread takes at a time.
const CHUNK: usize = 64;

/// ‖M⊙(Y − WH)‖² + ν/2·‖W‖² + Σ g(w) over the rows w of W, for an H that rests.
pub struct Rows<'d, S> {
    /// Y, rows×cols; NaN where it has no entry.
    pub y: &'d [S],
    /// H, rank×cols.
    pub basis: &'d [S],
    /// Columns of Y.
    pub cols: usize,
    /// Rows of H.
    pub rank: usize,
    /// ν.
    pub ridge: f64,
}

impl<S: Real> Rows<'_, S> {
    /// Refuses sizes that do not fit.
    pub fn check(&self) -> Result<(), Error> {
        Refused::expect_len("H", self.rank * self.cols, self.basis.len())?;
        Refused::expect_len("Y, in whole rows", self.y.len() / self.cols * self.cols, self.y.len())?;
        Ok(())
    }

    /// W from the rows' data alone: for each row the lower of two descents, from 0 and from least squares. A penalty that is not
    /// convex leaves an entry where it starts; neither start is better for every row.
    pub fn encode(&self, g: &dyn Coordinates<S>, tolerance: f64, sweeps: usize) -> Vec<S> {
        let rank = self.rank;
        let shared = self.shared();
        let mut w = vec![S::ZERO; self.y.len() / self.cols * rank];
        let chunks = w.chunks_mut(CHUNK * rank).zip(self.y.chunks(CHUNK * self.cols));
        threads::share(self.y.len() * rank, chunks, |(w, y)| {
            let mut equations = Equations::new(rank);
            for (w, y) in w.chunks_exact_mut(rank).zip(y.chunks_exact(self.cols)) {
                self.look(&mut equations, &shared, y);
                equations.descend(g, w, tolerance, sweeps);
                let mut other = equations.solution();
                equations.descend(g, &mut other, tolerance, sweeps);
                if equations.value(g, &other) < equations.value(g, w) {
                    w.copy_from_slice(&other);
                }
            }
        });
        w
    }

    /// Some sweeps over every row of a W that is already there.
    pub fn improve(&self, g: &dyn Coordinates<S>, w: &mut [S], sweeps: usize) {
        let rank = self.rank;
        let shared = self.shared();
        let chunks = w.chunks_mut(CHUNK * rank).zip(self.y.chunks(CHUNK * self.cols));
        threads::share(self.y.len() * rank, chunks, |(w, y)| {
            let mut equations = Equations::new(rank);
            for (w, y) in w.chunks_exact_mut(rank).zip(y.chunks_exact(self.cols)) {
                self.look(&mut equations, &shared, y);
                equations.descend(g, w, 0.0, sweeps);
            }
        });
    }

    /// 2HHᵀ, which every row without a missing entry has.
    fn shared(&self) -> Vec<S> {
        let mut gram = vec![S::ZERO; self.rank * self.rank];
        S::gram(&mut gram, Mat::new(self.basis, self.rank, self.cols).t());
        gram.iter_mut().for_each(|v| *v *= S::of(2.0));
        gram
    }

    /// The equations of one row.
    fn look(&self, equations: &mut Equations<S>, shared: &[S], y: &[S]) {
        let Self { basis, cols, rank, ridge, .. } = *self;
        let two = S::of(2.0);
        if y.iter().all(|y| !y.f64().is_nan()) {
            equations.gram.copy_from_slice(shared);
            S::gemm(&mut equations.target, Into::Replace, two, Mat::new(basis, rank, cols), Mat::new(y, cols, 1));
        } else {
            let seen = |a: &[S], b: &[S]| {
                let known = a.iter().zip(b).zip(y).filter(|(_, y)| !y.f64().is_nan());
                known.map(|((a, b), _)| a.f64() * b.f64()).sum::<f64>()
            };
            for j in 0..rank {
                let row = &basis[j * cols..(j + 1) * cols];
                equations.target[j] = two * S::of(seen(row, y));
                for k in 0..=j {
                    let product = two * S::of(seen(row, &basis[k * cols..(k + 1) * cols]));
                    (equations.gram[j * rank + k], equations.gram[k * rank + j]) = (product, product);
                }
            }
        }
        (0..rank).for_each(|j| equations.gram[j * rank + j] += S::of(ridge));
    }
}

/// ψ on the entries of one row, or with its sign.
pub fn row_penalty<S: Real>(
    penalty: &PenaltyChoice,
    rank: usize,
    nonnegative: bool,
) -> Result<Box<dyn Prox<S>>, Error> {
    let lift = if nonnegative { Lift::Nonnegative } else { Lift::Entries };
    penalty.build(&lift, &melmo::block::Layout::vector(rank)?)
}

/// The entries of a penalty, or a reason why not.
pub(super) fn units<S: Real>(g: &dyn Prox<S>) -> Result<&dyn Coordinates<S>, Error> {
    g.coordinates().ok_or_else(|| Refused::Unsupported("a factor needs a penalty of its entries".into()).into())
}

/// ½wᵀGw − tᵀw, up to a constant what one row's loss is.
struct Equations<S> {
    rank: usize,
    gram: Vec<S>,
    target: Vec<S>,
    factor: Vec<S>,
    work: Vec<S>,
}

impl<S: Real> Equations<S> {
    fn new(rank: usize) -> Self {
        let zeros = |n| vec![S::ZERO; n];
        let work = zeros(S::positive_definite_work_len(rank));
        Self { rank, gram: zeros(rank * rank), target: zeros(rank), factor: zeros(rank * rank), work }
    }

    /// G⁻¹t, with as much of a ridge as it needs.
    fn solution(&mut self) -> Vec<S> {
        let trace: f64 = (0..self.rank).map(|i| self.gram[i * self.rank + i].f64()).sum();
        self.factor.copy_from_slice(&self.gram);
        let least = S::of(64.0 * S::EPSILON * trace.max(f64::MIN_POSITIVE / S::EPSILON));
        (0..self.rank).for_each(|i| self.factor[i * self.rank + i] += least);
        let mut w = self.target.clone();
        if S::positive_definite(&mut self.factor, self.rank, &mut self.work) {
            S::solve_columns(&self.factor, self.rank, &mut w);
        }
        if w.iter().any(|w| !w.is_finite()) {
            w.fill(S::ZERO);
        }
        w
    }

    fn slope(&self, j: usize, w: &[S]) -> f64 {
        let row = &self.gram[j * self.rank..(j + 1) * self.rank];
        melmo::vector::dot(row, w) - self.target[j].f64()
    }

    /// Sweeps until no entry moves by more than `tolerance` of what moved most, weighed by its curvature.
    fn descend(&self, g: &dyn Coordinates<S>, w: &mut [S], tolerance: f64, sweeps: usize) {
        let mut first = 0.0f64;
        for _ in 0..sweeps {
            let mut moved = 0.0f64;
            for j in 0..self.rank {
                let modulus = self.gram[j * self.rank + j].f64().max(2.0 * g.rho_of(j));
                if modulus > 0.0 {
                    let mut entry = [w[j] - S::of(self.slope(j, w) / modulus)];
                    g.prox_of(j, &mut entry, 1.0 / modulus);
                    moved = moved.max(modulus * (entry[0] - w[j]).f64().abs());
                    w[j] = entry[0];
                }
            }
            first = first.max(moved);
            if moved <= tolerance * first {
                break;
            }
        }
    }

    /// ½wᵀGw − tᵀw + Σ g_j(w_j).
    fn value(&self, g: &dyn Coordinates<S>, w: &[S]) -> f64 {
        let quadratic = (0..self.rank).map(|j| 0.5 * (self.slope(j, w) - self.target[j].f64()) * w[j].f64());
        quadratic.sum::<f64>() + (0..self.rank).map(|j| g.value_of(j, &mut [w[j]])).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melmo::linalg::Dense as _;
    use melmo::seeded::Seeded;

    fn data() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (rows, rank, cols) = (70, 3, 12);
        let mut seeded = Seeded::new(4);
        let w: Vec<f64> = (0..rows * rank).map(|i| if i % 3 == 0 { 0.0 } else { seeded.normal() }).collect();
        let h = seeded.normals(rank * cols);
        let mut y = vec![0.0; rows * cols];
        f64::gemm(&mut y, Into::Replace, 1.0, Mat::new(&w, rows, rank), Mat::new(&h, rank, cols));
        (y, w, h)
    }

    #[test]
    fn exact_factors_come_back_whether_entries_are_missing_or_not() {
        let (mut y, w, h) = data();
        let penalty = row_penalty::<f64>(&"l1:lambda=1e-9".parse().unwrap(), 3, false).unwrap();
        let found = |y: &[f64]| {
            let rows = Rows { y, basis: &h, cols: 12, rank: 3, ridge: 0.0 };
            rows.check().unwrap();
            rows.encode(units(&*penalty).unwrap(), 1e-12, 10_000)
        };
        assert!(found(&y).iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-6));
        y.iter_mut().step_by(5).for_each(|y| *y = f64::NAN);
        assert!(found(&y).iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-6));
    }

    #[test]
    fn a_sign_is_kept_and_a_row_without_data_is_zero() {
        let (mut y, _, h) = data();
        y[..12].fill(f64::NAN);
        let penalty = row_penalty::<f64>(&"mcp:lambda=0.1".parse().unwrap(), 3, true).unwrap();
        let rows = Rows { y: &y, basis: &h, cols: 12, rank: 3, ridge: 0.0 };
        let w = rows.encode(units(&*penalty).unwrap(), 1e-10, 1000);
        assert!(w.iter().all(|w| *w >= 0.0) && w[..3] == [0.0; 3]);
        assert!(w.iter().any(|w| *w > 0.1));
    }
}
