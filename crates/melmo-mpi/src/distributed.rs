//! A problem whose x lies on ranks: this rank's part of it, and everything that is evaluated together.

use melmo::error::Error;
use melmo::geometry::Oracle;
use melmo::guarantee::{Facts, Numerics};
use melmo::problem::{Evaluation, Problem};
use melmo::real::Real;
use melmo::smooth::Rounding;
use melmo::vector;
use std::ops::Range;

use crate::gauge::{Gauge, Measure, norm_of};
use crate::piece::Piece;
use crate::plan::Plan;
use crate::ranks::Ranks;
use crate::talk::{Meter, Talk};
use crate::witness::Looked;

/// Entries of a block that a rank has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Among this rank's entries of a point.
    pub own: Range<usize>,
    /// Among those of the whole.
    pub whole: Range<usize>,
    /// This rank is the one that counts them, or writes them down: others may have them too.
    pub counted: bool,
}

/// What has to be known of a rank's part besides its pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nothing.
    Plain,
    /// All of x is on every rank (a regression), and this one has no row of the loss: its summand is 0. Where rows of x are split, a piece
    /// without rows says so by itself.
    WithoutRows,
    /// Its penalty talks to the other ranks by itself ([`Shared`](crate::Shared)): its groups may cross them.
    Shared,
}

/// This rank's part of minimise f(x) + g(Tx): a [`Space`](melmo::space::Space) whose every number is that of the whole.
///
/// The problem that it is given is this rank's: a loss that is its summand of f, of the rows that its pieces hold, and the penalty of what
/// it holds. A term of a block that every rank has and that is part of the loss (a ridge on H) belongs to one rank's summand alone.
pub struct Distributed<'p, S: Real> {
    pub(crate) problem: &'p Problem<S>,
    pub(crate) plan: Plan,
    pub(crate) talk: Talk,
    pub(crate) gauge: Gauge<S>,
    pub(crate) facts: Facts,
    tx: Vec<S>,
    slopes: Vec<S>,
    spare: Vec<S>,
    work: Vec<S>,
    pub(crate) looked: Option<Looked<S>>,
}

impl<'p, S: Real> Distributed<'p, S> {
    /// `pieces` say which rows of each block of the problem this rank holds; none for a block that every rank has. Everybody takes part,
    /// and everybody is refused where one is.
    pub fn new(
        problem: &'p Problem<S>,
        pieces: &[Option<Piece>],
        measure: &Measure,
        oracle: Oracle,
        ranks: Box<dyn Ranks>,
    ) -> Result<Self, Error> {
        Self::by(Way::Plain, problem, pieces, measure, oracle, ranks)
    }

    /// The same of a part that is not plain.
    pub fn by(
        way: Way,
        problem: &'p Problem<S>,
        pieces: &[Option<Piece>],
        measure: &Measure,
        oracle: Oracle,
        ranks: Box<dyn Ranks>,
    ) -> Result<Self, Error> {
        let mut talk = Talk::new(ranks);
        let (first, size) = (talk.rank() == 0, talk.size());
        let planned = Plan::of(problem, pieces, first, way == Way::Shared).and_then(|mut plan| {
            plan.idle |= way == Way::WithoutRows;
            plan.expect_near(size)?;
            let gauge = Gauge::new(&plan, problem.layout().blocks(), measure, oracle, size)?;
            Ok((plan, gauge))
        });
        let refused = talk.sum(f64::from(u8::from(planned.is_err())));
        let (plan, gauge) = planned?;
        if refused != 0.0 {
            return Err(Error::Unsupported("another rank refused its part, and says why".into()));
        }
        let facts = agree(problem, &plan, &mut talk);
        let work = vec![S::ZERO; work_len(problem).max(problem.work_len())];
        // Images of the size of Tx are made when the first is needed: where all is done in one pass, none is.
        let [tx, slopes, spare] = [Vec::new(), Vec::new(), Vec::new()];
        Ok(Self { problem, plan, talk, gauge, facts, tx, slopes, spare, work, looked: None })
    }

    /// What talking took so far, also once a solver has the space.
    pub fn meter(&self) -> Meter {
        self.talk.spent.clone()
    }

    /// Where this rank's entries of a point stand in the whole, block after block.
    pub fn extents(&self) -> Vec<Extent> {
        let (mut start, mut before, mut extents) = (0, 0, Vec::new());
        for held in &self.plan.blocks {
            let rows = held.piece.as_ref().map_or(0..held.range.len() / held.width, |piece| piece.own.clone());
            let size = held.piece.as_ref().map_or(held.range.len(), |piece| piece.rows * held.width);
            let counted = held.piece.is_some() || self.talk.rank() == 0;
            for _ in 0..held.planes {
                let own = before..before + rows.len() * held.width;
                let whole = start + rows.start * held.width..start + rows.end * held.width;
                (start, before) = (start + size, own.end);
                extents.push(Extent { own, whole, counted });
            }
        }
        extents
    }

