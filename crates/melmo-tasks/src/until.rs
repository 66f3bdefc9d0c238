//! Until when work may go on: to a deadline, or until somebody says that it is enough.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use melmo::clock::Instant;
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
        self.patience(doing).run(work)
    }

    /// What such work is given.
    pub fn patience(&self, doing: &'static str) -> Patience {
        let until = self.clone();
        Patience::until(move || until.is_over(doing))
    }

    /// The same, but earlier: so much of the time is left for what comes after, where it is not more than half of it.
    #[must_use]
    pub fn leaving(self, time: Duration) -> Self {
        let fits = self.left().is_some_and(|left| time <= left / 2);
        let deadline = if fits { self.deadline.and_then(|deadline| deadline.checked_sub(time)) } else { self.deadline };
        Self { deadline, ..self }
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

    #[test]
    fn time_is_left_where_there_is_enough() {
        let hours = |hours: u64| Duration::from_secs(3600 * hours);
        let left = |time: u64| Until::after(Some(hours(10))).leaving(hours(time)).left().unwrap();
        assert!(left(4) <= hours(6) && left(4) > hours(5));
        assert!(left(6) <= hours(10) && left(6) > hours(9));
        assert!(Until::done().leaving(hours(1)).left().is_none());
    }
}
