//! One table of formats: what can be opened by its extension, and how.

use crate::array::Array;
use crate::error::Error;
use crate::frame::{self, Frame};
use crate::limits::Limits;
use crate::{csv, file, gml, image, matrix_market, npy};
use std::path::Path;

/// What a file held.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data {
    /// Numbers.
    Array(Array),
    /// Numbers with column names.
    Table(csv::Table),
    /// A graph.
    Graph(gml::Graph),
    /// An image.
    Image(image::Image),
}

impl Data {
    /// The numbers alone: a table without its names, a graph's adjacency, an image's samples.
    #[must_use]
    pub fn into_array(self) -> Array {
        match self {
            Self::Array(array) => array,
            Self::Table(table) => table.array,
            Self::Graph(graph) => graph.adjacency,
            Self::Image(image) => image.to_array(),
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name.
    pub name: &'static str,
    /// The extensions, in lower case, without a point.
    pub extensions: &'static [&'static str],
    /// One line about what is read and written.
    pub about: &'static str,
    /// Reads the bytes of such a file.
    pub parse: fn(&[u8], &Limits) -> Result<Data, Error>,
}

/// The formats there are.
#[must_use]
pub fn formats() -> &'static [Format] {
    &FORMATS
}

/// Tables as text.
const TEXTS: &[&str] = &["csv", "tsv", "txt", "data"];

static FORMATS: [Format; 5] = [
    Format {
        name: "npy",
        extensions: &["npy"],
        about: "NumPy arrays of real numbers, integers or truth values, 1 to 3 axes; read and written",
        parse: |bytes, _| npy::parse(bytes).map(Data::Array),
    },
    Format {
        name: "csv",
        extensions: TEXTS,
        about: "tables of numbers, header and delimiter detected; read, and written with commas",
        parse: |bytes, _| csv::parse(bytes).map(Data::Table),
    },
    Format {
        name: "Matrix Market",
        extensions: &["mtx"],
        about: "coordinate or array, real, integer or pattern, general or symmetric; read, and written as an array",
        parse: |bytes, limits| matrix_market::parse_within(bytes, limits).map(Data::Array),
    },
    Format {
        name: "GML",
        extensions: &["gml"],
        about: "graphs as 0/1 adjacency matrices (gml::read takes a weight attribute); read and written",
        parse: |bytes, limits| gml::parse_within(bytes, None, limits).map(Data::Graph),
    },
    Format {
        name: "image",
        extensions: &["png", "jpg", "jpeg", "tif", "tiff", "pgm", "ppm"],
        about: "8 or 16 bit grey, RGB, either with alpha; read and written",
        parse: |bytes, limits| image::parse_within(bytes, limits).map(Data::Image),
    },
];

/// Reads a file by its extension.
pub fn open(path: &Path) -> Result<Data, Error> {
    open_seen(path, &Limits::default(), |_| ())
}

/// Reads a file as [`open_seen`] does, words of a table included.
pub fn open_frame(path: &Path, limits: &Limits, see: impl FnOnce(&[u8])) -> Result<Frame, Error> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if TEXTS.contains(&extension.as_str()) {
        return file::read_with(path, |bytes| {
            see(bytes);
            frame::parse(bytes)
        });
    }
    open_seen(path, limits, see).map(|data| Frame::of_array(data.into_array()))
}

/// Reads a file by its extension, up to a limit, and shows its bytes to whoever wants to know them again.
pub fn open_seen(path: &Path, limits: &Limits, see: impl FnOnce(&[u8])) -> Result<Data, Error> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str())) {
        Some(format) => file::read_with(path, |bytes| {
            see(bytes);
            (format.parse)(bytes, limits)
        }),
        None => {
            let known = FORMATS.iter().flat_map(|format| format.extensions).copied().collect();
            Err(Error::UnknownFormat { file: path.to_path_buf(), known })
        }
    }
}
