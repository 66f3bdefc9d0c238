//! The end of a run as a dictionary, from which Python makes its result.

use melmo::drive::Status;
use melmo::trace::Row;
use melmo_tasks::Solved;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};

use crate::array::{Scalar, give};
use crate::certificate::{Certificate, Stored};
use crate::watch::Halt;

/// One word and one sentence for why a run ended; a watcher that ended it knows better.
pub fn ending(status: Status, halt: Option<&Halt>) -> (&'static str, &'static str) {
    match halt {
        Some(Halt::Stopped) => return ("stopped", "The callback ended the run."),
        Some(Halt::Raised(_)) => return ("raised", "An exception ended the run; this is the last point before it."),
        Some(Halt::Interrupted) => return ("interrupted", "Interrupted; this is the best point so far."),
        None => {}
    }
    let message = match status {
        Status::Certified => "What was asked for is proven: see the certificate's claim.",
        Status::Iterations => "All steps were taken.",
        Status::Settled => "Nothing more to do, to the tolerance: what is left of the gradients is tiny next to them.",
        Status::Target => "F is as low as was asked for.",
        Status::Stalled => "No step of the method leads any further.",
        Status::Start => "F rose: the last point lay above the start, which is returned.",
        Status::Time => "Time is up.",
        Status::Interrupted => "The run was ended from outside.",
        Status::NotFinite => "An evaluation was not finite; this is the last point that was.",
        Status::Fault => "The device failed; this is the last point that was copied from it.",
    };
    (status.name(), message)
}

/// x and z flat, and everything that is known of them.
pub fn to_dict<'py, S: Scalar + Stored>(
    py: Python<'py>,
    solved: Solved<S>,
    halt: Option<&Halt>,
) -> PyResult<Bound<'py, PyDict>> {
    let Solved { report, method, reason, device: _ } = solved;
    let (status, message) = ending(report.status, halt);
    let dict = PyDict::new(py);
    dict.set_item("x", give(py, report.x))?;
    dict.set_item("z", give(py, report.z))?;
    dict.set_item("fun", report.objective)?;
    dict.set_item("status", status)?;
    dict.set_item("message", message)?;
    dict.set_item("nit", report.info.k.saturating_sub(1))?;
    dict.set_item("method", method)?;
    dict.set_item("reason", reason)?;
    dict.set_item("seconds", report.elapsed.as_secs_f64())?;
    dict.set_item("certificate", report.certificate.map(|c| Certificate::new(c)))?;
    dict.set_item("trace", trace(py, &report.trace))?;
    Ok(dict)
}

/// The rows of a run as NumPy stores a structured array: the fields of Python's `Trace`, eight bytes each.
pub fn trace<'py>(py: Python<'py>, rows: &[Row]) -> Bound<'py, PyByteArray> {
    let mut bytes = Vec::with_capacity(rows.len() * 13 * 8);
    for row in rows {
        bytes.extend(row.epoch.map_or(-1, i64::from).to_ne_bytes());
        bytes.extend((row.k as i64).to_ne_bytes());
        let numbers = [
            row.objective,
            row.smoothed,
            row.dual_norm.unwrap_or(row.bracket.upper),
            row.prox_gap,
            row.beta,
            row.gamma,
            row.seconds,
            row.bracket.lower,
            row.bracket.upper,
            row.eta,
            row.excess,
        ];
        bytes.extend(numbers.into_iter().flat_map(f64::to_ne_bytes));
    }
    PyByteArray::new(py, &bytes)
}
