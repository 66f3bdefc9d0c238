//! f(x) = H(Ax + o) while x changes entry by entry.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::real::Real;
use crate::smooth::{Form, Kind, Responses, Smooth};
use crate::solver::coordinate::Columns;

/// A linear model with y = Ax + o and H′(y) kept up to date.
pub(super) struct Model<'d, S: Clone> {
    pub columns: Arc<Columns<'d, S>>,
    rows: Responses<S>,
    /// y; not kept for plain squares, where H′ is y − b.
    y: Vec<S>,
    /// H′(y).
    slopes: Vec<S>,
    /// What `keep` stored.
    kept: [Vec<S>; 2],
}

impl<'d, S: Real> Model<'d, S> {
    /// Refuses a loss that is not a linear model.
    pub fn of(f: &dyn Smooth<S>, columns: Option<Arc<Columns<'d, S>>>) -> Result<Self, Error> {
        let (Form::Linear { operator, rows } | Form::Coupled { operator, rows }) = f.form() else {
            let message = "coordinate descent needs a linear model: least squares, logistic or another regression";
            return Err(Error::Unsupported(message.into()));
        };
        let columns = match columns {
            Some(columns) => columns,
            None => Arc::new(Columns::of(operator)?),
        };
        Error::expect_len("columns of the design", operator.domain().size(), columns.shape().1)?;
        Self::new(columns, rows.clone())
    }

    pub fn new(columns: Arc<Columns<'d, S>>, rows: Responses<S>) -> Result<Self, Error> {
        Error::expect_len("rows of the design", rows.count(), columns.shape().0)?;
        let zeros = || vec![S::ZERO; rows.outputs() * rows.count()];
        Ok(Self { columns, y: zeros(), slopes: zeros(), kept: [zeros(), zeros()], rows })
    }

    /// Entries of x: one a column, or one a column and output.
    pub fn size(&self) -> usize {
        self.rows.outputs() * self.columns.shape().1
    }

    /// The column of entry e of x, and the stretch of y that it acts on.
    #[inline(always)]
    fn place(&self, e: usize) -> (usize, Range<usize>) {
        let (outputs, count) = (self.rows.outputs(), self.rows.count());
        if outputs == 1 { (e, 0..count) } else { (e / outputs, e % outputs * count..(e % outputs + 1) * count) }
    }

    /// ⟨a_e, r⟩.
    #[inline]
    pub fn dot(&self, e: usize, r: &[S]) -> f64 {
        let (j, span) = self.place(e);
        self.columns.dot(j, &r[span])
    }

    /// y ← y + t·a_e.
    #[inline]
    pub fn add(&self, e: usize, t: f64, y: &mut [S]) {
        let (j, span) = self.place(e);
        self.columns.axpy(j, t, &mut y[span]);
    }

    /// y ← y + t·w⊙a_e.
    #[inline]
    pub fn add_weighted(&self, e: usize, t: f64, w: &[S], y: &mut [S]) {
        let (j, span) = self.place(e);
        self.columns.axpy_weighted(j, t, &w[span.clone()], &mut y[span]);
    }

    /// Σ wᵢ(a_e)ᵢ².
    pub fn weighted_square(&self, e: usize, w: &[S]) -> f64 {
        let (j, span) = self.place(e);
        self.columns.weighted_square(j, &w[span])
    }

    /// Stands at x; returns f(x).
    pub fn stand(&mut self, x: &[S]) -> f64 {
        let mut y = std::mem::take(&mut self.y);
        self.rows.start(&mut y);
        for (e, &v) in x.iter().enumerate().filter(|(_, v)| **v != S::ZERO) {
            self.add(e, v.f64(), &mut y);
        }
        self.y = y;
        self.slopes.copy_from_slice(&self.y);
        self.rows.slopes(&mut self.slopes)
    }

    /// f is quadratic along every entry, and H′(y) is y − b.
    pub fn is_plain(&self) -> bool {
        self.rows.is_plain()
    }

