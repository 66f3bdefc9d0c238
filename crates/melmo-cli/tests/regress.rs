//! `melmo regress` on tables.

#[path = "regress/wide.rs"]
mod wide;

use crate::support::Place;
use melmo::seeded::Seeded;

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
        let told = place.json(&format!(
            "regress t.csv y --penalty {penalty} -o {penalty}.csv --path-output {penalty}-path.csv --report {penalty}.html"
        ));
        let near = |name: &str, want: f64| {
            let got = told["coefficients"][name].as_f64().unwrap();
            assert!((got - want).abs() < 0.1, "{penalty} {name}: {got}");
        };
        near("a", 2.0);
        near("b", -1.0);
        near("c, d", 0.0);
        assert!((told["intercept"].as_f64().unwrap() - 3.0).abs() < 2.0, "{told}");
        let convex = ["l1", "elastic-net"].contains(&penalty);
        assert_eq!(told["method"], if convex { "coordinate-descent" } else { "coordinate-graduated" });
        let text = place.read(&format!("{penalty}.csv"));
        assert!(text.starts_with("name,coefficient\n(intercept),") && text.contains("\"c, d\","), "{text}");
        assert_eq!(place.read(&format!("{penalty}-path.csv")).lines().count(), 51);
        let page = place.read(&format!("{penalty}.html"));
        let bar = |name: &str| page.find(&format!("<th scope=\"row\">{name}</th>")).unwrap_or(usize::MAX);
        assert!(bar("a") < bar("b") && bar("b") < usize::MAX, "the larger effect comes first");
        assert!(page.contains("<rect class=\"above\"") && page.contains("<rect class=\"below\""));
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
    place.refused("regress holes.csv y", &["row 2: `a` is missing", "1 of 3 rows", "--missing drop"]);
    place.refused("regress t.csv y --groups 2,3 --positive", &["--positive"]);
    place.refused("regress t.csv y --penalty-weights 1,2", &["weights", "5"]);
    place.refused("regress t.csv y --loss poisson", &["counts"]);
    place.refused("regress t.csv y --weights w", &["no column `w`"]);
    place.refused("regress t.csv y --event a", &["--loss cox"]);
    place.write("slip.csv", "a,y\n1,2\n3,4o\n5,6\n7,8\n");
    place.refused("regress slip.csv y", &["line 3", "`4o`, among numbers"]);
    place.refused("regress slip.csv a", &["line 3", "`4o`, among numbers"]);
    place.refused("regress t.csv y --drop aa", &["no column `aa`", "did you mean `a`"]);
    place.refused("regress t.csv y --columns a,y", &["--columns", "is what is predicted"]);
    place.refused("regress t.csv y --model m.txt", &["m.txt", ".json"]);
    place.refused("regress t.csv y --test other.csv", &["other.csv", "c, d"]);
    place.refused("regress t.csv y --loss cubic", &["cubic", "huber"]);
    place.refused("regress t.csv y --loss poison", &["did you mean `poisson`?", "huber"]);
    place.refused("regress t.csv yy", &["no file and no column is called `yy`", "did you mean `y`?"]);
    place.write("twice.csv", "a,a,y\n1,2,3\n3,4,6\n5,6,8\n");
    place.refused("regress twice.csv y", &["twice.csv", "several columns are called `a`"]);
    place.refused("regress t.csv y --groups 2,2", &["groups", "5 columns"]);
    place.refused("regress t.csv y --folds 1", &["folds"]);
    place.refused("regress t.csv y --path-ratio 2", &["--path-ratio"]);
    place.refused("regress t.csv y --predict other.csv --predictions p.csv", &["other.csv", "c, d"]);
}

/// Rents by town, with decimal commas, semicolons, names of rows, and gaps: 5 + 2·rooms, 3 more in Ulm and 4 less in Bonn.
fn rents(place: &Place, name: &str, rows: usize, seed: u64) {
    let mut seeded = Seeded::new(seed);
    let mut text = String::from(";town;rooms;note;rent;dear\n");
    for row in 0..rows {
        let (town, shift) =
            [("Köln", 0.0), ("Ulm", 3.0), ("Bonn", -4.0), ("Köln", 0.0)][(4.0 * seeded.uniform()) as usize];
        let rooms = 1.0 + (5.0 * seeded.uniform()).floor();
        let rent = 5.0 + 2.0 * rooms + shift + 0.1 * seeded.normal();
        let dear = if rent > 10.0 { "yes" } else { "no" };
        let shown = if row % 20 == 7 { "NA".into() } else { rooms.to_string() };
        let line = format!("r{row};{town};{shown};note {row};{rent:.3};{dear}\n");
        text += &line.replace('.', ",");
    }
    place.write(name, text);
}

