//! Values that a shell completes by name, where more than a name may be written: `mcp`, and `mcp:lambda=1` as well.

use std::ffi::OsStr;
use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};
use melmo::catalogue;
use melmo::geometry::Oracle;
use melmo::suggest::nearest;
use melmo_tasks::denoise::Prior;
use melmo_tasks::{DeviceChoice, GeometryChoice, PenaltyChoice};

use crate::target::Format;

/// Reads a value as it always is read, and offers names.
#[derive(Clone, Copy)]
pub struct Known<T> {
    names: fn() -> Vec<&'static str>,
    value: PhantomData<fn() -> T>,
}

fn known<T>(names: fn() -> Vec<&'static str>) -> Known<T> {
    Known { names, value: PhantomData }
}

/// ψ.
pub fn penalties() -> Known<PenaltyChoice> {
    known(|| catalogue::penalties::<f64>().iter().map(|row| row.entry.name).collect())
}

/// The norm of the steps.
pub fn geometries() -> Known<GeometryChoice> {
    known(|| catalogue::geometries::<f64>().iter().map(|row| row.entry.name).collect())
}

/// How spectral directions are found.
pub fn oracles() -> Known<Oracle> {
    known(|| catalogue::oracles().iter().map(|(_, entry)| entry.name).collect())
}

/// Where it is solved.
pub fn devices() -> Known<DeviceChoice> {
    known(|| vec!["cpu", "cuda", "auto"])
}

/// How a picture is written.
pub fn formats() -> PossibleValuesParser {
    Format::names().into()
}

/// The same, or how a film is.
pub fn film_formats() -> PossibleValuesParser {
    [Format::names(), vec!["y4m"]].concat().into()
}

/// What a picture is taken to be like.
pub fn priors() -> Known<Prior> {
    known(|| Prior::ALL.map(|(name, _)| name).into())
}

/// What is said of a value that was not understood, with the name that was meant, where that is not said already.
fn suggested(told: &str, typed: &str, names: Vec<&str>) -> String {
    let name = typed.split(':').next().unwrap_or_default();
    match nearest(name, names) {
        Some(meant) if meant != name && !told.contains("did you mean") => format!("{told}; did you mean `{meant}`?"),
        _ => told.into(),
    }
}

impl<T> TypedValueParser for Known<T>
where
    T: FromStr<Err: Display> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let names = self.names;
        let read = move |text: &str| text.parse::<T>().map_err(|error| suggested(&error.to_string(), text, names()));
        TypedValueParser::parse_ref(&read, command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_is_offered_is_understood() {
        fn all<T: FromStr>(known: Known<T>) -> bool {
            !(known.names)().is_empty() && (known.names)().iter().all(|name| name.parse::<T>().is_ok())
        }
        assert!(all(penalties()) && all(geometries()) && all(oracles()) && all(devices()) && all(priors()));
    }
}
