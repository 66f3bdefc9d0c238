//! Factors of counts, and of yes and no: what is known of Y is its stored entries.

use melmo::catalogue::Lift;
use melmo::operator::Identity;
use melmo::penalty::{Blocks, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{EntryFactors, EntryLoss, Smooth};
use melmo::sparse::Csr;

use crate::choice::PenaltyChoice;
use crate::error::Error;
use crate::prepared::{Defaults, Prepared};

/// A fitted count below this is charged as if the logarithm went on as a parabola.
const FLOOR: f64 = 1e-10;

/// Σ h((WH)ᵢⱼ) + ν/2·‖H‖², of counts.
pub fn poisson_loss<S: Real>(y: Csr<S>, rank: usize, ridge: f64) -> Result<EntryFactors<S>, Error> {
    crate::magnitude::check_known("Y", y.values())?;
    Ok(EntryFactors::new(y, EntryLoss::Poisson { floor: FLOOR }, rank)?.ridge(ridge)?)
}

/// The same of yes (above 0) and no, over the stored entries.
pub fn logistic_loss<S: Real>(y: Csr<S>, rank: usize, ridge: f64) -> Result<EntryFactors<S>, Error> {
    Ok(EntryFactors::new(y, EntryLoss::Logistic, rank)?.ridge(ridge)?)
}

/// The problem with a penalty on W, and with `signs` W ≥ 0 and H ≥ 0, from a start W, H.
pub fn of_entries<S: Real>(
    f: EntryFactors<S>,
    penalty: &PenaltyChoice,
    signs: bool,
    w: Vec<S>,
    h: Vec<S>,
) -> Result<Prepared<S>, Error> {
    let (rows, cols, rank) = f.shape();
    let mut start = super::joined([rows * rank, rank * cols], w, h)?;
    let layout = f.layout().clone();
    let block = |name: &str| melmo::block::Layout::new([(name, 1, layout.require(name).map_or(0, |b| b.size()))]);
    let lift = if signs { Lift::Nonnegative } else { Lift::Entries };
    let mut parts: Vec<(&str, f64, Box<dyn Prox<S>>)> = vec![("W", 1.0, penalty.build(&lift, &block("W")?)?)];
    if signs {
        start.iter_mut().for_each(|v| *v = v.abs());
        let on_h = PenaltyChoice::new("nonnegative", &[])?;
        parts.push(("H", 1.0, on_h.build(&Lift::Entries, &block("H")?)?));
    }
    let g = Blocks::new(&layout, parts)?;
    let problem = Problem::from_boxes(Box::new(f), Box::new(g), Box::new(Identity::new(layout)))?;
    let defaults = Defaults { iterations: 500, ..Defaults::default() };
    Ok(Prepared { problem, start, defaults, optimum: None })
}

/// Σ y·log(y·n/(rᵢcⱼ)), n the sum of all counts, rᵢ and cⱼ those of rows and columns: the divergence of the best factors of rank 1.
pub fn independent<S: Real>(y: &Csr<S>) -> f64 {
    let (mut rows, mut cols) = (vec![0.0; y.rows()], vec![0.0; y.cols()]);
    for (i, j, v) in y.iter() {
        rows[i] += v.f64();
        cols[j] += v.f64();
    }
    let all: f64 = rows.iter().sum();
    let entry = |(i, j, v): (usize, usize, S)| v.f64() * (v.f64() / rows[i] * (all / cols[j])).ln();
    y.iter().filter(|(_, _, v)| *v > S::ZERO).map(entry).sum()
}

/// The share of the stored entries whose sign (WH)ᵢⱼ tells: above 0 for yes.
pub fn told_right<S: Real>(y: &Csr<S>, w: &[S], h: &[S], rank: usize) -> f64 {
    let fit = |i: usize, j: usize| (0..rank).map(|k| w[i * rank + k].f64() * h[k * y.cols() + j].f64()).sum::<f64>();
    let right = y.iter().filter(|&(i, j, v)| (fit(i, j) > 0.0) == (v > S::ZERO)).count();
    right as f64 / y.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, Watch, solve};
    use melmo::seeded::Seeded;
    use melmo::sparse::Misfit;

    #[test]
    fn rank_one_of_counts_is_independence() {
        let mut seeded = Seeded::new(3);
        let entries: Vec<_> = (0..300u32)
            .filter(|at| at % 7 != 0)
            .map(|at| (at / 15, at % 15, (4.0 * seeded.uniform()).ceil()))
            .collect();
        let y = Csr::from_entries(20, 15, entries.into_iter(), |_, _, _| Err(Misfit("twice".into()))).unwrap();
        let known = independent(&y);
        let f = poisson_loss(y, 1, 0.0).unwrap();
        let free = "l1:lambda=1e-9".parse().unwrap();
        let prepared = of_entries(f, &free, true, vec![1.0; 20], vec![1.0; 15]).unwrap();
        let solved = solve(&prepared, &Settings::default(), Watch::default()).unwrap();
        assert_eq!(solved.method, "majorised");
        assert!((solved.report.objective - known).abs() < 1e-5 * known, "{} {known}", solved.report.objective);
    }

    #[test]
    fn yes_and_no_of_low_rank_are_told_apart() {
        let mut seeded = Seeded::new(4);
        let (a, b): (Vec<f64>, Vec<f64>) = (seeded.normals(30 * 2), seeded.normals(2 * 25));
        let sign = |i: usize, j: usize| a[2 * i] * b[j] + a[2 * i + 1] * b[25 + j];
        let entries = (0..750u32).filter(|at| at % 3 != 0).map(|at| {
            let (i, j) = (at / 25, at % 25);
            (i, j, if sign(i as usize, j as usize) > 0.0 { 1.0 } else { 0.0 })
        });
        let y = Csr::from_entries(30, 25, entries, |_, _, _| Err(Misfit("twice".into()))).unwrap();
        let f = logistic_loss(y.clone(), 2, 0.1).unwrap();
        let penalty = "l1:lambda=0.05".parse().unwrap();
        let prepared = of_entries(f, &penalty, false, seeded.normals(60), seeded.normals(50)).unwrap();
        let solved = solve(&prepared, &Settings::default(), Watch::default()).unwrap();
        let (w, h) = solved.report.x.split_at(60);
        assert!(told_right(&y, w, h, 2) > 0.97, "{}", told_right(&y, w, h, 2));
    }
}
