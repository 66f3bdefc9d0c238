use crate::linalg::{Dense, Into, Mat};
use crate::metric::{Hessian, Metric};
use crate::operator::LinOp;
use crate::real::Real;
use crate::vector;

/// So many entries at most: the decomposition takes about 25n³ operations, once, and every solve 4n².
pub const LARGEST: usize = 768;

/// M = H + T*T/β for a bound H on ∇²f, decomposed once for every β.
///
/// With B = H + cT*T = VDV*, W = D^{−1/2}V* and cWT*TW* = QΛQ*, 0 ≤ Λ ≤ 1,
///
/// ```text
/// M⁻¹ = P*(I + (1/(cβ) − 1)Λ)⁻¹P,   P = Q*W.
/// ```
///
/// c = tr H/tr T*T, so that neither drowns the other. A direction that neither H nor T sees is given the curvature of rounding.
pub struct Decomposed<S> {
    /// P, row by row.
    basis: Vec<S>,
    lambda: Vec<f64>,
    c: f64,
    beta: f64,
    turned: Vec<S>,
}

impl<S: Real> Decomposed<S> {
    /// `None` where H or T is 0 or not finite.
    pub fn new(hessian: &Hessian<'_, S>, t: &dyn LinOp<S>) -> Option<Self> {
        let n = t.domain().size();
        let h = match *hessian {
            Hessian::Constant(c) => (0..n * n).map(|at| if at % (n + 1) == 0 { c } else { 0.0 }).collect(),
            Hessian::Normal(c, a) => normal(a, c),
        };
        let mut seen = normal(t, 1.0);
        let trace = |a: &[f64]| a.iter().step_by(n + 1).sum::<f64>();
        let c = Some(trace(&h) / trace(&seen)).filter(|c| c.is_finite() && *c > 0.0)?;
        seen.iter_mut().for_each(|v| *v *= c);
        let b: Vec<f64> = h.iter().zip(&seen).map(|(h, t)| h + t).collect();
        let (d, mut w) = eigen(&b, n)?;
        let least = d.last()? * f64::EPSILON * n as f64;
        for (row, d) in w.chunks_mut(n).zip(&d) {
            let scale = d.max(least).sqrt().recip();
            row.iter_mut().for_each(|v| *v *= scale);
        }
        let turned = product(&product(&w, Mat::new(&seen, n, n), n), Mat::new(&w, n, n).t(), n);
        let (values, q) = eigen(&turned, n)?;
        let basis = product(&q, Mat::new(&w, n, n), n).into_iter().map(S::of).collect();
        let lambda = values.into_iter().map(|v| v.clamp(0.0, 1.0)).collect();
        Some(Self { basis, lambda, c, beta: 1.0, turned: vec![S::ZERO; n] })
    }
}

/// c·A*A, one column after the other.
pub(super) fn normal<S: Real>(a: &dyn LinOp<S>, c: f64) -> Vec<f64> {
    let (n, m) = (a.domain().size(), a.range().size());
    let (mut unit, mut image, mut column) = (vec![S::ZERO; n], vec![S::ZERO; m], vec![S::ZERO; n]);
    let mut work = vec![S::ZERO; a.work_len()];
    let mut out = Vec::with_capacity(n * n);
    for j in 0..n {
        unit[j] = S::ONE;
        a.apply(&mut image, &unit, &mut work);
        column.fill(S::ZERO);
        a.adjoint_add(&mut column, &image, &mut work);
        unit[j] = S::ZERO;
        out.extend(column.iter().map(|v| c * v.f64()));
    }
    out
}

/// Values ascending, and vectors in rows.
fn eigen(a: &[f64], n: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
    let mut work = vec![0.0; f64::eigen_work_len(n)];
    f64::eigen(&mut values, &mut vectors, a, n, &mut work).then_some((values, vectors))
}

fn product(a: &[f64], b: Mat<'_, f64>, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    f64::gemm(&mut out, Into::Replace, 1.0, Mat::new(a, n, n), b);
    out
}

impl<S: Real> Metric<S> for Decomposed<S> {
    fn prepare(&mut self, _: &[S], beta: f64) {
        self.beta = beta;
    }

    fn solve(&mut self, v: &mut [S]) {
        let Self { basis, lambda, c, beta, turned } = self;
        let (n, weight) = (v.len(), 1.0 / (*c * *beta) - 1.0);
        for ((turned, row), lambda) in turned.iter_mut().zip(basis.chunks(n)).zip(lambda) {
            *turned = S::of(vector::dot(row, v) / (1.0 + weight * *lambda));
        }
        v.fill(S::ZERO);
        for (row, turned) in basis.chunks(n).zip(turned) {
            vector::axpy(v, turned.f64(), row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Dense as Matrix, LinOp};
    use crate::seeded::Seeded;

    /// M applied to what M⁻¹ gave is the vector again, for β large and small, with T that has a kernel.
    #[test]
    fn it_is_the_inverse_for_every_beta() {
        let (n, m, rows) = (12, 9, 7);
        let mut seeded = Seeded::new(5);
        let (a, t): (Vec<f64>, Vec<f64>) = (seeded.normals(m * n), seeded.normals(rows * n));
        let a = Matrix::new(a, m, n).unwrap();
        let t = Matrix::new(t, rows, n).unwrap();
        for hessian in [Hessian::Constant(3.0), Hessian::Normal(0.5, &a)] {
            let h = match &hessian {
                Hessian::Constant(c) => (0..n * n).map(|at| if at % (n + 1) == 0 { *c } else { 0.0 }).collect(),
                Hessian::Normal(c, a) => normal(*a, *c),
            };
            let tt = normal(&t as &dyn LinOp<f64>, 1.0);
            let mut metric = Decomposed::new(&hessian, &t).unwrap();
            for beta in [1e-4, 0.3, 1e3] {
                metric.prepare(&[], beta);
                let v: Vec<f64> = seeded.normals(n);
                let mut solved = v.clone();
                metric.solve(&mut solved);
                for (i, v) in v.iter().enumerate() {
                    let row = (0..n).map(|j| (h[i * n + j] + tt[i * n + j] / beta) * solved[j]);
                    assert!((row.sum::<f64>() - v).abs() < 1e-8, "β = {beta}");
                }
            }
        }
    }

    #[test]
    fn nothing_to_decompose_is_said() {
        let t = Matrix::new(vec![0.0; 6], 2, 3).unwrap();
        assert!(Decomposed::new(&Hessian::Constant(1.0), &t as &dyn LinOp<f64>).is_none());
    }
}
