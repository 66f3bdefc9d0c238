//! The grammar of GML: keys and values, where a value is a number, a text or a bracketed list of keys and values.

use super::HINT;
use super::text::unescape;
use crate::error::{Error, Place, quote};

/// Lists in lists; a graph needs two, graphics three.
const DEEPEST: usize = 16;

#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Text(String),
    List(Vec<Pair>),
}

/// A key, its value, and the line of the key.
#[derive(Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) line: usize,
}

pub(super) fn parse(text: &str) -> Result<Vec<Pair>, Error> {
    let mut scanner = Scanner { rest: text, line: 1 };
    scanner.pairs(0)
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn pairs(&mut self, depth: usize) -> Result<Vec<Pair>, Error> {
        let mut pairs = Vec::new();
        loop {
            self.skip();
            let line = self.line;
            match self.rest.chars().next() {
                None if depth == 0 => return Ok(pairs),
                None => return Err(self.wrong("the end of the file", "`]`: a list is not closed")),
                Some(']') if depth > 0 => {
                    self.rest = &self.rest[1..];
                    return Ok(pairs);
                }
                Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                    let key = self.word().to_owned();
                    pairs.push(Pair { key, value: self.value(depth)?, line });
                }
                Some(c) => return Err(self.wrong(quote(&c.to_string()), "a key, which starts with a letter")),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Error> {
        self.skip();
        match self.rest.chars().next() {
            Some('[') if depth < DEEPEST => {
                self.rest = &self.rest[1..];
                self.pairs(depth + 1).map(Value::List)
            }
            Some('[') => Err(self.wrong("lists in lists", format!("at most {DEEPEST} levels"))),
            Some('"') => self.text().map(Value::Text),
            _ => {
                let word = self.word();
                word.parse()
                    .map(Value::Number)
                    .map_err(|_| self.wrong(quote(word), "a number, a \"text\" or a [ list ]"))
            }
        }
    }

    fn text(&mut self) -> Result<String, Error> {
        let inside = &self.rest[1..];
        let end = inside.find('"').ok_or_else(|| self.wrong("a text without an end", "a closing \""))?;
        self.line += inside[..end].matches('\n').count();
        self.rest = &inside[end + 1..];
        Ok(unescape(&inside[..end]))
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| c.is_whitespace() || "[]\"#".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Blanks, and comments from `#` to the end of the line.
    fn skip(&mut self) {
        loop {
            let after = self.rest.trim_start();
            self.line += self.rest[..self.rest.len() - after.len()].matches('\n').count();
            self.rest = after;
            if !after.starts_with('#') {
                return;
            }
            self.rest = after.find('\n').map_or("", |end| &after[end..]);
        }
    }

    fn wrong(&self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::malformed(Place::Line(self.line), found, expected, HINT)
    }
}
