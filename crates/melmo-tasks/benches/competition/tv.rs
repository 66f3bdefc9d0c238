//! TV-MCP denoising, ½‖X − Y‖² + Σ MCP_{λ=0.05, μ=2}(forward differences).
//!
//! Images: the bundled camera at 256×256 with two seeded draws of noise (0.05); `camera256_noisy.npy` of `--data`; every image
//! of `--images`, grey, halved down to at most 300 pixels a side, with seeded noise.

use melmo::prelude::*;
use melmo_data::{Array, bundled, metrics::ssim};

use crate::Flags;
use crate::equal_time::Contest;
use crate::page::{Instance, Section};
use crate::race::{Entrant, Finish, Job, parallel, race};

const LAMBDA: f64 = 0.05;
const MU: f64 = 2.0;
const NOISE: f64 = 0.05;

/// One setting for all images; `auto` first, whose time the others are given too.
const ROWS: [&str; 13] = [
    "auto 200",
    "melmo 2000",
    "scaled 1500",
    "metric 400",
    "metric 300 start=smooth beta=0.5",
    "admm 400 penalty=2",
    "admm-graduated 600 penalty=0.55 growth=1.01 relaxation=1",
    "admm-graduated 200",
    "reweighted 300",
    "primal-dual 1000",
    "primal-dual 1000 start=smooth",
    "lbfgs 300 start=smooth",
    "dca 300",
];

struct Picture {
    name: String,
    noisy: Array,
    clean: Option<Array>,
}

fn noisy(name: &str, clean: Array, seed: u64) -> Picture {
    let mut seeded = Seeded::new(seed);
    let data = clean.data.iter().map(|v| v + NOISE * seeded.normal()).collect();
    Picture { name: name.into(), noisy: Array { data, ..clean.clone() }, clean: Some(clean) }
}

/// Grey, and halved until it is small.
fn grey(array: Array) -> Result<Array, melmo_data::Error> {
    let all = array.shape.get(2).copied().unwrap_or(1);
    let channels = all.min(3);
    let mean = |pixel: &[f64]| pixel[..channels].iter().sum::<f64>() / channels as f64;
    let data = array.data.chunks(all).map(mean).collect();
    let mut image = Array { shape: array.shape[..2].to_vec(), data, kind: array.kind };
    while image.shape.iter().any(|side| *side > 300) {
        image = bundled::halved(&image)?;
    }
    Ok(image)
}

fn pictures(flags: &Flags) -> Vec<Picture> {
    let camera = bundled::camera256().expect("the bundled camera");
    let mut pictures = Vec::new();
    let stored = flags.file("--data", "camera256_noisy.npy");
    match stored.and_then(|file| melmo_data::npy::read(&file).map_err(|error| error.to_string())) {
        Ok(noisy) => pictures.push(Picture { name: "camera256_noisy".into(), noisy, clean: Some(camera.clone()) }),
        Err(reason) => eprintln!("SKIPPED camera256_noisy: {reason}"),
    }
    pictures.extend([1, 2].map(|seed| noisy(&format!("camera256, seed {seed}"), camera.clone(), seed)));
    let Some(folder) = flags.after("--images") else {
        eprintln!("SKIPPED other images: --images names no folder");
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

fn problem(picture: &Picture) -> Result<Problem<f64>, Error> {
    let [rows, cols] = picture.noisy.shape[..] else { panic!("an image has rows and columns") };
    let loss = MaskedLeastSquares::new(Layout::matrix(rows, cols)?, picture.noisy.data.clone(), None)?;
    let penalty = Entrywise::new(Mcp::new(LAMBDA, MU)?, 2 * rows * cols);
    Problem::new(loss, penalty, Difference2d::new(rows, cols)?)
}

fn row(label: &str, picture: &Picture, steps: u64, finish: &Finish) -> String {
    let [rows, cols] = picture.noisy.shape[..] else { panic!("an image has rows and columns") };
    let report = &finish.report;
    let similar = picture.clean.as_ref().map(|clean| ssim(&report.x, &clean.data, rows, cols, 1.0).expect("same size"));
    let [slope, gap] = report.certificate.as_ref().map_or([f64::NAN; 2], |c| [c.dual_norm.upper, c.prox_gap]);
    format!(
        "| {label} | {steps} | {:.3} | {:.3} | {:.2} | {:.3} | {slope:.1e} | {gap:.1e} | {} |\n",
        finish.objective,
        finish.in_time,
        finish.seconds,
        similar.unwrap_or(f64::NAN),
        if finish.verified { "yes" } else { "NO" },
    )
}

/// The pictures for a comparison of two versions.
pub(crate) fn contests(flags: &Flags) -> Vec<Contest> {
    let contest = |picture: Picture| Contest {
        name: format!("TV {}", picture.name),
        starts: vec![picture.noisy.data.clone()],
        problem: Box::new(move || problem(&picture)),
        geometry: (Norm::L2, Oracle::Auto),
        methods: &["auto", "metric", "scaled"],
        seconds: [0.4, 1.2],
    };
    pictures(flags).into_iter().map(contest).collect()
}

/// The table of one picture.
fn table(picture: &Picture, entrants: &[Entrant]) -> Result<(String, Instance), Error> {
    let [rows, cols] = picture.noisy.shape[..] else { panic!("an image has rows and columns") };
    let problem = problem(picture)?;
    let mut text = format!(
        "**{}**, {rows}×{cols}\n\n| method | steps | F | F in auto's time | s | SSIM | ‖∇f(x) + T*w‖ | ‖Tx − z‖ | verified |\n",
        picture.name
    );
    text += "|---|---|---|---|---|---|---|---|---|\n";
    let (mut time, mut reached) = (None, Vec::new());
    for entrant in entrants {
        let finish = race(&problem, (Norm::L2, Oracle::Auto), entrant, &picture.noisy.data, time)?;
        let label = entrant.label(&problem);
        let Some(finish) = finish else {
            text += &format!("| {label} | refused |\n");
            continue;
        };
        time.get_or_insert(finish.seconds);
        text += &row(&label, picture, entrant.steps, &finish);
        reached.push((label, finish.objective));
    }
    Ok((text, Instance::new(format!("TV {}", picture.name), &reached)))
}

pub(crate) fn section(flags: &Flags) -> Section {
    let given = flags.all_after("--row");
    let rows = if given.is_empty() { ROWS.to_vec() } else { given };
    let entrants: Vec<Entrant> = rows.iter().map(|row| Entrant::parse(row)).collect();
    let pictures = pictures(flags);
    let entrants = &entrants;
    let job = |picture| Job { cost: 1.0, work: Box::new(move || table(picture, entrants)) };
    let mut section = Section { text: "## TV\n\n".into(), instances: Vec::new() };
    for answer in parallel(flags.threads, pictures.iter().map(job).collect()) {
        match answer {
            Ok((text, instance)) => {
                section.text += &format!("{text}\n");
                section.instances.push(instance);
            }
            Err(error) => eprintln!("FAILED: {error}"),
        }
    }
    section
}
