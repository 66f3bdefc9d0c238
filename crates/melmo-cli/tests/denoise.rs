//! `melmo denoise` on images and arrays.

use std::io::Write;
use std::process::Stdio;

use crate::support::Place;
use melmo_data::image::{self, Density, Depth, Encoding, Image, Metadata};
use melmo_data::{Array, Kind, npy};

/// A picture with edges, slopes and flat parts, 0 to 1.
fn scene(rows: usize, cols: usize, channel: usize) -> Vec<f64> {
    let pixel = |at: usize| {
        let (i, j) = (at / cols, at % cols);
        let inside = (i as f64 - rows as f64 / 2.0).hypot(j as f64 - cols as f64 / 3.0) < cols as f64 / 5.0;
        let slope = 0.2 + 0.5 * (i + channel * j) as f64 / (rows + channel * cols) as f64;
        if inside { 0.85 - 0.1 * channel as f64 } else { slope }
    };
    (0..rows * cols).map(pixel).collect()
}

fn noisy(clean: &[f64], level: f64) -> Vec<f64> {
    let mut seeded = melmo::seeded::Seeded::new(4);
    clean.iter().map(|v| v + level * seeded.normal()).collect()
}

fn picture(place: &Place, name: &str, channels: usize, depth: Depth) {
    let planes: Vec<Vec<f64>> = (0..channels).map(|channel| noisy(&scene(48, 64, channel), 0.05)).collect();
    let data = (0..48 * 64).flat_map(|at| planes.iter().map(move |plane| plane[at].clamp(0.0, 1.0))).collect();
    let image =
        Image { width: 64, height: 48, channels, depth, maximum: depth.maximum(), data, metadata: Default::default() };
    image::write(&place.file(name), &image, false).unwrap();
}

#[test]
fn with_no_options_it_just_works() {
    let place = Place::new();
    npy::write(&place.file("clean.npy"), &Array::new([96, 128], scene(96, 128, 0)).unwrap(), false).unwrap();
    let told = place.json("denoise clean.npy --add-noise 0.08 --reference clean.npy");
    let number = |key: &str| told[key].as_f64().unwrap();
    assert!((number("noise") - 0.08).abs() < 0.01, "{told}");
    assert!(number("psnr") > number("psnr_before") + 6.0 && number("ssim") > number("ssim_before") + 0.3, "{told}");
    assert_eq!(place.names(), ["clean-denoised.npy", "clean.npy"]);
}

#[test]
fn depth_channels_and_alpha_stay_as_they_were() {
    let place = Place::new();
    for (name, channels, depth) in [
        ("grey8.png", 1, Depth::Eight),
        ("grey16.png", 1, Depth::Sixteen),
        ("colour16.tif", 3, Depth::Sixteen),
        ("alpha8.png", 4, Depth::Eight),
        ("grey.pgm", 1, Depth::Eight),
        ("colour.jpg", 3, Depth::Eight),
    ] {
        picture(&place, name, channels, depth);
        place.done(&format!("denoise {name} -q -o out-{name}"));
        let (before, after) =
            (image::read(&place.file(name)).unwrap(), image::read(&place.file(&format!("out-{name}"))).unwrap());
        assert_eq!(
            (before.channels, before.depth, before.maximum),
            (after.channels, after.depth, after.maximum),
            "{name}"
        );
        assert_ne!(before.data, after.data, "{name}");
        if channels == 4 {
            let alpha = |image: &Image| image.channel(3).unwrap().data;
            assert_eq!(alpha(&before), alpha(&after));
        }
    }
}

#[test]
fn another_range_gives_the_same_picture() {
    let place = Place::new();
    let small = noisy(&scene(60, 50, 0), 0.06);
    let large: Vec<f64> = small.iter().map(|v| 255.0 * v).collect();
    for (name, data) in [("small", &small), ("large", &large)] {
        npy::write(&place.file(&format!("{name}.npy")), &Array::new([60, 50], data.clone()).unwrap(), false).unwrap();
        place.done(&format!("denoise {name}.npy -q --precision f64 -o {name}-out.npy"));
    }
    let read = |name: &str| npy::read(&place.file(name)).unwrap().data;
    let (small, large) = (read("small-out.npy"), read("large-out.npy"));
    let farthest = small.iter().zip(&large).map(|(s, l)| (s - l / 255.0).abs()).fold(0.0, f64::max);
    assert!(farthest < 1e-9, "{farthest}");
}

