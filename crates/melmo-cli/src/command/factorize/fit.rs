//! What W and H are fitted to Y by, and how well they do.

use melmo::real::Real;
use melmo::smooth::{EntryFactors, EntryLoss, Factorization, Smooth};
use melmo::sparse::Csr;
use melmo_tasks::Prepared;
use melmo_tasks::factorize::{self, eckart_young};

use crate::args::Factorize;
use crate::error::Error;
use crate::input::Inputs;
use crate::render::{Summary, short};

/// The loss of Y.
#[derive(Clone)]
pub enum Fit<S: Real> {
    /// Squares, of every place or of those that are known.
    Squares(Factorization<S>),
    /// Counts, or yes and no.
    Entries(EntryFactors<S>),
}

/// The Eckart–Young bound takes a decomposition: it is shown unasked where that has about so many operations, a second's work.
const UNASKED: f64 = 2e9;

impl<S: Real> Fit<S> {
    /// Rows and columns of Y, and the rank.
    pub fn shape(&self) -> (usize, usize, usize) {
        match self {
            Self::Squares(f) => f.shape(),
            Self::Entries(f) => f.shape(),
        }
    }

    /// Y by columns, where it is sparse.
    pub fn by_columns(&self) -> Option<&Csr<S>> {
        match self {
            Self::Squares(f) => match f.data() {
                melmo::smooth::Data::Sparse(pair) => Some(&pair[1]),
                _ => None,
            },
            Self::Entries(f) => Some(&f.entries()[1]),
        }
    }

    /// Every entry of Y, where they are at hand.
    pub fn dense(&self) -> Option<&[S]> {
        match self {
            Self::Squares(f) => f.data().dense(),
            Self::Entries(_) => None,
        }
    }

    /// The problem, from a start W, H.
    pub fn problem(self, asked: &Factorize, [w, h]: [Vec<S>; 2], inputs: &Inputs) -> Result<Prepared<S>, Error> {
        let penalty = &asked.penalty;
        Ok(match self {
            Self::Squares(f) if asked.signs() => factorize::nonnegative(f, penalty, w, h, &inputs.until)?,
            Self::Squares(f) => factorize::penalised(f, penalty, w, h)?,
            Self::Entries(f) => factorize::of_entries(f, penalty, asked.signs(), w, h)?,
        })
    }

    /// How well W and H fit, with one pass over Y.
    pub fn tell(&self, asked: &Factorize, w: &[S], h: &[S], summary: &mut Summary) -> Result<(), Error> {
        match self {
            Self::Squares(f) => {
                bound(f, asked.solving.verbose, summary);
                let error = factorize::relative_error(f, w, h)?;
                summary.add("relative_error", error, "error", format!("‖Y − WH‖²/‖Y‖² = {}", short(error)));
            }
            Self::Entries(f) => of_entries(f, w, h, summary),
        }
        Ok(())
    }
}

fn of_entries<S: Real>(f: &EntryFactors<S>, w: &[S], h: &[S], summary: &mut Summary) {
    let (entries, rank) = (&f.entries()[0], f.shape().2);
    let x = [w, h].concat();
    let value = f.value_grad(&mut vec![S::ZERO; x.len()], &x, &mut vec![S::ZERO; f.work_len()]);
    let value = value - 0.5 * f.parts().1 * melmo::vector::norm2_squared(h);
    match f.parts().0 {
        EntryLoss::Poisson { .. } => {
            let known = factorize::independent(entries);
            let share = value / known;
            let text =
                format!("{} = {} of what rank 1 (independent rows and columns) leaves", short(value), short(share));
            summary.add("divergence", value, "divergence", text);
            summary.silent("divergence_of_independence", known);
        }
        EntryLoss::Logistic => {
            let right = factorize::told_right(entries, w, h, rank);
            let mean = value / entries.len().max(1) as f64;
            let text = format!("{} an entry; {:.1} % of the entries are told right", short(mean), 100.0 * right);
            summary.add("mean_loss", mean, "loss", text);
            summary.silent("told_right", right);
        }
    }
}

/// The bound that no factors of this rank beat, where it costs little or all is to be told.
fn bound<S: Real>(f: &Factorization<S>, verbose: bool, summary: &mut Summary) {
    let (rows, cols, rank) = f.shape();
    let operations = rows as f64 * cols as f64 * rows.min(cols) as f64;
    let asked = verbose || operations <= UNASKED;
    let whole = f.data().dense().filter(|_| asked && f.mask().is_none());
    if let Some(tail) = whole.and_then(|y| eckart_young(y, rows, cols, rank)) {
        let text = format!("{} (Eckart–Young: no factors of this rank fit better)", short(tail));
        summary.add("infimum", tail, "F ≥", text);
    }
}
