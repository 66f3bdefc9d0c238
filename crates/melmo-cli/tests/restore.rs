//! `melmo deblur`, `melmo inpaint` and `melmo upscale`.

use crate::support::Place;
use melmo::operator::{Blur, Downsample, LinOp};
use melmo::seeded::Seeded;
use melmo_data::image::{self, Depth, Image};
use melmo_data::{Array, npy};

/// A picture with edges, slopes and flat parts, 0 to 1.
fn scene(rows: usize, cols: usize) -> Vec<f64> {
    let pixel = |at: usize| {
        let (i, j) = (at / cols, at % cols);
        let inside = (i as f64 - rows as f64 / 2.0).hypot(j as f64 - cols as f64 / 3.0) < cols as f64 / 5.0;
        let post = (cols * 2 / 3..cols * 2 / 3 + 4).contains(&j);
        if inside {
            0.85
        } else if post {
            0.1
        } else {
            0.25 + 0.5 * i as f64 / rows as f64
        }
    };
    (0..rows * cols).map(pixel).collect()
}

fn save(place: &Place, name: &str, rows: usize, cols: usize, data: Vec<f64>) {
    npy::write(&place.file(name), &Array::new([rows, cols], data).unwrap(), false).unwrap();
}

fn seen(t: &dyn LinOp<f64>, x: &[f64], level: f64) -> Vec<f64> {
    let (mut y, mut seeded) = (vec![0.0; t.range().size()], Seeded::new(3));
    t.apply(&mut y, x, &mut vec![0.0; t.work_len()]);
    y.iter().map(|y| y + level * seeded.normal()).collect()
}

/// The inside of a larger scene, and what a kernel and noise make of it.
fn blurred(place: &Place, level: f64) {
    let (side, radius) = (64 + 8, 4);
    let line: Vec<f64> = (-4..=4).map(|i| (-0.5 * f64::from(i * i)).exp()).collect();
    let kernel: Vec<f64> = line.iter().flat_map(|a| line.iter().map(move |b| a * b)).collect();
    let sum: f64 = kernel.iter().sum();
    let kernel: Vec<f64> = kernel.iter().map(|k| k / sum).collect();
    let scene = scene(side, side);
    let t = Blur::new((side, side), &kernel, (9, 9)).unwrap();
    save(place, "blurred.npy", 64, 64, seen(&t, &scene, level));
    save(place, "kernel.npy", 9, 9, kernel.iter().map(|k| 7.0 * k).collect());
    let inside =
        |at: &usize| (radius..64 + radius).contains(&(at / side)) && (radius..64 + radius).contains(&(at % side));
    save(place, "clean.npy", 64, 64, (0..side * side).filter(inside).map(|at| scene[at]).collect());
}

#[test]
fn a_blurred_picture_becomes_sharp_and_its_certificate_verifies() {
    let place = Place::new();
    blurred(&place, 0.01);
    let told = place.json("deblur blurred.npy --kernel gaussian:1 --reference clean.npy --result proof");
    let number = |key: &str| told[key].as_f64().unwrap();
    assert!((number("noise") - 0.01).abs() < 0.002, "{told}");
    assert!(number("psnr") > number("psnr_before") + 2.0, "{told}");
    assert!((0.85..1.05).contains(&number("misfit")), "{told}");
    assert!(number("dual_norm").is_finite() && told["gap"].is_null(), "{told}");
    assert!(place.done("verify proof").stdout.contains("is what it says"));
    // The same kernel from a file, whatever its sum.
    let same = place.json("deblur blurred.npy --kernel kernel.npy --reference clean.npy -o again.npy");
    assert!((same["psnr"].as_f64().unwrap() - number("psnr")).abs() < 1e-3, "{same}");
    let more = place
        .json("deblur blurred.npy --kernel gaussian:1 --lambda 1e-3 --noise 0.01 --reference clean.npy -o noisy.npy");
    assert!(more["psnr"].as_f64().unwrap() < number("psnr") - 1.0, "λ counts: {more}");
    // Noise that is taken for a little less than it is: λ fell until noise was made sharp, and less was left than before.
    let less = place.json("deblur blurred.npy --kernel gaussian:1 --noise 0.0085 --reference clean.npy -o less.npy");
    assert!(less["lambda"].as_f64().unwrap() >= 0.2, "{less}");
    assert!(less["psnr"].as_f64().unwrap() > number("psnr_before") + 2.0, "{less}");
}

