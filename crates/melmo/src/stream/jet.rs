//! f(x) + g_β(Tx) and its gradient in one pass over an image of several channels, T its first and second differences.
//!
//! A row is worked on at a time. The norms of all pixels of a row come first, over all channels; the penalty turns them into
//! factors; then each channel's differences, computed again, are multiplied and taken back by the adjoint. Nothing that is
//! as large as Tx is ever written down.

use super::Pass;
use crate::operator::Jet;
use crate::penalty::{Columns, Prox};
use crate::problem::Evaluation;
use crate::real::Real;
use crate::smooth::Pointwise;
use crate::vector::simd;

/// A penalty of the columns of Tx, with the loss when that is a sum over pixels.
pub(crate) struct JetStream<'a, S> {
    f: Option<&'a dyn Pointwise<S>>,
    first: &'a dyn Columns<S>,
    second: Option<&'a dyn Columns<S>>,
    rows: usize,
    cols: usize,
    channels: usize,
    weight_squared: S,
}

/// A row of one channel with its neighbours; at the image's edges the row itself.
#[derive(Clone, Copy)]
struct Neighbours<'x, S> {
    above: &'x [S],
    here: &'x [S],
    below: &'x [S],
    /// 1 where there is a row on both sides, else 0: what ∇ᵧᵧ is multiplied with.
    inside: S,
}

impl<'a, S: Real> JetStream<'a, S> {
    pub fn new(f: Option<&'a dyn Pointwise<S>>, g: &'a dyn Prox<S>, t: &Jet) -> Option<Self> {
        let (rows, cols, channels) = t.shape();
        let first = g.columns(0)?;
        let second = if t.weight() > 0.0 { Some(g.columns(2 * channels * rows * cols)?) } else { None };
        Some(Self { f, first, second, rows, cols, channels, weight_squared: S::of(t.weight() * t.weight()) })
    }

    fn neighbours<'x>(&self, x: &'x [S], channel: usize, i: usize) -> Neighbours<'x, S> {
        let row = |i: usize| &x[(channel * self.rows + i) * self.cols..][..self.cols];
        let inside = if i > 0 && i + 1 < self.rows { S::ONE } else { S::ZERO };
        Neighbours { above: row(i.saturating_sub(1)), here: row(i), below: row((i + 1).min(self.rows - 1)), inside }
    }

    /// The norms of row i's columns of ∇x and weight·∇²x.
    fn norms(&self, first: &mut [S], second: &mut [S], x: &[S], i: usize) {
        first.fill(S::ZERO);
        second.fill(S::ZERO);
        simd(
            #[inline(always)]
            || {
                for channel in 0..self.channels {
                    add_squares(first, second, self.neighbours(x, channel, i));
                }
                for (first, second) in first.iter_mut().zip(second) {
                    (*first, *second) = (first.sqrt(), (self.weight_squared * *second).sqrt());
                }
            },
        );
    }

    /// grad ← ∇f on row i of every channel, where the loss is a sum over pixels; returns the row's f.
    fn loss_of_row(&self, grad: &mut [S], x: &[S], i: usize) -> f64 {
        let Some(f) = self.f else { return 0.0 };
        let row = |channel: usize| (channel * self.rows + i) * self.cols;
        let rows = (0..self.channels).map(row);
        rows.map(|start| {
            let range = start..start + self.cols;
            f.value_grad_at(&mut grad[range.clone()], &x[range], start)
        })
        .sum()
    }

    /// grad += T*u for the slopes u of row i of one channel: `factors` times its differences.
    fn adjoint_of_row(
        &self,
        grad: &mut [S],
        [first, second]: [&[S]; 2],
        x: Neighbours<'_, S>,
        i: usize,
        work: &mut [S],
    ) {
        let cols = self.cols;
        let (flux, work) = work.split_at_mut(cols + 1);
        let (twist, bend) = work.split_at_mut(cols + 1);
        let (above, rest) = grad.split_at_mut(i * cols);
        let (here, below) = rest.split_at_mut(cols);
        let above = &mut above[i.saturating_sub(1) * cols..];
        simd(
            #[inline(always)]
            || {
                slopes(flux, twist, bend, [first, second], x, self.weight_squared);
                // Slices of one length: the loops below are then free of checks.
                let (first, second) = (&first[..cols], &second[..cols]);
                let (x_above, x_here, x_below) = (&x.above[..cols], &x.here[..cols], &x.below[..cols]);
                let (flux, twist) = (&flux[..cols + 1], &twist[..cols + 1]);
                let weight = self.weight_squared * x.inside;
                let down = |j: usize| first[j] * (x_below[j] - x_here[j]);
                let bend = |j: usize| weight * second[j] * ((x_below[j] - x_here[j]) - (x_here[j] - x_above[j]));
                for j in 0..cols {
                    here[j] += (flux[j] - flux[j + 1]) - down(j) - S::of(2.0) * bend(j);
                }
                if let Some(below) = below.get_mut(..cols) {
                    for j in 0..cols {
                        below[j] += down(j) + bend(j) + (twist[j] - twist[j + 1]);
                    }
                }
                if let Some(above) = above.get_mut(..cols) {
                    for (j, above) in above.iter_mut().enumerate() {
                        *above += bend(j);
                    }
                }
            },
        );
    }
}

