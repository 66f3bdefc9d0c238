//! Files of `tests/files`, as pyarrow wrote them.

use crate::{refuses, survives};
use melmo_data::list::{self, Duplicates, List};
use melmo_data::parquet::{Rows, parse};
use melmo_data::{Error, Frame, Limits};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn frame(bytes: &[u8]) -> Result<Frame, Error> {
    parse(bytes, &Limits::default())
}

fn listed(name: &str, fields: &[&str], duplicates: Duplicates) -> Result<List, Error> {
    let fields: Vec<String> = fields.iter().map(|&field| field.into()).collect();
    list::read(&path(name), &Limits::default(), &fields, duplicates, |_| ())
}

#[test]
fn a_table_has_numbers_words_and_gaps() {
    let table = frame(&bytes("table.parquet")).unwrap();
    assert_eq!(table.column_names(), ["city", "rent", "rooms", "new"]);
    let of = |column: usize| table.numbers_of(column).map(|v| if v.is_nan() { -1.0 } else { v }).collect::<Vec<_>>();
    assert_eq!((of(1), of(2)), (vec![7.5, -1.0, 9.25, 8.0], vec![2.0, 3.0, 1.0, 2.0]));
    assert_eq!((of(0), of(3)), (vec![-1.0; 4], vec![1.0, 0.0, -1.0, 1.0]));
    let words = table.words_of(0).unwrap();
    assert_eq!((words.at(0), words.at(1), words.at(2), words.at(3)), (Some("Bonn"), Some("Ulm"), None, Some("Bonn")));
    let refused = melmo_data::open(&path("table.parquet")).unwrap_err().to_string();
    assert!(refused.contains("row 1") && refused.contains("`Bonn`"), "{refused}");
    let named = frame(&bytes("index.parquet")).unwrap();
    assert_eq!(
        (named.index.unwrap(), named.array.data),
        (vec!["ann".to_string(), "bob".into()], vec![1.0, 3.0, 2.0, 4.0])
    );
}

#[test]
fn rows_are_read_in_any_pieces_and_are_those_of_the_whole() {
    let whole = melmo_data::open(&path("matrix.parquet")).unwrap().into_array();
    assert_eq!(whole.shape, [150, 3]);
    assert!(whole.data.iter().enumerate().all(|(at, &v)| v == (10 * (at / 3) + at % 3) as f64));
    let rows = Rows::open(&path("matrix.parquet")).unwrap();
    assert_eq!(rows.shape(), (150, 3));
    assert!(rows.memory() > 0 && rows.memory() < 10_000);
    for (first, count) in [(0, 40), (40, 100), (140, 10), (0, 150), (139, 3), (69, 2), (5, 0)] {
        let mut found = Vec::new();
        rows.read(first, count, |numbers| found.extend_from_slice(numbers)).unwrap();
        assert!(found == whole.data[3 * first..3 * (first + count)], "{first} {count}");
    }
    assert!(rows.read(149, 2, |_| ()).is_err(), "there are no more");
    assert!(Rows::open(&path("table.parquet")).unwrap_err().to_string().contains("words in the column `city`"));
}

#[test]
fn three_columns_are_a_list_by_name_or_as_told() {
    let list = listed("ratings.parquet", &[], Duplicates::Mean).unwrap();
    assert_eq!(list.fields.told(), "rows by user, columns by item, values by rating; ignored: timestamp");
    assert_eq!(
        (list.rows, list.columns),
        (vec!["7".to_string(), "9223372036854775807".into()], vec!["milk".to_string(), "tea".into()])
    );
    let entries: Vec<_> = list.matrix.iter().collect();
    assert_eq!((entries, list.repeated), (vec![(0, 0, 3.0), (0, 1, 3.0), (1, 1, 5.0)], 1));
    let twice = listed("ratings.parquet", &[], Duplicates::Refuse).unwrap_err().to_string();
    assert!(twice.contains(", row 5:") && twice.contains("as in row 3") && twice.contains("`tea`"), "{twice}");
    assert_eq!(listed("ratings.parquet", &["item", "3", "rating"], Duplicates::Mean).unwrap().rows, ["milk", "tea"]);
    let words = listed("ratings.parquet", &["user", "rating", "item"], Duplicates::Mean).unwrap_err().to_string();
    assert!(words.contains("words in the column `item`") && words.contains("--fields"), "{words}");
    let times = listed("ratings.parquet", &["user", "item", "timestamp"], Duplicates::Mean).unwrap_err().to_string();
    assert!(times.contains("dates or times in the column `timestamp`"), "{times}");
}

#[test]
fn what_cannot_be_read_is_said() {
    refuses(frame, b"PAR1 and no more PAR1", &["Parquet"]);
    refuses(frame, b"", &["Parquet"]);
    refuses(frame, &bytes("brotli.parquet"), &["BROTLI", "snappy, gzip or zstd"]);
    refuses(frame, &bytes("nested.parquet"), &["values within values", "`items.list.element`"]);
    let few = parse(&bytes("matrix.parquet"), &Limits::entries(449)).unwrap_err().to_string();
    assert!(few.contains("150 rows and 3 columns") && few.contains("449"), "{few}");
    assert!(parse(&bytes("matrix.parquet"), &Limits::entries(450)).is_ok());
}

#[test]
fn broken_files_are_answered() {
    for name in ["table.parquet", "index.parquet"] {
        survives(frame, &bytes(name), 64 << 20);
    }
}
