//! What somebody may have meant who typed a name that nothing carries.

use std::path::Path;

use melmo_data::bundled;

/// The name that is nearest to what was typed, if one is near: a third of its letters may be wrong, swapped or missing.
pub fn nearest(typed: &str, names: impl IntoIterator<Item = String>) -> Option<String> {
    let wrong = |name: &String| strsim::damerau_levenshtein(&typed.to_lowercase(), &name.to_lowercase());
    let near = names.into_iter().map(|name| (wrong(&name), name)).min()?;
    (near.0 <= (typed.chars().count() / 3).max(1)).then_some(near.1)
}

/// What is said of an input that is not there: the bundled set or the file beside it that may have been meant.
pub fn missing(path: &Path) -> String {
    let typed = path.file_name().unwrap_or_default().to_string_lossy();
    let sets = bundled::sets().iter().map(|set| set.name.to_string());
    let bare = path.components().count() == 1;
    if let Some(name) = nearest(&typed, sets.filter(|_| bare)) {
        return format!("there is no such file; did you mean the bundled set `{name}`?");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().take(10_000);
    match nearest(&typed, files.map(|file| file.file_name().to_string_lossy().into_owned())) {
        Some(name) => format!("there is no such file; did you mean {}?", path.with_file_name(name).display()),
        None if bare => "there is no such file, nor a bundled set of that name (`melmo list data`)".into(),
        None => "there is no such file".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let of = |typed| nearest(typed, ["camera", "football", "miserables"].map(String::from));
        assert_eq!(of("camra").as_deref(), Some("camera"));
        assert_eq!(of("Footbal").as_deref(), Some("football"));
        assert_eq!(of("misérables").as_deref(), Some("miserables"));
        assert_eq!(of("tennis"), None);
        assert_eq!(nearest("x", []), None);
    }
}
