//! One table of formats: what can be opened by its extension, and how.

use crate::array::Array;
use crate::error::Error;
use crate::frame::{self, Frame};
use crate::limits::Limits;
use crate::svmlight::Labelled;
use crate::{compressed, csv, file, gml, hdf5, image, matrix_market, npy, npz, parquet, svmlight, y4m};
use melmo_base::sparse::Csr;
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
    /// Several images, the pages of a TIFF.
    Pages(Vec<image::Image>),
}

impl Data {
    /// One image, or several.
    fn of_pages(mut pages: Vec<image::Image>) -> Self {
        if pages.len() == 1 { Self::Image(pages.swap_remove(0)) } else { Self::Pages(pages) }
    }

    /// The numbers alone: a table without its names, a graph's adjacency, an image's samples, pages of one size one
    /// behind the other (of others the first).
    #[must_use]
    pub fn into_array(self) -> Array {
        match self {
            Self::Array(array) => array,
            Self::Table(table) => table.array,
            Self::Graph(graph) => graph.adjacency,
            Self::Image(image) => image.to_array(),
            Self::Pages(pages) => image::stack(&pages),
        }
    }
}

/// Entries from the bytes of a file; none where it holds every one.
pub type ParseSparse = fn(&[u8], &Limits) -> Result<Option<Csr<f64>>, Error>;

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
    /// Reads them without making zeros of what is not stored, where the format stores entries alone.
    pub sparse: Option<ParseSparse>,
}

/// The formats there are.
#[must_use]
pub fn formats() -> &'static [Format] {
    &FORMATS
}

/// Tables as text.
const TEXTS: &[&str] = &["csv", "tsv", "txt", "data"];

/// Tables by columns.
const PARQUET: &[&str] = &["parquet", "pq"];

/// Sparse rows with their targets.
const SVMLIGHT: &[&str] = &["svm", "svmlight", "libsvm"];

