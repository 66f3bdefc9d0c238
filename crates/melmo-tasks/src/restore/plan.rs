//! What is to be done: the data, the instrument, and the problem for a λ.

use melmo::block::Layout;
use melmo::geometry::Norm;
use melmo::operator::{Identity, LinOp, Scale};
use melmo::penalty::{Blocks, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{Filtered, Held, LeastSquares, MaskedLeastSquares, Ridge, Separate, Smooth};

use super::{Options, colours};
use crate::denoise::{Planes, learned};
use crate::error::Error;
use crate::prepared::{Defaults, Prepared, Tuned};

/// Makes an operator.
type Make<S> = dyn Fn() -> Result<Box<dyn LinOp<S>>, Error> + Send + Sync;

/// What made the data of the picture.
pub enum Instrument<S> {
    /// A, made anew for each plane.
    Operator(Box<Make<S>>),
    /// Pixels were lost: these are free, in order, and the others are held.
    Lost(Vec<usize>),
}

/// The noise that the prior is asked to know of: in units of what there is, and at least this part of the range. On blurred photographs with noise of .01
/// twice that gave the best pictures, and λ that of the discrepancy.
const LEVEL: (f64, f64) = (2.0, 0.01);
/// The same where data are held, which have none.
const HELD: f64 = 0.06;

/// A picture to be restored.
pub struct Restoration<S> {
    /// What the instrument gave, plane by plane, colours apart, in the image's units.
    data: Vec<Vec<S>>,
    /// Where x starts, likewise.
    start: Vec<Vec<S>>,
    instrument: Instrument<S>,
    /// Rows and columns of x.
    size: (usize, usize),
    /// What of x is the picture: rows and columns.
    part: (std::ops::Range<usize>, std::ops::Range<usize>),
    noise: f64,
    range: f64,
    /// The image's units for one unit of the problem's.
    level: f64,
}

/// What a task knows of x: its size, what of it is the picture, and a first guess.
pub(crate) struct Frame<S> {
    pub size: (usize, usize),
    pub part: (std::ops::Range<usize>, std::ops::Range<usize>),
    /// Of each channel of the data, a first x.
    pub start: Vec<Vec<S>>,
}

impl<S: Real> Restoration<S> {
    pub(crate) fn new(
        data: Planes<'_, S>,
        instrument: Instrument<S>,
        frame: Frame<S>,
        options: &Options,
    ) -> Result<Self, Error> {
        let (noise, range) = options.levels(&data)?;
        let level = match instrument {
            Instrument::Operator(_) => (LEVEL.0 * noise).max(LEVEL.1 * range),
            Instrument::Lost(_) => HELD * range,
        };
        let planes = (0..data.channels).map(|c| data.channel(c).to_vec()).collect();
        let Frame { size, part, start } = frame;
        let (data, start) = (colours::apart(planes), colours::apart(start));
        Ok(Self { data, start, instrument, size, part, noise, range, level })
    }

    /// The standard deviation of the noise, in the image's units.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The image's units for one unit of the problem's.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// There is a λ: the data are noisy, and not held.
    pub fn weighs(&self) -> bool {
        matches!(self.instrument, Instrument::Operator(_))
    }

    /// Rows and columns of the picture that comes out.
    pub fn shape(&self) -> (usize, usize) {
        (self.part.0.len(), self.part.1.len())
    }

    /// Where pixels of x that are free stand; all of them where none are held.
    fn free(&self) -> Option<&[usize]> {
        match &self.instrument {
            Instrument::Lost(free) => Some(free),
            Instrument::Operator(_) => None,
        }
    }

    /// The problem for this λ, which means nothing where data are held, and a start.
    pub fn prepare(&self, lambda: f64) -> Result<Prepared<S>, Error> {
        let parts = (0..self.data.len()).map(|plane| self.plane(plane, lambda)).collect::<Result<Vec<_>, _>>()?;
        let f = Separate::new(parts)?;
        let layout = f.layout().clone();
        let nothing = Blocks::new(&layout, Vec::<(&str, f64, Box<dyn Prox<S>>)>::new())?;
        let problem = Problem::new(f, nothing, Identity::new(layout))?;
        let scale = S::of(1.0 / self.level);
        let seen = |plane: &Vec<S>| -> Vec<S> {
            match self.free() {
                Some(free) => free.iter().map(|&at| plane[at] * scale).collect(),
                None => plane.iter().map(|&v| v * scale).collect(),
            }
        };
        let start = self.start.iter().flat_map(seen).collect();
        Ok(Prepared { problem, start, defaults: defaults(), optimum: None })
    }

    /// One plane's energy, in units of the level.
    fn plane(&self, plane: usize, lambda: f64) -> Result<Box<dyn Smooth<S>>, Error> {
        let wide = self.range * colours::width(plane, self.data.len());
        let (bank, potentials) = learned::prior(self.size, self.level / wide)?;
        let prior = vec![Ridge::new(bank, potentials)?];
        match &self.instrument {
            Instrument::Operator(make) => {
                let weight = self.level / (self.noise * lambda.sqrt());
                let unit = S::of(weight / self.level);
                let data = self.data[plane].iter().map(|&y| y * unit).collect();
                let loss = LeastSquares::new(Box::new(Scale::new(weight, make()?)?), data)?;
                Ok(Box::new(Filtered::new(Box::new(loss), prior)?))
            }
            Instrument::Lost(free) => {
                let (rows, cols) = self.size;
                let none = Some(vec![S::ZERO; rows * cols]);
                let nothing = MaskedLeastSquares::new(Layout::matrix(rows, cols)?, vec![S::ZERO; rows * cols], none)?;
                let whole = Filtered::new(Box::new(nothing), prior)?;
                let scale = S::of(1.0 / self.level);
                let given = self.data[plane].iter().map(|&v| v * scale).collect();
                Ok(Box::new(Held::new(Box::new(whole), given, free.clone())?))
            }
        }
    }

    /// ‖Ax − y‖²/noise² over the number of data: 1 for the true picture. None where data are held.
    pub fn misfit(&self, x: &[S]) -> Result<Option<f64>, Error> {
        let Instrument::Operator(make) = &self.instrument else { return Ok(None) };
        let a = make()?;
        let (mut seen, mut work) = (vec![S::ZERO; a.range().size()], vec![S::ZERO; a.work_len()]);
        let (mut sum, mut count) = (0.0, 0);
        for (x, y) in x.chunks_exact(a.domain().size()).zip(&self.data) {
            a.apply(&mut seen, x, &mut work);
            let off = |(a, y): (&S, &S)| ((a.f64() * self.level - y.f64()) / self.noise).powi(2);
            sum += seen.iter().zip(y).map(off).sum::<f64>();
            count += y.len();
        }
        Ok(Some(sum / count as f64))
    }

    /// The picture that a point is, plane after plane, in the image's units.
    pub fn picture(&self, x: &[S]) -> Vec<S> {
        let scale = S::of(self.level);
        let each = x.len() / self.data.len();
        let whole = |(x, data): (&[S], &Vec<S>)| -> Vec<S> {
            match self.free() {
                Some(free) => {
                    let mut plane = data.clone();
                    free.iter().zip(x).for_each(|(&at, &v)| plane[at] = v * scale);
                    plane
                }
                None => x.iter().map(|&v| v * scale).collect(),
            }
        };
        let planes = x.chunks_exact(each).zip(&self.data).map(whole).collect();
        let (rows, cols) = (&self.part.0, &self.part.1);
        let cut = |plane: Vec<S>| -> Vec<S> {
            let row = |i: usize| plane[i * self.size.1..][cols.clone()].to_vec();
            rows.clone().flat_map(row).collect()
        };
        colours::together(planes).into_iter().flat_map(cut).collect()
    }

    /// The penalty in one line.
    pub fn penalty(&self, lambda: f64) -> String {
        let prior = format!("learned filters and splines, for noise of {:.3}", self.level);
        match self.weighs() {
            true => format!("λ = {lambda:.3} times {prior}"),
            false => format!("{prior}; what is known is kept"),
        }
    }
}

/// Steps at most, and how they are taken.
fn defaults() -> Defaults {
    let reason = "smooth: quasi-Newton steps, which remember what the last ones showed of the curvature";
    let tuned = Tuned { method: "lbfgs", arguments: Vec::new(), reason };
    Defaults { norm: Norm::L2, iterations: 200, settles: true, tuned: Some(tuned) }
}
