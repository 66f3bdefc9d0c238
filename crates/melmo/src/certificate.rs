//! What was reached, in a form that anyone can re-check from the point and the problem alone.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::{BlockNorm, Bracket, product_dual};
use crate::problem::Problem;
use crate::real::Real;
use crate::vector;

/// At x, with z = prox_{βg}(Tx): ‖∇F_β(x)‖_* ∈ `dual_norm`, ‖Tx − z‖₂ = `prox_gap`, and what follows for surjective T.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Certificate<S: Real> {
    /// `f32` or `f64`: the precision the point is stored in.
    pub precision: String,
    /// β.
    pub beta: f64,
    /// The norm, block by block.
    pub norms: Vec<BlockNorm>,
    /// Bounds on ‖∇F_β(x)‖_*.
    pub dual_norm: Bracket,
    /// ‖Tx − z‖₂.
    pub prox_gap: f64,
    /// What was asked for and reached, if it was.
    pub claim: Option<Claim>,
    /// Near-stationarity of the problem itself, when T is surjective.
    pub stationarity: Option<Stationarity<S>>,
}

/// `dual_norm.upper` ≤ `dual_norm` and `prox_gap` ≤ `prox_gap`: an ε-proxy certificate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The ε that ‖∇F_β(x)‖_* does not exceed.
    pub dual_norm: f64,
    /// The ε that ‖Tx − z‖₂ does not exceed.
    pub prox_gap: f64,
}

/// x̃ near x with Tx̃ = z, and a bound on how far 0 is from ∇f(x̃) + T*∂g(Tx̃).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Stationarity<S: Real> {
    /// x̃ = x + R(z − Tx), R the operator's right inverse.
    pub point: Vec<S>,
    /// ‖x̃ − x‖₂ ≤ ‖Tx − z‖₂/σ_min(T).
    pub distance: f64,
    /// ‖∇f(x̃) + T*∇g_β(Tx)‖₂ ≥ dist₂(−∇f(x̃), T*∂g(Tx̃)): computed, it needs no L_f.
    pub bound: f64,
}

/// Everything the certificate speaks of, recomputed by the terms' plain methods.
struct Plain<S: Real> {
    grad_f: Vec<S>,
    /// T*∇g_β(Tx).
    pulled: Vec<S>,
    /// ∇f(x) + T*∇g_β(Tx).
    phi: Vec<S>,
    prox_gap: f64,
    tx_norm: f64,
    stationarity: Option<Stationarity<S>>,
}

impl<S: Real> Plain<S> {
    fn new(problem: &Problem<S>, x: &[S], beta: f64) -> Self {
        let (f, g, t) = (problem.f(), problem.g(), problem.t());
        let (n, m) = (x.len(), t.range().size());
        let mut work = vec![S::ZERO; f.work_len().max(g.work_len()).max(t.work_len())];
        let (mut tx, mut z) = (vec![S::ZERO; m], vec![S::ZERO; m]);
        t.apply(&mut tx, x, &mut work);
        g.prox(&mut z, &tx, beta, &mut work);
        let to_z: Vec<S> = z.iter().zip(&tx).map(|(&z, &tx)| z - tx).collect();
        let slope: Vec<S> = to_z.iter().map(|&v| S::of(-v.f64() / beta)).collect();
        let (mut grad_f, mut pulled) = (vec![S::ZERO; n], vec![S::ZERO; n]);
        f.value_grad(&mut grad_f, x, &mut work);
        t.adjoint_add(&mut pulled, &slope, &mut work);
        let stationarity = t.right_inverse().map(|right_inverse| {
            let mut shift = vec![S::ZERO; n];
            right_inverse.right_inverse(&mut shift, &to_z, &mut work);
            let point: Vec<S> = x.iter().zip(&shift).map(|(&x, &s)| x + s).collect();
            let mut residual = vec![S::ZERO; n];
            f.value_grad(&mut residual, &point, &mut work);
            vector::axpy(&mut residual, 1.0, &pulled);
            Stationarity { point, distance: vector::norm2(&shift), bound: vector::norm2(&residual) }
        });
        let phi = grad_f.iter().zip(&pulled).map(|(&a, &b)| a + b).collect();
        Self { grad_f, pulled, phi, prox_gap: vector::norm2(&to_z), tx_norm: vector::norm2(&tx), stationarity }
    }
}

impl<S: Real> Certificate<S> {
    /// The certificate of x with smoothing β, for a dual norm that an oracle has bracketed.
    pub fn new(
        problem: &Problem<S>,
        x: &[S],
        beta: f64,
        norms: Vec<BlockNorm>,
        dual_norm: Option<Bracket>,
        claim: Option<Claim>,
    ) -> Result<Self, Error> {
        problem.check_start(x)?;
        problem.check_beta(beta)?;
        let plain = Plain::new(problem, x, beta);
        let dual_norm = match (dual_norm, product_dual(&norms, &plain.phi)) {
            (Some(bracket), _) => bracket,
            (None, Some(exact)) => Bracket::exact(exact),
            (None, None) => {
                return Err(Error::Unsupported("a norm of your own needs the bracket that its oracle gave".into()));
            }
        };
        Ok(Self {
            precision: S::NAME.into(),
            beta,
            norms,
            dual_norm,
            prox_gap: plain.prox_gap,
            claim,
            stationarity: plain.stationarity,
        })
    }

