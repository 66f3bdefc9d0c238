//! `melmo compare`: one problem, one start, several methods.

use crate::support::Place;

#[test]
fn every_method_that_fits_has_a_row_and_the_others_a_reason() {
    let place = Place::new();
    let told = place.json("compare factorize miserables --rank 3 --iterations 150");
    let methods = told["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|row| row["method"].as_str().unwrap()).collect();
    for expected in ["auto: alternating", "melmo", "palm", "ipalm", "fista", "scaled", "subgradient"] {
        assert!(names.contains(&expected), "{names:?}");
    }
    let f: Vec<f64> = methods.iter().map(|row| row["F"].as_f64().unwrap()).collect();
    assert!(f.is_sorted() && methods[0]["over"] == 0.0, "{f:?}");
    assert!(methods.iter().all(|row| row["verified"] == true), "{methods:?}");
    let unfit = told["unfit"].as_array().unwrap();
    let admm = unfit.iter().find(|row| row["method"] == "admm").unwrap();
    assert!(admm["reason"].as_str().unwrap().contains("metric"), "{admm}");
    // The same F as the command of its own.
    let alone = place.json("factorize miserables --rank 3 --iterations 150 --method ipalm");
    let beside = methods.iter().find(|row| row["method"] == "ipalm").unwrap();
    assert_eq!((&alone["F"], &alone["iterations"]), (&beside["F"], &beside["iterations"]));
}

#[test]
fn parameters_traces_and_pictures() {
    let place = Place::new();
    place.done(
        "compare denoise camera --add-noise 0.05 --penalty mcp:lambda=0.05,mu=2 --iterations 20 -q \
         --methods tilted,admm:penalty=2,relaxation=1.5 --trace t.csv --chart c.svg --report r.html",
    );
    assert_eq!(place.names(), ["c.svg", "r.html", "t.csv"]);
    let trace = place.read("t.csv");
    let first = |line: &str| line.split('"').nth(1).unwrap_or_default().to_string();
    let mut names: Vec<String> = trace.lines().skip(1).map(first).collect();
    names.dedup();
    assert_eq!(names, ["tilted", "admm:penalty=2,relaxation=1.5"]);
    assert!(trace.starts_with("method,epoch,k,F,") && trace.lines().count() == 41, "{trace}");
    assert!(place.read("c.svg").contains("tilted"));
    let page = place.read("r.html");
    assert!(page.contains("melmo compare denoise camera") && page.contains("verified"));
    place.done("compare recover miserables --iterations 50 -q --methods fista --chart c.png");
    assert!(std::fs::read(place.file("c.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_table_for_people() {
    let place = Place::new();
    let told = place.done("compare recover miserables --iterations 100 --methods melmo,proximal-gradient").stdout;
    let lines: Vec<&str> = told.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("method ")).unwrap();
    assert!(lines[head + 1].starts_with("proximal-gradient") && lines[head + 1].contains("lowest"), "{told}");
    assert!(lines[head + 2].starts_with("melmo "), "{told}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    place.refused("compare recover miserables --methods melmoo", &["--methods", "melmo"]);
    place.refused("compare recover miserables --methods admm:weight=1", &["--methods", "weight"]);
    place.refused("compare recover miserables --methods palm", &["none of them fits", "factorisation"]);
    place.refused("compare recover miserables --method melmo", &["--method", "--methods"]);
    place.refused("compare recover miserables -o x.npy", &["--output", "only compares"]);
    place.refused("compare recover miserables --chart c.pdf", &["--chart", ".svg"]);
    place.refused("compare recover nowhere.npy", &["nowhere.npy"]);
    place.refused("compare", &["Usage"]);
}
