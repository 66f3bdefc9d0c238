//! Verification strip by strip, in a precision that may be finer than the point's: for volumes of which the memory holds little more than x.

use std::ops::Range;

use melmo::certificate::{
    At, Certificate, Evidence, Optimality, Recomputed, Seen, Shown, Verification, Witness, lower_bound,
};
use melmo::error::Error;
use melmo::geometry::{BlockNorm, Bracket, Norm, Oracle};
use melmo::guarantee::Facts;
use melmo::operator::Form;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::Rounding;

use crate::distributed::Distributed;
use crate::gauge::Measure;
use crate::piece::Piece;
use crate::ranks::Alone;

/// How many strips of `rows` rows, of `width` entries each, a look fits into so many bytes with; Tx has `images` numbers for each of x. None
/// where not even one row of its own fits beside its neighbours.
///
/// A strip holds x, u, Tx, z, w, and of the size of x its data, v, ∇f and T*w, all in `R`.
pub fn strips_within<R: Real>(memory: usize, rows: usize, width: usize, images: usize) -> Option<usize> {
    let row = width * (6 + 6 * images) * size_of::<R>();
    let own = (memory / row.max(1)).checked_sub(2).filter(|&own| own > 0)?;
    Some(rows.div_ceil(own.min(rows)))
}

/// [`Certificate::verify`] of a picture or a volume of differences, `count` strips of its rows one after another; a row of a volume is a
/// slice. `make` gives the problem of the rows that a piece holds, in the precision `R`, which may be finer than that of x.
///
/// An error of `make` ends it: so a caller stops it.
pub fn verify_in_strips<S: Real, R: Real>(
    certificate: &Certificate<S>,
    x: &[S],
    (rows, count): (usize, usize),
    tolerance: f64,
    mut make: impl FnMut(&Piece) -> Result<Problem<R>, Error>,
) -> Result<Verification, Error> {
    certificate.expect_precision()?;
    if R::EPSILON > S::EPSILON {
        return unsupported(format!("a certificate in {} cannot be verified in {}", S::NAME, R::NAME));
    }
    if certificate.stationarity.is_some() {
        return unsupported("a certificate with an x̃ of its own cannot be verified in strips");
    }
    if rows == 0 || !x.len().is_multiple_of(rows) {
        return unsupported(format!("{} entries are no {rows} rows", x.len()));
    }
    let mut joined = Joined::default();
    for strip in 0..count.clamp(1, rows) {
        let piece = Piece::of(rows, 1, strip, count.clamp(1, rows));
        let problem = make(&piece)?;
        let found = Strip { certificate, x, rows, piece: &piece, problem: &problem }.look()?;
        joined.take(found, problem, &certificate.norms);
    }
    let radius = certificate.optimality.and_then(|found| found.radius);
    let found = joined.recomputed(radius).ok_or_else(|| Error::Unsupported("there is no strip".into()))?;
    Ok(Verification { checks: certificate.compare::<R>(&found, tolerance) })
}

fn unsupported<T>(why: impl Into<String>) -> Result<T, Error> {
    Err(Error::Unsupported(why.into()))
}

/// What a look at one strip found: all but a bound on F*, which is one of the whole.
struct Found {
    facts: Facts,
    seen: Seen,
    dual_norm: Bracket,
    data: f64,
}

/// One strip, and where it lies.
struct Strip<'a, S: Real, R: Real> {
    certificate: &'a Certificate<S>,
    x: &'a [S],
    rows: usize,
    piece: &'a Piece,
    problem: &'a Problem<R>,
}

impl<S: Real, R: Real> Strip<'_, S, R> {
    fn look(&self) -> Result<Found, Error> {
        let Self { certificate, x, problem, .. } = *self;
        let images = match problem.t().form() {
            Form::Difference2d(_) | Form::Difference3d(_) => problem.t().range().blocks().len(),
            _ => return unsupported("only differences of a picture or a volume can be verified in strips"),
        };
        let here = self.held(x, 1)?;
        let u = certificate.u.as_deref().map(|u| self.held(u, images)).transpose()?;
        problem.check_start(&here)?;
        problem.check_evidence(&Evidence { u: u.as_deref(), beta: certificate.beta })?;
        let measure = measure_of(&certificate.norms, x.len())?;
        let pieces = [Some(self.piece.clone())];
        let mut space = Distributed::new(problem, &pieces, &measure, Oracle::Auto, Box::new(Alone))?;
        if let Some(u) = &u {
            space.take_up(u);
        }
        let seen = space.look(&here, Shown { beta: certificate.beta, stored: u.is_some() });
        let dual_norm = space.residual(&certificate.norms).ok_or_else(|| {
            Error::Unsupported("the certificate's norms are not those of blocks of this size and name".into())
        })?;
        Ok(Found { facts: space.facts(), seen, dual_norm, data: space.size_of_data() })
    }

    /// What the strip holds of so many planes of the size of x, in its precision.
    fn held(&self, whole: &[S], planes: usize) -> Result<Vec<R>, Error> {
        Error::expect_len("numbers", planes * self.x.len(), whole.len())?;
        let width = self.x.len() / self.rows;
        let Range { start, end } = self.piece.held;
        let planes = whole.chunks_exact(self.x.len()).flat_map(|plane| &plane[start * width..end * width]);
        Ok(planes.map(|v| R::of(v.f64())).collect())
    }
}

