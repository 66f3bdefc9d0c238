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
        for first in [true, false] {
            if first {
                self.move_to(&stretched);
            }
            for step in (0..=BACK).rev() {
                let stretch = STRETCH.powf(f64::from(step) / f64::from(BACK));
                if flow.is_continue() {
                    flow = self.pass(Way { stretch, ..Way::STRETCHED }, g, go_on)?;
                }
                if first && step == BACK {
                    stretched.copy_from_slice(&self.descent.x);
                }
            }
            let value = self.descent.f_x + self.descent.penalty(g);
            let agree = (value - best.0).abs() <= LOWER * best.0.abs();
            if !agree && value < best.0 {
                best = (value, self.descent.x.clone());
            }
            self.move_to(&best.1);
            if agree {
                break;
            }
        }
        self.stretched = Some(stretched);
        Ok(flow)
    }
}
