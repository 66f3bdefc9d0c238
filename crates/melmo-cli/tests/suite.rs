//! Every test of the program from outside, as one program: it is linked once, and its tests share the cores.
//!
//! One file of them: `cargo test --release -p melmo-cli --test suite denoise::`.

mod certificates;
mod check;
mod checkpoints;
mod commands;
mod compare;
mod complete;
mod counts;
mod denoise;
mod failures;
mod films;
mod golden;
mod limits;
mod places;
mod regress;
mod reproduce;
mod restore;
mod resume;
mod rpca;
mod support;

/// A file that is named nowhere would be a test that never runs.
#[test]
fn every_file_of_tests_is_named_here() {
    let (folder, named) = (std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), include_str!("suite.rs"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "suite") {
            assert!(named.contains(&format!("\nmod {module};\n")), "tests/{name} is not in tests/suite.rs");
        }
    }
}
