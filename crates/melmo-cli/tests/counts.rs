//! Factors of sparse counts: read as they are stored, never dense; topics by name; units; results that verify.

use std::time::Duration;

use crate::support::Place;

/// Two topics over six words: documents of the first half use words 0–2, those of the second 3–5.
fn corpus(place: &Place) {
    let mut lines = String::new();
    let mut stored = 0;
    for i in 0..40 {
        for k in 0..3 {
            if (i + k) % 4 != 0 {
                let word = if i < 20 { k } else { 3 + k };
                lines += &format!("{} {} {}\n", i + 1, word + 1, 1 + (i * 7 + k) % 5);
                stored += 1;
            }
        }
    }
    // Sides so large that the whole would not fit anywhere: 40 documents among 3 million, 6 words among 2 million.
    place.write(
        "large.mtx",
        format!("%%MatrixMarket matrix coordinate integer general\n3000000 2000000 {stored}\n{lines}"),
    );
    // The same among a few words that nobody uses, so that it stays sparse.
    place.write("y.mtx", format!("%%MatrixMarket matrix coordinate integer general\n40 20 {stored}\n{lines}"));
    let words = ["sun", "rain", "wind", "goal", "team", "ball"].join("\n");
    let rest: String = (6..20).map(|k| format!("\nw{k}")).collect();
    place.write("words.txt", format!("{words}{rest}\n"));
    place.write("documents.txt", (0..40).map(|i| format!("d{i}\n")).collect::<String>());
}

#[test]
fn topics_are_named_and_their_coherence_is_shown() {
    let place = Place::new();
    corpus(&place);
    let run = "factorize y.mtx --rank 2 --nonnegative --penalty l1:lambda=0.01 --names-columns words.txt --names-rows \
               documents.txt --top 3 -o f.npy --result r";
    let told = place.json(run);
    assert_eq!((told["method"].as_str(), told["entries"].as_u64()), (Some("hals"), Some(90)));
    let topic = |k: usize| -> Vec<String> {
        let mut words: Vec<String> =
            told["topics"][k]["columns"].as_array().unwrap().iter().map(|w| w.as_str().unwrap().into()).collect();
        words.sort();
        words
    };
    let mut topics = [topic(0), topic(1)];
    topics.sort();
    assert_eq!(topics, [["ball", "goal", "team"], ["rain", "sun", "wind"]]);
    assert!(told["coherence"].as_f64().unwrap() > 0.2, "{}", told["coherence"]);
    assert!(told["topics"][0]["rows"][0].as_str().unwrap().starts_with('d'));
    // What is written is in Y's units: the largest entry is 5.
    let [w, h] = ["f.W.npy", "f.H.npy"].map(|name| melmo_data::npy::read(&place.file(name)).unwrap());
    assert!(w.data.iter().chain(&h.data).all(|v| *v >= 0.0));
    let fitted: f64 = (0..20).map(|j| w.data[2] * h.data[j] + w.data[3] * h.data[20 + j]).sum();
    assert!(fitted > 2.0, "{fitted}");
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    let shown = place.done(&format!("{run} --force")).stdout;
    assert!(shown.contains("topic") && shown.contains("NPMI") && shown.contains("Y ≈ WH"), "{shown}");
}

#[test]
fn what_would_not_fit_as_a_whole_is_factorised_all_the_same() {
    let place = Place::new();
    corpus(&place);
    let told = place.json("factorize large.mtx --rank 1 --iterations 3 --time-limit 60");
    assert_eq!(told["entries"].as_u64(), Some(90));
    assert!(told["relative_error"].as_f64().unwrap() <= 1.0);
}

