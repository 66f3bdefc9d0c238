//! From an instance to a problem of the library, its start, and what is measured along the way.

use melmo::block::Layout;
use melmo::operator::{Difference2d, Identity, Select};
use melmo::penalty::{self, Entrywise};
use melmo::problem::Problem;
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, MaskedLeastSquares, Smooth};
use melmo_data::{Array, generate, metrics};

use crate::compact::{Compact, compact};
use crate::data::{Library, Matrix, min_max};
use crate::error::Error;
use crate::instance::{Instance, Mcp, Objective, Start};

/// A problem to be solved from a start, and what to measure at its points.
pub(crate) struct Prepared {
    pub problem: Problem<f64>,
    pub start: Vec<f64>,
    pub measure: Measure,
}

/// The reported objective, and what the experiment looks at besides.
pub(crate) struct Measure {
    /// Loss ½‖·‖² or ‖·‖², and the reported penalty.
    problem: Problem<f64>,
    /// What the loss is multiplied by.
    factor: f64,
    ridge: f64,
    family: Family,
}

enum Family {
    /// ‖Y‖², and where H begins.
    Factors {
        energy: f64,
        h: usize,
    },
    Image {
        clean: Vec<f64>,
        rows: usize,
        cols: usize,
    },
    Entries {
        y: Vec<f64>,
        mask: Vec<f64>,
    },
}

impl Prepared {
    pub fn new(instance: &Instance, library: &Library) -> Result<Self, Error> {
        let missing = || melmo::error::Error::Unsupported(format!("the set {} is not there", instance.set.name()));
        let matrix = library.get(instance.set).ok_or_else(missing)?;
        match instance.minimised {
            Objective::Factors { rank, .. } => factors(instance, matrix, rank),
            Objective::Image { noise, mcp, .. } => image(instance, matrix, noise, mcp),
            Objective::Entries { fraction, mcp, .. } => entries(instance, matrix, fraction, mcp),
        }
    }
}

impl Mcp {
    fn on(self, size: usize) -> Result<Entrywise<penalty::Mcp, f64>, Error> {
        Ok(Entrywise::new(penalty::Mcp::new(self.lambda, self.mu)?, size))
    }
}

fn normal(scale: f64, seed: u64, size: usize) -> Vec<f64> {
    let mut numbers = Seeded::new(seed).normals(size);
    numbers.iter_mut().for_each(|value: &mut f64| *value *= scale);
    numbers
}

fn factors(instance: &Instance, matrix: &Matrix, rank: usize) -> Result<Prepared, Error> {
    let rows = matrix.rows;
    let (mut cols, mut y) = (matrix.cols, min_max(&matrix.entries));
    let Start::Normal { scale, seed } = instance.start else {
        return Err(melmo::error::Error::Unsupported("factors start from normal numbers".into()).into());
    };
    let mut start = normal(scale, seed, rank * (rows + cols));
    if let Some(small) = compact(&y, &start[rows * rank..], rows, cols, rank) {
        let Compact { cols: fewer, y: rotated, h } = small;
        start.truncate(rows * rank);
        start.extend(h);
        (cols, y) = (fewer, rotated);
    }
    let build = |objective: Objective, plain: bool| -> Result<Problem<f64>, Error> {
        let Objective::Factors { coefficient, ridge, mcp, .. } = objective else {
            return Err(melmo::error::Error::Unsupported("another objective is reported".into()).into());
        };
        let (coefficient, ridge) = if plain { (1.0, 0.0) } else { (coefficient, ridge) };
        let loss = Factorization::new(y.clone(), rows, cols, rank)?.coefficient(coefficient)?.ridge(ridge)?;
        let select = Select::new(loss.layout(), &["W"])?;
        Ok(Problem::new(loss, mcp.on(rows * rank)?, select)?)
    };
    let Objective::Factors { coefficient: factor, ridge, .. } = instance.reported else { unreachable!("built above") };
    let energy = y.iter().map(|value| value * value).sum();
    let family = Family::Factors { energy, h: rows * rank };
    let measure = Measure { problem: build(instance.reported, true)?, factor, ridge, family };
    Ok(Prepared { problem: build(instance.minimised, false)?, start, measure })
}

fn image(instance: &Instance, matrix: &Matrix, noise: f64, mcp: Mcp) -> Result<Prepared, Error> {
    let (rows, cols) = (matrix.rows, matrix.cols);
    let clean = matrix.entries.clone();
    let noisy = noisy(matrix, noise, instance.seed)?;
    let build = |mcp: Mcp| -> Result<Problem<f64>, Error> {
        let layout = Layout::matrix(rows, cols)?;
        let loss = MaskedLeastSquares::new(layout.clone(), noisy.clone(), None)?;
        Ok(Problem::new(loss, mcp.on(2 * rows * cols)?, Difference2d::new(rows, cols)?)?)
    };
    let (reported, factor) = match instance.reported {
        Objective::Image { mcp, coefficient, .. } => (mcp, 2.0 * coefficient),
        _ => (mcp, 1.0),
    };
    let family = Family::Image { clean, rows, cols };
    let measure = Measure { problem: build(reported)?, factor, ridge: 0.0, family };
    Ok(Prepared { problem: build(mcp)?, start: noisy.clone(), measure })
}