impl<S: Real> Pass<S> for JetStream<'_, S> {
    fn has_loss(&self) -> bool {
        self.f.is_some()
    }

    /// Two rows of norms, one of fluxes behind a zero, one of twists behind a zero, one of bends between zeros.
    fn work_len(&self) -> usize {
        5 * self.cols + 4
    }

    fn smoothed_gradient_add(&self, grad: &mut [S], x: &[S], beta: f64, work: &mut [S]) -> Evaluation {
        let Self { rows, cols, channels, .. } = *self;
        let (first, work) = work.split_at_mut(cols);
        let (second, work) = work.split_at_mut(cols);
        let work = &mut work[..3 * cols + 4];
        work.fill(S::ZERO);
        let (mut f_x, mut slope_squared) = (self.loss_of_row(grad, x, 0), 0.0);
        for i in 0..rows {
            if i + 1 < rows {
                f_x += self.loss_of_row(grad, x, i + 1); // before the differences of row i reach it
            }
            self.norms(first, second, x, i);
            slope_squared += self.first.factors(first, i * cols, beta);
            match self.second {
                Some(g) => slope_squared += g.factors(second, i * cols, beta),
                None => second.fill(S::ZERO),
            }
            for (channel, grad) in (0..channels).zip(grad.chunks_exact_mut(rows * cols)) {
                self.adjoint_of_row(grad, [first, second], self.neighbours(x, channel, i), i, work);
            }
        }
        Evaluation { f: f_x, slope_squared, squared: None }
    }

    fn penalty(&self, x: &[S], beta: Option<f64>, work: &mut [S]) -> f64 {
        let (first, work) = work.split_at_mut(self.cols);
        let second = &mut work[..self.cols];
        let mut total = 0.0;
        for i in 0..self.rows {
            self.norms(first, second, x, i);
            total += self.first.value_of(first, i * self.cols, beta);
            total += self.second.map_or(0.0, |g| g.value_of(second, i * self.cols, beta));
        }
        total
    }
}

/// Squares of the differences of one row of one channel, added to those of its pixels.
#[inline(always)]
fn add_squares<S: Real>(first: &mut [S], second: &mut [S], x: Neighbours<'_, S>) {
    let cols = x.here.len();
    let (first, second) = (&mut first[..cols], &mut second[..cols]);
    let x = Neighbours { above: &x.above[..cols], below: &x.below[..cols], ..x };
    let last = cols - 1;
    let down = |j: usize| {
        let (down, up) = (x.below[j] - x.here[j], x.here[j] - x.above[j]);
        let bend = x.inside * (down - up);
        (down * down, bend * bend)
    };
    let (rise, bend) = down(last);
    first[last] += rise;
    second[last] += bend;
    for (j, (first, second)) in first[..last].iter_mut().zip(&mut second[..last]).enumerate() {
        let (rise, bend) = down(j);
        let across = x.here[j + 1] - x.here[j];
        let twist = (x.below[j + 1] - x.below[j]) - across;
        *first += across * across + rise;
        *second += bend + S::of(2.0) * twist * twist;
    }
    if last > 1 {
        let (left, here, right) = (&x.here[..last - 1], &x.here[1..last], &x.here[2..]);
        for (j, second) in second[1..last].iter_mut().enumerate() {
            let bend = (right[j] - here[j]) - (here[j] - left[j]);
            *second += bend * bend;
        }
    }
}

/// What the horizontal differences of a row give back: a pixel takes `flux` from its left and gives it to its right, and so
/// does the pixel below it with `twist`. Entry j + 1 belongs to pixel j; entry 0 and the last stay 0.
#[inline(always)]
fn slopes<S: Real>(
    flux: &mut [S],
    twist: &mut [S],
    bend: &mut [S],
    [first, second]: [&[S]; 2],
    x: Neighbours<'_, S>,
    weight_squared: S,
) {
    let last = x.here.len() - 1;
    if last > 1 {
        let (left, here, right) = (&x.here[..last - 1], &x.here[1..last], &x.here[2..]);
        let (bend, factor) = (&mut bend[1..last], &second[1..last]);
        for (j, bend) in bend.iter_mut().enumerate() {
            *bend = weight_squared * factor[j] * ((right[j] - here[j]) - (here[j] - left[j]));
        }
    }
    let (here, below, bend) = (x.here, x.below, &bend[..last + 1]);
    let (first, second) = (&first[..last], &second[..last]);
    for (j, (flux, twist)) in flux[1..last + 1].iter_mut().zip(&mut twist[1..last + 1]).enumerate() {
        let across = here[j + 1] - here[j];
        *twist = S::of(2.0) * weight_squared * second[j] * ((below[j + 1] - below[j]) - across);
        *flux = first[j] * across - (bend[j + 1] - bend[j]) - *twist;
    }
}

