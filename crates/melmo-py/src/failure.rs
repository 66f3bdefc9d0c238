//! What a user's term raised while a solver ran.
//!
//! Terms cannot fail: one that cannot answer returns NaN, which ends the run. A term in Python leaves the reason here. A run
//! and the terms it calls share a thread, so the place is the thread's own; a failed term is not called again in that run.

use std::cell::RefCell;

use pyo3::PyErr;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps the first exception.
pub fn record(error: PyErr) {
    RAISED.with_borrow_mut(|kept| {
        kept.get_or_insert(error);
    });
}

/// An exception waits to be raised again.
pub fn pending() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// Takes it away.
pub fn take() -> Option<PyErr> {
    RAISED.take()
}
