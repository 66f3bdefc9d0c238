//! What was reached, in a form that anyone can re-check from the point and the problem alone.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::{BlockNorm, Bracket, check_tiling, product_dual, product_dual_growth};
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
    /// ‖∇f(x)‖, ‖T*∇g_β(Tx)‖ and ‖∇f(x) + T*∇g_β(Tx)‖, in ℓ2 and, where it has a definition, in the dual norm.
    euclidean: [f64; 3],
    dual: Option<[f64; 3]>,
    /// f(x).
    f: f64,
    prox_gap: f64,
    tx_norm: f64,
    stationarity: Option<Stationarity<S>>,
}

impl<S: Real> Plain<S> {
    /// Three buffers of the size of x and two of Tx: what they hold is used up before it is replaced.
    fn new(problem: &Problem<S>, x: &[S], beta: f64, norms: &[BlockNorm]) -> Self {
        let (f, g, t) = (problem.f(), problem.g(), problem.t());
        let (n, m) = (x.len(), t.range().size());
        let mut work = vec![S::ZERO; f.work_len().max(g.work_len()).max(t.work_len())];
        let (mut tx, mut to_z) = (vec![S::ZERO; m], vec![S::ZERO; m]);
        t.apply(&mut tx, x, &mut work);
        g.prox(&mut to_z, &tx, beta, &mut work);
        let tx_norm = vector::norm2(&tx);
        for (to_z, tx) in to_z.iter_mut().zip(&mut tx) {
            *to_z -= *tx; // z − Tx
            *tx = S::of(-to_z.f64() / beta); // ∇g_β(Tx)
        }
        let slope = tx;
        let (mut grad, mut pulled) = (vec![S::ZERO; n], vec![S::ZERO; n]);
        t.adjoint_add(&mut pulled, &slope, &mut work); // T*∇g_β(Tx)
        let f_x = f.value_grad(&mut grad, x, &mut work); // ∇f(x)
        let measure = |v: &[S]| (vector::norm2(v), product_dual(norms, v));
        let (of_f, of_g) = (measure(&grad), measure(&pulled));
        vector::axpy(&mut grad, 1.0, &pulled);
        let of_sum = measure(&grad);
        let stationarity = t.right_inverse().map(|right_inverse| {
            let mut point = vec![S::ZERO; n];
            right_inverse.right_inverse(&mut point, &to_z, &mut work);
            let distance = vector::norm2(&point);
            vector::axpy(&mut point, 1.0, x); // x̃ = x + R(z − Tx)
            f.value_grad(&mut grad, &point, &mut work);
            vector::axpy(&mut grad, 1.0, &pulled); // ∇f(x̃) + T*∇g_β(Tx)
            Stationarity { point, distance, bound: vector::norm2(&grad) }
        });
        Self {
            euclidean: [of_f.0, of_g.0, of_sum.0],
            dual: of_f.1.zip(of_g.1).zip(of_sum.1).map(|((f, g), sum)| [f, g, sum]),
            f: f_x,
            prox_gap: vector::norm2(&to_z),
            tx_norm,
            stationarity,
        }
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
        check_tiling(&norms, x.len())?;
        // With a bracket at hand, no decomposition.
        let measured: &[BlockNorm] = if dual_norm.is_some() { &[] } else { &norms };
        let plain = Plain::new(problem, x, beta, measured);
        let dual_norm = match (dual_norm, plain.dual) {
            (Some(bracket), _) => bracket,
            (None, Some([.., exact])) => Bracket::exact(exact),
            (None, None) => {
                return Err(Error::Unsupported("a norm of your own needs the bracket that its oracle gave".into()));
            }
        };
        let measured = plain.f.is_finite() && plain.prox_gap.is_finite() && dual_norm.upper.is_finite();
        if !measured {
            return Err(Error::Unsupported("the problem cannot be evaluated at this point: no certificate".into()));
        }
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
        if self.precision != S::NAME {
            let message = format!("a certificate in {} cannot be verified in {}", self.precision, S::NAME);
            return Err(Error::Unsupported(message));
        }
        check_tiling(&self.norms, x.len())?;
        let plain = Plain::new(problem, x, self.beta, &self.norms);
        let Some([of_f, of_g, exact]) = plain.dual else {
            return Err(Error::Unsupported("a norm of your own cannot be verified by definition".into()));
        };
        let rounding = self.rounding(problem, x, &plain);
        let slack = tolerance * (of_f + of_g) + rounding;
        let gap_slack = tolerance * (plain.prox_gap + plain.tx_norm);
        let mut checks = vec![
            Check::at_most("dual norm above its lower bound", self.dual_norm.lower, exact, slack),
            Check::at_most("dual norm below its upper bound", exact, self.dual_norm.upper, slack),
            Check::equal("proximal gap", self.prox_gap, plain.prox_gap, gap_slack),
        ];
        let at_point = tolerance * vector::norm2(x).max(plain.tx_norm);
        let at_bound = tolerance * (plain.euclidean[0] + plain.euclidean[1]) + rounding;
        checks.extend(self.check_stationarity(plain.stationarity.as_ref(), [at_point, gap_slack, at_bound]));
        if let Some(claim) = self.claim {
            checks.push(Check::claim("claimed: dual norm ≤ ε", self.dual_norm.upper, claim.dual_norm, slack));
            checks.push(Check::claim("claimed: proximal gap ≤ ε", self.prox_gap, claim.prox_gap, gap_slack));
        }
        Ok(Verification { checks })
    }

