//! Which units a round works on.

use crate::penalty::Coordinates;
use crate::real::Real;
use crate::solver::coordinate::descent::Descent;

/// Units besides the active ones, at least.
const FEWEST: usize = 10;

impl<S: Real> Descent<S> {
    /// The active units, and as many again (at least `FEWEST`) of those that are farthest from stationary. Johnson and
    /// Guestrin, "Blitz" (2015); Massias, Gramfort and Salmon, "Celer" (2018).
    pub fn choose(&mut self) {
        let mut set = std::mem::take(&mut self.set);
        set.clear();
        set.extend((0..self.units()).filter(|&c| self.is_active(c)));
        let active = set.len();
        set.extend((0..self.units()).filter(|&c| self.scores[c] > 0.0 && !self.is_active(c)));
        let wanted = active + active.max(FEWEST);
        if set.len() > wanted {
            let others = &mut set[active..];
            let farther = |a: &usize, b: &usize| self.scores[*b].total_cmp(&self.scores[*a]).then(a.cmp(b));
            others.select_nth_unstable_by(wanted - active, farther);
            set.truncate(wanted);
        }
        set.sort_unstable();
        self.set = set;
    }

    /// The active units, and those that the sequential strong rule keeps when g took the place of `before`, whose solution x
    /// is: ‖∇_cf(x)‖ ≥ 2t_c − t_c(before), t_c the kink of g_c. Tibshirani et al., "Strong rules for discarding predictors"
    /// (2012). A guess, not a proof: the scores of the next evaluation find what it missed.
    pub fn choose_by_strong_rule(&mut self, g: &dyn Coordinates<S>, before: &dyn Coordinates<S>) {
        let mut set = std::mem::take(&mut self.set);
        set.clear();
        set.extend((0..self.units()).filter(|&c| {
            let slope = self.members(c).iter().map(|&i| self.grad[i].f64().powi(2)).sum::<f64>().sqrt();
            self.is_active(c) || slope >= 2.0 * g.threshold_of(c) - before.threshold_of(c)
        }));
        self.set = set;
    }
}
