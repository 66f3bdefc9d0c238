//! Total variation of signals, images and volumes, in one piece.

use melmo::catalogue::Lift;
use melmo::operator::{Difference2d, Difference3d, Jet, LinOp};
use melmo::real::Real;
use melmo::start::tikhonov;

use super::{model, start};
use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::magnitude;
use crate::prepared::{Defaults, Prepared, Tuned};

/// Without local minima to pass by, the tilt of the library's own choice only delays.
const CONVEX: Tuned = Tuned {
    method: "admm",
    arguments: Vec::new(),
    reason: "a convex penalty of differences on a grid: splitting costs two cosine transforms a step",
};

/// What the numbers are arranged on, the last axis running fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Rows and columns; a signal is one row.
    Image([usize; 2]),
    /// Slices, rows and columns.
    Volume([usize; 3]),
    /// Channels, rows and columns, with the differences of all channels taken together.
    Channels([usize; 3]),
}

/// Differences, and what of them belongs together.
type Differences<S> = (Box<dyn LinOp<S>>, Lift<S>);

impl Grid {
    /// Rows and columns of a picture, and how many channels it has.
    pub fn of_picture([rows, cols, channels]: [usize; 3]) -> Self {
        if channels == 1 { Self::Image([rows, cols]) } else { Self::Channels([channels, rows, cols]) }
    }

    /// How many numbers it holds; none where that cannot be counted.
    pub fn size(self) -> Option<usize> {
        let product = |sides: &[usize]| sides.iter().try_fold(1usize, |size, &side| size.checked_mul(side));
        match self {
            Self::Image(sides) => product(&sides),
            Self::Volume(sides) | Self::Channels(sides) => product(&sides),
        }
    }

    pub(super) fn operator<S: Real>(self) -> Result<Differences<S>, Error> {
        Ok(match self {
            Self::Image([rows, cols]) => (Box::new(Difference2d::new(rows, cols)?), Lift::Pixels),
            Self::Volume([depth, rows, cols]) => (Box::new(Difference3d::new(depth, rows, cols)?), Lift::Pixels),
            Self::Channels([channels, rows, cols]) => (Box::new(Jet::new(rows, cols, channels, 0.0)?), Lift::Columns),
        })
    }
}

/// ½‖X − Y‖² + Σ ψ of the forward differences: of each of them, or of their norm at each place. Starts at the data smoothed.
pub fn variation<S: Real>(y: &[S], grid: Grid, penalty: &PenaltyChoice, isotropic: bool) -> Result<Prepared<S>, Error> {
    melmo::error::Error::expect_len("an image", grid.size().unwrap_or(usize::MAX), y.len())?;
    magnitude::check_known("an image", y)?;
    let problem = model::chosen(y.to_vec(), grid, penalty, isotropic)?;
    let start = match grid {
        Grid::Image([rows, cols]) => start::smooth(y, [rows, cols, 1])?,
        Grid::Channels([channels, rows, cols]) => start::smooth(y, [rows, cols, channels])?,
        Grid::Volume(_) => tikhonov(&problem, 0.5)?,
    };
    let splits = problem.g().weak_convexity() == 0.0 && !matches!(grid, Grid::Channels(_));
    let defaults = Defaults { tuned: splits.then_some(CONVEX), ..Defaults::default() };
    Ok(Prepared { problem, start, defaults, optimum: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, Watch, solve};
    use melmo::seeded::Seeded;

    #[test]
    fn a_step_survives_on_every_grid() {
        let noise: Vec<f64> = Seeded::new(3).normals(512);
        let step = |at: usize| if at % 8 < 4 { 0.0 } else { 1.0 };
        let y: Vec<f64> = noise.iter().enumerate().map(|(at, n)| step(at) + 0.1 * n).collect();
        for grid in [Grid::Image([64, 8]), Grid::Volume([8, 8, 8]), Grid::Channels([2, 32, 8])] {
            for isotropic in [false, true] {
                let prepared = variation(&y, grid, &"l1:lambda=0.15".parse().unwrap(), isotropic).unwrap();
                let x = solve(&prepared, &Settings::default(), Watch::default()).unwrap().report.x;
                let error = x.iter().enumerate().map(|(at, x)| (x - step(at)).powi(2)).sum::<f64>() / 512.0;
                assert!(error.sqrt() < 0.08, "{grid:?} {isotropic}: {error}");
            }
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let penalty = "l1".parse().unwrap();
        assert!(variation(&[0.0f64; 7], Grid::Image([2, 4]), &penalty, true).is_err());
        assert!(variation(&[1e160f64; 8], Grid::Image([2, 4]), &penalty, true).is_err());
        assert!(variation(&[0.0f64; 0], Grid::Volume([usize::MAX, 2, 2]), &penalty, true).is_err());
    }
}
