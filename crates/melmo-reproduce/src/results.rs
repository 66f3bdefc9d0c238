//! Finished runs, and ways to find them.

use crate::data::{Library, Set};
use crate::instance::{Experiment, Instance, Objective, Outcome, Point};
use crate::setting::Options;

/// Everything that a page is made of.
pub struct Results {
    /// What was asked for.
    pub options: Options,
    /// The data.
    pub library: Library,
    /// The runs.
    pub runs: Vec<(Instance, Outcome)>,
}

/// Runs of one method that differ by their seed.
pub struct Group<'a> {
    /// The runs.
    pub runs: Vec<&'a (Instance, Outcome)>,
}

impl Results {
    /// The runs of a method in an experiment that satisfy a condition.
    pub fn group(&self, experiment: Experiment, label: &str, keep: impl Fn(&Instance) -> bool) -> Group<'_> {
        let wanted =
            |run: &&(Instance, Outcome)| run.0.experiment == experiment && run.0.label == label && keep(&run.0);
        Group { runs: self.runs.iter().filter(wanted).collect() }
    }

    /// The runs of a method that factorise a set at a rank.
    pub fn factors(&self, experiment: Experiment, label: &str, set: Set, rank: usize) -> Group<'_> {
        self.group(experiment, label, |instance| {
            instance.set == set && matches!(instance.minimised, Objective::Factors { rank: r, .. } if r == rank)
        })
    }

    /// The runs of a method that recover a set from a share of its entries.
    pub fn entries(&self, experiment: Experiment, label: &str, set: Set, share: f64) -> Group<'_> {
        self.group(experiment, label, |instance| {
            instance.set == set
                && matches!(instance.minimised, Objective::Entries { fraction, .. } if fraction == share)
        })
    }
}

impl<'a> Group<'a> {
    /// A number of each run's end.
    pub fn ends(&self, of: impl Fn(&Point) -> f64) -> Vec<f64> {
        self.runs.iter().map(|(_, outcome)| outcome.end(&of)).collect()
    }

    /// The first run.
    pub fn first(&self) -> Option<&'a (Instance, Outcome)> {
        self.runs.first().copied()
    }

    /// At each recorded k: (k, seconds, median, least, largest) over the seeds, as far as every run goes.
    pub fn curve(&self, of: impl Fn(&Point) -> f64) -> Vec<[f64; 5]> {
        let shortest = self.runs.iter().map(|(_, outcome)| outcome.points.len()).min().unwrap_or(0);
        let at = |index: usize| {
            let points: Vec<&Point> = self.runs.iter().map(|(_, outcome)| &outcome.points[index]).collect();
            let values: Vec<f64> = points.iter().map(|point| of(point)).collect();
            let seconds: Vec<f64> = points.iter().map(|point| point.seconds).collect();
            let (low, high) = crate::statistics::range(&values);
            [points[0].k as f64, crate::statistics::median(&seconds), crate::statistics::median(&values), low, high]
        };
        (0..shortest).map(at).collect()
    }
}
