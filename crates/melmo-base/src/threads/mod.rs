//! How many threads work on one problem, and how its loops are shared among them.
//!
//! The number belongs to whoever calls: [`Threads::run`] sets it for everything that a closure does, [`Threads::make_default`]
//! for the process. A kernel cuts its work into blocks by the size of the problem alone, adds partial sums in the order of the
//! blocks, and hands the blocks to [`share`] or [`sums`]: the result has the same bits on any number of threads. Small work
//! stays on the calling thread; so does all of it while another thread, or a caller further up, has the helpers.

mod pool;

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Total;
use crate::patience::Patience;

/// Why a number of threads was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No number of threads that a process can have.
    #[error("threads = {0}: must be from 1 to 256")]
    Number(usize),
    /// MELMO_THREADS holds something else.
    #[error("MELMO_THREADS={0}: a number of threads is a whole number from 1 on")]
    Environment(String),
}

/// A number of threads, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threads(NonZeroUsize);

/// What a process uses where nobody said otherwise.
static DEFAULT: AtomicUsize = AtomicUsize::new(1);

thread_local! {
    /// What this thread was told; 0 for nothing.
    static TOLD: Cell<usize> = const { Cell::new(0) };
}

impl Threads {
    /// One: the calling thread alone.
    pub const ONE: Self = Self(NonZeroUsize::MIN);

    /// So many: 1 to 256.
    pub fn new(threads: usize) -> Result<Self, Refused> {
        let fits = NonZeroUsize::new(threads).filter(|n| n.get() <= pool::MOST + 1);
        fits.map(Self).ok_or(Refused::Number(threads))
    }

    /// As many as the process has cores, by its affinity and quota.
    pub fn all() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self::new(cores.min(pool::MOST + 1)).unwrap_or(Self::ONE)
    }

    /// What MELMO_THREADS says, or else OMP_NUM_THREADS, which those who run many processes on one machine set; all cores
    /// where neither does. Refuses a MELMO_THREADS that is no number of threads.
    pub fn from_environment() -> Result<Self, Refused> {
        let set = |name| std::env::var(name).ok().filter(|typed| !typed.trim().is_empty());
        match set("MELMO_THREADS") {
            Some(typed) => Self::typed(&typed).ok_or(Refused::Environment(typed)),
            None => Ok(set("OMP_NUM_THREADS").and_then(|typed| Self::typed(&typed)).unwrap_or_else(Self::all)),
        }
    }

    /// OpenMP allows a list, one number a level: the first counts.
    fn typed(typed: &str) -> Option<Self> {
        let first: usize = typed.split(',').next()?.trim().parse().ok()?;
        Self::new(first.min(pool::MOST + 1)).ok()
    }

    /// How many there are here: what [`Threads::run`] said, or the process's default, which is one unless it was changed.
    pub fn current() -> Self {
        let told = match TOLD.get() {
            0 => DEFAULT.load(Ordering::Relaxed),
            told => told,
        };
        NonZeroUsize::new(told).map_or(Self::ONE, Self)
    }

    /// The number itself.
    pub fn get(self) -> usize {
        self.0.get()
    }

    /// Makes this the number of the process, for all threads that were told nothing else.
    pub fn make_default(self) {
        DEFAULT.store(self.get(), Ordering::Relaxed);
    }

    /// Does `work` with so many threads.
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        /// Goes back also where the work panics.
        struct Back(usize);
        impl Drop for Back {
            fn drop(&mut self) {
                TOLD.set(self.0);
            }
        }
        let _back = Back(TOLD.replace(self.get()));
        work()
    }
}

/// Work below this, in nanoseconds on one thread, is not shared: helpers take microseconds to come, and where the machine has
/// no core for one, a little work may wait for it long.
const WORTH: usize = 100_000;
/// What each thread should have to do at least.
const SHARE: usize = 20_000;

