use crate::{refuses, survives};
use melmo_data::matrix_market::{encode, parse, parse_sparse};
use melmo_data::{Array, Kind};

fn text(kind: &str, body: &str) -> Vec<u8> {
    format!("%%MatrixMarket matrix {kind}\n% a comment\n{body}").into_bytes()
}

#[test]
fn reads_back() {
    let array = Array::new([2, 3], vec![1.0 / 3.0, -1e300, 5e-324, 0.0, 2.0, 3.0]).unwrap();
    assert_eq!(parse(&encode(&array).unwrap()).unwrap(), array);
    let array = Array { shape: vec![3, 2], data: vec![0.0, 1.0, 2.0, -3.0, 4.0, 5.0], kind: Kind::I64 };
    assert_eq!(parse(&encode(&array).unwrap()).unwrap(), array);
    let holey = Array::new([2], vec![0.0, f64::NAN]).unwrap();
    assert!(encode(&holey).unwrap_err().to_string().contains("entry 1"));
}

#[test]
fn coordinates() {
    let general = parse(&text("coordinate real general", "2 3 3\n1 1 1.5\n2 3 -2\n2 3 1e0\n")).unwrap();
    assert_eq!((general.shape, general.kind), (vec![2, 3], Kind::F64));
    assert_eq!(general.data, [1.5, 0.0, 0.0, 0.0, 0.0, -1.0]);
    let symmetric = parse(&text("coordinate integer symmetric", "2 2 2\n1 1 4\n2 1 7\n")).unwrap();
    assert_eq!((symmetric.data, symmetric.kind), (vec![4.0, 7.0, 7.0, 0.0], Kind::I64));
    let skew = parse(&text("coordinate real skew-symmetric", "2 2 1\n2 1 7\n")).unwrap();
    assert_eq!(skew.data, [0.0, -7.0, 7.0, 0.0]);
    let pattern = parse(&text("Coordinate Pattern General", "2 2 2\n1 2\n1 2\n")).unwrap();
    assert_eq!((pattern.data, pattern.kind), (vec![0.0, 1.0, 0.0, 0.0], Kind::Bool));
    let large = parse_sparse(&text("coordinate real general", "1000000 1000000 1\n9 1000000 2.5\n")).unwrap();
    assert_eq!(large.matrix.iter().collect::<Vec<_>>(), [(8, 999_999, 2.5)]);
    let wide = text("coordinate real general", "1 4294967296 1\n1 1 2.5\n");
    refuses(parse_sparse, &wide, &["1×4294967296", "--max-entries"]);
}

#[test]
fn arrays() {
    let general = parse(&text("array real general", "2 3\n1\n2\n3\n4\n5\n6\n")).unwrap();
    assert_eq!(general.data, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    let symmetric = parse(&text("array real symmetric", "3 3\n1\n2\n3\n4\n5\n6\n")).unwrap();
    assert_eq!(symmetric.data, [1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]);
    let skew = parse(&text("array real skew-symmetric", "3 3\n1\n2\n3\n")).unwrap();
    assert_eq!(skew.data, [0.0, -1.0, -2.0, 1.0, 0.0, -3.0, 2.0, 3.0, 0.0]);
}

#[test]
fn a_few_bytes_become_no_gigabytes() {
    let bytes = text("coordinate real general", "8000 8000 1\n1 1 1\n");
    refuses(parse, &bytes, &["8000×8000", "may become 4194304 numbers", "--max-entries"]);
    let limits = melmo_data::Limits::entries(64_000_000);
    assert_eq!(melmo_data::matrix_market::parse_within(&bytes, &limits).unwrap().shape, [8000, 8000]);
    // A longer file may become more.
    let long = text("coordinate real general", &format!("{}2500 2500 1\n1 1 1\n", "% \n".repeat(40_000)));
    assert_eq!(parse(&long).unwrap().data.len(), 6_250_000);
}

#[test]
fn malformed() {
    refuses(parse, b"", &["line 1", "MatrixMarket"]);
    refuses(parse, b"\x00\xff\xfe", &["byte 1"]);
    refuses(parse, b"%%MatrixMarket vector array real general\n", &["line 1"]);
    refuses(parse, &text("coordinate complex general", "1 1 1\n1 1 1 0\n"), &["complex", "real general"]);
    refuses(parse, &text("array pattern general", "1 1\n1\n"), &["pattern"]);
    refuses(parse, &text("array real hermitian", "1 1\n1\n"), &["hermitian"]);
    refuses(parse, &text("array real general", ""), &["line of sizes"]);
    refuses(parse, &text("array real general", "2 x\n"), &["line 3", "`2 x`"]);
    refuses(parse, &text("array real symmetric", "2 3\n1\n"), &["line 3", "2×3"]);
    refuses(parse, &text("array real general", "1000000 1000000\n1\n"), &["1000000000000 entries", "bytes"]);
    refuses(parse, &text("array real general", "9999999999999 9999999999999\n1\n"), &["line 3"]);
    refuses(parse, &text("array real symmetric", "18446744073709551615 18446744073709551615\n1\n"), &["line 3"]);
    refuses(parse, &text("coordinate real general", "3 3 1000000000000\n1 1 1\n"), &["1000000000000"]);
    refuses(
        parse,
        &text("coordinate real general", "1000000 1000000 1\n1 1 1\n"),
        &["1000000×1000000", "--max-entries"],
    );
    refuses(parse, &text("coordinate real general", "2 2 2\n1 1 1\n"), &["1 entries", "2, as"]);
    refuses(parse, &text("coordinate real general", "2 2 1\n1 1 1\n2 2 1\n"), &["line 5", "more"]);
    refuses(parse, &text("coordinate real general", "2 2 1\n3 1 1\n"), &["line 4", "`3`", "1 to 2"]);
    refuses(parse, &text("coordinate real general", "2 2 1\n0 1 1\n"), &["line 4", "`0`"]);
    refuses(parse, &text("coordinate real general", "2 2 1\n1 1\n"), &["line 4", "2 words"]);
    refuses(parse, &text("coordinate real general", "2 2 1\n1 1 NaN\n"), &["line 4", "finite"]);
    refuses(parse, &text("coordinate real general", "1 1 2\n1 1 1e308\n1 1 1e308\n"), &["(1, 1)", "add up to inf"]);
    let inexact = "1 2 2\n1 2 9007199254740992\n1 2 1\n";
    refuses(parse, &text("coordinate integer general", inexact), &["(1, 2)", "add up", "I64"]);
    refuses(parse, &text("coordinate integer general", "2 2 1\n1 1 0.5\n"), &["line 4", "integer"]);
    refuses(parse, &text("coordinate real symmetric", "2 2 1\n1 2 1\n"), &["line 4", "lower"]);
    refuses(parse, &text("coordinate real skew-symmetric", "2 2 1\n1 1 1\n"), &["line 4", "below"]);
    survives(parse_sparse, &text("coordinate real symmetric", "2 2 2\n1 1 4\n2 1 7\n"), 1 << 20);
}
