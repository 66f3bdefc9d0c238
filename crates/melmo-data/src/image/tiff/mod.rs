//! TIFF: any number of pages, whole numbers of 1, 8 or 16 bits and floats of 16, 32 or 64, each page with what is said of it.

mod check;
mod fields;
mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

const HINT: &str = "copying the file again, or saving it as PNG";

/// Tags that are metadata of their own here.
const XMP: u16 = 700;
const PROFILE: u16 = 34675;
