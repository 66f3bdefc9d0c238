//! `melmo regress` on tables.

mod support;

use melmo::seeded::Seeded;
use support::Place;

/// y = 3 + 2a − b + noise, and three columns that say nothing.
fn table(place: &Place, name: &str, rows: usize, classes: bool) {
    let mut seeded = Seeded::new(8);
    let mut text = String::from("a,b,\"c, d\",e,f,y\n");
    for _ in 0..rows {
        let x: Vec<f64> = (0..5).map(|j| 10.0 * j as f64 + (1.0 + j as f64) * seeded.normal()).collect();
        let mut y = 3.0 + 2.0 * x[0] - x[1] + 0.5 * seeded.normal();
        if classes {
            y = f64::from(u8::from(y + 2.0 * seeded.normal() > -7.0));
        }
        let cells: Vec<String> = x.iter().chain([&y]).map(f64::to_string).collect();
        text += &format!("{}\n", cells.join(","));
    }
    place.write(name, text);
}

#[test]
fn coefficients_come_back_with_their_names() {
    let place = Place::new();
    table(&place, "t.csv", 150, false);
    for penalty in ["l1", "mcp", "scad", "elastic-net"] {
        let told = place
            .json(&format!("regress t.csv y --penalty {penalty} -o {penalty}.csv --path-output {penalty}-path.csv"));
        let near = |name: &str, want: f64| {
            let got = told["coefficients"][name].as_f64().unwrap();
            assert!((got - want).abs() < 0.1, "{penalty} {name}: {got}");
        };
        near("a", 2.0);
        near("b", -1.0);
        near("c, d", 0.0);
        assert!((told["intercept"].as_f64().unwrap() - 3.0).abs() < 2.0, "{told}");
        assert_eq!(told["method"], "coordinate-descent");
        let text = place.read(&format!("{penalty}.csv"));
        assert!(text.starts_with("name,coefficient\n(intercept),") && text.contains("\"c, d\","), "{text}");
        assert_eq!(place.read(&format!("{penalty}-path.csv")).lines().count(), 51);
    }
}

#[test]
fn the_lasso_satisfies_its_optimality_conditions() {
    let place = Place::new();
    table(&place, "t.csv", 80, false);
    let told = place.json("regress t.csv y --lambda 0.3 --no-standardize");
    let b: Vec<f64> =
        ["a", "b", "c, d", "e", "f"].iter().map(|name| told["coefficients"][name].as_f64().unwrap()).collect();
    let c = told["intercept"].as_f64().unwrap();
    let rows: Vec<Vec<f64>> = place
        .read("t.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let residual = |row: &Vec<f64>| row[5] - c - row[..5].iter().zip(&b).map(|(x, b)| x * b).sum::<f64>();
    let n = rows.len() as f64;
    let correlation =
        |j: Option<usize>| rows.iter().map(|row| j.map_or(1.0, |j| row[j]) * residual(row)).sum::<f64>() / n;
    assert!(correlation(None).abs() < 1e-5, "the intercept is free");
    for (j, &b) in b.iter().enumerate() {
        let slope = correlation(Some(j));
        let holds = if b != 0.0 { (slope - 0.3 * b.signum()).abs() < 1e-4 } else { slope.abs() < 0.3 + 1e-4 };
        assert!(holds, "column {j}: {slope} at {b}");
    }
}

#[test]
fn classes_robust_losses_groups_and_predictions() {
    let place = Place::new();
    table(&place, "t.csv", 150, true);
    table(&place, "new.csv", 40, true);
    place.done("regress t.csv y --loss logistic --penalty mcp --predict new.csv --predictions p.csv -q");
    let predicted: Vec<String> = place.read("p.csv").lines().skip(1).map(String::from).collect();
    let truth: Vec<String> =
        place.read("new.csv").lines().skip(1).map(|line| line.rsplit(',').next().unwrap().into()).collect();
    let right = predicted.iter().zip(&truth).filter(|(p, t)| p == t).count();
    assert!(predicted.len() == 40 && right > 30, "{right} of 40");
    table(&place, "r.csv", 120, false);
    let told = place.json("regress r.csv y --loss huber --groups 2,3 --select 1se");
    assert_eq!(told["nonzero"], 2, "{told}");
    assert!(told["loss"].as_str().unwrap().starts_with("huber:delta="));
}

#[test]
fn the_choice_is_part_of_the_result_and_does_not_depend_on_threads() {
    let place = Place::new();
    table(&place, "t.csv", 60, false);
    let one = place.json("regress t.csv y --penalty scad --threads 1 --result r");
    let three = place.json("regress t.csv y --penalty scad --threads 3");
    assert_eq!((&one["penalty"], &one["coefficients"]), (&three["penalty"], &three["coefficients"]));
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    let other = place.json("regress t.csv y --penalty scad --seed 1");
    assert_eq!(other["command"], "regress");
}

#[test]
fn tables_that_do_not_fit() {
    let place = Place::new();
    table(&place, "t.csv", 20, false);
    place.write("short.csv", "1\n2\n");
    place.write("holes.csv", "a,y\n1,2\n,3\n4,5\n");
    place.write("other.csv", "a,b\n1,2\n");
    place.refused("regress t.csv z", &["t.csv", "`z`", "a, b"]);
    place.refused("regress t.csv short.csv", &["short.csv", "20×1"]);
    place.refused("regress holes.csv y", &["row 2, column 1"]);
    place.refused("regress t.csv y --loss logistic", &["two classes"]);
    place.refused("regress t.csv y --loss cubic", &["cubic", "huber"]);
    place.refused("regress t.csv y --groups 2,2", &["groups", "5 columns"]);
    place.refused("regress t.csv y --folds 1", &["folds"]);
    place.refused("regress t.csv y --path-ratio 2", &["--path-ratio"]);
    place.refused("regress t.csv y --predict other.csv --predictions p.csv", &["other.csv", "c, d"]);
}