#[test]
fn sparse_and_dense_are_the_same_problem() {
    let place = Place::new();
    corpus(&place);
    let mut rows = vec![vec!["0".to_string(); 20]; 40];
    for line in place.read("y.mtx").lines().skip(2) {
        let words: Vec<&str> = line.split(' ').collect();
        rows[words[0].parse::<usize>().unwrap() - 1][words[1].parse::<usize>().unwrap() - 1] = words[2].into();
    }
    place.write("y.csv", rows.iter().map(|row| row.join(",") + "\n").collect::<String>());
    let objective =
        |file: &str| place.json(&format!("factorize {file} --rank 2 --iterations 200"))["F"].as_f64().unwrap();
    let (sparse, dense) = (objective("y.mtx"), objective("y.csv"));
    assert!((sparse - dense).abs() <= 1e-6 * dense, "{sparse} {dense}");
}

#[test]
fn bad_names_and_scales_are_refused_with_what_to_do() {
    let place = Place::new();
    corpus(&place);
    place.refused(
        "factorize y.mtx --rank 2 --names-columns documents.txt",
        &["documents.txt", "40 names", "20 columns"],
    );
    place.refused("factorize y.mtx --rank 2 --names-rows nowhere.txt", &["nowhere.txt"]);
    place.write("minus.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 2\n1 1 -1\n2 2 3\n");
    place.refused("factorize minus.mtx --rank 1", &["--scale none"]);
    place.done("factorize minus.mtx --rank 1 --scale none --iterations 5");
}

/// A 300×200 matrix in `y.npy`.
fn rows(place: &Place) {
    let (rows, cols) = (300, 200);
    let data: Vec<f64> = (0..rows * cols).map(|at| ((at / cols * 7 + at % cols * 3) % 11) as f64 - 2.0).collect();
    let array = melmo_data::Array { shape: vec![rows, cols], data, kind: melmo_data::Kind::F64 };
    melmo_data::npy::write(&place.file("y.npy"), &array, false).unwrap();
}

#[test]
fn a_run_over_rows_on_disk_is_killed_and_goes_on() {
    let place = Place::new();
    rows(&place);
    let run = "factorize y.npy --rank 3 --iterations 3000 --tolerance 0 --memory 50.8MB -q";
    place.done(&format!("{run} -o whole.npy"));
    let kept = format!("{run} -o parts.npy --checkpoint run.ck --every 5ms");
    place.killed(&kept, "run.ck", Duration::ZERO);
    assert!(!place.file("parts.W.npy").exists(), "the run was to be killed before its end");
    place.done(&format!("{kept} --resume"));
    place.same_factors("whole", "parts");
}

#[test]
fn rows_on_disk_give_what_memory_gives() {
    let place = Place::new();
    rows(&place);
    let run = "factorize y.npy --rank 3 --iterations 40";
    let (inside, outside) = (place.json(run), place.json(&format!("{run} --memory 50.8MB -o f.npy --result r")));
    let at_a_time = outside["rows_at_a_time"].as_u64().unwrap();
    assert!(at_a_time < 100 && inside["rows_at_a_time"].is_null(), "{at_a_time}");
    for key in ["F", "relative_error"] {
        let [a, b] = [&inside, &outside].map(|told| told[key].as_f64().unwrap());
        assert!((a - b).abs() <= 1e-8 * a, "{key}: {a} {b}");
    }
    assert_eq!(outside["offset"].as_f64(), Some(-2.0));
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    place.refused(&format!("{run} --memory 1MB"), &["--memory", "1 MB", "one row", "50.6"]);
    place.refused(&format!("{run} --memory much"), &["--memory", "4GB"]);
}

