//! Losses that are sums, evaluated on a few of their parts.

use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::smooth::Responses;
use crate::vector::{axpy, dot, norm2};

/// A loss f = Σᵢ fᵢ of n parts: rows of a design, rows or entries of Y.
pub trait Sampled<S: Real>: Send + Sync {
    /// n.
    fn samples(&self) -> usize;

    /// grad ← (n/|B|)·Σ_{i∈B} ∇fᵢ(x). B may name a part more than once; drawn uniformly, its mean is ∇f(x). `work` is that of
    /// [`Smooth::value_grad`](crate::smooth::Smooth::value_grad).
    fn batch_grad(&self, grad: &mut [S], x: &[S], batch: &[usize], work: &mut [S]);

    /// What n‖∇fᵢ(x)‖₂ is at most, for every part i: a sample's error is stated with it. `None` where it takes a pass over the data.
    fn part_bound(&self, x: &[S]) -> Option<f64> {
        let _ = x;
        None
    }
}

/// The largest ‖aᵢ‖₂ of the rows of A; a pass over A.
pub(super) fn longest_row<S: Real>(a: &dyn LinOp<S>) -> f64 {
    match a.form() {
        Form::Dense(dense) => {
            let cols = a.domain().size().max(1);
            dense.entries().chunks_exact(cols).map(norm2).fold(0.0, f64::max)
        }
        Form::Sparse(sparse) => (0..a.range().size())
            .map(|i| sparse.row(i).map(|(_, &v)| v.f64().powi(2)).sum::<f64>().sqrt())
            .fold(0.0, f64::max),
        _ => f64::INFINITY, // nobody who asked `has_rows` comes here
    }
}

/// max n|wᵢh′(t)|·‖a‖ over the rows and |t − oᵢ| ≤ ‖a‖‖x‖, ‖a‖ the longest row: h′ is monotone, so that the ends are looked at.
pub(super) fn rows_bound<S: Real>(rows: &Responses<S>, longest: f64, x: &[S]) -> f64 {
    let reach = longest * norm2(x);
    let steepest = (0..rows.count()).fold(0.0, |most: f64, i| {
        let ends = [-reach, reach].map(|end| rows.slope(i, S::of(rows.offset(i) + end)).f64().abs());
        most.max(ends[0]).max(ends[1])
    });
    rows.count() as f64 * steepest * longest
}

/// Whether the rows of a linear model can be read one by one.
pub(super) fn has_rows<S: Real>(a: &dyn LinOp<S>) -> bool {
    matches!(a.form(), Form::Dense(_) | Form::Sparse(_))
}

/// grad ← (n/|B|)·Σ_{i∈B} wᵢh′(⟨aᵢ, x⟩ + oᵢ)aᵢ for the rows aᵢ of A.
pub(super) fn rows_grad<S: Real>(a: &dyn LinOp<S>, rows: &Responses<S>, grad: &mut [S], x: &[S], batch: &[usize]) {
    let scale = rows.count() as f64 / batch.len() as f64;
    grad.fill(S::ZERO);
    for &i in batch {
        match a.form() {
            Form::Dense(dense) => {
                let row = &dense.entries()[i * x.len()..(i + 1) * x.len()];
                let slope = rows.slope(i, S::of(dot(row, x) + rows.offset(i)));
                axpy(grad, scale * slope.f64(), row);
            }
            Form::Sparse(sparse) => {
                let at: f64 = sparse.row(i).map(|(j, &v)| v.f64() * x[j].f64()).sum();
                let slope = S::of(scale) * rows.slope(i, S::of(at + rows.offset(i)));
                for (j, &v) in sparse.row(i) {
                    grad[j] += slope * v;
                }
            }
            _ => grad.fill(S::of(f64::NAN)), // nobody who asked `has_rows` comes here
        }
    }
}
