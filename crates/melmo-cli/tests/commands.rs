//! Every command on real files.

use crate::support::Place;

#[test]
fn recover_says_how_far_it_is_from_the_optimum() {
    let place = Place::new();
    place.write("y.csv", "1,0,,2\n0,,3,0\n");
    let told = place.json("recover y.csv --iterations 3000 -o x.csv");
    assert_eq!((told["observed"].as_u64(), told["status"].as_str()), (Some(6), Some("settled")));
    let excess = told["excess"].as_f64().unwrap();
    assert!((-1e-9..1e-3).contains(&excess), "{excess}");
    assert_eq!(place.read("x.csv").lines().count(), 2);
    place.refused("recover y.csv --method melmo --set gama=1", &["parameter of melmo", "did you mean `gamma`?"]);
    place.refused("recover y.csv --method melmo --set gamma=much", &["`gamma`: found `much`", "a number"]);
    place.write("Sheet.XLSX", "PK");
    place.refused("recover Sheet.XLSX", &["no format has this extension", "try: saving the sheet as .csv"]);
}

#[test]
fn factorize_writes_both_factors() {
    let place = Place::new();
    let told = place.json("factorize miserables --rank 3 --iterations 200 -o f.npy");
    assert_eq!(place.names(), ["f.H.npy", "f.W.npy"]);
    let (f, infimum) = (told["F"].as_f64().unwrap(), told["infimum"].as_f64().unwrap());
    assert!(infimum > 0.0 && f > infimum);
    let w = melmo_data::npy::read(&place.file("f.W.npy")).unwrap();
    let zeros = w.data.iter().filter(|w| **w == 0.0).count() as f64 / w.data.len() as f64;
    assert_eq!((w.shape, Some(zeros)), (vec![77, 3], told["sparsity"].as_f64()));
    // Other formats, missing entries, single precision.
    place.write("y.csv", "a,b,c\n1,2,\n2,,6\n3,6,9\n");
    let told = place.json("factorize y.csv --rank 1 --iterations 100 --precision f32 -o g.csv");
    assert_eq!(told["infimum"], serde_json::Value::Null);
    assert_eq!(place.read("g.W.csv").lines().count(), 3);
}

#[test]
fn the_paper_s_objective_is_said_to_be_degenerate() {
    let place = Place::new();
    let ran = place.done("factorize miserables --rank 2 --iterations 5 --ridge-h 0");
    assert!(ran.stdout.contains("no minimiser"), "{}", ran.stdout);
}

#[test]
fn a_certificate_that_was_asked_for_decides_the_status() {
    let place = Place::new();
    let reached = place.melmo("recover miserables --epsilon 0.2 --method epoch-constant -q --result r");
    assert_eq!(reached.code, 0, "{}", reached.stderr);
    let not_reached = place.melmo("recover miserables --epsilon 1e-12 --iterations 10 -q");
    assert_eq!((not_reached.code, not_reached.stdout.as_str()), (1, ""));
    let told = place.done("verify r").stdout;
    assert!(told.contains("The certificate is what it says."), "{told}");
}

#[test]
fn a_result_that_was_tampered_with_does_not_verify() {
    let place = Place::new();
    place.write("y.csv", "1,0,0,2\n0,5,3,0\n");
    place.done("recover y.csv --iterations 300 --result r");
    place.done("verify r");
    let json = place.read("r/result.json");
    let mut better: serde_json::Value = serde_json::from_str(&json).unwrap();
    better["certificate"]["prox_gap"] = 0.125.into();
    place.write("r/result.json", better.to_string());
    let ran = place.melmo("verify r");
    assert!(ran.code == 1 && ran.stdout.contains("FAILS"), "{}{}", ran.stdout, ran.stderr);
    place.write("r/result.json", json);
    place.write("y.csv", "1,0,0,2\n0,5,3,1\n");
    place.refused("verify r", &["y.csv", "not the file that the result was computed from"]);
}

#[test]
fn the_same_job_from_a_file() {
    let place = Place::new();
    place.done("recover miserables --penalty mcp:lam=1/20,mu=3 --iterations 50 --gamma 3/2 --method melmo --save-config job.toml -q --trace a.csv --force");
    let job = place.read("job.toml");
    assert!(job.contains("command = \"recover\"") && job.contains("gamma = \"3/2\""), "{job}");
    assert!(!job.contains("force") && !job.contains("quiet"), "meant for one run alone: {job}");
    place.done("recover --config job.toml --trace b.csv --save-config again.toml -q --force");
    assert_eq!(place.rows("a.csv"), place.rows("b.csv"));
    // What is typed comes before what the file says.
    place.done("recover --config job.toml --trace c.csv --iterations 7 -q --force");
    assert_eq!(place.rows("c.csv")[..], place.rows("a.csv")[..8]);
    place.write("job.toml", "command = \"recover\"\ninput = \"miserables\"\nitertions = 5\n");
    place.refused("recover --config job.toml", &["job.toml", "itertions", "iterations"]);
    place.write("job.toml", "command = \"factorize\"\n");
    place.refused("recover --config job.toml", &["melmo factorize"]);
}

