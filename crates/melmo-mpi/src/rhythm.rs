//! How often ranks ask one another whether to go on: rarely enough to cost nothing, often enough for whoever waits.

use std::time::{Duration, Instant};

/// About so much time passes between two questions.
const OFTEN: Duration = Duration::from_millis(50);

/// Steps between two questions: the same on every rank, for they follow from what the clock of rank 0 says.
#[derive(Debug)]
pub struct Rhythm {
    asked: Instant,
    stride: u64,
    since: u64,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self { asked: Instant::now(), stride: 1, since: 0 }
    }
}

impl Rhythm {
    /// Counts a step; true where everybody asks.
    pub fn is_due(&mut self) -> bool {
        self.since += 1;
        self.since >= self.stride
    }

    /// Seconds since the last question, to be sent with this one.
    pub fn seconds(&self) -> f64 {
        self.asked.elapsed().as_secs_f64()
    }

    /// Everybody was asked; so many seconds it was since the last time on rank 0.
    pub fn heard(&mut self, first: f64) {
        self.asked = Instant::now();
        self.since = 0;
        if first < 0.5 * OFTEN.as_secs_f64() {
            self.stride = (2 * self.stride).min(1 << 16);
        } else if first > 2.0 * OFTEN.as_secs_f64() {
            self.stride = (self.stride / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_steps_are_asked_about_rarely_and_long_ones_each() {
        let mut rhythm = Rhythm::default();
        let steps = |rhythm: &mut Rhythm| (1..).find(|_| rhythm.is_due());
        for want in [1, 2, 4, 8] {
            assert_eq!(steps(&mut rhythm), Some(want));
            rhythm.heard(0.001);
        }
        for want in [16, 8, 4, 2, 1, 1] {
            assert_eq!(steps(&mut rhythm), Some(want));
            rhythm.heard(1.0);
        }
    }
}
