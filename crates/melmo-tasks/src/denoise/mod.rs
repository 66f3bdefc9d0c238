//! Denoising: an image without its noise, from the image alone.
//!
//! The noise is estimated ([`noise`]), the image is measured in its units, and
//!
//! ```text
//! ½‖X − Y‖² + Σₚ wₚ(ψ₁(‖∇X‖ₚ) + ψ₂(‖∇²X‖ₚ))
//! ```
//!
//! is minimised: log-sum penalties of the first and second differences of each pixel, all channels together, weighted by
//! how much goes on around the pixel. A multiple of an image gives the same multiple of the answer. A penalty of your own
//! makes it plain total variation, isotropic or not, in the image's units.
//!
//! ```
//! use melmo_tasks::denoise::{Options, Planes, denoise};
//! use melmo_tasks::{Settings, Until};
//!
//! let noise = melmo::seeded::Seeded::new(1).normals::<f64>(64 * 64);
//! let y: Vec<f64> = noise.iter().enumerate().map(|(p, n)| f64::from(u8::from(p % 64 < 32)) + 0.1 * n).collect();
//! let answer = denoise(Planes::new(&y, 64, 64, 1)?, &Options::default(), &Settings::default(), &Until::done())?;
//! assert!((answer.noise - 0.1).abs() < 0.01);
//! assert!((answer.image[64 * 32 + 16] - 1.0).abs() < 0.05);
//! # Ok::<(), melmo_tasks::Error>(())
//! ```

mod activity;
mod colours;
pub mod film;
mod joined;
pub mod learned;
mod model;
pub mod noise;
mod plan;
mod planes;
mod range;
mod rows;
mod start;
pub mod strips;
mod sums;
mod variation;
mod view;
mod volume;

pub use joined::Joined;
pub use plan::{Plan, pieces};
pub use planes::Planes;
pub use rows::{completed, rows};
pub use strips::Strip;
pub use variation::{Grid, variation};
pub use view::View;
pub use volume::{Volume, volume};

use melmo::drive::Status;
use melmo::real::Real;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::settings::Settings;
use crate::until::Until;

/// What a picture is taken to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// Few first and second differences, locally weighted; any number of channels.
    Differences,
    /// Filters and potentials that were learned from photographs ([`learned`]); grey and colour.
    Learned,
}

impl Prior {
    /// Every prior, by the name users type.
    pub const ALL: [(&'static str, Self); 2] = [("differences", Self::Differences), ("learned", Self::Learned)];

    /// The name users type.
    pub fn name(self) -> &'static str {
        Self::ALL[usize::from(self == Self::Learned)].0
    }
}

impl std::str::FromStr for Prior {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        let names = || Self::ALL.map(|(known, _)| known).join(" or ");
        found.map(|(_, prior)| *prior).ok_or_else(|| Error::input("prior", format!("`{name}`"), names()))
    }
}

/// What can be chosen; everything has a default.
#[derive(Clone, Debug)]
pub struct Options {
    /// Plain total variation with this penalty, in the image's units, instead of the automatic one.
    pub penalty: Option<PenaltyChoice>,
    /// What is minimised where there is no such penalty: unless given, the learned prior up to 2²² pixels of one channel or three, and
    /// differences above.
    pub prior: Option<Prior>,
    /// The full range of samples, which the learned prior was learned for; unless given, what nearly all of them spread over.
    pub range: Option<f64>,
    /// What λ is multiplied by (the learned prior: the noise, by its root): above 1 smooths more, 0 leaves the image as it is.
    pub strength: f64,
    /// For a penalty of your own: of the norm of a pixel's differences over all channels, instead of each difference.
    pub isotropic: bool,
    /// The noise's standard deviation, where it is known, in the image's units.
    pub noise: Option<f64>,
    /// The noise, where it was looked for before.
    pub found: Option<noise::Noise>,
}

impl Default for Options {
    fn default() -> Self {
        Self { penalty: None, prior: None, range: None, strength: 1.0, isotropic: false, noise: None, found: None }
    }
}

/// An image without its noise, and how it was found.
pub struct Denoised<S: Real> {
    /// As large as the image that was given, in its units.
    pub image: Vec<S>,
    /// The standard deviation of the noise, estimated or given.
    pub noise: f64,
    /// The slope of the penalty at 0, in the image's units; 0 where nothing was done.
    pub lambda: f64,
    /// The penalty, in one line.
    pub penalty: String,
    /// How many strips it was solved in; 0 where nothing was done.
    pub strips: usize,
    /// Why it ended: the worst of all strips.
    pub status: Status,
}

/// Denoises an image, its strips in parallel, as far as they get until it is over.
pub fn denoise<S: Real>(
    image: Planes<'_, S>,
    options: &Options,
    settings: &Settings,
    until: &Until,
) -> Result<Denoised<S>, Error> {
    let plan = Plan::new(image, options)?;
    let (noise, lambda, penalty, strips) = (plan.noise(), plan.lambda(), plan.penalty(), plan.strips().len());
    let (image, status) = match strips {
        0 => (image.data.to_vec(), Status::Settled),
        _ => {
            let Joined { x, status, .. } = Joined::solve(&plan, settings, until, &|| until.asked("denoising"))?;
            (plan.view().image(&x, image.data), status)
        }
    };
    Ok(Denoised { image, noise, lambda, penalty, strips, status })
}
