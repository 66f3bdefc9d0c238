//! Solutions along a path of λ, from data of either precision, full or sparse.

use std::ops::ControlFlow;

use melmo::real::Real;
use melmo::solver::{LambdaPath, geometric};

use super::fit::Asked;
use super::select::library;
use super::{Coefficients, Loss, Samples, Table};
use crate::choice::PenaltyChoice;
use crate::error::Error;

/// What is fitted to what.
pub struct Model<'d, S> {
    /// The columns.
    pub table: Table<'d, S>,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// The target as the loss takes it: a number a row, or several, all rows for each.
    pub y: &'d [f64],
    /// ℓ.
    pub loss: Loss,
    /// ψ; its λ is replaced along the path.
    pub penalty: &'d PenaltyChoice,
    /// Columns that are penalised together; every column alone when there are none.
    pub groups: Option<&'d [Vec<usize>]>,
    /// There is a c.
    pub intercept: bool,
    /// Columns are divided by their standard deviation.
    pub standardize: bool,
    /// Weights and offsets of the rows.
    pub samples: Samples<'d>,
    /// What ψ of every column is multiplied by; 1 when there are none.
    pub factors: Option<&'d [f64]>,
    /// No coefficient may be negative.
    pub positive: bool,
    /// Where the path starts, output by output: a solution of before.
    pub start: Option<&'d [Coefficients]>,
}

/// Which λ.
#[derive(Clone, Debug, PartialEq)]
pub enum Lambdas {
    /// These, in this order.
    Given(Vec<f64>),
    /// So many from λ_max to λ_max·ratio.
    Down {
        /// How many.
        count: usize,
        /// λ_min/λ_max.
        ratio: f64,
    },
}

/// λ at most: every one of them has as many coefficients as there are columns.
pub const MOST: usize = 10_000;

/// Refuses more λ than [`MOST`], and none.
pub(super) fn check_count(count: usize) -> Result<(), Error> {
    match (1..=MOST).contains(&count) {
        true => Ok(()),
        false => Err(Error::input("the number of λ", count.to_string(), format!("1 to {MOST}"))),
    }
}

impl Lambdas {
    /// Refuses what makes no path: too many λ or none, a λ that is not above 0, a ratio outside of 0 to 1.
    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Given(lambdas) => {
                check_count(lambdas.len())?;
                lambdas
                    .iter()
                    .try_for_each(|&lambda| melmo::error::Error::expect_positive("lambda", lambda).map(drop))?;
            }
            Self::Down { count, ratio } => {
                check_count(*count)?;
                let holds = *ratio > 0.0 && *ratio <= 1.0;
                melmo::error::Error::expect_parameter("ratio", *ratio, holds, "above 0, and 1 at most")?;
            }
        }
        Ok(())
    }
}

/// How exact a solution is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounds {
    /// No coefficient is farther from stationary than this times its λ's share of the kink.
    pub tolerance: f64,
    /// Rounds for one λ, at most.
    pub most: u32,
}

/// The solutions.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// The least λ for which every penalised coefficient is 0.
    pub lambda_max: f64,
    /// λ by λ.
    pub lambdas: Vec<f64>,
    /// In the data's own units, output by output.
    pub coefficients: Vec<Vec<Coefficients>>,
    /// F/n: the mean loss (for squares half the mean squared error) plus Σ ψ.
    pub objective: Vec<f64>,
    /// How far from stationary, relative to the penalty's largest kink; at most the tolerance where the rounds sufficed.
    pub violation: Vec<f64>,
    /// Rounds that each took.
    pub rounds: Vec<u32>,
}

