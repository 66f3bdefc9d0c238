//! `melmo complete`: from files to a filled matrix.

use crate::support::Place;

/// Entry (i, j) of a matrix of rank 2 with offsets.
fn entry(i: usize, j: usize) -> f64 {
    let (i, j) = (i as f64, j as f64);
    5.0 + 0.1 * i - 0.2 * j + (0.9 * i).sin() * (0.7 * j).cos() + (0.3 * i).cos() * (0.4 * j).sin()
}

/// A table with every fifth cell blank.
fn table(place: &Place) -> usize {
    let (rows, cols) = (30, 20);
    let gap = |i: usize, j: usize| (7 * i + 3 * j).is_multiple_of(5);
    let cell = |i, j| if gap(i, j) { String::new() } else { entry(i, j).to_string() };
    let names: Vec<String> = (0..cols).map(|j| format!("c{j}")).collect();
    let lines = (0..rows).map(|i| (0..cols).map(|j| cell(i, j)).collect::<Vec<_>>().join(","));
    place.write("y.csv", [vec![names.join(",")], lines.collect()].concat().join("\n"));
    (0..rows * cols).filter(|at| gap(at / cols, at % cols)).count()
}

/// A list of some entries, with numbers that have gaps, a header and a column too many.
fn list(place: &Place) {
    let known = (0..600).map(|at| (at / 20, at % 20)).filter(|(i, j)| (7 * i + 3 * j) % 5 != 0);
    let lines: Vec<String> = known.map(|(i, j)| format!("{},{},{},9", 10 * i + 3, 2 * j, entry(i, j))).collect();
    place.write("list.csv", format!("user,item,rating,time\n{}", lines.join("\n")));
}