    /// x̃, its distance and the bound, against what was recomputed, within three tolerances.
    fn check_stationarity(&self, found: Option<&Stationarity<S>>, within: [f64; 3]) -> Vec<Check> {
        match (&self.stationarity, found) {
            (Some(stored), Some(found)) => {
                let apart: Vec<S> = stored.point.iter().zip(&found.point).map(|(&a, &b)| a - b).collect();
                let comparable = stored.point.len() == found.point.len();
                let apart = if comparable { vector::norm2(&apart) } else { f64::INFINITY };
                vec![
                    Check::at_most("x̃ is where it should be", apart, 0.0, within[0]),
                    Check::equal("distance of x̃", stored.distance, found.distance, within[1]),
                    Check::equal("bound on stationarity", stored.bound, found.bound, within[2]),
                ]
            }
            (None, None) => vec![],
            (stored, found) => {
                let count = |there: bool| f64::from(u8::from(there));
                vec![Check {
                    what: "x̃ is stored exactly when T is surjective",
                    left: count(stored.is_some()),
                    right: count(found.is_some()),
                    slack: 0.0,
                    holds: false,
                }]
            }
        }
    }

    /// How far rounding alone can move ‖φ‖_*: an error of one unit in the last place of x and of Tx, the latter divided by
    /// β in ∇g_β, times the c with ‖·‖_* ≤ c‖·‖₂.
    fn rounding(&self, problem: &Problem<S>, x: &[S], plain: &Plain<S>) -> f64 {
        let growth = product_dual_growth(&self.norms).unwrap_or(f64::NAN);
        let pulled = problem.t().norm_bound() * plain.tx_norm / self.beta;
        S::EPSILON * growth * (vector::norm2(x) + pulled)
    }

    /// The tolerance that rounding alone does not exceed: 10⁻⁶ in `f64`, 10⁻⁴ in `f32`.
    pub fn default_tolerance() -> f64 {
        if S::EPSILON > 1e-10 { 1e-4 } else { 1e-6 }
    }
}

/// One line of a verification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check {
    /// What is compared.
    pub what: &'static str,
    /// The left side: what is stored, or what has to be the smaller.
    pub left: f64,
    /// The right side: what was recomputed, or what has to be the larger.
    pub right: f64,
    /// How far apart they may be, or how far off the left side may be without being noticed.
    pub slack: f64,
    /// Whether it holds; never for NaN.
    pub holds: bool,
}

impl Check {
    fn equal(what: &'static str, left: f64, right: f64, slack: f64) -> Self {
        Self { what, left, right, slack, holds: (left - right).abs() <= slack }
    }

    fn at_most(what: &'static str, left: f64, right: f64, slack: f64) -> Self {
        Self { what, left, right, slack, holds: left <= right + slack }
    }

    /// left ≤ ε follows only where what was checked about the left side is finer than ε.
    fn claim(what: &'static str, left: f64, epsilon: f64, slack: f64) -> Self {
        Self { what, left, right: epsilon, slack, holds: left <= epsilon && slack <= epsilon }
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
