//! Files of `tests/files`, as h5py wrote them.

use crate::{refuses, survives};
use melmo_data::hdf5::{parse, parse_sparse};
use melmo_data::{Array, Error, Kind, Limits, open, open_sparse};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn array(bytes: &[u8]) -> Result<Array, Error> {
    parse(bytes, &Limits::default())
}

#[test]
fn the_one_array_is_found_and_matlabs_is_turned() {
    let numbers: Vec<f64> = (0..6).map(f64::from).collect();
    let found = open(&path("array.h5")).unwrap().into_array();
    assert_eq!((&found.shape[..], found.kind, &found.data), (&[2, 3][..], Kind::I32, &numbers));
    let found = open(&path("array.mat")).unwrap().into_array();
    assert_eq!((&found.shape[..], found.kind, &found.data), (&[2, 3][..], Kind::F64, &numbers));
    assert_eq!(open_sparse(&path("array.mat"), &Limits::default(), |_| ()).unwrap(), None);
}

#[test]
fn a_sparse_matrix_stays_sparse_and_has_its_zeros_where_all_are_asked_for() {
    let found = open_sparse(&path("sparse.mat"), &Limits::default(), |_| ()).unwrap().unwrap();
    assert_eq!(
        (found.rows(), found.cols(), found.iter().collect()),
        (3, 2, vec![(0, 1, 2.5), (1, 0, 1.0), (2, 1, 3.0)])
    );
    assert_eq!(open(&path("sparse.mat")).unwrap().into_array().data, [0.0, 2.5, 1.0, 0.0, 0.0, 3.0]);
}

#[test]
fn what_cannot_be_read_is_said() {
    refuses(array, b"MATLAB 5.0 MAT-file, Platform: GLNXA64", &["version 5", "-v7.3"]);
    refuses(array, b"no such thing", &["HDF5"]);
    refuses(array, b"", &["HDF5"]);
    let few = parse(&std::fs::read(path("array.h5")).unwrap(), &Limits::entries(5)).unwrap_err().to_string();
    assert!(few.contains("[2, 3]") && few.contains("--max-entries"), "{few}");
}

#[test]
fn broken_files_are_answered() {
    let bytes = std::fs::read(path("sparse.mat")).unwrap();
    survives(|bytes| parse_sparse(bytes, &Limits::default()), &bytes[..], 64 << 20);
}
