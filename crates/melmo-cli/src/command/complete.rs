//! `melmo complete`.

mod ranks;

use std::path::PathBuf;
use std::sync::Arc;

use melmo::known::Feedback;
use melmo::real::Real;
use melmo_page::Gallery;
use melmo_tasks::Solved;
use melmo_tasks::complete::{Completed, Entries, MANY, Model, Offsets, Plan, Score, Wanted, choose};

use crate::args::{Answer, Complete, OffsetSteps, Solving};
use crate::command::ratings::{self, Pairs, Ratings};
use crate::command::recommendations;
use crate::error::Error;
use crate::input::Inputs;
use crate::output::{Outputs, expect_array, extension};
use crate::render::report::{heatmap_within, range};
use crate::render::{Summary, short};
use crate::session::{Ready, Solve};

/// The most places of a matrix that is drawn.
const PICTURED: usize = 1 << 24;

/// What is needed to judge and write the matrix.
pub struct Kept {
    /// Everything that is known.
    all: Arc<Entries>,
    /// What the model saw.
    known: Arc<Entries>,
    held_out: Option<Entries>,
    offsets: Offsets,
    plan: Plan,
    /// Names of the columns, of a table.
    names: Option<Vec<String>>,
    /// The list, where Y is one.
    list: Option<Ratings>,
    /// Places to predict, and to judge by.
    pairs: Option<Pairs>,
    test: Option<Pairs>,
}

/// What was read: the entries, with the names of columns, or the list that they came from.
struct Known {
    entries: Entries,
    names: Option<Vec<String>>,
    list: Option<Ratings>,
}

