//! Products of matrices on the device, and what is made of them: directions of norms of matrices, and losses of factors.

mod batch;
mod factors;
mod leading;
mod parts;
mod polar;
mod sparse;

pub(crate) use batch::Batch;
pub(crate) use factors::Factors;
pub(crate) use parts::Part;

use melmo::error::Error;
use melmo::geometry::Oracle;
use melmo::real::Real;

use crate::device::Device;
use crate::machine::{Address, Args, Factor, Format, Kernel, Machine, Product};

/// What products are computed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arithmetic {
    /// By shape and precision: spectral directions in half precision with sums in single where a matrix is nearly square, in double
    /// on the short side's Gram matrix where it is tall; losses in the precision of the data, single precision by three products
    /// in tf32.
    #[default]
    Auto,
    /// Spectral directions in tf32, of 11 binary digits as half precision is.
    Tf32,
    /// Everything in the precision of the data.
    Plain,
    /// Spectral directions by so many steps of Newton–Schulz with the paper's coefficients, in the precision of the data.
    NewtonSchulz(u8),
    /// Spectral directions by a minimax polynomial of so many steps, in the precision of the data.
    Minimax(u8),
    /// The same in single precision.
    MinimaxSingle(u8),
}

impl Arithmetic {
    /// That of an oracle; refuses decompositions.
    pub fn of(oracle: Oracle) -> Result<Self, Error> {
        Ok(match oracle.checked()? {
            Oracle::Auto => Self::Auto,
            Oracle::NewtonSchulz(steps) => Self::NewtonSchulz(steps),
            Oracle::Minimax { steps } => Self::Minimax(steps),
            Oracle::MinimaxSingle { steps } => Self::MinimaxSingle(steps),
            other => {
                let message = format!(
                    "the oracle {other} is a decomposition, which the GPU has none of: leave it out, or take device cpu"
                );
                return Err(Error::Unsupported(message));
            }
        })
    }
}

/// The format of the numbers of S.
pub(crate) fn format_of<S: Real>() -> Format {
    if S::EPSILON < 1e-10 { Format::Double } else { Format::Single }
}

/// Factors of a symmetric product XᵀX of a tall matrix, XXᵀ of a wide one; and its size.
fn gram_of(x: Address, [rows, cols]: [usize; 2]) -> (Factor, Factor, [usize; 3]) {
    match rows >= cols {
        true => (Factor::turned(x, cols), Factor::plain(x, cols), [cols, cols, rows]),
        false => (Factor::plain(x, cols), Factor::turned(x, cols), [rows, rows, cols]),
    }
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    /// y ← ax, n entries, from one format to another.
    fn convert(&mut self, [y, x]: [Address; 2], a: f64, n: usize, [to, from]: [Format; 2], loose: bool) {
        let args = Args { y, x, a, to: to as i64, from: from as i64, loose: i64::from(loose), ..Args::default() };
        self.entries(Kernel::Convert, n, args);
    }

    /// ⟨x, d⟩, ‖d‖², Σ|x| and max |x| of n entries.
    fn sums_of(&mut self, [x, d]: [Address; 2], n: usize, [of_x, of_d]: [Format; 2], loose: bool) -> [f64; 4] {
        let args = Args { x, d, from: of_x as i64, to: of_d as i64, loose: i64::from(loose), ..Args::default() };
        self.entries(Kernel::Pair, n, args);
        let [ip, squared, absolute, largest, ..] = self.results();
        [ip, squared, absolute, if largest < 0.0 { 0.0 } else { largest }]
    }

    /// G ← αXᵀX, or αXXᵀ of a wide X.
    fn gram(&mut self, (g, stored): (Address, Format), x: Address, shape: [usize; 2], format: Format, alpha: f64) {
        let (left, right, size) = gram_of(x, shape);
        let to = Factor::plain(g, size[0]);
        self.multiply(Product { to, stored, left, right, format, size, alpha, beta: 0.0 });
    }

    /// C ← αAB for square matrices.
    fn square(&mut self, (c, stored): (Address, Format), [a, b]: [Address; 2], n: usize, format: Format, alpha: f64) {
        let (left, right) = (Factor::plain(a, n), Factor::plain(b, n));
        let to = Factor::plain(c, n);
        self.multiply(Product { to, stored, left, right, format, size: [n; 3], alpha, beta: 0.0 });
    }

    /// Y ← αXP, or αPX of a wide X.
    fn times(
        &mut self,
        (y, stored): (Address, Format),
        [x, p]: [Address; 2],
        shape: [usize; 2],
        format: Format,
        alpha: f64,
    ) {
        let [rows, cols] = shape;
        let (x, p) = (Factor::plain(x, cols), Factor::plain(p, rows.min(cols)));
        let (left, right, inner) = if rows >= cols { (x, p, cols) } else { (p, x, rows) };
        let to = Factor::plain(y, cols);
        self.multiply(Product { to, stored, left, right, format, size: [rows, cols, inner], alpha, beta: 0.0 });
    }
}
