//! Graphs in GML, as dense adjacency matrices with the labels of the nodes.
//!
//! Row i is the i-th node of the file; entry (i, j) belongs to the edge from i to j, and to (j, i) as well unless the
//! graph is directed. Without a weight attribute entries are 0 and 1; with one, weights of parallel edges are added.

mod syntax;
mod text;
mod write;

pub use write::{encode, write};

use crate::array::{Array, Kind, zeros};
use crate::error::{Error, Place, quote};
use crate::file;
use crate::limits::Limits;
use std::collections::HashMap;
use std::path::Path;
use syntax::{Pair, Value};

const HINT: &str = "writing the graph again with a GML writer";

/// A graph as a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The label of each node, its id where it has none.
    pub labels: Vec<String>,
    /// Whether an edge has a direction.
    pub directed: bool,
    /// The edges in the file.
    pub edges: usize,
    /// nodes × nodes.
    pub adjacency: Array,
}

/// Reads a graph; `weight` is the attribute of an edge that holds its weight, such as `value` or `weight`.
pub fn read(path: &Path, weight: Option<&str>) -> Result<Graph, Error> {
    file::read_with(path, |bytes| parse(bytes, weight))
}

/// A graph from the bytes of a GML file. With `weight`, every edge needs that attribute.
pub fn parse(bytes: &[u8], weight: Option<&str>) -> Result<Graph, Error> {
    parse_within(bytes, weight, &Limits::default())
}

/// The same, with nodes × nodes entries up to a limit.
pub fn parse_within(bytes: &[u8], weight: Option<&str>, limits: &Limits) -> Result<Graph, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::malformed(Place::Byte(e.valid_up_to()), "bytes that are not text", "UTF-8", HINT))?;
    let file = syntax::parse(text)?;
    let graph = file.iter().find_map(|pair| match &pair.value {
        Value::List(list) if pair.key == "graph" => Some(list),
        _ => None,
    });
    let graph = graph.ok_or_else(|| Error::malformed(Place::Whole, "no graph", "graph [ … ]", HINT))?;
    let directed = graph.iter().any(|pair| pair.key == "directed" && pair.value == Value::Number(1.0));
    let (labels, index) = nodes(graph)?;
    let n = labels.len();
    let mut data = zeros(n, n, limits, bytes.len())?;
    let mut edges = 0;
    for edge in graph.iter().filter(|pair| pair.key == "edge") {
        let (i, j) = (end(edge, "source", &index)?, end(edge, "target", &index)?);
        let entry = match weight {
            Some(name) => data[i * n + j] + number(edge, name)?,
            None => 1.0,
        };
        if !entry.is_finite() {
            return Err(wrong(edge, format!("weights that add up to {entry}"), "a finite sum"));
        }
        data[i * n + j] = entry;
        if !directed {
            data[j * n + i] = entry;
        }
        edges += 1;
    }
    let kind = if weight.is_some() { Kind::F64 } else { Kind::Bool };
    Ok(Graph { labels, directed, edges, adjacency: Array { shape: vec![n, n], data, kind } })
}

/// The labels, and which row an id is.
fn nodes(graph: &[Pair]) -> Result<(Vec<String>, HashMap<u64, usize>), Error> {
    let mut labels = Vec::new();
    let mut index = HashMap::new();
    for node in graph.iter().filter(|pair| pair.key == "node") {
        let id = number(node, "id")?;
        let label = match attribute(node, "label")? {
            Some(Value::Text(label)) => label.clone(),
            Some(Value::Number(label)) => label.to_string(),
            _ => id.to_string(),
        };
        if index.insert(key(id), labels.len()).is_some() {
            return Err(wrong(node, format!("the id {id} again"), "a new id for each node"));
        }
        labels.push(label);
    }
    if labels.is_empty() {
        return Err(Error::malformed(Place::Whole, "no nodes", "at least one node [ id … ]", HINT));
    }
    Ok((labels, index))
}

/// Ids are integers; their bits compare as they do, once −0 is 0.
fn key(id: f64) -> u64 {
    (id + 0.0).to_bits()
}

fn end(edge: &Pair, name: &str, index: &HashMap<u64, usize>) -> Result<usize, Error> {
    let id = number(edge, name)?;
    index.get(&key(id)).copied().ok_or_else(|| wrong(edge, format!("{name} {id}"), "the id of a node in the file"))
}

fn number(pair: &Pair, name: &str) -> Result<f64, Error> {
    match attribute(pair, name)? {
        Some(Value::Number(value)) if value.is_finite() => Ok(*value),
        Some(other) => Err(wrong(pair, format!("{name} {}", quote(&format!("{other:?}"))), "a finite number")),
        None => {
            let hint = "an attribute that every edge has, or none for entries 0 and 1";
            let expected = format!("the attribute `{name}`");
            Err(Error::malformed(Place::Line(pair.line), format!("{} without it", pair.key), expected, hint))
        }
    }
}

fn attribute<'a>(pair: &'a Pair, name: &str) -> Result<Option<&'a Value>, Error> {
    match &pair.value {
        Value::List(list) => Ok(list.iter().find(|inner| inner.key == name).map(|inner| &inner.value)),
        _ => Err(wrong(pair, format!("{} without a list", pair.key), format!("{} [ … ]", pair.key))),
    }
}

fn wrong(pair: &Pair, found: impl Into<String>, expected: impl Into<String>) -> Error {
    Error::malformed(Place::Line(pair.line), found, expected, HINT)
}