#[test]
fn whole_numbers_stay_whole_numbers() {
    let place = Place::new();
    let data = noisy(&scene(40, 40, 0), 0.05).iter().map(|v| (255.0 * v).round().clamp(0.0, 255.0)).collect();
    npy::write(&place.file("y.npy"), &Array { shape: vec![40, 40], data, kind: Kind::U8 }, false).unwrap();
    let told = place.done("denoise y.npy").stdout;
    assert!(told.contains("in words") && told.contains("of the global minimum"), "{told}");
    let told = place.done("denoise y.npy --prior differences --force").stdout;
    assert!(told.contains("data and penalty still pull a pixel by"), "{told}");
    let out = npy::read(&place.file("y-denoised.npy")).unwrap();
    assert_eq!((out.kind, out.shape), (Kind::U8, vec![40, 40]));
}

#[test]
fn large_pictures_do_not_depend_on_the_number_of_threads() {
    let place = Place::new();
    let data = noisy(&scene(1200, 700, 0), 0.05);
    npy::write(&place.file("y.npy"), &Array::new([1200, 700], data).unwrap(), false).unwrap();
    let told = place.json("denoise y.npy --prior differences --iterations 32 --threads 1 -o one.npy");
    assert!(told["strips"].as_u64().unwrap() > 1, "{told}");
    // Seams included, a pixel: of the size of the noise or below.
    assert!(told["rest"].as_f64().is_some_and(|rest| rest > 0.0 && rest < 0.05), "{told}");
    place.done("denoise y.npy --prior differences --iterations 32 --threads 3 -q -o three.npy");
    let bytes = |name: &str| std::fs::read(place.file(name)).unwrap();
    assert!(bytes("one.npy") == bytes("three.npy"));
}

/// The same session as a small one: precision, result, time, and what a number that is none does.
#[test]
fn large_pictures_have_all_that_small_ones_have() {
    let place = Place::new();
    let mut data = noisy(&scene(1200, 700, 0), 0.05);
    npy::write(&place.file("y.npy"), &Array::new([1200, 700], data.clone()).unwrap(), false).unwrap();
    for (options, precision) in [("", "f32"), ("--precision f64", "f64")] {
        let told = place
            .json(&format!("denoise y.npy --prior differences --iterations 4 --result r --force {options} -o out.npy"));
        assert!(told["strips"].as_u64().unwrap() > 1 && told["status"] == "iterations", "{told}");
        assert!(told["iterations"] == 4 && told["dual_norm"].as_f64().unwrap() > 0.0, "{told}");
        assert!(place.read("r/result.json").contains(&format!("\"precision\": \"{precision}\"")));
        assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    }
    let told = place.json("denoise y.npy --prior differences --iterations 100000 --time-limit 1s -o soon.npy");
    // Time for a certificate is set aside; where it was not enough, that is said.
    assert!(told["status"] == "time" && (told["dual_norm"].is_f64() || told["no_certificate"].is_string()), "{told}");
    let told = place.melmo("denoise y.npy --prior differences --json -o wild.npy --method subgradient --step 1e300");
    assert!(told.code == 1 && told.stdout.contains("not-finite"), "{}", told.stdout);
    data[400 * 700 + 3] = f64::NAN;
    npy::write(&place.file("holes.npy"), &Array::new([1200, 700], data).unwrap(), false).unwrap();
    place.refused("denoise holes.npy", &["holes.npy", "row 401, column 4"]);
}

#[test]
fn a_target_for_f_ends_a_run() {
    let place = Place::new();
    picture(&place, "y.png", 1, Depth::Eight);
    let number = |told: &serde_json::Value, key: &str| told[key].as_f64().unwrap();
    let all = place.json("denoise y.png --prior differences -o all.png");
    let target = 1.01 * number(&all, "F");
    let told = place.json(&format!("denoise y.png --prior differences --target-objective {target} -o some.png"));
    assert!(told["status"] == "target" && number(&told, "F") <= target, "{told}");
    assert!(number(&told, "iterations") < number(&all, "iterations"), "{told}");
    assert_eq!(place.melmo("denoise y.png -q --prior differences --target-objective 0 -o none.png").code, 1);
}

