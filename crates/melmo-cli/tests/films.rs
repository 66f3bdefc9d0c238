//! `melmo denoise` on films and volumes.

use std::io::Write;
use std::process::Stdio;

use crate::support::Place;
use melmo::seeded::Seeded;
use melmo_data::image::{self, Depth, Encoding, Image, Metadata};
use melmo_data::y4m::{Frame, Header, Sampling, Writer, parse};
use melmo_data::{Array, Kind, Limits, metrics, npy};

const FRAMES: usize = 6;

/// Frame t of a square that moves in front of a slope, without noise: one plane.
fn plane(rows: usize, cols: usize, t: usize) -> Vec<f64> {
    let pixel = |at: usize| {
        let (i, j) = (at / cols, at % cols);
        let inside = i.abs_diff(rows / 2) < rows / 5 && j.abs_diff(cols / 4 + t) < cols / 6;
        if inside { 0.8 } else { 0.25 + 0.2 * j as f64 / cols as f64 }
    };
    (0..rows * cols).map(pixel).collect()
}

/// A film of some frames, with noise of 8 bits' 12 levels.
fn film(sampling: Sampling, frames: usize) -> (Vec<u8>, Vec<Vec<f64>>) {
    let header = Header::new(48, 36, sampling).unwrap();
    let (mut writer, mut seeded, mut clean) = (Writer::new(Vec::new(), &header).unwrap(), Seeded::new(1), Vec::new());
    for t in 0..frames {
        let planes: Vec<Vec<f64>> = header.sides().iter().map(|&[rows, cols]| plane(rows, cols, t)).collect();
        let noisy = planes.iter().map(|plane| plane.iter().map(|v| v + 12.0 / 255.0 * seeded.normal()).collect());
        writer.frame(&Frame::new(noisy.collect())).unwrap();
        clean.push(planes.concat());
    }
    (writer.into_inner(), clean)
}

fn read(bytes: &[u8]) -> (Header, Vec<Frame>) {
    parse(bytes, &Limits::default()).unwrap()
}

#[test]
fn a_film_loses_its_noise_and_nothing_else() {
    let place = Place::new();
    for (sampling, name) in [(Sampling::S420, "colour"), (Sampling::Mono, "grey")] {
        let (bytes, clean) = film(sampling, FRAMES);
        place.write(&format!("{name}.y4m"), &bytes);
        let told = place.json(&format!("denoise {name}.y4m"));
        let (before, after) =
            (read(&bytes), read(&std::fs::read(place.file(&format!("{name}-denoised.y4m"))).unwrap()));
        assert_eq!((&before.0, FRAMES), (&after.0, after.1.len()));
        for ((noisy, denoised), clean) in before.1.iter().zip(&after.1).zip(&clean) {
            let psnr = |frame: &Frame| metrics::psnr(clean, &frame.planes.concat(), 1.0).unwrap();
            assert!(psnr(denoised) > psnr(noisy) + 3.0, "{} {}", psnr(noisy), psnr(denoised));
        }
        let sigmas: Vec<f64> = told["noise"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        assert!(sigmas.len() == FRAMES && sigmas.iter().all(|s| (s - 12.0 / 255.0).abs() < 0.015), "{sigmas:?}");
        assert_eq!(told["frames"], FRAMES);
        assert!(told["relative_gap"].as_f64().unwrap() < 0.02, "{told}");
    }
}

#[test]
fn a_film_goes_through_pipes_with_the_bytes_that_it_has_as_a_file() {
    let place = Place::new();
    let (bytes, _) = film(Sampling::S420, FRAMES);
    place.write("film.y4m", &bytes);
    place.done("denoise film.y4m -o clean.y4m -q --prior differences");
    for format in ["", "--format y4m"] {
        let mut command = place.command(&format!("denoise - --json --prior differences {format}"));
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success() && out.stdout == std::fs::read(place.file("clean.y4m")).unwrap());
        let told: serde_json::Value = serde_json::from_slice(&out.stderr).unwrap();
        assert_eq!(told["frames"], FRAMES);
    }
}

#[test]
fn a_folder_of_frames_becomes_a_folder_of_frames() {
    let place = Place::new();
    std::fs::create_dir(place.file("frames")).unwrap();
    let mut seeded = Seeded::new(2);
    for t in 0..3 {
        let data = plane(24, 32, t).into_iter().flat_map(|v| [v + 0.05 * seeded.normal(), 0.5]).collect();
        let (maximum, metadata) = (255, Metadata::default());
        let frame = Image { width: 32, height: 24, channels: 2, depth: Depth::Eight, maximum, data, metadata };
        image::write(&place.file(&format!("frames/{t}.png")), &frame, false).unwrap();
    }
    place.write("frames/notes.txt", "no frame");
    let told = place.json("denoise frames -o clean");
    assert_eq!(told["frames"], 3);
    let mut names: Vec<_> =
        std::fs::read_dir(place.file("clean")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["0.png", "1.png", "2.png"]);
    let (before, after) = ["frames/1.png", "clean/1.png"].map(|name| image::read(&place.file(name)).unwrap()).into();
    assert_eq!(before.channel(1), after.channel(1), "alpha stays");
    let error = |image: &Image| metrics::psnr(&plane(24, 32, 1), &image.channel(0).unwrap().data, 1.0).unwrap();
    assert!(error(&after) > error(&before) + 3.0);
    place.refused("denoise frames -o clean", &["clean", "exists already"]);
    place.refused("denoise frames -o clean.y4m", &["clean.y4m", "folder"]);
    place.done("denoise frames -o clean -q --force");
    std::fs::create_dir(place.file("empty")).unwrap();
    place.refused("denoise empty", &["empty", "no pictures"]);
}

