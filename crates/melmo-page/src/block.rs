//! Small blocks of text: callouts, facts, commands.

use crate::{escape, markup};

/// Something to notice: a discrepancy and its reason, a warning, a result that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callout {
    /// Of what kind.
    pub kind: Kind,
    /// What it is about.
    pub title: Option<String>,
    /// What it says; an empty line starts a new paragraph.
    pub text: String,
}

/// The kind of a callout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Worth knowing.
    Note,
    /// Worth care.
    Warning,
    /// As hoped.
    Good,
}

impl Kind {
    fn class_and_name(self) -> (&'static str, &'static str) {
        match self {
            Self::Note => ("note", "Note"),
            Self::Warning => ("warning", "Warning"),
            Self::Good => ("good", "Holds"),
        }
    }
}

impl Callout {
    /// Worth knowing.
    pub fn note(text: impl Into<String>) -> Self {
        Self { kind: Kind::Note, title: None, text: text.into() }
    }

    /// Worth care.
    pub fn warning(text: impl Into<String>) -> Self {
        Self { kind: Kind::Warning, ..Self::note(text) }
    }

    /// As hoped.
    pub fn good(text: impl Into<String>) -> Self {
        Self { kind: Kind::Good, ..Self::note(text) }
    }

    /// With a title in place of the kind's name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    pub(crate) fn html(&self) -> String {
        let (class, name) = self.kind.class_and_name();
        let title = self.title.as_deref().map_or_else(|| name.to_owned(), markup::html);
        let text = paragraphs(&self.text);
        format!("<aside class=\"callout {class}\"><p class=\"head\">{title}</p>{text}</aside>\n")
    }
}

/// Marked-up text as paragraphs, one after each empty line.
pub(crate) fn paragraphs(text: &str) -> String {
    text.split("\n\n")
        .filter(|p| !p.trim().is_empty())
        .map(|p| format!("<p>{}</p>\n", markup::html(p.trim())))
        .collect()
}

/// Facts: names and what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyValues {
    /// What they are about.
    pub title: Option<String>,
    /// The facts.
    pub rows: Vec<(String, String)>,
}

impl KeyValues {
    /// No facts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// With one more fact.
    pub fn row(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.rows.push((name.into(), value.into()));
        self
    }

    pub(crate) fn html(&self) -> String {
        let title =
            self.title.as_deref().map(|t| format!("<figcaption class=\"title\">{}</figcaption>", markup::html(t)));
        format!("<figure class=\"facts card\">{}{}</figure>\n", title.unwrap_or_default(), list(&self.rows))
    }
}

/// Facts as a definition list.
pub(crate) fn list(rows: &[(String, String)]) -> String {
    let row = |(name, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", markup::html(name), markup::html(value))
    };
    format!("<dl>{}</dl>", rows.iter().map(row).collect::<String>())
}

/// A command or a piece of code, as it is, with a button that copies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The text.
    pub text: String,
}

impl Code {
    /// A piece of code.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    pub(crate) fn html(&self) -> String {
        let text = escape::html(&self.text);
        format!(
            "<div class=\"code\"><pre tabindex=\"0\"><code>{text}</code></pre>\
             <button type=\"button\" class=\"quiet\" data-copy=\"{text}\" hidden>Copy</button></div>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_not_markup_and_cannot_leave_its_attribute() {
        let html = Code::new("melmo \"a\" > **b** < c").html();
        assert!(html.contains("data-copy=\"melmo &quot;a&quot; &gt; **b** &lt; c\""));
        assert!(!html.contains("<strong>"));
    }

    #[test]
    fn empty_lines_part_paragraphs() {
        assert_eq!(paragraphs("a\nb\n\n\n\nc<"), "<p>a\nb</p>\n<p>c&lt;</p>\n");
    }
}
