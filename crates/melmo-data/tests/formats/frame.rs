use crate::survives;
use melmo_data::Frame;
use melmo_data::frame::parse;

fn words(frame: &Frame, column: usize) -> Vec<Option<&str>> {
    let words = frame.words_of(column).unwrap();
    (0..frame.size().0).map(|row| words.at(row)).collect()
}

#[test]
fn words_and_numbers_stand_side_by_side() {
    let frame = parse(b"city;rent;rooms\nUlm;7,5;2\n;NA;3\nBonn;12,25;?\nUlm;8;1\n").unwrap();
    assert_eq!(frame.column_names(), ["city", "rent", "rooms"]);
    assert!(frame.commas);
    assert_eq!(words(&frame, 0), [Some("Ulm"), None, Some("Bonn"), Some("Ulm")]);
    let city = frame.words_of(0).unwrap();
    assert_eq!((city.levels.as_slice(), city.counts()), (&["Bonn".to_string(), "Ulm".into()][..], vec![1, 2]));
    assert_eq!(city.first, Some((2, "Ulm".into())));
    let rent: Vec<f64> = frame.numbers_of(1).collect();
    assert!(rent[0] == 7.5 && rent[1].is_nan() && rent[2] == 12.25 && rent[3] == 8.0);
    assert!(frame.words_of(1).is_none() && frame.numbers_of(2).nth(2).unwrap().is_nan());
    assert!(frame.numbers().unwrap_err().to_string().contains("line 2: found `Ulm`"));
}

#[test]
fn a_header_is_told_from_words() {
    let named = |text: &str| parse(text.as_bytes()).unwrap().names.is_some();
    assert!(named("user,item,rating\nann,tea,5\nbob,milk,3\n"));
    assert!(!named("ann,tea,5\nbob,milk,3\nann,milk,1\n"), "a number is no name");
    assert!(named("user,item\nann,tea\nbob,milk\nann,milk\n"), "words that do not occur again");
    assert!(!named("ann,tea\nbob,milk\nann,milk\n"), "a word that does");
    assert!(named(",how,use\n1,no,auto\n2,no,no\n"), "all but the first column are words, and that has no name");
    assert!(!named("1,2\n3,4\n") && named("a,2\n3,4\n"));
    let frame = parse(b"ann,tea,5\nbob,milk,3\nann,milk,1\n").unwrap();
    assert_eq!(words(&frame, 0), [Some("ann"), Some("bob"), Some("ann")]);
    assert_eq!(frame.words_of(1).unwrap().first, Some((1, "tea".into())));
    assert_eq!(frame.size(), (3, 3));
}

#[test]
fn long_numbers_keep_their_digits() {
    let frame = parse(b"id,y\n9007199254740993,1\n9007199254740992,2\n17,3\n").unwrap();
    let id = frame.words_of(0).unwrap();
    assert_eq!(id.levels, ["17", "9007199254740992", "9007199254740993"], "by size");
    assert_eq!((id.first.as_ref(), id.numbers), (None, 3));
    assert_eq!(frame.numbers().unwrap().array.data[4], 17.0, "and they are numbers");
    assert_eq!(parse(b"9007199254740993,1\n17,3\n").unwrap().words_of(0).unwrap().levels[1], "9007199254740993");
}

#[test]
fn names_of_rows_are_no_column() {
    let frame = parse(b",city,y\n10,Ulm,1\n11,Bonn,2\n").unwrap();
    assert_eq!((frame.index.clone().unwrap(), frame.size()), (vec!["10".to_string(), "11".into()], (2, 2)));
    assert_eq!(words(&frame, 0), [Some("Ulm"), Some("Bonn")]);
    assert_eq!(frame.numbers_of(1).collect::<Vec<_>>(), [1.0, 2.0]);
}

#[test]
fn damage() {
    survives(parse, b",city;\"rent\"\nx,Ulm,7\ny,NA,9007199254740993\n", 1 << 20);
}
