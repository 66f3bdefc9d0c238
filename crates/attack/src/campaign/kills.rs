//! Killed at any moment, resumed, killed again.

use std::time::Duration;

use crate::place::Place;
use crate::run::{Run, below};

const RUN: &str = "factorize miserables --rank 4 --method melmo --iterations 6000 --seed 3 -q";
const KEPT: &str = "-o f.npy --trace t.csv --trace-every 50 --checkpoint run.ck --every 2ms";

/// What somebody types who finds the run killed: to resume it, or where no checkpoint was written yet to begin anew.
fn again(place: &Place) -> String {
    let flag = if place.file("run.ck").exists() { "--resume" } else { "--force" };
    format!("{RUN} {KEPT} {flag}")
}

pub fn campaign(run: &mut Run) {
    let whole = Place::new();
    let wanted = whole.expect(&format!("{RUN} -o f.npy"), 0).map(|_| [whole.read("f.W.npy"), whole.read("f.H.npy")]);
    run.until_the_end(|_, seeded| {
        let (wanted, place) = (wanted.clone()?, Place::new());
        for attempt in 0..12 {
            let mut child = place.program(&again(&place)).spawn().map_err(|error| error.to_string())?;
            // Later and later, so that it ends; and is resumed once more, to end where it ended.
            std::thread::sleep(Duration::from_millis(below(seeded, 30 + 20 * attempt) as u64));
            let _ = child.kill();
            let status = child.wait().map_err(|error| error.to_string())?;
            if status.code().is_some_and(|code| code != 0) {
                return Err(format!("ended with {status} after {attempt} kills"));
            }
        }
        place.expect(&again(&place), 0)?;
        if [place.read("f.W.npy"), place.read("f.H.npy")] != wanted {
            return Err("the resumed run ended with other bits".into());
        }
        match place.names() == ["f.H.npy", "f.W.npy", "run.ck", "t.csv"]
            || place.names() == ["f.H.npy", "f.W.npy", "t.csv"]
        {
            true => Ok(()),
            false => Err(format!("left behind: {:?}", place.names())),
        }
    });
}
