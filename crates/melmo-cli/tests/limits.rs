//! Time, memory and numbers that run out: everything ends when it is told to, and says so.

use std::time::{Duration, Instant};

use crate::support::Place;

/// A matrix with gaps.
fn gaps(place: &Place, rows: usize, cols: usize) {
    let cell = |i: usize, j: usize| match (i * 31 + j * 17) % 3 {
        0 => String::new(),
        _ => format!("{:.4}", ((i * j) as f64 * 0.37).sin() + ((i + 2 * j) as f64 * 0.11).cos()),
    };
    let lines: Vec<String> = (0..rows).map(|i| (0..cols).map(|j| cell(i, j)).collect::<Vec<_>>().join(",")).collect();
    place.write("y.csv", lines.join("\n"));
}

#[test]
fn a_time_limit_is_one_for_weights_and_starts_too() {
    let place = Place::new();
    gaps(&place, 600, 500);
    for run in ["complete y.csv -o x.npy", "rpca y.csv -o parts.npy"] {
        let begun = Instant::now();
        place.done(&format!("{run} --time-limit 1s -q"));
        assert!(begun.elapsed() < Duration::from_secs(12), "{run}: {:?}", begun.elapsed());
    }
    assert_eq!(place.names(), ["parts.background.npy", "parts.foreground.npy", "x.npy", "y.csv"]);
}

#[cfg(unix)]
#[test]
fn a_signal_is_heard_before_the_first_step() {
    let place = Place::new();
    gaps(&place, 600, 500);
    // Weights of a nuclear norm are tried for many seconds.
    let child =
        place.command("complete y.csv --penalty l1 -o x.npy -q").stderr(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let begun = Instant::now();
    assert!(std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let status = child.wait_with_output().unwrap().status;
    assert_eq!(status.code(), Some(1));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(place.file("x.npy").exists(), "what there was is kept");
}

/// A picture that takes many seconds: what is not done in one is as it was, or less far, and there is a whole picture.
#[test]
fn a_large_picture_ends_in_time_and_is_whole() {
    let place = Place::new();
    let (rows, cols) = (2400, 2000);
    let mut pgm = format!("P5\n{cols} {rows}\n255\n").into_bytes();
    pgm.extend(
        (0..rows * cols).map(|at: usize| 60 + (at % cols / 25) as u8 + (at.wrapping_mul(7919 * 7919) >> 7) as u8 % 60),
    );
    place.write("y.pgm", pgm);
    let begun = Instant::now();
    let told = place.json("denoise y.pgm -o x.pgm --time-limit 1s --threads 1");
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    assert_eq!(told["status"], "time");
    assert_eq!(place.file("x.pgm").metadata().unwrap().len(), place.file("y.pgm").metadata().unwrap().len());
    // Either there was time for a certificate, or it says so.
    assert_ne!(told["no_certificate"].is_null(), told["dual_norm"].is_null(), "{told}");
}

#[test]
fn sizes_are_checked_before_memory_is_asked_for() {
    let place = Place::new();
    place.write("t.csv", "a,b,y\n1,2,3\n2,1,4\n3,5,9\n4,4,8\n5,1,7\n6,9,30\n");
    place.write("huge.mtx", "%%MatrixMarket matrix coordinate real general\n8000 8000 1\n1 1 1\n");
    place.refused("regress t.csv y --path 10000000000", &["10000000000", "1 to 10000"]);
    place.refused("recover huge.mtx", &["huge.mtx", "8000×8000", "--max-entries"]);
    place.refused("recover t.csv --threads 1000000000", &["--threads", "at most"]);
    let list: Vec<String> = (0..3000).map(|i| format!("{i},{i},1")).collect();
    place.write("list.csv", list.join("\n"));
    place.refused("complete list.csv --ratings -o all.npy", &["3000×3000", "--max-entries"]);
    place.refused("complete list.csv --ratings --penalty mcp", &["3000×3000", "choose factors"]);
}

#[test]
fn numbers_too_large_for_their_squares_are_no_clean_result() {
    let place = Place::new();
    let rows = |value: &dyn Fn(usize) -> f64| {
        let line = |i: usize| (0..24).map(|j| format!("{:e}", value(24 * i + j))).collect::<Vec<_>>().join(",");
        (0..24).map(line).collect::<Vec<_>>().join("\n")
    };
    let noisy = |at: usize| ((at * 7919) % 101) as f64 / 101.0;
    place.write("large.csv", rows(&|at| 1e160 * noisy(at)));
    place.write("one.csv", rows(&|at| if at == 77 { 1e200 } else { noisy(at) }));
    place.refused("denoise large.csv -o large.npy", &["other units"]);
    place.refused("denoise one.csv -o one.npy", &["other units"]);
    let ran = place.melmo("recover one.csv -o x.npy -q");
    assert_ne!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}
