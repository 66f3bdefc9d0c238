use crate::{refuses, survives};
use melmo_data::npy::{encode, parse};
use melmo_data::{Array, Kind};

/// A file of this version, header text and payload.
fn file(version: u8, header: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(payload);
    bytes
}

fn header(descr: &str, fortran: bool, shape: &str) -> String {
    let fortran = if fortran { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

#[test]
fn every_kind_reads_back() {
    let kinds = [
        (Kind::F32, vec![1.5, -0.25, 3e38_f32.into(), 0.0, f64::INFINITY, 7.0]),
        (Kind::F64, vec![1.0 / 3.0, -1e300, 5e-324, 0.0, f64::NEG_INFINITY, 7.0]),
        (Kind::I8, vec![-128.0, 127.0, 0.0, 1.0, 2.0, 3.0]),
        (Kind::I16, vec![-32768.0, 32767.0, 0.0, 1.0, 2.0, 3.0]),
        (Kind::I32, vec![-2147483648.0, 2147483647.0, 0.0, 1.0, 2.0, 3.0]),
        (Kind::I64, vec![-9007199254740992.0, 9007199254740992.0, 0.0, 1.0, 2.0, 3.0]),
        (Kind::U8, vec![255.0, 0.0, 1.0, 2.0, 3.0, 4.0]),
        (Kind::U16, vec![65535.0, 0.0, 1.0, 2.0, 3.0, 4.0]),
        (Kind::U32, vec![4294967295.0, 0.0, 1.0, 2.0, 3.0, 4.0]),
        (Kind::U64, vec![9007199254740992.0, 0.0, 1.0, 2.0, 3.0, 4.0]),
        (Kind::Bool, vec![1.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
    ];
    for (kind, data) in kinds {
        for shape in [vec![6], vec![2, 3], vec![1, 3, 2]] {
            let array = Array { shape, data: data.clone(), kind };
            assert_eq!(parse(&encode(&array).unwrap()).unwrap(), array);
        }
    }
    for kind in [Kind::F32, Kind::F64] {
        let holey = Array { shape: vec![2], data: vec![f64::NAN, 1.0], kind };
        let back = parse(&encode(&holey).unwrap()).unwrap();
        assert!(back.data[0].is_nan() && back.data[1] == 1.0 && back.kind == kind);
    }
    let empty = Array::new([0, 3], vec![]).unwrap();
    assert_eq!(parse(&encode(&empty).unwrap()).unwrap(), empty);
}

#[test]
fn either_byte_order_and_every_version() {
    let values = [1.5_f64, -2.0, 3.25];
    let big: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    let little: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    for version in 1..=3 {
        assert_eq!(parse(&file(version, &header(">f8", false, "(3,)"), &big)).unwrap().data, values);
        assert_eq!(parse(&file(version, &header("<f8", false, "(3,)"), &little)).unwrap().data, values);
    }
    let shorts: Vec<u8> = [-2_i16, 300].iter().flat_map(|v| v.to_be_bytes()).collect();
    assert_eq!(parse(&file(1, &header(">i2", false, "(2,)"), &shorts)).unwrap().data, [-2.0, 300.0]);
}

#[test]
fn fortran_order_becomes_row_major() {
    let bytes: Vec<u8> = (0..24).collect();
    let matrix = parse(&file(1, &header("|u1", true, "(2, 3)"), &bytes[..6])).unwrap();
    assert_eq!(matrix.data, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    let cube = parse(&file(1, &header("|u1", true, "(2, 3, 4)"), &bytes)).unwrap();
    for (i, j, k) in [(0, 0, 0), (1, 0, 0), (0, 2, 1), (1, 2, 3), (1, 1, 2)] {
        assert_eq!(cube.data[(i * 3 + j) * 4 + k], (i + 2 * j + 6 * k) as f64);
    }
}

#[test]
fn malformed() {
    let whole = file(1, &header("<f8", false, "(3,)"), &[0; 24]);
    refuses(parse, b"", &["in memory", "byte 0", "NUMPY"]);
    refuses(parse, b"PK\x03\x04 a zip file", &["byte 0", "NUMPY"]);
    refuses(parse, &whole[..9], &["length"]);
    refuses(parse, &whole[..20], &["header of", "numpy.save"]);
    refuses(parse, &whole[..whole.len() - 1], &["[3]", "23 bytes"]);
    refuses(parse, &[&whole[..], &[0]].concat(), &["25 bytes"]);
    refuses(parse, &file(4, "", &[]), &["version 4"]);
    refuses(parse, &[&b"\x93NUMPY\x02\x00"[..], &[0xff; 4]].concat(), &["4294967295", "0 bytes follow"]);
    for shape in
        ["(1000000, 1000000)", "(0x10,)", "(-3,)", "(4294967296, 4294967296, 2)", "3", "(99999999999999999999,)"]
    {
        refuses(parse, &file(1, &header("<f8", false, shape), &[0; 24]), &["shape"]);
    }
    refuses(parse, &file(1, &header("<f8", false, "(0, 9999999999999, 9999999999999)"), &[]), &["shape"]);
    // Axes that the check of the header would not see: in a list before a decoy, or under a key in escapes.
    for shape in ["[4294967296, 4294967296, 2], 'x': (1,)", "(1,), 'sh\\x61pe': (4294967296, 4294967296, 2)"] {
        refuses(parse, &file(1, &header("<f8", false, shape), &[0; 8]), &["shape", "numpy.save"]);
    }
    refuses(parse, &file(1, &header("<f8", false, "()"), &[0; 8]), &["1 to 4 axes"]);
    refuses(parse, &file(1, &header("<f8", false, "(1, 1, 1, 1, 1)"), &[0; 8]), &["1 to 4 axes"]);
    refuses(parse, &file(1, &header("<c16", false, "(1,)"), &[0; 16]), &["c16", "float64"]);
    refuses(parse, &file(1, &header("|O", false, "(1,)"), &[0; 16]), &["O", "float64"]);
    refuses(parse, &file(1, &header("nonsense", false, "(1,)"), &[0; 16]), &["byte 0"]);
    refuses(parse, &file(1, "{'shape': (1,)}", &[0; 8]), &["fortran_order"]);
    refuses(parse, &file(1, &format!("{{'shape': {}", "(".repeat(5000)), &[]), &["levels"]);
    refuses(parse, &file(1, &format!("{{'shape': {}1", "-".repeat(9000)), &[]), &["byte"]);
    refuses(parse, &file(1, &format!("{{'shape': (1,), 'descr': {}1", "-".repeat(9000)), &[]), &["byte"]);
    refuses(parse, &file(1, &format!("{{'shape': (1,), 'descr': 1{}", "+1".repeat(4000)), &[]), &["byte"]);
    let inexact = (1_i64 << 53) + 2;
    refuses(parse, &file(1, &header("<i8", false, "(1,)"), &inexact.to_le_bytes()), &["entry 0", "F64"]);
    refuses(parse, &file(1, &header("|b1", false, "(2,)"), &[1, 2]), &["entry 1", "0 to 1"]);
    survives(parse, &whole, 1 << 20);
}

#[test]
fn numbers_that_the_kind_cannot_hold_are_not_written() {
    for (kind, value) in [(Kind::U8, 256.0), (Kind::I32, 0.5), (Kind::Bool, 2.0), (Kind::U16, f64::NAN)] {
        let array = Array { shape: vec![2], data: vec![0.0, value], kind };
        assert!(encode(&array).unwrap_err().to_string().contains("entry 1"));
    }
    let shapeless = Array { shape: vec![3], data: vec![0.0], kind: Kind::F64 };
    assert!(encode(&shapeless).unwrap_err().to_string().contains("[3]"));
}
