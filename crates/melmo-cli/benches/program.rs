//! What the program costs beside the library: start-up, a 1024² denoise, a large photo. Prints a table; ratios come from one
//! run. The library is timed as a program pays for it that denoises one picture: the call alone, the first of its process.
//!
//!     cargo bench -p melmo-cli --bench program

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use melmo::seeded::Seeded;
use melmo_data::image::{self, Depth, Image};
use melmo_data::{Array, Kind, npy};
use melmo_tasks::denoise::{Options, Planes, Prior, denoise};
use melmo_tasks::{Settings, Until};

// As the program has it.
#[global_allocator]
static ALLOCATOR: melmo_alloc::Aligned = melmo_alloc::Aligned;

/// Edges, slopes and noise.
fn picture(rows: usize, cols: usize, seed: u64) -> Vec<f64> {
    let mut seeded = Seeded::new(seed);
    let pixel = |at: usize| {
        let (i, j) = ((at / cols) as f64 / rows as f64, (at % cols) as f64 / cols as f64);
        let tiles = f64::from(u8::from(((8.0 * i) as usize + (12.0 * j) as usize).is_multiple_of(2)));
        0.2 + 0.3 * i + 0.3 * tiles * j
    };
    (0..rows * cols).map(|at| (pixel(at) + 0.05 * seeded.normal()).clamp(0.0, 1.0)).collect()
}

fn seconds(folder: &Path, arguments: &str) -> f64 {
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_melmo"));
    let ran = command.current_dir(folder).args(arguments.split_whitespace()).output().expect("the program runs");
    assert!(ran.status.success(), "{arguments}: {}", String::from_utf8_lossy(&ran.stderr));
    start.elapsed().as_secs_f64()
}

fn least(times: usize, mut run: impl FnMut() -> f64) -> f64 {
    (0..times).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// The largest resident size of the children so far, in MB, where the system tells.
fn peak(folder: &Path, arguments: &str) -> Option<f64> {
    let script = format!("exec {} {arguments}", env!("CARGO_BIN_EXE_melmo"));
    let timed =
        Command::new("/usr/bin/time").current_dir(folder).args(["-f", "%M", "sh", "-c", &script]).output().ok()?;
    let told = String::from_utf8_lossy(&timed.stderr);
    told.lines().last()?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

/// Names the picture that a process of its own is to denoise, and how long that took on its standard output.
const LIBRARY: &str = "MELMO_BENCH_LIBRARY";

/// The first call of a process: memory is new, as it is for the program.
fn first_call(path: &Path) -> f64 {
    let array = npy::read(path).expect("an input");
    let y: Vec<f32> = array.data.iter().map(|&v| v as f32).collect();
    let start = Instant::now();
    let image = Planes::new(&y, array.shape[0], array.shape[1], 1).expect("an image");
    let options = Options { prior: Some(Prior::Differences), ..Options::default() };
    denoise(image, &options, &Settings::default(), &Until::done()).expect("an answer");
    start.elapsed().as_secs_f64()
}

fn library_seconds(path: &Path) -> f64 {
    let this = std::env::current_exe().expect("this program");
    let ran = Command::new(this).env(LIBRARY, path).output().expect("this program runs");
    String::from_utf8_lossy(&ran.stdout).trim().parse().expect("seconds")
}

fn main() {
    if let Some(path) = std::env::var_os(LIBRARY) {
        return println!("{}", first_call(Path::new(&path)));
    }
    let folder = std::env::temp_dir().join(format!("melmo-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    println!("start-up                 {:6.1} ms (least of 20)", 1e3 * least(20, || seconds(&folder, "--version")));

    let (rows, cols) = (1024, 1024);
    let data = picture(rows, cols, 1);
    let array = Array { shape: vec![rows, cols], data, kind: Kind::F32 };
    npy::write(&folder.join("y.npy"), &array, true).expect("an input");
    let (mut library, mut program) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..9 {
        library = library.min(library_seconds(&folder.join("y.npy")));
        program = program.min(seconds(&folder, "denoise y.npy -o x.npy --force -q --prior differences"));
    }
    println!("1024² denoise, library   {:6.0} ms (first call of a process; least of 9, in turn)", 1e3 * library);
    println!("1024² denoise, program   {:6.0} ms: {:+.1} %", 1e3 * program, 100.0 * (program / library - 1.0));

    let (rows, cols) = (3000, 4000);
    let planes: Vec<Vec<f64>> = (0..3).map(|channel| picture(rows, cols, channel)).collect();
    let data = (0..rows * cols).flat_map(|at| [planes[0][at], planes[1][at], planes[2][at]]).collect();
    drop(planes);
    let photo = Image {
        width: cols,
        height: rows,
        channels: 3,
        depth: Depth::Eight,
        maximum: 255,
        data,
        metadata: Default::default(),
    };
    image::write(&folder.join("photo.png"), &photo, true).expect("an input");
    drop(photo);
    let time = seconds(&folder, "denoise photo.png -o clean.png --force -q");
    let memory = peak(&folder, "denoise photo.png -o clean.png --force -q");
    let memory = memory.map_or("memory unknown: /usr/bin/time is missing".into(), |mb| format!("{mb:.0} MB"));
    println!("4000×3000 colour photo   {time:6.1} s, {memory}");
    // The results are in the table; a leftover folder would do no harm.
    let _ = std::fs::remove_dir_all(&folder);
}
