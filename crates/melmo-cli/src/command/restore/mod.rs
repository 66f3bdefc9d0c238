//! `melmo deblur`, `melmo inpaint` and `melmo upscale`: a picture from what is left of it.

mod jobs;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use melmo::real::Real;
use melmo_tasks::restore::{Choice, Options, Restoration, choose};
use melmo_tasks::{Prepared, Solved};

use crate::args::{Restoring, Solving};
use crate::checkpoint::Checkpoint;
use crate::command::pages::{self, Pictured};
use crate::command::quality;
use crate::error::Error;
use crate::input::Inputs;
use crate::job::Job;
use crate::output::Outputs;
use crate::picture::Picture;
use crate::render::{Summary, progress, short};
use crate::session::{Ready, Solve};
use crate::target::Target;

/// One of the commands: what it reads, and what is to be done to it.
pub trait Restore {
    /// What was done, as in IN-deblurred.
    const DONE: &'static str;

    /// How many times as high and wide the picture becomes.
    fn factor(&self) -> usize {
        1
    }

    /// What all of them share.
    fn restoring(&self) -> &Restoring;

    /// The options that all solving commands share.
    fn solving(&self) -> &Solving;

    /// The noise, where it was given.
    fn noise(&self) -> Option<f64>;

    /// Reads the picture and whatever else is needed.
    fn plan<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<(Picture, Restoration<S>), Error>;

    /// What was chosen by the user, for a picture of this range.
    fn options(&self, picture: &Picture) -> Options {
        Options { noise: self.noise(), lambda: self.restoring().lambda, range: Some(picture.range()) }
    }
}

/// Runs one of the commands, page by page.
pub fn run<C: Restore + Clone>(command: &C, job: &Job, begun: Option<Checkpoint>) -> Result<ExitCode, Error> {
    pages::finish(command, job, begun)?.tell(Restore::solving(command))
}

impl<C: Restore + Clone> Pictured for C {
    fn input(&self) -> &Path {
        &self.restoring().input
    }

    fn target(&self) -> Target {
        let restoring = self.restoring();
        let name = restoring.format_name.as_deref();
        Target::new(&restoring.input, restoring.output.as_ref(), restoring.format(), name, C::DONE)
    }

    fn factor(&self) -> usize {
        Restore::factor(self)
    }

    fn speaks_of_one(&self) -> Option<&'static str> {
        None
    }
}

/// The picture as it came, and what is to be done to it.
pub struct Kept<S> {
    before: Picture,
    reference: Option<Picture>,
    plan: Restoration<S>,
}

impl<S: Real> Kept<S> {
    fn restored(&self, x: &[S]) -> Picture {
        let (rows, cols) = self.plan.shape();
        self.before.sized(rows, cols).with(&self.plan.picture(x), 1.0)
    }
}

impl<C: Restore + Clone> Solve for C {
    type Kept<S: Real> = Kept<S>;

    fn solving(&self) -> &Solving {
        Restore::solving(self)
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        let target = self.target();
        target.expect_format()?;
        Ok(vec![target.path])
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Self::Kept<S>>, Error> {
        let (before, plan) = progress::nothing_to_keep(|| self.plan::<S>(inputs, summary))?;
        before.expect_to_fit(&self.target())?;
        let (rows, cols) = plan.shape();
        let like = before.sized(rows, cols);
        let restoring = self.restoring();
        let reference = restoring.reference.as_ref().map(|path| like.read_like(inputs, path)).transpose()?;
        let Choice { lambda, how, near } = choose(&plan, restoring.lambda, &inputs.until)?;
        let mut resolved = Vec::new();
        if plan.weighs() {
            let given = if self.noise().is_some() { "given" } else { "estimated" };
            summary.add("noise", plan.noise(), "noise", format!("{} ({given})", short(plan.noise())));
            summary.add("lambda", lambda, "λ", format!("{} ({how})", short(lambda)));
            resolved = vec![("noise", plan.noise().to_string()), ("lambda", lambda.to_string())];
        }
        summary.text("penalty", "penalty", plan.penalty(lambda));
        let prepared = plan.prepare(lambda)?;
        let start = near.unwrap_or_else(|| prepared.start.clone());
        Ok(Ready { prepared: Prepared { start, ..prepared }, kept: Kept { before, reference, plan }, resolved })
    }

    fn deliver<S: Real>(
        &self,
        kept: &Self::Kept<S>,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        if let Some(misfit) = kept.plan.misfit(&solved.report.x)? {
            let text = format!("data are missed by {} times the noise (root mean square)", short(misfit.sqrt()));
            summary.add("misfit", misfit.sqrt(), "misfit", text);
        }
        let restored = kept.restored(&solved.report.x);
        if let Some(clean) = &kept.reference {
            match Restore::factor(self) {
                1 => quality::tell(clean, &kept.before, &restored, summary)?,
                _ => quality::tell_after(clean, &restored, summary)?,
            }
        }
        restored.write(outputs, &self.target())
    }

    fn pictures<S: Real>(&self, kept: &Self::Kept<S>, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        let (rows, cols) = kept.plan.shape();
        let pair =
            kept.before.sized(rows, cols).preview("before").zip(kept.restored(&solved.report.x).preview("after"));
        pair.map(|(before, after)| melmo_page::ImagePair::new("Before and after", before, after).into())
            .into_iter()
            .collect()
    }
}
