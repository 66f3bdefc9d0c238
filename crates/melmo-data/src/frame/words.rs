//! A column of words: what they are, and which row has which.

use std::collections::HashMap;

/// No word.
const NONE: u32 = u32::MAX;

/// The words of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// The column.
    pub column: usize,
    /// The words there are, ascending; as numbers where all of them are whole.
    pub levels: Vec<String>,
    /// The line and the text of the first cell that is no number; none where all are.
    pub first: Option<(usize, String)>,
    /// Cells that are numbers.
    pub numbers: usize,
    codes: Vec<u32>,
}

impl Words {
    /// The word of every row, by its place among the levels.
    pub fn codes(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        self.codes.iter().map(|&code| (code != NONE).then_some(code as usize))
    }

    /// The word of a row.
    #[must_use]
    pub fn at(&self, row: usize) -> Option<&str> {
        self.codes.get(row).filter(|code| **code != NONE).map(|&code| self.levels[code as usize].as_str())
    }

    /// How often each level occurs.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.levels.len()];
        self.codes().flatten().for_each(|code| counts[code] += 1);
        counts
    }

    /// More than four words, and no two rows have the same: who a row is, and nothing of its kind.
    #[must_use]
    pub fn are_names(&self) -> bool {
        self.first.is_some()
            && self.numbers == 0
            && self.levels.len() > 4
            && self.counts().iter().all(|&count| count == 1)
    }
}

/// Puts names in order: as numbers where all of them are whole, else as words.
pub fn in_order<T>(named: &mut [T], name: impl Fn(&T) -> &str) {
    let number = |one: &T| name(one).parse::<i128>().ok();
    named.sort_by(|a, b| name(a).cmp(name(b)));
    if named.iter().all(|one| number(one).is_some()) {
        named.sort_by_key(|one| number(one)); // stable: 7 and 007 stay in the order of their digits
    }
}

/// Words on the way.
#[derive(Default)]
pub(crate) struct Collected {
    places: HashMap<String, u32>,
    codes: Vec<u32>,
}

impl Collected {
    /// One more row; a missing cell has no word.
    pub fn push(&mut self, word: Option<&str>) {
        let next = self.places.len() as u32;
        let code = word.map_or(NONE, |word| match self.places.get(word) {
            Some(&code) => code,
            None => *self.places.entry(word.to_owned()).or_insert(next),
        });
        self.codes.push(code);
    }

    /// The rows there are.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// The first row has a word that no other row has.
    pub fn first_is_alone(&self) -> bool {
        self.codes.first().is_some_and(|first| *first != NONE && !self.codes[1..].contains(first))
    }

    /// Levels in order, without the rows before `from`.
    pub fn finish(mut self, column: usize, from: usize, first: Option<(usize, String)>, numbers: usize) -> Words {
        self.codes.drain(..from);
        let mut used = vec![false; self.places.len()];
        self.codes.iter().filter(|code| **code != NONE).for_each(|&code| used[code as usize] = true);
        let mut found: Vec<(String, u32)> = self.places.into_iter().filter(|(_, code)| used[*code as usize]).collect();
        in_order(&mut found, |(word, _)| word);
        let mut place = vec![NONE; used.len()];
        found.iter().enumerate().for_each(|(at, (_, code))| place[*code as usize] = at as u32);
        self.codes.iter_mut().filter(|code| **code != NONE).for_each(|code| *code = place[*code as usize]);
        Words { column, levels: found.into_iter().map(|(word, _)| word).collect(), first, numbers, codes: self.codes }
    }
}
