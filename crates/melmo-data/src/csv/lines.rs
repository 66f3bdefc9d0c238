//! The cells of a text, line by line.

use crate::error::{Error, Place, brief};

/// A text whose lines are cells between delimiters, or between blanks.
pub(crate) struct Lines<'t> {
    pub text: &'t str,
    /// Tab, semicolon or comma; blanks where there is none.
    pub delimiter: Option<u8>,
}

impl<'t> Lines<'t> {
    /// Bytes in UTF-8, with or without a byte order mark.
    pub fn of(bytes: &'t [u8]) -> Result<Self, Error> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = Place::Line(line_of(bytes, error.valid_up_to()));
            Error::malformed(at, "bytes that are not text", "a table in UTF-8", "saving it as UTF-8 text")
        })?;
        let delimiter = text.lines().find(|line| !Self::skips(line)).and_then(delimiter);
        Ok(Self { text, delimiter })
    }

    /// A line without cells: blank, or a comment.
    pub fn skips(line: &str) -> bool {
        line.trim().is_empty() || line.starts_with('#')
    }

    /// Shows the cells of every line that is not skipped, and how to learn its number.
    pub fn visit(&self, mut row: impl FnMut(&[&str], &dyn Fn() -> usize) -> Result<(), Error>) -> Result<(), Error> {
        let Some(delimiter) = self.delimiter else {
            let mut lines = self.text.lines().enumerate().filter(|(_, line)| !Self::skips(line));
            return lines.try_for_each(|(at, line)| row(&line.split_whitespace().collect::<Vec<_>>(), &|| at + 1));
        };
        let mut reader = ::csv::ReaderBuilder::new();
        reader.has_headers(false).flexible(true).comment(Some(b'#')).delimiter(delimiter);
        let mut reader = reader.from_reader(self.text.as_bytes());
        let mut record = ::csv::StringRecord::new();
        let broken = |e| Error::malformed(Place::Whole, brief(&e), "a table", "checking the quotes");
        while reader.read_record(&mut record).map_err(broken)? {
            if record.len() == 1 && record[0].trim().is_empty() {
                continue;
            }
            let start = record.position().map_or(0, |position| position.byte() as usize);
            row(&record.iter().collect::<Vec<_>>(), &|| first_line_from(self.text, start))?;
        }
        Ok(())
    }
}

fn delimiter(line: &str) -> Option<u8> {
    // What stands in quotes is text: every second piece between quotation marks.
    let outside = || line.split('"').step_by(2);
    let mark = [b'\t', b';', b','].into_iter().find(|&mark| outside().any(|piece| piece.contains(char::from(mark))));
    mark.or(line.contains('"').then_some(b','))
}

/// The line a record stands on: its position may be that of skipped lines before it.
fn first_line_from(text: &str, start: usize) -> usize {
    let before = line_of(text.as_bytes(), start);
    before + text.get(start..).map_or(0, |rest| rest.lines().take_while(|line| Lines::skips(line)).count())
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at.min(bytes.len())].iter().filter(|&&byte| byte == b'\n').count()
}
