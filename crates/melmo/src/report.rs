//! What a run returns.

use std::time::Duration;

use crate::certificate::Certificate;
use crate::drive::{Rose, Status, moment};
use crate::patience::Patience;
use crate::real::Real;
use crate::solver::Info;
use crate::trace::Row;

/// The end of a run: the point, what is known about it and how it was reached.
#[derive(Clone, Debug)]
pub struct Report<S: Real> {
    /// Why the run ended.
    pub status: Status,
    /// The end point x: what the certificate speaks of.
    pub x: Vec<S>,
    /// z = prox_{βg}(Tx): the point that carries exact zeros. Tx itself where the end is `unseen`.
    pub z: Vec<S>,
    /// F at the solver's last point: F(x), or for a method that does not smooth, F where x was shown from. Where Tx keeps a
    /// constraint only to the tolerance of a run that settled, f(x) + g(z). NaN where the end is `unseen` and F is not known either.
    pub objective: f64,
    /// The scalars at x; its k counts the points of the run, also where the start is returned.
    pub info: Info,
    /// What was reached, re-checkable; `None` when even the start could not be evaluated, and where the end is `unseen`.
    pub certificate: Option<Certificate<S>>,
    /// The recorded rows.
    pub trace: Vec<Row>,
    /// The method's time, before a resumption included: without rows, snapshots and observers.
    pub elapsed: Duration,
    /// F at the start and at the end, where somebody compared them ([`Report::rise`], [`Report::or_start`]) and it rose.
    pub rose: Option<Rose>,
    /// There was no look at the end: it takes as long as a step or two, and the run was to end at once, or nobody asked for one.
    pub unseen: bool,
}

impl<S: Real> Report<S> {
    /// Whether it was ended from outside, by its time limit or by somebody.
    pub fn had_to_end(&self) -> bool {
        matches!(self.status, Status::Time | Status::Interrupted)
    }

    /// What is told about the end besides is given: a moment where the run had to end, and nothing where there was no time for a look.
    pub fn patience(&self) -> Patience {
        match (self.had_to_end(), self.unseen) {
            (false, _) => Patience::current(),
            (true, false) => moment(),
            (true, true) => Patience::until(|| true),
        }
    }

    /// The same, its certificate gone and its status [`Status::NotFinite`], where F, x or z is not finite. Finite gradients do not make
    /// F finite: the squares of a sum overflow first. Nothing is certain about such a point.
    #[must_use]
    pub fn if_finite(self) -> Self {
        // F that there was no time for is not known, which is another matter.
        let known = self.objective.is_finite() || self.unseen && self.objective.is_nan();
        let finite = known && self.x.iter().chain(&self.z).all(|v| v.is_finite());
        if finite || self.status == Status::Fault {
            self
        } else {
            Self { status: Status::NotFinite, certificate: None, ..self }
        }
    }
}
