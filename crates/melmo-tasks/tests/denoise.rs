//! Denoising, from arrays to pictures.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use melmo::certificate::Certificate;
use melmo::drive::{Gap, Status};
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo_tasks::Settings;
use melmo_tasks::denoise::{Denoised, Joined, Options, Plan, Planes, Prior, denoise, noise, pieces};
use melmo_tasks::{Until, Watch, solve};

/// A ramp, a disc and stripes, from 0 to 1.
pub fn picture(rows: usize, cols: usize) -> Vec<f64> {
    let value = |i: usize, j: usize| {
        let (u, v) = (i as f64 / rows as f64, j as f64 / cols as f64);
        let disc = (u - 0.4).powi(2) + (v - 0.3).powi(2) < 0.04;
        let stripes = v > 0.7 && (i / 6).is_multiple_of(2);
        0.2 + 0.3 * v + if disc { 0.4 } else { 0.0 } + if stripes { 0.3 } else { 0.0 }
    };
    (0..rows * cols).map(|p| value(p / cols, p % cols)).collect()
}

pub fn noisy<S: Real>(clean: &[f64], level: f64, seed: u64) -> Vec<S> {
    let noise: Vec<f64> = Seeded::new(seed).normals(clean.len());
    clean.iter().zip(noise).map(|(x, n)| S::of(x + level * n)).collect()
}

pub fn psnr<S: Real>(x: &[S], clean: &[f64]) -> f64 {
    let squares: f64 = x.iter().zip(clean).map(|(x, c)| (x.f64() - c).powi(2)).sum();
    10.0 * (clean.len() as f64 / squares).log10()
}

/// The prior that costs least, for what is not about priors.
pub fn differences() -> Options {
    Options { prior: Some(Prior::Differences), ..Options::default() }
}

pub fn plainly<S: Real>(y: &[S], rows: usize, cols: usize, channels: usize) -> Denoised<S> {
    with(&differences(), y, [rows, cols, channels])
}

pub fn with<S: Real>(options: &Options, y: &[S], [rows, cols, channels]: [usize; 3]) -> Denoised<S> {
    denoise(Planes::new(y, rows, cols, channels).unwrap(), options, &Settings::default(), &Until::done()).unwrap()
}

pub fn estimate<S: Real>(y: &[S], rows: usize, cols: usize) -> f64 {
    noise::estimate(&Planes::new(y, rows, cols, 1).unwrap())
}

#[test]
fn a_picture_comes_out_of_the_noise() {
    let clean = picture(128, 160);
    for (level, gain) in [(0.03, 5.0), (0.1, 8.0)] {
        let y = noisy::<f64>(&clean, level, 5);
        let answer = plainly(&y, 128, 160, 1);
        let gained = psnr(&answer.image, &clean) - psnr(&y, &clean);
        assert!(gained > gain, "{gained} dB at {level}");
        assert!(answer.lambda > 0.0 && answer.strips == 1 && answer.penalty.contains("log-sum"));
    }
}

#[test]
fn colours_help_one_another() {
    let grey = picture(128, 128);
    let clean: Vec<f64> = [1.0, 0.7, 0.4].iter().flat_map(|c| grey.iter().map(move |v| c * v)).collect();
    let y = noisy::<f64>(&clean, 0.1, 6);
    let together = psnr(&plainly(&y, 128, 128, 3).image, &clean);
    let alone: Vec<f64> = y.chunks_exact(128 * 128).flat_map(|plane| plainly(plane, 128, 128, 1).image).collect();
    assert!(together > psnr(&alone, &clean) + 0.3, "{together} {}", psnr(&alone, &clean));
}

