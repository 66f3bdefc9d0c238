//! A table as Markdown.

use super::{Align, Cell, Column, Table, Value};
use crate::markup;
use crate::number::Format;

impl Table {
    /// The table in the syntax of GitHub; shared headings are written before the columns' own.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        if let Some(title) = &self.title {
            out.push_str(&format!("**{}**\n\n", markup::markdown(title)));
        }
        let name = |column: &Column| match &column.group {
            Some(group) => format!("{}: {}", markup::markdown(group), markup::markdown(&column.name)),
            None => markup::markdown(&column.name),
        };
        line(&mut out, self.columns.iter().map(name));
        line(&mut out, self.columns.iter().map(|column| rule(column.align).to_owned()));
        for row in &self.rows {
            line(&mut out, self.cells(row).map(|(column, cell)| write(column, cell)));
        }
        if let Some(caption) = &self.caption {
            out.push_str(&format!("\n{}\n", markup::markdown(caption)));
        }
        out
    }
}

fn line(out: &mut String, fields: impl Iterator<Item = String>) {
    for field in fields {
        out.push_str(&format!("| {field} "));
    }
    out.push_str("|\n");
}

fn rule(align: Align) -> &'static str {
    match align {
        Align::Left => "---",
        Align::Centre => ":-:",
        Align::Right => "--:",
    }
}

fn write(column: &Column, cell: &Cell) -> String {
    let number = |value: f64| column.format.write(value);
    let text = match &cell.value {
        Value::Empty => return String::new(),
        Value::Text(text) => markup::markdown(text),
        Value::Number(value) => number(*value),
        Value::Compared { ours, published, .. } => {
            let ratio = Format::Fixed(2).write(ours / published);
            format!("{} (published {}, ×{ratio})", number(*ours), number(*published))
        }
    };
    if cell.strong { format!("**{text}**") } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;

    #[test]
    fn github_table() {
        let expected = "\
| method \\| *set* | r = 10: F | r = 10: loss |
| --- | --: | --: |
| MELMO, *β* | 390 (published 390.4, ×1.00) | **1.45e-2** |
| a\\_b, \"c\" |  |  |

F \\< ∞ & more
";
        assert_eq!(sample().markdown(), expected);
    }
}
