//! One factor at its minimum while the other is held: a small positive definite system a line.

use super::{Known, Side};
use crate::cholesky;
use crate::linalg::Mat;
use crate::patience;
use crate::real::Real;
use crate::sparse::Csr;
use crate::threads::{self, Threads};

/// Lines of the other factor that are multiplied at a time.
const PANEL: usize = 256;

/// What a line is solved in, once for each thread that there is when it is made.
#[derive(Clone, Debug)]
pub struct Scratch<S> {
    each: Vec<Vec<S>>,
}

impl<S: Real> Scratch<S> {
    /// For factors of this rank. Allocates.
    pub fn new(rank: usize) -> Self {
        let one = PANEL * rank + 2 * rank * rank + rank + S::positive_definite_work_len(rank);
        Self { each: vec![vec![S::ZERO; one]; Threads::current().get()] }
    }
}

/// The parts of one thread's scratch.
struct Room<'s, S> {
    panel: &'s mut [S],
    /// A panel's Gram matrix, and a line's.
    part: &'s mut [S],
    gram: &'s mut [S],
    target: &'s mut [S],
    work: &'s mut [S],
}

impl<'s, S: Real> Room<'s, S> {
    fn of(scratch: &'s mut [S], rank: usize) -> Self {
        let (panel, rest) = scratch.split_at_mut(PANEL * rank);
        let (part, rest) = rest.split_at_mut(rank * rank);
        let (gram, rest) = rest.split_at_mut(rank * rank);
        let (target, work) = rest.split_at_mut(rank);
        Self { panel, part, gram, target, work }
    }
}

impl<S: Real> Known<S> {
    /// Every line aᵢ becomes the minimiser of its part of the loss plus ν/2·‖aᵢ‖², for the b that is held; returns the sum of the
    /// minima. `all` is BᵀB, which belongs to it where everything is known. Where somebody's patience is over, the lines that are
    /// left stay as they are: the sum is then not one, and infinite.
    pub fn ridge(&self, side: Side, a: &mut [S], b: &[S], nu: f64, all: Option<&[S]>, scratch: &mut Scratch<S>) -> f64 {
        let lines = self.lines(side);
        let rank = a.len() / lines.rows();
        let size = threads::block(lines.rows(), 1, 8);
        let blocks = a.chunks_mut(size * rank).enumerate();
        let cost = lines.len() * (rank * rank / 16 + 8) + lines.rows() * rank * rank * rank / 16;
        let patience = patience::Patience::current();
        let own = scratch.each.iter_mut().map(Vec::as_mut_slice);
        let [sum] = threads::sums_with(cost, own, blocks, |scratch, (block, a)| {
            if patience.is_over() {
                return [f64::INFINITY];
            }
            let mut room = Room::of(scratch, rank);
            let each = a.chunks_exact_mut(rank).enumerate();
            [each.map(|(i, line)| self.solve(lines, block * size + i, line, b, nu, all, &mut room)).sum()]
        });
        sum
    }

    #[expect(clippy::too_many_arguments, reason = "one line of the loop above")]
    fn solve(
        &self,
        lines: &Csr<S>,
        i: usize,
        line: &mut [S],
        b: &[S],
        nu: f64,
        all: Option<&[S]>,
        room: &mut Room<'_, S>,
    ) -> f64 {
        let rank = line.len();
        let (places, values) = lines.row(i);
        if places.is_empty() {
            line.fill(S::ZERO);
            return 0.0;
        }
        match all {
            Some(all) => room.gram.copy_from_slice(all),
            None => room.gram.fill(S::ZERO),
        }
        room.target.fill(S::ZERO);
        for (places, values) in places.chunks(PANEL).zip(values.chunks(PANEL)) {
            self.add(places, values, b, room);
        }
        (0..rank).for_each(|k| room.gram[k * rank + k] += S::of(nu));
        line.copy_from_slice(room.target);
        room.part.copy_from_slice(room.gram);
        match S::positive_definite(room.part, rank, room.work) {
            true => S::solve_rows(room.part, rank, line),
            false => {
                // A pivot that rounding took below 0 (no ridge, too few entries) leaves its coordinate at 0.
                let least = S::of(S::EPSILON) * cholesky::largest_pivot(room.gram, rank);
                cholesky::solve(room.gram, line, least);
            }
        }
        let gained: f64 = room.target.iter().zip(&*line).map(|(t, a)| t.f64() * a.f64()).sum();
        0.5 * (values.iter().map(|&y| self.feedback.alone(y)).sum::<f64>() - gained).max(0.0)
    }

    /// Adds the normal equations of some entries of a line.
    fn add(&self, places: &[u32], values: &[S], b: &[S], room: &mut Room<'_, S>) {
        let rank = room.target.len();
        crate::vector::simd(
            #[inline(always)]
            || {
                let lines = room.panel.chunks_exact_mut(rank).zip(places.iter().zip(values));
                for (line, (&j, &y)) in lines {
                    let b = &b[j as usize * rank..][..rank];
                    let (weight, pull) = self.feedback.normal(y);
                    let root = weight.sqrt();
                    for ((line, target), &b) in line.iter_mut().zip(&mut *room.target).zip(b) {
                        *line = root * b;
                        *target = pull.mul_add(b, *target);
                    }
                }
            },
        );
        S::gram(room.part, Mat::new(room.panel, places.len(), rank));
        room.gram.iter_mut().zip(&*room.part).for_each(|(gram, &part)| *gram += part);
    }
}
