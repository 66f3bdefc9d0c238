//! Names for anchors and files, made from titles.

use std::collections::HashSet;

/// Hands out names that are unique among those it has handed out.
#[derive(Default)]
pub(crate) struct Slugs {
    taken: HashSet<String>,
}

impl Slugs {
    /// Lower-case letters, digits and hyphens; a number at the end when the name is taken.
    pub(crate) fn name(&mut self, title: &str) -> String {
        let base = slug(title);
        let mut name = base.clone();
        let mut n = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}-{n}");
            n += 1;
        }
        name
    }
}

fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => out.push(c),
            'à'..='å' => out.push('a'),
            'è'..='ë' => out.push('e'),
            'ö' | 'ó' | 'ô' => out.push('o'),
            'ü' | 'ú' => out.push('u'),
            'ℓ' => out.push('l'),
            _ if out.ends_with('-') || out.is_empty() => {}
            _ => out.push('-'),
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "item".to_owned() } else { out.chars().take(60).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable_and_unique() {
        let mut slugs = Slugs::default();
        assert_eq!(slugs.name("F vs. iteration: Misérables, ω = 0.3"), "f-vs-iteration-miserables-0-3");
        assert_eq!(slugs.name("‖∇F‖"), "f");
        assert_eq!(slugs.name("f"), "f-2");
        assert_eq!(slugs.name("…"), "item");
    }
}
