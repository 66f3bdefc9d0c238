//! The files that damage begins with: small ones of every kind, and what once broke a reader.

use std::path::Path;

use melmo_data::formats;

/// Small files that are valid, one folder a format; and past failures.
const FOLDERS: [&str; 2] = ["../melmo-data/fuzz/seeds", "past/readers"];

/// Which of the formats, and the bytes.
pub type File = (usize, Vec<u8>);

/// All of them, in the order of their names.
pub fn all() -> Vec<File> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        add(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    found
}

fn add(folder: &Path, found: &mut Vec<File>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, found);
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let format = formats().iter().position(|format| format.extensions.contains(&extension));
        let format = format.unwrap_or_else(|| panic!("{}: no format reads it", path.display()));
        found.push((format, std::fs::read(&path).expect("a file of the project")));
    }
}
