//! How the spectral geometry finds the polar factor, and what users type for it.

use std::fmt;
use std::str::FromStr;

use super::{minimax, newton_schulz};
use crate::error::Error;

/// A way to the polar factor UVᵀ, typed `auto`, `newton-schulz:6`, `minimax:8`, `minimax32:8`, `gram` or `svd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Oracle {
    /// Chosen by shape and precision.
    #[default]
    Auto,
    /// So many steps (1 to 6) of Newton–Schulz with the paper's coefficients.
    NewtonSchulz(u8),
    /// Composite minimax polynomials.
    Minimax {
        /// How many quintics, 1 to 16.
        steps: u8,
    },
    /// Composite minimax polynomials in `f32`, whatever the data.
    MinimaxSingle {
        /// How many quintics, 1 to 16.
        steps: u8,
    },
    /// Eigenvectors of the Gram matrix; the SVD where they are not enough.
    Gram,
    /// The singular value decomposition.
    Svd,
}

impl Oracle {
    /// The same oracle, or an error when its number of steps has no meaning.
    pub fn checked(self) -> Result<Self, Error> {
        let within = |name, steps: u8, most: u8, must| {
            Error::expect_parameter(name, steps.into(), (1..=most).contains(&steps), must)
        };
        match self {
            Self::NewtonSchulz(steps) => within("newton-schulz steps", steps, newton_schulz::MOST, "from 1 to 6"),
            Self::Minimax { steps } | Self::MinimaxSingle { steps } => {
                within("minimax steps", steps, minimax::MOST, "from 1 to 16")
            }
            Self::Auto | Self::Gram | Self::Svd => Ok(0.0),
        }
        .map(|_| self)
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::NewtonSchulz(steps) => f.pad(&format!("newton-schulz:{steps}")),
            Self::Minimax { steps } => f.pad(&format!("minimax:{steps}")),
            Self::MinimaxSingle { steps } => f.pad(&format!("minimax32:{steps}")),
            Self::Gram => f.pad("gram"),
            Self::Svd => f.pad("svd"),
        }
    }
}

impl FromStr for Oracle {
    type Err = Error;

    fn from_str(typed: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownName {
            kind: "oracle".into(),
            name: typed.into(),
            known: ["auto", "newton-schulz:6", "minimax:8", "minimax32:8", "gram", "svd"].map(String::from).into(),
        };
        let (name, steps) = match typed.split_once(':') {
            Some((name, steps)) => (name, Some(steps.parse::<u8>().map_err(|_| unknown())?)),
            None => (typed, None),
        };
        match (name, steps) {
            ("auto", None) => Ok(Self::Auto),
            ("newton-schulz", steps) => Self::NewtonSchulz(steps.unwrap_or(newton_schulz::MOST)).checked(),
            ("minimax", steps) => Self::Minimax { steps: steps.unwrap_or(8) }.checked(),
            ("minimax32", steps) => Self::MinimaxSingle { steps: steps.unwrap_or(8) }.checked(),
            ("gram", None) => Ok(Self::Gram),
            ("svd", None) => Ok(Self::Svd),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_comes_back() {
        for typed in ["auto", "newton-schulz:1", "newton-schulz:6", "minimax:8", "minimax32:12", "gram", "svd"] {
            assert_eq!(typed.parse::<Oracle>().unwrap().to_string(), typed);
        }
        assert_eq!("newton-schulz".parse(), Ok(Oracle::NewtonSchulz(6)));
        assert_eq!("minimax".parse(), Ok(Oracle::Minimax { steps: 8 }));
    }

    #[test]
    fn nonsense_is_refused() {
        for typed in ["newton-schulz:0", "newton-schulz:7", "minimax:0", "minimax32:17"] {
            assert!(matches!(typed.parse::<Oracle>(), Err(Error::Parameter { .. })), "{typed}");
        }
        for typed in ["", "qr", "svd:1", "auto:2", "minimax:", "minimax:x", "minimax:-1", "newton-schulz:300"] {
            assert!(matches!(typed.parse::<Oracle>(), Err(Error::UnknownName { .. })), "{typed}");
        }
    }
}
