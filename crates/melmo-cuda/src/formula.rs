//! ψ as kernels know it: the number of its formula, and its parameters.

use melmo::penalty::{Psi, Shape, Spline};

use crate::machine::bytes;

/// Which formula: kernels are compiled for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// `SHAPE` in `kernels/penalty.cuh`.
    pub number: u32,
    /// ∞ below 0.
    pub nonnegative: bool,
}

/// A formula with its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Formula {
    pub kind: Kind,
    pub parameters: [f64; 2],
    /// ψ′ piece by piece, where it is piecewise linear.
    pieces: Option<[[f64; 4]; Spline::MOST]>,
}

impl Formula {
    /// None where kernels have no formula of that name.
    pub fn of(psi: Psi) -> Option<Self> {
        let mut pieces = None;
        let (number, parameters) = match psi.shape {
            Shape::L1 { lambda } => (1, [lambda, 0.0]),
            Shape::Mcp { lambda, mu } => (2, [lambda, mu]),
            Shape::Scad { lambda, a } => (3, [lambda, a]),
            Shape::Huber { lambda, delta } => (4, [lambda, delta]),
            Shape::LogSum { lambda, theta } => (5, [lambda, theta]),
            Shape::ElasticNet { lambda, nu } => (6, [lambda, nu]),
            Shape::Ridge { nu } => (7, [nu, 0.0]),
            Shape::Interval { lower, upper } => (8, [lower, upper]),
            Shape::Spline(spline) => {
                pieces = Some(spline.pieces());
                (9, spline.end().into())
            }
            _ => return None,
        };
        Some(Self { kind: Kind { number, nonnegative: psi.nonnegative }, parameters, pieces })
    }

    /// What kernels read piece by piece: nothing for most formulas.
    pub fn table(&self) -> &[u8] {
        self.pieces.as_ref().map_or(&[], |pieces| bytes(pieces.as_flattened()))
    }
}
