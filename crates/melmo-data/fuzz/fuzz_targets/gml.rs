#![no_main]
//! What GML reads, with and without weights, is written and read again as the same graph.

use libfuzzer_sys::fuzz_target;
use melmo_data::gml::{encode, parse};
use melmo_data_fuzz::{assert_same, read};

fuzz_target!(|bytes: &[u8]| {
    for weight in [None, Some("value")] {
        let Some(graph) = read(parse(bytes, weight)) else { continue };
        let again = parse(&encode(&graph, weight).unwrap(), weight).unwrap();
        assert_eq!((&graph.labels, graph.directed), (&again.labels, again.directed));
        assert_same(&graph.adjacency, &again.adjacency);
    }
});
