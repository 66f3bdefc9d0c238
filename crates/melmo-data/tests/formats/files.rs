use melmo_data::image::{self, Depth, Image};
use melmo_data::{Array, Data, Error, csv, formats, gml, matrix_market, npy, open};
use std::fs;

#[test]
fn open_reads_what_every_writer_writes() {
    let folder = tempfile::tempdir().unwrap();
    let array = Array::new([2, 2], vec![0.0, 1.0, 1.0, 0.0]).unwrap();
    let grey = Image::from_array(&array, Depth::Sixteen).unwrap();
    let at = |name: &str| folder.path().join(name);
    npy::write(&at("a.npy"), &array, false).unwrap();
    csv::write(&at("a.csv"), &csv::Table { names: None, array: array.clone(), index: None }, false).unwrap();
    matrix_market::write(&at("a.mtx"), &array, false).unwrap();
    let labels = vec!["0".into(), "1".into()];
    let graph = gml::Graph { labels, directed: false, edges: 1, adjacency: array.clone() };
    gml::write(&at("a.gml"), &graph, None, false).unwrap();
    assert!(matches!(gml::write(&at("a.gml"), &graph, None, false), Err(Error::Exists { .. })));
    gml::write(&at("a.gml"), &graph, None, true).unwrap();
    for name in ["a.png", "a.tif", "a.PGM"] {
        image::write(&at(name), &grey, false).unwrap();
    }
    for name in ["a.npy", "a.csv", "a.mtx", "a.gml", "a.png", "a.tif", "a.PGM"] {
        assert_eq!(open(&at(name)).unwrap().into_array().data, array.data, "{name}");
    }
    assert!(matches!(open(&at("a.png")).unwrap(), Data::Image(image) if image.depth == Depth::Sixteen));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 7, "a temporary file is left");
}

#[test]
fn an_existing_file_is_kept_unless_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let (old, new) = (Array::new([1], vec![1.0]).unwrap(), Array::new([1], vec![2.0]).unwrap());
    npy::write(&path, &old, false).unwrap();
    let error = npy::write(&path, &new, false).unwrap_err();
    assert!(matches!(&error, Error::Exists { file } if *file == path), "{error}");
    assert_eq!(npy::read(&path).unwrap(), old);
    npy::write(&path, &new, true).unwrap();
    assert_eq!(npy::read(&path).unwrap(), new);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.npy", "a.csv", "a.mtx", "a.gml", "a.png"] {
        let path = folder.path().join(name);
        assert!(matches!(open(&path), Err(Error::Io { .. })));
        fs::write(&path, b"\xff\xff").unwrap();
        let message = open(&path).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains("expected"), "{message}");
    }
    let unknown = open(&folder.path().join("a.xyz")).unwrap_err().to_string();
    assert!(unknown.contains("a.xyz") && unknown.contains("npy, csv"), "{unknown}");
    let array = Array::new([1], vec![1.0]).unwrap();
    let nowhere = folder.path().join("no/such/folder/a.npy");
    assert!(matches!(npy::write(&nowhere, &array, false), Err(Error::Io { .. })));
    assert!(npy::write(std::path::Path::new("/"), &array, true).is_err());
}

#[test]
fn no_extension_belongs_to_two_formats() {
    let mut all: Vec<&str> = formats().iter().flat_map(|format| format.extensions).copied().collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}
