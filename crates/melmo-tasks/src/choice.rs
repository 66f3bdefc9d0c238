//! Penalties and geometries as people name them: `mcp:lambda=0.05,mu=2`, `spectral`, `W=spectral,H=l2`.

use std::fmt;
use std::str::FromStr;

use melmo::block::{Block, Layout};
use melmo::catalogue::{self, Arguments, Lift};
use melmo::geometry::{Geometry, Norm, Oracle, Product, for_block, for_layout};
use melmo::penalty::Prox;
use melmo::real::Real;

use crate::call::{self, Call};
use crate::error::Error;
use crate::number;

/// A penalty of the catalogue, with the parameters that were given.
#[derive(Clone, Debug, PartialEq)]
pub struct PenaltyChoice {
    name: String,
    given: Vec<(String, f64)>,
}

impl PenaltyChoice {
    /// A penalty by name with parameters; refused unless the catalogue has them.
    pub fn new(name: &str, given: &[(&str, f64)]) -> Result<Self, Error> {
        let rows = catalogue::penalties::<f64>();
        Arguments::new(&catalogue::find("penalty", &rows, name)?.entry, given)?;
        let spelled = |name: &str| if name == "lam" { "lambda".into() } else { name.to_string() };
        Ok(Self { name: name.into(), given: given.iter().map(|&(name, value)| (spelled(name), value)).collect() })
    }

    /// The catalogue's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A parameter that was given.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.given.iter().rev().find(|(known, _)| known == name).map(|&(_, value)| value)
    }

    /// The same penalty with `name` set to `value`, unless it was given.
    pub fn or(mut self, name: &str, value: f64) -> Self {
        let rows = catalogue::penalties::<f64>();
        let has =
            rows.iter().any(|row| row.entry.name == self.name && row.entry.parameters.iter().any(|p| p.name == name));
        if has && self.get(name).is_none() {
            self.given.push((name.into(), value));
        }
        self
    }

    /// The same penalty with `name` set to `value`.
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.given.retain(|(known, _)| known != name);
        self.or(name, value)
    }

    /// What its weight is called: λ, or the ν of a ridge; a constraint has none.
    fn weight_name(&self) -> Option<&'static str> {
        match self.name.as_str() {
            "nonnegative" | "box" => None,
            "ridge" => Some("nu"),
            _ => Some("lambda"),
        }
    }

    /// Its weight, where one was given.
    pub fn weight(&self) -> Option<f64> {
        self.get(self.weight_name()?)
    }

    /// The same penalty with that weight; a constraint as it is.
    pub fn weighted(self, lambda: f64) -> Self {
        match self.weight_name() {
            Some(name) => self.with(name, lambda),
            None => self,
        }
    }

    /// The penalty on a buffer of that layout.
    pub fn build<S: Real>(&self, lift: &Lift<S>, layout: &Layout) -> Result<Box<dyn Prox<S>>, Error> {
        let rows = catalogue::penalties::<S>();
        let row = catalogue::find("penalty", &rows, &self.name)?;
        let given: Vec<(&str, f64)> = self.given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Ok((row.build)(&Arguments::new(&row.entry, &given)?, lift, layout)?)
    }
}

impl FromStr for PenaltyChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Call { name, parameters } = Call::parse(text, "a penalty's parameter", "mcp:lambda=0.05,mu=2")?;
        let number = |(key, value)| Ok((key, number::parse(value)?));
        Self::new(name, &parameters.into_iter().map(number).collect::<Result<Vec<_>, Error>>()?)
    }
}

impl fmt::Display for PenaltyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: Vec<_> = self.given.iter().map(|(name, value)| (name.clone(), number::spell(*value))).collect();
        call::write(f, &self.name, &given)
    }
}

/// One norm for every block, or a norm for each of some blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum GeometryChoice {
    /// The same norm on every block.
    Every(Norm),
    /// A norm for each block that is named, with an oracle of its own where one is given; the others take the task's own.
    Named(Vec<(String, Norm, Option<Oracle>)>),
}

