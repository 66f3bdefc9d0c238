//! Sparse tables, and several targets.

use crate::support::Place;
use melmo::seeded::Seeded;

/// One table as cells, as SVMlight's lines, and as Matrix Market's coordinates: y = 2·x2 − x5 + 1.
fn sparse(place: &Place, name: &str, rows: usize, seed: u64) {
    let mut seeded = Seeded::new(seed);
    let (mut cells, mut lines, mut places, mut y) = (String::new(), String::new(), Vec::new(), String::new());
    for row in 1..=rows {
        let x: Vec<f64> = (0..12).map(|_| if seeded.uniform() < 0.85 { 0.0 } else { 1.0 + seeded.normal() }).collect();
        let target = 1.0 + 2.0 * x[1] - x[4] + 0.1 * seeded.normal();
        cells += &format!("{}\n", x.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
        let filled = || x.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, x)| (j + 1, x));
        lines += &format!("{target}{}\n", filled().map(|(j, x)| format!(" {j}:{x}")).collect::<String>());
        places.extend(filled().map(|(j, x)| format!("{row} {j} {x}\n")));
        y += &format!("{target}\n");
    }
    let head = format!("%%MatrixMarket matrix coordinate real general\n{rows} 12 {}\n", places.len());
    place.write(&format!("{name}.csv"), cells);
    place.write(&format!("{name}.svm"), lines);
    place.write(&format!("{name}.mtx"), head + &places.concat());
    place.write(&format!("{name}-y.csv"), y);
}

#[test]
fn sparse_tables_stay_sparse_and_have_the_same_fit() {
    let place = Place::new();
    sparse(&place, "t", 150, 6);
    sparse(&place, "new", 40, 7);
    let cells = place.json("regress t.csv t-y.csv");
    let told = place
        .json("regress t.svm t.svm --test new.svm --predict new.svm --predictions p.csv --model m.json --result r");
    let others = [place.json("regress t.mtx t-y.csv"), place.json("regress t.mtx t.svm")];
    for other in others.iter().chain([&told]) {
        assert_eq!(other["method"], "coordinate-descent");
        for (name, b) in cells["coefficients"].as_object().unwrap() {
            let found = other["coefficients"][name].as_f64().unwrap();
            assert!((found - b.as_f64().unwrap()).abs() < 1e-3, "{name}: {found}, not {b}");
        }
    }
    assert!(told["test_r2"].as_f64().unwrap() > 0.95, "{told}");
    // A table to judge by whose target is a file too.
    let judged = place.json("regress t.csv t-y.csv --test new.csv --test-target new-y.csv");
    assert!(judged["test_r2"].as_f64().unwrap() > 0.95, "{judged}");
    place.refused("regress t.csv t-y.csv --test new.csv", &["new.csv", "--test-target"]);
    place.refused("regress t.csv t-y.csv --test new.csv --test-target t-y.csv", &["t-y.csv", "expected 40×1"]);
    assert!(place.done("regress t.mtx t-y.csv --lambda 0.1").stdout.contains("sparse: "), "people are told");
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    place.done("predict m.json new.mtx -o again.csv -q");
    assert_eq!(place.read("p.csv"), place.read("again.csv"), "columns are known by their numbers");
    place.refused("regress t.svm y", &["no file and no column is called `y`", "t.svm itself"]);
    place.refused("regress t.svm new.svm", &["new.svm", "40 rows", "150"]);
    let some = place.json("regress t.mtx t-y.csv --columns x2,x5 --lambda 0.01 --loss huber --penalty mcp");
    assert_eq!(some["shape"], serde_json::json!([150, 2]));
}

#[test]
fn several_targets_have_one_choice() {
    let place = Place::new();
    let mut seeded = Seeded::new(9);
    let (mut text, mut both, mut rest) = (String::from("a,b,c,u,v\n"), String::new(), String::new());
    for _ in 0..80 {
        let x: Vec<f64> = (0..3).map(|_| seeded.normal()).collect();
        let (u, v) = (1.0 + 2.0 * x[0] + 0.1 * seeded.normal(), x[0] - 3.0 * x[1] + 0.1 * seeded.normal());
        text += &format!("{},{},{},{u},{v}\n", x[0], x[1], x[2]);
        both += &format!("{u},{v}\n");
        rest += &format!("{},{},{}\n", x[0], x[1], x[2]);
    }
    place.write("t.csv", text);
    place.write("both.csv", both);
    place.write("x.csv", rest);
    let told = place.json(
        "regress t.csv u,v --groups 1,1,1 --test t.csv --model m.json -o c.csv --path-output path.csv --result r \
         --report r.html",
    );
    let near = |name: &str, want: f64| {
        let got = told["coefficients"][name].as_f64().unwrap();
        assert!((got - want).abs() < 0.1, "{name}: {got}");
    };
    near("a (u)", 2.0);
    near("a (v)", 1.0);
    near("b (v)", -3.0);
    assert!(told["r2"]["u"].as_f64().unwrap() > 0.98 && told["test_r2"]["v"].as_f64().unwrap() > 0.98, "{told}");
    assert!(place.read("c.csv").starts_with("name,u,v\n(intercept),"));
    assert!(place.read("path.csv").contains("\"b (v)\""));
    place.done("predict m.json t.csv -o p.csv -q");
    let text = place.read("p.csv");
    let first = text.lines().nth(1).unwrap();
    assert!(text.starts_with("u,v\n") && first.split(',').count() == 2, "{text}");
    place.done("predict m.json t.csv -o p.npy -q");
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    // The solution is where another run may start: there is nothing left to do.
    let steps = |more: &str| {
        let told = place.json(&format!("regress t.csv u,v --groups 1,1,1 --lambda 0.008 --method fista {more}"));
        told["iterations"].as_u64().unwrap()
    };
    let from_nothing = steps("--model near.json");
    assert!(steps("--start near.json") * 3 < from_nothing, "{from_nothing}");
    place.refused("regress t.csv u --start m.json", &["m.json", "2 outputs", "4 columns"]);
    // A file with two columns, and coefficients each by itself.
    let told = place.json("regress x.csv both.csv --lambda 0.3");
    let alone = place.json("regress t.csv u --drop v --lambda 0.3");
    let (a, b) = (&told["coefficients"]["x1 (y1)"], &alone["coefficients"]["a"]);
    assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-3, "{a} {b}");
    place.refused("regress t.csv u,w", &["no column `w`"]);
    place.refused("regress t.csv u,v --loss logistic", &["one target"]);
}
