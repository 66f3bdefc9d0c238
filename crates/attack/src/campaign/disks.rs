//! Disks that fill up while a run writes: what was there stays whole, no half file is left.

use std::process::{Command, Output};

use crate::place::{Place, ended, program};
use crate::run::{Run, below, one_of};

const RUNS: [&str; 4] = [
    "recover miserables --iterations 5 -q -o x.npy --force",
    "factorize miserables --rank 3 --iterations 5 -q -o x.npy --force",
    "recover miserables --iterations 50 -q -o x.npy --force --report r.html --trace t.csv",
    "recover miserables --iterations 50 -q --result r --checkpoint c.ck --every 1ms",
];

/// Files may grow to so many kilobytes and no further.
const FILES: &str = "trap '' XFSZ; ulimit -f $KILOBYTES; cd seen; exec \"$0\" \"$@\"";
/// A disk of its own, of so many kilobytes, that only this process sees; what is on it at the end is copied.
const DISK: &str = "mkdir small; mount -t tmpfs -o size=${KILOBYTES}k tmpfs small || exit 99; cp seen/* small; \
    cd small; \"$0\" \"$@\"; code=$?; cd ..; rm seen/*; cp -r small/. seen; exit $code";
/// Status of a machine on which that cannot be done.
const NO_DISK: i32 = 99;

const OLD: [&str; 3] = ["x.npy", "x.W.npy", "x.H.npy"];

pub fn campaign(run: &mut Run) {
    run.until_the_end(|number, seeded| {
        let (place, arguments) = (Place::new(), *one_of(seeded, &RUNS));
        let kilobytes = 16 + below(seeded, 120);
        std::fs::create_dir(place.file("seen")).map_err(|error| error.to_string())?;
        for name in OLD {
            place.write(&format!("seen/{name}"), "precious");
        }
        let (wrapper, script) = if number % 2 == 0 { ("bash", FILES) } else { ("unshare", DISK) };
        let mut command = Command::new(wrapper);
        if wrapper == "unshare" {
            command.args(["--map-root-user", "--mount", "bash"]);
        }
        command.current_dir(place.path()).env("KILOBYTES", kilobytes.to_string());
        command.args(["-c", script]).arg(program()).args(arguments.split_whitespace());
        let output = ended(command, arguments)?;
        look(&place, &output).map_err(|wrong| format!("{arguments} with {kilobytes} kB ({wrapper}): {wrong}"))
    });
}

fn look(place: &Place, output: &Output) -> Result<(), String> {
    match output.status.code() {
        Some(NO_DISK | 1) if output.stderr.starts_with(b"unshare") || output.stderr.starts_with(b"mount") => {
            return Ok(());
        }
        Some(0..=2) => {}
        code => return Err(format!("status {code:?}: {}", crate::place::heard(output))),
    }
    let seen = std::fs::read_dir(place.file("seen")).map_err(|error| error.to_string())?;
    let names: Vec<String> = seen.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    if let Some(part) = names.iter().find(|name| name.ends_with(".part")) {
        return Err(format!("left {part} behind"));
    }
    let whole = |name: &str| {
        let bytes = place.read(&format!("seen/{name}"));
        bytes == b"precious" || melmo_data::npy::parse(&bytes).is_ok()
    };
    let broken = OLD.into_iter().find(|name| !whole(name));
    broken.map_or(Ok(()), |name| {
        Err(format!("{name} is neither the old one nor the new: {}", crate::place::heard(output)))
    })
}
