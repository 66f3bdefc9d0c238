//! `melmo rpca`: matrices, stacks and folders of frames.

use crate::support::Place;
use melmo_data::image::{Depth, Image};
use melmo_data::{Array, Kind, npy};

const SHAPE: [usize; 3] = [16, 12, 14];

/// A still gradient and a bright block that moves over it, with a little noise.
fn video() -> (Vec<f64>, Vec<bool>) {
    let [frames, rows, cols] = SHAPE;
    let (mut y, mut moving) = (Vec::new(), Vec::new());
    for (t, i, j) in (0..frames * rows * cols).map(|at| (at / (rows * cols), at / cols % rows, at % cols)) {
        let inside = (4..8).contains(&i) && (j + cols - t % cols) % cols < 3;
        let noise = 0.01 * (((131 * t + 37 * i + 17 * j) * 7919 % 1000) as f64 / 500.0 - 1.0);
        moving.push(inside);
        y.push(0.2 + 0.02 * (i + j) as f64 + if inside { 0.3 } else { 0.0 } + noise);
    }
    (y, moving)
}

fn stack(place: &Place, name: &str, data: Vec<f64>) {
    npy::write(&place.file(name), &Array::new(SHAPE.to_vec(), data).unwrap(), true).unwrap();
}

fn folder(place: &Place, name: &str, data: &[f64]) {
    std::fs::create_dir(place.file(name)).unwrap();
    let [_, rows, cols] = SHAPE;
    for (at, frame) in data.chunks(rows * cols).enumerate() {
        let image = Image::from_array(&Array::new(vec![rows, cols], frame.to_vec()).unwrap(), Depth::Eight).unwrap();
        melmo_data::image::write(&place.file(name).join(format!("f{at:03}.png")), &image, false).unwrap();
    }
}

#[test]
fn a_stack_comes_apart() {
    let place = Place::new();
    let (y, moving) = video();
    stack(&place, "y.npy", y);
    let facts = place.json("rpca y.npy -o out.npy --report page.html");
    let page = place.read("page.html");
    assert!(["frame 9", "background 9", "foreground 9"].iter().all(|part| page.contains(part)));
    assert!(facts["rank"].as_u64().unwrap() <= 2 && facts["nonzeros"].as_f64().unwrap() < 0.1, "{facts}");
    let background = npy::read(&place.file("out.background.npy")).unwrap();
    let foreground = npy::read(&place.file("out.foreground.npy")).unwrap();
    assert_eq!((background.shape, &foreground.shape), (SHAPE.to_vec(), &SHAPE.to_vec()));
    let wrong = foreground.data.iter().zip(&moving).filter(|(s, moving)| (s.abs() > 0.15) != **moving).count();
    assert!(wrong <= 4, "{wrong}");
    let error = |at: usize| background.data[at] - (0.2 + 0.02 * (at / 14 % 12 + at % 14) as f64);
    assert!((0..background.data.len()).all(|at| error(at).abs() < 0.05));
}

#[test]
fn a_folder_of_images_becomes_one() {
    let place = Place::new();
    folder(&place, "frames", &video().0);
    let facts = place.json("rpca frames --images apart");
    assert_eq!(facts["shape"], serde_json::json!(SHAPE));
    let names: Vec<_> = std::fs::read_dir(place.file("apart")).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(names.len(), 32);
    let image = melmo_data::image::read(&place.file("apart/foreground-0001.png")).unwrap();
    assert!((image.data[0] - 0.5).abs() < 0.01 && image.data[5 * 14 + 1] > 0.9);
    place.refused("rpca frames --images apart", &["exists already"]);
    place.done("rpca frames --images apart --force -q");
    place.write("apart/mine.txt", "");
    place.refused("rpca frames --images apart --force", &["other files"]);
}

/// The same video, each colour another part of it.
fn coloured() -> Vec<f64> {
    video().0.iter().flat_map(|y| [0.9, 0.6, 0.3].map(|part| part * y)).collect()
}

