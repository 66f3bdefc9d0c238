use crate::{refuses, survives};
use melmo_data::csv::{Table, encode, parse};
use melmo_data::{Array, Kind};

#[test]
fn reads_back() {
    let data = vec![1.0 / 3.0, -1e300, 5e-324, 0.0, 123456789.0, f64::INFINITY];
    let names = ["a", "b;c", "with \"quotes\", comma"].map(String::from).to_vec();
    for names in [None, Some(names)] {
        let table = Table { names, array: Array::new([2, 3], data.clone()).unwrap(), index: None };
        assert_eq!(parse(&encode(&table).unwrap()).unwrap(), table);
    }
    let column =
        Table { names: Some(vec!["one name".into()]), array: Array::new([6, 1], data.clone()).unwrap(), index: None };
    assert_eq!(parse(&encode(&column).unwrap()).unwrap(), column);
    let vector = Table { names: None, array: Array::new([6], data).unwrap(), index: None };
    assert_eq!(parse(&encode(&vector).unwrap()).unwrap().array.shape, [6, 1]);
}

#[test]
fn single_precision_is_written_short_and_nan_reads_back() {
    let array = Array { shape: vec![1, 2], data: vec![0.1_f32.into(), f64::NAN], kind: Kind::F32 };
    let text = encode(&Table { names: None, array, index: None }).unwrap();
    assert_eq!(text, b"0.1,NaN\n");
    assert!(parse(&text).unwrap().array.data[1].is_nan());
}

#[test]
fn delimiters_and_headers_are_found() {
    let inputs = [
        "1,2,3\n4,5,6\n",
        "1;2;3\r\n4;5;6\r\n",
        "1\t2\t3\n4\t5\t6",
        " 1  2 3\n\n4 5 6 \n",
        "# np\n1,2,3\n#x\n\n4,5,6\n",
    ];
    for text in inputs {
        let table = parse(text.as_bytes()).unwrap();
        assert_eq!((table.names, table.array.shape), (None, vec![2, 3]), "{text}");
        assert_eq!(table.array.data, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "{text}");
    }
    let table = parse(b"\xef\xbb\xbfx,\"y, z\",3\n1,2,3\n").unwrap();
    assert_eq!(table.names.unwrap(), ["x", "y, z", "3"]);
}

#[test]
fn missing_numbers_are_nan() {
    let table = parse(b"1,,NA\nNaN,2,nan\n").unwrap();
    let missing: Vec<bool> = table.array.data.iter().map(|v| v.is_nan()).collect();
    assert_eq!(missing, [false, true, true, true, false, true]);
    assert_eq!(table.names, None);
}

#[test]
fn malformed() {
    refuses(parse, b"", &["no row"]);
    refuses(parse, b"\n\n# nothing\n", &["no row"]);
    refuses(parse, b"only,names\n", &["no row"]);
    refuses(parse, b"1,2\n3,4\n5\n", &["line 3", "1 cells", "2, as in the first line"]);
    refuses(parse, b"a,b\n\n# c\n1,2\n\n\n3,4,5\n", &["line 7", "3 cells"]);
    refuses(parse, b"1 2\n\n3\n", &["line 3", "1 cells"]);
    refuses(parse, b"a,b\n1,2\n\n3,x\n", &["line 4", "`x`"]);
    refuses(parse, b"a,b\n\"1,5\",2\n", &["line 2", "`1,5`", "point"]);
    refuses(parse, b"a;b\n1,5;2.5\n", &["line 2", "`1,5`", "decimal commas or decimal points"]);
    refuses(parse, b"a\tb\n1,500\t2\n", &["line 2", "`1,500`", "thousands"]);
    refuses(parse, b"1,500\t2\n3\t4\n", &["line 1", "`1,500`", "thousands"]);
    refuses(parse, b"1,2\n\xff\xfe,3\n", &["line 2", "UTF-8"]);
    refuses(parse, &[0; 64], &[]);
    survives(parse, b"x,\"y\"\n1,2\n3,NA\n", 1 << 20);
}

#[test]
fn what_would_not_read_back_is_not_written() {
    let array = Array::new([1, 2], vec![1.0, 2.0]).unwrap();
    for names in [vec!["1", "2"], vec!["a"], vec!["", ""], vec!["", "a"]] {
        let names = Some(names.into_iter().map(String::from).collect());
        assert!(encode(&Table { names, array: array.clone(), index: None }).is_err());
    }
    for shape in [vec![1, 1, 2], vec![3]] {
        let array = Array { shape, ..array.clone() };
        assert!(encode(&Table { names: None, array, index: None }).is_err());
    }
}

#[test]
fn a_first_column_without_a_name_names_the_rows() {
    for text in [",a,b\nx,1,2\ny,3,4\n", "Unnamed: 0,a,b\nx,1,2\ny,3,4\n", "a,b\nx,1,2\ny,3,4\n"] {
        let table = parse(text.as_bytes()).unwrap();
        assert_eq!((table.names.unwrap(), table.array.shape), (vec!["a".into(), "b".into()], vec![2, 2]), "{text}");
        assert_eq!((table.array.data, table.index.unwrap()), (vec![1.0, 2.0, 3.0, 4.0], vec!["x".into(), "y".into()]));
    }
    let numbered = parse(b",a\n0,5\n1,6\n").unwrap();
    assert_eq!((numbered.array.data, numbered.index.unwrap()), (vec![5.0, 6.0], vec!["0".to_string(), "1".into()]));
}
