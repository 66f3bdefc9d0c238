//! Work between whose rounds nobody looks at signals, done on a thread of its own and asked to stop.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use melmo_tasks::Until;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often signals are looked at.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// The work's answer, or what a signal raised meanwhile: the work is then told that it is over, and waited for.
pub fn waiting<T: Send + 'static>(
    py: Python<'_>,
    until: &Until,
    work: impl FnOnce(&Until) -> T + Send + 'static,
) -> PyResult<T> {
    let (send, receive) = channel();
    let enough = Arc::new(AtomicBool::new(false));
    let asked = enough.clone();
    let until = until.clone().asking(move |_| match asked.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    let worker = std::thread::spawn(move || {
        // Nobody may be there to hear it.
        let _ = send.send(work(&until));
    });
    listening(py, receive).inspect_err(|_| {
        enough.store(true, Ordering::Relaxed);
        // What it was at is dropped; that it ended is what counts.
        let _ = py.detach(|| worker.join());
    })
}

/// The same for work that cannot be told anything, as a read that may wait for ever: it is left to itself.
pub fn leaving<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let _ = send.send(work());
    });
    listening(py, receive)
}

/// What arrives, or what a signal raised meanwhile.
fn listening<T: Send>(py: Python<'_>, receive: Receiver<T>) -> PyResult<T> {
    // A receiver cannot be shared between threads, and `detach` asks for that.
    let receive = std::sync::Mutex::new(receive);
    loop {
        let heard = py.detach(|| {
            let receive = receive.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            receive.recv_timeout(HEARTBEAT)
        });
        match heard {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without an answer; this is a bug of melmo"));
            }
        }
    }
}
