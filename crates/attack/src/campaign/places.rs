//! Folders that cannot be written to, links that were planted, things that are in the way.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use melmo::seeded::Seeded;

use crate::place::{Place, ended, heard, program};
use crate::run::{Run, below, one_of};

/// Runs with every kind of output.
const RUNS: [&str; 5] = [
    "recover miserables --iterations 5 -q -o out/x.npy",
    "recover miserables --iterations 5 -q -o out/x.npy --trace out/t.csv --report out/r.html",
    "recover miserables --iterations 5 -q --result out/x.npy",
    "recover miserables --iterations 50 -q -o out/x.npy --checkpoint out/c.ck --every 1ms",
    "factorize miserables --rank 2 --iterations 5 -q -o out/x.npy --save-config out/t.csv",
];
/// The names that they write, and some that they might.
const NAMES: [&str; 8] =
    ["x.npy", "x.W.npy", "x.H.npy", "t.csv", "r.html", "c.ck", ".x.npy.1-0.part", "x.npy/result.json"];
/// Somebody who is not root: root may write anywhere.
const NOBODY: u32 = 65534;

pub fn campaign(run: &mut Run) {
    run.until_the_end(|_, seeded| {
        let place = Place::new();
        for folder in ["out", "kept"] {
            fs::create_dir(place.file(folder)).map_err(|error| error.to_string())?;
        }
        place.write("kept/precious", "precious");
        for _ in 0..1 + below(seeded, 3) {
            plant(&place, seeded);
        }
        let barred = below(seeded, 3) == 0;
        let (before, kept) = (listed(&place, "out"), listed(&place, "kept"));
        let force = if below(seeded, 2) == 0 { " --force" } else { "" };
        let arguments = format!("{}{force}", one_of(seeded, &RUNS));
        let output = if barred { as_nobody(&place, &arguments)? } else { place.run(&arguments)? };
        let told = heard(&output);
        if place.read("kept/precious") != b"precious" || listed(&place, "kept") != kept {
            return Err(format!("{arguments}: followed a link: {before:?}, {told}"));
        }
        let after = listed(&place, "out");
        match output.status.code() {
            Some(0) if barred => Err(format!("{arguments}: wrote to a folder that cannot be written to")),
            Some(0) => Ok(()),
            // Refused: nothing is added, nothing is gone.
            Some(2) if after != before => {
                Err(format!("{arguments}: refused, and left {after:?} of {before:?}: {told}"))
            }
            Some(2) if told.trim().is_empty() => Err(format!("{arguments}: refused without a word")),
            Some(2) => Ok(()),
            code => Err(format!("{arguments}: status {code:?}: {told}")),
        }
    });
}

/// Something in the way: a file, a link to what is precious or to nowhere, a folder with something in it.
fn plant(place: &Place, seeded: &mut Seeded) {
    let name = format!("out/{}", one_of(seeded, &NAMES));
    let target = one_of(seeded, &["../kept/precious", "../kept", "nowhere", "/dev/full", "../kept/new", "x.npy"]);
    let at = place.file(&name);
    // What is there already stays.
    let _ = match below(seeded, 4) {
        0 => fs::create_dir(&at).and_then(|()| fs::write(at.join("precious"), "precious")),
        1 if at.symlink_metadata().is_err() => fs::write(&at, "old"),
        _ => symlink(target, &at),
    };
}

/// The names in a folder, links as such.
fn listed(place: &Place, folder: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(place.file(folder))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != ".x.npy.1-0.part") // what a killed run seems to have left may be swept
        .collect();
    names.sort();
    names
}

/// Runs it in a folder that can be read only.
fn as_nobody(place: &Place, arguments: &str) -> Result<std::process::Output, String> {
    let bar = |mode: u32| fs::set_permissions(place.file("out"), Permissions::from_mode(mode));
    let error = |error: std::io::Error| error.to_string();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).map_err(error)?;
    bar(0o555).map_err(error)?;
    let is_root = fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0);
    let mut command = Command::new(if is_root { "setpriv".into() } else { program() });
    if is_root {
        let id = NOBODY.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(program());
    }
    command.current_dir(place.path()).args(arguments.split_whitespace());
    let output = ended(command, arguments);
    bar(0o755).map_err(error)?;
    output
}
