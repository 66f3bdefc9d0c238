//! Bits flipped, bytes cut off, pieces moved.

use crate::place::Place;
use crate::run::{Run, below};

const RUN: &str = "recover y.csv --method melmo --tolerance 0 --iterations 20000 -q --checkpoint run.ck --every 1ms";

pub fn campaign(run: &mut Run) {
    let place = Place::new();
    place.write("y.csv", "1,0,0,2\n0,5,3,0\n");
    let begun = place.expect(RUN, 0).map(|_| place.read("run.ck"));
    run.until_the_end(|number, seeded| {
        let whole = begun.clone()?;
        if number == 0 {
            // What is not damaged is resumed.
            return place.expect(&format!("{RUN} --resume"), 0).map(|_| place.write("run.ck", &whole));
        }
        let mut bytes = whole.clone();
        let at = below(seeded, bytes.len());
        match below(seeded, 4) {
            0 => bytes.truncate(at),
            1 => bytes.extend_from_slice(&whole[at..]),
            2 => bytes.rotate_left(1 + at % (whole.len() - 1)),
            _ => (0..=below(seeded, 3)).for_each(|_| bytes[below(seeded, whole.len())] ^= 1 << below(seeded, 8)),
        }
        if bytes == whole {
            return Ok(());
        }
        place.write("run.ck", &bytes);
        place.expect(&format!("{RUN} --resume"), 2).map(drop)
    });
}