#[test]
fn nothing_to_do_and_nothing_that_can_be_done() {
    let place = Place::new();
    npy::write(&place.file("flat.npy"), &Array::new([9, 7], vec![0.5; 63]).unwrap(), false).unwrap();
    place.done("denoise flat.npy -q");
    assert_eq!(npy::read(&place.file("flat-denoised.npy")).unwrap().data, [0.5; 63]);
    picture(&place, "alpha.png", 4, Depth::Eight);
    place.write("broken.png", b"\x89PNG\r\n\x1a\nbroken");
    place.refused("denoise alpha.png -o out.jpg", &["out.jpg"]);
    place.refused("denoise alpha.png -o out.gif", &["out.gif", ".png"]);
    place.refused("denoise alpha.png -o out.png --reference flat.npy", &["flat.npy", "48×64"]);
    place.refused("denoise broken.png", &["broken.png"]);
    place.refused("denoise flat.npy -o out.npy --strength -1", &["strength"]);
    place.refused("denoise flat.npy -o out.npy --add-noise -1", &["--add-noise"]);
    let mut holes = vec![0.5; 63];
    holes[10] = f64::NAN;
    npy::write(&place.file("holes.npy"), &Array::new([9, 7], holes).unwrap(), false).unwrap();
    place.refused("denoise holes.npy", &["holes.npy", "row 2, column 4"]);
}

