//! A table as CSV, numbers in full.

use super::{Table, Value};
use crate::{escape, markup};

impl Table {
    /// The table with one line of headings; a column that compares becomes three (ours, published, ratio), or five when
    /// ranges are known (also low, high).
    pub fn csv(&self) -> String {
        let mut out = String::new();
        let mut names = Vec::new();
        for (n, column) in self.columns.iter().enumerate() {
            let name = match &column.group {
                Some(group) => format!("{} {}", markup::text(group), markup::text(&column.name)),
                None => markup::text(&column.name),
            };
            names.extend(self.parts(n).iter().map(|part| format!("{name}{part}")));
        }
        line(&mut out, &names);
        for row in &self.rows {
            let cells = self.cells(row).enumerate();
            let fields: Vec<String> =
                cells.flat_map(|(n, (_, cell))| fields(&cell.value, self.parts(n).len())).collect();
            line(&mut out, &fields);
        }
        out
    }

    /// What the names of the fields of the n-th column end with.
    fn parts(&self, n: usize) -> &'static [&'static str] {
        let ranged = |row: &Vec<super::Cell>| {
            matches!(row.get(n).map(|c| &c.value), Some(Value::Compared { range: Some(_), .. }))
        };
        match (self.compares(n), self.rows.iter().any(ranged)) {
            (false, _) => &[""],
            (true, false) => &["", " published", " ratio"],
            (true, true) => &["", " published", " ratio", " low", " high"],
        }
    }
}

/// The value as `count` fields.
fn fields(value: &Value, count: usize) -> Vec<String> {
    let mut out = match value {
        Value::Empty => Vec::new(),
        Value::Text(text) => vec![markup::text(text)],
        Value::Number(value) => vec![number(*value)],
        Value::Compared { ours, published, range } => {
            let mut out = vec![number(*ours), number(*published), number(ours / published)];
            out.extend(range.iter().flat_map(|(low, high)| [number(*low), number(*high)]));
            out
        }
    };
    out.resize(count, String::new());
    out
}

fn number(value: f64) -> String {
    // Scientific where the plain form would be a row of zeros; both read back to the same bits.
    if value != 0.0 && !(1e-4..1e15).contains(&value.abs()) { format!("{value:e}") } else { format!("{value}") }
}

fn line(out: &mut String, fields: &[String]) {
    let fields: Vec<String> = fields.iter().map(|field| escape::csv(field)).collect();
    out.push_str(&fields.join(","));
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::super::{Cell, Column, Table};

    #[test]
    fn comparisons_become_columns() {
        let expected = "\
method | set,r = 10 F,r = 10 F published,r = 10 F ratio,r = 10 loss
\"MELMO, β\",390,390.4,0.9989754098360656,0.01449
\"a_b, \"\"c\"\"\",,,,
";
        assert_eq!(sample().csv(), expected);
    }

    #[test]
    fn ranges_become_columns_too() {
        let table =
            Table::new([Column::number("F")]).row([Cell::compared_in(2.0, 4.0, (1.0, 3e-9))]).row([Cell::from(7.0)]);
        assert_eq!(table.csv(), "F,F published,F ratio,F low,F high\n2,4,0.5,1,3e-9\n7,,,,\n");
    }
}
