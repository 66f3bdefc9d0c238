//! One table of everything there is: names, formulas, parameters with defaults, constructors, examples.
//!
//! Programs list it, build from it and take their names from it; the law tests run over every row, so that a row cannot go
//! untested. To add a term, write its file and add its row.

mod arguments;
mod beyond;
mod choose;
mod competitors;
mod geometries;
mod imaging;
mod literature;
mod losses;
mod methods;
mod operators;
mod penalties;
mod place;
mod splittings;
mod structured;
mod sums;
mod tables;
mod theory;

pub use arguments::{Arguments, Kind, Parameter, Value};
pub use choose::{Choice, choose};
pub use geometries::{BuildGeometry, GeometryRow, oracles};
pub use losses::{BuildLoss, LossRow};
pub use methods::{BuildMethod, MethodRow};
pub use operators::{BuildOperator, OperatorRow};
pub use penalties::{BuildPenalty, Lift, PenaltyRow, lifts};
pub use place::{ANYWHERE, SAMPLED, method_in, method_on, sampled_on};
pub use sums::{Addend, sum};
pub use tables::{Tables, geometries, losses, methods, operators, penalties};
pub use theory::{Start, guarantee};

use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;

/// What every row has: the text that programs show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

/// What a constructor may need besides numbers. Each takes what it needs and says so when it is missing.
pub struct Inputs<S> {
    /// The blocks of the variable.
    pub layout: Option<Layout>,
    /// A matrix, row-major: data, dictionary, kernel.
    pub matrix: Option<(Vec<S>, usize, usize)>,
    /// A right-hand side.
    pub target: Option<Vec<S>>,
    /// 0/1 entries.
    pub mask: Option<Vec<S>>,
    /// Names of blocks.
    pub blocks: Vec<String>,
    /// Operators to build upon.
    pub operators: Vec<Box<dyn LinOp<S>>>,
}

/// A field of [`Inputs`] that a row's constructor reads, in the order in which people give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// [`Inputs::layout`].
    Layout,
    /// [`Inputs::matrix`].
    Matrix,
    /// [`Inputs::target`].
    Target,
    /// [`Inputs::mask`].
    Mask,
    /// [`Inputs::mask`], which may be left out: everything is then observed.
    OptionalMask,
    /// [`Inputs::blocks`].
    Blocks,
    /// The next of [`Inputs::operators`].
    Operator,
    /// All of [`Inputs::operators`].
    Operators,
}

/// Inputs and parameters for which a row's constructor works, made from a seed: what the law tests run on.
pub struct Example<S> {
    /// What is special about it.
    pub about: &'static str,
    /// Parameters that differ from the defaults.
    pub given: &'static [(&'static str, Value)],
    /// The rest.
    pub inputs: Inputs<S>,
}

impl<S> Default for Inputs<S> {
    fn default() -> Self {
        Self { layout: None, matrix: None, target: None, mask: None, blocks: Vec::new(), operators: Vec::new() }
    }
}

impl<S> Inputs<S> {
    fn need<T>(what: &str, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| Error::Unsupported(format!("this constructor needs {what}, and none was given")))
    }

    fn take_layout(&mut self) -> Result<Layout, Error> {
        Self::need("the layout of a variable", self.layout.take())
    }

    fn take_matrix(&mut self) -> Result<(Vec<S>, usize, usize), Error> {
        Self::need("a matrix", self.matrix.take())
    }

    fn take_target(&mut self) -> Result<Vec<S>, Error> {
        Self::need("a right-hand side", self.target.take())
    }

    fn take_mask(&mut self) -> Result<Vec<S>, Error> {
        Self::need("a mask", self.mask.take())
    }

    fn take_operator(&mut self) -> Result<Box<dyn LinOp<S>>, Error> {
        Self::need("an operator", if self.operators.is_empty() { None } else { Some(self.operators.remove(0)) })
    }
}

/// The row of that name, or an error that lists the names there are.
pub fn find<'r, R: AsRef<Entry>>(kind: &'static str, rows: &'r [R], name: &str) -> Result<&'r R, Error> {
    rows.iter().find(|row| row.as_ref().name == name).ok_or_else(|| Error::UnknownName {
        kind: kind.into(),
        name: name.into(),
        known: rows.iter().map(|row| row.as_ref().name.into()).collect(),
    })
}
