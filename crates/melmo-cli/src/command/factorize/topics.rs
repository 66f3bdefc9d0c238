//! Rows of H as topics: the names of the columns that weigh most in each, and how well they go together.

use std::path::Path;

use melmo::real::Real;
use melmo_tasks::factorize::{coherence, strongest};
use serde_json::{Value, json};

use super::fit::Fit;
use crate::args::Factorize;
use crate::error::Error;
use crate::input::Inputs;
use crate::render::{Summary, short};

/// What rows and columns of Y are called, where files say so.
#[derive(Default)]
pub struct Names {
    pub rows: Option<Vec<String>>,
    pub columns: Option<Vec<String>>,
}

/// Rows of Y that are named for a topic.
const ROWS: usize = 3;

impl Names {
    /// Those of files, where files are given; else as they are.
    pub fn read(self, asked: &Factorize, inputs: &mut Inputs, rows: usize, cols: usize) -> Result<Self, Error> {
        let mut names = |path: &Option<std::path::PathBuf>, what: &str, n: usize| {
            path.as_deref().map(|path| of_file(inputs, path, what, n)).transpose()
        };
        Ok(Self {
            rows: names(&asked.names_rows, "rows", rows)?.or(self.rows),
            columns: names(&asked.names_columns, "columns", cols)?.or(self.columns),
        })
    }

    /// A line a topic, where there are names; with what they mean in JSON.
    pub fn tell<S: Real>(&self, fit: &Fit<S>, w: &[S], h: &[S], top: usize, summary: &mut Summary) {
        let rank = fit.shape().2;
        if self.rows.is_none() && self.columns.is_none() {
            return;
        }
        let columns = strongest(h, rank, top);
        let coherences: Vec<Option<f64>> = match fit.by_columns().filter(|_| self.columns.is_some()) {
            Some(y) => columns.iter().map(|of| coherence(y, of)).collect(),
            None => vec![None; rank],
        };
        let rows = self.rows.as_ref().map(|_| strongest(&turned(w, rank), rank, ROWS));
        let mut told: Vec<Value> = Vec::new();
        for k in 0..rank {
            let words = called(self.columns.as_deref(), &columns[k]);
            let of_rows = rows.as_ref().map(|rows| called(self.rows.as_deref(), &rows[k]));
            let by = of_rows.as_ref().map_or(String::new(), |rows| format!(" · {}", rows.join(", ")));
            let npmi = coherences[k].map_or(String::new(), |npmi| format!(" (NPMI {})", short(npmi)));
            let words = if self.columns.is_some() { words } else { Vec::new() };
            summary.shown("topic", format!("{}: {}{by}{npmi}", k + 1, words.join(", ")));
            told.push(json!({"columns": words, "rows": of_rows, "coherence": coherences[k]}));
        }
        summary.silent("topics", told);
        let known: Vec<f64> = coherences.into_iter().flatten().collect();
        if !known.is_empty() {
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            let text = format!("NPMI {} on average: 1 always together, 0 by chance, −1 never", short(mean));
            summary.add("coherence", mean, "coherence", text);
        }
    }
}

/// The names of some places, or their numbers from 1.
fn called(names: Option<&[String]>, places: &[usize]) -> Vec<String> {
    places.iter().map(|&at| names.map_or_else(|| (at + 1).to_string(), |names| names[at].clone())).collect()
}

/// The columns of W as rows.
fn turned<S: Real>(w: &[S], rank: usize) -> Vec<S> {
    (0..rank).flat_map(|k| w.iter().skip(k).step_by(rank).copied()).collect()
}

/// One name a line, as many as there are rows or columns.
fn of_file(inputs: &mut Inputs, path: &Path, what: &str, n: usize) -> Result<Vec<String>, Error> {
    let names: Vec<String> = inputs.text(path)?.lines().map(|line| line.trim().to_string()).collect();
    if names.len() != n {
        return Err(Error::input(path, format!("{} names, one a line; Y has {n} {what}", names.len())));
    }
    Ok(names)
}
