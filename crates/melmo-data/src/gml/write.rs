//! Writing GML: the nodes in the order of the matrix, and an edge for every entry that is not 0.

use super::{Graph, HINT, text};
use crate::error::{Error, Place, quote};
use crate::file;
use std::path::Path;

/// Writes a graph; see [`encode`]. An existing file is refused unless `overwrite`.
pub fn write(path: &Path, graph: &Graph, weight: Option<&str>, overwrite: bool) -> Result<(), Error> {
    file::write_with(path, overwrite, || encode(graph, weight))
}

/// The text of a GML file, whose edges have their entry of the matrix as the attribute `weight`. Without one, entries
/// have to be 0 or 1.
///
/// The matrix decides about the edges, `graph.edges` does not: edges that were parallel come back as one of their
/// weights' sum, and one of weight 0 does not come back.
pub fn encode(graph: &Graph, weight: Option<&str>) -> Result<Vec<u8>, Error> {
    check_sizes(graph)?;
    check_entries(graph, weight)?;
    weight.map_or(Ok(()), check_name)?;
    let n = graph.labels.len();
    let mut file = format!("graph [\n  directed {}\n", u8::from(graph.directed));
    for (id, label) in graph.labels.iter().enumerate() {
        file.push_str(&format!("  node [ id {id} label \"{}\" ]\n", text::escape(label)));
    }
    for i in 0..n {
        for j in if graph.directed { 0..n } else { i..n } {
            let entry = graph.adjacency.data[i * n + j];
            if entry != 0.0 {
                let weight = weight.map_or(String::new(), |name| format!("{name} {} ", number(entry)));
                file.push_str(&format!("  edge [ source {i} target {j} {weight}]\n"));
            }
        }
    }
    file.push_str("]\n");
    Ok(file.into_bytes())
}

fn check_sizes(graph: &Graph) -> Result<(), Error> {
    graph.adjacency.check_shape()?;
    let n = graph.labels.len();
    if n > 0 && graph.adjacency.shape == [n, n] {
        return Ok(());
    }
    let found = format!("a matrix of the shape {:?} and {n} labels", graph.adjacency.shape);
    Err(Error::unsupported(found, "a square matrix with a label for each of its rows, at least one", HINT))
}

fn check_entries(graph: &Graph, weight: Option<&str>) -> Result<(), Error> {
    let (n, data) = (graph.labels.len(), &graph.adjacency.data);
    let refused = |at: usize, expected, hint| {
        Err(Error::malformed(Place::Entry(at), format!("the entry {}", data[at]), expected, hint))
    };
    if let Some(at) = data.iter().position(|v| !v.is_finite()) {
        return refused(at, "a finite weight", "csv or npy, which hold NaN and infinity");
    }
    if let Some(at) = data.iter().position(|&v| weight.is_none() && v != 0.0 && v != 1.0) {
        return refused(at, "0 or 1", "a name for the attribute that holds the weights");
    }
    match (0..n * n).find(|&at| !graph.directed && data[at] != data[at % n * n + at / n]) {
        Some(at) => refused(at, "the same as its mirror image, the graph being undirected", "a directed graph"),
        None => Ok(()),
    }
}

/// Keys are letters, digits and underscores after a letter; an edge has two of its own already.
fn check_name(name: &str) -> Result<(), Error> {
    let letter = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if letter && plain && name != "source" && name != "target" {
        return Ok(());
    }
    let expected = "letters and digits, not `source` and not `target`";
    Err(Error::argument("the attribute for weights", quote(name), expected))
}

/// The shortest digits that read back as the same number. Integers of GML have 32 bits; all else needs a point.
fn number(v: f64) -> String {
    if v.fract() == 0.0 && v.abs() <= f64::from(i32::MAX) {
        return v.to_string();
    }
    let digits = format!("{v:?}");
    match digits.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
        _ => digits,
    }
}