    /// The same of a point's image Tx: where what this rank has of it (z, u) stands in the whole.
    pub fn image_extents(&self) -> Vec<Extent> {
        let (mut before, mut extents) = (0, Vec::new());
        for (own, whole, counted) in self.plan.images(self.problem, self.talk.rank() == 0) {
            extents.push(Extent { own: before..before + own, whole: whole..whole + own, counted });
            before += own;
        }
        extents
    }

    /// This rank's entries of a point of its problem, which holds rows of neighbours as well.
    pub fn own_entries(&self, held: &[S]) -> Vec<S> {
        self.plan.own.iter().flat_map(|range| held[range.clone()].iter().copied()).collect()
    }

    /// Whether a rank was lost: then every number is NaN, and the run has ended there.
    pub fn is_lost(&self) -> bool {
        self.talk.lost
    }

    /// The rows beside this rank's own, asked for anew.
    pub(crate) fn refresh(&mut self, x: &mut [S]) {
        if self.plan.reach == 0 {
            return;
        }
        for held in &self.plan.blocks {
            for plane in 0..held.planes {
                let [send, receive] = held.borders(plane);
                self.talk.beside(x, &send, &receive);
            }
        }
    }

    /// grad ← ∇f(x), with what every rank has summed up; this rank's summand of f(x), and its rounding where it is asked for.
    pub(crate) fn loss(&mut self, grad: &mut [S], x: &[S], rounding: bool) -> (f64, Rounding) {
        let (f, none) = (self.problem.f(), Rounding { value: 0.0, grad: 0.0 });
        let found = if self.plan.idle {
            grad.fill(S::ZERO);
            (0.0, none)
        } else if let Some(pointwise) = f.pointwise().filter(|_| self.plan.reach > 0) {
            grad.fill(S::ZERO);
            let (mut value, mut count) = (0.0, 0);
            for own in &self.plan.own {
                value += pointwise.value_grad_at(&mut grad[own.clone()], &x[own.clone()], own.start);
                count += own.len();
            }
            (value, Rounding::of_proximity::<S>(value, norm_of(grad, &self.plan.own), count))
        } else {
            let value = f.value_grad(grad, x, &mut self.work);
            (value, if rounding { f.rounding(x, value, grad) } else { none })
        };
        // Whoever has all of its rows in one pass does not come here: nobody waits for nothing.
        if !self.plan.everywhere.is_empty() {
            self.talk.sum_all(&mut [], grad, &self.plan.everywhere);
        }
        found
    }

    /// Whether the problem's own evaluation is this rank's summand of the whole.
    pub(crate) fn in_one_pass(&self) -> bool {
        let (plan, size) = (&self.plan, self.problem.layout().size());
        let whole = plan.all_counted(size) && plan.everywhere.is_empty() && plan.reach == 0;
        !plan.idle && (whole || self.problem.rows_within().is_some())
    }

    /// φ ← ∇F_β(x).
    pub(crate) fn evaluate(&mut self, phi: &mut [S], x: &[S], beta: f64) -> Evaluation {
        let problem = self.problem;
        if self.in_one_pass() {
            let found = problem.smoothed_gradient(phi, x, beta, &mut self.work);
            return self.agreed(phi, found);
        }
        let (f, _) = self.loss(phi, x, false);
        let Self { tx, slopes, work, .. } = self;
        tx.resize(problem.t().range().size(), S::ZERO);
        slopes.resize(tx.len(), S::ZERO);
        problem.t().apply(tx, x, work);
        problem.g().slopes(slopes, tx, beta, work);
        problem.t().adjoint_add(phi, slopes, work);
        let slope_squared = square_of(&self.slopes, &self.plan.image_counted);
        self.agreed(phi, Evaluation { f, slope_squared, squared: None })
    }

    /// The sums of all ranks, and the rows of φ beside this rank's own.
    pub(crate) fn agreed(&mut self, phi: &mut [S], found: Evaluation) -> Evaluation {
        let squared = found.squared.unwrap_or_else(|| square_of(phi, &self.plan.counted));
        let [f, slope_squared, squared] = self.talk.sums([found.f, found.slope_squared, squared]);
        self.refresh(phi);
        Evaluation { f, slope_squared, squared: Some(squared) }
    }

    /// Scratch of the terms.
    pub(crate) fn work(&mut self) -> &mut [S] {
        &mut self.work
    }

    /// This rank's summand of g at an image, or of g_β. What does not count here is taken as 0, where every penalty is 0.
    pub(crate) fn counted_penalty(&mut self, image: &[S], beta: Option<f64>) -> f64 {
        let Self { plan, problem, slopes, spare, work, .. } = self;
        let g = problem.g();
        let at: &[S] = if plan.all_image_counted(image.len()) {
            image
        } else {
            slopes.clear();
            slopes.resize(image.len(), S::ZERO);
            plan.image_counted.iter().for_each(|range| slopes[range.clone()].copy_from_slice(&image[range.clone()]));
            slopes
        };
        match beta {
            Some(beta) => {
                spare.resize(image.len(), S::ZERO);
                g.moreau(spare, at, beta, work).value
            }
            None => g.value(at, work),
        }
    }