#[test]
fn a_result_verifies_and_a_report_is_written() {
    let place = Place::new();
    picture(&place, "y.png", 1, Depth::Eight);
    place.done("denoise y.png -q --result r --report page.html --penalty mcp:mu=2 --isotropic");
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    let page = place.read("page.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("Before and after"));
    place.done("denoise y.png -q --result automatic -o other.png");
    place.done("verify automatic");
}

#[test]
fn noise_is_given_in_the_picture_s_units() {
    let place = Place::new();
    picture(&place, "y.png", 1, Depth::Eight);
    let told = place.json("denoise y.png --prior differences --noise 15/255 -o a.png");
    assert_eq!(told["noise"].as_f64(), Some(15.0 / 255.0));
    place.refused("denoise y.png --noise 15 -o b.png", &["--noise", "15/255"]);
    npy::write(&place.file("clean.npy"), &Array::new([96, 128], vec![0.25; 96 * 128]).unwrap(), false).unwrap();
    let told = place.done("denoise clean.npy").stdout;
    assert!(told.contains("there is no noise to remove"), "{told}");
}

#[test]
fn the_learned_prior_comes_with_a_bound() {
    let place = Place::new();
    picture(&place, "y.png", 1, Depth::Eight);
    let told = place.json("denoise y.png -o a.png");
    assert!(told["penalty"].as_str().unwrap().starts_with("learned"), "{told}");
    assert!(told["gap"].as_f64().unwrap() < 0.05 * told["F"].as_f64().unwrap(), "{told}");
    let told = place.json("denoise y.png --prior learned --relative-gap 1e-4 --result r -o b.png");
    assert_eq!(told["status"], "certified", "{told}");
    assert!(place.done("verify r").stdout.contains("The certificate is what it says."));
    let words = place.done("denoise y.png --prior learned --precision f32 -o c.png").stdout;
    assert!(words.contains("of the least there is"), "{words}");
    picture(&place, "colour.png", 3, Depth::Eight);
    place.refused("denoise y.png --prior wavelets", &["learned"]);
    let told = place.json("denoise colour.png --result colour -o d.png");
    assert!(told["penalty"].as_str().unwrap().starts_with("learned") && told["gap"].is_f64(), "{told}");
    assert!(place.done("verify colour").stdout.contains("The certificate is what it says."));
    place.refused("denoise y.png --prior learned --penalty l1", &["--penalty"]);
}

/// The prior that was taken is part of the problem, so that a result verifies whatever the time limit was.
#[test]
fn in_a_hurry_differences_are_taken_and_said() {
    let place = Place::new();
    let large = Array::new([300, 300], noisy(&scene(300, 300, 0), 0.05)).unwrap();
    npy::write(&place.file("y.npy"), &large, false).unwrap();
    let told = place.json("denoise y.npy --time-limit 1s --iterations 2 -o soon.npy");
    assert!(told["prior"].as_str().unwrap().contains("the time is short"), "{told}");
    picture(&place, "y.png", 1, Depth::Eight);
    let told = place.json("denoise y.png --time-limit 1h --result s -o later.png");
    assert!(told.get("prior").is_none() && told["penalty"].as_str().unwrap().starts_with("learned"), "{told}");
    place.done("verify s");
}

#[test]
fn many_at_once_and_a_broken_one_is_named() {
    let place = Place::new();
    picture(&place, "a.png", 1, Depth::Eight);
    picture(&place, "c.jpg", 3, Depth::Eight);
    place.write("b.png", "no picture");
    let ran = place.melmo("denoise a.png b.png c.jpg --out-dir clean --json");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("b.png") && ran.stderr.contains("3 of 3"), "{}", ran.stderr);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((told["done"].as_u64(), &told["failed"]), (Some(2), &serde_json::json!(["b.png"])), "{told}");
    assert_eq!(told["pictures"].as_array().unwrap().len(), 2);
    // The same bytes as one by one.
    place.done("denoise a.png -q -o alone.png");
    let bytes = |name: &str| std::fs::read(place.file(name)).unwrap();
    assert!(bytes("alone.png") == bytes("clean/a.png") && place.file("clean/c.jpg").exists());
    assert!(!place.file("clean/b.png").exists());
    // What is there stays, unless --force says otherwise.
    let ran = place.melmo("denoise a.png --out-dir clean");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
    assert_eq!(place.melmo("denoise a.png c.jpg --out-dir clean --force -q").code, 0);
    // Before any work: two of one name, and several without a folder.
    std::fs::create_dir(place.file("other")).unwrap();
    picture(&place, "other/a.png", 1, Depth::Eight);
    place.refused("denoise a.png other/a.png --out-dir twice", &["a.png", "another folder"]);
    place.refused("denoise a.png c.jpg", &["--out-dir"]);
    place.refused("compare denoise a.png c.jpg --out-dir no", &["--out-dir", "only compares"]);
    place.refused("check denoise a.png --out-dir no", &["--out-dir", "solves nothing"]);
    // No time: nothing is half done, and the rest is named.
    let ran = place.melmo("denoise a.png c.jpg --out-dir late --time-limit 0 --json");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("unfinished") && ran.stdout.contains("c.jpg"), "{}", ran.stdout);
}

/// The first picture could use all the time that there is: then there is none for the others, and they are named.
#[test]
fn a_time_limit_is_one_for_all_pictures_together() {
    let place = Place::new();
    let data = noisy(&scene(1200, 700, 0), 0.05);
    for name in ["a.npy", "b.npy", "c.npy"] {
        npy::write(&place.file(name), &Array::new([1200, 700], data.clone()).unwrap(), false).unwrap();
    }
    let many = "denoise a.npy b.npy c.npy --prior differences --iterations 100000 --out-dir out --time-limit 1s --json";
    let ran = place.melmo(many);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&told["done"], &told["unfinished"]), (&0.into(), &serde_json::json!(["a.npy", "b.npy", "c.npy"])));
    assert!(!place.file("out/c.npy").exists(), "it had time of its own");
}

/// Runs it with these bytes on standard input: what standard output has, what was said, and the status.
fn piped(place: &Place, arguments: &str, bytes: &[u8]) -> (Vec<u8>, String, i32) {
    let mut command = place.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(bytes); // who refuses does not read
    let out = child.wait_with_output().unwrap();
    (out.stdout, String::from_utf8(out.stderr).unwrap(), out.status.code().unwrap())
}

