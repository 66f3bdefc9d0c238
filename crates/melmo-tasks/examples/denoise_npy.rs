//! Denoises arrays: `denoise_npy [strength=…] [steps=…] [f32] in.npy out.npy …`, images of rows × columns or rows × columns × channels.
//!
//! `scripts/denoise_table.py` compares what comes out with other methods.

use std::path::Path;
use std::time::Instant;

use melmo::real::Real;
use melmo_data::{Array, npy};
use melmo_tasks::Settings;
use melmo_tasks::denoise::{Options, Planes, denoise};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut options, mut settings, mut single) = (Options::default(), Settings::default(), false);
    let mut files = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("strength", value)) => options.strength = value.parse()?,
            Some(("noise", value)) => options.noise = Some(value.parse()?),
            Some(("penalty", value)) => options.penalty = Some(value.parse()?),
            Some(("isotropic", value)) => options.isotropic = value.parse()?,
            Some(("steps", value)) => settings.iterations = Some(value.parse()?),
            Some((name, value)) => settings.arguments.push((name.into(), value.parse()?)),
            None if argument == "f32" => single = true,
            None => files.push(argument),
        }
    }
    for pair in files.chunks_exact(2) {
        let array = npy::read(Path::new(&pair[0]))?;
        let start = Instant::now();
        let (data, sigma) =
            if single { run::<f32>(&array, &options, &settings)? } else { run::<f64>(&array, &options, &settings)? };
        println!("{} sigma {sigma:.6} seconds {:.3}", pair[1], start.elapsed().as_secs_f64());
        npy::write(Path::new(&pair[1]), &Array::new(array.shape.clone(), data)?, true)?;
    }
    Ok(())
}

/// The denoised numbers in the order of the array, and σ̂.
fn run<S: Real>(
    array: &Array,
    options: &Options,
    settings: &Settings,
) -> Result<(Vec<f64>, f64), Box<dyn std::error::Error>> {
    let (rows, cols, channels) = match array.shape[..] {
        [rows, cols] => (rows, cols, 1),
        [rows, cols, channels] => (rows, cols, channels),
        _ => return Err("an image has rows, columns and perhaps channels".into()),
    };
    let n = rows * cols;
    let planar: Vec<S> = (0..n * channels).map(|i| S::of(array.data[i % n * channels + i / n])).collect();
    let answer = denoise(Planes::new(&planar, rows, cols, channels)?, options, settings)?;
    let data = (0..n * channels).map(|i| answer.image[i % channels * n + i / channels].f64()).collect();
    Ok((data, answer.noise))
}
