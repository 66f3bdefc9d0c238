//! Where outputs go: links that were planted, permissions, leftovers, folders with other things in them, full disks.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

use crate::support::Place;

const RUN: &str = "recover miserables --iterations 5 -q -o x.npy";

/// The program on a full device: standard output, standard error, or both.
fn on_full(place: &Place, arguments: &str, streams: [bool; 2]) -> i32 {
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let mut command = place.command(arguments);
    command.stdout(if streams[0] { full() } else { Stdio::null() });
    command.stderr(if streams[1] { full() } else { Stdio::null() });
    command.status().unwrap().code().unwrap()
}

#[test]
fn the_probe_follows_no_link() {
    let place = Place::new();
    place.write("precious", "precious");
    // Process numbers that may come, under every name that the probe ever had.
    let mut next = std::process::id();
    for _ in 0..2000 {
        next += 1;
        for name in [format!(".melmo-{next}.part"), format!(".x.npy.{next}-0.part"), format!(".x.npy.{next}-1.part")] {
            symlink("precious", place.file(&name)).unwrap();
        }
    }
    place.done(RUN);
    assert_eq!(place.read("precious"), "precious");
}

#[test]
fn permissions_stay_when_a_file_is_overwritten() {
    let place = Place::new();
    place.write("x.npy", "old");
    fs::set_permissions(place.file("x.npy"), fs::Permissions::from_mode(0o600)).unwrap();
    place.done(&format!("{RUN} --force"));
    assert_eq!(fs::metadata(place.file("x.npy")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read(place.file("x.npy")).unwrap().starts_with(b"\x93NUMPY"));
    // A link is replaced, not what it leads to.
    place.write("precious", "precious");
    fs::remove_file(place.file("x.npy")).unwrap();
    symlink("precious", place.file("x.npy")).unwrap();
    place.done(&format!("{RUN} --force"));
    assert_eq!(place.read("precious"), "precious");
}

#[test]
fn what_a_killed_run_left_is_swept_and_nothing_else() {
    let place = Place::new();
    for name in [".x.npy.123-0.part", ".x.npy.mine.part", ".x.npy.1-2.part.keep", ".other.npy.123-0.part"] {
        place.write(name, "half");
    }
    let held = fs::File::create(place.file(".x.npy.77-3.part")).unwrap();
    held.lock().unwrap();
    place.done(RUN);
    let left = [".other.npy.123-0.part", ".x.npy.1-2.part.keep", ".x.npy.77-3.part", ".x.npy.mine.part", "x.npy"];
    assert_eq!(place.names(), left);
}

#[test]
fn only_frames_that_are_written_again_are_replaced() {
    let place = Place::new();
    let data: Vec<f64> = (0..3 * 4 * 5).map(|i| f64::from(i % 7) / 7.0).collect();
    let stack = melmo_data::Array::new(vec![3, 4, 5], data).unwrap();
    melmo_data::npy::write(&place.file("y.npy"), &stack, false).unwrap();
    let run = "rpca y.npy --images apart --iterations 5 -q";
    place.done(run);
    place.done(&format!("{run} --force"));
    for name in ["background-of-my-thesis.txt", "background-0004.png", "foreground-"] {
        place.write(&format!("apart/{name}"), "precious");
        place.refused(&format!("{run} --force"), &["apart", name]);
        assert_eq!(place.read(&format!("apart/{name}")), "precious");
        fs::remove_file(place.file(&format!("apart/{name}"))).unwrap();
    }
    fs::rename(place.file("apart"), place.file("real")).unwrap();
    symlink("real", place.file("apart")).unwrap();
    place.refused(&format!("{run} --force"), &["apart"]);
    assert!(place.file("real/background-0001.png").exists());
}

#[test]
fn a_folder_that_looks_like_a_result_is_none() {
    let place = Place::new();
    fs::create_dir(place.file("r")).unwrap();
    place.write("r/x.npy", "precious");
    place.refused("recover miserables --iterations 5 --result r --force", &["r", "other files"]);
    assert_eq!(place.read("r/x.npy"), "precious");
}

#[test]
fn a_full_standard_error_loses_no_run() {
    let place = Place::new();
    let run = "compare recover miserables --methods melmo,subgradient --iterations 50 --trace t.csv";
    assert_eq!(on_full(&place, run, [false, true]), 0);
    assert!(place.file("t.csv").exists());
    assert_eq!(on_full(&place, "recover nowhere.csv", [false, true]), 2);
}

#[test]
fn a_full_standard_output_is_an_error() {
    let place = Place::new();
    for arguments in
        ["list", "--help", "explain --problem recover", "completions bash", "recover miserables --iterations 5 --json"]
    {
        assert_eq!(on_full(&place, arguments, [true, false]), 2, "{arguments}");
    }
    let run = "recover miserables --iterations 5 -o x.npy --result r";
    assert_eq!(on_full(&place, run, [true, true]), 2);
    assert_eq!(place.names(), ["r", "x.npy"], "files are in place whoever reads the summary");
    assert_eq!(on_full(&place, "verify r", [true, false]), 2);
}

#[test]
fn escape_sequences_of_names_do_not_reach_the_terminal() {
    let place = Place::new();
    let name = "\u{1b}]0;owned\u{7}\u{9b}2J";
    place.write("t.csv", format!("a{name},b,y\n1,2,3\n2,1,4\n3,5,9\n4,4,8\n5,1,7\n6,9,30\n"));
    let long: Vec<String> = (0..20_000).map(|i| format!("{name}{i}")).collect();
    place.write("long.csv", format!("{}\n{}\n", long.join(","), vec!["1"; 20_000].join(",")));
    place.write(&format!("{name}.csv"), "1,2\n3\n");
    let mut told = String::new();
    for arguments in [
        &["regress", "t.csv", "y"][..],
        &["regress", "t.csv", name],
        &["regress", "long.csv", "y"],
        &["recover", &format!("{name}.csv")],
        &["recover", "t.csv", name],
        &["recover", "t.csv", "--penalty", name],
    ] {
        let output = place.command("").args(arguments).output().unwrap();
        let heard = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(heard.len() < 20_000, "{} bytes", heard.len());
        told += &heard;
    }
    assert!(told.contains("owned"), "{told}");
    assert!(!told.contains('\u{1b}') && !told.contains('\u{7}') && !told.contains('\u{9b}'), "{told:?}");
}

#[test]
fn a_pipe_that_never_speaks_can_be_left() {
    let place = Place::new();
    assert!(std::process::Command::new("mkfifo").arg(place.file("y.csv")).status().unwrap().success());
    let begun = std::time::Instant::now();
    place.refused("recover y.csv --time-limit 300ms", &["y.csv", "time was up"]);
    let child = place.command("recover y.csv").stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(begun.elapsed().as_secs() < 30);
}

#[test]
fn what_never_ends_is_no_checkpoint_no_result_and_no_configuration() {
    let place = Place::new();
    place.write("y.csv", "1,2\n3,4\n");
    assert!(std::process::Command::new("mkfifo").arg(place.file("silent")).status().unwrap().success());
    fs::create_dir(place.file("r")).unwrap();
    symlink("../silent", place.file("r/result.json")).unwrap();
    for name in ["silent", "/dev/zero"] {
        place.refused(&format!("recover y.csv --checkpoint {name} --resume"), &[name, "it is no file"]);
    }
    place.refused("verify r", &["result.json", "it is no file"]);
    place.refused("recover y.csv --config /dev/zero", &["/dev/zero", "a million bytes"]);
}

#[test]
fn a_configuration_that_never_comes_is_not_waited_for() {
    let place = Place::new();
    place.write("y.csv", "1,2\n3,4\n");
    assert!(std::process::Command::new("mkfifo").arg(place.file("silent")).status().unwrap().success());
    place.refused("recover y.csv --config silent --time-limit 300ms", &["silent", "time was up"]);
    for signal in ["-TERM", "-INT"] {
        let mut command = place.command("recover y.csv --config silent");
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let ended = child.wait_with_output().unwrap();
        assert!(sent.success() && ended.status.code() == Some(130), "{signal}: {}", ended.status);
        assert!(String::from_utf8_lossy(&ended.stderr).contains("nothing to keep"), "{signal}");
    }
}

#[test]
fn an_image_from_a_pipe_is_read_once() {
    let place = Place::new();
    assert!(std::process::Command::new("mkfifo").arg(place.file("y.csv")).status().unwrap().success());
    let cell = |i: usize, j: usize| format!("{:.3}", ((i * 7919 + j * 104_729) % 101) as f64 / 101.0);
    let line = |i: usize| (0..9).map(|j| cell(i, j)).collect::<Vec<_>>().join(",") + "\n";
    let image: String = (0..12).map(line).collect();
    for more in ["", "--result r"] {
        let (path, image) = (place.file("y.csv"), image.clone());
        let writer = std::thread::spawn(move || fs::write(path, image));
        // A second read would wait until its time is up.
        place.done(&format!("denoise y.csv -o x.npy --force -q --iterations 5 --time-limit 20s {more}"));
        writer.join().unwrap().unwrap();
    }
    assert!(place.file("r/result.json").exists() && place.file("x.npy").exists());
}