#[test]
fn colours_stay_colours() {
    let place = Place::new();
    let [frames, rows, cols] = SHAPE;
    let shape = vec![frames, rows, cols, 3];
    npy::write(&place.file("y.npy"), &Array::new(shape.clone(), coloured()).unwrap(), true).unwrap();
    let facts = place.json("rpca y.npy -o out.npy --images apart --report page.html");
    assert_eq!(facts["shape"], serde_json::json!(shape));
    let [background, foreground] =
        ["background", "foreground"].map(|part| npy::read(&place.file(&format!("out.{part}.npy"))).unwrap());
    assert_eq!((&background.shape, &foreground.shape), (&shape, &shape));
    let moving = video().1;
    let wrong = (0..moving.len()).filter(|at| (foreground.data[3 * at] > 0.15) != moving[*at]).count();
    assert!(wrong <= 4, "{wrong}");
    let reddish = |pixel: &[f64]| (pixel[0] - 3.0 * pixel[2]).abs() < 0.2;
    assert!(background.data.chunks(3).all(reddish));
    let image = melmo_data::image::read(&place.file("apart/background-0003.png")).unwrap();
    assert_eq!((image.height, image.width, image.channels), (rows, cols, 3));
    // What was written in colour is read in colour.
    let facts = place.json("rpca apart --noise 0.01");
    assert_eq!(facts["shape"], serde_json::json!([2 * frames, rows, cols, 3]));
    npy::write(&place.file("four.npy"), &Array::new(vec![2, 3, 4, 5], vec![0.0; 120]).unwrap(), true).unwrap();
    place.refused("rpca four.npy", &["four.npy", "× 3"]);
}

#[test]
fn a_large_film_takes_single_precision() {
    let place = Place::new();
    let (frames, rows, cols) = (2, 600, 900);
    let entry = |at: usize| 0.3 + ((at % (rows * cols)) as f64 / 9.0).sin() * 0.1 + ((at * 7919) % 100) as f64 * 1e-4;
    let film = Array::new(vec![frames, rows, cols], (0..frames * rows * cols).map(entry).collect()).unwrap();
    npy::write(&place.file("y.npy"), &film, true).unwrap();
    for (given, kind) in [("", Kind::F32), ("--precision f64", Kind::F64)] {
        place.done(&format!("rpca y.npy --iterations 1 --noise 0.01 -q --force -o out.npy {given}"));
        assert_eq!(npy::read(&place.file("out.background.npy")).unwrap().kind, kind);
    }
}

#[test]
fn what_was_chosen_can_be_said_and_is_verified() {
    let place = Place::new();
    let (mut y, _) = video();
    y[17] = f64::NAN;
    stack(&place, "y.npy", y);
    let facts = place.json("rpca y.npy --result r --iterations 50");
    assert_eq!(facts["missing"], 1);
    place.done("verify r");
    let saved: serde_json::Value = serde_json::from_str(&place.read("r/result.json")).unwrap();
    let option = |name: &str| {
        let options = saved["job"]["options"].as_array().unwrap();
        options.iter().find(|option| option[0] == name).unwrap()[1].as_str().unwrap().to_string()
    };
    let given = format!("--low-rank {} --sparse {}", option("low-rank"), option("sparse"));
    let again = place.json(&format!("rpca y.npy --iterations 50 --threads 1 {given}"));
    assert_eq!(again["F"], facts["F"]);
    assert!(again["noise"].is_null());
    let convex = place.json("rpca y.npy --low-rank l1 --sparse l1 --precision f32 --iterations 50");
    assert!(convex["sparse"].as_str().unwrap().starts_with("l1:lambda="));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    let (y, _) = video();
    stack(&place, "y.npy", y.clone());
    stack(&place, "gaps.npy", vec![f64::NAN; y.len()]);
    place.write("m.csv", "1,2\n3,4\n");
    folder(&place, "frames", &y);
    std::fs::create_dir(place.file("empty")).unwrap();
    let small = Image::from_array(&Array::new(vec![2, 2], vec![0.0; 4]).unwrap(), Depth::Eight).unwrap();
    melmo_data::image::write(&place.file("frames/z.png"), &small, false).unwrap();
    place.refused("rpca gaps.npy", &["every entry is missing"]);
    place.refused("rpca empty", &["0 images"]);
    place.refused("rpca frames", &["z.png", "one size"]);
    place.refused("rpca m.csv --images out", &["--images", "matrix"]);
    place.refused("rpca y.npy -o out.csv", &["out.csv", ".npy"]);
    place.refused("rpca y.npy --sparse mpc", &["mcp"]);
    place.refused("rpca none.npy", &["none.npy"]);
}
