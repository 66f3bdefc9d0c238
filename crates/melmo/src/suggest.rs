//! What somebody may have meant by a name that nothing carries.

/// The name that is nearest to what was typed, if one is near: a third of its letters may be wrong, swapped or missing.
pub fn nearest<N: AsRef<str> + Ord>(typed: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    let typed = typed.to_lowercase();
    let letters = typed.chars().count();
    let most = (letters / 3).max(1);
    // Comparing takes memory for every pair of letters: words of other lengths are not compared.
    let wrong = |name: &str| {
        let alike = name.chars().count().abs_diff(letters) <= most;
        alike.then(|| strsim::damerau_levenshtein(&typed, name)).filter(|wrong| *wrong <= most)
    };
    let near = |name: N| Some((wrong(&name.as_ref().to_lowercase())?, name));
    names.into_iter().filter_map(near).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let known = ["camera", "football", "log-sum", "lambda", "misérables"];
        for (typed, meant) in [("camra", "camera"), ("Footbal", "football"), ("lamda", "lambda"), ("logsum", "log-sum")]
        {
            assert_eq!(nearest(typed, known), Some(meant), "{typed}");
        }
        assert_eq!(nearest("miserables", known), Some("misérables"));
        assert_eq!(nearest("tennis", known), None);
        assert_eq!(nearest::<&str>("x", []), None);
        assert_eq!(nearest(&"camera".repeat(1 << 20), known), None);
    }
}
