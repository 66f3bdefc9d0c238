//! F(x) = f(x) + g(Tx): the three terms, checked once against one another, and everything that is evaluated of them.

use std::ops::Range;

use crate::block::Layout;
use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{Geometry, Inexactness, product_dual_growth};
use crate::guarantee::{Facts, Numerics, beta_limit, check_beta};
use crate::operator::{Form, LinOp};
use crate::penalty::Prox;
use crate::real::Real;
use crate::smooth::Smooth;
use crate::stream::Stream;

/// minimise f(x) + g(Tx).
pub struct Problem<S> {
    f: Box<dyn Smooth<S>>,
    g: Box<dyn Prox<S>>,
    t: Box<dyn LinOp<S>>,
    streamed: bool,
    within: Option<Range<usize>>,
}

/// What one evaluation of the smoothed objective finds besides its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// f(x).
    pub f: f64,
    /// ‖∇g_β(Tx)‖₂², so that ‖Tx − z‖₂ = β·√slope_squared.
    pub slope_squared: f64,
    /// ‖∇F_β(x)‖₂², where it was summed on the way.
    pub squared: Option<f64>,
}

impl<S: Real> Problem<S> {
    /// Refuses terms whose sizes do not fit together.
    pub fn new(
        f: impl Smooth<S> + 'static,
        g: impl Prox<S> + 'static,
        t: impl LinOp<S> + 'static,
    ) -> Result<Self, Error> {
        Self::from_boxes(Box::new(f), Box::new(g), Box::new(t))
    }

    /// The same, of terms that are boxed already.
    pub fn from_boxes(f: Box<dyn Smooth<S>>, g: Box<dyn Prox<S>>, t: Box<dyn LinOp<S>>) -> Result<Self, Error> {
        Error::expect_len("the operator T takes the loss's variable", f.layout().size(), t.domain().size())?;
        Error::expect_len("the penalty g takes the operator's range", t.range().size(), g.size())?;
        let rho = g.weak_convexity();
        Error::expect_parameter(
            "rho",
            rho,
            rho >= 0.0 && rho.is_finite(),
            "finite and at least 0: g must be weakly convex",
        )?;
        Ok(Self { f, g, t, streamed: true, within: None })
    }

    /// The same problem, with g∘T always evaluated by calling T, g and T* one after another: the plain reading of the
    /// formulas, for comparisons and tests.
    pub fn chained(mut self) -> Self {
        self.streamed = false;
        self
    }

    /// The same problem of an image, of which these rows alone are evaluated where that takes one pass over memory: gradients are
    /// written there, and sums are theirs. Rows beyond them are read where differences reach, and are somebody else's: a rank holds
    /// a part of an image and the rows beside it. The terms themselves still speak of all rows. Refuses terms that take more than one
    /// pass, and rows that are not there.
    pub fn within(mut self, rows: Range<usize>) -> Result<Self, Error> {
        let Form::Difference2d(t) = self.t.form() else {
            return Err(Error::Unsupported("rows of their own have the differences of an image alone".into()));
        };
        let fits = rows.start <= rows.end && rows.end <= t.shape().0;
        if !fits || self.f.pointwise().is_none() || self.g.streamed().is_none() || !self.streamed {
            let message = format!("rows {}–{} of an image of {} in one pass", rows.start, rows.end, t.shape().0);
            return Err(Error::Unsupported(message));
        }
        self.within = Some(rows);
        Ok(self)
    }

    /// The rows that are evaluated, where they are not all.
    pub fn rows_within(&self) -> Option<Range<usize>> {
        self.within.clone()
    }

    /// The smooth loss.
    pub fn f(&self) -> &dyn Smooth<S> {
        &*self.f
    }

    /// The penalty.
    pub fn g(&self) -> &dyn Prox<S> {
        &*self.g
    }

    /// The operator.
    pub fn t(&self) -> &dyn LinOp<S> {
        &*self.t
    }

    /// The blocks of x.
    pub fn layout(&self) -> &Layout {
        self.f.layout()
    }

