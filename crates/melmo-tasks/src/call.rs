//! A name with parameters, as people write it: `mcp:lambda=0.05,mu=2`.

use std::fmt;

use crate::error::Error;

/// A name, and keys with what stands behind their `=`.
pub(crate) struct Call<'t> {
    pub name: &'t str,
    pub parameters: Vec<(&'t str, &'t str)>,
}

impl<'t> Call<'t> {
    /// `what` and `example` say what is wrong with a part that has no `=`.
    pub fn parse(text: &'t str, what: &str, example: &str) -> Result<Self, Error> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let pair = |part: &'t str| {
            let wrong = || Error::input(what, format!("`{part}`"), format!("key=value, as in {example}"));
            part.split_once('=').map(|(key, value)| (key.trim(), value.trim())).ok_or_else(wrong)
        };
        let parts = parameters.split(',').filter(|part| !part.trim().is_empty());
        Ok(Self { name: name.trim(), parameters: parts.map(pair).collect::<Result<_, _>>()? })
    }
}

/// `name:key=value,…`.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, name: &str, given: &[(String, impl fmt::Display)]) -> fmt::Result {
    write!(f, "{name}")?;
    for (i, (key, value)) in given.iter().enumerate() {
        write!(f, "{}{key}={value}", if i == 0 { ':' } else { ',' })?;
    }
    Ok(())
}
