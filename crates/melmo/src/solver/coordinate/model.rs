//! f(x) = Σᵢ hᵢ((Ax)ᵢ) while x changes entry by entry.

use std::sync::Arc;

use crate::error::Error;
use crate::real::Real;
use crate::smooth::{Form, Link, Smooth, linear_model};
use crate::solver::coordinate::Columns;

/// A linear model with Ax and h′(Ax) kept up to date.
pub(super) struct Model<S> {
    pub columns: Arc<Columns<S>>,
    target: Vec<S>,
    pub link: Link,
    /// Ax; not kept for squares, where h′ is Ax − b.
    y: Vec<S>,
    /// h′(Ax).
    slopes: Vec<S>,
    /// What `keep` stored.
    kept: [Vec<S>; 2],
}

impl<S: Real> Model<S> {
    /// Refuses a loss that is not a linear model.
    pub fn new(f: &dyn Smooth<S>, columns: Option<Arc<Columns<S>>>) -> Result<Self, Error> {
        let Form::Linear { operator, target, link } = f.form() else {
            let message = "coordinate descent needs a linear model: least squares, logistic or Huber regression";
            return Err(Error::Unsupported(message.into()));
        };
        let columns = match columns {
            Some(columns) => columns,
            None => Arc::new(Columns::of(operator)?),
        };
        let (rows, cols) = columns.shape();
        Error::expect_len("rows of the design", target.len(), rows)?;
        Error::expect_len("columns of the design", operator.domain().size(), cols)?;
        let zeros = || vec![S::ZERO; rows];
        Ok(Self { columns, target: target.to_vec(), link, y: zeros(), slopes: zeros(), kept: [zeros(), zeros()] })
    }

    /// Stands at x; returns f(x).
    pub fn stand(&mut self, x: &[S]) -> f64 {
        self.y.fill(S::ZERO);
        for (j, &v) in x.iter().enumerate().filter(|(_, v)| **v != S::ZERO) {
            self.columns.axpy(j, v.f64(), &mut self.y);
        }
        self.slopes.copy_from_slice(&self.y);
        linear_model::slopes(&mut self.slopes, &self.target, self.link)
    }

    /// f at the current point; h′ becomes what it is there.
    pub fn value(&mut self) -> f64 {
        match self.link {
            Link::Squares => 0.5 * crate::vector::norm2_squared(&self.slopes),
            link => {
                self.slopes.copy_from_slice(&self.y);
                linear_model::slopes(&mut self.slopes, &self.target, link)
            }
        }
    }

    /// h′(Ax).
    pub fn slopes(&self) -> &[S] {
        &self.slopes
    }

    /// weights ← h″(Ax), but no less than a part of sup h″: a datum that is fitted well, or far away, keeps some curvature. Huber's h″
    /// jumps to 0 and back, that of the logistic loss goes there slowly, where classes can be told apart.
    pub fn bends(&self, weights: &mut [S]) {
        let least = S::of(if self.link == Link::Logistic { 1e-7 } else { 1e-3 });
        for (weight, &slope) in weights.iter_mut().zip(&self.slopes) {
            let bend = self.link.bend(slope);
            *weight = if bend > least { bend } else { least };
        }
    }

    /// f where Ax is what `keep` remembered, plus t·moved; h′ becomes what it is there. Not for squares.
    pub fn value_along(&mut self, moved: &[S], t: f64) -> f64 {
        let t = S::of(t);
        for ((y, &kept), &moved) in self.y.iter_mut().zip(&self.kept[0]).zip(moved) {
            *y = kept + t * moved;
        }
        self.value()
    }

    /// Rows of what a quadratic model needs: none where f is quadratic itself.
    pub fn newton_rows(&self) -> usize {
        if self.link == Link::Squares { 0 } else { self.target.len() }
    }

    /// ∂f/∂x_j.
    #[inline]
    pub fn partial(&self, j: usize) -> f64 {
        self.columns.dot(j, &self.slopes)
    }

    /// x_j ← x_j + t, of which only Ax has to know.
    pub fn shift(&mut self, j: usize, t: f64) {
        let Self { columns, target, link, y, slopes, .. } = self;
        if *link == Link::Squares {
            return columns.axpy(j, t, slopes);
        }
        columns.axpy(j, t, y);
        match columns.rows_of(j) {
            Some(rows) => rows.iter().for_each(|&i| slopes[i] = link.slope(y[i], target[i])),
            None => linear_model::slopes_of(slopes, y, target, *link),
        }
    }

    /// The first half of `shift`, when many entries change at once; `value` is the second.
    pub fn move_only(&mut self, j: usize, t: f64) {
        let moved = if self.link == Link::Squares { &mut self.slopes } else { &mut self.y };
        if t != 0.0 {
            self.columns.axpy(j, t, moved);
        }
    }

    /// Remembers the current point.
    pub fn keep(&mut self) {
        self.kept[0].copy_from_slice(&self.y);
        self.kept[1].copy_from_slice(&self.slopes);
    }

    /// Goes back to what `keep` remembered.
    pub fn go_back(&mut self) {
        self.y.copy_from_slice(&self.kept[0]);
        self.slopes.copy_from_slice(&self.kept[1]);
    }

    /// sup of the curvature of f along the entries: σ₁(A_c)²·sup h″.
    pub fn curvature(&mut self, entries: &[usize]) -> f64 {
        let Self { columns, kept, link, .. } = self;
        kept[0].fill(S::ZERO);
        let n = entries.len();
        let mut gram = vec![S::ZERO; n * n];
        let mut trace = 0.0;
        for (a, &i) in entries.iter().enumerate() {
            for (b, &j) in entries[..=a].iter().enumerate() {
                let product = columns.product(i, j, &mut kept[0]);
                (gram[a * n + b], gram[b * n + a]) = (S::of(product), S::of(product));
                trace += if a == b { product } else { 0.0 };
            }
        }
        let mut values = vec![S::ZERO; n];
        let mut work = vec![S::ZERO; S::eigenvalues_work_len(n)];
        let largest = match n {
            1 => trace,
            _ if S::eigenvalues(&mut values, &gram, n, &mut work) => values[n - 1].f64() + 8.0 * S::EPSILON * trace,
            _ => trace,
        };
        link.curvature() * largest
    }
}
