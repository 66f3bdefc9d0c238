//! Checkpoints that are damaged, forged, old or from elsewhere.

use crate::support::Place;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"melmo checkpoint 3\n";
const RUN: &str = "recover y.csv --method melmo --iterations 100000 --tolerance 0 -q --checkpoint run.ck --every 1ms";

#[derive(Serialize, Deserialize)]
struct Job {
    command: String,
    options: Vec<(String, String)>,
}

/// The header as the program writes it.
#[derive(Serialize, Deserialize)]
struct Header {
    version: String,
    instructions: String,
    typed: Job,
    chosen: Vec<(String, String)>,
    precision: String,
    sources: Vec<(String, String)>,
    placed: Vec<(String, String)>,
}

/// A place with the checkpoint of a run that has ended.
fn finished(outputs: &str) -> Place {
    let place = Place::new();
    place.write("y.csv", "1,0,0,2\n0,5,3,0\n");
    place.done(&format!("{RUN} {outputs}"));
    place
}

/// Changes the header of the checkpoint, and its digest with it.
fn forge(place: &Place, change: impl FnOnce(&mut Header)) {
    let bytes = std::fs::read(place.file("run.ck")).unwrap();
    let body = &bytes.strip_prefix(MAGIC).unwrap()[32..];
    let (mut header, snapshot) = postcard::take_from_bytes::<Header>(body).unwrap();
    change(&mut header);
    let body = [postcard::to_extend(&header, Vec::new()).unwrap(), snapshot.to_vec()].concat();
    place.write("run.ck", [MAGIC, &Sha256::digest(&body), &body].concat());
}

#[test]
fn a_flipped_bit_anywhere_is_refused() {
    let place = finished("");
    let good = std::fs::read(place.file("run.ck")).unwrap();
    for at in (0..good.len()).step_by(good.len() / 40) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        place.write("run.ck", &bad);
        place.refused(&format!("{RUN} --resume"), &["run.ck", "checkpoint"]);
    }
    for end in [0, 5, MAGIC.len(), MAGIC.len() + 31, good.len() - 1] {
        place.write("run.ck", &good[..end]);
        place.refused(&format!("{RUN} --resume"), &["run.ck"]);
    }
    place.write("run.ck", &good);
    place.done(&format!("{RUN} --resume"));
}

#[test]
fn other_versions_are_refused_and_other_instructions_said() {
    let place = finished("");
    forge(&place, |header| header.instructions = "another machine's".into());
    let ran = place.done(&format!("{RUN} --resume --json"));
    assert!(ran.stderr.contains("up to rounding, not bit for bit"), "{}", ran.stderr);
    assert!(ran.stdout.contains("another machine's instructions"), "{}", ran.stdout);
    forge(&place, |header| header.version = "0.0.1".into());
    place.refused(&format!("{RUN} --resume"), &["run.ck", "melmo 0.0.1", "without --resume"]);
    // Those of older formats: states without names.
    for version in [1, 2] {
        place.write("run.ck", format!("melmo checkpoint {version}\n and what followed"));
        place.refused(&format!("{RUN} --resume"), &["run.ck", "another version", "without --resume"]);
    }
}

#[test]
fn a_checkpoint_chooses_neither_files_nor_force() {
    let place = finished("");
    place.write("precious.npy", "precious");
    for option in
        [("output", "precious.npy"), ("force", "true"), ("trace", "t.csv"), ("result", "r"), ("input", "z.csv")]
    {
        forge(&place, |header| header.chosen = vec![(option.0.into(), option.1.into())]);
        place.refused(&format!("{RUN} --resume"), &["run.ck", option.0]);
    }
    assert_eq!(place.read("precious.npy"), "precious");
    // What it claims to have written itself has to be what it claims.
    forge(&place, |header| {
        header.chosen.clear();
        header.placed = vec![("precious.npy".into(), "0".repeat(64))];
    });
    place.refused(&format!("{RUN} --resume -o precious.npy"), &["precious.npy", "--force"]);
    assert_eq!(place.read("precious.npy"), "precious");
}

#[test]
fn a_run_killed_between_its_outputs_is_resumed() {
    let place = Place::new();
    let run = "factorize miserables --rank 3 --method melmo --iterations 5000 -o f.npy --result r -q --checkpoint run.ck --every 1ms";
    place.done(run);
    let bytes = |name: &str| std::fs::read(place.file(name)).unwrap();
    let (w, h) = (bytes("f.W.npy"), bytes("f.H.npy"));
    // As if it had been killed after the first.
    std::fs::remove_file(place.file("f.H.npy")).unwrap();
    place.done(&format!("{run} --resume"));
    assert_eq!((bytes("f.W.npy"), bytes("f.H.npy")), (w, h));
    // Somebody else's file is not its own.
    place.write("f.W.npy", "precious");
    place.refused(&format!("{run} --resume"), &["f.W.npy", "--force"]);
    assert_eq!(place.read("f.W.npy"), "precious");
}
