//! f(x) + g_β(x) and its gradient, T = I and g a sum over entries: a stretch at a time, which stays in the nearest cache.

use super::{Pass, Sums, found};
use crate::penalty::{Entries, Prox};
use crate::problem::Evaluation;
use crate::real::Real;
use crate::smooth::Pointwise;
use crate::threads::{self, Threads};
use crate::vector;

/// A penalty of x itself, with the loss when that is a sum over entries too.
pub(crate) struct EntryStream<'a, S> {
    f: Option<&'a dyn Pointwise<S>>,
    g: &'a dyn Prox<S>,
    entries: &'a dyn Entries<S>,
}

/// Entries at a time: x, data, mask and gradient of a stretch fit into 16 kB.
const STRETCH: usize = 512;

impl<'a, S: Real> EntryStream<'a, S> {
    pub fn new(f: Option<&'a dyn Pointwise<S>>, g: &'a dyn Prox<S>, entries: &'a dyn Entries<S>) -> Self {
        Self { f, g, entries }
    }

    fn scratch_len(&self) -> usize {
        STRETCH.min(self.g.size())
    }

    /// grad ← f′ + ∇g_β, or grad + ∇g_β, on the entries from `first` on.
    fn gradient_of_stretch(&self, grad: &mut [S], x: &[S], first: usize, beta: f64, sums: &mut Sums) {
        if let Some(f) = self.f {
            sums.f += f.value_grad_at(grad, x, first);
        }
        sums.slope_squared += self.entries.add_slopes_of(grad, x, first, beta);
        sums.squared.add(vector::norm2_squared(grad));
    }
}

impl<S: Real> Pass<S> for EntryStream<'_, S> {
    fn has_loss(&self) -> bool {
        self.f.is_some()
    }

    /// The slopes that come with the envelope of a stretch, for each thread.
    fn work_len(&self) -> usize {
        let blocks = self.g.size().div_ceil(block(self.g.size()));
        self.scratch_len() * blocks.min(Threads::current().get())
    }

    fn smoothed_gradient_add(&self, grad: &mut [S], x: &[S], beta: f64, _: &mut [S]) -> Evaluation {
        let block = block(x.len());
        let blocks = grad.chunks_mut(block).zip(x.chunks(block)).enumerate();
        found(threads::sums(x.len(), blocks, |(i, (grad, x))| {
            let mut sums = Sums::default();
            for (k, (grad, x)) in grad.chunks_mut(STRETCH).zip(x.chunks(STRETCH)).enumerate() {
                self.gradient_of_stretch(grad, x, i * block + k * STRETCH, beta, &mut sums);
            }
            sums.values()
        }))
    }

    fn smoothed_gradient_after(
        &self,
        [y, phi]: [&mut [S]; 2],
        x: &[S],
        a: f64,
        beta: f64,
        _: &mut [S],
    ) -> Option<Evaluation> {
        self.f?;
        let block = block(x.len());
        let blocks = phi.chunks_mut(block).zip(y.chunks_mut(block)).zip(x.chunks(block)).enumerate();
        Some(found(threads::sums(x.len(), blocks, |(i, ((phi, y), x))| {
            let mut sums = Sums::default();
            let stretches = phi.chunks_mut(STRETCH).zip(y.chunks_mut(STRETCH)).zip(x.chunks(STRETCH));
            for (k, ((phi, y), x)) in stretches.enumerate() {
                vector::add_scaled(y, x, a, phi);
                self.gradient_of_stretch(phi, y, i * block + k * STRETCH, beta, &mut sums);
            }
            sums.values()
        })))
    }

    fn penalty(&self, x: &[S], beta: Option<f64>, work: &mut [S]) -> f64 {
        let Some(beta) = beta else { return self.g.value(x, work) };
        let (own, block) = (work.chunks_exact_mut(self.scratch_len()), block(x.len()));
        let [envelope] = threads::sums_with(x.len(), own, x.chunks(block).enumerate(), |scratch, (i, x)| {
            let stretches = x.chunks(STRETCH).enumerate();
            let first = |k: usize| i * block + k * STRETCH;
            [stretches.map(|(k, x)| self.entries.moreau_of(&mut scratch[..x.len()], x, first(k), beta).value).sum()]
        });
        envelope
    }
}

/// Entries of the blocks that threads share: whole stretches.
fn block(n: usize) -> usize {
    threads::block(n, STRETCH, 1 << 15)
}

#[cfg(test)]
mod tests {
    use crate::operator::Identity;
    use crate::penalty::{Entrywise, Mcp};
    use crate::problem::Problem;
    use crate::real::Real;
    use crate::seeded::Seeded;
    use crate::smooth::{MaskedLeastSquares, RobustPca, Smooth};
    use crate::{block::Layout, vector};

    fn problem<S: Real>(n: usize, pointwise: bool, weighted: bool) -> Problem<S> {
        let mut seeded = Seeded::new(3);
        let f: Box<dyn Smooth<S>> = match pointwise {
            true => {
                let mask = (0..n).map(|i| S::of(f64::from(i % 3 != 0))).collect();
                let layout = Layout::vector(n).unwrap();
                Box::new(MaskedLeastSquares::new(layout, seeded.normals(n), Some(mask)).unwrap())
            }
            false => Box::new(RobustPca::new(seeded.normals(n), 1, n, None).unwrap()),
        };
        let (size, mcp) = (f.layout().size(), Mcp::new(0.6, 1.5).unwrap());
        let g = match weighted {
            true => Entrywise::weighted(mcp, (0..size).map(|i| S::of((i % 4) as f64 / 2.0)).collect()).unwrap(),
            false => Entrywise::new(mcp, size),
        };
        let t = Identity::new(f.layout().clone());
        Problem::from_boxes(f, Box::new(g), Box::new(t)).unwrap()
    }

    fn agrees<S: Real>(n: usize, pointwise: bool, weighted: bool) {
        let make = || problem::<S>(n, pointwise, weighted);
        let evaluate = |problem: Problem<S>| {
            let size = problem.layout().size();
            let x: Vec<S> = Seeded::new(9).normals(size);
            let (mut grad, mut work) = (vec![S::of(9.0); size], vec![S::of(f64::NAN); problem.work_len()]);
            let found = problem.smoothed_gradient(&mut grad, &x, 0.3, &mut work);
            let (envelope, penalty) = (problem.envelope(&x, 0.3, &mut work), problem.penalty(&x, &mut work));
            (grad, [found.f, found.slope_squared, envelope, penalty])
        };
        let ((grad, numbers), (plain_grad, plain)) = (evaluate(make()), evaluate(make().chained()));
        for (a, b) in numbers.iter().zip(plain) {
            assert!((a - b).abs() <= 100.0 * S::EPSILON * (1.0 + b.abs()), "{n}: {a} {b}");
        }
        let scale = 1.0 + vector::norm2(&plain_grad);
        for (a, b) in grad.iter().zip(plain_grad) {
            assert!((a.f64() - b.f64()).abs() <= 4.0 * S::EPSILON * scale, "{n}: {a} {b}");
        }
    }

    #[test]
    fn the_pass_agrees_with_the_formulas() {
        for n in [1, 15, 511, 512, 513, 2000] {
            for (pointwise, weighted) in [(true, false), (true, true), (false, false), (false, true)] {
                agrees::<f64>(n, pointwise, weighted);
                agrees::<f32>(n, pointwise, weighted);
            }
        }
    }

    #[test]
    fn nothing_as_large_as_the_variable_is_needed() {
        assert_eq!(problem::<f64>(2000, true, false).work_len(), 512);
    }
}
