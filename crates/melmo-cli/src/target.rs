//! Where a picture goes, and in which format.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use melmo_data::image::Encoding;

use crate::error::Error;
use crate::input::{STANDARD, is_standard};
use crate::output::{expect_no_folder, extension};

/// How a picture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As an image.
    Image(Encoding),
    /// As a NumPy array.
    Npy,
}

impl Format {
    /// The names of all.
    pub fn names() -> Vec<&'static str> {
        Encoding::extensions().chain(["npy"]).collect()
    }

    /// What a name ends in.
    pub fn of(path: &Path) -> Option<Self> {
        extension(path).parse().ok()
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "npy" => Ok(Self::Npy),
            _ => Encoding::named(name).map(Self::Image).ok_or_else(|| {
                let known = Self::names().join(", ");
                format!("`{name}`: expected one of {known}")
            }),
        }
    }
}

/// A file, or standard output; the format is what was asked for, what the name says, or what the picture came as.
#[derive(Clone, Debug)]
pub struct Target {
    pub path: PathBuf,
    format: Option<Format>,
}

impl Target {
    /// OUT; unless given IN with what was `done` to it, beside you, or standard output for standard input.
    pub fn new(input: &Path, output: Option<&PathBuf>, format: Option<Format>, name: Option<&str>, done: &str) -> Self {
        let path = output.cloned().unwrap_or_else(|| {
            if is_standard(input) {
                return STANDARD.into();
            }
            let stem = input.file_stem().map_or("image".into(), |stem| stem.to_string_lossy());
            let known = Format::of(input).is_some();
            let extension = name.map_or_else(|| if known { extension(input) } else { "png".into() }, Into::into);
            PathBuf::from(format!("{stem}-{done}.{extension}"))
        });
        Self { path, format }
    }

    /// A name that says it all.
    pub fn file(path: &Path) -> Self {
        Self { path: path.into(), format: None }
    }

    /// The format, for a picture that came as this.
    pub fn format(&self, came: Format) -> Format {
        self.format.or_else(|| Format::of(&self.path)).unwrap_or(came)
    }

    /// Refuses a name that no picture can be written to.
    pub fn expect_format(&self) -> Result<(), Error> {
        if self.format.is_some() || is_standard(&self.path) || Format::of(&self.path).is_some() {
            return Ok(());
        }
        expect_no_folder(&self.path)?;
        let known = Format::names().join(" .");
        Err(Error::input(&self.path, format!("expected a name that ends in one of .{known}; or --format says which")))
    }
}