impl Complete {
    fn check(&self) -> Result<(), Error> {
        if let Some(share) = self.holdout.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(Error::option("holdout", format!("{share} is no share: choose a number between 0 and 1")));
        }
        for (option, value) in
            [("ridge", self.ridge), ("offset-weight", self.offset_weight), ("implicit", self.implicit)]
        {
            if value.is_some_and(|value| value <= 0.0) {
                return Err(Error::option(option, "expected a number above 0"));
            }
        }
        let lists = [&self.predictions, &self.recommendations];
        if let Some(path) = lists.into_iter().flatten().find(|path| extension(path) != "csv") {
            return Err(Error::input(path, "predictions are written as .csv"));
        }
        if self.offset_weight.is_some() && self.offsets == Answer::No {
            return Err(Error::option("offset-weight", "there are no offsets with --offsets no"));
        }
        Ok(())
    }

    fn read(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Known, Error> {
        if self.ratings {
            let mut list = ratings::read(inputs, &self.input, &self.fields, self.duplicates.into())?;
            summary.text("list", "list", list.taken.clone());
            ratings::tell_repeated(list.repeated, summary);
            let entries = list.entries.take().expect("it was just read");
            return Ok(Known { entries, names: None, list: Some(list) });
        }
        if let (None, Some(matrix)) = (&self.mask, inputs.sparse(&self.input)?) {
            let entries = Entries::of_sparse(matrix)?;
            self.expect_gaps(&entries, || false)?;
            return Ok(Known { entries, names: None, list: None });
        }
        let matrix = inputs.matrix(&self.input)?;
        let (rows, cols) = (matrix.rows, matrix.cols);
        let mask = self.mask.as_ref().map(|path| inputs.mask(path, rows, cols)).transpose()?;
        let entries = Entries::of_matrix(&matrix.data, mask.as_deref(), rows, cols)?;
        self.expect_gaps(&entries, || ratings::resembles(&matrix.data, rows, cols))?;
        Ok(Known { entries, names: matrix.names, list: None })
    }

    /// Refuses a matrix of which nothing is missing, unless something is asked of it.
    fn expect_gaps(&self, entries: &Entries, list: impl Fn() -> bool) -> Result<(), Error> {
        let (rows, cols) = (entries.rows(), entries.cols());
        if entries.count() < rows * cols || self.holdout.is_some() || self.smooth_observed {
            return Ok(());
        }
        let hint = match list() {
            true => "it looks like a list of row, column, value: say so with --ratings",
            false => "leave cells blank or NaN, give a --mask, or judge the model with --holdout",
        };
        Err(Error::input(&self.input, format!("no entry of the {rows}×{cols} matrix is missing; {hint}")))
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            offsets: self.offsets == Answer::Yes && self.implicit.is_none(),
            offset_weight: self.offset_weight,
            rank: self.rank,
            ridge: self.ridge,
            penalty: self.penalty.clone(),
            feedback: if self.implicit.is_some() { Feedback::Implicit } else { Feedback::Explicit },
        }
    }

    /// Whoever needs every place of the matrix, a file or a penalty of singular values, is refused where those are too many.
    fn check_size(&self, all: &Entries, most: usize) -> Result<(), Error> {
        let (rows, cols) = (all.rows(), all.cols());
        let needed = self.output.as_ref().or(self.penalty.is_some().then_some(&self.input));
        match needed.filter(|_| rows.saturating_mul(cols) > most) {
            None => Ok(()),
            Some(path) => {
                let way = "choose factors and ask for --pairs or --recommend, or allow more with --max-entries";
                Err(Error::input(path, format!("stands for {rows}×{cols} numbers, more than {most}: {way}")))
            }
        }
    }

    /// What was chosen, and what it was chosen by.
    fn chosen(&self, known: &Entries, plan: &Plan, summary: &mut Summary) {
        let asked = self.rank.is_some()
            && self.ridge.is_some()
            && (plan.offset_weight.is_none() || self.offset_weight.is_some());
        if known.are_many() && !asked && self.implicit.is_none() {
            let text = format!("on random rows with about {MANY} entries; ν scaled to all of them");
            summary.add("chosen_on", MANY, "chosen", text);
        }
    }

    /// How far the model is from what it was fitted to, and from what was left out.
    fn scores<S: Real>(&self, kept: &Kept, filled: &Completed<S>, summary: &mut Summary) {
        let Kept { known, held_out, offsets, .. } = kept;
        let at = |i: usize, j: usize| filled.at(i, j);
        if self.implicit.is_some() {
            return; // a confidence is no value to come near to
        }
        scored(summary, ["rmse_known", "mae_known"], "known", known.score(at), " where it was fitted");
        let Some(held_out) = held_out else { return };
        let note = format!(" on {} entries that it has not seen", held_out.count());
        scored(summary, ["rmse", "mae"], "held out", held_out.score(at), &note);
        let alone = held_out.score(|i, j| offsets.at(i, j));
        scored(summary, ["rmse_offsets", "mae_offsets"], "", alone, " by the offsets alone");
        let mean = Offsets::mean(known);
        scored(summary, ["rmse_mean", "mae_mean"], "", held_out.score(|i, j| mean.at(i, j)), " by the mean");
    }

    /// Lists for every row, where they are asked for.
    fn recommend<S: Real>(
        &self,
        kept: &Kept,
        filled: &Completed<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Some(n) = self.recommend.map(|n| n as usize) else { return Ok(()) };
        if let Some(held_out) = &kept.held_out {
            let least = self.implicit.is_none().then(|| Offsets::mean(&kept.known).mean);
            let lists = filled.recommend(kept.known.matrix(), n);
            recommendations::judged(&lists, held_out, n, least, summary);
        }
        if let Some(path) = &self.recommendations {
            let lists = filled.recommend(kept.all.matrix(), n);
            outputs.bytes(path, recommendations::csv(&lists, kept.list.as_ref()).as_bytes())?;
        }
        Ok(())
    }
}

impl Kept {
    /// The model at some places. Where a row or a column is new, the offset of the other and the mean are all there is.
    fn predicted<S: Real>(&self, pairs: &Pairs, filled: &Completed<S>) -> Vec<f64> {
        let Offsets { mean, row, column } = &self.offsets;
        let one = |&(i, j): &(Option<usize>, Option<usize>)| match (i, j) {
            (Some(i), Some(j)) => filled.at(i, j),
            _ => mean + i.map_or(0.0, |i| row[i]) + j.map_or(0.0, |j| column[j]),
        };
        pairs.places.iter().map(one).collect()
    }

