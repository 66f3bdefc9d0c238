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

/// All rows, every digit of every number.
pub fn render(path: &Path, rows: &[Row]) -> String {
    let mut text = String::new();
    let csv = extension(path) == "csv";
    if csv {
        text.push_str("epoch,k,F,F_smoothed,dual_norm,prox_gap,beta,gamma,seconds\n");
    }
    for row in rows {
        let Row { epoch, k, objective, smoothed, prox_gap, beta, gamma, seconds, .. } = *row;
        let dual_norm = row.dual_norm.unwrap_or(row.bracket.upper);
        let written = if csv {
            let epoch = epoch.map(|epoch| epoch.to_string()).unwrap_or_default();
            writeln!(text, "{epoch},{k},{objective},{smoothed},{dual_norm},{prox_gap},{beta},{gamma},{seconds}")
        } else {
            let row = json!({
                "epoch": epoch, "k": k, "F": objective, "F_smoothed": smoothed, "dual_norm": dual_norm,
                "prox_gap": prox_gap, "beta": beta, "gamma": gamma, "seconds": seconds,
            });
            writeln!(text, "{row}")
        };
        written.expect("writing to a string does not fail");
    }
    text
}