fn cells(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

#[test]
fn blanks_are_filled_and_the_rest_is_kept() {
    let place = Place::new();
    let missing = table(&place);
    let facts = place.json("complete y.csv -o filled.csv --report page.html");
    let page = place.read("page.html");
    assert!(page.contains("known; what is missing is black") && page.contains("filled in"));
    assert_eq!(facts["observed"], 600 - missing);
    let text = place.read("filled.csv");
    assert!(text.starts_with("\"c0\",\"c1\","));
    let filled = cells(&text);
    let squares: f64 = (0..600).map(|at| (filled[at / 20][at % 20] - entry(at / 20, at % 20)).powi(2)).sum();
    assert!((squares / missing as f64).sqrt() < 1e-3, "{squares}");
    assert_eq!(filled[0][1], entry(0, 1));
    place.done("complete y.csv -o smooth.csv --smooth-observed -q");
    assert_ne!(cells(&place.read("smooth.csv"))[0][1], entry(0, 1));
}

#[test]
fn what_was_chosen_can_be_said_and_is_verified() {
    let place = Place::new();
    table(&place);
    for model in ["--rank 4", "--penalty mcp"] {
        let facts = place.json(&format!("complete y.csv {model} --holdout 0.1 --result r --force"));
        assert!(facts["rmse"].as_f64() < facts["rmse_offsets"].as_f64());
        assert!(facts["rmse_offsets"].as_f64() < facts["rmse_mean"].as_f64());
        assert_eq!(place.melmo("verify r").code, 0);
        let saved: serde_json::Value = serde_json::from_str(&place.read("r/result.json")).unwrap();
        let options: Vec<String> = saved["job"]["options"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|option| option[0] != "input" && option[0] != "Y")
            .map(|option| format!("--{} {}", option[0].as_str().unwrap(), option[1].as_str().unwrap()))
            .collect();
        let again = place.json(&format!("complete y.csv {}", options.join(" ")));
        for key in ["F", "rmse", "offset_weight", "ridge", "penalty"] {
            assert_eq!(again[key], facts[key], "{model} {key}");
        }
    }
}

#[test]
fn a_list_is_the_matrix_it_stands_for() {
    let place = Place::new();
    table(&place);
    list(&place);
    let options = "--rank 3 --ridge 0.1 --offset-weight 1 --iterations 20";
    let from_list = place.json(&format!("complete list.csv --ratings {options} -o list.npy"));
    let from_table = place.json(&format!("complete y.csv {options}"));
    assert_eq!(from_list["shape"], serde_json::json!([30, 20]));
    assert_eq!(from_list["F"], from_table["F"]);
    assert!(place.read("list.rows.csv").starts_with("3\n13\n23\n"));
    assert!(place.read("list.columns.csv").starts_with("0\n2\n4\n"));
    place.write("full.csv", place.read("list.csv").replace(",9\n", "\n").replace(",time", "").trim_end_matches(",9"));
    place.refused("complete full.csv", &["no entry", "--ratings"]);
}

#[test]
fn sparse_files_are_the_matrix_they_store() {
    let place = Place::new();
    table(&place);
    let known = || (0..600).map(|at| (at / 20, at % 20)).filter(|(i, j)| (7 * i + 3 * j) % 5 != 0);
    let lines: String = known().map(|(i, j)| format!("{} {} {}\n", i + 1, j + 1, entry(i, j))).collect();
    let header = "%%MatrixMarket matrix coordinate real general";
    place.write("y.mtx", format!("{header}\n30 20 {}\n{lines}", known().count()));
    let options = "--rank 3 --ridge 0.1 --offset-weight 1 --iterations 20";
    let sparse = place.json(&format!("complete y.mtx {options} --result r"));
    assert_eq!(sparse["F"], place.json(&format!("complete y.csv {options}"))["F"]);
    assert_eq!(sparse["method"], "als");
    assert_eq!(place.melmo("verify r").code, 0);
    place.write("twice.csv", "user,item,rating\n1,1,2\n2,1,3\n1,2,4\n1,1,5\n");
    place.refused("complete twice.csv --ratings --rank 1 --duplicates refuse", &["line 5", "line 2", "--duplicates"]);
    let mean = place.json("complete twice.csv --ratings --rank 1 --ridge 1 --offset-weight 1");
    assert_eq!((&mean["observed"], &mean["repeated"]), (&3.into(), &1.into()));
}

/// Two circles of people and things: each likes its own half, and has not seen all of it.
fn circles(place: &Place) {
    let known = (0..40 * 20).map(|at| (at / 20, at % 20)).filter(|(i, j)| (i + j) % 2 == 0 && (i * 3 + j * 5) % 7 != 0);
    let lines: String = known.map(|(i, j)| format!("p{i},t{j},{}\n", 1 + (i * j) % 3)).collect();
    place.write("plays.csv", format!("user,item,plays\n{lines}"));
}

#[test]
fn rows_are_recommended_what_they_do_not_have() {
    let place = Place::new();
    circles(&place);
    let options = "--ratings --implicit 2 --rank 4 --ridge 0.5 --recommend 3";
    let told = place.json(&format!("complete plays.csv {options} --recommendations lists.csv --result r"));
    assert!(told.get("rmse_known").is_none() && told["method"] == "als", "{told}");
    assert_eq!(place.melmo("verify r").code, 0);
    let text = place.read("lists.csv");
    assert!(text.starts_with("row,place,column,prediction\np0,1,t"), "{text}");
    assert_eq!(text.lines().count(), 1 + 40 * 3);
    let number = |name: &str| name[1..].parse::<usize>().unwrap();
    let firsts: Vec<_> = text.lines().skip(1).filter(|line| line.contains(",1,")).collect();
    let at_home = firsts.iter().filter(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        (number(cells[0]) + number(cells[2])) % 2 == 0
    });
    assert_eq!(at_home.count(), 40, "the first is of one's own circle, and new");
    let judged = place.json(&format!("complete plays.csv {options} --holdout 0.2"));
    assert!(judged["ndcg"].as_f64() > Some(0.5) && judged["precision"].as_f64() > Some(0.1), "{judged}");
    let explicit = place.json("complete plays.csv --ratings --rank 2 --ridge 1 --recommend 3 --holdout 0.2");
    assert!(explicit["ndcg"].is_number() && explicit["rmse"].is_number(), "{explicit}");
    place.refused("complete plays.csv --ratings --implicit 1 --penalty mcp", &["--penalty"]);
    place.refused("complete plays.csv --ratings --implicit 0", &["--implicit"]);
    place.refused("complete plays.csv --ratings --recommend 3 --recommendations l.npy", &["l.npy", ".csv"]);
}