impl<S: Real> Model<'_, S> {
    /// Follows the path; `go_on` is asked after every sweep and may end it, which gives `None`.
    pub fn follow(
        &self,
        lambdas: &Lambdas,
        rounds: Rounds,
        mut go_on: impl FnMut() -> ControlFlow<()>,
    ) -> Result<Option<Followed>, Error> {
        let stack = (self.y.len() / self.rows.max(1)).max(1);
        self.loss.check_targets(stack)?;
        melmo::error::Error::expect_len("y", stack * self.rows, self.y.len())?;
        melmo::error::Error::expect_positive("tol", rounds.tolerance)?;
        lambdas.check()?;
        let (outputs, n) = (stack * self.loss.outputs(), self.rows as f64);
        let Self { penalty, groups, factors, positive, .. } = *self;
        let asked = Asked { penalty, groups, factors, positive, outputs };
        asked.check(self.cols)?;
        let design = self.table.design(self.rows, self.cols, self.intercept, self.standardize)?;
        let (rows, columns) = (self.loss.rows(self.y, stack, self.samples)?, self.table.columns(&design)?);
        let make = |lambda| asked.build::<S>(lambda, self.rows, [self.cols, design.width()]).map_err(library);
        let mut path = LambdaPath::of_columns(columns, rows, make)?;
        let lambda_max = path.lambda_max()?;
        let expected = "numbers of more usual sizes";
        if !lambda_max.is_finite() {
            return Err(Error::input("X and y", format!("λ_max = {lambda_max}"), expected));
        }
        let lambdas = match lambdas {
            Lambdas::Given(lambdas) => lambdas.clone(),
            Lambdas::Down { count, ratio } => {
                let top = if lambda_max > 0.0 { lambda_max } else { 1.0 };
                geometric(top, *ratio, *count)
            }
        };
        let convex = make(1.0)?.weak_convexity() == 0.0 || self.start.is_some();
        if let Some(start) = self.start {
            melmo::error::Error::expect_len("outputs of the start", outputs, start.len())?;
            path.start_at(&design.point(start))?;
        }
        path = path.accuracy(rounds.tolerance, rounds.most);
        if let Some(&first) = lambdas.first().filter(|_| !convex)
            && path.approach(lambda_max, first, &mut go_on)?.is_break()
        {
            return Ok(None);
        }
        let mut followed = Followed::empty(lambda_max);
        for lambda in lambdas {
            let (point, flow) = path.solve_while(lambda, &mut go_on)?;
            if flow.is_break() {
                return Ok(None);
            }
            followed.coefficients.push(design.coefficients(&point.x, outputs));
            followed.push(lambda, [point.objective / n, point.violation / point.kink], point.rounds);
        }
        Ok(Some(followed))
    }
}

impl Followed {
    fn empty(lambda_max: f64) -> Self {
        let (lambdas, coefficients, objective, violation, rounds) = Default::default();
        Self { lambda_max, lambdas, coefficients, objective, violation, rounds }
    }

    fn push(&mut self, lambda: f64, [objective, violation]: [f64; 2], rounds: u32) {
        self.lambdas.push(lambda);
        self.objective.push(objective);
        self.violation.push(violation);
        self.rounds.push(rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::Compressed;
    use melmo::seeded::Seeded;

    /// A table with zeros, full and in compressed rows, and a target.
    struct Data {
        full: Vec<f64>,
        starts: Vec<usize>,
        columns: Vec<usize>,
        values: Vec<f64>,
        y: Vec<f64>,
    }

    const ROWS: usize = 40;
    const COLS: usize = 12;

    fn data() -> Data {
        let mut seeded = Seeded::new(2);
        let mut draw = || if seeded.uniform() < 0.5 { 0.0 } else { 1.0 + seeded.normal() };
        let full: Vec<f64> = (0..ROWS * COLS).map(|_| draw()).collect();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in full.chunks_exact(COLS) {
            let filled = row.iter().enumerate().filter(|(_, v)| **v != 0.0);
            filled.for_each(|(j, &v)| (columns.push(j), values.push(v)).0);
            starts.push(columns.len());
        }
        let y = full.chunks_exact(COLS).map(|row| 3.0 + 2.0 * row[1] - row[4] + 0.1 * row[0].sin()).collect();
        Data { full, starts, columns, values, y }
    }

    /// Least squares, and nothing besides.
    fn plain<'d>(table: Table<'d, f64>, y: &'d [f64], penalty: &'d PenaltyChoice) -> Model<'d, f64> {
        Model {
            table,
            rows: ROWS,
            cols: COLS,
            y,
            loss: Loss::Squares,
            penalty,
            groups: None,
            intercept: false,
            standardize: false,
            samples: Samples::default(),
            factors: None,
            positive: false,
            start: None,
        }
    }

