//! Looking for a better basin from where a factorisation has settled.

use crate::certificate::Evidence;
use crate::error::Error;
use crate::geometry::{BlockNorm, Geometry};
use crate::problem::Problem;
use crate::real::Real;
use crate::seeded::Seeded;
use crate::solver::factors::Alternating;
use crate::solver::factors::alternating::NUMBERS;
use crate::solver::inner::forward_to_inner;
use crate::solver::smoothing::Smoothing;
use crate::solver::{Info, Solver, State, count};
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
    shown: Alternating<'p, S>,
    scout: Alternating<'p, S>,
    slower: Smoothing,
    /// Where the next scout sets out.
    from: Vec<S>,
    /// Scouts so far: none during the first pass.
    scouts: u64,
    last: Option<Info>,
    k: u64,
}

impl<'p, S: Real> Explored<'p, S> {
    /// Starts at x₀ = (W, H), which is copied; `make` adds the options that both solvers share.
    pub fn new(
        problem: &'p Problem<S>,
        smoothing: Smoothing,
        x0: &[S],
        make: impl Fn(Alternating<'p, S>) -> Result<Alternating<'p, S>, Error>,
    ) -> Result<Self, Error> {
        let slower = smoothing.with(SLOWER * smoothing.kappa, f64::NAN)?;
        let shown = make(Alternating::new(problem, smoothing, x0)?)?;
        let scout = make(Alternating::new(problem, slower, x0)?)?;
        Ok(Self { shown, scout, slower, from: x0.to_vec(), scouts: 0, last: None, k: 0 })
    }

    /// Measured in a norm.
    pub fn in_norm(mut self, geometry: Box<dyn Geometry<S>>) -> Result<Self, Error> {
        self.shown = self.shown.in_norm(geometry)?;
        Ok(self)
    }

    /// One step of whoever moves; the info is of what is shown.
    fn advance(&mut self) -> Option<Info> {
        self.k += 1;
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
        self.last.map(|info| Info { k: self.k, ..info })
    }

    fn send(&mut self) {
        self.from.copy_from_slice(self.shown.x());
        if self.scouts > 0 {
            let kick = KICKS[self.scouts as usize % KICKS.len()];
            let mut seeded = Seeded::new(self.scouts);
            for block in self.shown.problem().layout().blocks() {
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
            self.last = Some(self.shown.settle_at(self.scout.x()));
        }
    }
}

impl<S: Real> Iterator for Explored<'_, S> {
    type Item = Info;

    fn next(&mut self) -> Option<Info> {
        self.advance()
    }
}

impl<S: Real> Solver<S> for Explored<'_, S> {
    forward_to_inner!(shown);

    fn save(&self) -> State<S> {
        let (shown, scout) = (self.shown.save(), self.scout.save());
        let stage = [self.scouts as f64, shown.k as f64, scout.k as f64];
        State {
            solver: "alternating, explored".into(),
            k: self.k,
            numbers: [&stage[..], &shown.numbers, &scout.numbers].concat(),
            vectors: [shown.vectors, scout.vectors].concat(),
            warm_start: vec![],
        }
    }

    fn restore(&mut self, state: &State<S>) -> Result<(), Error> {
        let all: [f64; 3 + 2 * NUMBERS] = state.check("alternating, explored", 4, self.shown.x().len())?;
        let (of_shown, of_scout) = all[3..].split_at(NUMBERS);
        self.shown.restore(&State::part("alternating", all[1], of_shown, &state.vectors[..2])?)?;
        self.scout.restore(&State::part("alternating", all[2], of_scout, &state.vectors[2..])?)?;
        self.scouts = count(all[0])?;
        self.k = state.k;
        self.last = self.shown.standing();
        Ok(())
    }
}
