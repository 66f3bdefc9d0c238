//! Every golden case, run from its files through the program's options: the same trace to 1e-8 over its stable rows.

use crate::support::{Place, golden};
use serde_json::Value;

/// The options that make a case, from its `case.json`.
fn arguments(case: &Value, folder: &str) -> String {
    let number = |key: &str| case[key].as_f64();
    let word = |key: &str| case[key].as_str();
    let penalty = match word("penalty").unwrap() {
        "mcp" => format!("mcp:lam={},mu={}", number("lam").unwrap(), number("mu").unwrap()),
        name => format!("{name}:lambda={}", number("lam").unwrap()),
    };
    let mut text = match word("problem").unwrap() {
        "factorize" => format!(
            "factorize {folder}/y.npy --rank {} --scale none --ridge-h 0 --init-w {folder}/w0.npy --init-h {folder}/h0.npy",
            case["rank"]
        ),
        "tv" => format!("denoise {folder}/y.npy --init {folder}/y.npy"),
        _ => format!("recover {folder}/y.npy --mask {folder}/mask.npy --init {folder}/x0.npy"),
    };
    let method = word("method").unwrap();
    text += &format!(" --penalty {penalty} --method {method}");
    text += &match word("geom") {
        Some("ns6") => " --geometry spectral --oracle newton-schulz:6".into(),
        Some("ns2") => " --geometry spectral --oracle newton-schulz:2".into(),
        Some("spectral") => " --geometry spectral --oracle svd".into(),
        Some(norm) => format!(" --geometry {norm}"),
        None => String::new(),
    };
    let schedule: &[&str] = match method {
        "melmo" | "epoch-power" => &["gamma", "beta", "p", "q"],
        "melmo-horizon" | "epoch-constant" => &["gamma", "beta"],
        "variable-smoothing" => &["beta"],
        _ => &["step"],
    };
    for key in schedule {
        let default = (*key == "beta").then_some(1.0);
        text += &number(key).or(default).map_or(String::new(), |value| format!(" --{key} {value}"));
    }
    if method == "variable-smoothing" {
        text += &number("L").map_or(String::new(), |value| format!(" --lipschitz {value}"));
        text += if case["normalized"] == true { " --normalized" } else { "" };
    }
    if let (Some(restart), "epoch-constant") = (word("restart"), method) {
        text += &format!(" --restart {restart}");
    }
    let rows = case["trace"].as_array().unwrap().len();
    text += &match (number("eps"), case["max_epochs"].as_u64()) {
        (Some(epsilon), Some(epochs)) => format!(" --epsilon {epsilon} --max-epochs {epochs}"),
        _ => format!(" --iterations {rows}"),
    };
    text
}

#[test]
fn every_case_comes_back() {
    let mut compared = 0;
    for entry in std::fs::read_dir(golden()).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(folder.join("case.json")) else { continue };
        let case: Value = serde_json::from_str(&text).unwrap();
        let place = Place::new();
        let arguments = arguments(&case, folder.to_str().unwrap());
        let ran = place.melmo(&format!("{arguments} --trace trace.csv -q"));
        let certified = case["certified"] == true || case["eps"].is_null();
        assert_eq!(ran.code, i32::from(!certified), "{arguments}: {}", ran.stderr);
        compare(&folder.display().to_string(), &case, &place.read("trace.csv"));
        compared += 1;
    }
    assert_eq!(compared, 35, "a golden case is missing");
}

fn compare(name: &str, case: &Value, csv: &str) {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("epoch,k,F,F_smoothed,dual_norm,prox_gap,beta,gamma,seconds"));
    let golden = case["trace"].as_array().unwrap();
    let stable = case["stable_rows"].as_u64().unwrap() as usize;
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() >= stable, "{name}: {} rows", lines.len());
    for (line, row) in lines.iter().zip(golden).take(stable) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0].parse::<u64>().ok(), row["epoch"].as_u64(), "{name}: {line}");
        assert_eq!(cells[1].parse::<u64>().ok(), row["k"].as_u64(), "{name}: {line}");
        for (cell, key) in cells[2..8].iter().zip(["F", "F_smoothed", "dual_norm", "prox_gap", "beta", "gamma"]) {
            let (Some(want), Some(first)) = (row[key].as_f64(), golden[0][key].as_f64()) else { continue };
            let got: f64 = cell.parse().unwrap();
            let close = (got - want).abs() <= 1e-8 * want.abs() + 1e-10 * first.abs();
            assert!(close, "{name} k={} {key}: {got:e} instead of {want:e}", row["k"]);
        }
    }
}
