//! What rows or columns are called, from the ids of many pieces.

use std::collections::HashMap;

use super::piece::Ids;
use crate::frame::{Cell, in_order, long};

/// Names in order, and where the ids of each piece stand among them.
pub(super) struct Named {
    pub names: Vec<String>,
    pub places: Vec<Vec<u32>>,
}

impl Named {
    /// Refuses numbers that are not whole, where all ids are numbers.
    pub fn of(pieces: Vec<Ids>) -> Result<Self, String> {
        let mut all: HashMap<&str, u32> = pieces.iter().flat_map(|ids| &ids.texts).map(|text| (&**text, 0)).collect();
        let number = |text: &str| match Cell::read(text, false) {
            Cell::Number(number) if !long(text) => Some(number),
            _ => None,
        };
        let numbers = all.keys().all(|text| number(text).is_some());
        if let Some(text) = all.keys().filter(|text| numbers && number(text).is_some_and(|v| v.fract() != 0.0)).min() {
            return Err((*text).to_owned());
        }
        let called = |text: &str| if numbers { name(text) } else { text.to_owned() };
        let mut names: Vec<String> = all.keys().map(|text| called(text)).collect();
        in_order(&mut names, String::as_str);
        names.dedup();
        let place_of: HashMap<&str, u32> = names.iter().zip(0..).map(|(name, at)| (name.as_str(), at)).collect();
        all.iter_mut().for_each(|(text, place)| *place = place_of[called(text).as_str()]);
        let places = pieces.iter().map(|ids| ids.texts.iter().map(|text| all[&**text]).collect()).collect();
        Ok(Self { names, places })
    }
}

/// One name for one whole number: 7 is also 7.0 and 007.
pub(super) fn name(text: &str) -> String {
    match Cell::read(text, false) {
        Cell::Number(number) if !long(text) && number.fract() == 0.0 => number.to_string(),
        _ => text.to_owned(),
    }
}