    /// f at the current point; H′ becomes what it is there.
    pub fn value(&mut self) -> f64 {
        if self.is_plain() {
            return 0.5 * crate::vector::norm2_squared(&self.slopes);
        }
        self.slopes.copy_from_slice(&self.y);
        self.rows.slopes(&mut self.slopes)
    }

    /// H′(y).
    pub fn slopes(&self) -> &[S] {
        &self.slopes
    }

    /// bends ← H″(y), or a little more.
    pub fn bends(&self, bends: &mut [S]) {
        self.rows.bends(bends, &self.slopes, &self.y);
    }

    /// f where y is what `keep` remembered, plus t·moved; H′ becomes what it is there. Not for plain squares.
    pub fn value_along(&mut self, moved: &[S], t: f64) -> f64 {
        let t = S::of(t);
        for ((y, &kept), &moved) in self.y.iter_mut().zip(&self.kept[0]).zip(moved) {
            *y = kept + t * moved;
        }
        self.value()
    }

    /// Responses of what a quadratic model needs: none where f is quadratic itself.
    pub fn newton_rows(&self) -> usize {
        if self.is_plain() { 0 } else { self.y.len() }
    }

    /// ∂f/∂x_e.
    #[inline]
    pub fn partial(&self, e: usize) -> f64 {
        self.dot(e, &self.slopes)
    }

    /// ∂f/∂x_e and ‖a_e‖².
    pub fn partial_and_square(&self, e: usize) -> (f64, f64) {
        let (j, span) = self.place(e);
        self.columns.dot_and_square(j, &self.slopes[span])
    }

    /// x_e ← x_e + t, of which only y has to know.
    pub fn shift(&mut self, e: usize, t: f64) {
        let (j, span) = self.place(e);
        if self.is_plain() {
            return self.columns.axpy(j, t, &mut self.slopes[span]);
        }
        let first = span.start;
        let Self { columns, rows, y, slopes, .. } = self;
        columns.axpy(j, t, &mut y[span]);
        match columns.rows_of(j).filter(|_| matches!(rows.kind(), Kind::Each(_))) {
            Some(places) => places.iter().map(|i| first + i).for_each(|i| slopes[i] = rows.slope(i, y[i])),
            None => rows.slopes_of(slopes, y),
        }
    }

    /// The first half of `shift`, when many entries change at once; `value` is the second.
    pub fn move_only(&mut self, e: usize, t: f64) {
        let (j, span) = self.place(e);
        let moved = if self.rows.is_plain() { &mut self.slopes } else { &mut self.y };
        if t != 0.0 {
            self.columns.axpy(j, t, &mut moved[span]);
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

    /// sup H″, or where there is none its largest diagonal entry at the current point.
    pub fn curvature(&mut self) -> f64 {
        let most = self.rows.curvature();
        if most.is_finite() {
            return most;
        }
        let Self { rows, kept: [bends, _], slopes, y, .. } = self;
        rows.bends(bends, slopes, y);
        crate::vector::norm_inf(bends)
    }

    /// H″ is bounded.
    pub fn is_bounded(&self) -> bool {
        self.rows.curvature().is_finite()
    }

    /// σ₁(A_c)² for the entries of a unit. Those of different outputs are orthogonal.
    pub fn square(&self, entries: &[usize]) -> f64 {
        let mut scratch = vec![S::ZERO; self.rows.count()];
        let n = entries.len();
        let mut gram = vec![S::ZERO; n * n];
        let mut trace = 0.0;
        for (a, &i) in entries.iter().enumerate() {
            for (b, &j) in entries[..=a].iter().enumerate() {
                let ((i, own), (j, other)) = (self.place(i), self.place(j));
                let product = if own == other { self.columns.product(i, j, &mut scratch) } else { 0.0 };
                (gram[a * n + b], gram[b * n + a]) = (S::of(product), S::of(product));
                trace += if a == b { product } else { 0.0 };
            }
        }
        let mut values = vec![S::ZERO; n];
        let mut work = vec![S::ZERO; S::eigenvalues_work_len(n)];
        match S::eigenvalues(&mut values, &gram, n, &mut work) {
            true => values[n - 1].f64() + 8.0 * S::EPSILON * trace,
            false => trace,
        }
    }
}
