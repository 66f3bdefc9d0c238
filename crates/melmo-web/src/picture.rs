//! A picture without its noise.

use melmo::seeded::Seeded;
use melmo_data::{Array, Error, bundled, metrics};
use melmo_tasks::denoise::{Options, Plan, Planes, Prior};
use melmo_tasks::{Settings, Until};

use crate::answer::{Answer, Progress, solved};

/// Numbers of a picture: one plane after another, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The numbers: channel, row, column.
    pub data: Vec<f64>,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Channels.
    pub channels: usize,
}

impl Picture {
    /// A grey picture of bytes, at half its size: as the bundled photograph is (`camera` of the program). The browser has unpacked it, so no
    /// code that reads images is loaded.
    pub fn halved(bytes: &[u8], rows: usize, cols: usize) -> Result<Self, Error> {
        let array = Array::new([rows, cols], bytes.iter().map(|&v| f64::from(v) / 255.0).collect())?;
        let half = bundled::halved(&array)?;
        let (rows, cols) = half.rows_cols().unwrap_or((0, 0));
        Ok(Self { data: half.data, rows, cols, channels: 1 })
    }

    /// The same with noise of this standard deviation.
    #[must_use]
    pub fn noisy(&self, level: f64, seed: u64) -> Self {
        let noise: Vec<f64> = Seeded::new(seed).normals(self.data.len());
        let data = self.data.iter().zip(&noise).map(|(v, n)| v + level * n).collect();
        Self { data, ..self.clone() }
    }

    /// PSNR against another of the same size, in decibels.
    pub fn psnr(&self, other: &Self) -> f64 {
        metrics::psnr(&self.data, &other.data, 1.0).unwrap_or(f64::NAN)
    }

    /// Without its noise. `strength` multiplies λ: above 1 smooths more, 0 leaves it as it is.
    pub fn denoised(&self, strength: f64, prior: Prior, progress: Progress<'_>) -> Result<Answer, melmo_tasks::Error> {
        let planes = Planes::new(&self.data, self.rows, self.cols, self.channels)?;
        let plan = Plan::new(planes, &Options { strength, prior: Some(prior), ..Options::default() })?;
        let (answer, solved) = solved(&plan.whole(&Until::done())?, &Settings::default(), progress)?;
        let (scale, lambda) = (plan.scale(), plan.lambda());
        let answer = if lambda.is_finite() { answer.with("lambda", lambda) } else { answer };
        Ok(answer
            .with("noise", plan.noise())
            .with("penalty", plan.penalty())
            .and("image", solved.report.x.iter().map(|&v| (v * scale) as f32)))
    }
}
