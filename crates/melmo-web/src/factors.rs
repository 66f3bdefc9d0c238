//! A matrix as the product of two: sparse W times H.

use melmo::linalg::{Dense, Into, Mat};
use melmo::seeded::Seeded;
use melmo_data::bundled;
use melmo_tasks::factorize::{Factors, minmax, relative_error};
use melmo_tasks::{Error, PenaltyChoice, Settings};

use crate::answer::{Answer, Progress, solved};

/// Steps at most: a slider that moves should not wait longer.
const STEPS: u64 = 1000;
/// ν of the ridge on H, as in the program.
const RIDGE: f64 = 0.1;

/// Y; NaN where it has no entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Row after row.
    pub data: Vec<f64>,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

impl Matrix {
    /// Who played whom: 115 colleges.
    pub fn football() -> Result<Self, melmo_data::Error> {
        let array = bundled::football()?.adjacency;
        let (rows, cols) = array.rows_cols().unwrap_or((0, 0));
        Ok(Self { data: array.data, rows, cols })
    }

    /// Y ≈ WH with MCP of this λ on the entries of W, Y scaled to 0 … 1.
    pub fn factorized(&self, rank: usize, lambda: f64, progress: Progress<'_>) -> Result<Answer, Error> {
        let Self { rows, cols, .. } = *self;
        if !(1..=rows.min(cols)).contains(&rank) {
            let found = format!("{rank} for {rows}×{cols}");
            return Err(Error::input("the rank", found, format!("1 to {}", rows.min(cols))));
        }
        let penalty: PenaltyChoice = format!("mcp:lambda={lambda},mu=3").parse()?;
        let (y, ..) = minmax(&self.data);
        let factors = Factors { y: &y, mask: None, rows, cols, rank, penalty: &penalty, ridge: RIDGE };
        let mut seeded = Seeded::new(0);
        let (w, h) = (seeded.normals(rows * rank), seeded.normals(rank * cols));
        let prepared = factors.prepare(w, h)?;
        let settings = Settings { iterations: Some(STEPS), ..Settings::default() };
        let (answer, solved) = solved(&prepared, &settings, progress)?;
        let split = rows * rank;
        let (w, h) = (&solved.report.z[..split], &solved.report.x[split..]);
        let error = relative_error(&factors.loss()?, w, h)?;
        let mut product = vec![0.0; rows * cols];
        f64::gemm(&mut product, Into::Replace, 1.0, Mat::new(w, rows, rank), Mat::new(h, rank, cols));
        Ok(answer
            .with("error", error)
            .with("zeros", w.iter().filter(|w| **w == 0.0).count())
            .with("entries", split)
            .and("w", w.iter().map(|&v| v as f32))
            .and("h", h.iter().map(|&v| v as f32))
            .and("product", product.iter().map(|&v| v as f32))
            .and("y", y.iter().map(|&v| v as f32)))
    }
}