    /// What the theorems ask about this problem, for steps in ‖·‖₂ by an exact oracle.
    pub fn facts(&self) -> Facts {
        Facts {
            rho: self.g.weak_convexity(),
            lipschitz_g: self.g.lipschitz(),
            lipschitz_f: self.f.lipschitz(),
            operator_squared: self.t.norm_bound().powi(2),
            surjective: self.t.right_inverse().is_some(),
            infimum: self.f.lower_bound(),
            start: None,
            oracle: Some(Inexactness::NONE),
            numerics: Numerics {
                operator_norm: self.t.norm_bound(),
                of_operator: self.t.rounding(),
                of_prox: self.g.rounding(),
                size: self.layout().size(),
                range: self.t.range().size(),
            },
        }
    }

    /// The same for steps in another geometry: with ‖·‖₂ ≤ c‖·‖, L_f and ‖T‖² count c² times.
    pub fn facts_in(&self, geometry: &dyn Geometry<S>) -> Facts {
        let facts = self.facts();
        let squared = product_dual_growth(&geometry.norms()).map(|c| c * c);
        Facts {
            lipschitz_f: facts.lipschitz_f.zip(squared).map(|(lipschitz, squared)| lipschitz * squared),
            operator_squared: squared.unwrap_or(f64::INFINITY) * facts.operator_squared,
            oracle: geometry.inexactness(),
            ..facts
        }
    }

    /// The largest β for which g_β is 1/β-smooth: 1/(2ρ), ∞ for convex g.
    pub fn beta_limit(&self) -> f64 {
        beta_limit(self.g.weak_convexity())
    }

    /// The β that solvers start from unless told otherwise: min(1, 1/(2ρ)).
    pub fn default_beta(&self) -> f64 {
        self.beta_limit().min(1.0)
    }

    /// Refuses β ≤ 0 and β > 1/(2ρ).
    pub fn check_beta(&self, beta: f64) -> Result<(), Error> {
        check_beta(beta, self.g.weak_convexity())
    }

    /// Refuses β ≤ 0, β ≥ 1/ρ (there the prox is not single-valued), and a u of the wrong length or with NaN or ∞ in it.
    pub fn check_evidence(&self, evidence: &Evidence<'_, S>) -> Result<(), Error> {
        let beta = Error::expect_positive("beta", evidence.beta)?;
        let single = beta * self.g.weak_convexity() < 1.0;
        Error::expect_parameter("beta", beta, single, "below 1/ρ of the penalty: there the prox has one answer")?;
        if let Some(u) = evidence.u {
            self.t.range().check("u", u)?;
            Error::expect_finite("u", u)?;
        }
        Ok(())
    }

    /// Refuses a start of the wrong length, or with NaN or ∞ in it.
    pub fn check_start(&self, x: &[S]) -> Result<(), Error> {
        self.layout().check("start", x)?;
        Error::expect_finite("start", x)
    }

    /// Scratch that the evaluations below need, in numbers. The terms run one after another and share it.
    pub fn work_len(&self) -> usize {
        match self.stream() {
            Some(pass) => self.terms_work_len() + pass.work_len(),
            None => self.chained_work_len(),
        }
    }

    /// What evaluations without a fused pass need.
    pub(crate) fn chained_work_len(&self) -> usize {
        2 * self.t.range().size() + self.terms_work_len()
    }

    /// What the terms themselves need.
    fn terms_work_len(&self) -> usize {
        self.f.work_len().max(self.t.work_len()).max(self.g.work_len())
    }

