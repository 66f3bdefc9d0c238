//! Two ways down to a λ, for penalties that are not convex: the way decides among local minima.

use std::ops::ControlFlow;

use crate::error::Error;
use crate::penalty::{Coordinates, Stretched};
use crate::real::Real;
use crate::solver::coordinate::working_set::Entry;
use crate::solver::coordinate::{LambdaPath, units};

/// How far solutions on the way are taken: relative to the kinks, and in rounds.
const ON_THE_WAY: (f64, u32) = (1e-3, 5);
/// The penalty is stretched by this on one of the two ways, and comes back from there in so many steps.
const STRETCH: f64 = 2.0;
const BACK: u32 = 2;
/// There and back again from the lowest, where columns are sparse: local minima are many there, and rounds cost little.
const AGAIN: [f64; 2] = [3.0, 1.5];
/// A way leads lower if it does by this part of F.
const LOWER: f64 = 1e-6;

/// A way down to some λ.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Way {
    /// The penalty is stretched by this.
    stretch: f64,
    /// λ falls by this factor.
    stride: f64,
    entry: Entry,
}

impl Way {
    /// The penalty's own.
    const OWN: Self = Self { stretch: 1.0, stride: 0.6, entry: Entry::FewFirst };
    /// That of one which is bent less.
    const STRETCHED: Self = Self { stretch: STRETCH, stride: 0.7, entry: Entry::Many };
}

impl<S: Real> LambdaPath<'_, S> {
    /// From λ_max, where the path stands, nearly to λ, on two ways: for penalties that are not convex. `go_on` is asked after every sweep.
    pub fn approach(
        &mut self,
        lambda_max: f64,
        lambda: f64,
        mut go_on: impl FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let begin = self.descent.x.clone();
        let mut flow = ControlFlow::Continue(());
        for way in [Way::STRETCHED, Way::OWN] {
            self.stretched = (way == Way::OWN).then(|| self.descent.x.clone());
            self.move_to(&begin);
            let mut passed = way.stride * lambda_max;
            while passed * way.stride.sqrt() > lambda && flow.is_continue() {
                let boxed = (self.penalty)(passed)?;
                flow = self.pass(way, units(&*boxed)?, &mut go_on)?;
                passed *= way.stride;
            }
        }
        Ok(flow)
    }

    /// A few rounds, as exact as a way needs them.
    fn pass(
        &mut self,
        way: Way,
        g: &dyn Coordinates<S>,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let (tolerance, rounds) = ON_THE_WAY;
        let allowed = tolerance.max(self.tolerance) * self.kink(g);
        Ok(self.descend(&Stretched { g, s: way.stretch }, way.entry, (allowed, rounds), go_on)?.flow)
    }

    /// Goes where F is lowest: on from here, back from where the stretched penalty's way stands, or from the better of these there and
    /// back. Stays here where there is no such way.
    pub(super) fn lowest_of_ways(
        &mut self,
        g: &dyn Coordinates<S>,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let Some(mut stretched) = self.stretched.take() else { return Ok(ControlFlow::Continue(())) };
        let mut flow = self.pass(Way::OWN, g, go_on)?;
        let mut best = (self.descent.f_x + self.descent.penalty(g), self.descent.x.clone());
        self.move_to(&stretched);
        flow = self.there_and_back(STRETCH, g, Some(&mut stretched), flow, go_on)?;
        let agree = self.keep_lower(g, &mut best);
        let again: &[f64] = match (agree, self.descent.model.columns.is_sparse()) {
            (true, _) => &[],
            (false, true) => &[STRETCH, AGAIN[0], AGAIN[1]],
            (false, false) => &[STRETCH],
        };
        for &stretch in again {
            flow = self.there_and_back(stretch, g, None, flow, go_on)?;
            self.keep_lower(g, &mut best);
        }
        self.stretched = Some(stretched);
        Ok(flow)
    }

    /// From here to the solution of the penalty stretched by that, of which a copy may be kept, and back.
    fn there_and_back(
        &mut self,
        stretch: f64,
        g: &dyn Coordinates<S>,
        mut there: Option<&mut Vec<S>>,
        mut flow: ControlFlow<()>,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        for step in (0..=BACK).rev() {
            let stretch = stretch.powf(f64::from(step) / f64::from(BACK));
            if flow.is_continue() {
                flow = self.pass(Way { stretch, ..Way::STRETCHED }, g, go_on)?;
            }
            if let Some(kept) = there.take() {
                kept.copy_from_slice(&self.descent.x);
            }
        }
        Ok(flow)
    }

    /// Keeps x and F here where F is lower than the best, and goes to the best; whether the two are the same.
    fn keep_lower(&mut self, g: &dyn Coordinates<S>, best: &mut (f64, Vec<S>)) -> bool {
        let value = self.descent.f_x + self.descent.penalty(g);
        let agree = (value - best.0).abs() <= LOWER * best.0.abs();
        if !agree && value < best.0 {
            *best = (value, self.descent.x.clone());
        }
        self.move_to(&best.1);
        agree
    }
}
