//! Alternating least squares on known entries: both factors exactly, one after the other.

use serde::{Deserialize, Serialize};

use crate::certificate::Shown;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::known::{Feedback, Scratch, Side};
use crate::linalg::Mat;
use crate::operator;
use crate::penalty::{self, Psi, Shape};
use crate::problem::Problem;
use crate::real::Real;
use crate::smooth::{Form, KnownFactors, turn};
use crate::solver::pair::Pair;
use crate::solver::state::{self, fits};
use crate::solver::{Info, Measured, Method, Run, Standing};
use crate::space::Host;
use crate::vector::{norm_inf, norm2_squared};

/// W ← argmin f(·, H) + ν/2·‖·‖², H ← argmin f(W, ·): a positive definite system of the rank's size a row and a column.
///
/// F falls with every half. For f on known entries and g a ridge on W (Koren, Bell and Volinsky 2009). No smoothing: its certificates
/// are made of one proximal gradient step from x.
pub struct Als<'p, S> {
    host: Host<'p, S>,
    f: &'p KnownFactors<S>,
    /// ν of W.
    ridge: f64,
    pair: Pair<S>,
    x: Vec<S>,
    previous: Vec<S>,
    /// Hᵀ of x.
    ht: Vec<S>,
    /// ∇f(x), and its part of H as it is computed.
    grad: Vec<S>,
    grad_ht: Vec<S>,
    gram: Vec<S>,
    scratch: Scratch<S>,
    /// f(x).
    value: f64,
    begun: bool,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    x: Vec<S>,
}

/// The loss, and ν where g is a ridge on all of W.
fn parts<S: Real>(problem: &Problem<S>) -> Option<(&KnownFactors<S>, f64)> {
    let Form::Known(f) = problem.f().form() else { return None };
    let (rows, _, rank) = f.shape();
    let operator::Form::Select(t) = problem.t().form() else { return None };
    match problem.g().form() {
        penalty::Form::Entries { psi: Psi { shape: Shape::Ridge { nu }, nonnegative: false }, weights: None }
            if t.pairs().eq([(0..rows * rank, 0..rows * rank)]) =>
        {
            Some((f, nu))
        }
        _ => None,
    }
}

impl<'p, S: Real> Als<'p, S> {
    /// Whether a problem is one for it.
    pub fn fits(problem: &Problem<S>) -> bool {
        parts(problem).is_some()
    }

    /// Starts at x₀ = (W, H), which is copied.
    pub fn new(problem: &'p Problem<S>, x0: &[S]) -> Result<Run<Self>, Error> {
        problem.check_start(x0)?;
        let Some((f, ridge)) = parts(problem) else {
            let message = "this method needs known entries of a matrix, f(W, H), and a ridge on W: T(W, H) = W";
            return Err(Error::Unsupported(message.into()));
        };
        let (_, cols, rank) = f.shape();
        let zeros = |n: usize| vec![S::ZERO; n];
        Ok(Run::new(Self {
            host: Host::euclidean(problem)?,
            f,
            ridge,
            pair: Pair::new(problem)?,
            x: x0.to_vec(),
            previous: x0.to_vec(),
            ht: zeros(cols * rank),
            grad: zeros(x0.len()),
            grad_ht: zeros(cols * rank),
            gram: zeros(2 * rank * rank),
            scratch: Scratch::new(rank),
            value: f64::NAN,
            begun: false,
        }))
    }

    /// Number of entries of W.
    fn split(&self) -> usize {
        self.x.len() - self.ht.len()
    }

    /// ∇f(x), f(x) and the pair.
    fn evaluate(&mut self) {
        self.begun = true;
        let (split, (_, cols, rank)) = (self.split(), self.f.shape());
        let (w, h) = self.x.split_at(split);
        turn(&mut self.ht, h, rank, cols);
        let (grad_w, grad_h) = self.grad.split_at_mut(split);
        self.value = self.f.evaluate(grad_w, &mut self.grad_ht, w, &self.ht, &mut self.gram);
        turn(grad_h, &self.grad_ht, cols, rank);
        let weight = match self.f.known().feedback() {
            Feedback::Explicit => 1.0,
            Feedback::Implicit => 1.0 + norm_inf(self.f.known().entries().values()),
        };
        // σ₁ of a Gram matrix is at most its trace.
        let lipschitz = weight * norm2_squared(h).max(norm2_squared(w)) + self.f.ridge();
        self.pair.look(self.host.problem(), &self.x, &self.grad, lipschitz);
    }

    fn sweep(&mut self) {
        self.previous.copy_from_slice(&self.x);
        let (split, (rows, cols, rank)) = (self.split(), self.f.shape());
        let Self { f, x, ht, gram, scratch, .. } = self;
        let (w, h) = x.split_at_mut(split);
        let everything = f.known().feedback() == Feedback::Implicit;
        let gram = &mut gram[..rank * rank];
        if everything {
            S::gram(gram, Mat::new(ht, cols, rank)); // HHᵀ
        }
        f.known().ridge(Side::Rows, w, ht, self.ridge, everything.then_some(&*gram), scratch);
        if everything {
            S::gram(gram, Mat::new(w, rows, rank)); // WᵀW
        }
        f.known().ridge(Side::Columns, ht, w, f.ridge(), everything.then_some(&*gram), scratch);
        turn(h, ht, cols, rank);
    }
}

