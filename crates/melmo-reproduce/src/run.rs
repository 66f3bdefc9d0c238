//! All instances, on all cores: each is independent of the others, and none uses more than one core, so the numbers do not
//! depend on how many there are.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use melmo::geometry::Norm;
use melmo::threads::{self, Threads};

use crate::data::Library;
use crate::error::Error;
use crate::instance::{Instance, Method, Objective, Outcome};
use crate::method::execute;
use crate::store::Store;

/// Is told how the work goes on, from several threads.
pub trait Follow: Sync {
    /// So many units of work were done, of [`Work::units`].
    fn worked(&self, units: f64);

    /// An instance was finished.
    fn finished(&self, instance: &Instance);

    /// Whether to stop.
    fn stop(&self) -> bool;
}

/// What there is to do.
pub struct Work {
    /// Instances with what came out of them, where they were finished before.
    pub runs: Vec<(Instance, Option<Outcome>)>,
}

impl Work {
    /// Reads back what was finished.
    pub fn new(instances: Vec<Instance>, store: &Store) -> Self {
        let runs = instances.into_iter().map(|instance| {
            let outcome = store.get(&instance);
            (instance, outcome)
        });
        Self { runs: runs.collect() }
    }

    /// How many instances are still to be run.
    pub fn left(&self) -> usize {
        self.runs.iter().filter(|(_, outcome)| outcome.is_none()).count()
    }

    /// How much work they are.
    pub fn units(&self, library: &Library) -> f64 {
        self.runs.iter().filter(|(_, o)| o.is_none()).map(|(instance, _)| units(instance, library)).sum()
    }

    /// Runs what is left, the longest first, and keeps each result as soon as it is there.
    pub fn run(self, library: &Library, store: &Store, follow: &dyn Follow) -> Result<Vec<(Instance, Outcome)>, Error> {
        let mut order: Vec<usize> = (0..self.runs.len()).filter(|&at| self.runs[at].1.is_none()).collect();
        let cost = |at: usize| units(&self.runs[at].0, library);
        order.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)));
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
        let fresh: Vec<Mutex<Option<Outcome>>> = self.runs.iter().map(|_| Mutex::new(None)).collect();
        let worker = || {
            while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let instance = &self.runs[at].0;
                let whole = units(instance, library);
                let watch = |share: f64| {
                    follow.worked(share * whole);
                    if follow.stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let done = execute(instance, library, &watch).and_then(|outcome| {
                    outcome.map(|outcome| store.put(instance, &outcome).map(|()| outcome)).transpose()
                });
                match done {
                    Ok(Some(outcome)) => {
                        *lock(&fresh[at]) = Some(outcome);
                        follow.finished(instance);
                    }
                    Ok(None) => return,
                    Err(error) => {
                        next.store(order.len(), Ordering::Relaxed);
                        lock(&failed).get_or_insert(error);
                        return;
                    }
                }
            }
        };
        threads::share(usize::MAX, 0..Threads::current().get(), |_| worker());
        if let Some(error) = lock(&failed).take() {
            return Err(error);
        }
        let fresh = fresh.into_iter().map(|slot| slot.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
        let all = self.runs.into_iter().zip(fresh).map(|((instance, old), new)| Some((instance, old.or(new)?)));
        all.collect::<Option<Vec<_>>>().ok_or(Error::Interrupted)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A guess at the work of an instance, in millions of multiplications: only shares of it matter.
fn units(instance: &Instance, library: &Library) -> f64 {
    let Some(matrix) = library.get(instance.set) else { return 0.0 };
    let (rows, cols) = (matrix.rows as f64, matrix.cols as f64);
    let side = rows.min(cols);
    let norm = match &instance.method {
        Method::Power { norm, .. } | Method::EpochConstant { norm, .. } => *norm,
        _ => Norm::L2,
    };
    let (spectral, nuclear) = (norm == Norm::Spectral, norm == Norm::Nuclear);
    let step = match instance.minimised {
        Objective::Factors { rank, .. } => {
            let rank = rank as f64;
            4.0 * rows * cols.min(rows + rank) * rank + if spectral { 30.0 * side * rank * rank } else { 0.0 }
        }
        _ if spectral => 20.0 * rows * cols * side,
        _ if nuclear => 5.0 * rows * cols * side,
        _ => 30.0 * rows * cols,
    };
    1e-6 * step * instance.iterations as f64
}
