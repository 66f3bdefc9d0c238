//! The bundled sets are what the reference copies say, where those are at hand.

use melmo_data::{Array, bundled, npy};
use std::io::Write;
use std::path::Path;

/// A reference matrix from the folder beside the project, which is not part of it.
fn reference(name: &str) -> Option<Array> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        // Not `eprintln!`, which the test harness keeps to itself when a test passes.
        let _ = writeln!(
            std::io::stderr(),
            "\nSKIPPED: {} is absent: the bundled set is not compared with it",
            path.display()
        );
        return None;
    }
    Some(npy::read(&path).unwrap())
}

fn compare(ours: &Array, name: &str, tolerance: f64) {
    let Some(reference) = reference(name) else { return };
    assert_eq!(ours.shape, reference.shape, "{name}");
    let error = ours.data.iter().zip(&reference.data).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error <= tolerance, "{name}: {error}");
}

#[test]
fn camera() {
    let camera = bundled::camera().unwrap();
    assert_eq!((camera.width, camera.height, camera.channels), (512, 512, 1));
    let half = bundled::camera256().unwrap();
    assert_eq!(half.shape, [256, 256]);
    let mean = |data: &[f64]| data.iter().sum::<f64>() / data.len() as f64;
    assert!((mean(&half.data) - mean(&camera.data)).abs() < 1e-4);
    compare(&half, "camera256.npy", 1e-12);
}

#[test]
fn halving_keeps_constants_and_refuses_what_has_no_half() {
    let flat = Array::new([7, 6], vec![0.3; 42]).unwrap();
    let half = bundled::halved(&flat).unwrap();
    assert_eq!(half.shape, [3, 3]);
    assert!(half.data.iter().all(|v| (v - 0.3).abs() < 1e-15));
    assert!(bundled::halved(&Array::new([2, 2], vec![0.0; 4]).unwrap()).is_err());
    assert!(bundled::halved(&Array::new([9], vec![0.0; 9]).unwrap()).is_err());
}

#[test]
fn football() {
    let graph = bundled::football().unwrap();
    assert_eq!((graph.labels.len(), graph.edges, graph.directed), (115, 613, false));
    assert_eq!(graph.labels[81], "TexasA&M");
    assert_eq!(graph.adjacency.data.iter().sum::<f64>(), 2.0 * 613.0);
    compare(&graph.adjacency, "football.npy", 0.0);
}

#[test]
fn miserables() {
    let graph = bundled::miserables(None).unwrap();
    assert_eq!((graph.labels.len(), graph.edges, graph.directed), (77, 254, false));
    assert_eq!(graph.labels[11], "Valjean");
    compare(&graph.adjacency, "miserables.npy", 0.0);
    compare(&bundled::miserables(Some("value")).unwrap().adjacency, "miserables_weighted.npy", 0.0);
}

#[test]
fn every_set_loads_and_is_finite() {
    for set in bundled::sets() {
        let matrix = (set.load)().unwrap();
        assert_eq!(matrix.shape.len(), 2, "{}", set.name);
        assert!(matrix.data.iter().all(|v| v.is_finite()), "{}", set.name);
    }
}