impl<'p, S: Real> Method for Als<'p, S> {
    type Space = Host<'p, S>;

    fn step(&mut self, k: u64) -> Option<Info> {
        if k > 0 {
            self.sweep();
        }
        self.evaluate();
        Some(Info::unsmoothed(k + 1, 1.0, self.host.between(), [self.pair.residual; 2], self.pair.gap))
    }

    fn retreat(&mut self) {
        std::mem::swap(&mut self.x, &mut self.previous);
        self.evaluate();
    }

    fn standing(&mut self, _: u64) -> impl Standing<Host<'p, S>> {
        self
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        state::Memo::Als(Memo { x: self.x.clone() })
    }

    fn restore(&mut self, k: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Als(Memo { x }) = memo else { return memo.is_none_of("als") };
        fits(x, self.x.len())?;
        self.x.copy_from_slice(x);
        self.previous.copy_from_slice(x);
        self.begun = false;
        if k > 0 {
            self.evaluate();
        }
        Ok(())
    }
}

impl<'p, S: Real> Standing<Host<'p, S>> for Als<'p, S> {
    fn place(&mut self) -> (&mut Host<'p, S>, &Vec<S>) {
        (&mut self.host, &self.x)
    }

    fn objective(&mut self) -> f64 {
        let (problem, work) = self.host.parts();
        let loss = if self.begun { self.value } else { problem.f().value_grad(&mut self.grad, &self.x, work) };
        loss + problem.penalty(&self.x, work)
    }

    fn exact_dual_norm(&mut self) -> f64 {
        let mut sum = std::mem::take(&mut self.previous);
        self.pair.gradient(self.host.problem(), &mut sum, &self.grad);
        let norm = self.host.dual_norm_of(&sum);
        self.previous = sum;
        norm
    }

    fn show(&mut self) -> Shown {
        if self.begun { self.pair.show(&mut self.host) } else { Shown::smoothed(self.host.problem().default_beta()) }
    }
}

impl<S: Real> Measured for Als<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.host.measure_in(geometry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Options, Status, Stop, run};
    use crate::operator::Select;
    use crate::penalty::{Entrywise, L1, Ridge};
    use crate::seeded::Seeded;
    use crate::smooth::Smooth;
    use crate::solver::Solver;
    use crate::sparse::{Csr, Misfit};
    use crate::threads::Threads;

    fn problem<S: Real>(feedback: Feedback) -> (Problem<S>, Vec<S>) {
        let (rows, cols, rank) = (300, 90, 7);
        let mut seeded = Seeded::new(5);
        let list = (0..6000_usize).map(|k| ((k * 7919 % rows) as u32, (k * 104_729 % cols) as u32));
        let list: Vec<_> = list.map(|(i, j)| (i, j, S::of(seeded.normal().abs()))).collect();
        let first = |_, _, y: &[S]| Ok::<_, Misfit>(y[0]);
        let entries = Csr::from_entries(rows, cols, list.into_iter(), first).unwrap();
        let f = KnownFactors::new(entries, feedback, rank, 0.8).unwrap();
        let t = Select::new(f.layout(), &["W"]).unwrap();
        let start = Seeded::new(6).normals((rows + cols) * rank);
        (Problem::new(f, Entrywise::new(Ridge::new(0.8).unwrap(), rows * rank), t).unwrap(), start)
    }

    #[test]
    fn ends_where_nothing_is_left_to_do_and_is_certified() {
        for feedback in [Feedback::Explicit, Feedback::Implicit] {
            let (problem, start) = problem::<f64>(feedback);
            let mut solver = Als::new(&problem, &start).unwrap();
            let mut last = f64::INFINITY;
            for _ in 0..20 {
                solver.next();
                assert!(solver.objective() <= last * (1.0 + 1e-12), "F climbs");
                last = solver.objective();
            }
            let stop = Stop { tolerance: Some(1e-7), ..Stop::after(3000) };
            let report = run(&mut solver, &Options::new(stop), &mut []);
            assert_eq!(report.status, Status::Settled, "{:?}", report.info);
            assert!(report.certificate.unwrap().verify(&problem, &report.x, 1e-6).unwrap().passed());
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let (problem, start) = problem::<f32>(Feedback::Implicit);
        let run = |threads: usize| {
            Threads::new(threads).unwrap().run(|| {
                let mut solver = Als::new(&problem, &start).unwrap();
                assert_eq!(solver.by_ref().take(4).count(), 4);
                solver.x().to_vec()
            })
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn other_problems_are_refused() {
        let (problem, start) = problem::<f64>(Feedback::Explicit);
        let Form::Known(f) = problem.f().form() else { panic!() };
        let t = Select::new(f.layout(), &["W"]).unwrap();
        let other = Problem::new(f.clone(), Entrywise::new(L1::new(0.8).unwrap(), 2100), t).unwrap();
        assert!(!Als::fits(&other) && Als::fits(&problem));
        assert!(matches!(Als::new(&other, &start), Err(Error::Unsupported(_))));
    }
}