    /// Says how good the model is on the list to judge by.
    fn judged<S: Real>(&self, filled: &Completed<S>, summary: &mut Summary) {
        let Some((pairs, values)) = self.test.as_ref().and_then(|pairs| Some((pairs, pairs.values.as_ref()?))) else {
            return;
        };
        let errors = self.predicted(pairs, filled).into_iter().zip(values).map(|(t, y)| t - y);
        let errors: Vec<f64> = errors.filter(|error| !error.is_nan()).collect();
        let new = pairs.places.iter().filter(|(i, j)| i.is_none() || j.is_none()).count();
        let note = format!(" on {} entries of another list, {new} in new rows or columns", errors.len());
        scored(summary, ["test_rmse", "test_mae"], "test", Score::of(errors.iter().copied()), &note);
    }
}

/// The options that say what was chosen.
fn resolved(plan: &Plan) -> Vec<(&'static str, String)> {
    let mut options: Vec<_> =
        plan.offset_weight.map(|weight| ("offset-weight", weight.to_string())).into_iter().collect();
    match &plan.model {
        Model::Factors { rank, ridge } => options.extend([("rank", rank.to_string()), ("ridge", ridge.to_string())]),
        Model::SingularValues(penalty) => options.push(("penalty", penalty.to_string())),
    }
    options
}

fn describe(all: &Entries, known: &Entries, plan: &Plan, summary: &mut Summary) {
    let (rows, cols, count) = (all.rows(), all.cols(), all.count());
    let share = 100.0 * count as f64 / (rows * cols) as f64;
    let text = format!(
        "{rows}×{cols}, {count} of {} entries known ({} %)",
        rows * cols,
        short((share * 100.0).round() / 100.0)
    );
    summary.add("shape", vec![rows, cols], "matrix", text);
    summary.silent("observed", count);
    let (no_row, no_column) = known.empty();
    if no_row + no_column > 0 {
        let text =
            format!("{no_row} rows and {no_column} columns have no entry: their offsets are 0, their factors too");
        summary.add("empty", vec![no_row, no_column], "without", text);
    }
    describe_model(plan, summary);
}

fn describe_model(plan: &Plan, summary: &mut Summary) {
    match plan.offset_weight {
        Some(weight) => {
            summary.add("offset_weight", weight, "offsets", format!("mean, rows and columns, weight {}", short(weight)))
        }
        None => summary.add("offset_weight", serde_json::Value::Null, "offsets", "none"),
    }
    match &plan.model {
        Model::Factors { rank, ridge } => {
            summary.add("model", "factors", "model", format!("WH of rank {rank}, ridge ν = {} on both", short(*ridge)));
            summary.silent("ridge", *ridge);
        }
        Model::SingularValues(penalty) => {
            summary.add("model", "singular-values", "model", format!("{penalty} on the singular values"));
            summary.silent("penalty", penalty.to_string());
        }
    }
}