#[test]
fn from_standard_input_to_standard_output() {
    let place = Place::new();
    picture(&place, "y.png", 1, Depth::Eight);
    place.done("denoise y.png -q -o file.png");
    let (given, file) = (std::fs::read(place.file("y.png")).unwrap(), std::fs::read(place.file("file.png")).unwrap());
    let (out, told, code) = piped(&place, "denoise -", &given);
    assert!(code == 0 && out == file, "the same bytes as from file to file: {told}");
    assert!(told.contains("in words") && told.contains("written"), "{told}");
    let (out, told, _) = piped(&place, "denoise - -o - --json --format tiff", &given);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert!(told["noise"].is_number() && image::parse(&out).unwrap().data == image::parse(&file).unwrap().data);
    assert_eq!(Encoding::sniffed(&out), Some(Encoding::Tiff));
    // Arrays too, and the other commands.
    let array = npy::encode(&Array::new([24, 24], scene(24, 24, 0)).unwrap()).unwrap();
    let (out, _, code) = piped(&place, "upscale - -q", &array);
    assert!(code == 0 && npy::parse(&out).unwrap().shape == [48, 48]);
    let (out, _, code) = piped(&place, "deblur - -q -o sharp.webp --kernel disk:1", &given);
    assert!(code == 0 && out.is_empty() && image::read(&place.file("sharp.webp")).unwrap().width == 64);
    // What is no picture is said in a sentence, and nothing is written.
    let refused = [
        ("denoise -", &b"no picture"[..], "no known signature"),
        ("denoise -", b"", "PNG"),
        ("denoise - -o out.png --result r", &given, "give a file"),
        ("denoise - y.png --out-dir clean", &given, "name of a file"),
        ("complete -", b"1,2", "pictures only"),
        ("denoise - --format gif", &given, "png"),
    ];
    for (line, bytes, word) in refused {
        let (out, told, code) = piped(&place, line, bytes);
        assert!(code != 0 && out.is_empty() && told.contains(word), "{line}: {told}");
    }
    // A reader that goes away early is no error.
    let mut command = place.command("denoise y.png -q -o -");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// EXIF that names a maker, and says that the camera was turned.
const TURNED: &[u8] = b"II*\0\x08\0\0\0\x02\0\
    \x0f\x01\x02\0\x04\0\0\0Leo\0\
    \x12\x01\x03\0\x01\0\0\0\x06\0\0\0\
    \0\0\0\0";

#[test]
fn nothing_a_photograph_says_is_lost() {
    let place = Place::new();
    let mut icc = vec![1; 300];
    icc[16..20].copy_from_slice(b"RGB ");
    let metadata = Metadata {
        exif: Some(TURNED.to_vec()),
        icc: Some(icc.clone()),
        density: Some(Density { x: 240.0, y: 240.0, inch: true }),
        ..Metadata::default()
    };
    for name in ["a.jpg", "a.png", "a.webp"] {
        picture(&place, "plain.png", 3, Depth::Eight);
        let plain = image::read(&place.file("plain.png")).unwrap();
        image::write(&place.file(name), &Image { metadata: metadata.clone(), ..plain }, true).unwrap();
        for out in ["out.jpg", "out.png", "out.webp", "out.tif"] {
            place.done(&format!("denoise {name} -q --prior differences --iterations 2 --force -o {out}"));
            let found = image::read(&place.file(out)).unwrap();
            assert_eq!((found.width, found.height), (48, 64), "{name} {out}: upright");
            assert_eq!(found.metadata.icc.as_ref(), Some(&icc), "{name} {out}");
            let exif = found.metadata.exif.unwrap();
            assert!(exif.windows(3).any(|part| part == b"Leo"), "{name} {out}");
            let density = found.metadata.density.filter(|density| (density.x - 240.0).abs() < 0.01);
            assert!(density.is_some() || name == "a.webp" || out == "out.webp", "{name} {out}");
        }
        place.write("plain.png", "");
        std::fs::remove_file(place.file("plain.png")).unwrap();
    }
}

#[test]
fn every_page_of_a_tiff() {
    let place = Place::new();
    let page = |rows: usize, cols: usize, depth: Depth| {
        let data = noisy(&scene(rows, cols, 0), 0.05).iter().map(|v| v.clamp(0.0, 1.0)).collect();
        let (channels, maximum, metadata) = (1, depth.maximum(), Metadata::default());
        Image { width: cols, height: rows, channels, depth, maximum, data, metadata }
    };
    let pages = [page(40, 48, Depth::Eight), page(24, 30, Depth::Single), page(40, 48, Depth::Sixteen)];
    place.write("many.tif", image::encode_pages(&pages, Encoding::Tiff).unwrap());
    let told = place.json("denoise many.tif -o clean.tif");
    assert_eq!((told["done"].as_u64(), told["pages"].as_array().unwrap().len()), (Some(3), 3), "{told}");
    let read = |name: &str| {
        image::pages_within(&std::fs::read(place.file(name)).unwrap(), &melmo_data::Limits::default()).unwrap()
    };
    for (before, after) in pages.iter().zip(read("clean.tif")) {
        assert_eq!((before.width, before.height, before.depth), (after.width, after.height, after.depth));
        assert_ne!(before.data, after.data);
    }
    // The same as alone.
    image::write(&place.file("third.tif"), &pages[2], false).unwrap();
    place.done("denoise third.tif -q");
    assert_eq!(read("third-denoised.tif")[0].data, read("clean.tif")[2].data);
    place.done("upscale many.tif -q -o large.tif");
    assert_eq!(read("large.tif")[1].width, 60);
    // No time: every page is there, as it was, and that is said.
    let ran = place.melmo("denoise many.tif --time-limit 0 -o late.tif");
    assert!(ran.code == 1 && ran.stdout.contains("unfinished"), "{}{}", ran.stdout, ran.stderr);
    assert!(read("late.tif").iter().zip(read("many.tif")).all(|(a, b)| a.data == b.data));
    place.refused("denoise many.tif -o many.png", &["many.png", "3 pages", "TIFF"]);
    place.refused("denoise many.tif -o r.tif --result r", &["--result", "3 pages"]);
}

#[test]
fn floats_stay_floats_and_gaps_are_filled() {
    let place = Place::new();
    let mut data: Vec<f64> = noisy(&scene(48, 64, 0), 0.05).iter().map(|v| 1000.0 * v - 200.0).collect();
    let float = |data: &[f64]| Image {
        width: 64,
        height: 48,
        channels: 1,
        depth: Depth::Single,
        maximum: 1,
        data: data.to_vec(),
        metadata: Metadata::default(),
    };
    image::write(&place.file("y.tif"), &float(&data), false).unwrap();
    let told = place.json("denoise y.tif");
    assert!((told["noise"].as_f64().unwrap() - 50.0).abs() < 10.0, "{told}");
    let out = image::read(&place.file("y-denoised.tif")).unwrap();
    assert!(out.depth == Depth::Single && out.data.iter().any(|v| *v > 500.0));
    // Where a format has no floats, their range becomes that of whole numbers.
    place.done("denoise y.tif -q -o y.png");
    assert_eq!(image::read(&place.file("y.png")).unwrap().depth, Depth::Sixteen);
    data[70] = f64::NAN;
    image::write(&place.file("gap.tif"), &float(&data), false).unwrap();
    place.refused("denoise gap.tif", &["gap.tif", "row 2, column 7"]);
    place.done("inpaint gap.tif -q");
    let filled = image::read(&place.file("gap-inpainted.tif")).unwrap();
    assert!(filled.data.iter().all(|v| v.is_finite()) && filled.data[71] as f32 == data[71] as f32);
}

#[cfg(unix)]
#[test]
fn ctrl_c_while_a_later_picture_is_read_says_what_is_whole() {
    let place = Place::new();
    picture(&place, "a.png", 1, Depth::Eight);
    // Nobody writes into it: it is read for ever.
    assert!(std::process::Command::new("mkfifo").arg(place.file("b.png")).status().unwrap().success());
    let mut command = place.command("denoise a.png b.png --out-dir clean -q");
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    place.wait_for("clean/a.png");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(sent.success() && ended.status.code() == Some(130), "{}: {told}", ended.status);
    assert!(told.contains("1 before this one is whole, in its place") && !told.contains("nothing to keep"), "{told}");
}
