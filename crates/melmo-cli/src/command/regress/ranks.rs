//! `melmo regress` on ranks: rows of the table lie on them, the coefficients are everywhere.

use melmo::problem::Problem;
use melmo::real::Real;
use melmo_mpi::Way;
use melmo_tasks::Solved;
use melmo_tasks::regress::{Cells, Coefficients, Design, Loss, Regression, parse_groups};

use super::encoding::Encoding;
use super::share::Share;
use super::{Kept, named, sparse};
use crate::args::{Missing, Regress};
use crate::error::Error;
use crate::input::Inputs;
use crate::output::Outputs;
use crate::ranks::{self, Crew, Ends, OnRanks, Part};
use crate::render::{Summary, short};

/// What is needed to judge and write the coefficients.
pub struct Held {
    kept: Kept,
    /// Rows of all ranks.
    all: usize,
    /// This rank has no row: the one that is here counts for nothing.
    idle: bool,
    /// One machine finds the same bound on F*.
    bound: bool,
}

impl Regress {
    /// λ: what would choose it fits hundreds of times.
    fn lambda_on_ranks(&self) -> Result<f64, Error> {
        let needed = "give --lambda: on several ranks it is not chosen by cross-validation";
        self.lambda.or(self.penalty.weight()).ok_or_else(|| Error::Ranks(needed.into()))
    }

    /// The regression of these rows; where there are none, of one that counts for nothing.
    fn regression_of(&self, share: Share, crew: &mut Crew) -> Result<(Regression, Option<Vec<f64>>), Error> {
        let Share { x, rows, y, offset, names, targets, .. } = share;
        let given = [!self.no_intercept, !self.no_standardize];
        let mut design = Design::of_parts(&x, names.len(), given, |own| crew.numbers(own))?;
        let seen = crew.numbers(&self.loss.seen(&y))?.concat();
        let idle = rows == 0;
        let targets = targets.len().max(1);
        let own = if idle { vec![seen[0]; targets] } else { y };
        let (loss, y, numbers) = self.loss.target_among(&own, &seen)?;
        design.rows = rows.max(1);
        let x = if idle { Cells::Full(design.means.clone()) } else { x };
        let offset = if idle { offset.map(|_| vec![0.0]) } else { offset };
        let groups = self.groups.as_ref().map(|groups| parse_groups(groups, names.len())).transpose()?;
        let factors = (!self.penalty_weights.is_empty()).then(|| self.penalty_weights.clone());
        let (penalty, positive) = (self.penalty.clone(), self.positive);
        let regression =
            Regression { x, y, targets, design, loss, penalty, groups, factors, positive, weights: None, offset };
        regression.check()?;
        Ok((regression, numbers))
    }
}

/// Rows of each sign that a bound on the intercept is taken of: the first of the table.
const SIGNS: usize = 4;

/// Whether the first rank's bound on F* is that of all rows: where the penalty is convex (else it goes by the least curvature of the rows), and
/// the rows that bound the intercept are among its own.
fn has_bound<S: Real>(
    problem: &Problem<S>,
    regression: &Regression,
    intercept: bool,
    crew: &mut Crew,
) -> Result<bool, Error> {
    let of_sign = |sign: f64| regression.y.iter().filter(|y| **y * sign >= 0.0).count() >= SIGNS;
    let known = !intercept || of_sign(1.0) && of_sign(-1.0);
    let convex = problem.g().weak_convexity() == 0.0;
    let all = crew.each([f64::from(u8::from(known && convex))])?;
    Ok(all[0][0] > 0.0)
}

impl OnRanks for Regress {
    type Held<S: Real> = Held;

