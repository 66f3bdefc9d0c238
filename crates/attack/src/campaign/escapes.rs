//! Names made of what a terminal obeys.

use melmo::seeded::Seeded;

use crate::place::{Place, heard};
use crate::run::{Run, below, one_of};

const PIECES: [&str; 12] = [
    "\u{1b}[2J",
    "\u{1b}]0;t\u{7}",
    "\u{9b}31m",
    "\r",
    "\u{8}",
    "\u{7f}",
    "\u{202e}",
    "\u{0}",
    "\u{85}",
    "a",
    "é",
    "\n",
];

fn name(seeded: &mut Seeded, most: usize) -> String {
    (0..1 + below(seeded, most)).map(|_| *one_of(seeded, &PIECES)).collect()
}

pub fn campaign(run: &mut Run) {
    run.until_the_end(|_, seeded| {
        let (place, long) = (Place::new(), if below(seeded, 8) == 0 { 9_000 } else { 12 });
        let columns = [name(seeded, long), name(seeded, 9)].map(|name| name.replace(['\n', '\r'], ";"));
        place.write(
            "t.csv",
            format!("\"a{}\",\"b{}\",y\n1,2,3\n2,1,4\n3,5,9\n4,4,8\n5,1,7\n6,9,30\n", columns[0], columns[1]),
        );
        let target = name(seeded, long).replace('\0', "0");
        let mut command = place.program("regress t.csv");
        match below(seeded, 4) {
            0 => command.args(["y"]),
            1 => command.args([&target]),
            2 => command.args(["y", "--penalty", &target]),
            _ => command.args(["y", &target]),
        };
        let output = crate::place::ended(command, "regress")?;
        let told = heard(&output);
        let obeyed = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        match told.chars().find(|&c| obeyed(c)) {
            Some(c) => Err(format!("{c:?} was printed")),
            None if told.len() > 20_000 => Err(format!("{} bytes were printed", told.len())),
            None => Ok(()),
        }
    });
}