/// Calls `each` on every item, on as many threads as there are and as pay for `nanoseconds` of work.
pub fn share<I>(nanoseconds: usize, items: I, each: impl Fn(I::Item) + Sync)
where
    I: Iterator<Item: Send> + Send,
{
    share_with(nanoseconds, nothing(), items, |(), item| each(item));
}

/// The same with something that each thread has to itself, scratch for instance: no more threads than there are of it.
///
/// There must be one at least.
pub fn share_with<K, I>(nanoseconds: usize, mut own: K, mut items: I, each: impl Fn(&mut K::Item, I::Item) + Sync)
where
    K: Iterator<Item: Send> + Send,
    I: Iterator<Item: Send> + Send,
{
    // One loop for all, so that `each` is compiled once: whoever works asks for the next item.
    let through = |mine: &mut K::Item, next: &mut dyn FnMut() -> Option<I::Item>| {
        while let Some(item) = next() {
            each(mine, item);
        }
    };
    let threads = Threads::current().get().min(nanoseconds / SHARE);
    if threads > 1 && nanoseconds >= WORTH {
        let queue = Mutex::new((own, items));
        let queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || {
            let mine = queue().0.next();
            if let Some(mut mine) = mine {
                through(&mut mine, &mut || queue().1.next());
            }
        };
        if !pool::pool().run(threads - 1, &work) {
            work();
        }
    } else if let Some(mut mine) = own.next() {
        through(&mut mine, &mut || items.next());
    }
}

/// What `each` makes of the items, in their order: for items that are a lot of work each, on every thread until the caller's
/// patience is over. Allocates.
pub fn map<I, R>(items: I, each: impl Fn(I::Item) -> R + Sync) -> Vec<R>
where
    I: ExactSizeIterator<Item: Send> + Send,
    R: Send,
{
    let mut made: Vec<Option<R>> = (0..items.len()).map(|_| None).collect();
    let patience = Patience::current();
    share(usize::MAX, made.iter_mut().zip(items), |(made, item)| *made = Some(patience.run(|| each(item))));
    made.into_iter().flatten().collect()
}

/// The most blocks of one sum: their partial sums lie on the stack.
pub const BLOCKS: usize = 256;

/// Entries of a block where `n` are cut into at most [`BLOCKS`]: a multiple of `unit`, and not fewer than `least`.
pub fn block(n: usize, unit: usize, least: usize) -> usize {
    n.div_ceil(BLOCKS).max(least).next_multiple_of(unit)
}

/// The sums of what `each` makes of the items, added in their order; there are at most [`BLOCKS`] items.
pub fn sums<const N: usize, I>(nanoseconds: usize, items: I, each: impl Fn(I::Item) -> [f64; N] + Sync) -> [f64; N]
where
    I: ExactSizeIterator<Item: Send> + Send,
{
    sums_with(nanoseconds, nothing(), items, |(), item| each(item))
}

/// For threads that need nothing of their own.
pub fn nothing() -> impl Iterator<Item = ()> + Send {
    std::iter::repeat(())
}

/// The same with something that each thread has to itself.
pub fn sums_with<const N: usize, K, I>(
    nanoseconds: usize,
    own: K,
    items: I,
    each: impl Fn(&mut K::Item, I::Item) -> [f64; N] + Sync,
) -> [f64; N]
where
    K: Iterator<Item: Send> + Send,
    I: ExactSizeIterator<Item: Send> + Send,
{
    let mut totals = [Total::default(); N];
    parts(nanoseconds, own, items, each, |part| totals.iter_mut().zip(part).for_each(|(total, part)| total.add(part)));
    totals.map(|total| total.value())
}

