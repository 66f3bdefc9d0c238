//! The way to the terminal. What was read is cleaned first: names of files and columns may hold anything, and a terminal obeys
//! escape sequences. Long texts are cut. A stream that cannot be written to ends no run.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

/// Characters of a message, at most.
const MESSAGE: usize = 2000;
/// Characters of one line of a summary, at most.
const LINE: usize = 500;

/// Somebody else speaks.
static SILENT: AtomicBool = AtomicBool::new(false);

/// From now on this process says nothing: it is one of several, and the first of them speaks.
pub fn be_silent() {
    SILENT.store(true, Ordering::Relaxed);
}

/// Whether somebody else speaks.
pub fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Before leaving with an error: whoever speaks has a moment, for the first that leaves ends all.
pub fn let_speak() {
    if is_silent() {
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
}

/// Tells people something, on standard error. Where nobody can hear it, nothing happens.
pub fn note(text: &str) {
    if is_silent() {
        return;
    }
    let mut lines = text.lines();
    let mut told = lines.next().map(visible).unwrap_or_default();
    for line in lines {
        // Indented: what a name with a line break in it says is no message of ours.
        told += if line.is_empty() { "\n" } else { "\n  " };
        told += &visible(line);
    }
    let told = cut(told, MESSAGE) + "\n";
    let _ = io::stderr().lock().write_all(told.as_bytes());
}

/// One line of a summary.
pub fn line(text: &str) -> String {
    cut(visible(text), LINE)
}

/// What became of standard output: a reader that went away early has seen enough, a full disk is an error.
pub fn printed(written: io::Result<()>) -> Result<(), Error> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Printing(error)),
        _ => Ok(()),
    }
}

/// Control characters, and those that turn the direction of text around, as their numbers.
fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => clean.push(' '),
            _ if hidden(c) => clean.extend(c.escape_unicode()),
            _ => clean.push(c),
        }
    }
    clean
}

fn cut(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text += " …";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_become_visible_and_long_texts_short() {
        assert_eq!(line("a\u{1b}[31mb\u{7}\n\u{9b}2J\u{202e}µ"), "a\\u{1b}[31mb\\u{7}\\u{a}\\u{9b}2J\\u{202e}µ");
        assert_eq!(line(&"é".repeat(9000)).chars().count(), LINE + 2);
    }
}
