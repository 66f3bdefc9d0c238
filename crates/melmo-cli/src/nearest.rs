//! What somebody may have meant who typed a name that nothing carries.

use std::path::{Path, PathBuf};

use melmo::suggest::nearest;
use melmo_data::bundled;

/// What is said of an input that is not there: the bundled set or the file beside it that may have been meant.
pub fn missing(path: &Path) -> String {
    let typed = path.file_name().unwrap_or_default().to_string_lossy();
    let sets = bundled::sets().iter().map(|set| set.name.to_string());
    let bare = path.components().count() == 1;
    if let Some(name) = nearest(&typed, sets.filter(|_| bare)) {
        return format!("there is no such file; did you mean the bundled set `{name}`?");
    }
    match beside(path) {
        Some(meant) => format!("there is no such file; did you mean {}?", meant.display()),
        None if bare => "there is no such file, nor a bundled set of that name (`melmo list data`)".into(),
        None => "there is no such file".into(),
    }
}

/// What is said of something of the program's own that is not there: `what` is a file, or a folder.
pub fn missing_own(path: &Path, what: &str) -> String {
    let meant = beside(path).map_or(String::new(), |meant| format!("; did you mean {}?", meant.display()));
    format!("there is no such {what}{meant}")
}

/// What lies beside a path that is not there, and has nearly its name.
fn beside(path: &Path) -> Option<PathBuf> {
    let typed = path.file_name()?.to_string_lossy();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().take(10_000);
    let name = nearest(&typed, files.map(|file| file.file_name().to_string_lossy().into_owned()))?;
    Some(path.with_file_name(name))
}
