//! Progress of a run, and the way out of it: a bar on a terminal, plain lines elsewhere, Ctrl-C.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
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
/// How many files of a batch are whole and in their places.
static WHOLE: AtomicUsize = AtomicUsize::new(0);

/// The checkpoint that ranks wrote last; none on one machine, where whoever stops writes one.
static LAST_CHECKPOINT: Mutex<Option<PathBuf>> = Mutex::new(None);
/// This process is one of several: it may be asked to stop because another was lost.
static ON_RANKS: AtomicBool = AtomicBool::new(false);

/// From now on this process is one of several.
pub fn on_ranks() {
    ON_RANKS.store(true, Ordering::SeqCst);
}

/// From here a run on ranks can go on, whatever becomes of it.
pub fn last_checkpoint(path: &Path) {
    if let Ok(mut last) = LAST_CHECKPOINT.lock() {
        *last = Some(path.into());
    }
}

/// What is said of several that are asked to stop.
fn stopping_ranks() -> String {
    let last = LAST_CHECKPOINT.lock().ok().and_then(|last| last.clone());
    let from = last.map_or("there is no checkpoint yet".into(), |path| {
        format!("the last checkpoint is {}, --resume goes on from it", path.display())
    });
    format!("melmo: stopping, as asked or because a rank was lost; {from}")
}

/// One more file of a batch is whole: it stays, whatever becomes of the next one.
pub fn one_is_whole() {
    WHOLE.fetch_add(1, Ordering::SeqCst);
}

/// What is said when the program ends at once.
fn interruption(again: bool) -> String {
    match WHOLE.load(Ordering::SeqCst) {
        0 if again => "melmo: interrupted".into(),
        0 => "melmo: interrupted; there is nothing to keep yet".into(),
        1 => "melmo: interrupted; 1 before this one is whole, in its place".into(),
        whole => format!("melmo: interrupted; {whole} before this one are whole, in their places"),
    }
}

