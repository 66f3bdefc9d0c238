//! A letter has one meaning in formulas, and a name in parameters: `docs/notation.md`.

use melmo::catalogue::{self, Entry};

/// The letters and names that an entry speaks with.
fn words(entry: &Entry) -> String {
    let parameters = entry.parameters.iter().map(|p| format!(" {} {}", p.name, p.about));
    format!("{} {}{}", entry.formula, entry.about, parameters.collect::<String>())
}

fn assert_without(kind: &str, entry: &Entry, letters: &[&str]) {
    let words = words(entry);
    for letter in letters {
        assert!(!words.contains(letter), "{kind} {}: {letter} in {words}", entry.name);
    }
}

#[test]
fn letters_have_one_meaning() {
    // κ is a rule of methods, φ a gradient, ψ a penalty, ν a ridge's weight, σ a singular value, ξ the oracle's.
    for row in catalogue::penalties::<f64>() {
        assert_without("penalty", &row.entry, &["φ", "κ", "kappa", "σ", "sigma", "ξ"]);
        let ridge = ["ridge", "elastic-net"].contains(&row.entry.name);
        assert!(ridge || !row.entry.parameters.iter().any(|p| p.name == "nu"), "{}", row.entry.name);
    }
    for row in catalogue::losses::<f64>() {
        assert_without("loss", &row.entry, &["φ", "κ", "kappa", "σ", "sigma", "ξ"]);
    }
    for row in catalogue::operators::<f64>() {
        assert_without("operator", &row.entry, &["φ", "ψ", "κ", "kappa", "ν", "ξ"]);
    }
    for row in catalogue::geometries::<f64>() {
        assert_without("geometry", &row.entry, &["ψ", "κ", "ν"]);
    }
    for row in catalogue::methods::<f64>() {
        assert_without("method", &row.entry, &["σ", "sigma", "ξ", "prox_φ"]);
    }
}
