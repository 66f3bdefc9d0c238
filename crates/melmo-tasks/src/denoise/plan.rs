//! What is to be done to an image: its noise, its problem, its strips. Whoever drives the solves asks for them one by one.

use melmo::block::Layout;
use melmo::geometry::Norm;
use melmo::operator::Identity;
use melmo::penalty::{Entrywise, Interval};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::MaskedLeastSquares;

use super::colours::Turn;
use super::learned::{Adapted, Given, Spectrum};
use super::noise::{Noise, Stabiliser};
use super::range;
use super::strips::{Strip, strips};
use super::view::View;
use super::{Grid, Options, Planes, Prior, activity, learned, model, start};
use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared, Tuned};
use crate::until::Until;

/// Steps at most. Camera with noise of 0.1: 400 steps instead change a pixel by 0.38 of 255 levels on average, 1.9 at the 99th
/// percentile, and PSNR from 29.79 to 29.83 dB.
pub(super) const ITERATIONS: u64 = 64;

/// A picture needs less accuracy than a certificate: κ is large, and at the least β ∇g_β is that of g but for differences
/// of a few hundredths of the noise.
pub(super) fn tuned(beta_limit: f64) -> Tuned {
    Tuned {
        method: "scaled",
        arguments: vec![("beta", beta_limit.min(0.4)), ("floor", beta_limit.min(0.1)), ("kappa", 1e-2)],
        reason: "steps of one pass over the image; after 64 of them the mean pixel changes by less than a grey level",
    }
}

/// Refuses samples whose squares no sum can hold.
pub(super) fn expect_moderate<S: Real>(y: &[S]) -> Result<(), Error> {
    let most = if S::EPSILON > 1e-10 { 1e15 } else { 1e150 };
    match y.iter().find(|v| !v.is_finite() || v.f64().abs() > most) {
        None => Ok(()),
        Some(v) => {
            let found = format!("a sample of {:.1e}, in units of the noise or of the penalty", v.f64());
            Err(Error::input("an image", found, format!("at most {most:e}: clip it first, or divide the image")))
        }
    }
}

/// Pixels up to which a picture has the learned prior unless told otherwise, and is worked on in one piece with it.
const ONE_PIECE: usize = 1 << 22;
/// What outliers are filled in with where there is no other noise: as if there were this part of the range.
const FAINT: f64 = 4.0 / 255.0;

/// The prior of an image of this size, and the strips that it is solved in.
pub fn pieces(options: &Options, [rows, cols, channels]: [usize; 3]) -> (Prior, Vec<Strip>) {
    let fits = rows.saturating_mul(cols) <= ONE_PIECE;
    let can = matches!(channels, 1 | 3) && options.penalty.is_none();
    let prior = options.prior.unwrap_or(if fits && can { Prior::Learned } else { Prior::Differences });
    match prior {
        Prior::Learned if fits && can => (prior, vec![Strip::whole(rows)]),
        _ => (prior, strips(rows, cols, channels)),
    }
}

/// ½‖X − Y‖² and no penalty, at Y: where there is nothing to do.
pub(super) fn nothing<S: Real>(y: Vec<S>) -> Result<Prepared<S>, Error> {
    let layout = Layout::vector(y.len())?;
    let none = Entrywise::new(Interval::new(f64::NEG_INFINITY, f64::INFINITY)?, y.len());
    let f = MaskedLeastSquares::new(layout.clone(), y.clone(), None)?;
    let problem = Problem::new(f, none, Identity::new(layout))?;
    Ok(Prepared { problem, start: y, defaults: Defaults::default(), optimum: Some(0.0) })
}

/// The strips of an image and the problem of each.
pub struct Plan<'a, S> {
    image: Planes<'a, S>,
    /// The image as its problem sees it, where that differs: without outliers, with even noise.
    seen: Option<Vec<S>>,
    noise: Noise,
    /// The noise of what is seen.
    level: f64,
    view: View,
    spectrum: Option<Spectrum>,
    strength: f64,
    /// The penalty that was asked for, complete.
    chosen: Option<PenaltyChoice>,
    isotropic: bool,
    prior: Prior,
    /// The full range of samples.
    range: f64,
    strips: Vec<Strip>,
}

