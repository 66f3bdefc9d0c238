use crate::{refuses, survives};
use melmo_data::gml::{Graph, encode, parse};
use melmo_data::{Array, Kind};

const TRIANGLE: &str = r#"Creator "a program" # and a comment
graph [
  directed 0
  node [ id 10 label "A &amp; B" graphics [ x 1.5 y -2e3 ] ]
  node [ id 7 ]
  node [ id -3 label "third" ]
  edge [ source 10 target 7 value 2.5 ]
  edge [ source 7 target -3 value 1 ]
  edge [ source 10 target 7 value 0.5 ]
  edge [ source 7 target 7 value 4 ]
]
"#;

fn plain(bytes: &[u8]) -> Result<melmo_data::gml::Graph, melmo_data::Error> {
    parse(bytes, None)
}

#[test]
fn adjacency_with_and_without_weights() {
    let graph = plain(TRIANGLE.as_bytes()).unwrap();
    assert_eq!(graph.labels, ["A & B", "7", "third"]);
    assert_eq!((graph.directed, graph.edges), (false, 4));
    assert_eq!(graph.adjacency.data, [0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
    let weighted = parse(TRIANGLE.as_bytes(), Some("value")).unwrap();
    assert_eq!(weighted.adjacency.data, [0.0, 3.0, 0.0, 3.0, 4.0, 1.0, 0.0, 1.0, 0.0]);
    let directed = parse(TRIANGLE.replace("directed 0", "directed 1").as_bytes(), Some("value")).unwrap();
    assert_eq!(directed.adjacency.data, [0.0, 3.0, 0.0, 0.0, 4.0, 1.0, 0.0, 0.0, 0.0]);
}

/// Labels that need escaping, and weights that need all their digits.
fn graph(directed: bool, weights: [f64; 4]) -> Graph {
    let labels = ["\"A\" & <B>", "é\n\t\u{1f600}", "&amp;#65;", ""].map(String::from).to_vec();
    let [a, b, c, d] = weights;
    let mirror = if directed { [0.0; 3] } else { [a, b, c] };
    let [x, y, z] = mirror;
    let data = vec![d, a, 0.0, b, x, 0.0, c, 0.0, 0.0, z, 0.0, 0.0, y, 0.0, 0.0, 0.0];
    let edges = data.iter().filter(|&&v| v != 0.0).count() - if directed { 0 } else { 3 };
    Graph { labels, directed, edges, adjacency: Array::new([4, 4], data).unwrap() }
}

#[test]
fn what_is_written_reads_back() {
    for directed in [false, true] {
        let weighted = graph(directed, [0.1, -1e300, 5e-324, 1e17]);
        assert_eq!(parse(&encode(&weighted, Some("value")).unwrap(), Some("value")).unwrap(), weighted);
        let mut plain = graph(directed, [1.0; 4]);
        plain.adjacency.kind = Kind::Bool;
        assert_eq!(parse(&encode(&plain, None).unwrap(), None).unwrap(), plain);
    }
    let parallel = parse(TRIANGLE.as_bytes(), Some("value")).unwrap();
    let again = parse(&encode(&parallel, Some("weight_2")).unwrap(), Some("weight_2")).unwrap();
    assert_eq!((again.labels, again.adjacency, again.edges), (parallel.labels, parallel.adjacency, 3));
}

#[test]
fn what_other_programs_expect_is_written() {
    let text = String::from_utf8(encode(&graph(true, [2.0, 0.5, -1e300, 3e9]), Some("w")).unwrap()).unwrap();
    let expected = r#"graph [
  directed 1
  node [ id 0 label "&quot;A&quot; &amp; <B>" ]
  node [ id 1 label "&#233;&#10;&#9;&#128512;" ]
  node [ id 2 label "&amp;amp;#65;" ]
  node [ id 3 label "" ]
  edge [ source 0 target 0 w 3000000000.0 ]
  edge [ source 0 target 1 w 2 ]
  edge [ source 0 target 3 w 0.5 ]
  edge [ source 1 target 2 w -1.0e300 ]
]
"#;
    assert_eq!(text, expected);
}

#[test]
fn what_would_not_read_back_is_not_written() {
    let refused = |graph: &Graph, weight: Option<&str>, word: &str| {
        let message = encode(graph, weight).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    refused(&graph(true, [2.0; 4]), None, "0 or 1");
    refused(&graph(true, [f64::NAN; 4]), Some("value"), "finite");
    refused(&Graph { directed: false, ..graph(true, [1.0; 4]) }, None, "mirror");
    for name in ["", "1st", "a b", "é", "source", "target", "a]"] {
        refused(&graph(true, [1.0; 4]), Some(name), "letters");
    }
    let mut nameless = graph(true, [1.0; 4]);
    nameless.labels.pop();
    refused(&nameless, None, "3 labels");
    let empty = Graph { labels: vec![], adjacency: Array::new([0, 0], vec![]).unwrap(), ..nameless };
    refused(&empty, None, "at least one");
}

#[test]
fn malformed() {
    refuses(plain, b"", &["no graph"]);
    refuses(plain, b"\xff", &["byte 0"]);
    refuses(plain, b"<graphml/>", &["line 1", "key"]);
    refuses(plain, b"graph [ ]", &["no nodes"]);
    refuses(plain, b"graph [\nnode [ id 1 ]\n", &["line 3", "not closed"]);
    refuses(plain, b"graph [ node [ id 1 label \"x ] ]", &["closing"]);
    refuses(plain, b"graph [\n node 3 ]", &["line 2", "node"]);
    refuses(plain, b"graph [\n node [ label \"x\" ] ]", &["line 2", "`id`"]);
    refuses(plain, b"graph [\n node [ id 1 ]\n node [ id 1 ] ]", &["line 3", "again"]);
    refuses(plain, b"graph [\n node [ id x ] ]", &["line 2", "`x`"]);
    refuses(plain, b"graph [ node [ id 1 ]\n edge [ source 1 target 2 ] ]", &["line 2", "target 2"]);
    refuses(plain, b"graph [ node [ id 1 ]\n edge [ source 1 ] ]", &["line 2", "`target`"]);
    refuses(plain, "a [ ".repeat(100_000).as_bytes(), &["levels"]);
    let missing = TRIANGLE.replace("value 1 ", "");
    refuses(|bytes| parse(bytes, Some("value")), missing.as_bytes(), &["line 8", "`value`"]);
    let holey = TRIANGLE.replace("value 1 ", "value NaN ");
    refuses(|bytes| parse(bytes, Some("value")), holey.as_bytes(), &["line 8", "finite"]);
    let infinite = TRIANGLE.replace("value 0.5", "value 1e308").replace("value 2.5", "value 1e308");
    refuses(|bytes| parse(bytes, Some("value")), infinite.as_bytes(), &["line 9", "add up", "finite"]);
    let nodes: String = (0..9000).map(|id| format!("node[id {id}]")).collect();
    refuses(plain, format!("graph [ {nodes} ]").as_bytes(), &["9000×9000"]);
    survives(plain, TRIANGLE.as_bytes(), 1 << 20);
}
