//! Disks that fill up: files may grow to so many kilobytes and no further.

use std::process::Command;

use crate::place::{Place, ended, program};
use crate::run::{Run, below, one_of};

const RUNS: [&str; 4] = [
    "recover miserables --iterations 5 -q -o x.npy --force",
    "factorize miserables --rank 3 --iterations 5 -q -o x.npy --force",
    "recover miserables --iterations 50 -q -o x.npy --force --report r.html --trace t.csv",
    "recover miserables --iterations 50 -q --result r --checkpoint c.ck --every 1ms",
];

pub fn campaign(run: &mut Run) {
    run.until_the_end(|_, seeded| {
        let place = Place::new();
        for name in ["x.npy", "x.W.npy", "x.H.npy"] {
            place.write(name, "precious");
        }
        let arguments = *one_of(seeded, &RUNS);
        let mut command = Command::new("bash");
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", below(seeded, 60));
        command.current_dir(place.path()).args(["-c", &script]).arg(program()).args(arguments.split_whitespace());
        let output = ended(command, arguments)?;
        let names = place.names();
        if let Some(part) = names.iter().find(|name| name.ends_with(".part")) {
            return Err(format!("{arguments}: left {part} behind"));
        }
        let whole = |name: &str| matches!(&place.read(name)[..], b"precious" | [0x93, b'N', b'U', b'M', ..]);
        if !["x.npy", "x.W.npy", "x.H.npy"].into_iter().all(whole) {
            return Err(format!("{arguments}: a file is neither the old one nor the new"));
        }
        match output.status.code() {
            Some(0..=2) => Ok(()),
            code => Err(format!("{arguments}: status {code:?}")),
        }
    });
}
