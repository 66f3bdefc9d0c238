//! Lists of what a row would like: how they are written, and how good they are.

use melmo_tasks::complete::{Entries, Ranking, Suggestion};

use crate::command::ratings::Ratings;
use crate::output::quoted;
use crate::render::{Summary, short};

/// A table: row, place, column, prediction; by names, or by numbers from 1 where there are none.
pub fn csv(lists: &[Vec<Suggestion>], names: Option<&Ratings>) -> String {
    let name =
        |names: Option<&Vec<String>>, at: usize| names.map_or_else(|| (at + 1).to_string(), |names| quoted(&names[at]));
    let (rows, columns) = (names.map(|list| &list.rows.names), names.map(|list| &list.columns.names));
    let mut text = String::from("row,place,column,prediction\n");
    for (i, list) in lists.iter().enumerate() {
        let row = name(rows, i);
        for (place, (j, value)) in list.iter().enumerate() {
            text += &format!("{row},{},{},{value}\n", place + 1, name(columns, *j));
        }
    }
    text
}

/// Says how good lists are, by what was left out: relevant is what is at least `least`.
pub fn judged(lists: &[Vec<Suggestion>], held_out: &Entries, k: usize, least: Option<f64>, summary: &mut Summary) {
    let Ranking { precision, ndcg, rows, .. } = Ranking::of(lists, held_out, k, least.unwrap_or(f64::NEG_INFINITY));
    let relevant = least.map_or_else(String::new, |least| format!("; relevant is what is at least {}", short(least)));
    let text = format!("precision@{k} {}, NDCG@{k} {} over {rows} rows{relevant}", short(precision), short(ndcg));
    summary.add("precision", precision, "lists", text);
    summary.silent("ndcg", ndcg);
    summary.silent("ranked_rows", rows);
}
