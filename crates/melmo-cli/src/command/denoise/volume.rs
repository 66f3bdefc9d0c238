//! Volumes: an array of three axes, or the pages of a TIFF as slices, one problem for all.

use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo_data::image::{Encoding, Image};
use melmo_data::{Array, Data, metrics};
use melmo_tasks::denoise::{self, Volume};

use super::Kept;
use crate::args::Denoise;
use crate::error::Error;
use crate::input::{Inputs, convert};
use crate::output::Outputs;
use crate::render::{Summary, short};
use crate::session::Ready;
use crate::target::Format;

/// What a volume is made of.
pub struct Given {
    array: Array,
    /// Its slices, where they were pages.
    pages: Vec<Image>,
    clean: Option<Vec<f64>>,
    /// One unit of the problem's, in the volume's.
    scale: f64,
}

/// Whether what was read is a volume: three axes, of which the last is not that of colours, or whatever has three where one was asked for.
pub fn is_one(denoise: &Denoise, data: &Data) -> bool {
    match data {
        Data::Array(Array { shape, .. }) => shape.len() == 3 && (denoise.volume || !matches!(shape[2], 1 | 3)),
        Data::Pages(_) => denoise.volume,
        _ => false,
    }
}

impl Denoise {
    /// The problem of a volume.
    pub(super) fn ready_volume<S: Real>(
        &self,
        inputs: &mut Inputs,
        summary: &mut Summary,
    ) -> Result<Ready<S, Kept<S>>, Error> {
        self.expect_for_volumes()?;
        let (mut array, pages) = self.read_volume(inputs, &self.input)?;
        self.expect_kind(&pages)?;
        let sides: [usize; 3] = [array.shape[0], array.shape[1], array.shape[2]];
        let clean = match &self.reference {
            Some(path) => Some(self.read_volume(inputs, path)?.0).filter(|clean| clean.shape == array.shape),
            None => None,
        };
        if let (Some(path), None) = (&self.reference, &clean) {
            return Err(Error::input(path, format!("is of another shape; expected {:?}", array.shape)));
        }
        if let Some(level) = self.add_noise {
            let mut seeded = Seeded::new(self.solving.seed);
            array.data.iter_mut().for_each(|value| *value += level * seeded.normal());
        }
        let [depth, rows, cols] = sides;
        summary.add("shape", array.shape.clone(), "volume", format!("{depth} slices of {rows}×{cols}"));
        let found: Volume<S> = denoise::volume(&convert(&array.data), sides, &self.asked([rows, cols, depth]))?;
        let how = if self.noise.is_some() { "given" } else { "estimated" };
        let text = match found.noise > 0.0 {
            true => format!("{} ({how})", short(found.noise)),
            false => "there is no noise to remove".into(),
        };
        summary.add("noise", found.noise, "noise", text);
        summary.text("penalty", "penalty", found.penalty.clone());
        let clean = clean.map(|clean| clean.data);
        let mut resolved = vec![("noise", found.noise.to_string())];
        if self.penalty.is_none() {
            resolved.push(("prior", "differences".into()));
        }
        let kept = Kept::Volume(Given { array, pages, clean, scale: found.scale });
        Ok(Ready { prepared: found.prepared, kept, resolved })
    }

    fn read_volume(&self, inputs: &mut Inputs, path: &std::path::Path) -> Result<(Array, Vec<Image>), Error> {
        let (array, pages) = match inputs.open(path)? {
            Data::Pages(pages) => {
                let grey =
                    |page: &Image| page.channels == 1 && (page.height, page.width) == (pages[0].height, pages[0].width);
                if let Some(at) = pages.iter().position(|page| !grey(page)) {
                    let message = format!("page {}: slices of a volume have to be grey, and of one size", at + 1);
                    return Err(Error::input(path, message));
                }
                (Data::Pages(pages.clone()).into_array(), pages)
            }
            other => (other.into_array(), Vec::new()),
        };
        if array.shape.len() != 3 || array.data.is_empty() {
            let message = format!("found an array of shape {:?}; expected slices × rows × columns", array.shape);
            return Err(Error::input(path, message));
        }
        if let Some(at) = array.data.iter().position(|value| !value.is_finite()) {
            return Err(Error::input(
                path,
                format!("number {} is {}; expected finite numbers", at + 1, array.data[at]),
            ));
        }
        Ok((array, pages))
    }

    fn expect_for_volumes(&self) -> Result<(), Error> {
        let given = [(self.init.is_some(), "init"), (self.noisy_output.is_some(), "noisy-output")];
        match given.into_iter().find(|(given, _)| *given) {
            Some((_, option)) => Err(Error::option(option, "this is for pictures, and IN is a volume")),
            None => Ok(()),
        }
    }

    /// Arrays become arrays, and pages pages.
    fn expect_kind(&self, pages: &[Image]) -> Result<(), Error> {
        let target = self.target_of();
        let came = if pages.is_empty() { Format::Npy } else { Format::Image(Encoding::Tiff) };
        if target.format(came) == came {
            return Ok(());
        }
        let (what, ending) = if pages.is_empty() { ("an array", ".npy") } else { ("the pages of a TIFF", ".tif") };
        let message = format!("IN is {what}, and so is what comes out: expected a name that ends in {ending}");
        Err(Error::input(&target.path, message))
    }
}

impl Given {
    /// Writes the volume that x is.
    pub fn deliver<S: Real>(
        &self,
        denoise: &Denoise,
        x: &[S],
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Self { array, pages, clean, scale } = self;
        let samples: Vec<f64> = x.iter().map(|x| x.f64() * scale).collect();
        if let Some(clean) = clean {
            let ends = clean.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
            let range = if pages.is_empty() { ends.1 - ends.0 } else { 1.0 };
            let (before, after) = (metrics::psnr(clean, &array.data, range)?, metrics::psnr(clean, &samples, range)?);
            summary.add("psnr", after, "PSNR", format!("{before:.2} dB before, {after:.2} dB after"));
            summary.silent("psnr_before", before);
        }
        let target = denoise.target_of();
        if pages.is_empty() {
            let fitted = |v: f64| array.kind.bounds().map_or(v, |(low, high)| v.round().clamp(low, high));
            let data = samples.into_iter().map(fitted).collect();
            return outputs.array(&target.path, &Array { shape: array.shape.clone(), data, kind: array.kind }, None);
        }
        outputs.expect_pages(pages.len());
        for (page, data) in pages.iter().zip(samples.chunks_exact(pages[0].data.len())) {
            let page = Image { data: data.to_vec(), metadata: page.metadata.clone(), ..*page };
            outputs.picture(&target.path, page, Encoding::Tiff)?;
        }
        Ok(())
    }

    /// One unit of the problem's, in the volume's.
    pub fn scale(&self) -> f64 {
        self.scale
    }
}
