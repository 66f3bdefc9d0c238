//! Work that cannot be asked to stop, done on a thread of its own.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often signals are looked at.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// The work's answer, or what a signal raised meanwhile: the thread is then left to end by itself, its answer dropped.
pub fn waiting<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        // Nobody may be there to hear it.
        let _ = send.send(work());
    });
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