/// The first Ctrl-C (or SIGTERM) asks runs to end; the second ends the program, as does the first while there is nothing to keep.
pub fn catch_interrupts() {
    LazyLock::force(&BEGUN);
    let caught = ctrlc::set_handler(|| {
        let again = INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0;
        if again || NOTHING_TO_KEEP.load(Ordering::SeqCst) {
            say::note(&interruption(again));
            std::process::exit(130);
        }
        if ON_RANKS.load(Ordering::SeqCst) {
            return say::note(&stopping_ranks());
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
    let (done, waiting) = channel::<()>();
    let (telling, doing) = (until.clone(), format!("reading {}", path.display()));
    std::thread::spawn(move || {
        while waiting.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
            let _ = telling.asked(&doing); // says so now and then
        }
    });
    let read = || {
        let found = read();
        drop(done);
        found
    };
    all_or_nothing(format!("{}: time was up before it was read", path.display()), until, read)
}

/// What is done by then is waited for, however little time there is: otherwise a short limit would be a race.
const SOON: Duration = Duration::from_secs(1);

/// Work of which a part is worth nothing. Ctrl-C ends the program at once meanwhile, and so does the end of its time, which is
/// `late`.
pub fn all_or_nothing<T>(late: String, until: &Until, work: impl FnOnce() -> T) -> T {
    let (done, waiting) = channel::<()>();
    if let Some(left) = until.left() {
        std::thread::spawn(move || {
            if waiting.recv_timeout(left.max(SOON)) == Err(RecvTimeoutError::Timeout) {
                say::note(&format!("melmo: error: {late}"));
                std::process::exit(2);
            }
        });
    }
    let found = nothing_to_keep(work);
    drop(done); // whoever waits with us may go
    found
}

/// Work before there is anything to keep: Ctrl-C ends the program at once. What its time ends is waited for.
pub fn nothing_to_keep<T>(work: impl FnOnce() -> T) -> T {
    let before = NOTHING_TO_KEEP.swap(true, Ordering::SeqCst);
    if interrupted() {
        std::process::exit(130); // it was said while there still was something to keep
    }
    let found = work();
    NOTHING_TO_KEEP.store(before, Ordering::SeqCst);
    found
}

/// What takes longer than this says what it is doing, and again after as long as that.
const FIRST_TOLD: Duration = Duration::from_secs(1);
const TOLD: Duration = Duration::from_secs(5);

/// Until Ctrl-C or the end of the time. Whatever asks is shown now and then as what is being done.
pub fn until(quiet: bool, limit: Option<Duration>) -> Until {
    work_begins();
    let start = Instant::now();
    let told = Mutex::new(None::<Instant>);
    time(limit).asking(move |doing| {
        if let (false, Ok(mut told)) = (quiet, told.lock())
            && told.map_or(start.elapsed() >= FIRST_TOLD, |told| told.elapsed() >= TOLD)
        {
            *told = Some(Instant::now());
            say::note(&format!("{doing}  {}", seconds(start.elapsed().as_secs_f64())));
        }
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// A bar on a terminal; nothing elsewhere, or when quiet.
pub fn bar(quiet: bool, length: u64) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
    let template = "{bar:24.cyan/dim} {percent:>3}%  {msg}  at most {eta} left";
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
    /// How far the bar has come.
    reached: u64,
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
            Some(Shown::Bar(bar(quiet, limit.map_or(iterations, |limit| limit.as_millis() as u64))))
        } else {
            Some(Shown::Lines)
        };
        Self { shown, start: now, last: now, limit, reached: 0 }
    }

    /// How far the bar has come: by time where that is what runs out. A method that goes back does not take the bar with it.
    fn position(&mut self, k: u64) -> u64 {
        let now = self.limit.map_or(k, |_| self.start.elapsed().as_millis() as u64);
        self.reached = self.reached.max(now);
        self.reached
    }

    /// Whether it is time to show something.
    pub fn is_due(&self) -> bool {
        let pause = match self.shown {
            None => return false,
            Some(Shown::Bar(_)) => Duration::from_millis(200),
            Some(Shown::Lines) => Duration::from_secs(5),
        };
        self.last.elapsed() >= pause
    }

    /// Shows a point.
    pub fn show(&mut self, info: &Info, objective: f64) {
        self.last = Instant::now();
        let numbers = numbers(objective, info.dual_norm.upper, info.prox_gap);
        let position = self.position(info.k);
        match &self.shown {
            Some(Shown::Bar(bar)) => {
                bar.set_position(position);
                bar.set_message(numbers);
            }
            _ => {
                say::note(&format!("step {}  {numbers}  {}", info.k, seconds(self.start.elapsed().as_secs_f64())));
            }
        }
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
        if self.is_due() {
            let objective = info.objective.unwrap_or_else(|| solver.objective());
            self.show(info, objective);
        }
        ControlFlow::Continue(())
    }
}

/// Where a run stands, in a line. A dual norm that a method has not looked at yet is not shown, and neither is a gap.
fn numbers(objective: f64, dual_norm: f64, gap: f64) -> String {
    let known = |name: &str, value: f64| match value < f64::MAX {
        true => format!("  {name} {}", short(value)),
        false => String::new(),
    };
    format!("F {}{}{}", short(objective), known("dual norm", dual_norm), known("gap", gap))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dual_norm_that_nobody_knows_is_not_shown() {
        assert_eq!(numbers(2.0, f64::MAX, 0.5), "F 2  gap 0.5");
        assert_eq!(numbers(2.0, f64::INFINITY, 0.5), "F 2  gap 0.5");
        assert_eq!(numbers(2.0, 0.25, 0.5), "F 2  dual norm 0.25  gap 0.5");
    }

    #[test]
    fn a_bar_never_goes_back() {
        let mut steps = Progress::new(true, 100, None);
        assert_eq!([3, 7, 2, 8].map(|k| steps.position(k)), [3, 7, 7, 8]);
        let mut time = Progress::new(true, 100, Some(Duration::from_secs(1)));
        let first = time.position(1);
        assert!(time.position(0) >= first);
    }
}
