//! A regression whose rows lie in parts, as on ranks: what the parts have to tell one another.

use melmo::operator::Identity;
use melmo::problem::Problem;
use melmo::real::Real;

use super::design::{Moments, check_columns, deviations};
use super::{Cells, Design, Regression};
use crate::error::Error;
use crate::prepared::{Defaults, Prepared};

/// Adds up what several parts said of each column.
fn sums(told: &[Vec<f64>], span: std::ops::Range<usize>) -> Vec<f64> {
    let mut total = vec![0.0; span.len()];
    told.iter().for_each(|told| total.iter_mut().zip(&told[span.clone()]).for_each(|(sum, v)| *sum += v));
    total
}

impl Cells {
    /// How many rows there are of so many columns.
    fn rows(&self, cols: usize) -> usize {
        match self {
            Self::Full(x) => x.len() / cols.max(1),
            Self::Sparse(x) => x.rows(),
        }
    }
}

impl Design {
    /// How the columns of all rows are centred and scaled, of which these are a part. `told` answers with what every part said, in one
    /// order; every part asks for as much.
    pub fn of_parts<E: From<Error>>(
        x: &Cells,
        cols: usize,
        [intercept, standardize]: [bool; 2],
        mut told: impl FnMut(&[f64]) -> Result<Vec<Vec<f64>>, E>,
    ) -> Result<Self, E> {
        let (rows, mut moments) = (x.rows(cols), Moments::new(cols));
        match x {
            Cells::Full(x) => x.iter().enumerate().for_each(|(at, &v)| moments.add(at % cols, v)),
            Cells::Sparse(x) => x.iter().for_each(|(_, j, v)| moments.add(j, v)),
        }
        let own = [&[rows as f64], &moments.sums[..], &moments.squares, &moments.sizes].concat();
        let all = told(&own)?;
        let count = all.iter().map(|told| told[0]).sum::<f64>();
        let largest = |j: usize| all.iter().map(|told| told[1 + 2 * cols + j]).fold(0.0, f64::max);
        check_columns::<f64>(&(0..cols).map(largest).collect::<Vec<_>>())?;
        moments.sums = sums(&all, 1..1 + cols);
        moments.squares = sums(&all, 1 + cols..1 + 2 * cols);
        let mut design = Self { rows, cols, intercept, means: vec![0.0; cols], scales: vec![1.0; cols] };
        let Cells::Full(x) = x else {
            if standardize {
                design.scales = moments.deviations(count as usize, intercept);
            }
            return Ok(design);
        };
        if intercept {
            design.means = moments.sums.iter().map(|sum| sum / count).collect();
        }
        if standardize {
            let mut squares = vec![0.0; cols];
            x.iter().enumerate().for_each(|(at, v)| squares[at % cols] += (v - design.means[at % cols]).powi(2));
            squares = sums(&told(&squares)?, 0..cols);
            squares.iter_mut().for_each(|square| *square /= count);
            design.scales = deviations(&squares, &design.means);
        }
        Ok(design)
    }
}

impl Regression {
    /// The problem of these rows, which are some of `all`: their summand of Σ ℓ, and the penalty of the whole; from 0.
    pub fn part<S: Real>(&self, lambda: f64, all: usize) -> Result<Prepared<S>, Error> {
        let f = self.smooth(&self.all())?;
        let t = Identity::new(f.layout().clone());
        let start = vec![S::ZERO; f.layout().size()];
        let problem = Problem::from_boxes(f, self.penalty(lambda, all)?, Box::new(t))?;
        Ok(Prepared { problem, start, defaults: Defaults { iterations: 10_000, ..Defaults::default() }, optimum: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    use melmo::seeded::Seeded;
    use melmo::sparse::{Csr, Misfit};

    type Told<'a> = &'a mut dyn FnMut(&[f64]) -> Result<Vec<Vec<f64>>, Error>;

    /// Two parts, each on a thread of its own, and what they say to one another.
    fn together(part: impl Fn(Told<'_>, usize) -> Design + Sync) -> (Design, Design) {
        let (to_second, from_first) = channel::<Vec<f64>>();
        let (to_first, from_second) = channel::<Vec<f64>>();
        std::thread::scope(|scope| {
            let part = &part;
            let second = scope.spawn(move || {
                let mut told = |own: &[f64]| {
                    to_first.send(own.to_vec()).unwrap();
                    Ok(vec![from_first.recv().unwrap(), own.to_vec()])
                };
                part(&mut told, 1)
            });
            let mut told = |own: &[f64]| {
                to_second.send(own.to_vec()).unwrap();
                Ok(vec![own.to_vec(), from_second.recv().unwrap()])
            };
            (part(&mut told, 0), second.join().unwrap())
        })
    }

    #[test]
    fn parts_have_the_design_of_all_rows() {
        let (rows, cols) = (21, 4);
        let mut data: Vec<f64> = Seeded::new(8).normals(rows * cols);
        data.iter_mut().enumerate().for_each(|(at, v)| *v = if at % 3 == 0 { 0.0 } else { 7.0 * *v + 3.0 });
        let sparse = |from: usize, rows: usize| {
            let entry = |at: usize| ((at / cols) as u32, (at % cols) as u32, data[from * cols + at]);
            let entries = (0..rows * cols).map(entry).filter(|entry| entry.2 != 0.0);
            Csr::from_entries(rows, cols, entries, |_, _, v: &[f64]| Ok::<_, Misfit>(v[0])).unwrap()
        };
        let cells = |full: bool, from: usize, rows: usize| match full {
            true => Cells::Full(data[from * cols..(from + rows) * cols].to_vec()),
            false => Cells::Sparse(sparse(from, rows)),
        };
        for (full, given) in [(true, [true, true]), (true, [false, true]), (true, [true, false]), (false, [true, true])]
        {
            let whole = cells(full, 0, rows).design(rows, cols, given[0], given[1]).unwrap();
            let parts = [cells(full, 0, 8), cells(full, 8, rows - 8)];
            let (found, other) = together(|told, at| Design::of_parts(&parts[at], cols, given, told).unwrap());
            assert_eq!((&found.means, &found.scales), (&other.means, &other.scales));
            let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + a.abs()));
            assert!(near(&found.means, &whole.means) && near(&found.scales, &whole.scales), "{full} {given:?}");
            assert_eq!(found.rows, 8);
        }
    }
}
