//! What somebody may have meant by a name that nothing carries.

/// The name that is nearest to what was typed, if one is near: a third of its letters may be wrong, swapped or missing.
pub fn nearest<N: AsRef<str> + Ord>(typed: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    let wrong = |name: &N| strsim::damerau_levenshtein(&typed.to_lowercase(), &name.as_ref().to_lowercase());
    let near = names.into_iter().map(|name| (wrong(&name), name)).min()?;
    (near.0 <= (typed.chars().count() / 3).max(1)).then_some(near.1)
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
    }
}
