//! A table as LaTeX.

use super::{Align, Cell, Column, Table, Value};
use crate::{escape, markup};

impl Table {
    /// A `table` environment for the package booktabs. Published numbers stand in brackets after ours.
    pub fn latex(&self) -> String {
        let letters: String = self.columns.iter().map(|column| letter(column.align)).collect();
        let mut out = format!("\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{letters}}}\n\\toprule\n");
        let groups = self.groups();
        if !groups.is_empty() {
            let wide = |(name, n): &(Option<&str>, usize)| match name {
                Some(name) => format!("\\multicolumn{{{n}}}{{c}}{{{}}}", markup::latex(name)),
                None => " & ".repeat(n - 1),
            };
            out.push_str(&format!("{} \\\\\n", groups.iter().map(wide).collect::<Vec<_>>().join(" & ")));
            out.push_str(&rules(&groups));
        }
        line(&mut out, self.columns.iter().map(|column| markup::latex(&column.name)));
        out.push_str("\\midrule\n");
        for (i, row) in self.rows.iter().enumerate() {
            if i > 0 && self.rules.contains(&i) {
                out.push_str("\\midrule\n");
            }
            line(&mut out, self.cells(row).map(|(column, cell)| write(column, cell)));
        }
        out.push_str("\\bottomrule\n\\end{tabular}\n");
        if let Some(text) = self.caption.as_ref().or(self.title.as_ref()) {
            out.push_str(&format!("\\caption{{{}}}\n", markup::latex(text)));
        }
        out.push_str("\\end{table}\n");
        out
    }
}

/// A short rule under each shared heading.
fn rules(groups: &[(Option<&str>, usize)]) -> String {
    let mut first = 1;
    let mut out = String::new();
    for (name, n) in groups {
        if name.is_some() {
            out.push_str(&format!("\\cmidrule(lr){{{first}-{}}}", first + n - 1));
        }
        first += n;
    }
    out.push('\n');
    out
}

fn letter(align: Align) -> char {
    match align {
        Align::Left => 'l',
        Align::Centre => 'c',
        Align::Right => 'r',
    }
}

fn line(out: &mut String, fields: impl Iterator<Item = String>) {
    out.push_str(&format!("{} \\\\\n", fields.collect::<Vec<_>>().join(" & ")));
}

fn write(column: &Column, cell: &Cell) -> String {
    let number = |value: f64| number(&column.format.write(value));
    let text = match &cell.value {
        Value::Empty => return String::new(),
        Value::Text(text) => markup::latex(text),
        Value::Number(value) => number(*value),
        Value::Compared { ours, published, .. } => format!("{} ({})", number(*ours), number(*published)),
    };
    if cell.strong { format!("\\textbf{{{text}}}") } else { text }
}

/// 1.23e-5 as a power of ten, a minus as a minus.
fn number(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("${mantissa}\\cdot10^{{{exponent}}}$"),
        None if text.starts_with('-') => format!("${}$", escape::latex(text)),
        None => escape::latex(text),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;

    #[test]
    fn booktabs() {
        let expected = r#"\begin{table}
\centering
\begin{tabular}{lrr}
\toprule
 & \multicolumn{2}{c}{r = 10} \\
\cmidrule(lr){2-3}
method $|$ \emph{set} & F & loss \\
\midrule
MELMO, \emph{\ensuremath{\beta}} & 390 (390.4) & \textbf{$1.45\cdot10^{-2}$} \\
\midrule
a\_b, "c" &  &  \\
\bottomrule
\end{tabular}
\caption{F $<$ \ensuremath{\infty} \& more}
\end{table}
"#;
        assert_eq!(sample().latex(), expected);
    }
}
