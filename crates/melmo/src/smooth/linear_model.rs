//! f(x) = H(Ax + o): what all regressions share.

use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;
use crate::real::Real;
use crate::smooth::sampled::{has_rows, longest_row, rows_bound, rows_grad};
use crate::smooth::{Form, Kind, Link, Responses, Rounding, Sampled, Smooth};
use crate::vector::norm2;

/// f(x) = H(Ax + o), the loss of a regression of the kind `K`: mostly Σᵢ wᵢ·h((Ax)ᵢ + oᵢ; bᵢ).
///
/// L_f = ‖A‖²·sup H″, from A's bound on its norm, where H″ is bounded.
pub struct LinearModel<S, K> {
    a: Box<dyn LinOp<S>>,
    rows: Responses<S>,
    /// The layout of x where a row has several outputs: a column each.
    matrix: Option<Layout>,
    /// The largest ‖aᵢ‖, once somebody has asked.
    longest: OnceLock<f64>,
    kind: PhantomData<fn() -> K>,
}

impl<S: Real, K> LinearModel<S, K> {
    /// A sum over rows, every weight 1 and every offset 0.
    pub(super) fn of(a: Box<dyn LinOp<S>>, target: Vec<S>, link: Link) -> Result<Self, Error> {
        Self::from_rows(a, Responses::new(target, link)?)
    }

    /// What the rows say H is, whatever the kind.
    pub fn from_rows(a: Box<dyn LinOp<S>>, rows: Responses<S>) -> Result<Self, Error> {
        Error::expect_len("b", a.range().size(), rows.count())?;
        let matrix = match rows.outputs() {
            1 => None,
            outputs => Some(Layout::matrix(a.domain().size(), outputs)?),
        };
        Ok(Self { a, rows, matrix, longest: OnceLock::new(), kind: PhantomData })
    }

    /// With weights wᵢ ≥ 0, not all 0.
    pub fn weighted(self, weights: Vec<S>) -> Result<Self, Error> {
        Ok(Self { rows: self.rows.weighted(weights)?, ..self })
    }

    /// With offsets oᵢ: what is known of Ax already.
    pub fn shifted(self, offset: Vec<S>) -> Result<Self, Error> {
        Ok(Self { rows: self.rows.shifted(offset)?, ..self })
    }

    /// y ← H′(y + o); returns H(y + o).
    fn differentiate(&self, y: &mut [S]) -> f64 {
        self.rows.shift(y);
        self.rows.slopes(y)
    }

    /// A sum over rows with one number each.
    fn is_row_by_row(&self) -> bool {
        self.matrix.is_none() && matches!(self.rows.kind(), Kind::Each(_))
    }

    /// What is known of the rows.
    pub fn rows(&self) -> &Responses<S> {
        &self.rows
    }
}

impl<S: Real, K> Smooth<S> for LinearModel<S, K> {
    fn layout(&self) -> &Layout {
        self.matrix.as_ref().unwrap_or(self.a.domain())
    }

    /// Ax, what A needs, and a column of a matrix x.
    fn work_len(&self) -> usize {
        let column = if self.matrix.is_some() { self.a.domain().size() } else { 0 };
        self.rows.outputs() * self.rows.count() + column + self.a.work_len()
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        let (count, outputs) = (self.rows.count(), self.rows.outputs());
        let (y, work) = work.split_at_mut(outputs * count);
        if self.matrix.is_none() {
            self.a.apply(y, x, work);
            let value = self.differentiate(y);
            grad.fill(S::ZERO);
            self.a.adjoint_add(grad, y, work);
            return value;
        }
        let (column, work) = work.split_at_mut(self.a.domain().size());
        for (k, y) in y.chunks_exact_mut(count).enumerate() {
            column.iter_mut().zip(x[k..].iter().step_by(outputs)).for_each(|(own, &x)| *own = x);
            self.a.apply(y, column, work);
        }
        let value = self.differentiate(y);
        for (k, y) in y.chunks_exact(count).enumerate() {
            column.fill(S::ZERO);
            self.a.adjoint_add(column, y, work);
            grad[k..].iter_mut().step_by(outputs).zip(&*column).for_each(|(grad, &own)| *grad = own);
        }
        value
    }

    fn lipschitz(&self) -> Option<f64> {
        let curvature = self.rows.curvature();
        curvature.is_finite().then(|| curvature * self.a.norm_bound().powi(2))
    }

    fn strong_convexity(&self) -> Option<f64> {
        Some(if self.rows.is_plain() && self.matrix.is_none() { self.a.lower_norm_bound().powi(2) } else { 0.0 })
    }

    fn is_convex(&self) -> bool {
        true
    }

    /// Every part is 0 at least, but for Cox: a weight w < 1 makes that of its row log w.
    fn lower_bound(&self) -> Option<f64> {
        let negative = matches!(self.rows.kind(), Kind::Cox(_)) && self.rows.weights().is_some();
        (!negative).then_some(0.0)
    }

    /// With A rounded to ϑ‖x‖ and H′ to a few units:
    ///
    /// ```text
    /// ‖δ(Ax)‖ ≤ ϑ‖x‖     ‖δH′‖ ≤ (sup H″)‖δ(Ax)‖ + 8ε‖H′‖     ‖δ∇f‖ ≤ ‖A‖‖δH′‖ + ϑ‖H′‖     |δf| ≤ ‖H′‖‖δ(Ax)‖ + 8εf
    /// ```
    fn rounding(&self, x: &[S], value: f64, _: &[S]) -> Rounding {
        self.rows.rounding(&*self.a, norm2(x), value)
    }

    fn sampled(&self) -> Option<&dyn Sampled<S>> {
        (has_rows(&*self.a) && self.is_row_by_row()).then_some(self)
    }

    fn form(&self) -> Form<'_, S> {
        let (operator, rows) = (&*self.a, &self.rows);
        if self.is_row_by_row() { Form::Linear { operator, rows } } else { Form::Coupled { operator, rows } }
    }
}

/// Its parts are the rows of A.
impl<S: Real, K> Sampled<S> for LinearModel<S, K> {
    fn samples(&self) -> usize {
        self.rows.count()
    }

    fn batch_grad(&self, grad: &mut [S], x: &[S], batch: &[usize], _: &mut [S]) {
        rows_grad(&*self.a, &self.rows, grad, x, batch);
    }

    /// The first call is a pass over A.
    fn part_bound(&self, x: &[S]) -> Option<f64> {
        let longest = *self.longest.get_or_init(|| longest_row(&*self.a));
        Some(rows_bound(&self.rows, longest, x)).filter(|bound| bound.is_finite())
    }
}