#[test]
fn tables_as_people_have_them() {
    let place = Place::new();
    rents(&place, "t.csv", 120, 1);
    rents(&place, "new.csv", 60, 2);
    place.refused("regress t.csv rent --columns note", &["`note`", "120 different words", "--drop note"]);
    place.refused("regress t.csv rent --drop dear", &["`rooms` is missing", "6 of 120", "--missing"]);
    let told = place.json("regress t.csv rent --drop dear --missing drop --test new.csv --model m.json");
    let near = |name: &str, want: f64| {
        let got = told["coefficients"][name].as_f64().unwrap();
        assert!((got - want).abs() < 0.3, "{name}: {got}");
    };
    near("town=Ulm", 3.0);
    near("town=Bonn", -4.0);
    near("rooms", 2.0);
    assert_eq!((&told["dropped"], &told["references"][0]), (&6.into(), &"town: 2 words beside Köln".into()), "{told}");
    let notes = told["notes"].to_string();
    assert!(notes.contains("decimal commas") && notes.contains("`note` is another word in every row"), "{notes}");
    assert!(told["r2"].as_f64().unwrap() > 0.98 && told["test_r2"].as_f64().unwrap() > 0.98, "{told}");
    // Another day, another table.
    let later = place.json("predict m.json new.csv -o p.csv");
    assert_eq!((&later["rows"], &later["missing"]), (&60.into(), &3.into()), "{later}");
    assert_eq!(later["test_r2"], told["test_r2"]);
    let text = place.read("p.csv");
    assert!(text.starts_with(",prediction\nr0,") && text.contains("\nr7,NA\n"), "{text}");
}

#[test]
fn names_of_rows_are_left_out_of_short_tables_too() {
    let place = Place::new();
    place.write("t.csv", "id,x,y\na1,1,2.5\nb7,2,4\nc3,3,6\nd9,4,8.5\ne2,5,10\nf5,6,12\n");
    let told = place.json("regress t.csv y --lambda 0.1");
    assert_eq!(told["shape"], serde_json::json!([6, 1]), "{told}");
    assert!(told["notes"].to_string().contains("`id` is another word in every row"), "{told}");
}

#[test]
fn missing_cells_are_filled_in_or_shown() {
    let place = Place::new();
    rents(&place, "t.csv", 120, 1);
    let mean = place.json("regress t.csv rent --columns town,rooms --missing mean --lambda 0.01");
    assert_eq!((&mean["shape"][0], mean["dropped"].is_null()), (&120.into(), true));
    let shown = place.json("regress t.csv rent --columns town,rooms --missing indicator --lambda 0.01");
    let names: Vec<&String> = shown["coefficients"].as_object().unwrap().keys().collect();
    assert!(names.contains(&&"rooms (missing)".to_string()), "{names:?}");
}

#[test]
fn classes_may_be_words_and_have_probabilities() {
    let place = Place::new();
    rents(&place, "t.csv", 120, 1);
    rents(&place, "new.csv", 60, 2);
    place.refused("regress t.csv dear --drop note,rent --missing mean", &["`dear` holds words", "--loss logistic"]);
    let told = place.json(
        "regress t.csv dear --drop note,rent --missing mean --loss logistic --test new.csv --model m.json \
         --predict new.csv --predictions p.csv --probabilities",
    );
    assert_eq!(told["classes"], serde_json::json!(["no", "yes"]));
    assert!(told["test_accuracy"].as_f64().unwrap() > 0.9 && told["test_auc"].as_f64().unwrap() > 0.95, "{told}");
    let first = place.read("p.csv");
    assert!(first.starts_with(",class,P(yes)\nr0,"), "{first}");
    place.done("predict m.json new.csv -o again.csv --probabilities -q");
    assert_eq!(first, place.read("again.csv"));
    place.done("predict m.json new.csv -o p.npy --probabilities -q");
    place.refused("predict m.json new.csv -o q.npy", &["words", ".csv"]);
    place.refused("predict m.json new.csv -o p.csv", &["p.csv", "--force"]);
    place.refused("predict t.csv new.csv -o q.csv", &["t.csv", "no model"]);
    place.write("bad.csv", "town,rooms,dear\nUlm,2,yes\nHof,1,no\n");
    place.refused("predict m.json bad.csv -o q.csv", &["row 2", "`Hof`", "did not have"]);
}

