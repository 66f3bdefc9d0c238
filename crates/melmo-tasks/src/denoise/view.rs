//! How samples become the problem's numbers, and the problem's numbers samples again.

use melmo::real::Real;

use super::colours::Turn;
use super::noise::{Outliers, Stabiliser};
use super::planes::Planes;

/// Outliers are filled in, samples put on a scale on which noise is as strong everywhere, colours turned into light and colour, and all
/// of it measured in units of the noise.
#[derive(Clone, Debug)]
pub struct View {
    /// One unit of the problem's.
    pub(super) scale: f64,
    pub(super) stabiliser: Option<Stabiliser>,
    /// Three planes are light and colour.
    pub(super) turn: Option<Turn>,
    /// Samples that are not among these are kept, where there was no other noise.
    pub(super) only: Option<Outliers>,
}

impl View {
    /// Samples as they are.
    pub(super) const PLAIN: Self = Self { scale: 1.0, stabiliser: None, turn: None, only: None };

    /// The image's units for one unit of the problem's; where noise differs by brightness, on the scale on which it does not.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The image without outliers and on the scale of even noise; none where it is that already.
    pub(super) fn seen<S: Real>(&self, image: &Planes<'_, S>, outliers: Option<&Outliers>) -> Option<Vec<S>> {
        let filled = outliers.map(|outliers| outliers.filled(image));
        match &self.stabiliser {
            None => filled,
            Some(even) => {
                let mut samples = filled.unwrap_or_else(|| image.data.to_vec());
                samples.iter_mut().for_each(|v| *v = S::of(even.there(v.f64())));
                Some(samples)
            }
        }
    }

    /// The problem's numbers of samples that were [`View::seen`], plane after plane.
    pub(super) fn numbers<S: Real>(&self, mut samples: Vec<S>) -> Vec<S> {
        let scale = S::of(1.0 / self.scale);
        samples.iter_mut().for_each(|v| *v *= scale);
        if let Some(turn) = &self.turn {
            turn.apart(&mut samples);
        }
        samples
    }

    /// The same of an image's samples as they are given, such as a start's.
    pub fn of_image<S: Real>(&self, image: &[S]) -> Vec<S> {
        let mut samples = image.to_vec();
        if let Some(even) = &self.stabiliser {
            samples.iter_mut().for_each(|v| *v = S::of(even.there(v.f64())));
        }
        self.numbers(samples)
    }

    /// Whether [`View::image`] looks at the image that was given.
    pub fn keeps_samples(&self) -> bool {
        self.only.is_some()
    }

    /// The picture that x is; `image` is the one that was given.
    pub fn image<S: Real>(&self, x: &[S], image: &[S]) -> Vec<S> {
        let (mut samples, scale) = (x.to_vec(), S::of(self.scale));
        if let Some(turn) = &self.turn {
            turn.together(&mut samples);
        }
        samples.iter_mut().for_each(|v| *v *= scale);
        if let Some(even) = &self.stabiliser {
            samples.iter_mut().for_each(|v| *v = S::of(even.back(v.f64())));
        }
        if let Some(only) = &self.only {
            let kept = samples.iter_mut().zip(image).zip(only.at()).filter(|(_, at)| !**at);
            kept.for_each(|((v, given), _)| *v = *given);
        }
        samples
    }
}