static FORMATS: [Format; 10] = [
    Format {
        name: "npy",
        extensions: &["npy"],
        about: "NumPy arrays of real numbers, integers or truth values, 1 to 4 axes; read and written",
        parse: |bytes, _| npy::parse(bytes).map(Data::Array),
        sparse: None,
    },
    Format {
        name: "csv",
        extensions: TEXTS,
        about: "tables of numbers, header and delimiter detected; read, and written with commas",
        parse: |bytes, _| csv::parse(bytes).map(Data::Table),
        sparse: None,
    },
    Format {
        name: "Matrix Market",
        extensions: &["mtx"],
        about: "coordinate or array, real, integer or pattern, general or symmetric; read, and written as an array",
        parse: |bytes, limits| matrix_market::parse_within(bytes, limits).map(Data::Array),
        sparse: Some(|bytes, limits| Ok(Some(matrix_market::parse_sparse_within(bytes, limits)?.matrix))),
    },
    Format {
        name: "npz",
        extensions: &["npz"],
        about: "sparse matrices as scipy.sparse.save_npz writes them, csr, csc or coo; read",
        parse: |bytes, limits| matrix_market::spread(&npz::parse(bytes, limits)?, limits, bytes.len()).map(Data::Array),
        sparse: Some(|bytes, limits| npz::parse(bytes, limits).map(Some)),
    },
    Format {
        name: "SVMlight",
        extensions: SVMLIGHT,
        about: "sparse rows as column:value, their targets aside; read",
        parse: |bytes, limits| {
            matrix_market::spread(&svmlight::parse(bytes, limits)?.matrix, limits, bytes.len()).map(Data::Array)
        },
        sparse: Some(|bytes, limits| Ok(Some(svmlight::parse(bytes, limits)?.matrix))),
    },
    Format {
        name: "Parquet",
        extensions: PARQUET,
        about: "tables of numbers and words, packed by snappy, gzip or zstd, or not; read",
        parse: |bytes, limits| parquet::parse_numbers(bytes, limits).map(Data::Table),
        sparse: None,
    },
    Format {
        name: "HDF5",
        extensions: &["h5", "hdf5", "mat"],
        about: "files with one array of numbers, 1 to 3 axes, and .mat of MATLAB 7.3 with one matrix, also sparse; read",
        parse: |bytes, limits| hdf5::parse(bytes, limits).map(Data::Array),
        sparse: Some(hdf5::parse_sparse),
    },
    Format {
        name: "GML",
        extensions: &["gml"],
        about: "graphs as 0/1 adjacency matrices (gml::read takes a weight attribute); read and written",
        parse: |bytes, limits| gml::parse_within(bytes, None, limits).map(Data::Graph),
        sparse: None,
    },
    Format {
        name: "film",
        extensions: &["y4m"],
        about: "YUV4MPEG2, 8 to 16 bits, grey or 4:2:0, 4:1:1, 4:2:2, 4:4:4; read and written frame by frame (as an array: its light)",
        parse: |bytes, limits| y4m::light(bytes, limits).map(Data::Array),
        sparse: None,
    },
    Format {
        name: "image",
        extensions: &["png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "pgm", "ppm"],
        about: "8 or 16 bit, TIFF also floats and several pages; grey, RGB, either with alpha; read and written",
        parse: |bytes, limits| image::pages_within(bytes, limits).map(Data::of_pages),
        sparse: None,
    },
];

/// Reads a file by its extension.
pub fn open(path: &Path) -> Result<Data, Error> {
    open_seen(path, &Limits::default(), |_| ())
}

/// Reads a file as [`open_seen`] does, words of a table included.
pub fn open_frame(path: &Path, limits: &Limits, see: impl FnOnce(&[u8])) -> Result<Frame, Error> {
    if TEXTS.contains(&extension(path).as_str()) {
        return file::read_seen(path, limits, see, frame::parse);
    }
    if is_parquet(path) {
        return file::read_seen(path, limits, see, |bytes| parquet::parse(bytes, limits));
    }
    open_seen(path, limits, see).map(|data| Frame::of_array(data.into_array()))
}

/// Its name says so.
pub(crate) fn is_parquet(path: &Path) -> bool {
    PARQUET.contains(&extension(path).as_str())
}

/// A picture or a NumPy array from bytes without a name: their first ones say which.
pub fn sniffed(bytes: &[u8], limits: &Limits) -> Result<Data, Error> {
    match bytes.starts_with(b"\x93NUMPY") {
        true => npy::parse(bytes).map(Data::Array),
        false => image::pages_within(bytes, limits).map(Data::of_pages),
    }
}

/// Reads a file by its extension, up to a limit, and shows its bytes to whoever wants to know them again.
pub fn open_seen(path: &Path, limits: &Limits, see: impl FnOnce(&[u8])) -> Result<Data, Error> {
    let format = format(path)?;
    file::read_seen(path, limits, see, |bytes| (format.parse)(bytes, limits))
}

/// The same, of a file that stores the entries of a matrix alone; `None` of one that does not.
pub fn open_sparse(path: &Path, limits: &Limits, see: impl FnOnce(&[u8])) -> Result<Option<Csr<f64>>, Error> {
    let Some(sparse) = format(path)?.sparse else { return Ok(None) };
    file::read_seen(path, limits, see, |bytes| sparse(bytes, limits))
}

/// Rows and the targets that their lines begin with, of a file of SVMlight's; `None` of another.
pub fn open_labelled(path: &Path, limits: &Limits, see: impl FnOnce(&[u8])) -> Result<Option<Labelled>, Error> {
    match SVMLIGHT.contains(&extension(path).as_str()) {
        true => file::read_seen(path, limits, see, |bytes| svmlight::parse(bytes, limits)).map(Some),
        false => Ok(None),
    }
}

/// In small letters, of the file inside where it is packed.
fn extension(path: &Path) -> String {
    compressed::inner(path).extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

fn format(path: &Path) -> Result<&'static Format, Error> {
    let extension = extension(path);
    FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str())).ok_or_else(|| {
        let known = FORMATS.iter().flat_map(|format| format.extensions).copied().collect();
        Error::UnknownFormat { file: path.to_path_buf(), known }
    })
}