#[test]
fn several_classes_that_are_words() {
    let place = Place::new();
    rents(&place, "t.csv", 150, 1);
    rents(&place, "new.csv", 60, 2);
    let told = place.json(
        "regress t.csv town --columns rooms,rent --missing drop --loss logistic --test new.csv --model m.json -o c.csv \
         --path-output path.csv --predict new.csv --predictions p.csv --probabilities --result r --report r.html",
    );
    assert_eq!(told["classes"], serde_json::json!(["Bonn", "Köln", "Ulm"]));
    assert_eq!(told["loss"], "multinomial:classes=3");
    assert!(told["test_accuracy"].as_f64().unwrap() > 0.9, "{told}");
    assert!(told["test_auc"].as_f64().unwrap() > 0.95 && told["test_explained"].as_f64().unwrap() > 0.5, "{told}");
    assert!(told["deviance"].as_f64().unwrap() > 0.0);
    assert!(
        told["coefficients"]["rent (Ulm)"].as_f64().unwrap() > told["coefficients"]["rent (Bonn)"].as_f64().unwrap()
    );
    assert!(place.read("c.csv").starts_with("name,Bonn,Köln,Ulm\n(intercept),"));
    assert!(place.read("path.csv").contains("(intercept) (Köln)"));
    let first = place.read("p.csv");
    assert!(first.starts_with(",class,P(Bonn),P(Köln),P(Ulm)\nr0,"), "{first}");
    let chances: f64 = first.lines().nth(1).unwrap().split(',').skip(2).map(|cell| cell.parse::<f64>().unwrap()).sum();
    assert!((chances - 1.0).abs() < 1e-9);
    place.done("predict m.json new.csv -o again.csv --probabilities -q");
    assert_eq!(first, place.read("again.csv"));
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
}

/// Counts with an exposure, their 0.8-quantile, and times until an event: y depends on a alone.
#[test]
fn counts_quantiles_and_times() {
    let place = Place::new();
    let mut seeded = Seeded::new(4);
    let (mut text, mut times) = (String::from("a,b,exposure,count,time,seen,w\n"), String::new());
    for row in 0..200 {
        let (a, b) = (seeded.normal(), seeded.normal());
        let exposure = 1.0 + seeded.uniform();
        let mean = exposure * (1.0 + 0.7 * a).exp();
        // A Poisson number by waiting: exponential times until their sum exceeds the mean.
        let (mut count, mut waited) = (0, -seeded.uniform().ln());
        while waited < mean {
            (count, waited) = (count + 1, waited - seeded.uniform().ln());
        }
        let time = -seeded.uniform().ln() * (-a).exp();
        let seen = u8::from(row % 4 != 0);
        text += &format!("{a},{b},{},{count},{time},{seen},{}\n", exposure.ln(), 1 + row % 2);
        times += &format!("{time}\n");
    }
    place.write("t.csv", text);
    place.write("times.csv", times);
    let near = |told: &serde_json::Value, name: &str, want: f64, room: f64| {
        let got = told["coefficients"][name].as_f64().unwrap();
        assert!((got - want).abs() < room, "{name}: {got}, not {want}");
    };
    let told = place.json(
        "regress t.csv count --columns a,b --loss poisson --offset exposure --weights w --model m.json --result r",
    );
    near(&told, "a", 0.7, 0.1);
    near(&told, "b", 0.0, 0.1);
    assert!(told["r2"].as_f64().unwrap() > 0.5, "{told}");
    assert!(told["explained"].as_f64().unwrap() > 0.3 && told["deviance"].as_f64().unwrap() > 100.0, "{told}");
    place.done("predict m.json t.csv -o p.csv -q");
    let least =
        place.read("p.csv").lines().skip(1).map(|line| line.parse::<f64>().unwrap()).fold(f64::INFINITY, f64::min);
    assert!(least > 0.0, "the mean of a count");
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    let told = place.json("regress t.csv time --columns a,b --loss cox --event seen --penalty mcp --test t.csv");
    near(&told, "a", 1.0, 0.3);
    // Of pairs of rows, the share that is put in order.
    assert!(told["concordance"].as_f64().unwrap() > 0.7 && told["test_concordance"] == told["concordance"], "{told}");
    let apart = place.json(
        "regress t.csv times.csv --columns a,b --loss cox --event seen --penalty mcp --test t.csv --test-target times.csv",
    );
    assert_eq!(apart["test_concordance"], told["concordance"], "who was not seen to the end counts as such: {apart}");
    let told = place.json("regress t.csv count --columns a,b --loss quantile:level=0.8 --positive --lambda 0.01");
    assert!(told["coefficients"]["a"].as_f64().unwrap() > 0.0 && told["loss"].as_str().unwrap().contains("width="));
}
