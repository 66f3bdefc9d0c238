//! Work between whose rounds nobody looks at signals, done on a thread of its own and asked to stop.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use melmo::patience::Patience;
use melmo_tasks::Until;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::failure;

/// How often signals are looked at.
pub const HEARTBEAT: Duration = Duration::from_millis(50);

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

/// The work's answer, with the interpreter released, or what a signal raised meanwhile: what takes long in it is given up then.
/// What a user's term raised is raised as well.
pub fn hearing<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let answer = py.detach(|| signals().run(work));
    failure::take().map_or(Ok(answer), Err)
}

/// What work on this thread is given: until a signal raises something, which is left for whoever started the work.
pub fn signals() -> Patience {
    let looked = Mutex::new(Instant::now());
    Patience::until(move || {
        let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() >= HEARTBEAT && !failure::pending() {
            *looked = Instant::now();
            Python::attach(|py| py.check_signals()).unwrap_or_else(failure::record);
        }
        failure::pending()
    })
}

/// What arrives, or what a signal raised meanwhile.
fn listening<T: Send>(py: Python<'_>, receive: Receiver<T>) -> PyResult<T> {
    // A receiver cannot be shared between threads, and `detach` asks for that.
    let receive = Mutex::new(receive);
    loop {
        let heard = py.detach(|| {
            let receive = receive.lock().unwrap_or_else(PoisonError::into_inner);
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
