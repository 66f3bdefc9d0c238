//! Parameters of rows, and what was chosen for them: values with names, each of its kind.

use std::borrow::Cow;
use std::fmt;

use crate::catalogue::Entry;
use crate::error::Error;

/// A parameter of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The name users type.
    pub name: &'static str,
    /// What it can be, and what it is when it is left out.
    pub kind: Kind,
    /// What it means.
    pub about: &'static str,
}

/// What a parameter can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number, this one unless given.
    Number(f64),
    /// A number that is found for each problem unless it is given.
    Unset,
    /// A whole number, this one unless given, and the least that it can be: 0 or 1.
    Whole(u32, u32),
    /// One of some words, the first unless given.
    Word(&'static [&'static str]),
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word.
    Word(Cow<'static, str>),
    /// Nothing: the row's default, or what is found for each problem.
    Unset,
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Self {
        Self::Word(word.into())
    }
}

impl From<String> for Value {
    fn from(word: String) -> Self {
        Self::Word(word.into())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(word) => write!(f, "{word}"),
            Self::Unset => write!(f, "unset"),
        }
    }
}

impl Parameter {
    pub(super) const fn new(name: &'static str, default: f64, about: &'static str) -> Self {
        Self { name, kind: Kind::Number(default), about }
    }

    /// A number that is found for each problem unless it is given.
    pub(super) const fn unset(name: &'static str, about: &'static str) -> Self {
        Self { name, kind: Kind::Unset, about }
    }

    /// A whole number, and the least that it can be.
    pub(super) const fn whole(name: &'static str, default: u32, least: u32, about: &'static str) -> Self {
        Self { name, kind: Kind::Whole(default, least), about }
    }

    /// One of some words, the first unless chosen otherwise.
    pub(super) const fn word(name: &'static str, words: &'static [&'static str], about: &'static str) -> Self {
        Self { name, kind: Kind::Word(words), about }
    }

    /// What it is when it is left out.
    fn default(&self) -> Value {
        match self.kind {
            Kind::Number(number) => Value::Number(number),
            Kind::Whole(number, _) => Value::Number(f64::from(number)),
            Kind::Word(words) => words.first().copied().unwrap_or_default().into(),
            Kind::Unset => Value::Unset,
        }
    }

    /// A value of its kind, or what is wrong with it. The place of a word, from 0 on, is understood: 0 and 1 for no and yes.
    fn checked(&self, value: Value) -> Result<Value, Error> {
        match (self.kind, value) {
            (_, Value::Unset) => Ok(self.default()),
            (Kind::Number(_) | Kind::Unset, Value::Number(number)) => Ok(Value::Number(number)),
            (Kind::Whole(_, least), Value::Number(number)) => {
                let whole = number >= f64::from(least) && number.fract() == 0.0 && number < 2f64.powi(53);
                let must = if least == 0 { "a whole number, at least 0" } else { "a whole number, at least 1" };
                Error::expect_parameter(self.name, number, whole, must).map(Value::Number)
            }
            // Results of before have words by their places.
            (Kind::Word(words), Value::Number(at)) if (0.0..words.len() as f64).contains(&at) && at.fract() == 0.0 => {
                Ok(words[at as usize].into())
            }
            (Kind::Word(words), value) => {
                let typed = value.to_string();
                let known = words.iter().find(|word| **word == typed).ok_or_else(|| Error::UnknownName {
                    kind: self.name.into(),
                    name: typed,
                    known: words.iter().map(|word| word.to_string()).collect(),
                })?;
                Ok((*known).into())
            }
            (_, Value::Word(word)) => {
                Err(Error::NotANumber { name: self.name, word: word.into_owned(), about: self.about })
            }
        }
    }
}

/// The parameters of a row with the values that were chosen, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    values: Vec<(&'static str, Value)>,
}

impl Arguments {
    /// The values given, completed by the row's defaults. `lam` is understood as `lambda`. Unknown names are refused, and so is
    /// what is not of its parameter's kind.
    pub fn new<V: Clone + Into<Value>>(entry: &Entry, given: &[(&str, V)]) -> Result<Self, Error> {
        let spelled = |name: &str| if name == "lam" { "lambda".into() } else { name.to_string() };
        for (name, _) in given {
            if !entry.parameters.iter().any(|p| p.name == spelled(name)) {
                return Err(Error::UnknownName {
                    kind: format!("parameter of {}", entry.name),
                    name: name.to_string(),
                    known: entry.parameters.iter().map(|p| p.name.into()).collect(),
                });
            }
        }
        let value = |parameter: &Parameter| {
            let chosen = given.iter().rev().find(|(name, _)| spelled(name) == parameter.name);
            let value = chosen.map_or(Value::Unset, |(_, value)| value.clone().into());
            Ok((parameter.name, parameter.checked(value)?))
        };
        Ok(Self { values: entry.parameters.iter().map(value).collect::<Result<_, Error>>()? })
    }

    /// The row's defaults.
    pub fn defaults(entry: &Entry) -> Result<Self, Error> {
        Self::new::<Value>(entry, &[])
    }

    fn find(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// A number that was given; none for one that is found for each problem.
    pub fn given(&self, name: &str) -> Option<f64> {
        match self.find(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// A number with a default; NaN, which every constructor refuses, for a name that the row does not have.
    pub fn number(&self, name: &str) -> f64 {
        self.given(name).unwrap_or(f64::NAN)
    }

    /// A whole number; 0 for a name that the row does not have.
    pub fn whole(&self, name: &str) -> u64 {
        self.given(name).unwrap_or(0.0) as u64
    }

    /// A word; empty for a name that the row does not have.
    pub fn word(&self, name: &str) -> &str {
        match self.find(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Entry = Entry {
        name: "row",
        formula: "",
        about: "",
        parameters: &[
            Parameter::new("lambda", 1.0, "weight"),
            Parameter::unset("beta", "smoothing"),
            Parameter::whole("steps", 10, 1, "steps"),
            Parameter::word("explore", &["no", "yes"], "look further"),
            Parameter::word("start", &["smooth", "given"], "where from"),
        ],
    };

    #[test]
    fn values_are_of_their_kind() {
        let a = Arguments::defaults(&ROW).unwrap();
        assert_eq!((a.number("lambda"), a.given("beta"), a.whole("steps")), (1.0, None, 10));
        assert_eq!((a.word("explore"), a.word("start")), ("no", "smooth"));
        let a = Arguments::new(&ROW, &[("lam", 2.0), ("beta", 0.5), ("steps", 3.0), ("explore", 1.0)]).unwrap();
        assert_eq!(
            (a.number("lambda"), a.given("beta"), a.whole("steps"), a.word("explore")),
            (2.0, Some(0.5), 3, "yes")
        );
        let a = Arguments::new(&ROW, &[("start", Value::from("given")), ("beta", Value::Unset)]).unwrap();
        assert_eq!((a.word("start"), a.given("beta")), ("given", None));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let told = |name: &str, value: Value| Arguments::new(&ROW, &[(name, value)]).unwrap_err().to_string();
        assert!(told("lamda", 1.0.into()).contains("did you mean `lambda`?"), "{}", told("lamda", 1.0.into()));
        assert!(told("start", "givn".into()).contains("did you mean `given`?"));
        assert!(told("start", 2.0.into()).contains("smooth, given"));
        assert!(told("steps", 2.5.into()).contains("a whole number, at least 1"));
        assert!(told("beta", "much".into()).contains("expected a number"));
    }
}
