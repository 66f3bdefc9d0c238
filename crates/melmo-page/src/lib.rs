//! One self-contained HTML page from data: text, tables, charts, images and facts.
//!
//! The page opens offline, asks the network for nothing, follows the reader's light or dark setting, fits a phone and prints.
//! Its charts are drawn here alone, along every axis, on linear and logarithmic scales, for a desk and for a phone. The page's
//! script chooses among the drawings, hides series, and reads out the values under the pointer; without it the first
//! drawing stands. [`Chart::svg`] and [`Chart::png`] give the same drawing as files; tables render
//! to Markdown, CSV and LaTeX as well. The crate knows nothing of solvers and reads and writes no files.
//!
//! ```
//! use melmo_page::{Axis, Callout, Cell, Chart, Column, Page, Section, Series, Table};
//!
//! let iterations: Vec<f64> = (1..=1000).map(f64::from).collect();
//! let objective: Vec<f64> = iterations.iter().map(|k| 162.6 + 900.0 / k).collect();
//! let seconds: Vec<f64> = iterations.iter().map(|k| 0.004 * k).collect();
//!
//! let chart = Chart::new("Objective on Camera", [Axis::log("iteration"), Axis::linear("seconds")], Axis::log("F(x_{k})"))
//!     .series(Series::new("MELMO, ℓ2", iterations, objective).also_against(seconds));
//!
//! let table = Table::new([Column::text("method"), Column::number("final F")])
//!     .caption("Published values in grey.")
//!     .row([Cell::from("MELMO, ℓ2"), Cell::compared(162.7, 162.6)]);
//!
//! let page = Page::new("Total variation denoising")
//!     .subtitle("Camera, 256×256")
//!     .section(Section::new("Results").paragraph("Noise **0.05**.").item(table).item(chart).item(Callout::good("Certified.")))
//!     .fact("melmo", "0.1.0");
//!
//! assert!(page.html().starts_with("<!doctype html>"));
//! for (name, chart) in page.charts() {
//!     assert_eq!(name, "objective-on-camera");
//!     assert!(chart.svg().starts_with("<svg"));
//! }
//! ```
//!
//! Titles, labels, cells and paragraphs are marked-up text: `**strong**`, `*emphasised*`, `` `code` ``, `_{subscript}`,
//! `^{superscript}`, `[a link](https://…)`; a backslash takes the next character as it is, and [`plain`] writes such
//! backslashes for text that comes from elsewhere. Everything is escaped on the way out.

mod bars;
mod block;
mod chart;
mod error;
mod escape;
mod font;
mod image;
mod markup;
mod number;
mod page;
mod palette;
mod scene;
mod section;
mod slug;
mod table;

pub use bars::Bars;
pub use block::{Callout, Code, KeyValues, Kind};
pub use chart::{Axis, Chart, Line, Reference, Scale, Series, Style};
pub use error::Error;
pub use image::{Gallery, Image, ImagePair};
pub use markup::plain;
pub use number::Format;
pub use page::Page;
pub use section::{Item, Section};
pub use table::{Agreement, Align, Cell, Column, Table, Tolerance, Value};
