use std::ops::ControlFlow;

use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::solver::{LambdaPath, geometric};
use melmo::threads;

use crate::error::Error;
use crate::regress::path::check_count;
use crate::regress::{Cells, Coefficients, Loss, Regression};
use crate::until::Until;

/// One λ of a path, as cross-validation judged it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// λ.
    pub lambda: f64,
    /// The held-out loss, a mean over folds.
    pub mean: f64,
    /// Its standard error over folds.
    pub error: f64,
    /// Coefficients that are not 0, fitted on all rows.
    pub nonzero: usize,
}

/// A path of λ with the held-out loss of each.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// From λ_max downwards.
    pub points: Vec<Point>,
    /// What each λ gives on all rows, in the data's own units, output by output.
    pub coefficients: Vec<Vec<Coefficients>>,
    /// Where the held-out loss is least.
    pub best: usize,
    /// The largest λ whose held-out loss is within one standard error of the least.
    pub simplest: usize,
}

/// The most numbers that all solutions of a path may come to: 2 GiB.
const KEPT: usize = 1 << 28;

/// A path ends where this share of the loss at its start is left: the rest would follow noise, and for separable classes
/// run off to infinity.
fn exhausted(loss: Loss) -> f64 {
    if loss.is_of_classes() || loss == Loss::Cox { 1e-2 } else { 1e-5 }
}