    /// g(Tx), or g_β(Tx).
    pub(crate) fn penalty_at(&mut self, x: &[S], beta: Option<f64>) -> f64 {
        let problem = self.problem;
        let own = match beta {
            Some(beta) if self.in_one_pass() => problem.envelope(x, beta, &mut self.work),
            None if self.in_one_pass() => problem.penalty(x, &mut self.work),
            _ => {
                let mut tx = std::mem::take(&mut self.tx);
                tx.resize(problem.t().range().size(), S::ZERO);
                problem.t().apply(&mut tx, x, &mut self.work);
                let own = self.counted_penalty(&tx, beta);
                self.tx = tx;
                own
            }
        };
        self.talk.sum(own)
    }

    /// φ ← ∇f(x) + T*v with v ∈ ∂g(Tx).
    pub(crate) fn subgradient_at(&mut self, phi: &mut [S], x: &[S], [tx, v]: [&mut [S]; 2]) -> f64 {
        let problem = self.problem;
        let (f, _) = self.loss(phi, x, false);
        problem.t().apply(tx, x, &mut self.work);
        problem.g().subgradient(v, tx, &mut self.work);
        problem.t().adjoint_add(phi, v, &mut self.work);
        let own = f + self.counted_penalty(tx, None);
        let total = self.talk.sum(own);
        self.refresh(phi);
        total
    }

    /// The β that a method which finds its own starts from: [`Smoothing::start`](melmo::solver::Smoothing::start) of the whole.
    pub fn first_beta(&mut self, x0: &[S]) -> f64 {
        use melmo::space::Space;
        let facts = self.facts;
        if facts.rho > 0.0 {
            return 0.5 / facts.rho;
        }
        let (mut x, mut grad) = (Space::point(self), Space::point(self));
        self.write(&mut x, 0, x0);
        let here = self.image_norm(&x);
        self.loss(&mut grad, &x, false);
        self.refresh(&mut grad);
        let there = self.image_norm(&grad);
        let moved = facts.lipschitz_f.map_or(0.0, |lipschitz| there / lipschitz.max(f64::MIN_POSITIVE));
        let scale = here.max(moved) / facts.lipschitz_g.unwrap_or(f64::INFINITY);
        if scale > 0.0 && scale.is_finite() { scale } else { facts.default_beta() }
    }

    /// ‖Tx‖₂.
    fn image_norm(&mut self, x: &[S]) -> f64 {
        self.tx.resize(self.problem.t().range().size(), S::ZERO);
        self.problem.t().apply(&mut self.tx, x, &mut self.work);
        let own = norm_of(&self.tx, &self.plan.image_counted);
        self.talk.hypot(own)
    }
}

/// Σ of squares over some ranges.
pub(crate) fn square_of<S: Real>(x: &[S], ranges: &[Range<usize>]) -> f64 {
    ranges.iter().map(|range| vector::norm2_squared(&x[range.clone()])).sum()
}

fn work_len<S: Real>(problem: &Problem<S>) -> usize {
    problem.f().work_len().max(problem.t().work_len()).max(problem.g().work_len())
}

/// The constants of the whole, from those of the parts.
fn agree<S: Real>(problem: &Problem<S>, plan: &Plan, talk: &mut Talk) -> Facts {
    let own = problem.facts();
    let (alone, shared) = (plan.everywhere.is_empty(), plan.everywhere.len() == plan.blocks.len());
    let counted = |ranges: &[Range<usize>]| ranges.iter().map(|range| range.len()).sum::<usize>() as f64;
    let [size, range] = talk.sums([counted(&plan.counted), counted(&plan.image_counted)]);
    // A sum over separate rows is as steep as its steepest part; one over the same variable as all parts together.
    let of_f = own.lipschitz_f.filter(|_| !plan.idle).unwrap_or(if plan.idle { 0.0 } else { f64::INFINITY });
    let lipschitz_f = if alone { talk.largest(of_f) } else { talk.sum(of_f) };
    let of_g = own.lipschitz_g.unwrap_or(f64::INFINITY);
    let lipschitz_g = if shared { talk.largest(of_g) } else { talk.hypot(of_g) };
    let infimum = talk.sum(if plan.idle { 0.0 } else { own.infimum.unwrap_or(f64::NEG_INFINITY) });
    let known = |value: f64| Some(value).filter(|value| value.is_finite());
    let Numerics { operator_norm, of_operator, of_prox, .. } = own.numerics;
    Facts {
        rho: talk.largest(own.rho),
        lipschitz_g: known(lipschitz_g),
        lipschitz_f: known(lipschitz_f),
        operator_squared: talk.largest(own.operator_squared),
        surjective: own.surjective,
        infimum: known(infimum),
        start: None,
        oracle: own.oracle,
        numerics: Numerics {
            operator_norm: talk.largest(operator_norm),
            of_operator: talk.largest(of_operator),
            of_prox: talk.largest(of_prox),
            size: size as usize,
            range: range as usize,
        },
    }
}
