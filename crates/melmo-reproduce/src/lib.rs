//! The paper's experiments, re-run: [`experiments`] (instances as data) → [`run`] (on all cores, kept in a [`store`]) →
//! [`results`] → [`mod@claims`] (the paper's sentences, each with the number that decides it) → [`mod@page`] (tables, figures, one
//! HTML page, beside the [`published`] numbers) → [`files`]. Nothing here prints.

pub mod claims;
mod compact;
pub mod data;
mod error;
pub mod experiments;
pub mod files;
pub mod instance;
mod method;
pub mod page;
mod prepared;
mod probe;
pub mod published;
pub mod results;
pub mod run;
mod setting;
pub mod slopes;
pub mod statistics;
pub mod store;

pub use error::Error;
pub use method::{Watch, execute};
pub use setting::{Options, Setting};