/// Solves a path on some rows: the solutions, λ by λ, as far as it gets until it is over.
fn path<S: Real>(
    regression: &Regression,
    rows: &[usize],
    lambdas: &[f64],
    until: &Until,
) -> Result<Vec<Vec<S>>, Error> {
    let f = regression.smooth::<S>(rows)?;
    let penalty = |lambda| regression.penalty(lambda, rows.len()).map_err(library);
    let mut path = LambdaPath::new(&*f, None, penalty)?.accuracy(1e-3, 20);
    path.lambda_max()?;
    let mut solutions: Vec<Vec<S>> = Vec::with_capacity(lambdas.len());
    let mut null = None;
    let go_on = || match until.is_over("cross-validation") {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    for &lambda in lambdas {
        let (point, flow) = path.solve_while(lambda, go_on)?;
        if flow.is_break() || go_on().is_break() {
            return Ok(solutions);
        }
        let explained = point.loss <= exhausted(regression.loss) * *null.get_or_insert(point.loss);
        solutions.push(point.x);
        if explained {
            break;
        }
    }
    if let Some(last) = solutions.last().cloned() {
        solutions.resize(lambdas.len(), last);
    }
    Ok(solutions)
}

/// Only the library's errors come from a penalty that was built once already.
pub(super) fn library(error: Error) -> melmo::error::Error {
    match error {
        Error::Library(error) => error,
        other => melmo::error::Error::Unsupported(other.to_string()),
    }
}

impl Regression {
    /// The least λ for which every penalised coefficient is 0.
    pub fn lambda_max<S: Real>(&self) -> Result<f64, Error> {
        let f = self.smooth::<S>(&self.all())?;
        let penalty = |lambda| self.penalty(lambda, self.design.rows).map_err(library);
        Ok(LambdaPath::new(&*f, None, penalty)?.lambda_max()?)
    }

    /// `count` λ from λ_max to λ_max·`ratio`, each fitted on all rows and on all but one of `folds` parts of a seeded
    /// shuffle. The folds run in parallel; the result does not depend on how many threads there are. When it is over before
    /// the last λ, that is an error: the best of some λ is not the best of all.
    pub fn cross_validate<S: Real>(
        &self,
        count: usize,
        ratio: f64,
        folds: usize,
        seed: u64,
        until: &Until,
    ) -> Result<CrossValidation, Error> {
        let (rows, cols) = (self.design.rows, self.design.cols);
        check_count(count)?;
        if folds < 2 || folds > rows {
            return Err(Error::input("folds", folds.to_string(), format!("2 to {rows}, the number of rows")));
        }
        // Every solution of every fold is kept.
        let most = KEPT / (cols + 1) / self.outputs() / (folds + 1);
        if count > most {
            let found = format!("{count} λ with {cols} columns and {folds} folds");
            return Err(Error::input("the path", found, format!("at most {most}, as every solution is kept")));
        }
        let lambda_max = self.lambda_max::<S>()?;
        let lambdas = geometric(lambda_max, ratio, count);
        if !(lambda_max > 0.0 && lambda_max.is_finite()) {
            return Err(Error::input("X", "columns that say nothing about y", "at least one that varies with it"));
        }
        let order = shuffled(rows, seed);
        let fitted = |fold: usize| -> Result<Vec<f64>, Error> {
            let held: Vec<usize> = order.iter().copied().skip(fold).step_by(folds).collect();
            let mut out = vec![false; rows];
            held.iter().for_each(|&row| out[row] = true);
            let kept: Vec<usize> = self.all().into_iter().filter(|&row| !out[row]).collect();
            let (truth, cells) = (self.targets_of(&held), self.x.some(&held, cols)?);
            let solutions = path::<S>(self, &kept, &lambdas, until)?;
            Ok(solutions.iter().map(|x| self.judge(x, &held, &truth, &cells)).collect())
        };
        let all = path::<S>(self, &self.all(), &lambdas, until)?;
        let losses: Vec<Vec<f64>> = threads::map(0..folds, fitted).into_iter().collect::<Result<_, _>>()?;
        let done = losses.iter().map(Vec::len).chain([all.len()]).min().unwrap_or(0);
        if done < count {
            let found = format!("its end after {done} of {count} λ: there is no fit");
            let expected = "more time, fewer λ or folds, or a λ of your own: then nothing is tried out";
            return Err(Error::input("cross-validation", found, expected));
        }
        let points: Vec<Point> = (0..count)
            .map(|i| {
                let at: Vec<f64> = losses.iter().map(|fold| fold[i]).collect();
                let mean = at.iter().sum::<f64>() / folds as f64;
                let variance = at.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (folds as f64 - 1.0);
                let nonzero = all[i][..self.design.cols * self.outputs()].iter().filter(|b| **b != S::ZERO).count();
                Point { lambda: lambdas[i], mean, error: (variance / folds as f64).sqrt(), nonzero }
            })
            .collect();
        let best = (0..count).min_by(|&a, &b| points[a].mean.total_cmp(&points[b].mean)).unwrap_or(0);
        let allowed = points[best].mean + points[best].error;
        let simplest = points.iter().position(|point| point.mean <= allowed).unwrap_or(best);
        let coefficients = all[..count].iter().map(|x| self.coefficients(x)).collect();
        Ok(CrossValidation { points, coefficients, best, simplest })
    }
}

impl Regression {
    /// The held-out loss of a solution on some rows with their cells.
    fn judge<S: Real>(&self, x: &[S], held: &[usize], truth: &[f64], cells: &Cells) -> f64 {
        let mut t = cells.predict(&self.coefficients(x));
        if let Some(offset) = &self.offset {
            t.chunks_exact_mut(held.len()).for_each(|t| t.iter_mut().zip(held).for_each(|(t, &row)| *t += offset[row]));
        }
        let some = |all: &Vec<f64>| held.iter().map(|&row| all[row]).collect::<Vec<f64>>().repeat(self.targets);
        self.loss.mean(truth, &t, self.weights.as_ref().map(some).as_deref())
    }
}

/// 0, …, n − 1 in an order that depends on the seed alone (Fisher and Yates).
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut seeded = Seeded::new(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, (seeded.uniform() * (i + 1) as f64) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::Design;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The best of the λ that there was time for would look like an answer.
    #[test]
    fn a_choice_that_was_broken_off_is_none() {
        let (rows, cols) = (30, 4);
        let mut seeded = Seeded::new(5);
        let x: Vec<f64> = (0..rows * cols).map(|_| seeded.normal()).collect();
        let y = x.chunks_exact(cols).map(|row| row[0] - row[2]).collect();
        let design = Design::new(&x, rows, cols, true, true).unwrap();
        let regression = Regression { x: x.into(), y, design, ..Regression::plain("l1".parse().unwrap()) };
        let choose = |until: &Until| regression.cross_validate::<f64>(10, 1e-2, 3, 0, until);
        assert_eq!(choose(&Until::done()).unwrap().points.len(), 10);
        let asked = Arc::new(AtomicU32::new(0));
        let until = Until::done().asking(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
            0..20 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        });
        let error = choose(&until).unwrap_err().to_string();
        assert!(error.contains("of 10 λ") && error.contains("no fit"), "{error}");
    }
}
