//! What noise there is: how much, of which kind, and where there is none.

use crate::denoise::{differences, estimate, noisy, picture, psnr, with};
use melmo::seeded::Seeded;
use melmo_tasks::denoise::noise::Noise;
use melmo_tasks::denoise::{Options, Plan, Planes};

#[test]
fn the_noise_is_found() {
    let clean = picture(200, 240);
    for (seed, level) in [0.005, 0.02, 0.05, 0.1, 0.3].into_iter().enumerate() {
        let double = estimate(&noisy::<f64>(&clean, level, seed as u64 + 1), 200, 240);
        let single = estimate(&noisy::<f32>(&clean, level, seed as u64 + 1), 200, 240);
        assert!((double / level - 1.0).abs() < 0.08, "{double} for {level}");
        assert!((single - double).abs() < 1e-4 * level);
    }
}

#[test]
fn the_noise_is_found_in_small_images_and_lines() {
    for (rows, cols, within) in [(24, 24, 0.2), (1, 4000, 0.12), (4000, 1, 0.12), (2, 3000, 0.12), (60, 9, 0.2)] {
        let mut worst = 0.0f64;
        for seed in 1..6 {
            let y = noisy::<f64>(&vec![0.5; rows * cols], 0.1, seed);
            worst = worst.max((estimate(&y, rows, cols) / 0.1 - 1.0).abs());
        }
        assert!(worst < within, "{rows}×{cols}: {worst}");
    }
}

#[test]
fn clipped_areas_and_eight_bits_do_not_hide_the_noise() {
    let (rows, cols) = (256, 256);
    let night: Vec<f64> =
        picture(rows, cols).iter().enumerate().map(|(p, v)| if p % 256 < 140 { -0.3 } else { *v }).collect();
    let y: Vec<f64> =
        noisy::<f64>(&night, 0.05, 3).iter().map(|v| (v.clamp(0.0, 1.0) * 255.0).round() / 255.0).collect();
    let found = estimate(&y, rows, cols);
    assert!((found / 0.05 - 1.0).abs() < 0.08, "{found}");
    // Rounding to 8 bits is noise of 1/√12 of a step.
    let faint: Vec<f64> = noisy::<f64>(&picture(rows, cols), 0.004, 3).iter().map(|v| (v * 255.0).round()).collect();
    let found = estimate(&faint, rows, cols);
    assert!((found / (0.004f64 * 255.0).hypot(12f64.sqrt().recip()) - 1.0).abs() < 0.06, "{found}");
}

fn looked_at(y: &[f64], rows: usize, cols: usize) -> Noise {
    Plan::new(Planes::new(y, rows, cols, 1).unwrap(), &differences()).unwrap().found().clone()
}

#[test]
fn noise_that_grows_with_brightness_is_seen_and_removed_evenly() {
    let (rows, cols) = (160, 160);
    let ramp: Vec<f64> = (0..rows * cols).map(|p| 0.05 + 0.9 * (p % cols) as f64 / cols as f64).collect();
    let mut seeded = Seeded::new(3);
    // Photons: variance a + b·I.
    let y: Vec<f64> = ramp.iter().map(|v| v + (1e-4 + v / 60.0).sqrt() * seeded.normal()).collect();
    let found = looked_at(&y, rows, cols);
    let curve = found.curve.as_ref().expect("a curve");
    for brightness in [0.2, 0.5, 0.8] {
        let (seen, there) = (curve.variance(brightness), 1e-4 + brightness / 60.0);
        assert!((seen / there - 1.0).abs() < 0.25, "{brightness}: {seen} {there}");
    }
    let options = |options: Options| psnr(&with(&options, &y, [rows, cols, 1]).image, &ramp);
    let (even, uneven) = (options(differences()), options(Options { noise: Some(found.level), ..differences() }));
    assert!(even > psnr(&y, &ramp) + 8.0 && even > uneven - 0.3, "{even} {uneven}");
    assert!(looked_at(&noisy::<f64>(&ramp, 0.1, 4), rows, cols).is_white(), "noise that does not grow");
}

#[test]
fn salt_and_pepper_is_filled_in_and_the_rest_stays() {
    let (rows, cols) = (96, 96);
    let clean: Vec<f64> = picture(rows, cols).iter().map(|v| (v * 255.0).round() / 255.0).collect();
    let mut seeded = Seeded::new(8);
    let mut u = || 0.5 + 0.25 * seeded.normal().clamp(-2.0, 2.0);
    let y: Vec<f64> = clean.iter().map(|v| if u() > 0.9 { f64::from(u8::from(u() > 0.5)) } else { *v }).collect();
    let found = looked_at(&y, rows, cols);
    assert!(found.outliers.as_ref().is_some_and(|found| found.share() > 0.02), "{found:?}");
    for options in [differences(), Options::default()] {
        let answer = with(&options, &y, [rows, cols, 1]);
        assert!(psnr(&answer.image, &clean) > psnr(&y, &clean) + 10.0, "{}", psnr(&answer.image, &clean));
        let touched = y.iter().zip(&clean).zip(&answer.image).filter(|((y, c), x)| y == c && x != y).count();
        assert!(touched < y.len() / 200, "{touched} samples were good");
    }
}

#[test]
fn drawings_and_clean_pictures_have_no_noise() {
    let (rows, cols) = (128, 128);
    // Strokes with soft edges on white, everywhere.
    let stroke = |p: usize| [255.0, 255.0, 128.0, 0.0, 64.0, 255.0, 255.0][(p % cols * 3 + p / cols) % 7];
    let ground = |p: usize| (p / cols) % 32 < 12;
    let drawn: Vec<f64> = (0..rows * cols).map(|p| if ground(p) { 1.0 } else { stroke(p) / 255.0 }).collect();
    let eight_bit: Vec<f64> = picture(rows, cols).iter().map(|v| (v * 255.0).round() / 255.0).collect();
    for y in [drawn, eight_bit] {
        let answer = with(&Options::default(), &y, [rows, cols, 1]);
        assert_eq!((answer.noise, answer.strips), (0.0, 0));
        assert_eq!(answer.image, y);
    }
}

#[test]
fn noise_that_neighbours_share_is_seen() {
    let (rows, cols) = (128, 128);
    let clean = picture(rows, cols);
    let white: Vec<f64> = Seeded::new(6).normals(rows * cols);
    let at = |i: usize, j: usize| white[(i % rows) * cols + j % cols];
    let smooth = |p: usize| -> f64 {
        let taps = [0.06, 0.24, 0.4, 0.24, 0.06];
        (0..25).map(|t| taps[t / 5] * taps[t % 5] * at(p / cols + t / 5, p % cols + t % 5)).sum()
    };
    let y: Vec<f64> = clean.iter().enumerate().map(|(p, v)| v + 0.25 * smooth(p)).collect();
    let found = looked_at(&y, rows, cols);
    assert!(found.correlated, "{found:?}");
    for options in [Options::default(), differences()] {
        let gained = psnr(&with(&options, &y, [rows, cols, 1]).image, &clean) - psnr(&y, &clean);
        assert!(gained > 2.0, "{gained}");
    }
    assert!(!looked_at(&noisy::<f64>(&clean, 0.05, 2), rows, cols).correlated);
}
