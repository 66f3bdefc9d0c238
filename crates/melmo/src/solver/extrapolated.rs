//! ADMM in longer strides: now and then a step starts from where the last ones point to.

use serde::{Deserialize, Serialize};

use crate::cholesky;
use crate::error::Error;
use crate::real::Real;
use crate::solver::splitting::{Residuals, Splitting};
use crate::solver::state::fits;
use crate::vector;

/// Steps that are remembered, of at most so many entries of Tx: memory pays where many steps are cheap.
const MEMORY: usize = 12;
const LARGEST: usize = 1 << 16;
/// One step in so many starts from a trial.
const EVERY: u64 = 4;
/// Added to the diagonal of the moves' products, relative to its largest entry.
const RIDGE: f64 = 1e-10;

/// Everything that ADMM remembers lies in s, of which z = prox_{βg}(s) and u = s − z. A step moves s by r(s). The combination of the last
/// points, weights adding up to 1, whose moves cancel best is tried as the next start. Where s then moves farther than it did before,
/// that step is taken back: no trial makes a move longer. Anderson acceleration; Fu, Zhang and Boyd, "Anderson accelerated
/// Douglas–Rachford splitting" (2020).
pub(super) struct Extrapolated<S: Real> {
    memory: Memory<S>,
    /// ⟨rᵢ, rⱼ⟩ of what is remembered.
    products: [f64; MEMORY * MEMORY],
    /// s before the step, and x, z and u before a trial.
    from: Vec<S>,
    before: [Vec<S>; 3],
}

/// The last steps, in a ring. What is saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Memory<S: Real> {
    /// r of each, and the s it led to.
    moves: Vec<Vec<S>>,
    ends: Vec<Vec<S>>,
    /// Steps since the first that is remembered in this ring.
    seen: usize,
}

impl<S: Real> Extrapolated<S> {
    /// For steps of this splitting; `None` where it is too large.
    pub fn of(splitting: &Splitting<'_, S>) -> Option<Self> {
        let (n, m) = (splitting.x.len(), splitting.z.len());
        let ring = || vec![vec![S::ZERO; m]; MEMORY];
        (m <= LARGEST).then(|| Self {
            memory: Memory { moves: ring(), ends: ring(), seen: 0 },
            products: [0.0; MEMORY * MEMORY],
            from: vec![S::ZERO; m],
            before: [n, m, m].map(|size| vec![S::ZERO; size]),
        })
    }

    /// Forgets what it saw: after β changed.
    pub fn clear(&mut self) {
        self.memory.seen = 0;
    }

    fn count(&self) -> usize {
        self.memory.seen.min(MEMORY)
    }

    /// The k-th step of the splitting, from a trial where it is time for one.
    pub fn step(&mut self, k: u64, splitting: &mut Splitting<'_, S>) -> Residuals {
        let last = self.memory.seen.checked_sub(1).map(|seen| self.products[(seen % MEMORY) * (MEMORY + 1)]);
        let tried = k.is_multiple_of(EVERY) && self.count() > 1 && self.combine();
        if tried {
            let [x, z, u] = &mut self.before;
            x.copy_from_slice(&splitting.x);
            z.copy_from_slice(&splitting.z);
            u.copy_from_slice(&splitting.u);
            splitting.stand_at(&self.from);
        } else {
            self.stand_with(splitting);
        }
        let residuals = splitting.step();
        let moved = self.remember(splitting);
        if !tried || last.is_some_and(|last| moved <= last) {
            return residuals;
        }
        self.memory.seen -= 1;
        splitting.go_back(self.before.each_ref().map(|kept| &**kept));
        self.stand_with(splitting);
        let residuals = splitting.step();
        self.remember(splitting);
        residuals
    }

    /// from ← z + u.
    fn stand_with(&mut self, splitting: &Splitting<'_, S>) {
        let both = splitting.z.iter().zip(&splitting.u);
        self.from.iter_mut().zip(both).for_each(|(s, (&z, &u))| *s = z + u);
    }

    /// Adds the step from `from`; returns ‖r‖².
    fn remember(&mut self, splitting: &Splitting<'_, S>) -> f64 {
        let slot = self.memory.seen % MEMORY;
        self.memory.seen += 1;
        let Memory { moves, ends, .. } = &mut self.memory;
        ends[slot].copy_from_slice(splitting.s());
        moves[slot].iter_mut().zip(splitting.s()).zip(&self.from).for_each(|((r, &end), &from)| *r = end - from);
        for other in 0..self.count() {
            let product = vector::dot(&self.memory.moves[slot], &self.memory.moves[other]);
            self.products[slot * MEMORY + other] = product;
            self.products[other * MEMORY + slot] = product;
        }
        self.products[slot * (MEMORY + 1)]
    }