#[test]
fn traces_as_csv_and_as_json_lines() {
    let place = Place::new();
    place.done("recover miserables --iterations 10 --trace t.jsonl --trace-every 4 -q");
    let text = place.read("t.jsonl");
    let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let k: Vec<u64> = rows.iter().map(|row| row["k"].as_u64().unwrap()).collect();
    assert_eq!(k, [1, 5, 9, 10], "every fourth, and the last");
    assert!(rows.iter().all(|row| row["F"].is_f64() && row["epoch"].is_null()));
}

/// With a GPU or without one: where it runs is named, and what is not there is a sentence.
#[test]
fn devices_are_named() {
    let place = Place::new();
    assert!(place.done("list devices").stdout.contains("this machine's processor"));
    let told = place.json("recover miserables --iterations 3 --method scaled --device auto");
    assert!(told["device"].as_str().unwrap().starts_with("cpu: "), "{told}");
    assert!(place.json("recover miserables --iterations 3 --device cpu").get("device").is_none());
    place.refused("recover miserables --device cuda:4711", &["device cpu needs none"]);
    place.refused("recover miserables --device tpu", &["cpu, cuda, cuda:N or auto"]);
    // What has no kernels is told before a GPU is looked for.
    let learned = "denoise camera --prior learned --device cuda:4711";
    place.refused(learned, &["no kernels", "--prior differences"]);
}

#[test]
fn lists_explains_and_completes() {
    let place = Place::new();
    let list = place.done("list").stdout;
    for name in ["mcp", "spectral", "epoch-constant", "least-squares", "football", "newton-schulz:6"] {
        assert!(list.contains(name), "{name}");
    }
    let json: serde_json::Value = serde_json::from_str(&place.done("list penalties --json").stdout).unwrap();
    assert!(json["penalties"].as_array().unwrap().iter().any(|row| row["name"] == "scad"));
    let explained = place.done("explain --problem recover --method epoch-constant").stdout;
    assert!(explained.contains("both bounds apply"), "{explained}");
    let explained = place.done("explain --problem factorize").stdout;
    assert!(explained.contains("does not apply"), "{explained}");
    // min(m, n)·L_f in the spectral norm.
    let explained = place.done("explain --geometry spectral --rows 30 --cols 20").stdout;
    assert!(explained.contains("L_f: 20.0000") && explained.contains("‖T‖² ≤ 160.0000"), "{explained}");
    for method in ["variable-smoothing", "scaled", "metric"] {
        let explained = place.done(&format!("explain --rows 30 --cols 20 --method {method}")).stdout;
        assert!(explained.contains("\n  proven\n") && explained.contains("steps"), "{explained}");
    }
    for (method, verdict) in [("tilted", "proven up to"), ("auto", "proven up to"), ("admm", "no proof")] {
        let explained = place.done(&format!("explain --rows 30 --cols 20 --method {method}")).stdout;
        assert!(explained.contains(verdict), "{explained}");
    }
    for method in ["fista", "admm", "admm-graduated", "primal-dual", "dca", "proximal-gradient", "palm"] {
        let problem = match method {
            "fista" | "proximal-gradient" => "regress",
            "palm" => "factorize",
            _ => "denoise",
        };
        let told = place.done(&format!(
            "explain --problem {problem} --method {method} --penalty l1:lambda=0.5 --rows 30 --cols 20"
        ));
        assert!(told.stdout.contains("N(ε) = "), "{}", told.stdout);
        assert!(told.stdout.contains("so an ε-certificate"), "{}", told.stdout);
    }
    let indicator = place.done("explain --method scaled --penalty nonnegative --rows 30 --cols 20").stdout;
    assert!(indicator.contains("proven up to: g is Lipschitz"), "{indicator}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.done(&format!("completions {shell}")).stdout;
        assert!(script.contains("factorize"));
        // Shells that complete values have the names of what may also be written with parameters.
        if ["bash", "zsh", "fish"].contains(&shell) {
            let names = ["coordinate-descent", "log-sum", "spectral", "newton-schulz", "learned", "cuda"];
            names.iter().for_each(|name| assert!(script.contains(name), "{shell}: {name}"));
        }
    }
    place.done("manual pages/man1");
    assert!(place.read("pages/man1/melmo-denoise.1").contains("Remove noise from an image"));
    assert!(place.file("pages/man1/melmo.1").exists() && place.file("pages/man1/melmo-manual.1").exists());
}

/// What a page of help says of each option that takes a value and belongs to how something is solved.
fn solving_options(help: &str) -> Vec<String> {
    let section =
        help.split("\nSolving:\n").nth(1).and_then(|rest| rest.split("\nStopping:\n").next()).unwrap_or_default();
    let options = section.split("\n      --").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    options.filter(|text| text.contains('<')).collect()
}

#[test]
fn help_says_what_is_taken_when_an_option_is_left_out() {
    let place = Place::new();
    let told = solving_options(&place.done("denoise --help").stdout);
    assert!(told.len() > 12, "{told:?}");
    for text in told.iter().filter(|text| !text.starts_with("set ")) {
        assert!(text.contains("unless given") || text.contains("[default: "), "{text}");
    }
}

#[test]
fn help_pages_are_at_most_100_columns_wide() {
    let place = Place::new();
    let first = place.done("--help").stdout;
    let commands = first.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in commands.map(|line| line.split_whitespace().next().unwrap()).filter(|name| *name != "help") {
        let help = place.done(&format!("{command} --help")).stdout;
        assert!(help.contains("Usage: melmo"), "{command}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command}");
    }
}