#[test]
fn counts_by_their_divergence_and_yes_or_no() {
    let place = Place::new();
    corpus(&place);
    let told = place
        .json("factorize y.mtx --rank 2 --loss poisson --penalty l1:lambda=0.001 --ridge-h 0.001 --result r -o f.npy");
    assert_eq!(told["method"].as_str(), Some("majorised"));
    let (found, known) = (told["divergence"].as_f64().unwrap(), told["divergence_of_independence"].as_f64().unwrap());
    assert!(found < 0.5 * known, "{found} {known}");
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    let h = melmo_data::npy::read(&place.file("f.H.npy")).unwrap();
    assert!(h.data.iter().all(|v| *v >= 0.0));
    // Yes and no of rank 1, some unknown.
    let rows: Vec<String> = (0..12)
        .map(|i| {
            (0..10)
                .map(|j| {
                    if (i + j) % 5 == 0 {
                        ""
                    } else if (i % 2) == (j % 2) {
                        "1"
                    } else {
                        "0"
                    }
                })
                .collect::<Vec<_>>()
                .join(",")
        })
        .collect();
    place.write("yes.csv", rows.join("\n") + "\n");
    let told = place.json("factorize yes.csv --rank 1 --loss logistic --penalty l1:lambda=0.01");
    assert_eq!((told["told_right"].as_f64(), told["entries"].as_u64()), (Some(1.0), Some(96)));
    place.refused("factorize minus.mtx --rank 1 --loss poisson", &["minus.mtx"]);
    place.write("minus.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 2\n1 1 -1\n2 2 3\n");
    place.refused("factorize minus.mtx --rank 1 --loss poisson", &["least count", "-1"]);
}

#[test]
fn a_list_of_counts_names_its_topics() {
    let place = Place::new();
    corpus(&place);
    let words = ["sun", "rain", "wind", "goal", "team", "ball"];
    let mut list = String::from("document,word,count,when\n");
    for line in place.read("y.mtx").lines().skip(2) {
        let cells: Vec<usize> = line.split(' ').map(|cell| cell.parse().unwrap()).collect();
        list += &format!("d{},{},{},2020\n", cells[0], words[cells[1] - 1], cells[2]);
    }
    place.write("y.csv", &list);
    let told = place.json("factorize y.csv --list --rank 2 --loss poisson --top 3 -o f.npy --result r");
    assert_eq!((told["shape"][0].as_u64(), told["shape"][1].as_u64()), (Some(40), Some(6)));
    assert!(told["list"].as_str().unwrap().contains("ignored: when"), "{}", told["list"]);
    let mut first: Vec<&str> =
        told["topics"][0]["columns"].as_array().unwrap().iter().filter_map(|w| w.as_str()).collect();
    first.sort_unstable();
    assert!(first == ["ball", "goal", "team"] || first == ["rain", "sun", "wind"], "{first:?}");
    assert_eq!(place.read("f.columns.csv"), "ball\ngoal\nrain\nsun\nteam\nwind\n");
    assert_eq!(place.read("f.rows.csv").lines().count(), 40);
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    place.write("y.csv", list + "d1,sun,9,2021\nd1,rain,many,2021\n");
    place.refused("factorize y.csv --list --rank 2", &["line 93", "many"]);
    place.refused("factorize y.mtx --fields 1,2,3 --rank 2", &["--list"]);
}

#[test]
fn a_parquet_file_on_disk_is_read_by_its_groups_of_rows() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../melmo-data/tests/files/");
    let run = format!("factorize {folder}matrix.parquet --rank 2 --iterations 30");
    let (inside, outside) = (place.json(&run), place.json(&format!("{run} --memory 50.41MB --result r")));
    assert!(outside["rows_at_a_time"].as_u64().unwrap() > 0 && inside["rows_at_a_time"].is_null());
    let of = |told: &serde_json::Value| told["F"].as_f64().unwrap();
    assert!((of(&inside) - of(&outside)).abs() < 1e-9 * of(&inside), "{inside} {outside}");
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    place.refused(&format!("{run} --memory 50.4MB"), &["--memory", "one group of rows"]);
    let told = place.json(&format!("complete {folder}ratings.parquet --ratings --rank 1 --ridge 1 --offset-weight 1"));
    assert!(told["list"].as_str().unwrap().contains("ignored: timestamp"), "{}", told["list"]);
    assert_eq!(told["observed"].as_u64(), Some(3));
}
