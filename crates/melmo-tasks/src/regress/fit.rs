use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::operator::{Dense, Identity};
use melmo::penalty::Prox;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::Smooth;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared};
use crate::regress::{Design, Loss};

/// A regression to fit: data, loss, penalty.
#[derive(Clone, Debug)]
pub struct Regression {
    /// rows×cols data.
    pub x: Vec<f64>,
    /// The target as the loss takes it.
    pub y: Vec<f64>,
    /// How columns are centred and scaled.
    pub design: Design,
    /// ℓ.
    pub loss: Loss,
    /// φ; its λ is replaced along a path.
    pub penalty: PenaltyChoice,
    /// Columns that are penalised together, through φ(‖b_group‖₂·√size); every column alone when there are none.
    pub groups: Option<Vec<Vec<usize>>>,
}

/// What was fitted, in the data's own units.
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficients {
    /// c.
    pub intercept: f64,
    /// b.
    pub values: Vec<f64>,
}

impl Coefficients {
    /// aᵢᵀb + c for every row; for classes, its sign says which.
    pub fn predict(&self, x: &[f64]) -> Vec<f64> {
        let row = |row: &[f64]| self.intercept + row.iter().zip(&self.values).map(|(x, b)| x * b).sum::<f64>();
        x.chunks_exact(self.values.len().max(1)).map(row).collect()
    }
}

/// n·Σ φ over entries or groups, for n rows; `width` − `cols` entries at the end are free.
pub(super) fn penalty<S: Real>(
    choice: &PenaltyChoice,
    lambda: f64,
    rows: usize,
    [cols, width]: [usize; 2],
    groups: Option<&[Vec<usize>]>,
) -> Result<Box<dyn Prox<S>>, Error> {
    let (layout, mut penalty) = (Layout::vector(width)?, choice.clone().weighted(lambda));
    if penalty.name() == "elastic-net" {
        penalty = penalty.or("nu", lambda); // both parts alike, unless told otherwise
    }
    let n = rows as f64;
    match groups {
        None => {
            let weight = |column| if column < cols { S::of(n) } else { S::ZERO };
            penalty.build(&Lift::Entries.weighted((0..width).map(weight).collect()), &layout)
        }
        Some(groups) => {
            let weights = groups.iter().map(|group| S::of(n * (group.len() as f64).sqrt()));
            penalty.build(&Lift::Groups(groups.to_vec()).weighted(weights.collect()), &layout)
        }
    }
}

impl Regression {
    /// All rows.
    pub fn all(&self) -> Vec<usize> {
        (0..self.design.rows).collect()
    }

    /// Σ ℓ over some rows.
    pub fn smooth<S: Real>(&self, rows: &[usize]) -> Result<Box<dyn Smooth<S>>, Error> {
        let matrix = Dense::new(self.design.matrix(&self.x, rows), rows.len(), self.design.width())?;
        self.loss.build(Box::new(matrix), rows.iter().map(|&row| S::of(self.y[row])).collect())
    }

    /// n·Σ φ over entries or groups, the intercept left out, for n rows.
    pub fn penalty<S: Real>(&self, lambda: f64, rows: usize) -> Result<Box<dyn Prox<S>>, Error> {
        penalty(&self.penalty, lambda, rows, [self.design.cols, self.design.width()], self.groups.as_deref())
    }

    /// The problem for one λ, from 0.
    pub fn prepare<S: Real>(&self, lambda: f64) -> Result<Prepared<S>, Error> {
        let (width, rows) = (self.design.width(), self.design.rows);
        let t = Identity::new(Layout::vector(width)?);
        let problem = Problem::from_boxes(self.smooth(&self.all())?, self.penalty(lambda, rows)?, Box::new(t))?;
        let defaults = Defaults { iterations: 10_000, ..Defaults::default() };
        Ok(Prepared { problem, start: vec![S::ZERO; width], defaults, optimum: None })
    }

    /// A solution in the data's own units.
    pub fn coefficients<S: Real>(&self, solution: &[S]) -> Coefficients {
        let (intercept, values) = self.design.unscaled(solution);
        Coefficients { intercept, values }
    }
}
