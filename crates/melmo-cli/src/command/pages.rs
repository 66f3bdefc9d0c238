//! A file of several pages: each is a picture with a problem and a certificate of its own, and together they are one file again.

use std::path::Path;
use std::process::ExitCode;

use melmo_data::Data;
use melmo_data::image::Image;

use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::input::{Inputs, is_standard};
use crate::job::Job;
use crate::output::Outputs;
use crate::picture::Picture;
use crate::render::{Summary, progress, say};
use crate::session::{self, Done, Solve};
use crate::target::Target;

/// A command that makes a picture of a picture.
pub trait Pictured: Solve + Clone {
    /// The picture.
    fn input(&self) -> &Path;

    /// Where what comes out goes.
    fn target(&self) -> Target;

    /// The same for a picture of this shape.
    fn for_shape(&self, _shape: Option<[usize; 3]>) -> Self {
        self.clone()
    }

    /// All pages are one problem.
    fn is_one_problem(&self) -> bool {
        false
    }

    /// How many times as high and wide the picture becomes.
    fn factor(&self) -> usize {
        1
    }

    /// An option that speaks of one picture, where it was given.
    fn speaks_of_one(&self) -> Option<&'static str>;
}

/// Runs the command for every page, and says nothing yet.
pub fn finish<C: Pictured>(command: &C, job: &Job, begun: Option<Checkpoint>) -> Result<Done, Error> {
    let mut inputs = session::inputs(command.solving());
    let shape = match inputs.look_ahead(command.input())? {
        Data::Pages(_) if !command.is_one_problem() => {
            let Data::Pages(pages) = inputs.open(command.input())? else { unreachable!("it was one") };
            return all(command, job, &inputs, pages);
        }
        data => Picture::shape(data),
    };
    session::finish(&command.for_shape(shape), job, begun, inputs)
}

fn all<C: Pictured>(command: &C, job: &Job, inputs: &Inputs, pages: Vec<Image>) -> Result<Done, Error> {
    if let Some(option) = alone(command) {
        let message = format!("{} has {} pages, and this is for one picture", command.input().display(), pages.len());
        return Err(Error::option(option, message));
    }
    let (count, quiet) = (pages.len(), command.solving().quiet);
    let mut outputs = session::plan(command, None)?;
    outputs.expect_pages(count);
    let (mut summary, mut told, mut short) = (Summary::default(), Vec::new(), Vec::new());
    summary.silent("command", job.command.clone());
    for (page, image) in pages.into_iter().enumerate() {
        if progress::interrupted() || inputs.until.left().is_some_and(|left| left.is_zero()) {
            short.push(page + 1);
            as_it_was(command, &image, &mut outputs)?;
            continue;
        }
        if !quiet {
            say::note(&format!("page {} of {count}", page + 1));
        }
        let one = command.for_shape(Some(Picture::shape_of(&image)));
        let done = session::finish_into(&one, job, None, inputs.for_page(command.input(), page, image), &mut outputs)?;
        if done.cut_short {
            short.push(page + 1);
        }
        summary.shown("page", format!("{}: {}", page + 1, done.summary.gist()));
        told.push(done.summary.json());
    }
    outputs.place()?;
    summary.silent("pages", told);
    let whole = count - short.len();
    summary.add("done", whole, "done", format!("{whole} of {count} pages, in {}", command.target().path.display()));
    if !short.is_empty() {
        let text = short.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        summary.add("unfinished", short.clone(), "unfinished", format!("pages {text}: cut short, or as they were"));
    }
    let aside = is_standard(&command.target().path);
    Ok(Done { summary, aside, code: ExitCode::from(u8::from(!short.is_empty())), cut_short: !short.is_empty() })
}

/// A page that there was no time for.
fn as_it_was<C: Pictured>(command: &C, image: &Image, outputs: &mut Outputs) -> Result<(), Error> {
    let picture = Picture::of_image(image);
    let picture = picture.sized(command.factor() * picture.rows, command.factor() * picture.cols);
    picture.write(outputs, &command.target())?;
    outputs.place()
}

/// An option that does not go with several pages.
fn alone<C: Pictured>(command: &C) -> Option<&'static str> {
    let solving = command.solving();
    let given = [
        (&solving.trace, "trace"),
        (&solving.report, "report"),
        (&solving.result, "result"),
        (&solving.checkpoint, "checkpoint"),
        (&solving.save_config, "save-config"),
    ];
    let found = given.into_iter().find(|(file, _)| file.is_some()).map(|(_, option)| option);
    found.or_else(|| command.speaks_of_one())
}
