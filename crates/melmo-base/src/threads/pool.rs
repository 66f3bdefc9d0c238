//! Helpers that wait for work: threads that are started once and sleep in between.
//!
//! A *region* is one piece of work that several threads do together: the caller opens it, the helpers that are awake in time
//! join in, the caller works too, closes it and waits for those who joined. A helper that the machine has no time for joins
//! nothing and delays nobody. Opening a region allocates nothing, which is why this is not rayon: its ways in from outside
//! its own threads allocate, its pools have one size, and none of them survives a fork.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::thread::{self, Thread};

/// The most helpers: seats of a region are counted in eight bits.
pub(super) const MOST: usize = 255;

/// Looks at the door before a helper goes to sleep: about 50 µs, longer than most gaps between two regions of one step.
const LOOKS: u32 = 1000;

/// What the threads of a region call.
type Work<'a> = &'a (dyn Fn() + Sync);

pub(super) struct Pool {
    /// The process whose threads the helpers are: a fork takes none of them along.
    process: u32,
    /// Somebody has a region open.
    taken: AtomicBool,
    /// The region's number, its free seats and its busy ones: 48, 8 and 8 bits.
    door: AtomicU64,
    /// A pointer to the `Work` of the open region, on its caller's stack.
    work: AtomicPtr<()>,
    /// A helper panicked in this region.
    panicked: AtomicBool,
    helpers: [Helper; MOST],
}

struct Helper {
    /// Set when it is started.
    thread: OnceLock<Thread>,
    asleep: AtomicBool,
}

const BUSY: u64 = 1;
const FREE: u64 = 1 << 8;
const REGION: u64 = 1 << 16;

fn busy(door: u64) -> u64 {
    door % FREE
}

fn free(door: u64) -> u64 {
    door % REGION / FREE
}

fn region(door: u64) -> u64 {
    door / REGION
}

static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// The pool of this process. After a fork it is a new one: the old one's helpers stayed behind, and a region that was open in
/// another thread will never be closed. Pools are never given back.
pub(super) fn pool() -> &'static Pool {
    let found = POOL.load(Ordering::Acquire);
    if let Some(pool) = known(found).filter(|pool| pool.process == process::id()) {
        return pool;
    }
    let new = Box::into_raw(Box::new(Pool::new()));
    match POOL.compare_exchange(found, new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => known(new).expect("it is not null"),
        Err(theirs) => known(theirs).expect("pools are never taken away"),
    }
}

/// The pool behind a pointer that `pool` made.
#[allow(unsafe_code)]
fn known(pool: *mut Pool) -> Option<&'static Pool> {
    // SAFETY: null, or from `Box::into_raw` in `pool` and never freed; shared references only, ever.
    unsafe { pool.as_ref() }
}

impl Pool {
    fn new() -> Self {
        let helper = || Helper { thread: OnceLock::new(), asleep: AtomicBool::new(false) };
        Self {
            process: process::id(),
            taken: AtomicBool::new(false),
            door: AtomicU64::new(0),
            work: AtomicPtr::new(ptr::null_mut()),
            panicked: AtomicBool::new(false),
            helpers: std::array::from_fn(|_| helper()),
        }
    }

    /// Calls `work` on this thread and on up to `helpers` others at the same time, and returns when all have. False, and
    /// nothing is done, while another region is open: that of another thread, or the one that this call is made from.
    pub fn run(&'static self, helpers: usize, work: Work<'_>) -> bool {
        if self.taken.swap(true, Ordering::Acquire) {
            return false;
        }
        let helpers = self.start(helpers.min(MOST));
        self.work.store(ptr::from_ref(&work).cast_mut().cast(), Ordering::Relaxed);
        let number = region(self.door.load(Ordering::Relaxed)) + 1;
        self.door.store(number * REGION + helpers as u64 * FREE, Ordering::SeqCst);
        let open = Open(self);
        if helpers > 0 {
            self.wake(0);
        }
        work();
        drop(open);
        true
    }

    /// Starts helpers until there are so many; returns how many there are, fewer where the machine refuses.
    fn start(&'static self, wanted: usize) -> usize {
        for (i, helper) in self.helpers[..wanted].iter().enumerate() {
            if helper.thread.get().is_none() {
                let body = move || self.help(i);
                let Ok(started) = thread::Builder::new().name(format!("melmo-{}", i + 1)).spawn(body) else { return i };
                helper.thread.get_or_init(|| started.thread().clone());
            }
        }
        wanted
    }