fn scored(summary: &mut Summary, keys: [&'static str; 2], label: &'static str, score: Score, note: &str) {
    let text = format!("RMSE {}, MAE {}{note}", short(score.rmse), short(score.mae));
    summary.add(keys[0], score.rmse, label, text);
    summary.silent(keys[1], score.mae);
}

impl Solve for Complete {
    type Kept<S: Real> = Kept;

    fn solving(&self) -> &Solving {
        &self.solving
    }

    fn outputs(&self) -> Result<Vec<PathBuf>, Error> {
        self.output.iter().try_for_each(|path| expect_array(path))?;
        let mut files: Vec<PathBuf> = self.output.iter().cloned().collect();
        files.extend(self.predictions.clone());
        files.extend(self.recommendations.clone());
        if let (Some(path), true) = (&self.output, self.ratings) {
            files.extend(ratings::names_files(path));
        }
        Ok(files)
    }

    fn prepare<S: Real>(&self, inputs: &mut Inputs, summary: &mut Summary) -> Result<Ready<S, Kept>, Error> {
        self.check()?;
        let seed = self.solving.seed;
        let Known { entries, names, list } = self.read(inputs, summary)?;
        let all = Arc::new(entries);
        self.check_size(&all, inputs.most())?;
        let mut places = |path: &Option<PathBuf>| {
            path.as_ref().zip(list.as_ref()).map(|(path, list)| list.pairs(inputs, path)).transpose()
        };
        let (pairs, test) = (places(&self.pairs)?, places(&self.test)?);
        if let (Some(path), Some(Pairs { values: None, .. })) = (&self.test, &test) {
            return Err(Error::input(path, "has no values to judge by"));
        }
        let (held_out, known) = match self.holdout {
            Some(share) => {
                let (held_out, known) = all.split(share, seed);
                (Some(held_out), Arc::new(known))
            }
            None => (None, all.clone()),
        };
        if known.count() < 2 {
            return Err(Error::option("holdout", "leaves fewer than two entries to fit"));
        }
        let plan = choose(&known, &self.wanted(), seed, &inputs.until)?;
        describe(&all, &known, &plan, summary);
        self.chosen(&known, &plan, summary);
        let offsets = match (self.offset_steps, plan.offset_weight) {
            (OffsetSteps::Turns, Some(weight)) => Offsets::fit_by_turns(&known, weight, &inputs.until),
            _ => plan.offsets(&known),
        };
        let rest = match self.implicit {
            Some(alpha) => Entries::clone(&known).map(|_, _, y| alpha * y),
            None => offsets.residual(Entries::clone(&known)),
        };
        let prepared = plan.prepare(rest, seed, &inputs.until)?;
        let resolved = resolved(&plan);
        Ok(Ready { prepared, kept: Kept { all, known, held_out, offsets, plan, names, list, pairs, test }, resolved })
    }

    fn deliver<S: Real>(
        &self,
        kept: &Kept,
        solved: &Solved<S>,
        outputs: &mut Outputs,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Kept { all, offsets, plan, names, list, .. } = kept;
        let filled = plan.completed(offsets, &solved.report.x, &solved.report.z);
        self.scores(kept, &filled, summary);
        match plan.model {
            Model::Factors { .. } if solved.report.x.iter().all(|x| *x == S::ZERO) => {
                summary.add("rank", 0, "", "rank 0: nothing but the offsets predicts what was left out");
            }
            Model::Factors { rank, .. } => summary.silent("rank", rank),
            Model::SingularValues(_) => (),
        }
        if self.implicit.is_none() {
            kept.judged(&filled, summary);
        }
        self.recommend(kept, &filled, outputs, summary)?;
        if let (Some(pairs), Some(path)) = (&kept.pairs, &self.predictions) {
            let text = pairs.csv(&kept.predicted(pairs, &filled));
            outputs.bytes(path, text.as_bytes())?;
        }
        if let Some(path) = &self.output {
            let (cols, mut filled) = (all.cols(), filled.matrix());
            if !self.smooth_observed {
                all.iter().for_each(|(i, j, y)| filled[i * cols + j] = y);
            }
            let matrix = |shape: [usize; 2], data: &[f64]| melmo_data::Array::new(shape.to_vec(), data.to_vec());
            outputs.array(path, &matrix([all.rows(), cols], &filled)?, names.as_deref())?;
            if let Some(list) = list {
                ratings::write_names(outputs, path, [&list.rows.names, &list.columns.names])?;
            }
        }
        Ok(())
    }

    fn pictures<S: Real>(&self, kept: &Kept, solved: &Solved<S>) -> Vec<melmo_page::Item> {
        let Kept { all, offsets, plan, .. } = kept;
        if all.rows().saturating_mul(all.cols()) > PICTURED {
            return Vec::new();
        }
        let mut values = plan.completed(offsets, &solved.report.x, &solved.report.z).matrix();
        let put = |values: &mut [f64]| all.iter().for_each(|(i, j, y)| values[i * all.cols() + j] = y);
        if !self.smooth_observed {
            put(&mut values);
        }
        let shades = range(&values);
        let filled = heatmap_within("filled in", &values, all.rows(), all.cols(), shades);
        values.fill(f64::NAN);
        put(&mut values);
        let known = heatmap_within("known; what is missing is black", &values, all.rows(), all.cols(), shades);
        vec![Gallery::new([known, filled].into_iter().flatten()).title("The table").into()]
    }
}