#[test]
fn units_do_not_matter() {
    let y = noisy::<f64>(&picture(90, 70), 0.05, 7);
    let scaled: Vec<f64> = y.iter().map(|v| 255.0 * v).collect();
    let (one, many) = (plainly(&y, 90, 70, 1), plainly(&scaled, 90, 70, 1));
    assert!((many.noise / 255.0 / one.noise - 1.0).abs() < 1e-12);
    for (a, b) in one.image.iter().zip(&many.image) {
        assert!((a - b / 255.0).abs() <= 1e-9 * a.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn single_precision_gives_the_same_picture() {
    let clean = picture(100, 120);
    let (double, single) = (noisy::<f64>(&clean, 0.05, 8), noisy::<f32>(&clean, 0.05, 8));
    let (double, single) = (plainly(&double, 100, 120, 1), plainly(&single, 100, 120, 1));
    assert!((psnr(&double.image, &clean) - psnr(&single.image, &clean)).abs() < 0.02);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let (rows, cols) = (1300, 300);
    let y = noisy::<f32>(&picture(rows, cols), 0.05, 9);
    let colour = [&y[..], &y[..], &y[..]].concat();
    let on = |threads: usize| melmo::threads::Threads::new(threads).unwrap().run(|| plainly(&colour, rows, cols, 3));
    let (one, three) = (on(1), on(3));
    assert!(one.strips > 1, "several strips");
    assert_eq!(one.image, three.image);
}

#[test]
fn strips_do_not_show() {
    let (rows, cols) = (1600, 512);
    let y = noisy::<f32>(&picture(rows, cols), 0.05, 10);
    let image = Planes::new(&y, rows, cols, 1).unwrap();
    let plan = Plan::new(image, &differences()).unwrap();
    assert!(plan.strips().len() > 1);
    let strips = plainly(&y, rows, cols, 1).image;
    let whole = solve(&plan.whole(&Until::done()).unwrap(), &Settings::default(), Watch::default()).unwrap();
    let out: Vec<f32> = whole.report.x.iter().map(|v| v * plan.scale() as f32).collect();
    let apart: f32 = out.iter().zip(&strips).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 0.02, "{apart}: less than half of the noise anywhere");
    let mean = out.iter().zip(&strips).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>() / out.len() as f64;
    assert!(mean < 2e-4, "{mean}");
}

fn strips_have_a_certificate_together<S: Real>() {
    let (rows, cols) = (1200, 700);
    let y = noisy::<S>(&picture(rows, cols), 0.05, 15);
    let plan = Plan::new(Planes::new(&y, rows, cols, 1).unwrap(), &differences()).unwrap();
    assert!(plan.strips().len() > 1);
    let (whole, go_on) = (plan.whole(&Until::done()).unwrap(), || ControlFlow::Continue(()));
    let solve = |settings: &Settings, until: &Until| {
        Joined::solve(&plan, settings, until, &go_on)
            .unwrap()
            .whole((&plan, &whole), settings, true, until)
            .unwrap()
            .report
    };
    let report = solve(&Settings { iterations: Some(20), ..Settings::default() }, &Until::done());
    assert_eq!((report.status, report.info.k), (Status::Iterations, 21));
    assert!(report.objective < whole.problem.objective(&whole.start));
    let certificate = report.certificate.unwrap();
    assert_eq!(certificate.precision, S::NAME);
    let tolerance = Certificate::<S>::default_tolerance();
    assert!(certificate.verify(&whole.problem, &report.x, tolerance).unwrap().passed());
    let mut forged = certificate;
    forged.dual_norm.upper *= 0.5;
    forged.dual_norm.lower *= 0.5;
    assert!(!forged.verify(&whole.problem, &report.x, tolerance).unwrap().passed());
    // The time is that of all strips together, and of the certificate: none of them has any.
    let report = solve(&Settings::default(), &Until::after(Some(Duration::ZERO)));
    assert_eq!((report.status, report.info.k, report.unseen), (Status::Time, 0, true));
    assert!(report.certificate.is_none() && report.objective.is_nan());
    let near = |(x, y): (&S, &S)| (x.f64() - y.f64()).abs() <= 4.0 * S::EPSILON * y.f64().abs();
    assert!(report.x.iter().zip(&whole.start).all(near), "but for where two strips are faded");
    // What is not finite in a strip is not finite in the whole.
    let wild = Settings { arguments: vec![("step".into(), 1e300.into())], ..Settings::method("subgradient") };
    let report = solve(&wild, &Until::done());
    assert_eq!((report.status, report.x.iter().all(|v| v.is_finite())), (Status::NotFinite, true));
}

/// What there is no time for stays as it was, and what was solved is kept.
#[test]
fn strips_that_are_not_begun_are_as_they_were() {
    let (rows, cols) = (1600, 1000);
    let y = noisy::<f32>(&picture(rows, cols), 0.05, 17);
    let plan = Plan::new(Planes::new(&y, rows, cols, 1).unwrap(), &differences()).unwrap();
    let whole = plan.whole(&Until::done()).unwrap();
    // Somebody ends it all while the first strip is solved, at its third point.
    let points = std::sync::Arc::new(AtomicUsize::new(0));
    let seen = points.clone();
    let enough = |points: &AtomicUsize| match points.load(Ordering::SeqCst) {
        0..3 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let until = Until::done().asking(move |_| enough(&seen));
    let each = || {
        points.fetch_add(1, Ordering::SeqCst);
        enough(&points)
    };
    let solve = || Joined::solve(&plan, &Settings::default(), &until, &each).unwrap();
    let joined = melmo::threads::Threads::ONE.run(solve);
    assert_eq!((joined.status, joined.untouched, plan.strips().len()), (Status::Interrupted, 2, 3));
    let report = joined.whole((&plan, &whole), &Settings::default(), true, &until).unwrap().report;
    assert_eq!((report.status, report.info.k, report.unseen), (Status::Interrupted, 3, true));
    let [first, _, last] = plan.strips() else { panic!("three") };
    let changed = |rows: std::ops::Range<usize>| {
        rows.flat_map(|i| i * cols..(i + 1) * cols).filter(|&p| report.x[p] != whole.start[p]).count()
    };
    assert!(changed(first.own.start..first.own.end - 16) > first.own.len() * cols / 2);
    assert_eq!(changed(last.own.start + 16..last.own.end), 0);
}

#[test]
fn strips_have_a_certificate_together_in_both_precisions() {
    strips_have_a_certificate_together::<f32>();
    strips_have_a_certificate_together::<f64>();
}

#[test]
fn the_learned_prior_is_the_default_up_to_four_megapixels_and_works_in_strips_above() {
    let sized = |options: &Options, shape| pieces(options, shape);
    let (plain, learned) = (Options::default(), Options { prior: Some(Prior::Learned), ..Options::default() });
    for shape in [[2048, 2048, 1], [2048, 2048, 3], [5, 7, 1]] {
        assert_eq!((sized(&plain, shape).0, sized(&plain, shape).1.len()), (Prior::Learned, 1), "{shape:?}");
    }
    assert_eq!(sized(&plain, [40, 40, 4]).0, Prior::Differences, "neither grey nor colour");
    assert_eq!(sized(&plain, [2048, 2049, 1]).0, Prior::Differences);
    assert!(sized(&learned, [2048, 2049, 1]).1.len() > 1);
    // One step is enough to see that strips are put together.
    let (rows, cols) = (4200, 1000);
    let clean = picture(rows, cols);
    let y = noisy::<f32>(&clean, 0.1, 16);
    let options = Options { noise: Some(0.1), ..learned };
    let plan = Plan::new(Planes::new(&y, rows, cols, 1).unwrap(), &options).unwrap();
    let (settings, go_on) = (Settings { iterations: Some(1), ..Settings::default() }, || ControlFlow::Continue(()));
    let joined = Joined::solve(&plan, &settings, &Until::done(), &go_on).unwrap();
    let image = plan.view().image(&joined.x, &y);
    assert!(psnr(&image, &clean) > psnr(&y, &clean) + 0.2, "{}", psnr(&image, &clean));
}

#[test]
fn nothing_to_do_leaves_the_image_as_it_is() {
    let y = noisy::<f64>(&picture(40, 50), 0.05, 11);
    let image = Planes::new(&y, 40, 50, 1).unwrap();
    let options = Options { strength: 0.0, ..Options::default() };
    let answer = denoise(image, &options, &Settings::default(), &Until::done()).unwrap();
    assert!(answer.image == y && answer.lambda == 0.0 && answer.strips == 0 && answer.penalty == "none");
    let flat = vec![0.7; 2000];
    let answer = plainly(&flat, 40, 50, 1);
    assert!(answer.image == flat && answer.noise == 0.0);
    let drawn: Vec<f64> = (0..2500).map(|p| f64::from(u8::from(p % 50 > 20))).collect();
    assert_eq!(plainly(&drawn, 50, 50, 1).image, drawn);
}

#[test]
fn images_of_any_shape_are_taken() {
    for (rows, cols, channels) in
        [(1, 1, 1), (1, 2, 1), (2, 2, 3), (3, 3, 1), (1, 300, 1), (300, 1, 3), (5, 4, 2), (17, 31, 4)]
    {
        let y = noisy::<f64>(&vec![0.5; rows * cols * channels], 0.1, 12);
        let answer = plainly(&y, rows, cols, channels);
        let furthest = answer.image.iter().map(|v| (v - 0.5).abs()).fold(0.0, f64::max);
        assert!(answer.image.len() == y.len() && furthest < 0.5, "{rows}×{cols}×{channels}: {furthest}");
    }
}

#[test]
fn a_known_noise_and_a_strength_are_obeyed() {
    let y = noisy::<f64>(&picture(64, 64), 0.05, 13);
    let image = Planes::new(&y, 64, 64, 1).unwrap();
    let rough = |options: &Options| {
        let x = denoise(image, options, &Settings::default(), &Until::done()).unwrap().image;
        x.windows(2).map(|w| (w[1] - w[0]).abs()).sum::<f64>()
    };
    let plain = rough(&Options { noise: Some(0.05), ..differences() });
    assert!(rough(&Options { noise: Some(0.1), ..differences() }) < plain);
    assert!(rough(&Options { noise: Some(0.05), strength: 2.0, ..differences() }) < plain);
}

#[test]
fn a_penalty_of_your_own_is_total_variation() {
    let grey = picture(48, 40);
    let clean = [&grey[..], &grey[..], &grey[..]].concat();
    let y = noisy::<f64>(&clean, 0.08, 14);
    let settings = Settings { iterations: Some(80), ..Settings::method("scaled") };
    for (penalty, isotropic, channels) in [
        ("l1", false, 1),
        ("l1", true, 1),
        ("mcp", true, 3),
        ("scad", true, 1),
        ("log-sum", true, 3),
        ("huber", false, 3),
    ] {
        let n = 48 * 40 * channels;
        let options = Options { penalty: Some(penalty.parse().unwrap()), isotropic, ..Options::default() };
        let answer =
            denoise(Planes::new(&y[..n], 48, 40, channels).unwrap(), &options, &settings, &Until::done()).unwrap();
        let gained = psnr(&answer.image, &clean[..n]) - psnr(&y[..n], &clean[..n]);
        assert!(gained > 3.0, "{penalty} {isotropic} {channels}: {gained} dB");
        assert!(answer.penalty.starts_with(penalty.split(':').next().unwrap()) && answer.lambda > 0.0);
    }
    let given = Options { penalty: Some("l1:lambda=0.2".parse().unwrap()), strength: 0.5, ..Options::default() };
    assert_eq!(Plan::new(Planes::new(&y[..1920], 48, 40, 1).unwrap(), &given).unwrap().lambda(), 0.1);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut y = vec![0.5f32; 12];
    assert!(Planes::new(&y, 3, 5, 1).unwrap_err().to_string().contains("12 numbers"));
    assert!(Planes::new(&y[..0], 0, 5, 1).is_err());
    y[7] = f32::NAN;
    let told = Planes::new(&y, 3, 4, 1).unwrap_err().to_string();
    assert!(told.contains("NaN at row 1, column 3"), "{told}");
    let fine = [0.5, 0.25, 1.0, 0.0];
    let image = Planes::new(&fine, 2, 2, 1).unwrap();
    for options in [
        Options { strength: -1.0, ..Options::default() },
        Options { strength: f64::NAN, ..Options::default() },
        Options { noise: Some(f64::INFINITY), ..Options::default() },
    ] {
        assert!(denoise(image, &options, &Settings::default(), &Until::done()).is_err());
    }
}

#[test]
fn large_and_tiny_images_are_denoised_like_any_other() {
    let y: Vec<f64> = noisy(&step(), 0.1, 3);
    let plain = plainly(&y, 40, 40, 1);
    for power in [300, 450, -300, -450] {
        let scale = 2.0_f64.powi(power);
        let scaled: Vec<f64> = y.iter().map(|v| v * scale).collect();
        let found = plainly(&scaled, 40, 40, 1);
        assert_eq!(found.noise, plain.noise * scale, "2^{power}");
        assert!(found.image.iter().zip(&plain.image).all(|(a, b)| *a == b * scale), "2^{power}");
    }
}

#[test]
fn samples_without_squares_are_refused() {
    for at in [1e160, 1e200, 1e300] {
        let mut y: Vec<f64> = noisy(&step(), 0.1, 3);
        y[77] = at;
        let told = Planes::new(&y, 40, 40, 1).unwrap_err().to_string();
        assert!(told.contains("other units"), "{told}");
    }
}

/// A step, 40×40.
pub fn step() -> Vec<f64> {
    (0..1600).map(|p| f64::from(u8::from(p % 40 < 20))).collect()
}

#[test]
fn the_learned_prior_removes_noise_and_says_how_far_from_the_least_it_is() {
    let (rows, cols) = (48, 64);
    let clean = picture(rows, cols);
    let y: Vec<f64> = noisy(&clean, 0.1, 5);
    let options = Options { prior: Some(Prior::Learned), noise: Some(0.1), ..Options::default() };
    let planes = Planes::new(&y, rows, cols, 1).unwrap();
    let answer = denoise(planes, &options, &Settings::default(), &Until::done()).unwrap();
    assert!(psnr(&answer.image, &clean) > psnr(&y, &clean) + 7.0, "{}", psnr(&answer.image, &clean));
    let whole = Plan::new(planes, &options).unwrap().whole(&Until::done()).unwrap();
    let certificate = solve(&whole, &Settings::default(), Watch::default()).unwrap().report.certificate;
    let found = certificate.unwrap().optimality.unwrap();
    assert!(found.gap < 0.05 * found.objective, "{found:?}");
    // To the end: certified, and much the same picture.
    let further = Settings { gap: Some(Gap::Relative(1e-4)), ..Settings::default() };
    let exact = denoise(planes, &options, &further, &Until::done()).unwrap();
    assert_eq!(exact.status, Status::Certified);
    let [near, there] = [&answer, &exact].map(|found| psnr(&found.image, &clean));
    assert!((near - there).abs() < 0.5, "{near} {there}");
}

#[test]
fn the_learned_prior_knows_units_and_refuses_what_it_is_not_for() {
    let (rows, cols) = (32, 40);
    let y: Vec<f64> = noisy(&picture(rows, cols), 0.1, 5);
    let levels: Vec<f64> = y.iter().map(|v| 255.0 * v).collect();
    let run = |y: &[f64], options: &Options, channels: usize| {
        let planes = Planes::new(y, rows / channels, cols, channels).unwrap();
        denoise(planes, options, &Settings::default(), &Until::done()).map(|answer| answer.image)
    };
    let unit = Options { prior: Some(Prior::Learned), noise: Some(0.1), range: Some(1.0), ..Options::default() };
    let eight_bit = Options { noise: Some(25.5), range: Some(255.0), ..unit.clone() };
    let (a, b) = (run(&y, &unit, 1).unwrap(), run(&levels, &eight_bit, 1).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (255.0 * a - b).abs() < 1e-6));
    let stronger = run(&y, &Options { strength: 4.0, ..unit.clone() }, 1).unwrap();
    assert!(a != stronger);
    assert!(run(&y, &unit, 2).is_err());
    assert!(run(&y, &Options { prior: None, ..unit.clone() }, 2).is_ok());
    assert!(run(&y, &Options { penalty: Some("l1".parse().unwrap()), ..unit }, 1).is_err());
    assert!("nonsense".parse::<Prior>().is_err());
    assert!("learned".parse::<Prior>().is_ok_and(|prior| prior == Prior::Learned));
}

#[test]
fn colours_are_told_apart_and_the_learned_prior_gains_by_it() {
    let (rows, cols) = (64, 72);
    let grey = picture(rows, cols);
    let clean: Vec<f64> = [0.9, 0.7, 0.5].iter().flat_map(|c| grey.iter().map(move |v| c * v)).collect();
    let y: Vec<f64> = noisy(&clean, 0.1, 5);
    let given = Options { noise: Some(0.1), ..Options::default() };
    let learned = with(&given, &y, [rows, cols, 3]);
    assert!(learned.penalty.contains("learned"), "{}", learned.penalty);
    let before = with(&Options { noise: Some(0.1), ..differences() }, &y, [rows, cols, 3]);
    let [now, before] = [&learned, &before].map(|found| psnr(&found.image, &clean));
    assert!(now > psnr(&y, &clean) + 8.0 && now > before - 0.5, "{now} {before}");
    let certificate = |options: &Options| {
        let plan = Plan::new(Planes::new(&y, rows, cols, 3).unwrap(), options).unwrap();
        let whole = plan.whole(&Until::done()).unwrap();
        solve(&whole, &Settings::default(), Watch::default()).unwrap().report.certificate.unwrap()
    };
    let found = certificate(&given).optimality.unwrap();
    assert!(found.gap < 0.05 * found.objective, "{found:?}");
}