    /// Wakes helper i if it sleeps. Every helper that comes to a region wakes two more: nobody has to wake them all.
    fn wake(&self, i: usize) {
        let Some(helper) = self.helpers.get(i) else { return };
        if helper.asleep.swap(false, Ordering::SeqCst) {
            helper.thread.get().inspect(|thread| thread.unpark());
        }
    }

    /// The life of helper i.
    fn help(&self, i: usize) {
        let mut last = 0;
        loop {
            let mut door = self.wait(i, last);
            last = region(door);
            let more = |child: usize| (child as u64) < free(door) + busy(door);
            [2 * i + 1, 2 * i + 2].into_iter().filter(|&child| more(child)).for_each(|child| self.wake(child));
            while region(door) == last && free(door) > 0 {
                match self.door.compare_exchange(door, door - FREE + BUSY, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => {
                        self.join_in();
                        break;
                    }
                    Err(now) => door = now,
                }
            }
        }
    }

    /// The door, as soon as it shows another region than `last`.
    fn wait(&self, i: usize, last: u64) -> u64 {
        let is_new = |door: &u64| region(*door) != last;
        loop {
            for _ in 0..LOOKS {
                if let Some(door) = Some(self.door.load(Ordering::SeqCst)).filter(is_new) {
                    return door;
                }
                std::hint::spin_loop();
            }
            // First says that it sleeps, then looks once more: whoever opens a region does the two in the other order.
            self.helpers[i].asleep.store(true, Ordering::SeqCst);
            if !is_new(&self.door.load(Ordering::SeqCst)) {
                thread::park();
            }
            self.helpers[i].asleep.store(false, Ordering::SeqCst);
        }
    }

    /// Does the work of the region in which this helper has taken a seat, and leaves it.
    #[allow(unsafe_code)]
    fn join_in(&self) {
        let work: *const Work<'_> = self.work.load(Ordering::Acquire).cast_const().cast();
        // SAFETY: the seat was taken while the region was open, by a change of `door` that read what `run` had stored after
        // `work`; `run` does not return, nor unwind, before every seat is given back (`Open`), so that the pointer and
        // everything the closure borrows outlive this call. The closure is `Sync`: several threads may call it.
        let work = unsafe { &*work };
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
        self.door.fetch_sub(BUSY, Ordering::SeqCst);
    }
}

/// An open region. Closes it and waits for the helpers in it, also where the caller's own work panics.
struct Open(&'static Pool);

impl Drop for Open {
    fn drop(&mut self) {
        let Self(pool) = self;
        pool.door.fetch_and(!(REGION - FREE), Ordering::SeqCst); // no free seats
        for look in 0u32.. {
            if busy(pool.door.load(Ordering::SeqCst)) == 0 {
                break;
            }
            // A helper that is still at it may be waiting for this very core.
            if look < LOOKS { std::hint::spin_loop() } else { thread::yield_now() }
        }
        let panicked = pool.panicked.swap(false, Ordering::Relaxed);
        pool.taken.store(false, Ordering::Release);
        assert!(!panicked || thread::panicking(), "a thread that shared the work panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};

    /// The tests of this module share the one pool of the process with all others: a region may be refused.
    fn run(helpers: usize, work: Work<'_>) {
        while !pool().run(helpers, work) {
            thread::yield_now();
        }
    }

    #[test]
    fn everybody_works_and_nobody_after_the_end() {
        for helpers in [0, 1, 2, 7, 20] {
            for _ in 0..200 {
                let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
                run(helpers, &|| {
                    while next.fetch_add(1, Ordering::Relaxed) < 100 {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
                assert_eq!(done.load(Ordering::Relaxed), 100);
            }
        }
    }

    #[test]
    fn helpers_come_also_from_their_sleep() {
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(20));
            let (here, begun) = (AtomicUsize::new(0), Instant::now());
            run(3, &|| {
                here.fetch_add(1, Ordering::Relaxed);
                while here.load(Ordering::Relaxed) < 4 && begun.elapsed() < Duration::from_secs(20) {
                    thread::sleep(Duration::from_millis(1));
                }
            });
            assert_eq!(here.into_inner(), 4);
        }
    }

    #[test]
    fn a_region_inside_a_region_is_refused() {
        run(2, &|| assert!(!pool().run(2, &|| panic!("it was not"))));
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        for guilty in [true, false] {
            let caller = thread::current().id();
            let result = catch_unwind(|| {
                run(2, &|| {
                    thread::sleep(Duration::from_millis(20));
                    assert!((thread::current().id() == caller) != guilty, "on purpose");
                });
            });
            assert!(result.is_err());
        }
        everybody_works_and_nobody_after_the_end();
    }
}