#[test]
fn what_was_done_of_a_film_is_kept() {
    let place = Place::new();
    let (bytes, _) = film(Sampling::S420, FRAMES);
    // It breaks off in its last frame.
    place.write("broken.y4m", &bytes[..bytes.len() - 10]);
    let ran = place.melmo("denoise broken.y4m --prior differences");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("bytes of frame 6") && ran.stdout.contains("ends after frame 5"), "{}", ran.stdout);
    assert_eq!(read(&std::fs::read(place.file("broken-denoised.y4m")).unwrap()).1.len(), FRAMES - 1);
    // There is no time at all.
    place.write("film.y4m", &bytes);
    let ran = place.melmo("denoise film.y4m --time-limit 1ms --json -q");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let frames = read(&std::fs::read(place.file("film-denoised.y4m")).unwrap()).1.len();
    assert!(told["frames"] == frames && frames < FRAMES && told["unfinished"] == true, "{told}");
}

#[test]
fn what_does_not_go_with_a_film_is_refused() {
    let place = Place::new();
    place.write("film.y4m", film(Sampling::Mono, 1).0);
    place.write("bad.y4m", b"YUV4MPEG2 W0 H3\n");
    image::write(
        &place.file("still.png"),
        &Image::from_array(&Array::new([8, 8], vec![0.5; 64]).unwrap(), Depth::Eight).unwrap(),
        false,
    )
    .unwrap();
    for (arguments, parts) in [
        ("denoise film.y4m --trace t.csv", &["--trace", "film.y4m"][..]),
        ("denoise film.y4m --reference film.y4m", &["--reference", "film.y4m"]),
        ("denoise film.y4m -o clean.png", &["clean.png", ".y4m"]),
        ("denoise film.y4m --format png -o clean.y4m", &["--format", "png"]),
        ("denoise film.y4m --noise 15", &["--noise", "15/255"]),
        ("denoise bad.y4m", &["bad.y4m", "a width"]),
        ("denoise still.png --format y4m", &["--format", "y4m"]),
        ("denoise still.png -o still.y4m", &["still.y4m"]),
    ] {
        place.refused(arguments, parts);
    }
}

/// A ball in noise.
fn volume(side: usize, sigma: f64) -> [Vec<f64>; 2] {
    let middle = side as f64 / 2.0;
    let away = |p: usize| {
        [p / side / side, p / side % side, p % side].map(|i| (i as f64 - middle).powi(2)).iter().sum::<f64>()
    };
    let clean: Vec<f64> =
        (0..side.pow(3)).map(|p| if away(p).sqrt() < 0.35 * side as f64 { 0.7 } else { 0.3 }).collect();
    let mut seeded = Seeded::new(5);
    let noisy = clean.iter().map(|v| v + sigma * seeded.normal()).collect();
    [clean, noisy]
}

#[test]
fn a_volume_is_one_problem_with_a_certificate() {
    let place = Place::new();
    let [clean, noisy] = volume(20, 0.1);
    for (name, data) in [("clean", &clean), ("noisy", &noisy)] {
        npy::write(&place.file(&format!("{name}.npy")), &Array::new([20, 20, 20], data.clone()).unwrap(), false)
            .unwrap();
    }
    let told = place.json("denoise noisy.npy -o out.npy --reference clean.npy --result kept");
    let number = |key: &str| told[key].as_f64().unwrap();
    assert!((number("noise") - 0.1).abs() < 0.015 && number("psnr") > number("psnr_before") + 6.0, "{told}");
    let out = npy::read(&place.file("out.npy")).unwrap();
    assert_eq!((out.shape, out.kind), (vec![20, 20, 20], Kind::F64));
    place.done("verify kept");
    // Whole numbers stay whole.
    let whole = Array {
        shape: vec![20; 3],
        data: noisy.iter().map(|v| (255.0 * v).round().clamp(0.0, 255.0)).collect(),
        kind: Kind::U8,
    };
    npy::write(&place.file("whole.npy"), &whole, false).unwrap();
    place.done("denoise whole.npy -q");
    assert_eq!(npy::read(&place.file("whole-denoised.npy")).unwrap().kind, Kind::U8);
    place.refused("denoise noisy.npy -o slices.tif", &["slices.tif", ".npy"]);
    place.refused("denoise noisy.npy --prior learned -o a.npy", &["learned", "volume"]);
    place.refused("denoise noisy.npy --init clean.npy -o a.npy", &["--init", "volume"]);
}

#[test]
fn pages_are_slices_where_that_is_asked_for() {
    let place = Place::new();
    let [clean, noisy] = volume(16, 0.1);
    let pages = |data: &[f64]| -> Vec<u8> {
        let page =
            |data: &[f64]| Image::from_array(&Array::new([16, 16], data.to_vec()).unwrap(), Depth::Sixteen).unwrap();
        image::encode_pages(&data.chunks(256).map(page).collect::<Vec<_>>(), Encoding::Tiff).unwrap()
    };
    place.write("noisy.tif", pages(&noisy));
    place.write("clean.tif", pages(&clean));
    let told = place.json("denoise noisy.tif --volume -o out.tif --reference clean.tif");
    assert!(told["psnr"].as_f64().unwrap() > told["psnr_before"].as_f64().unwrap() + 5.0, "{told}");
    let out = image::pages_within(&std::fs::read(place.file("out.tif")).unwrap(), &Limits::default()).unwrap();
    assert!(out.len() == 16 && out.iter().all(|page| page.depth == Depth::Sixteen));
    // Without --volume each is a picture.
    assert_eq!(place.json("denoise noisy.tif -o apart.tif --prior differences")["pages"].as_array().unwrap().len(), 16);
}
