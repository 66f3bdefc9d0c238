//! One campaign as it runs: tries until time is up, and what broke.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use melmo::seeded::Seeded;

/// Failures that are told in full.
const TOLD: usize = 10;

/// A campaign as it runs.
pub struct Run {
    name: &'static str,
    seed: u64,
    begun: Instant,
    limit: Duration,
    most: u64,
    pub tries: u64,
    pub failures: Vec<String>,
    missing: Option<String>,
}

impl Run {
    pub fn new(name: &'static str, seed: u64, limit: Duration, most: u64) -> Self {
        Self { name, seed, begun: Instant::now(), limit, most, tries: 0, failures: Vec::new(), missing: None }
    }

    /// Tries until time is up. Every try has a seed of its own; what it says is wrong, or its panic, is kept.
    pub fn until_the_end(&mut self, mut one: impl FnMut(u64, &mut Seeded) -> Result<(), String>) {
        while self.tries < self.most && self.begun.elapsed() < self.limit && self.failures.len() < TOLD {
            let number = self.tries;
            self.tries += 1;
            let mut seeded = Seeded::new(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let found = catch_unwind(AssertUnwindSafe(|| one(number, &mut seeded)));
            let wrong = match found {
                Ok(Ok(())) => continue,
                Ok(Err(wrong)) => wrong,
                Err(panic) => format!("panicked: {}", said(&*panic)),
            };
            eprintln!("attack {}: try {number} of seed {}: {wrong}", self.name, self.seed);
            self.failures.push(wrong);
        }
    }

    /// What it takes is not on this machine.
    pub fn not_here(&mut self, why: &str) {
        self.missing = Some(why.into());
    }

    /// One line about it.
    pub fn told(&self) -> String {
        if let Some(why) = &self.missing {
            return format!("NOT TRIED: {why}");
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        let broke = match self.failures.len() {
            0 => "nothing broke".to_string(),
            n => format!("{n} BROKE"),
        };
        format!("{} tries in {seconds:.0} s with seed {}: {broke}", self.tries, self.seed)
    }
}

fn said(panic: &dyn std::any::Any) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// A number below n.
pub fn below(seeded: &mut Seeded, n: usize) -> usize {
    (seeded.bits() % n.max(1) as u64) as usize
}

/// One of several.
pub fn one_of<'a, T>(seeded: &mut Seeded, of: &'a [T]) -> &'a T {
    &of[below(seeded, of.len())]
}
