//! Several at once, for one place.

use crate::place::Place;
use crate::run::{Run, below};

pub fn campaign(run: &mut Run) {
    run.until_the_end(|_, seeded| {
        let (place, force) = (Place::new(), below(seeded, 2) == 1);
        let flag = if force { "--force" } else { "" };
        let arguments = format!("recover miserables --iterations 5 -q -o x.npy --result r {flag}");
        let started: Result<Vec<_>, _> = (0..2 + below(seeded, 3))
            .map(|_| place.program(&arguments).stderr(std::process::Stdio::piped()).spawn())
            .collect();
        let mut won = 0;
        for child in started.map_err(|error| error.to_string())? {
            let output = child.wait_with_output().map_err(|error| error.to_string())?;
            match output.status.code() {
                Some(0) => won += 1,
                Some(2) => {}
                code => return Err(format!("status {code:?}: {}", crate::place::heard(&output))),
            }
        }
        if won == 0 || (won > 1 && !force) || place.names() != ["r", "x.npy"] {
            return Err(format!("{won} won, force {force}: {:?}", place.names()));
        }
        melmo_data::npy::read(&place.file("x.npy")).map(drop).map_err(|error| error.to_string())
    });
}
