//! A table in the page.

use super::{Agreement, Align, Cell, Column, Table, Value};
use crate::number::{Format, with_minus};
use crate::{escape, markup};

impl Table {
    /// The figure with the given anchor.
    pub(crate) fn html(&self, id: &str) -> String {
        let mut out = format!("<figure class=\"table card\" id=\"{id}\">");
        if let Some(title) = &self.title {
            out.push_str(&format!("<figcaption class=\"title\">{}</figcaption>", markup::html(title)));
        }
        let label = escape::html(&self.title.as_deref().map_or("Table".to_owned(), markup::text));
        out.push_str(&format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table>"));
        out.push_str(&self.head());
        out.push_str("<tbody>");
        for (i, row) in self.rows.iter().enumerate() {
            out.push_str(if self.rules.contains(&i) && i > 0 { "<tr class=\"rule\">" } else { "<tr>" });
            for (n, (column, cell)) in self.cells(row).enumerate() {
                out.push_str(&self.cell(column, cell, n == 0));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>");
        if (0..self.columns.len()).any(|n| self.compares(n)) {
            out.push_str(&self.legend());
        }
        if let Some(caption) = &self.caption {
            out.push_str(&format!("<p class=\"caption\">{}</p>", markup::html(caption)));
        }
        out.push_str(&self.copies());
        out.push_str("</figure>\n");
        out
    }

    fn head(&self) -> String {
        let mut out = String::from("<thead>");
        let groups = self.groups();
        if !groups.is_empty() {
            out.push_str("<tr class=\"groups\">");
            for (group, count) in groups {
                match group {
                    Some(name) => out.push_str(&format!(
                        "<th scope=\"colgroup\" colspan=\"{count}\"><span>{}</span></th>",
                        markup::html(name)
                    )),
                    None => out.push_str(&format!("<td colspan=\"{count}\"></td>")),
                }
            }
            out.push_str("</tr>");
        }
        out.push_str("<tr>");
        for column in &self.columns {
            out.push_str(&format!(
                "<th scope=\"col\" class=\"{}\">{}</th>",
                class(column.align),
                markup::html(&column.name)
            ));
        }
        out.push_str("</tr></thead>\n");
        out
    }

    fn cell(&self, column: &Column, cell: &Cell, first: bool) -> String {
        let number = |value: f64| with_minus(&escape::html(&column.format.write(value)));
        let inner = match &cell.value {
            Value::Empty => String::new(),
            Value::Text(text) => markup::html(text),
            Value::Number(value) => number(*value),
            Value::Compared { ours, published, range } => {
                let agreement = Agreement::of(*ours, *published, *range, self.tolerance);
                let (name, sign) = (agreement.name(), agreement.sign());
                let ratio = Format::Fixed(2).write(ours / published);
                let spread = range
                    .map(|(low, high)| format!("<span class=\"spread\">{} to {}</span>", number(low), number(high)));
                format!(
                    "<span class=\"ours\">{}</span>{}<span class=\"published\"><span class=\"unseen\">published </span>{} \
                     <span class=\"ratio {name}\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span>×{ratio}\
                     <span class=\"unseen\"> {name}</span></span></span>",
                    number(*ours),
                    spread.unwrap_or_default(),
                    number(*published),
                )
            }
        };
        let inner = if cell.strong { format!("<strong>{inner}</strong>") } else { inner };
        // What reads like a sentence may break; a name or a number may not.
        let prose = matches!(&cell.value, Value::Text(text) if text.chars().count() > PROSE);
        let class = if prose { "left prose" } else { class(column.align) };
        if first && matches!(cell.value, Value::Text(_)) {
            format!("<th scope=\"row\" class=\"{class}\">{inner}</th>")
        } else {
            format!("<td class=\"{class}\">{inner}</td>")
        }
    }

    /// What the colours and signs mean.
    fn legend(&self) -> String {
        let percent = |share: f64| Format::Significant(3).write(100.0 * share);
        let (close, near) = (percent(self.tolerance.close), percent(self.tolerance.near));
        let says = [
            (Agreement::Agrees, format!("within {close} %, or published value in our range")),
            (Agreement::Near, format!("within {near} %")),
            (Agreement::Differs, "further apart".to_owned()),
        ];
        let items = says.map(|(a, text)| {
            format!(
                "<li><span class=\"ratio {}\"><span class=\"sign\" aria-hidden=\"true\">{}</span>{}</span> {text}</li>",
                a.name(),
                a.sign(),
                a.name()
            )
        });
        format!(
            "<ul class=\"agreement\"><li>ours, then <span class=\"published\">published ×ratio</span></li>{}</ul>",
            items.concat()
        )
    }

    /// The table for other programs: buttons for the script, each with its text.
    fn copies(&self) -> String {
        let mut out = String::from("<div class=\"copies\" hidden><span>Copy as</span>");
        for (name, text) in [("Markdown", self.markdown()), ("CSV", self.csv()), ("LaTeX", self.latex())] {
            let text = escape::html(&text);
            out.push_str(&format!("<button type=\"button\" class=\"quiet\" data-copy=\"{text}\">{name}</button>"));
        }
        out.push_str("</div>");
        out
    }
}

/// Texts longer than this break into lines.
const PROSE: usize = 24;

fn class(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Centre => "centre",
        Align::Right => "right",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;

    #[test]
    fn text_is_escaped_and_numbers_compared() {
        let html = sample().html("t");
        assert!(html.contains("F &lt; ∞ &amp; more"));
        assert!(html.contains("a_b, &quot;c&quot;"));
        assert!(html.contains("<span class=\"ours\">390</span>"));
        assert!(html.contains("ratio agrees"));
        assert!(html.contains("<td class=\"right\"><strong>1.45e-2</strong></td>"));
        assert!(html.contains("colspan=\"2\""));
    }
}
