//! The convergence as a file: .csv or .jsonl.

use std::fmt::Write;
use std::path::Path;

use melmo::trace::Row;
use serde_json::json;

use crate::error::Error;
use crate::output::extension;

/// Refuses a name that is neither.
pub fn expect_format(path: &Path) -> Result<(), Error> {
    match extension(path).as_str() {
        "csv" | "jsonl" => Ok(()),
        _ => Err(Error::option("trace", format!("`{}` ends in neither .csv nor .jsonl", path.display()))),
    }
}

const COLUMNS: &str = "epoch,k,F,F_smoothed,dual_norm,prox_gap,beta,gamma,seconds\n";

/// All rows, every digit of every number.
pub fn render(path: &Path, rows: &[Row]) -> String {
    let csv = extension(path) == "csv";
    let mut text = if csv { COLUMNS.into() } else { String::new() };
    write_rows(&mut text, csv, None, rows);
    text
}

/// The rows of several methods, each with its name in front.
pub fn of_all(path: &Path, methods: &[(String, &[Row])]) -> String {
    let csv = extension(path) == "csv";
    let mut text = if csv { format!("method,{COLUMNS}") } else { String::new() };
    methods.iter().for_each(|(method, rows)| write_rows(&mut text, csv, Some(method), rows));
    text
}

fn write_rows(text: &mut String, csv: bool, method: Option<&str>, rows: &[Row]) {
    for row in rows {
        let Row { epoch, k, objective, smoothed, prox_gap, beta, gamma, seconds, .. } = *row;
        let dual_norm = row.dual_norm_known();
        let written = if csv {
            let method = method.map(|method| format!("\"{method}\",")).unwrap_or_default();
            let epoch = epoch.map(|epoch| epoch.to_string()).unwrap_or_default();
            writeln!(text, "{method}{epoch},{k},{objective},{smoothed},{dual_norm},{prox_gap},{beta},{gamma},{seconds}")
        } else {
            let mut row = json!({
                "epoch": epoch, "k": k, "F": objective, "F_smoothed": smoothed, "dual_norm": dual_norm,
                "prox_gap": prox_gap, "beta": beta, "gamma": gamma, "seconds": seconds,
            });
            if let Some(method) = method {
                row["method"] = method.into();
            }
            writeln!(text, "{row}")
        };
        written.expect("writing to a string does not fail");
    }
}
