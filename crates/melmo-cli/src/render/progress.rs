//! Progress of a run, and the way out of it: a bar on a terminal, plain lines elsewhere, Ctrl-C.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use melmo::drive::Observer;
use melmo::real::Real;
use melmo::solver::{Info, Solver};

use super::{seconds, short};

/// How often Ctrl-C was pressed.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

/// The first Ctrl-C asks runs to end; the second ends the program.
pub fn catch_interrupts() {
    let caught = ctrlc::set_handler(|| {
        if INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(130);
        }
        eprintln!("\nmelmo: stopping after this step; the point so far is kept (Ctrl-C again quits at once)");
    });
    // Without a handler Ctrl-C ends the program at once, as anywhere.
    drop(caught);
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTS.load(Ordering::SeqCst) > 0
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
            Shown::Lines => eprintln!("step {}  {numbers}  {}", info.k, seconds(self.start.elapsed().as_secs_f64())),
        }
        ControlFlow::Continue(())
    }
}
