//! Films as YUV4MPEG2 (`.y4m`), the format in which programs such as ffmpeg hand frames to one another: a line of text about the film,
//! then for each frame a line and its planes, not packed. Read and written a frame at a time.
//!
//! Planes are as they are in the file: light (Y′), and two of colour (Cb, Cr) that may be smaller. Samples are divided by the largest that
//! their bits hold; a limited range is not stretched. What else the film says (rate, aspect, interlacing) is kept.
//!
//! ```
//! use melmo_data::y4m::{Frame, Header, Reader, Sampling, Writer};
//!
//! let header = Header::new(4, 2, Sampling::S420)?;
//! let mut writer = Writer::new(Vec::new(), &header)?;
//! writer.frame(&Frame::new(vec![vec![0.5; 8], vec![0.5; 2], vec![0.5; 2]]))?;
//! let film = writer.into_inner();
//! let mut reader = Reader::new(&film[..], &melmo_data::Limits::default())?;
//! assert_eq!(reader.header().sides(), [[2, 4], [1, 2], [1, 2]]);
//! assert_eq!(reader.frame()?.unwrap().planes[0].len(), 8);
//! assert!(reader.frame()?.is_none());
//! # Ok::<(), melmo_data::Error>(())
//! ```

mod header;
mod read;
mod write;

pub use header::{Header, Sampling};
pub use read::Reader;
pub use write::Writer;

use crate::array::{Array, Kind};
use crate::error::Error;
use crate::limits::Limits;

/// What the bytes of a film begin with.
pub const SIGNATURE: &[u8] = b"YUV4MPEG2";

/// The way out of what is malformed.
const HINT: &str = "making it anew, as in: ffmpeg -i IN -pix_fmt yuv420p OUT.y4m";

/// One frame: its planes, samples from 0 to 1, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// As many, and as large, as [`Header::sides`] says.
    pub planes: Vec<Vec<f64>>,
    /// What the frame's line says beside that it is one.
    parameters: String,
}

impl Frame {
    /// A frame of these planes.
    #[must_use]
    pub fn new(planes: Vec<Vec<f64>>) -> Self {
        Self { planes, parameters: String::new() }
    }

    /// The same frame with other planes.
    #[must_use]
    pub fn with(&self, planes: Vec<Vec<f64>>) -> Self {
        Self { planes, parameters: self.parameters.clone() }
    }
}

/// A whole film from the bytes of a file.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<(Header, Vec<Frame>), Error> {
    let most = limits.of(bytes.len());
    let mut reader = Reader::new(bytes, &Limits::entries(most))?;
    let (mut frames, mut samples) = (Vec::new(), 0_usize);
    while let Some(frame) = reader.frame()? {
        samples += frame.planes.iter().map(Vec::len).sum::<usize>();
        reader.within(samples, most)?;
        frames.push(frame);
    }
    Ok((reader.header().clone(), frames))
}

/// The light alone: frames × rows × columns.
pub(crate) fn light(bytes: &[u8], limits: &Limits) -> Result<Array, Error> {
    let (header, frames) = parse(bytes, limits)?;
    let shape = vec![frames.len(), header.height, header.width];
    let data = frames.into_iter().flat_map(|frame| frame.planes.into_iter().next().unwrap_or_default()).collect();
    Ok(Array { shape, data, kind: Kind::F64 })
}