    /// The fused pass, where the three terms allow one.
    fn stream(&self) -> Option<Stream<'_, S>> {
        if self.streamed { Stream::new(&*self.f, &*self.g, &*self.t, self.within.clone()) } else { None }
    }

    /// grad ← ∇F_β(x) = ∇f(x) + T*∇g_β(Tx).
    pub fn smoothed_gradient(&self, grad: &mut [S], x: &[S], beta: f64, work: &mut [S]) -> Evaluation {
        if let Some(stream) = self.stream() {
            let (terms, rows) = work.split_at_mut(self.terms_work_len());
            let rest = if stream.has_loss() { 0.0 } else { self.f.value_grad(grad, x, terms) };
            let found = stream.smoothed_gradient_add(grad, x, beta, rows);
            return Evaluation { f: found.f + rest, ..found };
        }
        let m = self.t.range().size();
        let (tx, work) = work.split_at_mut(m);
        let (u, work) = work.split_at_mut(m);
        let f = self.f.value_grad(grad, x, work); // ∇f(x)
        self.t.apply(tx, x, work); // Tx
        let slope_squared = self.g.slopes(u, tx, beta, work); // u = ∇g_β(Tx)
        self.t.adjoint_add(grad, u, work); // ∇F_β(x) = ∇f(x) + T*u
        Evaluation { f, slope_squared, squared: None }
    }

    /// φ ← φ + T*∇g_β(Tx) by the plain formulas, with scratch of [`Problem::chained_work_len`]; returns ‖∇g_β(Tx)‖₂².
    pub(crate) fn penalty_gradient_add(&self, phi: &mut [S], x: &[S], beta: f64, work: &mut [S]) -> f64 {
        let m = self.t.range().size();
        let (tx, work) = work.split_at_mut(m);
        let (u, work) = work.split_at_mut(m);
        self.t.apply(tx, x, work);
        let slope_squared = self.g.slopes(u, tx, beta, work);
        self.t.adjoint_add(phi, u, work);
        slope_squared
    }

    /// y ← x + aφ and φ ← ∇F_β(y) in one pass over memory, where the terms allow one.
    pub fn smoothed_gradient_after(
        &self,
        [y, phi]: [&mut [S]; 2],
        x: &[S],
        a: f64,
        beta: f64,
        work: &mut [S],
    ) -> Option<Evaluation> {
        self.stream()?.smoothed_gradient_after([y, phi], x, a, beta, &mut work[self.terms_work_len()..])
    }

    /// g_β(Tx).
    pub fn envelope(&self, x: &[S], beta: f64, work: &mut [S]) -> f64 {
        if let Some(stream) = self.stream() {
            return stream.penalty(x, Some(beta), work);
        }
        let m = self.t.range().size();
        let (tx, work) = work.split_at_mut(m);
        let (u, work) = work.split_at_mut(m);
        self.t.apply(tx, x, work);
        self.g.moreau(u, tx, beta, work).value
    }

    /// g(Tx).
    pub fn penalty(&self, x: &[S], work: &mut [S]) -> f64 {
        if let Some(stream) = self.stream() {
            return stream.penalty(x, None, work);
        }
        if matches!(self.t.form(), Form::Identity) {
            return self.g.value(x, work);
        }
        let (tx, work) = work.split_at_mut(self.t.range().size());
        self.t.apply(tx, x, work);
        self.g.value(tx, work)
    }

    /// grad ← ∇f(x) + T*v with v ∈ ∂g(Tx), and Tx and v themselves; returns F(x).
    pub fn subgradient(&self, grad: &mut [S], x: &[S], [tx, v]: [&mut [S]; 2], work: &mut [S]) -> f64 {
        let f = self.f.value_grad(grad, x, work);
        self.t.apply(tx, x, work);
        let g = self.g.subgradient(v, tx, work);
        self.t.adjoint_add(grad, v, work);
        f + g
    }

    /// F(x), by the plain formulas. Allocates: for use outside iterations.
    pub fn objective(&self, x: &[S]) -> f64 {
        let mut grad = vec![S::ZERO; x.len()];
        let mut work = vec![S::ZERO; self.work_len()];
        self.f.value_grad(&mut grad, x, &mut work) + self.penalty(x, &mut work)
    }

    /// Tx. Allocates: for use outside iterations.
    pub fn image(&self, x: &[S]) -> Vec<S> {
        let (mut tx, mut work) = (vec![S::ZERO; self.t.range().size()], vec![S::ZERO; self.t.work_len()]);
        self.t.apply(&mut tx, x, &mut work);
        tx
    }

    /// z = prox_{βg}(u) of a certificate at x, by the plain formulas. Allocates: for use outside iterations.
    pub fn prox_point(&self, x: &[S], evidence: Evidence<'_, S>) -> Vec<S> {
        let tx = self.image(x);
        let (mut z, mut work) = (vec![S::ZERO; tx.len()], vec![S::ZERO; self.g.work_len()]);
        self.g.prox(&mut z, evidence.u.unwrap_or(&tx), evidence.beta, &mut work);
        z
    }
}