/// Hands what `each` makes of the items to `join`, in their order; there are at most [`BLOCKS`] items.
pub fn parts<const N: usize, K, I>(
    nanoseconds: usize,
    own: K,
    items: I,
    each: impl Fn(&mut K::Item, I::Item) -> [f64; N] + Sync,
    mut join: impl FnMut([f64; N]),
) where
    K: Iterator<Item: Send> + Send,
    I: ExactSizeIterator<Item: Send> + Send,
{
    let count = items.len();
    if count <= 1 {
        let alone = own.zip(items);
        return alone.for_each(|(mut own, item)| join(each(&mut own, item)));
    }
    assert!(count <= BLOCKS, "{count} blocks are more than {BLOCKS}");
    let mut made = [[0.0; N]; BLOCKS];
    let slots = made[..count].iter_mut();
    share_with(nanoseconds, own, slots.zip(items), |own, (slot, item)| *slot = each(own, item));
    made.into_iter().take(count).for_each(join);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_set_for_a_while_and_comes_back() {
        let two = Threads::new(2).unwrap();
        let before = Threads::current();
        two.run(|| {
            assert_eq!(Threads::current(), two);
            assert_eq!(Threads::ONE.run(Threads::current), Threads::ONE);
            assert_eq!(Threads::current(), two);
        });
        let _ = std::panic::catch_unwind(|| two.run(|| panic!("on purpose")));
        assert_eq!(Threads::current(), before);
        assert!(Threads::all() >= Threads::ONE);
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        assert!(Threads::new(0).is_err() && Threads::new(257).is_err() && Threads::new(256).is_ok());
        let of = |typed| Threads::typed(typed).map(Threads::get);
        assert_eq!((of("3"), of(" 4,2 "), of("1000")), (Some(3), Some(4), Some(256)));
        assert!(["0", "-1", "many", "1.5", ""].into_iter().all(|typed| of(typed).is_none()));
    }

    #[test]
    fn sums_have_the_same_bits_on_any_number_of_threads() {
        let x: Vec<f64> = (0..100_000).map(|i| (i as f64).sin()).collect();
        let sum = |threads: usize| {
            let size = block(x.len(), 16, 512);
            let each = |part: &[f64]| [part.iter().sum::<f64>(), part.iter().map(|v| v * v).sum::<f64>()];
            Threads::new(threads).unwrap().run(|| sums(1_000_000, x.chunks(size), each))
        };
        let alone = sum(1);
        assert!((alone[0] - x.iter().sum::<f64>()).abs() < 1e-9);
        [2, 3, 8].into_iter().for_each(|threads| assert_eq!(sum(threads), alone));
    }

    #[test]
    fn everybody_has_something_of_his_own_and_every_item_is_done_once() {
        let (mut own, mut out) = (vec![0u64; 3], vec![0u8; 1000]);
        Threads::new(8).unwrap().run(|| {
            share_with(10_000_000, own.iter_mut(), out.iter_mut(), |mine, item| {
                **mine += 1;
                *item += 1;
            })
        });
        assert!(out.iter().all(|&count| count == 1));
        assert_eq!(own.iter().sum::<u64>(), 1000);
    }

    #[test]
    fn results_keep_the_order_of_their_items() {
        let squares = |threads: usize| Threads::new(threads).unwrap().run(|| map(0..100u32, |i| i * i));
        assert_eq!(squares(1), (0..100).map(|i| i * i).collect::<Vec<_>>());
        assert_eq!(squares(8), squares(1));
    }

    #[test]
    fn helpers_have_the_patience_of_the_caller() {
        let (here, begun) = (AtomicUsize::new(0), std::time::Instant::now());
        let is_over = |_: u32| {
            // Both threads are at it.
            here.fetch_add(1, Ordering::SeqCst);
            while here.load(Ordering::SeqCst) < 2 && begun.elapsed().as_secs() < 20 {
                std::thread::yield_now();
            }
            crate::patience::is_over()
        };
        let ask = || Patience::until(|| true).run(|| map(0..2, is_over));
        assert_eq!(Threads::new(2).unwrap().run(ask), [true, true]);
    }

    #[test]
    fn blocks_depend_on_the_size_alone() {
        assert_eq!((block(100, 16, 512), block(1 << 20, 16, 512), block(1000, 48, 100)), (512, 4096, 144));
        assert!(usize::div_ceil(12_345_678, block(12_345_678, 16, 512)) <= BLOCKS);
    }
}
