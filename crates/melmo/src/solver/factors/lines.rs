//! Coordinate descent over one factor while the other rests, many of its lines at a time.

use crate::penalty::Coordinates;
use crate::real::Real;
use crate::threads;
use crate::vector::simd;

/// Lines of a panel: the panel of a usual rank stays in the nearest cache.
const LINES: usize = 64;

/// Σ over the lines x of a factor (rows of W, columns of H) of ½xᵀGx − a·tᵀx + g(x): what both are while the other rests.
pub(super) struct Lines<'a, S> {
    /// The penalty by entries, and the unit of the factor's first.
    pub g: &'a dyn Coordinates<S>,
    pub first: usize,
    /// At least ρ of every unit.
    pub rho: f64,
    /// G, and a with the t of every line, laid out as the factor is.
    pub gram: &'a [S],
    pub scale: f64,
    pub target: &'a [S],
    pub rank: usize,
    /// The lines are columns: those of H.
    pub columns: bool,
}

impl<S: Real> Lines<'_, S> {
    /// So many sweeps: every entry by one proximal step of length 1/G_kk, component by component. `panels` has as many numbers as x.
    pub fn descend(&self, x: &mut [S], sweeps: usize, panels: &mut [S]) {
        let (rank, all) = (self.rank, x.len() / self.rank);
        let (shared, panels) = (&*x, &mut panels[..all * rank]);
        let nanoseconds = (x.len() * rank).saturating_mul(sweeps) / 4;
        threads::share(nanoseconds, panels.chunks_mut(LINES * rank).enumerate(), |(part, panel)| {
            let (first, n) = (part * LINES, panel.len() / rank);
            self.each(first, n, all, |at, here| panel[here] = shared[at]);
            simd(
                #[inline(always)]
                || (0..sweeps).for_each(|_| (0..rank).for_each(|k| self.advance(k, first, all, panel))),
            );
        });
        for (part, panel) in panels.chunks(LINES * rank).enumerate() {
            self.each(part * LINES, panel.len() / rank, all, |at, here| x[at] = panel[here]);
        }
    }

    /// Where component k of line c stands in the factor.
    #[inline(always)]
    fn at(&self, k: usize, c: usize, all: usize) -> usize {
        if self.columns { k * all + c } else { c * self.rank + k }
    }

    /// Pairs the places of n lines in the factor with those in a panel, component by component.
    fn each(&self, first: usize, n: usize, all: usize, mut pair: impl FnMut(usize, usize)) {
        (0..self.rank).for_each(|k| (0..n).for_each(|c| pair(self.at(k, first + c, all), k * n + c)));
    }

    /// Moves component k of every line of a panel.
    #[inline(always)]
    fn advance(&self, k: usize, first: usize, all: usize, panel: &mut [S]) {
        let n = panel.len() / self.rank;
        let row = &self.gram[k * self.rank..(k + 1) * self.rank];
        let modulus = row[k].f64().max(2.0 * self.rho);
        if modulus <= 0.0 {
            return;
        }
        let mut slopes = [S::ZERO; LINES];
        let slopes = &mut slopes[..n];
        for (&g, line) in row.iter().zip(panel.chunks_exact(n)) {
            slopes.iter_mut().zip(line).for_each(|(slope, &x)| *slope += g * x);
        }
        let (scale, inverse) = (S::of(self.scale), S::of(1.0 / modulus));
        let entries = &mut panel[k * n..(k + 1) * n];
        for (c, (x, &slope)) in entries.iter_mut().zip(&*slopes).enumerate() {
            *x -= (slope - scale * self.target[self.at(k, first + c, all)]) * inverse;
        }
        let every = if self.columns { 1 } else { self.rank };
        self.g.prox_every(self.first + self.at(k, first, all), every, entries, 1.0 / modulus);
    }
}
