//! A large picture is solved strip by strip.

use std::ops::ControlFlow;
use std::time::Duration;

use melmo::real::Real;
use melmo_tasks::denoise::{Joined, Options, Plan, Planes, pieces};
use melmo_tasks::solve::iterations;
use melmo_tasks::{Prepared, Settings, Solved, Until};

use super::Clean;
use crate::args::{Denoise, Solving};
use crate::error::Error;
use crate::picture::Picture;
use crate::render::{Summary, progress};

/// Samples of a picture in strips that is certified without being asked: a certificate takes about 140 bytes for each of them.
const CERTIFIED: usize = 1 << 24;

/// The look at a whole picture takes about so many times as long as preparing its problem.
const LOOK_IN_PREPARING: u32 = 10;

impl Denoise {
    /// Whether a picture of this shape is solved strip by strip: where it is large, and nobody asks for what only a run in one piece
    /// has, a way of its own or a goal for the whole.
    pub(super) fn in_strips(&self, shape: [usize; 3]) -> bool {
        let Solving { trace, checkpoint, .. } = &self.solving;
        let watched = [trace, checkpoint, &self.init].iter().any(|file| file.is_some());
        // A GPU takes a picture in one piece.
        !watched
            && !self.on_gpu()
            && !self.has_goal()
            && shape[0] * shape[1] > 0
            && pieces(&self.asked(shape), shape).1.len() > 1
    }

    /// Solves a large picture strip by strip, on all cores. The strips depend on its size alone, so the result does not depend on how
    /// many threads there are.
    pub(super) fn joined<S: Real>(
        &self,
        (prepared, kept): (&Prepared<S>, &mut Clean<S>),
        settings: &Settings,
        until: &Until,
        summary: &mut Summary,
    ) -> Result<Solved<S>, Error> {
        let Clean { picture, noise, preparing, .. } = &*kept;
        let certify = self.certifies(picture);
        // Time for the certificate is set aside.
        let for_strips = until.clone().leaving(if certify { LOOK_IN_PREPARING * *preparing } else { Duration::ZERO });
        let together = kept.given.is_none().then(|| picture.together::<S>());
        let data = kept.given.as_ref().or(together.as_ref()).map_or(&[][..], Vec::as_slice);
        let options = Options { found: Some(noise.clone()), ..self.options(picture) };
        let plan = Plan::new(Planes::new(data, picture.rows, picture.cols, picture.planes.len())?, &options)?;
        let steps = iterations(&prepared.defaults, settings) * plan.strips().len() as u64;
        let bar = progress::bar(self.solving.quiet, steps);
        let each = || {
            bar.inc(1);
            if progress::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let joined = Joined::solve(&plan, settings, &for_strips, &each);
        bar.finish_and_clear();
        let joined = joined?;
        if joined.untouched > 0 {
            let text = format!("{} strips there was no time for: they are as they were", joined.untouched);
            summary.add("untouched_strips", joined.untouched, "untouched", text);
        }
        let solved = joined.whole((&plan, prepared), settings, certify, until)?;
        if let (Some(given), false) = (&mut kept.given, kept.view.keeps_samples()) {
            *given = Vec::new();
        }
        Ok(solved)
    }

    /// The end of a picture in strips is certified.
    pub(super) fn certifies(&self, picture: &Picture) -> bool {
        picture.samples() <= CERTIFIED || self.solving.result.is_some()
    }
}
