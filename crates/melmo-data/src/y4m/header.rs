//! The line that a film begins with.

use super::{HINT, SIGNATURE};
use crate::error::{Error, Place, quote};

/// Sides above which no film is taken for one.
const WIDEST: usize = 1 << 16;

/// How many pixels share a sample of colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// No colour.
    Mono,
    /// 2×2.
    S420,
    /// 4 in a row.
    S411,
    /// 2 in a row.
    S422,
    /// Every pixel has its own.
    S444,
}

impl Sampling {
    /// Rows and columns of pixels that share a sample of colour; none without colour.
    fn shared(self) -> Option<[usize; 2]> {
        match self {
            Self::Mono => None,
            Self::S420 => Some([2, 2]),
            Self::S411 => Some([1, 4]),
            Self::S422 => Some([1, 2]),
            Self::S444 => Some([1, 1]),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Mono => "mono",
            Self::S420 => "420jpeg",
            Self::S411 => "411",
            Self::S422 => "422",
            Self::S444 => "444",
        }
    }

    /// That of a word after C, and its bits.
    fn named(word: &str) -> Option<(Self, u32)> {
        if let Some(bits) = word.strip_prefix("mono") {
            let bits = if bits.is_empty() { 8 } else { bits.parse().ok()? };
            return Some((Self::Mono, bits));
        }
        let (kind, rest) = word.split_at_checked(3)?;
        let sampling = match kind {
            "420" => Self::S420,
            "411" => Self::S411,
            "422" => Self::S422,
            "444" => Self::S444,
            _ => return None,
        };
        match rest {
            "" => Some((sampling, 8)),
            // Where between the pixels a sample of colour lies.
            "jpeg" | "mpeg2" | "paldv" if sampling == Self::S420 => Some((sampling, 8)),
            _ => Some((sampling, rest.strip_prefix('p')?.parse().ok()?)),
        }
    }
}

/// What a film is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Columns of the light.
    pub width: usize,
    /// Rows of the light.
    pub height: usize,
    /// How many pixels share a sample of colour.
    pub sampling: Sampling,
    /// Bits of a sample, from 8 to 16.
    pub bits: u32,
    /// All of it, as the line says it after the signature.
    words: Vec<String>,
}

impl Header {
    /// A film of 8 bits, 25 frames a second.
    pub fn new(width: usize, height: usize, sampling: Sampling) -> Result<Self, Error> {
        let words = [format!("W{width}"), format!("H{height}"), "F25:1".into(), "Ip".into(), "A1:1".into()];
        Self::of([&words[..], &[format!("C{}", sampling.name())]].concat())
    }

    /// From a line without its end.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(line).ok().and_then(|text| text.strip_prefix("YUV4MPEG2"));
        let Some(text) = text.filter(|text| text.is_empty() || text.starts_with(' ')) else {
            return Err(wrong("no known signature", "`YUV4MPEG2`, what is known of the film, and the end of a line"));
        };
        Self::of(text.split_ascii_whitespace().map(Into::into).collect())
    }

    fn of(words: Vec<String>) -> Result<Self, Error> {
        let of = |letter: char| words.iter().rev().find_map(|word| word.strip_prefix(letter));
        let side = |letter: char, what: &str| {
            let found = of(letter).map_or("nothing".into(), quote);
            let side = of(letter).and_then(|word| word.parse().ok()).filter(|side| (1..=WIDEST).contains(side));
            side.ok_or_else(|| wrong(found, format!("{what} from 1 to {WIDEST} after {letter}")))
        };
        let (width, height) = (side('W', "a width")?, side('H', "a height")?);
        let word = of('C').unwrap_or("420jpeg");
        let known = Sampling::named(word).filter(|(_, bits)| (8..=16).contains(bits));
        let (sampling, bits) = known.ok_or_else(|| {
            let expected = "planes as C420, C422, C444, C411 or Cmono, of 8 bits or as C420p10, without alpha";
            Error::unsupported(quote(word), expected, "ffmpeg's option -pix_fmt yuv420p")
        })?;
        Ok(Self { width, height, sampling, bits, words })
    }

    /// Rows and columns of every plane: light, and two of colour where there is any.
    #[must_use]
    pub fn sides(&self) -> Vec<[usize; 2]> {
        let colour = self.sampling.shared().map(|[r, c]| [self.height.div_ceil(r), self.width.div_ceil(c)]);
        std::iter::once([self.height, self.width]).chain(colour.into_iter().flat_map(|sides| [sides; 2])).collect()
    }

    /// Bytes of a sample.
    pub(super) fn sample_bytes(&self) -> usize {
        if self.bits > 8 { 2 } else { 1 }
    }

    /// The largest sample.
    pub(super) fn maximum(&self) -> u16 {
        u16::MAX >> (16 - self.bits)
    }

    /// Samples of a frame.
    pub(super) fn samples(&self) -> usize {
        self.sides().iter().map(|[rows, cols]| rows * cols).sum()
    }

    /// The line, with its end.
    pub(super) fn line(&self) -> Vec<u8> {
        let mut line = SIGNATURE.to_vec();
        self.words.iter().for_each(|word| line.extend_from_slice(format!(" {word}").as_bytes()));
        line.push(b'\n');
        line
    }
}

fn wrong(found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::malformed(Place::Line(1), found, expected, HINT)
}