    /// Recomputes everything from the point and the problem through the terms' plain methods and a dense SVD: no oracle,
    /// no schedule, no streamed kernel. `tolerance` is relative to the sizes of ∇f(x), T*∇g_β(Tx) and Tx.
    pub fn verify(&self, problem: &Problem<S>, x: &[S], tolerance: f64) -> Result<Verification, Error> {
        problem.check_start(x)?;
        problem.check_beta(self.beta)?;
        let covered: usize = self.norms.iter().map(|b| b.block.size()).sum();
        Error::expect_len("the certificate's norm measures the variable", x.len(), covered)?;
        for BlockNorm { block, .. } in &self.norms {
            Error::expect_parameter(
                "the end of a certificate's block",
                block.range().end as f64,
                block.range().end <= x.len(),
                "within the variable",
            )?;
        }
        let plain = Plain::new(problem, x, self.beta);
        let dual = |v: &[S]| {
            product_dual(&self.norms, v)
                .ok_or_else(|| Error::Unsupported("a norm of your own cannot be verified by definition".into()))
        };
        let exact = dual(&plain.phi)?;
        let rounding = self.rounding(problem, x, &plain);
        let slack = tolerance * (dual(&plain.grad_f)? + dual(&plain.pulled)?) + rounding;
        let gap_slack = tolerance * (plain.prox_gap + plain.tx_norm);
        let mut checks = vec![
            Check::at_most("dual norm above its lower bound", self.dual_norm.lower, exact, slack),
            Check::at_most("dual norm below its upper bound", exact, self.dual_norm.upper, slack),
            Check::equal("proximal gap", self.prox_gap, plain.prox_gap, gap_slack),
        ];
        match (&self.stationarity, &plain.stationarity) {
            (Some(stored), Some(found)) => {
                let scale = vector::norm2(&plain.grad_f) + vector::norm2(&plain.pulled);
                let apart: Vec<S> = stored.point.iter().zip(&found.point).map(|(&a, &b)| a - b).collect();
                let same_length = stored.point.len() == x.len();
                let apart = if same_length { vector::norm2(&apart) } else { f64::INFINITY };
                checks.push(Check::at_most(
                    "x̃ is where it should be",
                    apart,
                    0.0,
                    tolerance * vector::norm2(x).max(plain.tx_norm),
                ));
                checks.push(Check::equal("distance of x̃", stored.distance, found.distance, gap_slack));
                checks.push(Check::equal(
                    "bound on stationarity",
                    stored.bound,
                    found.bound,
                    tolerance * scale + rounding,
                ));
            }
            (None, None) => {}
            (stored, _) => checks.push(Check {
                what: "x̃ is stored exactly when T is surjective",
                stored: f64::from(u8::from(stored.is_some())),
                found: f64::from(u8::from(stored.is_none())),
                holds: false,
            }),
        }
        if let Some(claim) = self.claim {
            checks.push(Check::at_most("claimed: dual norm ≤ ε", self.dual_norm.upper, claim.dual_norm, 0.0));
            checks.push(Check::at_most("claimed: proximal gap ≤ ε", self.prox_gap, claim.prox_gap, 0.0));
        }
        Ok(Verification { checks })
    }

    /// How far rounding alone can move ‖φ‖_*: an error of one unit in the last place of x and of Tx, the latter divided by
    /// β in ∇g_β, in every entry (‖·‖_* ≤ √n·‖·‖₂ on n entries of radius 1).
    fn rounding(&self, problem: &Problem<S>, x: &[S], plain: &Plain<S>) -> f64 {
        let radius = self.norms.iter().map(|b| b.radius).fold(0.0, f64::max);
        let entries = (x.len() as f64).sqrt();
        let pulled = problem.t().norm_bound() * plain.tx_norm / self.beta;
        4.0 * S::EPSILON * radius * entries * (vector::norm2(x) + pulled)
    }

    /// The tolerance that rounding alone does not exceed: 10⁻⁶ in `f64`, 10⁻³ in `f32`.
    pub fn default_tolerance() -> f64 {
        if S::EPSILON > 1e-10 { 1e-3 } else { 1e-6 }
    }
}

/// One line of a verification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check {
    /// What is compared.
    pub what: &'static str,
    /// The left side: what is stored, or what has to be the smaller.
    pub stored: f64,
    /// The right side: what was recomputed, or what has to be the larger.
    pub found: f64,
    /// Whether it holds within the tolerance; never for NaN.
    pub holds: bool,
}

impl Check {
    fn equal(what: &'static str, stored: f64, found: f64, slack: f64) -> Self {
        Self { what, stored, found, holds: (stored - found).abs() <= slack }
    }

    fn at_most(what: &'static str, stored: f64, found: f64, slack: f64) -> Self {
        Self { what, stored, found, holds: stored <= found + slack }
    }
}

/// What a verification found, line by line.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The comparisons made.
    pub checks: Vec<Check>,
}

impl Verification {
    /// Every line holds.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }
}
