//! One look at (x, u, β): everything that a certificate speaks of, by the terms' plain methods.

use crate::certificate::rounding::{Allowance, product};
use crate::certificate::{Shown, Stationarity};
use crate::guarantee::Facts;
use crate::operator::Form;
use crate::patience;
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth::Rounding;
use crate::vector;

/// The dual side of a certificate at x: u in the range of T, absent where it is Tx itself, and β < 1/ρ.
///
/// Everything else follows from it: z = prox_{βg}(u) and w = (u − z)/β ∈ ∂g(z). Any w ∈ ∂g(z) can be shown so: u = z + βw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence<'a, S> {
    /// u; Tx where there is none.
    pub u: Option<&'a [S]>,
    /// β.
    pub beta: f64,
}

impl<'u, S: Real> Evidence<'u, S> {
    /// u = Tx: what a method that smooths shows.
    pub fn smoothed(beta: f64) -> Self {
        Self { u: None, beta }
    }

    /// u ← z + βw for w = scaled/step ∈ ∂g(z): prox_{βg}(u) = z for any β < 1/ρ, whatever the step is.
    pub fn of_pair(problem: &Problem<S>, u: &'u mut [S], z: &[S], scaled: &[S], step: f64) -> Self {
        let largest = [vector::norm_inf(z), vector::norm_inf(scaled) / step];
        let beta = Shown::of_pair(largest, problem.beta_limit()).beta;
        let factor = beta / step;
        for ((u, &z), &scaled) in u.iter_mut().zip(z).zip(scaled) {
            *u = S::of(z.f64() + factor * scaled.f64());
        }
        Self { u: Some(u), beta }
    }
}

/// Room for z, w and v = ∇f(x) + T*w, so that looking again allocates nothing.
pub(crate) struct Look<S> {
    /// ∇f(x), then v.
    pub v: Vec<S>,
    /// T*w.
    pulled: Vec<S>,
    /// Tx.
    tx: Vec<S>,
    /// z.
    pub z: Vec<S>,
    /// w.
    pub w: Vec<S>,
    pub work: Vec<S>,
}

/// What one look at (x, u, β) saw. Norms are ℓ2.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// β.
    pub beta: f64,
    /// u was stored, and is not a computed Tx.
    pub stored: bool,
    /// f(x).
    pub f: f64,
    /// g(z).
    pub at_z: f64,
    /// g(Tx).
    pub at_tx: f64,
    /// ⟨w, Tx − z⟩.
    pub overlap: f64,
    /// ‖∇f(x)‖.
    pub of_f: f64,
    /// ‖T*w‖.
    pub of_g: f64,
    /// ‖v‖.
    pub of_sum: f64,
    /// ‖Tx − z‖.
    pub prox_gap: f64,
    /// ‖x‖.
    pub x_norm: f64,
    /// ‖Tx‖.
    pub tx_norm: f64,
    /// ‖u‖.
    pub u_norm: f64,
    /// ‖w‖.
    pub w_norm: f64,
    /// What rounding can have done to f and ∇f.
    pub rounding: Rounding,
}

impl Seen {
    /// What a look saw that was given up.
    const NOTHING: Self = Self {
        beta: f64::NAN,
        stored: false,
        f: f64::NAN,
        at_z: f64::NAN,
        at_tx: f64::NAN,
        overlap: f64::NAN,
        of_f: f64::NAN,
        of_g: f64::NAN,
        of_sum: f64::NAN,
        prox_gap: f64::NAN,
        x_norm: f64::NAN,
        tx_norm: f64::NAN,
        u_norm: f64::NAN,
        w_norm: f64::NAN,
        rounding: Rounding { value: f64::INFINITY, grad: f64::INFINITY },
    };

    /// F(x); ∞ outside the domain of g.
    pub fn objective(&self) -> f64 {
        self.f + self.at_tx
    }

    /// Whether rounding of w is more than a hundredth of what is left of v.
    pub fn shows_rounding<S: Real>(&self, facts: &Facts) -> bool {
        Allowance::new::<S>(facts, self).v > 0.01 * self.of_sum
    }

    /// What w ∈ ∂g(z) promises of g(Tx), that it is at least g(z) + ⟨w, Tx − z⟩ − ρ/2·‖Tx − z‖², and room: for rounding, and for a prox
    /// of the user's own that is computed to a tolerance.
    pub fn promise<S: Real>(&self, facts: &Facts) -> (f64, f64) {
        let bent = 0.5 * product(facts.rho, self.prox_gap * self.prox_gap);
        let at = if self.at_tx.is_finite() { self.at_tx.abs() } else { 0.0 };
        let sizes = self.at_z.abs() + self.overlap.abs() + bent + at;
        // Below the least of numbers each entry of u, z and w may be lost.
        let lost = facts.numerics.range as f64 * S::SMALLEST * (1.0 + self.w_norm);
        let inexact = if S::EPSILON > 1e-10 { 1e-3 } else { 1e-5 };
        let room = 8.0 * Allowance::new::<S>(facts, self).value + inexact * (sizes + self.f.abs()) + lost;
        (self.at_z + self.overlap - bent, room)
    }

    /// Whether that is kept. It is not where w is no subgradient: the prox is not that of g, or ρ is too small. Of numbers that leave
    /// their range nothing is known.
    pub fn keeps_promise<S: Real>(&self, facts: &Facts) -> bool {
        let (least, room) = self.promise::<S>(facts);
        (least - room).partial_cmp(&self.at_tx) != Some(std::cmp::Ordering::Greater)
    }

