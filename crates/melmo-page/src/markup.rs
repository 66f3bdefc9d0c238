//! Marked-up text: a line of spans, written to HTML, Markdown, LaTeX or plain text.

use crate::escape;

/// A stretch of text with one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) look: Look,
}

/// What a span looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Strong,
    Emphasis,
    Code,
    Subscript,
    Superscript,
    Link(String),
}

/// Text from elsewhere (a file's name, a user's label) written so that nothing in it is read as markup.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '`' | '_' | '^' | '[') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The opening and closing of each look, in the order they are tried.
const MARKS: [(&str, &str, Look); 5] = [
    ("**", "**", Look::Strong),
    ("*", "*", Look::Emphasis),
    ("`", "`", Look::Code),
    ("_{", "}", Look::Subscript),
    ("^{", "}", Look::Superscript),
];

/// The spans of a marked-up text. A mark that is never closed stands for itself.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((span, after)) = marked(rest) {
            if !literal.is_empty() {
                out.push(Span { text: std::mem::take(&mut literal), look: Look::Plain });
            }
            out.push(span);
            rest = after;
        } else {
            let escaped = if c == '\\' { rest[1..].chars().next() } else { None };
            literal.push(escaped.unwrap_or(c));
            rest = &rest[c.len_utf8() + escaped.map_or(0, char::len_utf8)..];
        }
    }
    if !literal.is_empty() {
        out.push(Span { text: literal, look: Look::Plain });
    }
    out
}

/// A marked span at the start of the text, and what follows it.
fn marked(text: &str) -> Option<(Span, &str)> {
    for (open, close, look) in &MARKS {
        if let Some(inner) = text.strip_prefix(open) {
            let end = inner.find(close).filter(|&end| end > 0 && !inner.starts_with(' '))?;
            return Some((Span { text: inner[..end].to_owned(), look: look.clone() }, &inner[end + close.len()..]));
        }
    }
    let (label, target) = text.strip_prefix('[')?.split_once("](")?;
    let (address, after) = target.split_once(')')?;
    let allowed = ["https://", "http://", "#"].iter().any(|start| address.starts_with(start));
    allowed.then(|| (Span { text: label.to_owned(), look: Look::Link(address.to_owned()) }, after))
}

/// As HTML.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::new();
    for Span { text, look } in spans(text) {
        let text = escape::html(&text);
        match look {
            Look::Plain => out.push_str(&text),
            Look::Strong => out.push_str(&format!("<strong>{text}</strong>")),
            Look::Emphasis => out.push_str(&format!("<em>{text}</em>")),
            Look::Code => out.push_str(&format!("<code>{text}</code>")),
            Look::Subscript => out.push_str(&format!("<sub>{text}</sub>")),
            Look::Superscript => out.push_str(&format!("<sup>{text}</sup>")),
            Look::Link(address) => out.push_str(&format!("<a href=\"{}\">{text}</a>", escape::html(&address))),
        }
    }
    out
}

/// As Markdown, for a cell of a table.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::new();
    for Span { text, look } in spans(text) {
        let escaped = escape::markdown(&text);
        match look {
            Look::Plain => out.push_str(&escaped),
            Look::Strong => out.push_str(&format!("**{escaped}**")),
            Look::Emphasis => out.push_str(&format!("*{escaped}*")),
            Look::Code => out.push_str(&format!("`{}`", text.replace('|', "\\|"))),
            Look::Subscript => out.push_str(&format!("<sub>{escaped}</sub>")),
            Look::Superscript => out.push_str(&format!("<sup>{escaped}</sup>")),
            Look::Link(address) => out.push_str(&format!("[{escaped}]({address})")),
        }
    }
    out
}

/// As LaTeX.
pub(crate) fn latex(text: &str) -> String {
    let mut out = String::new();
    for Span { text, look } in spans(text) {
        let text = escape::latex(&text);
        match look {
            Look::Plain | Look::Link(_) => out.push_str(&text),
            Look::Strong => out.push_str(&format!("\\textbf{{{text}}}")),
            Look::Emphasis => out.push_str(&format!("\\emph{{{text}}}")),
            Look::Code => out.push_str(&format!("\\texttt{{{text}}}")),
            Look::Subscript => out.push_str(&format!("\\textsubscript{{{text}}}")),
            Look::Superscript => out.push_str(&format!("\\textsuperscript{{{text}}}")),
        }
    }
    out
}

/// Without any look: for names, descriptions and CSV.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::new();
    for Span { text, look } in spans(text) {
        match look {
            Look::Subscript => out.push('_'),
            Look::Superscript => out.push('^'),
            _ => {}
        }
        out.push_str(&text);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_elements_and_text_is_escaped() {
        assert_eq!(html("**a<b** *c* `d&e`"), "<strong>a&lt;b</strong> <em>c</em> <code>d&amp;e</code>");
        assert_eq!(html("F_{β}(x) ≤ 10^{-3}"), "F<sub>β</sub>(x) ≤ 10<sup>-3</sup>");
        assert_eq!(html("[p](https://a.b/?c&d)"), "<a href=\"https://a.b/?c&amp;d\">p</a>");
    }

    #[test]
    fn what_is_not_closed_stands_for_itself() {
        for text in ["2 * 3 * 4", "a_b_c", "x^2", "[a](javascript:b)", "**open", "`", "\\"] {
            assert_eq!(html(text), escape::html(text), "{text}");
        }
    }

    #[test]
    fn plain_text_survives() {
        for text in ["**a** `b` _{c} ^{d} [e](#f) \\*", "x_{1}*y*", "ärger\\"] {
            assert_eq!(spans(&plain(text)), [Span { text: text.to_owned(), look: Look::Plain }], "{text}");
        }
    }

    #[test]
    fn other_targets() {
        assert_eq!(markdown("**a|b** x_{k}"), "**a\\|b** x<sub>k</sub>");
        assert_eq!(latex("**5 %** x_{k}"), "\\textbf{5 \\%} x\\textsubscript{k}");
        assert_eq!(text("F(x_{k}) **now**"), "F(x_k) now");
    }
}
