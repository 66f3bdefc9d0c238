//! A film, frame by frame, from whatever gives its bytes.

use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;

use super::{Frame, HINT, Header};
use crate::error::{Error, Place, UNNAMED};
use crate::file::io_error;
use crate::limits::{Limits, RAISE};

/// The longest line there may be.
const LINE: u64 = 4096;

/// Reads a film a frame at a time: memory for one frame, and that only as its bytes come.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    header: Header,
    /// Frames that were read.
    frames: usize,
    /// The bytes of the last one.
    bytes: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    /// Reads what the film is. A frame may have as many samples as the limits allow a long file.
    pub fn new(mut from: R, limits: &Limits) -> Result<Self, Error> {
        let expected = "a line about the film";
        let line = line(&mut from)?.ok_or_else(|| Error::malformed(Place::Line(1), "nothing", expected, HINT))?;
        let reader = Self { from, header: Header::parse(&line)?, frames: 0, bytes: Vec::new() };
        reader.within(reader.header.samples(), limits.of(usize::MAX))?;
        Ok(reader)
    }

    /// What the film is.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Refuses more samples than there may be.
    pub(super) fn within(&self, samples: usize, most: usize) -> Result<(), Error> {
        if samples <= most {
            return Ok(());
        }
        let Header { width, height, .. } = self.header;
        let claimed = format!("{} frames of {width}×{height} pixels", self.frames.max(1));
        Err(Error::too_large(Place::Whole, claimed, format!("a film may become {most} numbers at once"), RAISE))
    }

    /// The next frame; none where the film ends.
    pub fn frame(&mut self) -> Result<Option<Frame>, Error> {
        let Some(line) = line(&mut self.from)? else { return Ok(None) };
        let number = self.frames + 1;
        let text = String::from_utf8(line).ok().and_then(|line| line.strip_prefix("FRAME").map(ToString::to_string));
        let Some(parameters) = text.filter(|rest| rest.is_empty() || rest.starts_with(' ')) else {
            let expected = format!("`FRAME` and the end of a line before frame {number}");
            return Err(Error::malformed(Place::Whole, "something else", expected, HINT));
        };
        self.fill(number)?;
        let planes = self.planes(number)?;
        self.frames = number;
        Ok(Some(Frame { planes, parameters }))
    }

    /// The bytes of a frame.
    fn fill(&mut self, number: usize) -> Result<(), Error> {
        let size = self.header.samples() * self.header.sample_bytes();
        self.bytes.clear();
        let read = self.from.by_ref().take(size as u64).read_to_end(&mut self.bytes).map_err(broken)?;
        if read == size {
            return Ok(());
        }
        let expected = format!("{size} bytes of frame {number}");
        Err(Error::malformed(Place::Whole, format!("{read} bytes, and the end"), expected, HINT))
    }

    fn planes(&self, number: usize) -> Result<Vec<Vec<f64>>, Error> {
        let (width, maximum) = (self.header.sample_bytes(), self.header.maximum());
        let scaled = |sample: &[u8]| match *sample {
            [one] => f64::from(one) / f64::from(maximum),
            _ => f64::from(u16::from_le_bytes([sample[0], sample[1]])) / f64::from(maximum),
        };
        let (mut planes, mut rest) = (Vec::new(), &self.bytes[..]);
        for [rows, cols] in self.header.sides() {
            let (own, after) = rest.split_at(rows * cols * width);
            let plane: Vec<f64> = own.chunks_exact(width).map(scaled).collect();
            if let Some(&above) = plane.iter().find(|v| **v > 1.0) {
                let found = format!("the sample {} in frame {number}", above * f64::from(maximum));
                return Err(Error::malformed(Place::Whole, found, format!("at most {maximum}"), HINT));
            }
            planes.push(plane);
            rest = after;
        }
        Ok(planes)
    }
}

/// A line without its end; none where nothing comes any more.
fn line(from: &mut impl BufRead) -> Result<Option<Vec<u8>>, Error> {
    let mut line = Vec::new();
    let read = from.by_ref().take(LINE).read_until(b'\n', &mut line).map_err(broken)?;
    if read == 0 {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        let found = if read as u64 == LINE { "a line that does not end" } else { "half a line, and the end" };
        return Err(Error::malformed(Place::Whole, found, format!("a line of at most {LINE} bytes"), HINT));
    }
    Ok(Some(line))
}

fn broken(error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => Error::malformed(Place::Whole, "the end", "a whole film", HINT),
        _ => io_error(Path::new(UNNAMED), "read it")(error),
    }
}
