//! A table of numbers: which columns explain one of them, for every λ.

use std::ops::ControlFlow;

use melmo::seeded::Seeded;
use melmo_data::frame;
use melmo_tasks::regress::{Design, Lambdas, Loss, Model, Regression, Rounds, Samples};
use melmo_tasks::{Error, PenaltyChoice, Settings};

use crate::answer::{Answer, solved};
use crate::factors::Matrix;

/// λ of a path.
const COUNT: usize = 60;
/// The last λ of a path, as a part of the first.
const RATIO: f64 = 1e-3;
/// How exact a path is.
const ROUNDS: Rounds = Rounds { tolerance: 1e-4, most: 200 };

/// Columns of numbers, without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Their names.
    pub names: Vec<String>,
    /// rows×columns, row after row.
    pub data: Vec<f64>,
    /// Rows that had a gap, and are left out.
    pub gaps: usize,
    /// Columns of words, which are left out.
    pub words: Vec<String>,
}

impl Table {
    /// A table as people have it. Columns of words and rows with gaps are left out, and counted.
    pub fn parse(text: &[u8]) -> Result<Self, melmo_data::Error> {
        let frame = frame::parse(text)?;
        let (names, (_, cols)) = (frame.column_names(), frame.size());
        let (kept, words): (Vec<usize>, Vec<usize>) = (0..cols).partition(|&j| frame.words_of(j).is_none());
        let mut table = Self { names: Vec::new(), data: Vec::new(), gaps: 0, words: Vec::new() };
        for row in frame.array.data.chunks_exact(cols.max(1)) {
            match kept.iter().any(|&j| row[j].is_nan()) {
                true => table.gaps += 1,
                false => table.data.extend(kept.iter().map(|&j| row[j])),
            }
        }
        table.names = kept.iter().map(|&j| names[j].clone()).collect();
        table.words = words.iter().map(|&j| names[j].clone()).collect();
        Ok(table)
    }

    /// 120 rows of a made-up price: `size`, `rooms` and `age` are in it, nine other columns are not.
    pub fn example() -> Self {
        let mut seeded = Seeded::new(3);
        let mut names: Vec<String> = ["size", "rooms", "age"].map(String::from).into();
        names.extend((1..=9).map(|i| format!("other {i}")));
        names.push("price".into());
        let row = |_| {
            let mut row: Vec<f64> = (0..12).map(|_| seeded.normal()).collect();
            row.push(300.0 + 60.0 * row[0] + 25.0 * row[1] - 15.0 * row[2] + 20.0 * seeded.normal());
            row
        };
        Self { names, data: (0..120).flat_map(row).collect(), gaps: 0, words: Vec::new() }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.data.len() / self.names.len().max(1)
    }

    /// The numbers as a matrix.
    pub fn matrix(&self) -> Matrix {
        Matrix { data: self.data.clone(), rows: self.rows(), cols: self.names.len() }
    }

    /// All columns but the target's, and the target.
    fn split(&self, target: usize) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let cols = self.names.len();
        if cols < 2 || target >= cols || self.rows() < 3 {
            let found = format!("{} complete rows and {cols} columns of numbers", self.rows());
            return Err(Error::input("a table", found, "at least 3 rows and 2 columns"));
        }
        let x = self.data.iter().enumerate().filter(|(at, _)| at % cols != target).map(|(_, v)| *v).collect();
        Ok((x, self.data.iter().skip(target).step_by(cols).copied().collect()))
    }

    /// Coefficients for 60 λ, from the one where all are 0 downwards.
    pub fn path(&self, target: usize, penalty: &str) -> Result<Answer, Error> {
        let ((x, y), penalty) = (self.split(target)?, penalty.parse::<PenaltyChoice>()?);
        let model = Model {
            table: melmo_tasks::regress::Table::Full(&x),
            rows: self.rows(),
            cols: self.names.len() - 1,
            y: &y,
            loss: Loss::Squares,
            penalty: &penalty,
            groups: None,
            intercept: true,
            standardize: true,
            samples: Samples::default(),
            factors: None,
            positive: false,
            start: None,
        };
        let lambdas = Lambdas::Down { count: COUNT, ratio: RATIO };
        let followed = model.follow(&lambdas, ROUNDS, || ControlFlow::Continue(()))?;
        let followed = followed.ok_or_else(|| Error::input("a path", "an end before its time", "none"))?;
        // What a column is worth: its coefficient in the data's units would depend on whether it is told in metres or miles.
        let scales = Design::new(&x, self.rows(), self.names.len() - 1, true, true)?.scales;
        let of = followed.coefficients.iter().flat_map(|outputs| &outputs[0].values);
        let scaled: Vec<f32> = of.zip(scales.iter().cycle()).map(|(b, scale)| (b * scale) as f32).collect();
        Ok(Answer::default()
            .with("lambda_max", followed.lambda_max)
            .with("lambdas", followed.lambdas.clone())
            .with("objective", followed.objective.clone())
            .and("coefficients", scaled))
    }

    /// The solution for one λ, with its certificate.
    pub fn fit(&self, target: usize, penalty: &str, lambda: f64) -> Result<Answer, Error> {
        let ((x, y), penalty) = (self.split(target)?, penalty.parse::<PenaltyChoice>()?);
        let design = Design::new(&x, self.rows(), self.names.len() - 1, true, true)?;
        let regression = Regression { x: x.into(), y, design, ..Regression::plain(penalty) };
        let (answer, solved) = solved(&regression.prepare::<f64>(lambda)?, &Settings::default(), &mut |_| ())?;
        let found = &regression.coefficients(&solved.report.z)[0];
        Ok(answer.with("lambda", lambda).with("intercept", found.intercept).with("coefficients", found.values.clone()))
    }
}
