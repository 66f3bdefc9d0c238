//! A copy of a run's point in this machine's memory: what is left where the device is lost.

use std::time::{Duration, Instant};

use melmo::real::Real;

use crate::device::{Device, Point};
use crate::machine::Machine;

/// The last point that was copied.
pub(crate) struct Kept<S> {
    x: Vec<S>,
    /// There is one.
    any: bool,
    since: Instant,
    /// How long copying took.
    took: Duration,
}

/// Points of more bytes are not kept.
const MOST: usize = 1 << 30;

/// Copies are no more frequent, and take no more than a fiftieth of the time.
const EVERY: Duration = Duration::from_secs(1);
const SHARE: u32 = 50;

impl<S: Real> Kept<S> {
    /// Room for a point of n numbers; none where it would be large.
    pub fn new(n: usize) -> Option<Self> {
        let fits = n.saturating_mul(size_of::<S>()) <= MOST;
        fits.then(|| Self { x: vec![S::ZERO; n], any: false, since: Instant::now(), took: Duration::ZERO })
    }

    fn is_due(&self) -> bool {
        self.since.elapsed() >= EVERY.max(self.took * SHARE)
    }
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    /// The start is kept, which came from here.
    pub(crate) fn keep_start(&mut self, x: &[S]) {
        if let Some(kept) = self.kept.as_mut().filter(|kept| !kept.any && kept.x.len() == x.len()) {
            kept.x.copy_from_slice(x);
            kept.any = true;
        }
    }

    /// Keeps a point that was evaluated, now and then. Where the device fails meanwhile, the last one stays.
    pub(crate) fn keep(&mut self, x: &Point) {
        if self.fault().is_some() || !self.kept.as_ref().is_some_and(Kept::is_due) {
            return;
        }
        let Some(mut kept) = self.kept.take() else { return };
        let begun = Instant::now();
        let mut copy = std::mem::take(&mut self.copied);
        self.download(&mut copy, x, 0);
        if self.fault().is_none() {
            std::mem::swap(&mut copy, &mut kept.x);
            (kept.any, kept.since, kept.took) = (true, Instant::now(), begun.elapsed());
        }
        (self.copied, self.kept) = (copy, Some(kept));
    }

    /// What is known of a point of a device that is lost: the last that was kept, or nothing.
    pub(crate) fn recall(&self, at: usize, to: &mut [S]) {
        match self.kept.as_ref().filter(|kept| kept.any) {
            Some(kept) => to.copy_from_slice(&kept.x[at..at + to.len()]),
            None => to.fill(S::of(f64::NAN)),
        }
    }
}
