use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::operator::Identity;
use melmo::penalty::{Blocks, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{LinearModel, Responses, Smooth};

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared};
use crate::regress::{Cells, Design, Loss, Samples, groups};

/// A regression to fit: data, loss, penalty.
#[derive(Clone, Debug)]
pub struct Regression {
    /// rows×cols data.
    pub x: Cells,
    /// The target as the loss takes it; of several targets, all rows of one after another.
    pub y: Vec<f64>,
    /// How many targets there are: with one λ, and where there are groups, a group with the coefficients of all.
    pub targets: usize,
    /// How columns are centred and scaled.
    pub design: Design,
    /// ℓ.
    pub loss: Loss,
    /// ψ; its λ is replaced along a path.
    pub penalty: PenaltyChoice,
    /// Columns that are penalised together, through ψ(‖b_group‖₂·√size); every column alone when there are none.
    pub groups: Option<Vec<Vec<usize>>>,
    /// What ψ of every column is multiplied by, or of every group, whose columns have one number; 1 when there are none.
    pub factors: Option<Vec<f64>>,
    /// No coefficient may be negative.
    pub positive: bool,
    /// The weight of every row; 1 when there are none.
    pub weights: Option<Vec<f64>>,
    /// What is known of every prediction already.
    pub offset: Option<Vec<f64>>,
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

/// What is asked of the coefficients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'d> {
    /// ψ; its λ is replaced.
    pub penalty: &'d PenaltyChoice,
    /// Columns that are penalised together; every column alone when there are none.
    pub groups: Option<&'d [Vec<usize>]>,
    /// What ψ of every column is multiplied by; 1 when there are none.
    pub factors: Option<&'d [f64]>,
    /// No coefficient may be negative.
    pub positive: bool,
    /// Coefficients of a column.
    pub outputs: usize,
}

impl Asked<'_> {
    /// n·Σ ψ over entries or groups, for n rows; the coefficients of the columns from `cols` to `width` are free.
    pub fn build<S: Real>(
        &self,
        lambda: f64,
        rows: usize,
        [cols, width]: [usize; 2],
    ) -> Result<Box<dyn Prox<S>>, Error> {
        let (n, outputs) = (rows as f64, self.outputs);
        let (layout, mut penalty) = (Layout::vector(width * outputs)?, self.penalty.clone().weighted(lambda));
        if penalty.name() == "elastic-net" {
            penalty = penalty.or("nu", lambda); // both parts alike, unless told otherwise
        }
        let Some(groups) = self.groups else {
            let factor = |column: usize| self.factors.map_or(1.0, |factors| factors[column]);
            let weight = |entry: usize| if entry < cols * outputs { n * factor(entry / outputs) } else { 0.0 };
            let mut weights: Vec<S> = (0..width * outputs).map(|entry| S::of(weight(entry))).collect();
            if !self.positive {
                return penalty.build(&Lift::Entries.weighted(weights), &layout);
            }
            // A weight of 0 would take ψ away, not the sign: intercepts are a block of their own.
            weights.truncate(cols * outputs);
            let g = penalty.build(&Lift::Nonnegative.weighted(weights), &Layout::vector(cols * outputs)?)?;
            if width == cols {
                return Ok(g);
            }
            let blocks = Layout::new([("b", cols * outputs, 1), ("c", (width - cols) * outputs, 1)])?;
            return Ok(Box::new(Blocks::new(&blocks, vec![("b", 1.0, g)])?));
        };
        let factor = |group: &[usize]| self.factors.map_or(1.0, |factors| factors[group[0]]);
        let weights = groups.iter().map(|group| S::of(n * factor(group) * (group.len() as f64).sqrt()));
        let entries = |group: &Vec<usize>| group.iter().flat_map(|j| j * outputs..(j + 1) * outputs).collect();
        penalty.build(&Lift::Groups(groups.iter().map(entries).collect()).weighted(weights.collect()), &layout)
    }

    /// Refuses groups, factors and signs that do not go together, or do not fit the columns.
    pub fn check(&self, cols: usize) -> Result<(), Error> {
        self.groups.map_or(Ok(()), |groups| groups::check(groups, cols))?;
        if self.groups.is_some() && self.positive {
            let found = "groups, and coefficients that are not negative";
            return Err(Error::input("the penalty", found, "one of the two"));
        }
        let Some(factors) = self.factors else { return Ok(()) };
        melmo::error::Error::expect_len("weights of the columns", cols, factors.len())?;
        let differs = |group: &&Vec<usize>| group.iter().any(|&j| factors[j] != factors[group[0]]);
        if let Some(group) = self.groups.and_then(|groups| groups.iter().find(differs)) {
            let found = format!("weights that differ in the group of column {}", group[0]);
            return Err(Error::input("the penalty", found, "one weight for all columns of a group"));
        }
        let least = if self.positive { f64::MIN_POSITIVE } else { 0.0 };
        match factors.iter().position(|factor| !(factor.is_finite() && *factor >= least)) {
            None => Ok(()),
            Some(j) => {
                let expected = if self.positive { "above 0 where no coefficient may be negative" } else { "0 or more" };
                Err(Error::input("the weight of a column", format!("{} for column {j}", factors[j]), expected))
            }
        }
    }
}