#[test]
fn missing_pixels_are_filled_in_and_the_others_stay() {
    let place = Place::new();
    let (clean, mut seeded) = (scene(48, 64), Seeded::new(2));
    let missing: Vec<bool> = clean.iter().map(|_| seeded.uniform() < 0.6).collect();
    let gaps = |gap: f64| clean.iter().zip(&missing).map(move |(v, m)| if *m { gap } else { *v }).collect::<Vec<_>>();
    save(&place, "clean.npy", 48, 64, clean.clone());
    save(&place, "holes.npy", 48, 64, gaps(f64::NAN));
    save(&place, "black.npy", 48, 64, gaps(0.0));
    save(&place, "mask.npy", 48, 64, missing.iter().map(|m| f64::from(u8::from(*m))).collect());
    let told = place.json("inpaint holes.npy --reference clean.npy --result proof");
    assert!(told["psnr"].as_f64().unwrap() > 24.0, "{told}");
    assert!(told["dual_norm"].as_f64().unwrap() < 1.0 && told["gap"].is_null(), "{told}");
    let filled = npy::read(&place.file("holes-inpainted.npy")).unwrap().data;
    let kept = filled.iter().zip(&clean).zip(&missing).all(|((a, b), missing)| *missing || (a - b).abs() < 1e-12);
    assert!(kept && filled.iter().all(|v| v.is_finite()));
    place.done("verify proof");
    place.done("inpaint black.npy --mask mask.npy -q -o masked.npy");
    let masked = npy::read(&place.file("masked.npy")).unwrap().data;
    assert!(masked.iter().zip(&filled).all(|(a, b)| (a - b).abs() < 1e-9));
    // With noise the known pixels are data, and move.
    let noisy = place.json("inpaint black.npy --mask mask.npy --noise 0.05 -o noisy.npy");
    assert!(noisy["lambda"].as_f64().is_some(), "{noisy}");
}

#[test]
fn a_small_picture_becomes_large() {
    let place = Place::new();
    let clean = scene(64, 96);
    let t = Downsample::new(64, 96, 2).unwrap();
    save(&place, "clean.npy", 64, 96, clean.clone());
    save(&place, "small.npy", 32, 48, seen(&t, &clean, 0.0));
    let told = place.json("upscale small.npy --reference clean.npy");
    let large = npy::read(&place.file("small-upscaled.npy")).unwrap();
    assert_eq!(large.shape, [64, 96]);
    let blocks = |at: usize| npy::read(&place.file("small.npy")).unwrap().data[at / 96 / 2 * 48 + at % 96 / 2];
    let blocky: f64 =
        clean.iter().enumerate().map(|(at, v)| (v - blocks(at)).powi(2)).sum::<f64>() / clean.len() as f64;
    assert!(told["psnr"].as_f64().unwrap() > -10.0 * blocky.log10() + 1.0, "{told}");
}

#[test]
fn colours_depth_and_alpha_stay() {
    let place = Place::new();
    let grey = scene(24, 32);
    let data = grey.iter().flat_map(|v| [*v, 1.0 - v, 0.5 * v, 1.0]).collect();
    let picture = Image {
        width: 32,
        height: 24,
        channels: 4,
        depth: Depth::Sixteen,
        maximum: 65535,
        data,
        metadata: Default::default(),
    };
    image::write(&place.file("colour.png"), &picture, false).unwrap();
    place.done("deblur colour.png --kernel disk:1.5 -q");
    place.done("upscale colour.png --factor 3 -q");
    let sharp = image::read(&place.file("colour-deblurred.png")).unwrap();
    let large = image::read(&place.file("colour-upscaled.png")).unwrap();
    assert_eq!((sharp.width, sharp.height, sharp.channels, sharp.depth), (32, 24, 4, Depth::Sixteen));
    assert_eq!((large.width, large.height, large.channels, large.depth), (96, 72, 4, Depth::Sixteen));
}

#[test]
fn a_run_goes_on_from_its_checkpoint_and_time_is_kept() {
    let place = Place::new();
    blurred(&place, 0.01);
    let run = "deblur blurred.npy --kernel gaussian:1 --checkpoint run.ck --every 1ms --iterations 30";
    place.done(&format!("{run} -q -o whole.npy"));
    // What was chosen is in the checkpoint, and is not chosen again.
    let told = place.json(&format!("{run} --resume -o again.npy"));
    assert_eq!(told["iterations"].as_u64(), Some(30), "{told}");
    assert_eq!(npy::read(&place.file("whole.npy")).unwrap(), npy::read(&place.file("again.npy")).unwrap());
    place.done("deblur blurred.npy --kernel gaussian:1 --time-limit 1s -q -o quick.npy --trace rows.csv");
    assert!(place.read("rows.csv").lines().count() >= 1);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    save(&place, "a.npy", 8, 8, scene(8, 8));
    save(&place, "other.npy", 4, 4, vec![1.0; 16]);
    place.refused("deblur a.npy --kernel gaussian:0", &["gaussian", "above 0"]);
    place.refused("deblur a.npy --kernel gaussian:x", &["gaussian:1.5"]);
    place.refused("deblur a.npy --kernel nowhere.npy", &["nowhere.npy"]);
    place.refused("deblur a.npy", &["--kernel"]);
    place.refused("deblur a.npy --kernel disk:2 --noise -1", &["noise"]);
    place.refused("deblur a.npy --kernel disk:2 --lambda 0", &["lambda"]);
    place.refused("inpaint a.npy", &["no pixel of it is missing"]);
    place.refused("inpaint a.npy --mask other.npy", &["other.npy", "8×8"]);
    place.refused("inpaint other.npy --mask other.npy", &["no pixel of it is known"]);
    place.refused("upscale a.npy --factor 7", &["2 to 4"]);
}
