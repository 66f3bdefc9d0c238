//! How a run ends when it has to: work under way is given a moment, then given up.
//!
//! Steps may take seconds where they decompose a matrix. Such work asks whether it is enough ([`crate::patience`]) and answers
//! NaN where it is: the step then leads nowhere, as one does that overflows, and the run ends at the point before it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Instant;
use crate::drive::Status;
use crate::patience::Patience;

/// A step under way when the run should end has so much time to end by itself: most do.
const STEP: Duration = Duration::from_millis(150);

/// The look at the last point has so much, where no time was set aside for it.
const LOOK: Duration = Duration::from_millis(250);

/// F at the last point has so much where the look took too long, and the way back to it.
const VALUE: Duration = Duration::from_millis(100);

/// The two reasons to leave: the time limit, and the caller.
pub(super) struct Leave {
    deadline: Option<Instant>,
    caller: Patience,
}

impl Leave {
    /// For a run that begins now.
    pub fn new(time: Option<Duration>) -> Self {
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        Self { deadline, caller: Patience::current() }
    }

    /// Why the run should end now, if it should.
    pub fn reason(&self) -> Option<Status> {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late { Some(Status::Time) } else { self.caller.is_over().then_some(Status::Interrupted) }
    }

    /// Whether whoever called wants the run to end.
    pub fn is_asked_for(&self) -> bool {
        self.caller.is_over()
    }

    /// What steps are given: until there is a reason, and a moment longer.
    pub fn for_steps(&self) -> Patience {
        let (leave, since) = (Self { deadline: self.deadline, caller: self.caller.clone() }, Mutex::new(None));
        Patience::until(move || {
            leave.reason().is_some() && {
                let mut since = since.lock().unwrap_or_else(PoisonError::into_inner);
                since.get_or_insert_with(Instant::now).elapsed() >= STEP
            }
        })
    }

    /// What the look at the end is given: until the time limit and a moment longer, unless the caller asks now. A proof that
    /// was asked for, and found, is written down however long it takes.
    pub fn for_the_look(&self, certified: bool) -> Patience {
        let now = Instant::now();
        if self.caller.is_over() {
            return until(now + LOOK);
        }
        match self.deadline.filter(|_| !certified) {
            Some(deadline) => until(deadline.max(now) + LOOK).or({
                let caller = self.caller.clone();
                move || caller.is_over()
            }),
            None => self.caller.clone(),
        }
    }

    /// What F alone is given where there was no time for the look, and the way back from a step that was given up.
    pub fn for_the_value(&self) -> Patience {
        until(Instant::now() + VALUE)
    }
}

/// What is left to do after a run that had to end: a moment.
pub fn moment() -> Patience {
    until(Instant::now() + LOOK)
}

fn until(end: Instant) -> Patience {
    Patience::until(move || Instant::now() >= end)
}
