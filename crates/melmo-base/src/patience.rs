//! How long work may go on: whoever calls says when it is enough.
//!
//! Like the number of threads ([`crate::threads`]) this belongs to the caller: [`Patience::run`] sets it for everything that a
//! closure does, and no signature carries it. What takes long asks [`is_over`] between its pieces, and where it is answers as
//! if it had failed: false, none, NaN. Decompositions do ([`crate::linalg`]). Whoever gets such an answer asks once more, and
//! so tells work that was given up from work that cannot be done.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

type Ask = Arc<dyn Fn() -> bool + Send + Sync>;

/// Until when work may go on.
#[derive(Clone, Default)]
pub struct Patience(Option<Ask>);

thread_local! {
    /// What this thread was told.
    static CURRENT: RefCell<Patience> = const { RefCell::new(Patience(None)) };
    /// How many times [`is_over_now_and_then`] answers by itself before it asks.
    static BEFORE_ASKING: Cell<u32> = const { Cell::new(0) };
}

/// Every so many times somebody is asked: asking may mean looking at the clock.
const RARELY: u32 = 32;

impl Patience {
    /// As long as it takes.
    pub fn endless() -> Self {
        Self::default()
    }

    /// Until `is_over` says so. It is asked often: it should answer quickly.
    pub fn until(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_over)))
    }

    /// Until this is over, or `is_over` says so.
    pub fn or(self, is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self::until(move || self.is_over() || is_over())
    }

    /// What the caller said; endless where nobody said anything.
    pub fn current() -> Self {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Whether it is enough.
    pub fn is_over(&self) -> bool {
        self.0.as_ref().is_some_and(|ask| ask())
    }

    /// Does `work` until it is enough. What the caller had said holds again afterwards.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        /// Goes back also where the work panics.
        struct Back(Patience);
        impl Drop for Back {
            fn drop(&mut self) {
                CURRENT.set(std::mem::take(&mut self.0));
            }
        }
        let _back = Back(CURRENT.replace(self.clone()));
        BEFORE_ASKING.set(0);
        work()
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Patience(limited)" } else { "Patience(endless)" })
    }
}

/// Whether what runs here should be given up.
pub fn is_over() -> bool {
    // Not asked while it is borrowed: whoever answers may run work of its own.
    let ask = CURRENT.with_borrow(|current| current.0.clone());
    ask.is_some_and(|ask| ask())
}

/// The same where the question comes a million times a second: most times nobody is asked, and the answer is no.
#[inline]
pub(crate) fn is_over_now_and_then() -> bool {
    match BEFORE_ASKING.get() {
        0 => {
            BEFORE_ASKING.set(RARELY);
            is_over()
        }
        left => {
            BEFORE_ASKING.set(left - 1);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn it_holds_inside_and_what_was_said_before_comes_back() {
        assert!(!is_over() && !Patience::current().is_over());
        let enough = Patience::until(|| true);
        enough.run(|| {
            assert!(is_over() && is_over_now_and_then());
            Patience::endless().run(|| assert!(!is_over()));
            assert!(is_over());
        });
        let on_purpose = AssertUnwindSafe(|| enough.run(|| panic!("on purpose")));
        assert!(std::panic::catch_unwind(on_purpose).is_err());
        assert!(!is_over());
    }

    #[test]
    fn either_of_two_is_enough() {
        static SAID: AtomicBool = AtomicBool::new(false);
        let either = |first: bool| Patience::until(move || first).or(|| SAID.load(Ordering::Relaxed));
        assert!(either(true).is_over() && !either(false).is_over());
        SAID.store(true, Ordering::Relaxed);
        assert!(either(false).is_over());
    }
}
