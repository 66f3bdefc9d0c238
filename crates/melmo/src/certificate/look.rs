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

/// Room for z, w and v = ∇f(x) + T*w, so that looking again allocates nothing. Where T is the identity Tx is x, and T*w is w, which is
/// not kept: u and z say what it is. Such points may be as large as memory allows.
pub(crate) struct Look<S> {
    /// ∇f(x), then v.
    pub v: Vec<S>,
    /// z.
    pub z: Vec<S>,
    /// Tx, w and T*w; nothing where T is the identity.
    tx: Vec<S>,
    w: Vec<S>,
    pulled: Vec<S>,
    /// The β of the last look.
    beta: f64,
    pub work: Vec<S>,
}

/// w, of an entry of u and of z: an element of ∂g(z).
fn slope<S: Real>(u: S, z: S, beta: f64) -> S {
    S::of((u.f64() - z.f64()) / beta)
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
        let kept = usize::from(!is_identity(problem));
        Self {
            v: zeros(n),
            z: zeros(m),
            tx: zeros(kept * m),
            w: zeros(kept * m),
            pulled: zeros(kept * n),
            beta: f64::NAN,
            work: zeros(f.work_len().max(g.work_len()).max(t.work_len())),
        }
    }

    /// z, and the w of the last look, which u led to. It may be written where v was.
    pub fn pair(&mut self, u: &[S]) -> [&[S]; 2] {
        let Self { v, z, w, beta, .. } = self;
        if w.is_empty() {
            v.iter_mut().zip(u).zip(&*z).for_each(|((w, &u), &z)| *w = slope(u, z, *beta));
            return [z, v];
        }
        [z, w]
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
        let is_identity = is_identity(problem);
        let Self { v, z, tx, w, pulled, work, .. } = self;
        let beta = evidence.beta;
        self.beta = beta;
        z.resize(t.range().size(), S::ZERO);
        goes_on()?;
        if !is_identity {
            t.apply(tx, x, work);
        }
        let tx: &[S] = if is_identity { x } else { &tx[..] };
        goes_on()?;
        let u = evidence.u.unwrap_or(tx);
        let at_z = g.prox(z, u, beta, work);
        goes_on()?;
        let (mut overlap, mut gap_squared) = (0.0, 0.0);
        let slopes = if is_identity { &mut *v } else { &mut *w };
        for (((w, &u), &z), &tx) in slopes.iter_mut().zip(u).zip(&*z).zip(tx) {
            *w = slope(u, z, beta);
            let apart = tx.f64() - z.f64();
            overlap += w.f64() * apart;
            gap_squared += apart * apart;
        }
        let (tx_norm, u_norm, w_norm) = (vector::norm2(tx), vector::norm2(u), vector::norm2(slopes));
        goes_on()?;
        let at_tx = g.value(tx, work);
        goes_on()?;
        let mut of_g = w_norm;
        if !is_identity {
            pulled.fill(S::ZERO);
            t.adjoint_add(pulled, w, work);
            of_g = vector::norm2(pulled);
        }
        goes_on()?;
        let f_x = f.value_grad(v, x, work);
        let rounding = f.rounding(x, f_x, v);
        let of_f = vector::norm2(v);
        add_slopes(v, pulled, (u, z, beta));
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

    /// x̃ = x + R(z − Tx) for surjective T, with what holds there, for the u that was looked at; uses up z − Tx and v, so it comes last.
    pub fn near(&mut self, problem: &Problem<S>, x: &[S], u: &[S]) -> Option<Stationarity<S>> {
        let (f, t) = (problem.f(), problem.t());
        let inverse = t.right_inverse()?;
        let Self { v, z, tx, pulled, work, .. } = self;
        let (distance, residual, point);
        if is_identity(problem) {
            v.iter_mut().zip(&*z).zip(x).for_each(|((v, &z), &x)| *v = z - x);
            (distance, residual, point) = (vector::norm2(v), 0.0, z.clone());
        } else {
            let mut there = vec![S::ZERO; x.len()];
            tx.iter_mut().zip(&*z).for_each(|(tx, &z)| *tx = z - *tx);
            inverse.right_inverse(&mut there, tx, work);
            distance = vector::norm2(&there);
            vector::axpy(&mut there, 1.0, x);
            place(t.form(), &mut there, z);
            t.apply(tx, &there, work);
            residual = tx.iter().zip(&*z).map(|(a, b)| (a.f64() - b.f64()).powi(2)).sum::<f64>().sqrt();
            point = there;
        }
        f.value_grad(v, &point, work);
        add_slopes(v, pulled, (u, z, self.beta));
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

/// Tx is x: nothing is kept of it.
pub(super) fn is_identity<S: Real>(problem: &Problem<S>) -> bool {
    matches!(problem.t().form(), Form::Identity)
}

/// v ← v + T*w; w itself, of u, z and β, where T is the identity and nothing was `pulled`.
fn add_slopes<S: Real>(v: &mut [S], pulled: &[S], (u, z, beta): (&[S], &[S], f64)) {
    match pulled.is_empty() {
        true => v.iter_mut().zip(u).zip(z).for_each(|((v, &u), &z)| *v += slope(u, z, beta)),
        false => vector::axpy(v, 1.0, pulled),
    }
}

/// Where T picks entries, x̃ has z in them to the last bit: x + (z − x) may miss it by one, and a box is left by that.
fn place<S: Real>(form: Form<'_, S>, point: &mut [S], z: &[S]) {
    match form {
        Form::Select(select) => select.pairs().for_each(|(in_x, in_z)| point[in_x].copy_from_slice(&z[in_z])),
        Form::Sample(places) => places.iter().zip(z).for_each(|(&place, &z)| point[place] = z),
        _ => {}
    }
}
