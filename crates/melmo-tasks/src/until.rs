//! Until when work may go on: to a deadline, or until somebody says that it is enough.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use melmo::patience::Patience;
use melmo::real::Real;
use melmo::solver::{Info, Solver};

type Ask = Arc<dyn Fn(&str) -> ControlFlow<()> + Send + Sync>;

/// Handed down to everything that takes long before a solver's own steps begin: starts, and weights that are tried out. They
/// ask between rounds, and end with the best that they have.
#[derive(Clone, Default)]
pub struct Until {
    deadline: Option<Instant>,
    ask: Option<Ask>,
}

impl Until {
    /// As long as it takes.
    pub fn done() -> Self {
        Self::default()
    }

    /// For so long from now; without end where no time is given.
    pub fn after(time: Option<Duration>) -> Self {
        Self { deadline: time.and_then(|time| Instant::now().checked_add(time)), ask: None }
    }

    /// Also until `ask` says so. It hears what is being done, and is asked often: it should answer quickly.
    pub fn asking(self, ask: impl Fn(&str) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Self { ask: Some(Arc::new(ask)), ..self }
    }

    /// Whether it is time to end what is `doing`.
    pub fn is_over(&self, doing: &str) -> bool {
        self.left() == Some(Duration::ZERO) || self.asked(doing).is_break()
    }

    /// What somebody says to it, whatever the time is.
    pub fn asked(&self, doing: &str) -> ControlFlow<()> {
        self.ask.as_ref().map_or(ControlFlow::Continue(()), |ask| ask(doing))
    }

    /// Does `work` that takes long, as decompositions of large matrices do, until it is over ([`melmo::patience`]).
    pub fn run<R>(&self, doing: &'static str, work: impl FnOnce() -> R) -> R {
        let until = self.clone();
        Patience::until(move || until.is_over(doing)).run(work)
    }

    /// Ends a run when it is over.
    pub(crate) fn watcher<S: Real>(
        &self,
        doing: &'static str,
    ) -> impl FnMut(&Info, &mut dyn Solver<S>) -> ControlFlow<()> {
        let until = self.clone();
        move |_, _| if until.is_over(doing) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The time that is left, where it is limited.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Until").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_or_somebody_ends_it() {
        assert!(!Until::done().is_over("nothing") && Until::done().left().is_none());
        assert!(Until::after(Some(Duration::ZERO)).is_over("nothing"));
        assert!(!Until::after(Some(Duration::from_secs(3600))).is_over("nothing"));
        let until = Until::done().asking(|doing| match doing {
            "starts" => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        assert!(until.is_over("starts") && !until.is_over("weights"));
    }
}
