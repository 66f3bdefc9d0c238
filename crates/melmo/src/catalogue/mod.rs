//! One table of everything there is: names, formulas, parameters with defaults, constructors, examples.
//!
//! Programs list it, build from it and take their names from it; the law tests run over every row, so that a row cannot go
//! untested. To add a term, write its file and add its row.

mod beyond;
mod choose;
mod competitors;
mod geometries;
mod literature;
mod losses;
mod methods;
mod operators;
mod penalties;
mod splittings;
mod structured;
mod tables;
mod theory;

pub use choose::{Choice, choose};
pub use geometries::{BuildGeometry, GeometryRow, oracles};
pub use losses::{BuildLoss, LossRow};
pub use methods::{BuildMethod, MethodRow};
pub use operators::{BuildOperator, OperatorRow};
pub use penalties::{BuildPenalty, Lift, PenaltyRow, lifts};
pub use tables::{Tables, geometries, losses, methods, operators, penalties};
pub use theory::{Start, guarantee};

use crate::block::Layout;
use crate::error::Error;
use crate::operator::LinOp;

/// A parameter of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The name users type.
    pub name: &'static str,
    /// The value when it is left out; `None` when it has to be given.
    pub default: Option<f64>,
    /// What it means.
    pub about: &'static str,
    /// The words it can be, when it is a word: its value is the place of the word in this list. Empty for a number.
    pub choices: &'static [&'static str],
}

impl Parameter {
    const fn new(name: &'static str, default: f64, about: &'static str) -> Self {
        Self { name, default: Some(default), about, choices: &[] }
    }

    /// One of some words, the first unless chosen otherwise.
    const fn word(name: &'static str, choices: &'static [&'static str], about: &'static str) -> Self {
        Self { name, default: Some(0.0), about, choices }
    }

    /// The value that a word stands for.
    pub fn value_of(&self, word: &str) -> Result<f64, Error> {
        let place = self.choices.iter().position(|choice| *choice == word);
        place.map(|place| place as f64).ok_or_else(|| Error::UnknownName {
            kind: self.name,
            name: word.into(),
            known: self.choices.iter().map(|choice| choice.to_string()).collect(),
        })
    }
}

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

/// The parameters of a row with the values that were chosen, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    values: Vec<(&'static str, f64)>,
}

impl Arguments {
    /// The values given, completed by the row's defaults. `lam` is understood as `lambda`. Unknown and missing names are
    /// refused.
    pub fn new(entry: &Entry, given: &[(&str, f64)]) -> Result<Self, Error> {
        let spelled = |name: &str| if name == "lam" { "lambda".into() } else { name.to_string() };
        for (name, _) in given {
            if !entry.parameters.iter().any(|p| p.name == spelled(name)) {
                return Err(Error::UnknownName {
                    kind: "parameter",
                    name: format!("{name} (of {})", entry.name),
                    known: entry.parameters.iter().map(|p| p.name.into()).collect(),
                });
            }
        }
        let mut values = Vec::new();
        for parameter in entry.parameters {
            let chosen = given.iter().rev().find(|(name, _)| spelled(name) == parameter.name).map(|&(_, value)| value);
            let Some(value) = chosen.or(parameter.default) else {
                return Err(Error::Unsupported(format!(
                    "`{}` needs {}: {}",
                    entry.name, parameter.name, parameter.about
                )));
            };
            values.push((parameter.name, value));
        }
        Ok(Self { values })
    }

    /// The row's defaults.
    pub fn defaults(entry: &Entry) -> Result<Self, Error> {
        Self::new(entry, &[])
    }

    /// The value of a parameter; NaN, which every constructor refuses, for a name that the row does not have.
    pub fn get(&self, name: &str) -> f64 {
        self.values.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |&(_, value)| value)
    }
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
    pub given: &'static [(&'static str, f64)],
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
        kind,
        name: name.into(),
        known: rows.iter().map(|row| row.as_ref().name.into()).collect(),
    })
}