    fn refuse(&self) -> Result<(), Error> {
        let open = matches!(self.loss, Loss::Huber(None) | Loss::Quantile(_, None));
        let refused = [
            (self.loss == Loss::Cox, "--loss cox, whose sums over those at risk go across rows,"),
            (open, "a loss whose width is found in the data (give it: huber:delta=1, quantile:level=0.5,width=0.1)"),
            (matches!(self.missing, Missing::Mean | Missing::Indicator), "--missing mean and indicator"),
            (self.weights.is_some(), "--weights"),
            (self.event.is_some(), "--event"),
            (self.path_output.is_some(), "--path-output"),
            (self.predict.is_some(), "--predict (write --model, and use `melmo predict`)"),
            (self.test.is_some(), "--test (write --model, and use `melmo predict`)"),
        ];
        ranks::refuse(refused)?;
        self.lambda_on_ranks().map(drop)
    }

    fn part<S: Real>(
        &self,
        inputs: &mut Inputs,
        (crew, _): (&mut Crew, Ends<'_>),
        summary: &mut Summary,
    ) -> Result<Part<S, Held>, Error> {
        let lambda = self.lambda_on_ranks()?;
        let share = self.share(inputs, crew)?;
        let (names, targets, all, idle) = (share.names.clone(), share.targets.clone(), share.all, share.rows == 0);
        let told = format!("{all} rows on {} ranks, {} columns{}", crew.size(), names.len(), sparse(&share.x));
        summary.add("shape", vec![all, names.len()], "data", told);
        self.tell_dropped(share.dropped, summary);
        let (regression, numbers) = self.regression_of(share, crew)?;
        let classes: Option<Vec<String>> =
            numbers.map(|numbers| numbers.iter().map(|&number| named(number, None)).collect());
        Self::tell_classes(classes.as_deref(), summary);
        summary.text("loss", "loss", regression.loss.to_string());
        let penalty = self.penalty.clone().weighted(lambda).to_string();
        summary.text("penalty", "penalty", penalty);
        let mut prepared = regression.part(lambda, all)?;
        let columns: Vec<usize> = (0..names.len()).collect();
        let bound = has_bound(&prepared.problem, &regression, !self.no_intercept, crew)?;
        let way = if idle { Way::WithoutRows } else { Way::Plain };
        let kept = Kept {
            encoding: Encoding::of_numbers(&names, &columns, self.missing),
            regression,
            names,
            path: None,
            targets,
            classes,
            offset: self.offset.clone(),
            event: None,
            predict: None,
            test: None,
            test_target: None,
        };
        if let Some(path) = &self.start {
            let found = crew.agree(kept.started_from(path))?;
            prepared.start = kept.regression.point(&found);
            summary.text("start", "start", path.display().to_string());
        }
        Ok(Part { prepared, pieces: vec![None], way, kept: Held { kept, all, idle, bound } })
    }

    fn has_bound<S: Real>(&self, held: &Held) -> bool {
        held.bound
    }

    fn deliver_part<S: Real>(
        &self,
        held: &Held,
        solved: &Solved<S>,
        crew: &mut Crew,
        outputs: &mut Option<Outputs>,
        summary: &mut Summary,
    ) -> Result<(), Error> {
        let Held { kept, all, idle, .. } = held;
        let regression = &kept.regression;
        let fitted: Vec<Coefficients> = regression.coefficients(&solved.report.z);
        kept.describe(&fitted, summary);
        let own = if *idle { 0.0 } else { kept.mean_loss(&kept.predicted(&fitted)) * regression.design.rows as f64 };
        let [total] = crew.sums([own])?;
        let fit = total / *all as f64;
        summary.add("fit", fit, "fit", format!("{} {}", regression.loss.measure(), short(fit)));
        let Some(outputs) = outputs else { return crew.agree(Ok(())) };
        let written = self.output.as_ref().map_or(Ok(()), |path| kept.write_coefficients(outputs, path, &fitted));
        let written = written.and_then(|()| match &self.model {
            Some(path) => outputs.bytes(path, kept.model(&fitted).to_json().as_bytes()),
            None => Ok(()),
        });
        crew.agree(written)
    }
}
