//! `melmo check`: the terms of a problem, as its own command would build it.

use crate::support::Place;

#[test]
fn the_terms_of_every_task_are_what_they_say() {
    let place = Place::new();
    place.write("table.csv", "a,b,c,y\n1,2,0,1\n0,1,3,2\n2,1,1,0.5\n-1,0,2,3\n0.5,1,1,1\n3,2,2,1\n");
    for problem in [
        "recover miserables",
        "factorize miserables --rank 3 --precision f32",
        "rpca miserables",
        "denoise camera --add-noise 0.05 --noise 0.05 --precision f32 --prior differences",
        // A network is made of pieces: two steps of a difference agreed by chance, and not with the slope.
        "denoise camera",
        "regress table.csv y --penalty mcp --lambda 0.1",
    ] {
        let told = place.json(&format!("check {problem}"));
        let laws = told["laws"].as_array().unwrap();
        assert_eq!(told["passed"], true, "{problem}: {told:#}");
        for term in ["f", "g", "T"] {
            let tried = laws.iter().any(|law| law["term"] == term && law["tests"].as_u64().unwrap() > 0);
            assert!(tried, "{problem}: {term} was not tried");
        }
    }
    assert_eq!(place.names(), ["table.csv"]);
}

#[test]
fn for_people() {
    let place = Place::new();
    let told = place.done("check recover miserables").stdout;
    assert!(told.contains("holds  g prox: ") && told.ends_with("Every law holds.\n"), "{told}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    place.refused("check recover miserables --method melmo", &["--method", "solves nothing"]);
    place.refused("check recover miserables -o x.npy", &["--output", "solves nothing"]);
    place.refused("check recover nowhere.npy", &["nowhere.npy"]);
    place.refused("check", &["Usage"]);
}
