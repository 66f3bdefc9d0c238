//! What a constructor can refuse.

use std::fmt;

/// Why an image was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes do not start as a PNG file does.
    NotPng {
        /// How many bytes there were.
        bytes: usize,
    },
    /// The number of samples is not width × height × channels.
    PixelCount {
        /// Pixels a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Samples a pixel.
        channels: usize,
        /// Samples given.
        given: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NotPng { bytes } => write!(f, "these {bytes} bytes are not a PNG file"),
            Self::PixelCount { width, height, channels, given } => {
                let wanted = *width as u128 * *height as u128 * *channels as u128;
                write!(f, "a {width}×{height} image of {channels} channel(s) has {wanted} samples, {given} were given")
            }
        }
    }
}

impl std::error::Error for Error {}