impl<'a, S: Real> Plan<'a, S> {
    /// Looks at the image. Refuses a strength or a noise that is negative or not finite, and a penalty that does not fit.
    pub fn new(image: Planes<'a, S>, options: &Options) -> Result<Self, Error> {
        let check = |what: &str, value: f64| match value >= 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err(Error::input(what, value.to_string(), "a finite number, at least 0")),
        };
        let strength = check("the strength", options.strength)?;
        let range = check("the range", options.range.unwrap_or_else(|| range::spread(image.data)))?;
        let noise = match (options.noise, &options.found) {
            (Some(level), _) => Noise::white(check("the noise's standard deviation", level)?),
            (None, Some(found)) => found.clone(),
            // A penalty of one's own is of the samples as they are.
            (None, None) if options.penalty.is_some() => Noise::white(super::noise::estimate(&image)),
            (None, None) => Noise::of(&image, range::step(image.data, options.range)),
        };
        let spread = if options.isotropic { noise.level * (image.channels as f64).sqrt() } else { noise.level };
        let chosen = options.penalty.as_ref().map(|penalty| model::complete(penalty, spread, strength));
        let (prior, strips) = pieces(options, [image.rows, image.cols, image.channels]);
        if options.prior == Some(Prior::Learned) && (!matches!(image.channels, 1 | 3) || chosen.is_some()) {
            let found =
                if chosen.is_some() { "a penalty of your own".into() } else { format!("{} channels", image.channels) };
            let expected = "one channel or three, and no other penalty: leave --prior out";
            return Err(Error::input("the learned prior", found, expected));
        }
        let silent = noise.level == 0.0 && noise.outliers.is_none();
        let idle = strength == 0.0 || silent && options.penalty.as_ref().is_none_or(|p| p.get("lambda").is_none());
        let strips = if idle { Vec::new() } else { strips };
        let isotropic = options.isotropic;
        let (level, view) = (noise.level, View::PLAIN);
        let (seen, spectrum) = (None, None);
        let plan =
            Self { image, seen, noise, level, view, spectrum, strength, chosen, isotropic, prior, range, strips };
        if idle || plan.chosen.is_some() { Ok(plan) } else { plan.viewed() }
    }

    /// With the samples that its problem sees, and their noise.
    fn viewed(mut self) -> Result<Self, Error> {
        let even = self.noise.curve.as_ref().map(|curve| Stabiliser::new(curve, range::ends(self.image.data)));
        self.level = match &even {
            Some(even) => even.level,
            None if self.noise.level == 0.0 => FAINT * self.range,
            None => self.noise.level,
        };
        self.view.stabiliser = even;
        self.view.only = self.noise.outliers.clone().filter(|_| self.noise.level == 0.0);
        self.seen = self.view.seen(&self.image, self.noise.outliers.as_ref());
        if self.is_learned() && self.image.channels == 3 {
            self.view.turn = Some(Turn::of(self.planes().data, (self.image.rows, self.image.cols)));
        }
        if self.noise.correlated {
            let samples = self.view.numbers(self.planes().data.to_vec());
            let spectrum = learned::spectrum(&samples, (self.image.rows, self.image.cols))?;
            self.level = spectrum.level;
            self.spectrum = Some(spectrum);
        }
        // Stronger is what it would do to stronger noise: the learned R cannot be multiplied and stay convex beside the data.
        self.view.scale = self.level * if self.is_learned() { self.strength.sqrt() } else { 1.0 };
        Ok(self)
    }

    /// The image as its problem sees it.
    pub(super) fn planes(&self) -> Planes<'_, S> {
        Planes { data: self.seen.as_deref().unwrap_or(self.image.data), ..self.image }
    }

    /// The problem is the learned one.
    fn is_learned(&self) -> bool {
        self.prior == Prior::Learned && self.chosen.is_none()
    }

    /// The problem is that of differences, weighted by what goes on around a pixel.
    pub(super) fn is_automatic(&self) -> bool {
        self.prior == Prior::Differences && self.chosen.is_none()
    }

    /// How strong the noise of what is seen is.
    pub(super) fn level(&self) -> f64 {
        self.level
    }

    /// What the penalty is multiplied by.
    pub(super) fn strength(&self) -> f64 {
        self.strength
    }

    /// The prior that is used.
    pub fn prior(&self) -> Prior {
        self.prior
    }

    /// The standard deviation of the noise, in the image's units.
    pub fn noise(&self) -> f64 {
        self.noise.level
    }

    /// All that is known of the noise.
    pub fn found(&self) -> &Noise {
        &self.noise
    }

    /// How samples become the problem's numbers, and back.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The slope of the penalty at 0, or the λ that was asked for, in the image's units; 0 where there is nothing to do.
    pub fn lambda(&self) -> f64 {
        match &self.chosen {
            _ if self.strips.is_empty() => 0.0,
            Some(penalty) => penalty.get("lambda").unwrap_or(f64::NAN),
            None if self.is_learned() => f64::NAN,
            None => model::slope(self.level, self.strength),
        }
    }

    /// The penalty in one line.
    pub fn penalty(&self) -> String {
        match &self.chosen {
            _ if self.strips.is_empty() => "none".into(),
            Some(penalty) => penalty.to_string(),
            None if self.is_learned() => learned::describe(self.strips.len() == 1),
            None => model::describe(self.strength),
        }
    }

    /// What is solved, one after another or all at once; empty where there is nothing to do.
    pub fn strips(&self) -> &[Strip] {
        &self.strips
    }

    /// Numbers of the image.
    pub(super) fn samples(&self) -> usize {
        self.image.data.len()
    }

    /// Rows and columns of the image.
    pub(super) fn shape(&self) -> [usize; 2] {
        [self.image.rows, self.image.cols]
    }

    /// The image's units for one unit of the problem's: the noise (√strength times it for the learned prior), or 1 for a penalty that was asked
    /// for and where there is nothing to do.
    pub fn scale(&self) -> f64 {
        self.view.scale
    }

    /// The whole image's problem and where it starts.
    pub fn whole(&self, until: &Until) -> Result<Prepared<S>, Error> {
        match self.strips.is_empty() {
            true => nothing(self.image.data.to_vec()),
            false => self.prepare(&Strip::whole(self.image.rows), until),
        }
    }

    /// What a strip sees, in the problem's units.
    pub(super) fn samples_of(&self, strip: &Strip) -> Vec<S> {
        let planes = self.planes();
        let samples = (0..planes.channels).flat_map(|c| planes.stretch(c, strip.seen.clone()));
        self.view.numbers(samples.copied().collect())
    }

    /// A strip's problem and where it starts.
    pub fn prepare(&self, strip: &Strip, until: &Until) -> Result<Prepared<S>, Error> {
        let Planes { cols, channels, .. } = self.image;
        let shape = [strip.seen.len(), cols, channels];
        let y = self.samples_of(strip);
        expect_moderate(&y)?;
        if self.is_learned() {
            return self.prepare_learned(y, strip.seen.len(), until);
        }
        // The automatic problem is first smoothed so much that it is Tikhonov's: there the data themselves are the best start.
        let start = if self.chosen.is_some() { start::smooth(&y, shape)? } else { y.clone() };
        let problem = match &self.chosen {
            Some(penalty) => model::chosen(y, Grid::of_picture(shape), penalty, self.isotropic)?,
            None => {
                let weights = activity::weights(&self.planes(), strip.seen.clone(), self.level);
                model::automatic(y, weights, shape, self.strength)?
            }
        };
        let defaults = match self.chosen {
            Some(_) => Defaults::default(),
            None => Defaults {
                norm: Norm::L2,
                iterations: ITERATIONS,
                settles: false,
                tuned: Some(tuned(problem.beta_limit())),
            },
        };
        Ok(Prepared { problem, start, defaults, optimum: None })
    }

    /// The same with the learned prior: locally scaled where the image is one strip.
    fn prepare_learned(&self, y: Vec<S>, rows: usize, until: &Until) -> Result<Prepared<S>, Error> {
        let (shape, planes) = ((rows, self.image.cols), self.image.channels);
        // Light and colour are √3 times as large as a grey picture.
        let noise = self.scale() / self.range / (planes as f64).sqrt();
        let given = Given { shape, planes, noise, spectrum: self.spectrum.as_ref() };
        let (problem, start, defaults) = match self.strips.len() {
            1 => {
                let mut adapted = Adapted::new(&y, &given, until)?;
                let start = std::mem::take(&mut adapted.start);
                (adapted.problem(y, &given)?, start, learned::steps())
            }
            _ => (learned::plain(y.clone(), &given)?, y, learned::STEPS),
        };
        Ok(Prepared { problem, start, defaults, optimum: None })
    }
}
