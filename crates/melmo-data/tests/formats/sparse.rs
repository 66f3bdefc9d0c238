//! Formats that store entries alone, and what is packed.

use crate::{refuses, survives};
use melmo_data::{Csr, Limits, npz, open, open_sparse, svmlight};
use std::io::Write;

/// [[1, 0, 2], [0, 0, −3]]
fn example() -> Csr<f64> {
    Csr::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, 2.0, -3.0]).unwrap()
}

/// An `.npy` with this header and these bytes.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn whole(numbers: &[i32]) -> Vec<u8> {
    npy("<i4", &format!("({},)", numbers.len()), &numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>())
}

fn archive(form: &str, parts: &[(&str, &[i32])]) -> Vec<u8> {
    let values: Vec<u8> = [1.0, 2.0, -3.0_f64].iter().flat_map(|v| v.to_le_bytes()).collect();
    let text = npy(&format!("|S{}", form.len()), "()", form.as_bytes());
    let mut members = vec![("format", text), ("data", npy("<f8", "(3,)", &values))];
    members.extend(parts.iter().map(|(name, numbers)| (*name, whole(numbers))));
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn parse_npz(bytes: &[u8]) -> Result<Csr<f64>, melmo_data::Error> {
    npz::parse(bytes, &Limits::default())
}

#[test]
fn npz_of_scipy() {
    let shape: (&str, &[i32]) = ("shape", &[2, 3]);
    let rows = archive("csr", &[shape, ("indptr", &[0, 2, 3]), ("indices", &[0, 2, 2])]);
    assert_eq!(parse_npz(&rows).unwrap(), example());
    let list = archive("coo", &[shape, ("row", &[0, 0, 1]), ("col", &[0, 2, 2])]);
    assert_eq!(parse_npz(&list).unwrap(), example());
    let columns = archive("csc", &[("shape", &[3, 2]), ("indptr", &[0, 2, 3]), ("indices", &[0, 2, 2])]);
    assert_eq!(parse_npz(&columns).unwrap(), example().transposed());
    let twice = archive("csr", &[shape, ("indptr", &[0, 2, 3]), ("indices", &[1, 1, 2])]);
    assert_eq!(parse_npz(&twice).unwrap().row(0), (&[1][..], &[3.0][..]));
    refuses(parse_npz, b"PK", &["archive"]);
    refuses(parse_npz, &archive("bsr", &[shape]), &["`bsr`", "csr, csc or coo"]);
    refuses(parse_npz, &archive("csr", &[shape, ("indices", &[0])]), &["no array `indptr`"]);
    refuses(parse_npz, &archive("csr", &[shape, ("indptr", &[0, 2, 1]), ("indices", &[0, 2, 2])]), &["from 0 to 3"]);
    refuses(parse_npz, &archive("csr", &[shape, ("indptr", &[0, 2, 3]), ("indices", &[0, -2, 2])]), &["index"]);
    refuses(parse_npz, &archive("csr", &[shape, ("indptr", &[0, 2, 3]), ("indices", &[0, 3, 2])]), &["outside"]);
    refuses(parse_npz, &archive("coo", &[("shape", &[2_000_000_000, 3])]), &["2000000000×3", "--max-entries"]);
    survives(parse_npz, &rows, 64 << 20);
}

fn parse_rows(bytes: &[u8]) -> Result<svmlight::Labelled, melmo_data::Error> {
    svmlight::parse(bytes, &Limits::default())
}

#[test]
fn svmlight_rows() {
    let text = b"# a comment\n+1 1:1 3:2 # more\n-1.5 qid:7 3:-3\n";
    let labelled = parse_rows(text).unwrap();
    assert_eq!((labelled.matrix, labelled.targets), (example(), vec![1.0, -1.5]));
    assert_eq!(parse_rows(b"1 0:1 2:2\n0 2:-3\n").unwrap().matrix, example());
    refuses(parse_rows, b"1 1:2\nx 1:2\n", &["line 2", "`x`", "target"]);
    refuses(parse_rows, b"1 1:2\n2 3\n", &["line 2", "`3`", "column:value"]);
    refuses(parse_rows, b"1 1:2 1:3\n", &["row 0", "twice"]);
    refuses(parse_rows, b"1 4000000000:2\n", &["4000000000", "--max-entries"]);
    survives(parse_rows, text, 1 << 20);
}

#[test]
fn packed_files_are_what_is_inside() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = b"%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 3 2\n2 3 -3\n";
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(text).unwrap();
    let gz = gz.finish().unwrap();
    std::fs::write(at("a.mtx.gz"), &gz).unwrap();
    let packed = ruzstd::encoding::compress_to_vec(&text[..], ruzstd::encoding::CompressionLevel::Fastest);
    std::fs::write(at("b.mtx.zst"), packed).unwrap();
    let mut seen = 0;
    let found = open_sparse(&at("a.mtx.gz"), &Limits::default(), |bytes| seen = bytes.len()).unwrap();
    assert_eq!((found, seen), (Some(example()), gz.len()));
    assert_eq!(open_sparse(&at("b.mtx.zst"), &Limits::default(), |_| ()).unwrap(), Some(example()));
    assert_eq!(open(&at("b.mtx.zst")).unwrap().into_array().data, [1.0, 0.0, 2.0, 0.0, 0.0, -3.0]);
    assert_eq!(open_sparse(&at("c.npy"), &Limits::default(), |_| ()).unwrap(), None);
    std::fs::write(at("d.csv.gz"), &gz[..20]).unwrap();
    assert!(open(&at("d.csv.gz")).unwrap_err().to_string().contains("unpacked"));
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(&vec![b'1'; 40 << 20]).unwrap();
    std::fs::write(at("e.csv.gz"), bomb.finish().unwrap()).unwrap();
    assert!(open(&at("e.csv.gz")).unwrap_err().to_string().contains("--max-entries"));
}