#[cfg(test)]
mod tests {
    use crate::operator::{Jet, LinOp};
    use crate::penalty::{Blocks, Group, L1, LogSum, Prox};
    use crate::problem::Problem;
    use crate::real::Real;
    use crate::seeded::Seeded;
    use crate::smooth::{MaskedLeastSquares, RobustPca, Smooth};
    use crate::{block::Layout, vector};

    fn problem<S: Real>(t: &Jet, pointwise: bool) -> Problem<S> {
        let (domain, range) = (LinOp::<S>::domain(t).clone(), LinOp::<S>::range(t));
        let mut seeded = Seeded::new(7);
        let columns = |block: usize| {
            let block = &range.blocks()[block];
            Layout::matrix(block.rows, block.cols).unwrap()
        };
        let weights: Vec<S> = (0..columns(0).blocks()[0].cols).map(|j| S::of((j % 4) as f64 / 2.0)).collect();
        let first = Group::columns(LogSum::new(0.6, 1.5).unwrap(), &columns(0)).unwrap().weighted(weights).unwrap();
        let mut parts: Vec<(&str, f64, Box<dyn Prox<S>>)> = vec![("first", 1.0, Box::new(first))];
        if t.weight() > 0.0 {
            let second = Group::columns(L1::new(0.4).unwrap(), &columns(1)).unwrap();
            parts.push(("second", 1.0, Box::new(second)));
        }
        let g = Blocks::new(range, parts).unwrap();
        let f: Box<dyn Smooth<S>> = match pointwise {
            true => Box::new(MaskedLeastSquares::new(domain.clone(), seeded.normals(domain.size()), None).unwrap()),
            false => {
                let (rows, cols, _) = t.shape();
                let two = RobustPca::new(seeded.normals(rows * cols), rows, cols, None).unwrap();
                Box::new(two)
            }
        };
        Problem::from_boxes(f, Box::new(g), Box::new(t.clone())).unwrap()
    }

    fn agrees<S: Real>(t: &Jet, pointwise: bool) {
        let (fused, chained) = (problem::<S>(t, pointwise), problem::<S>(t, pointwise).chained());
        assert!(fused.work_len() < chained.work_len() || fused.layout().size() < 30);
        let n = fused.layout().size();
        let x: Vec<S> = Seeded::new(9).normals(n);
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 100.0 * S::EPSILON * (1.0 + b.abs()), "{a} {b}");
        let evaluate = |problem: &Problem<S>| {
            let (mut grad, mut work) = (vec![S::of(9.0); n], vec![S::of(f64::NAN); problem.work_len()]);
            let found = problem.smoothed_gradient(&mut grad, &x, 0.3, &mut work);
            let (envelope, penalty) = (problem.envelope(&x, 0.3, &mut work), problem.penalty(&x, &mut work));
            (grad, [found.f, found.slope_squared, envelope, penalty])
        };
        let ((grad, numbers), (plain_grad, plain)) = (evaluate(&fused), evaluate(&chained));
        numbers.iter().zip(plain).for_each(|(&a, b)| close(a, b));
        let scale = vector::norm2(&plain_grad);
        for (a, b) in grad.iter().zip(plain_grad) {
            assert!((a.f64() - b.f64()).abs() <= 100.0 * S::EPSILON * (1.0 + scale), "{t:?}: {a} {b}");
        }
    }

    #[test]
    fn the_pass_agrees_with_the_formulas() {
        for (rows, cols) in [(1, 1), (1, 2), (2, 1), (1, 7), (7, 1), (2, 2), (3, 3), (2, 5), (9, 14), (40, 300)] {
            for (channels, weight) in [(1, 0.0), (1, 0.5), (3, 0.0), (3, 0.7)] {
                let t = Jet::new(rows, cols, channels, weight).unwrap();
                agrees::<f64>(&t, true);
                agrees::<f32>(&t, true);
            }
            agrees::<f64>(&Jet::new(rows, cols, 2, 0.5).unwrap(), false);
        }
    }
}
