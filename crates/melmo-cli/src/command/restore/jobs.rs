//! What each of the commands reads.

use std::path::Path;

use melmo::real::Real;
use melmo::suggest::nearest;
use melmo_tasks::deblur::{self, Kernel};
use melmo_tasks::denoise::Planes;
use melmo_tasks::restore::{Options, Restoration};
use melmo_tasks::{inpaint, upscale};

use super::Restore;
use crate::args::{Deblur, Inpaint, Restoring, Solving, Upscale};
use crate::error::Error;
use crate::input::Inputs;
use crate::picture::Picture;
use crate::render::Summary;

/// Kernels that have a name.
const KERNELS: [&str; 3] = ["gaussian", "disk", "motion"];

fn tell(picture: &Picture, summary: &mut Summary) {
    summary.add("shape", vec![picture.rows, picture.cols, picture.planes.len()], "image", picture.about());
}

impl Deblur {
    /// By name, or from a file.
    fn read_kernel(&self, inputs: &mut Inputs) -> Result<Kernel, Error> {
        let path = Path::new(&self.kernel);
        if !path.exists() {
            if KERNELS.iter().any(|name| self.kernel.starts_with(name)) {
                return Ok(self.kernel.parse()?);
            }
            if let Some(meant) = nearest(self.kernel.split(':').next().unwrap_or_default(), KERNELS) {
                return Err(Error::input(path, format!("there is no such file; did you mean the kernel `{meant}`?")));
            }
        }
        let matrix = inputs.matrix(path)?;
        Ok(Kernel::new(matrix.data, matrix.rows, matrix.cols)?)
    }
}

impl Restore for Deblur {
    const DONE: &'static str = "deblurred";

    fn restoring(&self) -> &Restoring {
        &self.restoring
    }

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn noise(&self) -> Option<f64> {
        self.noise
    }

    fn plan<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<(Picture, Restoration<S>), Error> {
        let picture = Picture::read(inputs, &self.restoring.input)?;
        let kernel = self.read_kernel(inputs)?;
        tell(&picture, summary);
        summary.text("kernel", "kernel", format!("{}×{}, {}", kernel.rows, kernel.cols, self.kernel));
        let data = picture.together::<S>();
        let image = Planes::new(&data, picture.rows, picture.cols, picture.planes.len())?;
        let plan = deblur::plan(image, &kernel, &self.options(&picture))?;
        Ok((picture, plan))
    }
}

impl Restore for Upscale {
    const DONE: &'static str = "upscaled";

    fn factor(&self) -> usize {
        self.factor
    }

    fn restoring(&self) -> &Restoring {
        &self.restoring
    }

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn noise(&self) -> Option<f64> {
        self.noise
    }

    fn plan<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<(Picture, Restoration<S>), Error> {
        let picture = Picture::read(inputs, &self.restoring.input)?;
        tell(&picture, summary);
        let data = picture.together::<S>();
        let image = Planes::new(&data, picture.rows, picture.cols, picture.planes.len())?;
        let plan = upscale::plan(image, self.factor, &self.options(&picture))?;
        Ok((picture, plan))
    }
}

impl Inpaint {
    /// Where pixels are missing: NaN, or not 0 in the mask.
    fn missing(&self, picture: &Picture, inputs: &mut Inputs) -> Result<Vec<bool>, Error> {
        let mut missing = picture.gaps();
        if let Some(path) = &self.mask {
            let mask = Picture::read(inputs, path)?;
            if (mask.rows, mask.cols) != (picture.rows, picture.cols) {
                let message = format!("found {}; expected {}×{} pixels", mask.about(), picture.rows, picture.cols);
                return Err(Error::input(path, message));
            }
            for plane in &mask.planes {
                missing.iter_mut().zip(plane).for_each(|(missing, &mask)| *missing |= mask != 0.0);
            }
        }
        match (missing.contains(&true), missing.contains(&false)) {
            (true, true) => Ok(missing),
            (_, false) => Err(Error::input(
                &self.restoring.input,
                "no pixel of it is known: the mask is not 0 where pixels are to be filled in",
            )),
            (false, _) => Err(Error::input(
                &self.restoring.input,
                "no pixel of it is missing: --mask says which, or NaN in an array",
            )),
        }
    }
}

impl Restore for Inpaint {
    const DONE: &'static str = "inpainted";

    fn restoring(&self) -> &Restoring {
        &self.restoring
    }

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn noise(&self) -> Option<f64> {
        Some(self.noise)
    }

    fn plan<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<(Picture, Restoration<S>), Error> {
        let mut picture = Picture::read_with_gaps(inputs, &self.restoring.input)?;
        let missing = self.missing(&picture, inputs)?;
        tell(&picture, summary);
        let count = missing.iter().filter(|&&missing| missing).count();
        let share = 100.0 * count as f64 / missing.len() as f64;
        summary.add("missing", count, "missing", format!("{count} pixels ({share:.1} %)"));
        picture.fill_gaps(&missing);
        let data = picture.together::<S>();
        let image = Planes::new(&data, picture.rows, picture.cols, picture.planes.len())?;
        let plan = inpaint::plan(image, &missing, &self.options(&picture))?;
        Ok((picture, plan))
    }

    fn options(&self, picture: &Picture) -> Options {
        Options { noise: Some(self.noise), lambda: self.restoring.lambda, range: Some(picture.range()) }
    }
}
