//! How far many runs are, together: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use melmo_reproduce::instance::Instance;
use melmo_reproduce::run::Follow;

use super::progress::{interrupted, work_begins};
use super::{say, seconds};

/// Shows the share of the work that is done.
pub struct Units {
    shown: Shown,
    whole: f64,
    runs: usize,
    start: Instant,
    done: Mutex<Done>,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines,
}

struct Done {
    units: f64,
    runs: usize,
    told: Instant,
}

impl Units {
    /// For so many units of work in so many runs.
    pub fn new(quiet: bool, whole: f64, runs: usize) -> Self {
        let start = Instant::now();
        work_begins();
        let shown = if quiet || runs == 0 {
            Shown::Nothing
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(10));
            let template = "{bar:24.cyan/dim} {percent:>3}%  {msg}  {eta} left";
            bar.set_style(ProgressStyle::with_template(template).expect("a fixed template").progress_chars("━━╌"));
            Shown::Bar(bar)
        } else {
            Shown::Lines
        };
        Self { shown, whole, runs, start, done: Mutex::new(Done { units: 0.0, runs: 0, told: start }) }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    fn add(&self, units: f64, runs: usize) {
        let Ok(mut done) = self.done.lock() else { return };
        done.units += units;
        done.runs += runs;
        let share = (done.units / self.whole).min(1.0);
        match &self.shown {
            Shown::Bar(bar) => {
                bar.set_position((1000.0 * share) as u64);
                bar.set_message(format!("{} of {} runs", done.runs, self.runs));
            }
            Shown::Lines if done.told.elapsed() > Duration::from_secs(10) && share > 0.0 => {
                done.told = Instant::now();
                let left = seconds(self.start.elapsed().as_secs_f64() * (1.0 - share) / share);
                say::note(&format!("{:.0} %  {} of {} runs  {left} left", 100.0 * share, done.runs, self.runs));
            }
            _ => {}
        }
    }
}

impl Follow for Units {
    fn worked(&self, units: f64) {
        self.add(units, 0);
    }

    fn finished(&self, _: &Instance) {
        self.add(0.0, 1);
    }

    fn stop(&self) -> bool {
        interrupted()
    }
}
