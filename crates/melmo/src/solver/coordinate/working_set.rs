//! Which units a round works on.

use crate::penalty::Coordinates;
use crate::real::Real;
use crate::solver::coordinate::descent::Descent;

/// Units besides the active ones, at least: so many, and one in `SHARE` of all. A gradient over all columns costs so many sweeps over
/// them.
const FEWEST: usize = 10;
const SHARE: usize = 20;

/// How units enter. For a convex penalty that is a matter of speed; for others it decides among local minima.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Entry {
    /// Many at a time, those of a path by the strong rule.
    Many,
    /// Only those farthest from stationary, as many as are active.
    Few,
    /// The same, and a sweep begins with them, the farthest first: they may take the place of others before those answer.
    FewFirst,
}

impl<S: Real> Descent<'_, S> {
    /// The active units, and as many again (but not too few) of those that are farthest from stationary. Johnson and
    /// Guestrin, "Blitz" (2015); Massias, Gramfort and Salmon, "Celer" (2018).
    pub fn choose(&mut self, entry: Entry) {
        let Self { set, active, scores, .. } = self;
        let fewest = if entry == Entry::Many { FEWEST.max(scores.len() / SHARE) } else { FEWEST };
        set.clear();
        set.extend((0..scores.len()).filter(|&c| scores[c] > 0.0));
        let wanted = active.len() + active.len().max(fewest);
        let farther = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
        if set.len() > wanted {
            set.select_nth_unstable_by(wanted, farther);
            set.truncate(wanted);
        }
        set.extend_from_slice(active);
        set.sort_unstable();
        set.dedup();
        if entry == Entry::FewFirst {
            let is_old = |c: &usize| active.binary_search(c).is_ok();
            set.sort_by(|a, b| is_old(a).cmp(&is_old(b)).then_with(|| farther(a, b)));
        }
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