    /// How much of it is broken all the same, but for rounding: what a gap has to bear.
    pub fn broken<S: Real>(&self, facts: &Facts) -> f64 {
        let (least, _) = self.promise::<S>(facts);
        let excess = least - self.at_tx - 8.0 * Allowance::new::<S>(facts, self).value;
        if excess > S::EPSILON.sqrt() * (self.at_z.abs() + self.at_tx.abs() + self.f.abs()) { excess } else { 0.0 }
    }

    /// Whether everything that a certificate needs is a number.
    pub fn is_finite(&self) -> bool {
        [self.f, self.of_sum, self.prox_gap, self.x_norm, self.u_norm].iter().all(|number| number.is_finite())
    }
}

impl<S: Real> Look<S> {
    pub fn new(problem: &Problem<S>) -> Self {
        let (f, g, t) = (problem.f(), problem.g(), problem.t());
        let (n, m) = (problem.layout().size(), t.range().size());
        let zeros = |len: usize| vec![S::ZERO; len];
        Self {
            v: zeros(n),
            pulled: zeros(n),
            tx: zeros(m),
            z: zeros(m),
            w: zeros(m),
            work: zeros(f.work_len().max(g.work_len()).max(t.work_len())),
        }
    }

    /// Evaluates everything at x. Where the caller's patience is over before that is done, nothing was seen: all is NaN.
    pub fn take(&mut self, problem: &Problem<S>, x: &[S], evidence: Evidence<'_, S>) -> Seen {
        let (beta, stored) = (evidence.beta, evidence.u.is_some());
        self.in_time(problem, x, evidence).unwrap_or(Seen { beta, stored, ..Seen::NOTHING })
    }

    /// Pass after pass, as long as there is time for another.
    fn in_time(&mut self, problem: &Problem<S>, x: &[S], evidence: Evidence<'_, S>) -> Option<Seen> {
        let goes_on = || (!patience::is_over()).then_some(());
        let (f, g, t) = (problem.f(), problem.g(), problem.t());
        let Self { v, pulled, tx, z, w, work } = self;
        let beta = evidence.beta;
        goes_on()?;
        t.apply(tx, x, work);
        goes_on()?;
        let u = evidence.u.unwrap_or(tx);
        let at_z = g.prox(z, u, beta, work);
        goes_on()?;
        let (mut overlap, mut gap_squared) = (0.0, 0.0);
        for (((w, &u), &z), &tx) in w.iter_mut().zip(u).zip(&*z).zip(&*tx) {
            *w = S::of((u.f64() - z.f64()) / beta);
            let apart = tx.f64() - z.f64();
            overlap += w.f64() * apart;
            gap_squared += apart * apart;
        }
        let (tx_norm, u_norm, w_norm) = (vector::norm2(tx), vector::norm2(u), vector::norm2(w));
        goes_on()?;
        let at_tx = g.value(tx, work);
        goes_on()?;
        pulled.fill(S::ZERO);
        t.adjoint_add(pulled, w, work);
        goes_on()?;
        let f_x = f.value_grad(v, x, work);
        let rounding = f.rounding(x, f_x, v);
        let (of_f, of_g) = (vector::norm2(v), vector::norm2(pulled));
        vector::axpy(v, 1.0, pulled);
        Some(Seen {
            beta,
            stored: evidence.u.is_some(),
            f: f_x,
            at_z,
            at_tx,
            overlap,
            of_f,
            of_g,
            of_sum: vector::norm2(v),
            prox_gap: gap_squared.sqrt(),
            x_norm: vector::norm2(x),
            tx_norm,
            u_norm,
            w_norm,
            rounding,
        })
    }

    /// x̃ = x + R(z − Tx) for surjective T, with what holds there; uses up z − Tx, so it comes last.
    pub fn near(&mut self, problem: &Problem<S>, x: &[S]) -> Option<Stationarity<S>> {
        let (f, t) = (problem.f(), problem.t());
        let inverse = t.right_inverse()?;
        let Self { v, pulled, tx, z, work, .. } = self;
        let mut point = vec![S::ZERO; x.len()];
        tx.iter_mut().zip(&*z).for_each(|(tx, &z)| *tx = z - *tx);
        inverse.right_inverse(&mut point, tx, work);
        let distance = vector::norm2(&point);
        vector::axpy(&mut point, 1.0, x);
        place(t.form(), &mut point, z);
        t.apply(tx, &point, work);
        let residual = tx.iter().zip(&*z).map(|(a, b)| (a.f64() - b.f64()).powi(2)).sum::<f64>().sqrt();
        f.value_grad(v, &point, work);
        vector::axpy(v, 1.0, pulled);
        let bound = vector::norm2(v);
        // An inverse may lead out of the range of numbers: then there is no such point.
        let there = [distance, bound, residual].iter().all(|number| number.is_finite());
        (there && point.iter().all(|v| v.is_finite())).then_some(Stationarity {
            point,
            distance,
            bound,
            residual: Some(residual),
        })
    }
}

/// Where T picks entries, x̃ has z in them to the last bit: x + (z − x) may miss it by one, and a box is left by that.
fn place<S: Real>(form: Form<'_, S>, point: &mut [S], z: &[S]) {
    match form {
        Form::Identity => point.copy_from_slice(z),
        Form::Select(select) => select.pairs().for_each(|(in_x, in_z)| point[in_x].copy_from_slice(&z[in_z])),
        Form::Sample(places) => places.iter().zip(z).for_each(|(&place, &z)| point[place] = z),
        _ => {}
    }
}
