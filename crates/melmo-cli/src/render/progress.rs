//! Progress of a run, and the way out of it: a bar on a terminal, plain lines elsewhere, Ctrl-C.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use melmo::drive::Observer;
use melmo::patience::Patience;
use melmo::real::Real;
use melmo::solver::{Info, Solver};
use melmo_tasks::Until;

use super::{say, seconds, short};

/// When the program was started: its time is limited from then on.
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// How often Ctrl-C was pressed.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);
/// There is nothing yet to keep, as at first and while something is read.
static NOTHING_TO_KEEP: AtomicBool = AtomicBool::new(true);

/// The first Ctrl-C (or SIGTERM) asks runs to end; the second ends the program, as does the first while there is nothing to keep.
pub fn catch_interrupts() {
    LazyLock::force(&BEGUN);
    let caught = ctrlc::set_handler(|| {
        let again = INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0;
        if again || NOTHING_TO_KEEP.load(Ordering::SeqCst) {
            say::note(if again { "melmo: interrupted" } else { "melmo: interrupted; there is nothing to keep yet" });
            std::process::exit(130);
        }
        say::note("");
        say::note("melmo: stopping; the point so far is kept (Ctrl-C again quits at once)");
    });
    // Without a handler Ctrl-C ends the program at once, as anywhere.
    drop(caught);
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTS.load(Ordering::SeqCst) > 0
}

/// What work that takes long is given: until Ctrl-C.
pub fn patience() -> Patience {
    Patience::until(interrupted)
}

/// From now on there is something to keep when Ctrl-C is pressed.
pub fn work_begins() {
    NOTHING_TO_KEEP.store(false, Ordering::SeqCst);
}

/// To the end of the program's time.
pub fn time(limit: Option<Duration>) -> Until {
    Until::after(limit.map(|limit| limit.saturating_sub(BEGUN.elapsed())))
}

/// Reads an input: a pipe may never end.
pub fn while_reading<T>(path: &Path, until: &Until, read: impl FnOnce() -> T) -> T {
    all_or_nothing(format!("{}: time was up before it was read", path.display()), until, read)
}

/// Work of which a part is worth nothing. Ctrl-C ends the program at once meanwhile, and so does the end of its time, which is
/// `late`.
pub fn all_or_nothing<T>(late: String, until: &Until, work: impl FnOnce() -> T) -> T {
    let (done, waiting) = channel::<()>();
    if let Some(left) = until.left() {
        std::thread::spawn(move || {
            if waiting.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                say::note(&format!("melmo: error: {late}"));
                std::process::exit(2);
            }
        });
    }
    let before = NOTHING_TO_KEEP.swap(true, Ordering::SeqCst);
    if interrupted() {
        std::process::exit(130); // it was said while there still was something to keep
    }
    let found = work();
    NOTHING_TO_KEEP.store(before, Ordering::SeqCst);
    drop(done); // whoever waits with us may go
    found
}

/// Until Ctrl-C or the end of the time. Whatever asks is shown now and then as what is being done.
pub fn until(quiet: bool, limit: Option<Duration>) -> Until {
    work_begins();
    let start = Instant::now();
    let told = Mutex::new(start);
    time(limit).asking(move |doing| {
        if let (false, Ok(mut told)) = (quiet, told.lock())
            && told.elapsed() >= Duration::from_secs(5)
        {
            *told = Instant::now();
            say::note(&format!("{doing}  {}", seconds(start.elapsed().as_secs_f64())));
        }
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// A bar on a terminal; nothing elsewhere, or when quiet.
pub fn bar(quiet: bool, length: u64) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
    let template = "{bar:24.cyan/dim} {percent:>3}%  {msg}  {eta} left";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(length), target).with_style(style.progress_chars("━━╌"))
}

/// Shows where a run stands, a few times a second at most.
pub struct Progress {
    /// None when nothing is to be shown.
    shown: Option<Shown>,
    start: Instant,
    last: Instant,
    limit: Option<Duration>,
}

enum Shown {
    Bar(ProgressBar),
    Lines,
}

impl Progress {
    /// For a run of at most so many steps or so much time.
    pub fn new(quiet: bool, iterations: u64, limit: Option<Duration>) -> Self {
        let now = Instant::now();
        let shown = if quiet {
            None
        } else if std::io::stderr().is_terminal() {
            Some(Shown::Bar(bar(quiet, iterations)))
        } else {
            Some(Shown::Lines)
        };
        Self { shown, start: now, last: now, limit }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(Shown::Bar(bar)) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

impl<S: Real> Observer<S> for Progress {
    fn observe(&mut self, info: &Info, solver: &mut dyn Solver<S>) -> ControlFlow<()> {
        if interrupted() {
            return ControlFlow::Break(());
        }
        let Some(shown) = &self.shown else { return ControlFlow::Continue(()) };
        let pause = if matches!(shown, Shown::Bar(_)) { Duration::from_millis(200) } else { Duration::from_secs(5) };
        if self.last.elapsed() < pause {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        let objective = info.objective.unwrap_or_else(|| solver.objective());
        let numbers =
            format!("F {}  dual norm {}  gap {}", short(objective), short(info.dual_norm.upper), short(info.prox_gap));
        match shown {
            Shown::Bar(bar) => {
                // With a time limit, time is what runs out.
                if let Some(limit) = self.limit {
                    bar.set_length(limit.as_millis() as u64);
                    bar.set_position(self.start.elapsed().as_millis() as u64);
                } else {
                    bar.set_position(info.k);
                }
                bar.set_message(numbers);
            }
            Shown::Lines => {
                say::note(&format!("step {}  {numbers}  {}", info.k, seconds(self.start.elapsed().as_secs_f64())));
            }
        }
        ControlFlow::Continue(())
    }
}