/// The norm of the steps that a certificate names.
fn measure_of(norms: &[BlockNorm], size: usize) -> Result<Measure, Error> {
    let [one] = norms else { return unsupported("only a norm on one block can be verified in strips") };
    match one.norm {
        Norm::L2 if (one.block.rows, one.block.cols) == (size, 1) => Ok(Measure::Euclidean),
        Norm::L2 | Norm::L1 | Norm::Linf | Norm::Row => Ok(Measure::Blocks(vec![(one.norm, one.radius)])),
        other => unsupported(format!("the norm `{other}` takes all rows together: it cannot be verified in strips")),
    }
}

/// What the strips found together.
struct Joined<R: Real> {
    whole: Option<Found>,
    /// The problem of the strip in which f is flattest: a bound that holds of it holds of all.
    flattest: Option<(f64, Problem<R>)>,
}

impl<R: Real> Default for Joined<R> {
    fn default() -> Self {
        Self { whole: None, flattest: None }
    }
}

impl<R: Real> Joined<R> {
    fn take(&mut self, found: Found, problem: Problem<R>, norms: &[BlockNorm]) {
        let curved = problem.f().strong_convexity().unwrap_or(0.0);
        if self.flattest.as_ref().is_none_or(|(least, _)| curved < *least) {
            self.flattest = Some((curved, problem));
        }
        self.whole = Some(match self.whole.take() {
            Some(before) => before.and(found, norms),
            None => found,
        });
    }

    fn recomputed(self, radius: Option<f64>) -> Option<Recomputed> {
        let (Found { facts, seen, dual_norm, data }, (_, problem)) = (self.whole?, self.flattest?);
        // Where T is not the identity a bound asks for neither x nor v. It holds of all strips if no other bends down more.
        let bound = problem.g().weak_convexity() == facts.rho;
        let optimality = Optimality::by::<R>(&facts, &seen, radius, |allowance| {
            if !bound {
                return Err("the penalty is another in another strip".into());
            }
            lower_bound(&At { problem: &problem, x: &[], v: &[], seen: &seen, allowance }, radius)
        });
        Some(Recomputed { facts, seen, dual_norm, data, optimality: optimality.ok() })
    }
}

impl Found {
    /// Values add up; norms, of entries that nobody shares, do in squares.
    fn and(self, next: Self, norms: &[BlockNorm]) -> Self {
        let (a, b) = (self.seen, next.seen);
        let seen = Seen {
            beta: a.beta,
            stored: a.stored,
            f: a.f + b.f,
            at_z: a.at_z + b.at_z,
            at_tx: a.at_tx + b.at_tx,
            overlap: a.overlap + b.overlap,
            of_f: a.of_f.hypot(b.of_f),
            of_g: a.of_g.hypot(b.of_g),
            of_sum: a.of_sum.hypot(b.of_sum),
            prox_gap: a.prox_gap.hypot(b.prox_gap),
            x_norm: a.x_norm.hypot(b.x_norm),
            tx_norm: a.tx_norm.hypot(b.tx_norm),
            u_norm: a.u_norm.hypot(b.u_norm),
            w_norm: a.w_norm.hypot(b.w_norm),
            // One more sum, of two values.
            rounding: Rounding {
                value: a.rounding.value + b.rounding.value + f64::EPSILON * (a.f + b.f).abs(),
                grad: a.rounding.grad.hypot(b.rounding.grad),
            },
        };
        Self {
            facts: both(self.facts, next.facts),
            seen,
            dual_norm: together(self.dual_norm, next.dual_norm, norms),
            data: self.data.hypot(next.data),
        }
    }
}

/// Bounds on the dual norm of two strips together.
fn together(a: Bracket, b: Bracket, norms: &[BlockNorm]) -> Bracket {
    // A square, a sum and a root.
    let hypot = |a: f64, b: f64| Bracket::rounded(a.hypot(b), 4.0);
    match norms.first().map(|one| one.norm) {
        Some(Norm::L1) => Bracket { lower: a.lower.max(b.lower), upper: a.upper.max(b.upper) },
        Some(Norm::L2) => Bracket { lower: hypot(a.lower, b.lower).lower, upper: hypot(a.upper, b.upper).upper },
        _ => Bracket::sum([a, b].into_iter()),
    }
}

/// The constants of the whole, from those of two parts of other rows.
fn both(a: Facts, b: Facts) -> Facts {
    let hypot = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a.hypot(b));
    let mut facts = a;
    facts.rho = a.rho.max(b.rho);
    facts.lipschitz_g = hypot(a.lipschitz_g, b.lipschitz_g);
    facts.lipschitz_f = a.lipschitz_f.zip(b.lipschitz_f).map(|(a, b)| a.max(b));
    facts.operator_squared = a.operator_squared.max(b.operator_squared);
    facts.infimum = a.infimum.zip(b.infimum).map(|(a, b)| a + b);
    let (of_a, of_b) = (a.numerics, b.numerics);
    facts.numerics.operator_norm = of_a.operator_norm.max(of_b.operator_norm);
    facts.numerics.of_operator = of_a.of_operator.max(of_b.of_operator);
    facts.numerics.of_prox = of_a.of_prox.max(of_b.of_prox);
    facts.numerics.size = of_a.size + of_b.size;
    facts.numerics.range = of_a.range + of_b.range;
    facts
}
