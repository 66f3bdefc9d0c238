//! The weights that were not given, by the entries that a fit without them predicts best.

use melmo::known::Feedback;
use melmo::real::Real;

use crate::choice::PenaltyChoice;
use crate::complete::alternate::{Alternating, Pair};
use crate::complete::entries::{Entries, MANY};
use crate::complete::fit::{self, Model, Plan};
use crate::complete::offsets::Offsets;
use crate::error::Error;
use crate::number;
use crate::until::Until;

/// What is asked for; what is left out is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Take m + aᵢ + bⱼ off first.
    pub offsets: bool,
    /// The weight of the offsets.
    pub offset_weight: Option<f64>,
    /// Columns of W: factors.
    pub rank: Option<usize>,
    /// ν of both factors.
    pub ridge: Option<f64>,
    /// A penalty of the singular values, λ included or not: no factors.
    pub penalty: Option<PenaltyChoice>,
    /// What an entry says: [`Feedback::Implicit`] is for factors without offsets.
    pub feedback: Feedback,
}

/// The share of the entries that weights are judged by.
pub const JUDGES: f64 = 0.1;
/// Ranks that are tried.
const RANKS: [usize; 9] = [1, 2, 3, 4, 5, 6, 8, 12, 20];
/// Weights that are tried.
const OFFSET_WEIGHTS: [f64; 7] = [0.3, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
/// Largest rows·cols·min(rows, cols) for which the singular values are tried without being asked for: a decomposition a step.
const SMALL: usize = 300_000;

/// The most places of a matrix whose singular values are penalised: all of them are kept, and decomposed at every step.
const PLACES: usize = 1 << 28;

/// What counts as better, as a share of the error without any model: of trials that are as good, the first and simplest wins.
const BETTER: f64 = 1e-4;

fn margin(judges: &Entries) -> f64 {
    BETTER * judges.score(|_, _| 0.0).rmse
}

/// The best of some trials: the least error, and what reached it.
struct Best<T> {
    rmse: f64,
    /// Gains below this are none.
    margin: f64,
    what: Option<T>,
}

impl<T> Best<T> {
    fn new(margin: f64) -> Self {
        Self { rmse: f64::INFINITY, margin, what: None }
    }

    /// Keeps what is better than the best so far.
    fn take(&mut self, rmse: f64, what: T) {
        if rmse < self.rmse - self.margin || (self.what.is_none() && rmse.is_finite()) {
            (self.rmse, self.what) = (rmse, Some(what));
        }
    }
}

/// Completes what is asked for: a tenth of the entries, drawn with the seed, judges fits to the others. When it is over before
/// all are tried, the best so far is chosen.
///
/// Of [`MANY`] entries a sample of rows is tried on, and the ridge that is best there is scaled to what noise weighs in all of them.
pub fn choose(entries: &Entries, wanted: &Wanted, seed: u64, until: &Until) -> Result<Plan, Error> {
    let (rows, cols) = (entries.rows(), entries.cols());
    if let Some(plan) = given(wanted, [rows, cols])? {
        return Ok(plan);
    }
    if wanted.penalty.is_some() && rows.saturating_mul(cols) > PLACES {
        let found = format!("a {rows}×{cols} matrix");
        let expected = format!("at most {PLACES} places, all of which it keeps: choose factors");
        return Err(Error::input("a penalty of singular values", found, expected));
    }
    if !entries.are_many() || wanted.penalty.is_some() {
        return choose_by(entries, wanted, seed, until);
    }
    let sample = entries.sample(MANY, seed ^ 0x726f_7773);
    let mut plan = choose_by(&sample, wanted, seed, until)?;
    if let (Model::Factors { ridge, .. }, None) = (&mut plan.model, wanted.ridge) {
        *ridge = number::tidy(*ridge * crowd(entries) / crowd(&sample));
    }
    Ok(plan)
}

/// The size of independent noise in a matrix with these entries, up to a factor: √(entries of a row) + √(entries of a column), each
/// as an entry finds them on average.
fn crowd(entries: &Entries) -> f64 {
    let mut of_column = vec![0_u32; entries.cols()];
    entries.matrix().columns().iter().for_each(|&j| of_column[j as usize] += 1);
    let mean = |squares: f64| (squares / entries.count() as f64).sqrt();
    let by_row = (0..entries.rows()).map(|i| (entries.matrix().span(i).len() as f64).powi(2)).sum();
    mean(by_row) + mean(of_column.iter().map(|&count| f64::from(count).powi(2)).sum())
}

/// Factors of a matrix with these sides, where nothing is left to be chosen.
pub fn given(wanted: &Wanted, [rows, cols]: [usize; 2]) -> Result<Option<Plan>, Error> {
    let most = rows.min(cols);
    check_rank(wanted.rank, most)?;
    if wanted.feedback == Feedback::Implicit {
        return implicit(most, wanted).map(Some);
    }
    let (Some(rank), Some(ridge), None) = (wanted.rank, wanted.ridge, &wanted.penalty) else { return Ok(None) };
    let offset_weight = wanted.offset_weight.filter(|_| wanted.offsets);
    let plan = Plan { offset_weight, model: Model::Factors { rank, ridge }, feedback: Feedback::Explicit };
    Ok((offset_weight.is_some() || !wanted.offsets).then_some(plan))
}

/// Nothing judges confidences: what is left open is what others take.
fn implicit(most: usize, wanted: &Wanted) -> Result<Plan, Error> {
    const RANK: usize = 50;
    const RIDGE: f64 = 10.0;
    if wanted.offsets || wanted.penalty.is_some() {
        let found = if wanted.offsets { "offsets" } else { "a penalty of singular values" };
        return Err(Error::input("implicit feedback", found, "factors with a ridge and no offsets"));
    }
    let (rank, ridge) = (wanted.rank.unwrap_or(RANK.min(most)), wanted.ridge.unwrap_or(RIDGE));
    Ok(Plan { offset_weight: None, model: Model::Factors { rank, ridge }, feedback: Feedback::Implicit })
}

fn check_rank(rank: Option<usize>, most: usize) -> Result<(), Error> {
    match rank {
        Some(rank) if rank == 0 || rank > most => {
            Err(Error::input("rank", rank.to_string(), format!("1 to {most}, for a matrix of that size")))
        }
        _ => Ok(()),
    }
}

fn choose_by(entries: &Entries, wanted: &Wanted, seed: u64, until: &Until) -> Result<Plan, Error> {
    let most = entries.rows().min(entries.cols());
    let (judges, rest) = entries.split(JUDGES, seed ^ 0x6a75_6467_6573); // not the stream of other draws
    let offset_weight =
        wanted.offsets.then(|| wanted.offset_weight.unwrap_or_else(|| offset_weight(&rest, &judges, until)));
    let plan = |model| Plan { offset_weight, model, feedback: Feedback::Explicit };
    if let (None, Some(rank), Some(ridge)) = (&wanted.penalty, wanted.rank, wanted.ridge) {
        return Ok(plan(Model::Factors { rank, ridge }));
    }
    let offsets = offset_weight.map_or_else(|| Offsets::none(&rest), |weight| Offsets::fit(&rest, weight, until));
    let (rest, judges) = (offsets.residual(rest), offsets.residual(judges));
    if let Some(penalty) = &wanted.penalty {
        let weighed = penalty.clone().or("lambda", 1.0);
        if weighed == *penalty {
            return Ok(plan(Model::SingularValues(weighed))); // it has no λ, or has been given one
        }
        return Ok(plan(Model::SingularValues(singular_values(&rest, &judges, penalty, seed, until)?.1)));
    }
    let (rmse, rank, ridge) = factors(&rest, &judges, wanted, seed, until);
    let asked = wanted.rank.is_some() || wanted.ridge.is_some();
    if !asked && entries.rows() * entries.cols() * most <= SMALL {
        let (other, penalty) = singular_values(&rest, &judges, &fit::PENALTY.parse()?, seed, until)?;
        if other < rmse - margin(&judges) {
            return Ok(plan(Model::SingularValues(penalty)));
        }
    }
    Ok(plan(Model::Factors { rank, ridge }))
}

fn offset_weight(rest: &Entries, judges: &Entries, until: &Until) -> f64 {
    let mut best = Best::new(0.0);
    for weight in OFFSET_WEIGHTS {
        let offsets = Offsets::fit(rest, weight, until);
        if until.is_over("weights that are tried out") {
            break; // this fit is not to be judged: it was cut short
        }
        best.take(judges.score(|i, j| offsets.at(i, j)).rmse, weight);
    }
    best.what.unwrap_or(OFFSET_WEIGHTS[3])
}

/// Ranks and ridges: for every rank a path of ridges downwards from where W = H = 0, each fit starting from the last, until
/// the error has risen twice.
fn factors(rest: &Entries, judges: &Entries, wanted: &Wanted, seed: u64, until: &Until) -> (f64, usize, f64) {
    let alternating = Alternating::new(rest);
    let norm = alternating.norm(seed).max(f64::MIN_POSITIVE.sqrt());
    let most = rest.rows().min(rest.cols());
    let ranks = wanted.rank.map_or_else(|| RANKS.iter().copied().filter(|&r| r < most).collect(), |rank| vec![rank]);
    let ranks = if ranks.is_empty() { vec![1] } else { ranks };
    let mut best = Best::new(margin(judges));
    if wanted.ridge.is_none() {
        // Rank 0: a ridge above the norm leaves nothing of WH. Others have to be better than by chance.
        best.take(judges.score(|_, _| 0.0).rmse, (ranks[0], number::tidy(2.0 * norm)));
    }
    for rank in ranks {
        let mut pair = Pair::random(rest, rank, fit::size(norm, rest), seed);
        let (mut risen, mut least) = (0, f64::INFINITY);
        for ridge in fit::path(norm, wanted.ridge) {
            pair.stir(0.05 * fit::size(norm, rest), seed);
            alternating.lower(&mut pair, ridge, fit::SWEEPS, fit::TOLERANCE, until);
            if until.is_over("weights that are tried out") {
                break; // this fit is not to be judged: it was cut short
            }
            if wanted.ridge.is_some_and(|given| given != ridge) {
                continue; // on the way to the one that was given
            }
            let rmse = judges.score(|i, j| pair.at(i, j)).rmse;
            if wanted.ridge.is_some() || judges.gains(|i, j| pair.at(i, j)) {
                best.take(rmse, (rank, ridge));
            }
            risen = if rmse < least { 0 } else { risen + 1 };
            least = least.min(rmse);
            if risen == 2 {
                break;
            }
        }
    }
    let (rank, ridge) = best.what.unwrap_or((1, wanted.ridge.unwrap_or(0.1 * norm)));
    (best.rmse, rank, ridge)
}

/// λ of a penalty of singular values, on a path downwards.
fn singular_values(
    rest: &Entries,
    judges: &Entries,
    penalty: &PenaltyChoice,
    seed: u64,
    until: &Until,
) -> Result<(f64, PenaltyChoice), Error> {
    let norm = Alternating::new(rest).norm(seed).max(f64::MIN_POSITIVE.sqrt());
    let mut best = Best::new(margin(judges));
    let mut start = vec![0.0; rest.rows() * rest.cols()];
    let (mut risen, mut least) = (0, f64::INFINITY);
    for lambda in fit::path(norm, None) {
        let penalty = penalty.clone().with("lambda", lambda);
        let run = fit::short_run::<f64>(rest, &penalty, start, until)?;
        if run.cut_short {
            break; // this fit is not to be judged
        }
        start = run.x;
        let rmse = judges.score(|i, j| run.z[i * rest.cols() + j].f64()).rmse;
        best.take(rmse, penalty);
        risen = if rmse < least { 0 } else { risen + 1 };
        least = least.min(rmse);
        if risen == 2 {
            break;
        }
    }
    let chosen = best.what.unwrap_or_else(|| penalty.clone().with("lambda", 0.1 * norm));
    Ok((best.rmse, chosen))
}