impl GeometryChoice {
    /// The geometry on these blocks; `other` is the norm of blocks that are not named, `oracle` that of all without their own.
    pub fn build<S: Real>(&self, layout: &Layout, other: Norm, oracle: Oracle) -> Result<Box<dyn Geometry<S>>, Error> {
        let named = match self {
            Self::Every(norm) => return Ok(for_layout(*norm, layout, oracle)?),
            Self::Named(named) => named,
        };
        for (name, ..) in named {
            layout.require(name)?;
        }
        let part = |block: &Block| match named.iter().rev().find(|(name, ..)| *name == block.name) {
            Some(&(_, norm, own)) => for_block(norm, block, own.unwrap_or(oracle)),
            None => for_block(other, block, oracle),
        };
        match layout.blocks() {
            [block] => Ok(part(block)?),
            blocks => {
                let parts = blocks.iter().map(part).collect::<Result<_, _>>()?;
                Ok(Box::new(Product::new(layout, parts)?))
            }
        }
    }
}

impl FromStr for GeometryChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if !text.contains('=') {
            return Ok(Self::Every(text.trim().parse()?));
        }
        let part = |part: &str| -> Result<_, Error> {
            let (name, norm) = part.split_once('=').ok_or_else(|| {
                Error::input("a geometry", format!("`{part}`"), "one norm, or block=norm as in W=spectral,H=l2")
            })?;
            Ok((name.trim().to_string(), norm.trim().parse()?, None))
        };
        text.split(',').map(part).collect::<Result<_, _>>().map(Self::Named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_comes_back_as_it_was_written() {
        let penalty: PenaltyChoice = "mcp:lam=1/20,mu=2".parse().unwrap();
        assert_eq!(penalty.to_string(), "mcp:lambda=0.05,mu=2");
        assert_eq!(penalty.to_string().parse::<PenaltyChoice>().unwrap(), penalty);
        assert_eq!("l1".parse::<PenaltyChoice>().unwrap().to_string(), "l1");
        assert_eq!(penalty.clone().or("lambda", 9.0), penalty);
        assert_eq!(penalty.with("lambda", 9.0).get("lambda"), Some(9.0));
    }

    #[test]
    fn a_weight_has_another_name_for_a_ridge_and_none_for_a_constraint() {
        let choice = |text: &str| text.parse::<PenaltyChoice>().unwrap();
        for row in catalogue::penalties::<f64>() {
            let weighted = choice(row.entry.name).weighted(0.3);
            let constraint = matches!(row.entry.name, "nonnegative" | "box");
            assert_eq!(weighted.weight(), (!constraint).then_some(0.3), "{weighted}");
        }
        assert_eq!(choice("ridge:nu=2").weighted(0.3), choice("ridge:nu=0.3"));
        assert_eq!(choice("elastic-net:nu=2").weight(), None);
    }

    #[test]
    fn unknown_names_are_refused_with_those_there_are() {
        for (text, told) in [("mpc", "mcp"), ("mcp:nu=1", "mu"), ("mcp:mu", "key=value"), ("mcp:mu=a", "7/12")] {
            let error = text.parse::<PenaltyChoice>().unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        assert!("spectra".parse::<GeometryChoice>().unwrap_err().to_string().contains("spectral"));
    }

    #[test]
    fn geometries_for_every_block_or_for_some() {
        let layout = Layout::new([("W", 3, 2), ("H", 2, 4)]).unwrap();
        let norms = |text: &str| {
            let choice: GeometryChoice = text.parse().unwrap();
            let geometry = choice.build::<f64>(&layout, Norm::L2, Oracle::Auto).unwrap();
            geometry.norms().iter().map(|part| part.norm).collect::<Vec<_>>()
        };
        assert_eq!(norms("linf"), [Norm::Linf, Norm::Linf]);
        assert_eq!(norms("W=spectral"), [Norm::Spectral, Norm::L2]);
        assert_eq!(norms("H=l1, W=nuclear"), [Norm::Nuclear, Norm::L1]);
        let unknown: GeometryChoice = "V=l2".parse().unwrap();
        assert!(unknown.build::<f64>(&layout, Norm::L2, Oracle::Auto).is_err());
    }
}
