//! What came out: aligned lines for people, one JSON object for programs.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::say;

/// Facts in the order they were found.
#[derive(Default)]
pub struct Summary {
    facts: Vec<Fact>,
}

struct Fact {
    /// Empty where people alone are shown it.
    key: &'static str,
    value: Value,
    /// The line for people: a label and a text; none where JSON alone has it.
    line: Option<(&'static str, String)>,
}

impl Summary {
    /// A fact for both: `key` in JSON, `label` and `text` in the lines. A number that is not finite is null in JSON.
    pub fn add(&mut self, key: &'static str, value: impl Into<Value>, label: &'static str, text: impl Into<String>) {
        self.facts.push(Fact { key, value: value.into(), line: Some((label, say::line(&text.into()))) });
    }

    /// A number.
    pub fn number(&mut self, key: &'static str, label: &'static str, value: f64) {
        self.add(key, value, label, super::short(value));
    }

    /// A text.
    pub fn text(&mut self, key: &'static str, label: &'static str, text: impl Into<String>) {
        let text = text.into();
        self.add(key, text.clone(), label, text);
    }

    /// A fact that JSON alone shows.
    pub fn silent(&mut self, key: &'static str, value: impl Into<Value>) {
        self.facts.push(Fact { key, value: value.into(), line: None });
    }

    /// A line that people alone are shown.
    pub fn shown(&mut self, label: &'static str, text: impl Into<String>) {
        self.facts.push(Fact { key: "", value: Value::Null, line: Some((label, say::line(&text.into()))) });
    }

    /// One object.
    pub fn json(&self) -> Value {
        let named = self.facts.iter().filter(|fact| !fact.key.is_empty());
        Value::Object(named.map(|fact| (fact.key.to_string(), fact.value.clone())).collect::<Map<_, _>>())
    }

    /// What counts of a picture, in one line.
    pub fn gist(&self) -> String {
        const TOLD: [&str; 6] = ["image", "noise", "λ", "in words", "misfit", "PSNR"];
        let told = self.lines().filter(|(label, _)| TOLD.contains(label));
        told.map(|(label, text)| if label == "in words" { text.into() } else { format!("{label} {text}") })
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// The lines: (label, text).
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.facts.iter().filter_map(|fact| fact.line.as_ref().map(|(label, text)| (*label, text.as_str())))
    }

    /// To standard output, or to standard error where the other is taken.
    pub fn print(&self, json: bool, aside: bool) -> io::Result<()> {
        match aside {
            true => self.print_to(json, &mut io::stderr().lock()),
            false => self.print_to(json, &mut io::stdout().lock()),
        }
    }

    fn print_to(&self, json: bool, out: &mut impl Write) -> io::Result<()> {
        let written = if json {
            writeln!(out, "{:#}", self.json())
        } else {
            let width = self.lines().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
            self.lines().try_for_each(|(label, text)| writeln!(out, "{label:width$}  {text}"))
        };
        written.and_then(|()| out.flush())
    }
}

/// Prints text to standard output.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}
