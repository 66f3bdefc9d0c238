//! Data for numerical programs: readers and writers, bundled sets, seeded generators, image metrics.
//!
//! | to read | module | gives |
//! |---|---|---|
//! | `.npy` | [`npy`] | [`Array`] |
//! | `.csv`, `.tsv`, `.txt`, `.data` | [`csv`] | [`csv::Table`] |
//! | the same, with words in it | [`frame`] | [`frame::Frame`] |
//! | the same, as a list of row, column, value | [`list`] | [`list::List`] |
//! | `.mtx` | [`matrix_market`] | [`Array`] or [`matrix_market::Sparse`] |
//! | `.npz` of SciPy | [`npz`] | [`Csr`] |
//! | `.svm`, `.svmlight`, `.libsvm` | [`svmlight`] | [`svmlight::Labelled`] |
//! | `.parquet` | [`parquet`] | [`frame::Frame`] |
//! | `.h5`, `.hdf5`, `.mat` of MATLAB 7.3 | [`hdf5`] | [`Array`] or [`Csr`] |
//! | `.gml` | [`gml`] | [`gml::Graph`] |
//! | `.y4m` | [`y4m`] | [`y4m::Frame`], one after another |
//! | `.png`, `.jpg`, `.tif`, `.pgm`, `.ppm` | [`image`] | [`image::Image`] |
//!
//! Each may be packed as `.gz` or `.zst`. [`formats`] is the table behind [`open`], which reads any of them by its extension, and
//! [`open_sparse`], which reads those that store entries alone. Malformed input is an [`Error`]
//! that names the file and the place; a claimed size is checked against the file's length and [`Limits`] before memory is
//! asked for.
//!
//! ```
//! let table = melmo_data::csv::parse(b"x,y\n1,2\n3,NA\n")?;
//! assert_eq!(table.array.shape, [2, 2]);
//! assert!(table.array.data[3].is_nan());
//! # Ok::<(), melmo_data::Error>(())
//! ```

pub mod array;
pub mod bundled;
mod compressed;
pub mod csv;
pub mod error;
pub mod file;
pub mod format;
pub mod frame;
pub mod generate;
pub mod gml;
pub mod hdf5;
pub mod image;
pub mod limits;
pub mod list;
pub mod matrix_market;
pub mod metrics;
pub mod npy;
pub mod npz;
pub mod parquet;
mod pieces;
pub mod staged;
pub mod svmlight;
pub mod y4m;

pub use array::{Array, Kind};
pub use error::{Error, Place};
pub use format::{Data, Format, formats, open, open_frame, open_labelled, open_seen, open_sparse, sniffed};
pub use frame::Frame;
pub use limits::Limits;
pub use melmo_base::sparse::Csr;
