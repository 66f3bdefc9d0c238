use crate::{refuses, survives};
use melmo_data::list::{Duplicates, List, parse};

fn read(text: &str) -> List {
    parse(text.as_bytes(), &[], Duplicates::Mean).unwrap()
}

fn entries(list: &List) -> Vec<(&str, &str, f64)> {
    list.matrix.iter().map(|(i, j, value)| (list.rows[i].as_str(), list.columns[j].as_str(), value)).collect()
}

#[test]
fn ids_are_names_or_numbers_of_any_length() {
    let list = read("10,9223372036854775807,1\n9,9223372036854775806,2.5\n10,7,-3e0\n");
    assert_eq!(list.rows, ["9", "10"]);
    assert_eq!(list.columns, ["7", "9223372036854775806", "9223372036854775807"]);
    let expected = [("9", "9223372036854775806", 2.5), ("10", "7", -3.0), ("10", "9223372036854775807", 1.0)];
    assert_eq!(entries(&list), expected);
    assert_eq!(entries(&read("7.0 b 1\n007 a 2\n7 c 3\n")), [("7", "a", 2.0), ("7", "b", 1.0), ("7", "c", 3.0)]);
    assert_eq!(read("7 b 1\nx a 2\n007 c 3\n").rows, ["007", "7", "x"]);
}

#[test]
fn every_way_to_write_a_line() {
    let expected = [("1", "122", 5.0), ("1", "185", 4.5), ("2", "122", 3.0)];
    for text in [
        "1::122::5::838985046\n1::185::4.5::838983525\n2::122::3::868245777\n",
        "1\t122\t5\n1\t185\t4.5\n2\t122\t3",
        "1 122 5\r\n# a comment\r\n1 185 4.5\r\n\r\n2 122 3\r\n",
        "\u{feff}userId;movieId;rating\n1;122;5\n1;185;4,5\n2;122;3\n",
        "rating,time,item,user\n5,1,122,1\n4.5,2,185,1\n3,3,122,2\n,4,999,9\nNA,4,998,9\n",
        "\"user\",\"item\",\"rating\"\n\"1\",\"122\",5\n1,185,\"4.5\"\n2,122,3\n",
    ] {
        assert_eq!(entries(&read(text)), expected, "{text}");
    }
    assert_eq!(read("u\ti\tv\nann\t\"q\" \t1\nbob\tx\t2\n").rows, ["ann", "bob"]);
    assert!(read("a;b;c\n1;2;4,5\n2;1;1\n").commas);
    // Quotes in the header alone, over several lines, or after it.
    let header = |name: &str| format!("# quoted\n\"user\",\"item\",\"{name}\"\n1,122,5\n1,185,4.5\n2,122,3\n");
    for name in ["rating", "ra\"\"ting", "ra\nting"] {
        assert_eq!(entries(&read(&header(name))), expected, "{name}");
    }
    let bad = parse((header("rating") + "1,2\n").as_bytes(), &[], Duplicates::Mean).unwrap_err().to_string();
    assert!(bad.contains("line 6"), "{bad}");
}

#[test]
fn columns_are_found_or_given_and_the_others_named() {
    assert_eq!(
        read("1::122::5::838985046\n").fields.told(),
        "rows by column 1, columns by column 2, values by column 3; ignored: column 4"
    );
    let text = b"a,b,when,stars\nx,y,3,4\n";
    let fields = parse(text, &["b", "a", "stars"].map(String::from), Duplicates::Mean).unwrap().fields;
    assert_eq!(fields.told(), "rows by b, columns by a, values by stars; ignored: when");
    let by_number = parse(text, &["2", "1", "4"].map(String::from), Duplicates::Mean).unwrap();
    assert_eq!(by_number.fields, fields);
    assert_eq!((by_number.rows, by_number.columns), (vec!["y".into()], vec!["x".to_string()]));
}

#[test]
fn duplicates_are_averaged_or_refused() {
    let text = "u,i,v\n1,1,2\n2,1,4\n01,1,5\n1,1,8\n";
    let list = read(text);
    assert_eq!((entries(&list), list.repeated), (vec![("1", "1", 5.0), ("2", "1", 4.0)], 2));
    let strict = |bytes: &[u8]| parse(bytes, &[], Duplicates::Refuse);
    refuses(strict, text.as_bytes(), &["line 4", "as in line 2", "row `1`", "--duplicates mean"]);
}

#[test]
fn bad_lines_are_named() {
    let mean = |bytes: &[u8]| parse(bytes, &[], Duplicates::Mean);
    refuses(mean, b"1,2\n3,4\n", &["2 columns", "three"]);
    refuses(mean, b"u,i,v\n1,2,3\n\n1,2\n", &["line 4", "2 cells", "3, as"]);
    refuses(mean, b"u,i,v\n1,2,3\n1,3,late\n", &["line 3", "`late`"]);
    refuses(mean, b"u,i,v\n1,2,3\n1,3,inf\n", &["line 3", "finite"]);
    refuses(mean, b"u,i,v\n1,2,3\n,3,4\n", &["line 3", "no row"]);
    refuses(mean, b"u,i,v\n1,2.5,3\n1,2,4\n", &["line 2", "`2.5`", "whole number"]);
    refuses(mean, b"u;i;v\n1;2;1,234\n", &["line 2", "1,234", "thousands"]);
    refuses(mean, b"\"u\",\"i\",\"v\"\n1,\"2\",x\n", &["line 2", "`x`"]);
    refuses(mean, b"a,user,rating\n1,2,3\n", &["a, user, rating", "--fields"]);
    let given = |bytes: &[u8]| parse(bytes, &["user", "a", "stars"].map(String::from), Duplicates::Mean);
    refuses(given, b"a,user,rating\n1,2,3\n", &["`stars`", "a, user, rating"]);
    survives(mean, b"user,item,rating\n1,2,3\n\"4\",5,6.5\n", 1 << 20);
    survives(mean, b"1::2::3\n4::5::6.5\n", 1 << 20);
}

/// A text of many pieces is read as one of one piece, on any number of threads, and the line of an error is counted over all of them.
#[test]
fn long_lists_are_read_in_pieces() {
    let line = |k: usize| format!("{},item-{},{}\n", k * 7919 % 1000, k * 104_729 % 5000, k % 9);
    let text: String = (0..600_000).map(line).collect();
    assert!(text.len() > 2 << 22);
    let one = read(&text);
    let two = melmo_base::threads::Threads::new(2).unwrap().run(|| read(&text));
    assert_eq!(one, two);
    assert_eq!((one.rows.len(), one.columns.len(), one.matrix.len() + one.repeated), (1000, 5000, 600_000));
    let bad = text.clone() + "1,2,x\n";
    refuses(|bytes| parse(bytes, &[], Duplicates::Mean), bad.as_bytes(), &["line 600001", "`x`"]);
}
