//! Data for numerical programs: readers and writers, bundled sets, seeded generators, image metrics.
//!
//! | to read | module | gives |
//! |---|---|---|
//! | `.npy` | [`npy`] | [`Array`] |
//! | `.csv`, `.tsv`, `.txt`, `.data` | [`csv`] | [`csv::Table`] |
//! | the same, with words in it | [`frame`] | [`frame::Frame`] |
//! | `.mtx` | [`matrix_market`] | [`Array`] or [`matrix_market::Sparse`] |
//! | `.gml` | [`gml`] | [`gml::Graph`] |
//! | `.png`, `.jpg`, `.tif`, `.pgm`, `.ppm` | [`image`] | [`image::Image`] |
//!
//! [`formats`] is the table behind [`open`], which reads any of them by its extension. Malformed input is an [`Error`]
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
pub mod csv;
pub mod error;
pub mod file;
pub mod format;
pub mod frame;
pub mod generate;
pub mod gml;
pub mod image;
pub mod limits;
pub mod matrix_market;
pub mod metrics;
pub mod npy;
pub mod staged;

pub use array::{Array, Kind};
pub use error::{Error, Place};
pub use format::{Data, Format, formats, open, open_frame, open_seen};
pub use frame::Frame;
pub use limits::Limits;