    fn follow(data: &Data, sparse: bool, penalty: &str, standardize: bool, lambdas: Lambdas) -> Followed {
        let Data { full, starts, columns, values, y } = data;
        let compressed = Compressed { starts, places: columns, values };
        let table = if sparse { Table::Compressed(compressed) } else { Table::Full(full) };
        let penalty = penalty.parse().unwrap();
        let model = Model { intercept: true, standardize, ..plain(table, y, &penalty) };
        model.follow(&lambdas, Rounds { tolerance: 1e-9, most: 1000 }, || ControlFlow::Continue(())).unwrap().unwrap()
    }

    #[test]
    fn sparse_and_full_tables_have_the_same_solutions() {
        let data = data();
        for penalty in ["l1", "elastic-net", "mcp"] {
            for standardize in [false, true] {
                let of = |sparse| follow(&data, sparse, penalty, standardize, Lambdas::Given(vec![0.3, 0.1, 0.03]));
                let (full, sparse) = (of(false), of(true));
                for (a, b) in full.coefficients.iter().flatten().zip(sparse.coefficients.iter().flatten()) {
                    assert!((a.intercept - b.intercept).abs() < 1e-6, "{penalty} {standardize}");
                    assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-6));
                }
                assert!(full.violation.iter().chain(&sparse.violation).all(|v| *v <= 1e-9));
            }
        }
    }

    #[test]
    fn a_path_starts_where_everything_is_zero() {
        let path = follow(&data(), false, "l1", true, Lambdas::Down { count: 5, ratio: 1e-3 });
        assert!(path.coefficients[0][0].values.iter().all(|b| b.abs() < 1e-9));
        assert!((path.lambdas[4] / path.lambda_max - 1e-3).abs() < 1e-12);
        let last = &path.coefficients[4][0];
        assert!((last.values[1] - 2.0).abs() < 0.05 && (last.values[4] + 1.0).abs() < 0.05);
    }

    fn refused(data: &Data, lambdas: Lambdas, groups: Option<&[Vec<usize>]>) -> String {
        let penalty = "mcp".parse().unwrap();
        let model = Model { groups, intercept: true, ..plain(Table::Full(&data.full), &data.y, &penalty) };
        let rounds = Rounds { tolerance: 1e-9, most: 9 };
        model.follow(&lambdas, rounds, || ControlFlow::Continue(())).unwrap_err().to_string()
    }

    #[test]
    fn what_makes_no_path_is_refused() {
        let data = data();
        for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(&data, Lambdas::Given(vec![lambda]), None).contains("lambda"), "{lambda}");
        }
        let many = Lambdas::Down { count: 1_000_000_000_000, ratio: 0.1 };
        assert!(refused(&data, many, None).contains("1 to 10000"));
        assert!(refused(&data, Lambdas::Down { count: 5, ratio: 0.0 }, None).contains("ratio"));
        let groups = [vec![0, COLS]]; // the last is the intercept
        assert!(refused(&data, Lambdas::Given(vec![0.1]), Some(&groups)).contains("column 12"));
    }

    #[test]
    fn a_path_can_be_left() {
        let data = data();
        let penalty = "l1".parse().unwrap();
        let model = plain(Table::Full(&data.full), &data.y, &penalty);
        let left =
            model.follow(&Lambdas::Given(vec![0.1]), Rounds { tolerance: 1e-9, most: 9 }, || ControlFlow::Break(()));
        assert_eq!(left.unwrap(), None);
    }
}
