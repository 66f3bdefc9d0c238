//! TV-MCP denoising, ½‖X − Y‖² + Σ MCP_{λ=0.05, μ=2}(forward differences): our methods beside their competitors.
//!
//! ```text
//! cargo bench -p melmo-tasks --bench tv -- [folder of images] [--row "tilted 200 ratio=0.98 start=smooth"]…
//! ```
//!
//! Images: the bundled camera at 256×256 with two seeded draws of noise (σ = 0.05); `camera256_noisy.npy` in the folder
//! `MELMO_DATA_DIR`; every image of the folder given, grey, halved down to at most 300 pixels a side, with seeded noise.

use std::path::Path;

use melmo::catalogue::{Arguments, find, methods};
use melmo::prelude::*;
use melmo::start::tikhonov;
use melmo_data::{Array, bundled, metrics::ssim};

const LAMBDA: f64 = 0.05;
const MU: f64 = 2.0;
const NOISE: f64 = 0.05;

/// The methods compared, with one setting for all images. The mark to reach is the second ADMM.
const ROWS: [&str; 9] = [
    "melmo 2000",
    "scaled 1500",
    "metric 400",
    "metric 300 start=smooth beta=0.5",
    "tilted 200",
    "admm 400 penalty=2",
    "admm-graduated 600 penalty=0.55 growth=1.01 relaxation=1",
    "admm-graduated 200",
    "reweighted 300",
];

struct Picture {
    name: String,
    noisy: Array,
    clean: Option<Array>,
}

/// What a row's text says: a method, a number of steps, parameters, and where it starts.
struct Setup {
    method: String,
    steps: u64,
    given: Vec<(String, f64)>,
    smooth: bool,
}

impl Setup {
    fn parse(text: &str) -> Self {
        let mut words = text.split_whitespace();
        let method = words.next().expect("a row names a method").to_string();
        let steps = words.next().and_then(|n| n.parse().ok()).expect("a row gives a number of steps");
        let pairs: Vec<(&str, &str)> = words.map(|word| word.split_once('=').expect("name=value")).collect();
        let smooth = pairs.contains(&("start", "smooth"));
        let numbers = pairs.iter().filter(|(name, _)| *name != "start");
        let given = numbers.map(|(name, value)| (name.to_string(), value.parse().expect("a number"))).collect();
        Self { method, steps, given, smooth }
    }
}

fn noisy(name: &str, clean: Array, seed: u64) -> Picture {
    let mut seeded = Seeded::new(seed);
    let data = clean.data.iter().map(|v| v + NOISE * seeded.normal()).collect();
    Picture { name: name.into(), noisy: Array { data, ..clean.clone() }, clean: Some(clean) }
}

/// Grey, and halved until it is small.
fn grey(array: Array) -> Result<Array, melmo_data::Error> {
    let channels = array.shape.get(2).copied().unwrap_or(1).min(3);
    let all = array.shape.get(2).copied().unwrap_or(1);
    let mean = |pixel: &[f64]| pixel[..channels].iter().sum::<f64>() / channels as f64;
    let data = array.data.chunks(all).map(mean).collect();
    let mut image = Array { shape: array.shape[..2].to_vec(), data, kind: array.kind };
    while image.shape.iter().any(|side| *side > 300) {
        image = bundled::halved(&image)?;
    }
    Ok(image)
}

fn pictures(folder: Option<&str>) -> Vec<Picture> {
    let camera = bundled::camera256().expect("the bundled camera");
    let mut pictures = Vec::new();
    match std::env::var("MELMO_DATA_DIR") {
        Ok(data) => {
            let file = Path::new(&data).join("camera256_noisy.npy");
            match melmo_data::npy::read(&file) {
                Ok(noisy) => {
                    pictures.push(Picture { name: "camera256_noisy".into(), noisy, clean: Some(camera.clone()) })
                }
                Err(error) => eprintln!("SKIPPED camera256_noisy: {error}"),
            }
        }
        Err(_) => eprintln!("SKIPPED camera256_noisy: MELMO_DATA_DIR is not set"),
    }
    pictures.extend([1, 2].map(|seed| noisy(&format!("camera256, seed {seed}"), camera.clone(), seed)));
    let Some(folder) = folder else {
        eprintln!("SKIPPED other images: no folder was given");
        return pictures;
    };
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    for (seed, file) in (3..).zip(files) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match melmo_data::image::read(&file).and_then(|image| grey(image.to_array())) {
            Ok(image) => pictures.push(noisy(&name, image, seed)),
            Err(error) => eprintln!("SKIPPED {}: {error}", file.display()),
        }
    }
    pictures
}

/// Seconds that this thread has had a processor, which a busy machine does not stretch; wall-clock time off Linux.
fn processor_seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    let scheduled = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = scheduled.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |n| 1e-9 * n)
}

fn denoise(picture: &Picture, setup: &Setup) -> Result<(), Error> {
    let [rows, cols] = picture.noisy.shape[..] else { panic!("an image has rows and columns") };
    let y = &picture.noisy.data;
    let loss = MaskedLeastSquares::new(Layout::matrix(rows, cols)?, y.clone(), None)?;
    let penalty = Entrywise::new(Mcp::new(LAMBDA, MU)?, 2 * rows * cols);
    let problem = Problem::new(loss, penalty, Difference2d::new(rows, cols)?)?;
    let table = methods::<f64>();
    let row = find("method", &table, &setup.method)?;
    let given: Vec<(&str, f64)> = setup.given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let arguments = Arguments::new(&row.entry, &given)?;
    let geometry = for_layout(Norm::L2, problem.layout(), Oracle::Auto)?;
    let began = processor_seconds();
    let x0 = if setup.smooth { tikhonov(&problem, 3.0 * MU)? } else { y.clone() };
    let mut solver = (row.build)(&arguments, &problem, geometry, &x0)?;
    let report = run(&mut *solver, &Options::new(Stop::after(setup.steps)), &mut []);
    let seconds = processor_seconds() - began;
    let certificate = report.certificate.expect("the start was finite");
    let accepted = certificate.verify(&problem, &report.x, Certificate::<f64>::default_tolerance())?.passed();
    let similar = picture.clean.as_ref().map(|clean| ssim(&report.x, &clean.data, rows, cols, 1.0).expect("same size"));
    let options: String = given.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    println!(
        "| {}{options}{} | {} | {:.3} | {seconds:.2} | {:.3} | {:.1e} | {:.1e} | {} |",
        setup.method,
        if setup.smooth { " (smooth start)" } else { "" },
        setup.steps,
        report.objective,
        similar.unwrap_or(f64::NAN),
        certificate.dual_norm.upper,
        certificate.prox_gap,
        if accepted { "yes" } else { "NO" },
    );
    Ok(())
}

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let chosen: Vec<&str> = words.windows(2).filter(|pair| pair[0] == "--row").map(|pair| pair[1].as_str()).collect();
    let folder = words.first().filter(|word| !word.starts_with("--")).map(String::as_str);
    let rows = if chosen.is_empty() { ROWS.to_vec() } else { chosen };
    for picture in pictures(folder) {
        println!("\n{} ({:?})\n", picture.name, picture.noisy.shape);
        println!("| method | steps | F | s | SSIM | ‖∇F_β(x)‖ | ‖Tx − z‖ | verified |");
        println!("|---|---|---|---|---|---|---|---|");
        for row in &rows {
            denoise(&picture, &Setup::parse(row))?;
        }
    }
    Ok(())
}