impl Regression {
    /// Least squares without data, without anything besides the penalty: what the fields are that nobody speaks of.
    pub fn plain(penalty: PenaltyChoice) -> Self {
        let design = Design { rows: 0, cols: 0, intercept: true, means: Vec::new(), scales: Vec::new() };
        let (groups, factors, weights, offset) = (None, None, None, None);
        let (x, y, loss) = (Cells::Full(Vec::new()), Vec::new(), Loss::Squares);
        Self { x, y, targets: 1, design, loss, penalty, groups, factors, positive: false, weights, offset }
    }

    /// Numbers that are predicted for a row.
    pub fn outputs(&self) -> usize {
        self.targets * self.loss.outputs()
    }

    /// All rows.
    pub fn all(&self) -> Vec<usize> {
        (0..self.design.rows).collect()
    }

    /// What is known of some rows.
    fn rows<S: Real>(&self, rows: &[usize]) -> Result<Responses<S>, Error> {
        let some = |all: &[f64]| rows.iter().map(|&row| all[row]).collect::<Vec<f64>>();
        let (weights, offset) = (self.weights.as_deref().map(some), self.offset.as_deref().map(some));
        let samples = Samples { weights: weights.as_deref(), offset: offset.as_deref() };
        self.loss.rows(&self.targets_of(rows), self.targets, samples)
    }

    /// The targets of some rows, one target after another.
    pub(super) fn targets_of(&self, rows: &[usize]) -> Vec<f64> {
        let of_target = |y: &[f64]| rows.iter().map(|&row| y[row]).collect::<Vec<f64>>();
        self.y.chunks_exact(self.design.rows.max(1)).flat_map(of_target).collect()
    }

    /// Σ ℓ over some rows.
    pub fn smooth<S: Real>(&self, rows: &[usize]) -> Result<Box<dyn Smooth<S>>, Error> {
        Ok(Box::new(LinearModel::<S, ()>::from_rows(self.x.matrix(&self.design, rows)?, self.rows(rows)?)?))
    }

    fn asked(&self) -> Asked<'_> {
        let (groups, factors) = (self.groups.as_deref(), self.factors.as_deref());
        Asked { penalty: &self.penalty, groups, factors, positive: self.positive, outputs: self.outputs() }
    }

    /// Refuses what does not go together.
    pub fn check(&self) -> Result<(), Error> {
        melmo::error::Error::expect_len("y", self.targets * self.design.rows, self.y.len())?;
        self.loss.check_targets(self.targets)?;
        self.asked().check(self.design.cols)
    }

    /// n·Σ ψ over entries or groups, the intercept left out, for n rows.
    pub fn penalty<S: Real>(&self, lambda: f64, rows: usize) -> Result<Box<dyn Prox<S>>, Error> {
        self.asked().build(lambda, rows, [self.design.cols, self.design.width()])
    }

    /// The problem for one λ, from 0.
    pub fn prepare<S: Real>(&self, lambda: f64) -> Result<Prepared<S>, Error> {
        let (width, rows) = (self.design.width() * self.outputs(), self.design.rows);
        let f = self.smooth(&self.all())?;
        let t = Identity::new(f.layout().clone());
        let problem = Problem::from_boxes(f, self.penalty(lambda, rows)?, Box::new(t))?;
        let defaults = Defaults { iterations: 10_000, ..Defaults::default() };
        Ok(Prepared { problem, start: vec![S::ZERO; width], defaults, optimum: None })
    }

    /// The point that stands for coefficients in the data's own units: where a run may start.
    pub fn point<S: Real>(&self, coefficients: &[Coefficients]) -> Vec<S> {
        self.design.point(coefficients)
    }

    /// A solution in the data's own units, for each output.
    pub fn coefficients<S: Real>(&self, solution: &[S]) -> Vec<Coefficients> {
        self.design.coefficients(solution, self.outputs())
    }
}
