//! A film, frame by frame, to whatever takes its bytes.

use std::io::Write;
use std::path::Path;

use super::{Frame, Header};
use crate::error::{Error, UNNAMED};
use crate::file::io_error;

/// Writes a film a frame at a time; a frame is on its way when it was given.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    header: Header,
    /// The bytes of a frame.
    bytes: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes what the film is.
    pub fn new(mut to: W, header: &Header) -> Result<Self, Error> {
        to.write_all(&header.line()).map_err(broken)?;
        Ok(Self { to, header: header.clone(), bytes: Vec::new() })
    }

    /// Writes a frame, its samples rounded and within 0 to 1. Refuses planes of other sizes, and samples that are not finite.
    pub fn frame(&mut self, frame: &Frame) -> Result<(), Error> {
        let sides = self.header.sides();
        let lengths = || frame.planes.iter().map(Vec::len).collect::<Vec<_>>();
        if !lengths().into_iter().eq(sides.iter().map(|[rows, cols]| rows * cols)) {
            let found = format!("planes of {:?} samples", lengths());
            return Err(Error::argument("a frame", found, format!("planes of {sides:?} rows and columns")));
        }
        if let Some(bad) = frame.planes.iter().flatten().find(|v| !v.is_finite()) {
            return Err(Error::argument("a frame", format!("the sample {bad}"), "finite samples"));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(format!("FRAME{}\n", frame.parameters).as_bytes());
        let (wide, maximum) = (self.header.sample_bytes() == 2, f64::from(self.header.maximum()));
        for &v in frame.planes.iter().flatten() {
            let [low, high] = ((v.clamp(0.0, 1.0) * maximum).round() as u16).to_le_bytes();
            self.bytes.push(low);
            if wide {
                self.bytes.push(high);
            }
        }
        self.to.write_all(&self.bytes).and_then(|()| self.to.flush()).map_err(broken)
    }

    /// What took the bytes.
    pub fn into_inner(self) -> W {
        self.to
    }
}

fn broken(error: std::io::Error) -> Error {
    io_error(Path::new(UNNAMED), "write it")(error)
}
