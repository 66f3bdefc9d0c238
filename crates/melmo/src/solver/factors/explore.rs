//! Looking for a better basin from where a factorisation has settled.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::geometry::Geometry;
use crate::problem::Problem;
use crate::real::Real;
use crate::seeded::Seeded;
use crate::solver::factors::Alternating;
use crate::solver::smoothing::Smoothing;
use crate::solver::state::{self, State, count};
use crate::solver::{Info, Measured, Method, Run, Solver, Standing};
use crate::space::Host;
use crate::vector;

/// Sweeps without smoothing after which a pass is judged.
const SETTLED: u64 = 200;
/// A pass was worth it when F fell by this part.
const WORTH: f64 = 1e-6;
/// Passes after the first shrink β so much more slowly.
const SLOWER: f64 = 0.01;
/// Passes start by turns this far from the best point, next to the size of W and of H. The first starts at the point itself.
const KICKS: [f64; 2] = [2.0, 4.0];

/// [`Alternating`] in passes: once it has settled, a scout sets out from near there, with the first β and a hundredth of κ.
/// What is shown stays where it is until a scout has settled lower; then it moves there, and the next scout sets out.
///
/// Scouts start at the best point with normal numbers added, twice and four times as large as its entries: nearer ones fall
/// back into the same basin. The numbers depend on how many scouts there were before, so a run can be repeated. F at the
/// points it shows falls from pass to pass, but a pass takes hundreds of steps in which nothing seems to happen, and there is
/// no last one: give it a number of steps, or a time.
pub struct Explored<'p, S> {
    problem: &'p Problem<S>,
    shown: Run<Alternating<'p, S>>,
    scout: Run<Alternating<'p, S>>,
    slower: Smoothing,
    /// Where the next scout sets out.
    from: Vec<S>,
    /// Scouts so far: none during the first pass.
    scouts: u64,
    last: Option<Info>,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memo<S: Real> {
    scouts: u64,
    shown: Box<State<S>>,
    scout: Box<State<S>>,
}

impl<'p, S: Real> Explored<'p, S> {
    /// Starts at x₀ = (W, H), which is copied; `make` adds the options that both solvers share.
    pub fn new(
        problem: &'p Problem<S>,
        smoothing: Smoothing,
        x0: &[S],
        make: impl Fn(Run<Alternating<'p, S>>) -> Result<Run<Alternating<'p, S>>, Error>,
    ) -> Result<Run<Self>, Error> {
        let slower = smoothing.with(Some(SLOWER * smoothing.kappa), None)?;
        let shown = make(Alternating::new(problem, smoothing, x0)?)?;
        let scout = make(Alternating::new(problem, slower, x0)?)?;
        Ok(Run::new(Self { problem, shown, scout, slower, from: x0.to_vec(), scouts: 0, last: None }))
    }

    fn send(&mut self) {
        self.from.copy_from_slice(self.shown.point());
        if self.scouts > 0 {
            let kick = KICKS[self.scouts as usize % KICKS.len()];
            let mut seeded = Seeded::new(self.scouts);
            for block in self.problem.layout().blocks() {
                let part = &mut self.from[block.range()];
                let size = kick * vector::norm2(part) / (part.len() as f64).sqrt();
                part.iter_mut().for_each(|entry| *entry += S::of(size * seeded.normal()));
            }
        }
        self.scouts += 1;
        self.scout.begin_at(&self.from, self.slower);
    }

    fn judge(&mut self) {
        let (reached, known) = (self.scout.objective(), self.shown.objective());
        if reached < known - WORTH * known.abs() {
            self.last = Some(self.shown.settle_at(self.scout.point()));
        }
    }
}

impl<'p, S: Real> Method for Explored<'p, S> {
    type Space = Host<'p, S>;

    /// One step of whoever moves; the info is of what is shown.
    fn step(&mut self, k: u64) -> Option<Info> {
        if self.scouts == 0 {
            self.last = self.shown.next();
            if self.shown.polished() >= SETTLED {
                self.send();
            }
        } else {
            // A scout that has got lost is judged like one that has settled.
            let lost = self.scout.next().is_none_or(|info| !info.finite);
            if lost || self.scout.polished() >= SETTLED {
                self.judge();
                self.send();
            }
        }
        self.last.map(|info| Info { k: k + 1, ..info })
    }

    fn standing(&mut self, _: u64) -> impl Standing<Host<'p, S>> {
        self.shown.standing()
    }

    fn save(&mut self, _: u64) -> state::Memo<S> {
        let [shown, scout] = [&mut self.shown, &mut self.scout].map(|run| Box::new(run.save()));
        state::Memo::Explored(Memo { scouts: self.scouts, shown, scout })
    }

    fn restore(&mut self, _: u64, memo: &state::Memo<S>) -> Result<(), Error> {
        let state::Memo::Explored(Memo { scouts, shown, scout }) = memo else { return memo.is_none_of("explored") };
        self.scouts = count(*scouts)?;
        self.shown.restore(shown)?;
        self.scout.restore(scout)?;
        self.last = self.shown.info();
        Ok(())
    }
}

impl<S: Real> Measured for Explored<'_, S> {
    fn measure_in(&mut self, geometry: Box<dyn Geometry<S>>) -> Result<(), Error> {
        self.shown.method.measure_in(geometry)
    }
}