    /// from ← Σ cᵢsᵢ with Σ cᵢ = 1 and ‖Σ cᵢrᵢ‖ least. False where the moves do not tell.
    fn combine(&mut self) -> bool {
        let count = self.count();
        let (mut gram, mut weights) = ([0.0; MEMORY * MEMORY], [1.0; MEMORY]);
        for i in 0..count {
            gram[i * count..][..count].copy_from_slice(&self.products[i * MEMORY..][..count]);
        }
        let gram = &mut gram[..count * count];
        let largest = cholesky::largest_pivot(gram, count);
        (0..count).for_each(|i| gram[i * (count + 1)] += RIDGE * largest);
        let weights = &mut weights[..count];
        if !cholesky::solve(gram, weights, 1e-3 * RIDGE * largest) {
            return false;
        }
        let total: f64 = weights.iter().sum();
        self.from.fill(S::ZERO);
        for (weight, end) in weights.iter().zip(&self.memory.ends) {
            vector::axpy(&mut self.from, weight / total, end);
        }
        total.is_finite() && total > 0.0
    }

    pub fn save(&self) -> Memory<S> {
        self.memory.clone()
    }

    /// Remembers what was saved; nothing, where that is of a run without memory.
    pub fn restore(&mut self, memory: &Memory<S>) -> Result<(), Error> {
        self.clear();
        if memory.seen == 0 {
            return Ok(());
        }
        for (kept, saved) in [(&mut self.memory.moves, &memory.moves), (&mut self.memory.ends, &memory.ends)] {
            Error::expect_len("steps of a saved state", kept.len(), saved.len())?;
            for (kept, saved) in kept.iter_mut().zip(saved) {
                fits(saved, kept.len())?;
                kept.copy_from_slice(saved);
            }
        }
        // A count that no run has reached is none.
        let believed = (memory.seen as u64) < 1 << 53;
        Error::expect_parameter("steps of a saved state", memory.seen as f64, believed, "below 2⁵³")?;
        self.memory.seen = memory.seen;
        for at in 0..MEMORY * MEMORY {
            self.products[at] = vector::dot(&self.memory.moves[at / MEMORY], &self.memory.moves[at % MEMORY]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Layout;
    use crate::metric;
    use crate::operator::Dense;
    use crate::penalty::{Entrywise, L1};
    use crate::problem::Problem;
    use crate::seeded::Seeded;
    use crate::smooth::MaskedLeastSquares;

    /// Least absolute residuals, nearly: a polyhedral problem, on which plain steps spiral.
    fn problem() -> Problem<f64> {
        let (rows, cols) = (60, 20);
        let t = Dense::new(Seeded::new(5).normals(rows * cols), rows, cols).unwrap();
        let f = MaskedLeastSquares::new(Layout::vector(cols).unwrap(), Seeded::new(6).normals(cols), None).unwrap();
        Problem::new(f, Entrywise::new(L1::new(3.0).unwrap(), rows), t).unwrap()
    }

    /// Steps until nothing moves by more than rounding, and x then.
    fn run(problem: &Problem<f64>, extrapolates: bool) -> (u64, Vec<f64>) {
        let (_, metric) = metric::for_problem(problem).unwrap();
        let mut splitting = Splitting::new(problem, metric, 0.02, 1.6, &[0.0; 20]).unwrap();
        let mut extrapolated = Extrapolated::of(&splitting).unwrap();
        for k in 1..20_000 {
            let residuals = if extrapolates { extrapolated.step(k, &mut splitting) } else { splitting.step() };
            if residuals.gap < 1e-10 && residuals.slope < 1e-8 {
                return (k, splitting.x.clone());
            }
        }
        panic!("it did not settle");
    }

    #[test]
    fn trials_save_steps_and_end_at_the_same_point() {
        let problem = problem();
        let ((plain, there), (fewer, here)) = (run(&problem, false), run(&problem, true));
        assert!(2 * fewer < plain, "{fewer} of {plain} steps");
        assert!(there.iter().zip(&here).all(|(a, b)| (a - b).abs() < 1e-7), "{there:?} {here:?}");
    }

    #[test]
    fn a_saved_memory_goes_on_with_the_same_bits() {
        let problem = problem();
        let at = |beta| {
            let (_, metric) = metric::for_problem(&problem).unwrap();
            Splitting::new(&problem, metric, beta, 1.6, &[0.0; 20]).unwrap()
        };
        let (mut first, mut second) = (at(0.02), at(0.02));
        let mut whole = Extrapolated::of(&first).unwrap();
        for k in 1..50 {
            whole.step(k, &mut first);
        }
        let mut resumed = Extrapolated::of(&second).unwrap();
        resumed.restore(&whole.save()).unwrap();
        second.restore([&first.x, &first.z, &first.u], 0.02).unwrap();
        for k in 50..80 {
            whole.step(k, &mut first);
            resumed.step(k, &mut second);
        }
        assert_eq!([&first.x, &first.z, &first.u], [&second.x, &second.z, &second.u]);
        let short = Memory { ends: vec![vec![0.0; 3]; MEMORY], ..whole.save() };
        assert!(resumed.restore(&short).is_err());
    }
}
