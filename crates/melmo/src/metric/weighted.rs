use crate::linalg::{Dense, Mat};
use crate::metric::decomposed::{self, normal};
use crate::metric::factored::{self, Products};
use crate::operator::{Form, LinOp};
use crate::real::Real;
use crate::smooth::Quadratic;
use crate::sparse_cholesky::SparseCholesky;

/// Products of a full T's entries that a factorisation may take.
const WORK: usize = 1 << 31;
/// Added to the diagonal, next to its largest entry: a direction that nothing sees stays where it is.
const RIDGE: f64 = 1e-14;

/// M = H + T*ΘT for a quadratic f and a diagonal Θ ≥ 0 that changes with every step.
pub(crate) enum Weighted {
    /// Few entries: chains, trends, narrow graphs.
    Narrow(Narrow),
    /// All entries.
    Full(Full),
}

impl Weighted {
    /// `None` where M has too many entries.
    pub fn new<S: Real>(hessian: &Quadratic<'_, S>, t: &dyn LinOp<S>) -> Option<Self> {
        // Of a matrix that keeps its zeros few are: it need not be looked at.
        let narrow = if matches!(t.form(), Form::Dense(_)) { None } else { Narrow::new(hessian, t) };
        narrow.map(Self::Narrow).or_else(|| Full::new(hessian, t).map(Self::Full))
    }

    /// Whether [`Weighted::new`] makes one: nothing is computed where the sizes tell.
    pub fn fits<S: Real>(hessian: &Quadratic<'_, S>, t: &dyn LinOp<S>) -> bool {
        Full::fits(t) || Narrow::new(hessian, t).is_some()
    }

    /// M for this Θ; false where it is not positive definite.
    pub fn prepare(&mut self, theta: &[f64]) -> bool {
        match self {
            Self::Narrow(narrow) => narrow.prepare(theta),
            Self::Full(full) => full.prepare(theta),
        }
    }

    /// v ← M⁻¹v.
    pub fn solve(&mut self, v: &mut [f64]) {
        match self {
            Self::Narrow(narrow) => narrow.cholesky.solve(v),
            Self::Full(full) => f64::solve_columns(&full.factor, v.len(), v),
        }
    }
}

/// M as LDLᵀ on one pattern.
pub(crate) struct Narrow {
    cholesky: Box<SparseCholesky>,
    /// The entries of H.
    h: Vec<f64>,
    products: Products,
}

impl Narrow {
    fn new<S: Real>(hessian: &Quadratic<'_, S>, t: &dyn LinOp<S>) -> Option<Self> {
        let (cholesky, h, products) = factored::with_products(hessian, t)?;
        Some(Self { cholesky: Box::new(cholesky), h, products })
    }

    fn prepare(&mut self, theta: &[f64]) -> bool {
        let Self { cholesky, h, products } = self;
        cholesky.factor(|at| h[at] + products.of(at).iter().map(|&(row, v)| theta[row] * v).sum::<f64>());
        true
    }
}

/// M as a full matrix.
pub(crate) struct Full {
    n: usize,
    h: Vec<f64>,
    /// T, and Θ^½T, row by row.
    t: Vec<f64>,
    scaled: Vec<f64>,
    factor: Vec<f64>,
    work: Vec<f64>,
}

impl Full {
    fn fits<S: Real>(t: &dyn LinOp<S>) -> bool {
        let (n, m) = (t.domain().size(), t.range().size());
        n <= decomposed::LARGEST && n * n * (m + n) <= WORK
    }

    fn new<S: Real>(hessian: &Quadratic<'_, S>, t: &dyn LinOp<S>) -> Option<Self> {
        let (n, m) = (t.domain().size(), t.range().size());
        let h = match hessian {
            _ if !Self::fits(t) => return None,
            Quadratic::Constant(c) => (0..n * n).map(|at| if at % (n + 1) == 0 { *c } else { 0.0 }).collect(),
            Quadratic::Normal(c, a) => normal(*a, *c),
            Quadratic::Full(h) => h.clone(),
        };
        let (mut unit, mut image, mut work) = (vec![S::ZERO; n], vec![S::ZERO; m], vec![S::ZERO; t.work_len()]);
        let mut rows = vec![0.0; m * n];
        for j in 0..n {
            unit[j] = S::ONE;
            t.apply(&mut image, &unit, &mut work);
            unit[j] = S::ZERO;
            rows.iter_mut().skip(j).step_by(n).zip(&image).for_each(|(entry, v)| *entry = v.f64());
        }
        let work = vec![0.0; f64::positive_definite_work_len(n)];
        Some(Self { n, h, scaled: rows.clone(), t: rows, factor: vec![0.0; n * n], work })
    }

    fn prepare(&mut self, theta: &[f64]) -> bool {
        let Self { n, h, t, scaled, factor, work } = self;
        for ((scaled, t), theta) in scaled.chunks_mut(*n).zip(t.chunks(*n)).zip(theta) {
            let root = theta.sqrt();
            scaled.iter_mut().zip(t).for_each(|(scaled, t)| *scaled = t * root);
        }
        f64::gram(factor, Mat::new(scaled, theta.len(), *n));
        factor.iter_mut().zip(h).for_each(|(m, h)| *m += *h);
        let ridge = RIDGE * factor.iter().step_by(*n + 1).fold(0.0, |most: f64, m| most.max(*m));
        factor.iter_mut().step_by(*n + 1).for_each(|m| *m += ridge);
        f64::positive_definite(factor, *n, work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Dense as Matrix, Sparse};
    use crate::seeded::Seeded;

    /// Second differences, as a matrix with few entries and as one with all of them, under weights of many sizes.
    #[test]
    fn both_are_the_same_inverse() {
        let n = 30;
        let triplets = (0..n - 2).flat_map(|i| [(i, i, 1.0), (i, i + 1, -2.0), (i, i + 2, 1.0)]);
        let sparse = Sparse::from_triplets(n - 2, n, triplets).unwrap();
        let hessian = || Quadratic::<f64>::Constant(2.0);
        let mut narrow = Weighted::Narrow(Narrow::new(&hessian(), &sparse).unwrap());
        let mut full = Weighted::Full(Full::new(&hessian(), &sparse as &dyn LinOp<f64>).unwrap());
        let v: Vec<f64> = Seeded::new(1).normals(n);
        for seed in 2..5 {
            let theta: Vec<f64> = Seeded::new(seed).normals::<f64>(n - 2).iter().map(|v| (3.0 * v).exp()).collect();
            let (mut a, mut b) = (v.clone(), v.clone());
            assert!(narrow.prepare(&theta) && full.prepare(&theta));
            narrow.solve(&mut a);
            full.solve(&mut b);
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?} {b:?}");
        }
        let dense = Matrix::new(Seeded::new(9).normals(200 * 100), 200, 100).unwrap();
        assert!(matches!(Weighted::new(&Quadratic::<f64>::Constant(0.0), &dense), Some(Weighted::Full(_))));
    }
}
