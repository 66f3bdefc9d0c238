use crate::{refuses, survives};
use melmo_data::gml::parse;

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
    let nodes: String = (0..9000).map(|id| format!("node[id {id}]")).collect();
    refuses(plain, format!("graph [ {nodes} ]").as_bytes(), &["9000×9000"]);
    survives(plain, TRIANGLE.as_bytes(), 1 << 20);
}