/// The image with its noise.
pub(crate) fn noisy(matrix: &Matrix, noise: f64, seed: u64) -> Result<Vec<f64>, Error> {
    let array = Array::new([matrix.rows, matrix.cols], matrix.entries.clone())?;
    Ok(generate::gaussian_noise(&array, noise, seed)?.data)
}

fn entries(instance: &Instance, matrix: &Matrix, fraction: f64, mcp: Mcp) -> Result<Prepared, Error> {
    let (rows, cols) = (matrix.rows, matrix.cols);
    let mask = generate::mask(rows, cols, fraction, instance.seed)?.data;
    let build = |mcp: Mcp| -> Result<Problem<f64>, Error> {
        let layout = Layout::matrix(rows, cols)?;
        let loss = MaskedLeastSquares::new(layout.clone(), matrix.entries.clone(), Some(mask.clone()))?;
        Ok(Problem::new(loss, mcp.on(rows * cols)?, Identity::new(layout))?)
    };
    let start = match instance.start {
        Start::Normal { scale, seed } => normal(scale, seed, rows * cols),
        Start::Zero => vec![0.0; rows * cols],
        Start::Data => matrix.entries.clone(),
    };
    let (reported, factor) = match instance.reported {
        Objective::Entries { mcp, coefficient, .. } => (mcp, 2.0 * coefficient),
        _ => (mcp, 1.0),
    };
    let family = Family::Entries { y: matrix.entries.clone(), mask: mask.clone() };
    let measure = Measure { problem: build(reported)?, factor, ridge: 0.0, family };
    Ok(Prepared { problem: build(mcp)?, start, measure })
}

/// The least value of ½‖M⊙(X − Y)‖² + Σ MCP(X): every entry on its own.
pub(crate) fn optimum(matrix: &Matrix, fraction: f64, seed: u64, mcp: Mcp) -> Result<f64, Error> {
    use melmo::penalty::Separable;
    let mask = generate::mask(matrix.rows, matrix.cols, fraction, seed)?.data;
    let psi = penalty::Mcp::new(mcp.lambda, mcp.mu)?;
    let least = |&y: &f64| {
        let x = psi.prox_psi(y, 1.0);
        psi.psi(x) + 0.5 * (x - y) * (x - y)
    };
    Ok(matrix.entries.iter().zip(&mask).filter(|(_, m)| **m > 0.0).map(|(y, _)| least(y)).sum())
}

impl Measure {
    /// The reported objective at x, then: ‖Y − WH‖²/‖Y‖² for factors; SSIM for an image; ‖M⊙(X − Y)‖² and the relative
    /// held-out error for entries.
    pub fn at(&self, x: &[f64]) -> (f64, Vec<f64>) {
        let (mut grad, mut work) = (vec![0.0; x.len()], vec![0.0; self.problem.work_len()]);
        let loss = self.problem.f().value_grad(&mut grad, x, &mut work);
        let mut objective = self.factor * loss + self.problem.penalty(x, &mut work);
        let extra = match &self.family {
            Family::Factors { energy, h } => {
                objective += 0.5 * self.ridge * x[*h..].iter().map(|v| v * v).sum::<f64>();
                vec![loss / energy]
            }
            Family::Image { clean, rows, cols } => {
                vec![metrics::ssim(clean, x, *rows, *cols, 1.0).unwrap_or(f64::NAN)]
            }
            Family::Entries { y, mask } => {
                let (mut apart, mut whole) = (0.0, 0.0);
                for ((x, y), m) in x.iter().zip(y).zip(mask).filter(|(_, m)| **m == 0.0) {
                    apart += (1.0 - m) * (x - y) * (x - y);
                    whole += (1.0 - m) * y * y;
                }
                vec![2.0 * loss, (apart / whole).sqrt()]
            }
        };
        (objective, extra)
    }

    /// An image's samples in hexadecimal.
    pub fn picture(&self, x: &[f64]) -> Option<String> {
        let Family::Image { .. } = self.family else { return None };
        Some(x.iter().map(|value| format!("{:02x}", grey(*value))).collect())
    }
}

/// A number from 0 to 1 as a byte.
pub(crate) fn grey(value: f64) -> u8 {
    (255.0 * value.clamp(0.0, 1.0)).round() as u8
}