#[test]
fn threads_and_precision_do_not_change_the_answer() {
    let place = Place::new();
    table(&place);
    let one = place.json("complete y.csv --rank 3 --threads 1");
    let two = place.json("complete y.csv --rank 3 --threads 2");
    assert_eq!(one["F"], two["F"]);
    let single = place.json("complete y.csv --rank 3 --precision f32")["rmse_known"].as_f64().unwrap();
    assert!((single - one["rmse_known"].as_f64().unwrap()).abs() < 1e-3);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    table(&place);
    place.write("gaps.csv", "a,b\n,\n,\n");
    place.write("whole.csv", "1,2\n3,4\n");
    place.write("pairs.csv", "1,2\n3,4\n");
    place.write("ids.csv", "1,2.5,3\n1,2,4\n");
    place.write("mask.csv", "1,0\n0,1\n");
    place.refused("complete gaps.csv", &["every entry is missing"]);
    place.refused("complete whole.csv", &["no entry", "--mask"]);
    place.refused("complete pairs.csv --ratings", &["2 columns", "three"]);
    place.refused("complete ids.csv --ratings", &["line 1", "2.5", "whole number"]);
    place.write("bare.csv", "ann,tea,5\nbob,milk,3\nann,milk,1\n");
    place.write("words.csv", "bob,milk\nann,tea\ncay,rum\n");
    place.write("late.csv", "ann,tea,5\nbob,milk,late\nann,milk,1\n");
    place.refused(
        "complete bare.csv --ratings --rank 1 --pairs words.csv --predictions p.csv",
        &["words.csv", "bob, milk", "header"],
    );
    place.refused("complete bare.csv --ratings --rank 1 --test late.csv", &["late.csv", "line 2", "`late`"]);
    place.write("odd.csv", "a,user,rating\n1,2,3\n1,3,4\n");
    place.refused("complete odd.csv --ratings", &["a, user, rating", "--fields"]);
    place.refused("complete odd.csv --ratings --fields user,a,stars", &["`stars`", "a, user, rating"]);
    place.refused("complete y.csv --pairs pairs.csv --predictions p.csv", &["--ratings"]);
    place.refused("complete y.csv --mask mask.csv", &["mask.csv", "30×20"]);
    place.refused("complete y.csv --rank 21", &["rank", "1 to 20"]);
    place.refused("complete y.csv --holdout 1", &["--holdout"]);
    place.refused("complete y.csv --ridge 0", &["--ridge"]);
    place.refused("complete y.csv --offsets no --offset-weight 1", &["--offset-weight"]);
    place.refused("complete y.csv --rank 2 --penalty mcp", &["--penalty"]);
    place.refused("complete y.csv -o filled.txt", &["filled.txt", ".npy"]);
}

/// The same list with its columns in another order, by names of people and things.
fn named(place: &Place, name: &str, keep: impl Fn(usize, usize) -> bool) {
    let known = (0..600).map(|at| (at / 20, at % 20)).filter(|(i, j)| keep(*i, *j));
    let lines: Vec<String> = known.map(|(i, j)| format!("{},\"p, {i}\",thing {j}", entry(i, j))).collect();
    place.write(name, format!("rating,user_id,item\n{}", lines.join("\n")));
}

#[test]
fn a_list_is_read_by_the_names_in_its_header() {
    let place = Place::new();
    list(&place);
    named(&place, "named.csv", |i, j| (7 * i + 3 * j) % 5 != 0);
    named(&place, "test.csv", |i, j| (7 * i + 3 * j) % 5 == 0);
    place.write("pairs.csv", "item,user_id\nthing 3,\"p, 4\"\nthing 3,nobody\n");
    let options = "--rank 3 --ridge 0.1 --offset-weight 1 --iterations 20";
    let by_name = place.json(&format!(
        "complete named.csv --ratings {options} --test test.csv --pairs pairs.csv --predictions p.csv -o filled.npy"
    ));
    assert_eq!(by_name["list"], "rows by user_id, columns by item, values by rating");
    assert_eq!(by_name["shape"], serde_json::json!([30, 20]));
    assert!(by_name["test_rmse"].as_f64().unwrap() < 0.2, "{by_name}");
    let text = place.read("p.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("\"p, 4\",thing 3,") && lines[2].starts_with("nobody,thing 3,"), "{text}");
    let value: f64 = lines[1].rsplit(',').next().unwrap().parse().unwrap();
    assert!((value - entry(4, 3)).abs() < 0.5, "{text}");
    assert!(place.read("filled.rows.csv").starts_with("\"p, 0\"\n"), "names, in order");
    let same = place.json(&format!("complete list.csv --ratings --fields 1,2,3 {options}"));
    assert!((same["F"].as_f64().unwrap() - by_name["F"].as_f64().unwrap()).abs() < 1e-6);
}

#[test]
fn where_nothing_can_be_said_the_offsets_are_left_alone() {
    let place = Place::new();
    let mut seeded = melmo::seeded::Seeded::new(3);
    let cell = |at: usize, noise: f64| if at.is_multiple_of(3) { String::new() } else { (5.0 + noise).to_string() };
    let lines: Vec<String> =
        (0..30).map(|i| (0..20).map(|j| cell(i * 20 + j, seeded.normal())).collect::<Vec<_>>().join(",")).collect();
    place.write("noise.csv", lines.join("\n"));
    let told = place.json("complete noise.csv -o filled.npy");
    assert_eq!(told["rank"], 0, "{told}");
}
