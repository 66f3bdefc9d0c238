//! The campaigns there are.

mod checkpoints;
mod disks;
mod escapes;
mod extremes;
mod forgeries;
mod kills;
mod pages;
mod places;
mod races;
mod readers;
mod states;

use crate::run::Run;

/// Name, what is tried, and how.
type Campaign = (&'static str, &'static str, fn(&mut Run));

/// All of them.
pub const ALL: [Campaign; 11] = [
    ("readers", "damaged files of every format are read or refused, quickly and in little memory", readers::campaign),
    ("checkpoints", "damaged checkpoints are refused", checkpoints::campaign),
    (
        "forgeries",
        "saved results with one thing changed do not pass, or that it was not checked is said",
        forgeries::campaign,
    ),
    ("kills", "runs that are killed and resumed end with the same bits and leave nothing behind", kills::campaign),
    ("disks", "disks that fill up while writing lose nothing that was there and leave no half files", disks::campaign),
    (
        "places",
        "read-only folders, planted links and what is in the way: done or refused, nothing is lost",
        places::campaign,
    ),
    ("races", "of several runs that write one file one wins, and the file is whole", races::campaign),
    ("escapes", "names of any bytes reach the terminal as visible characters, shortened", escapes::campaign),
    ("pages", "reports about names of any bytes: in a browser nothing of them runs", pages::campaign),
    ("states", "damaged states are refused or lead to numbers", states::campaign),
    ("extremes", "data of any size, every method and geometry: an answer in numbers, or a refusal", extremes::campaign),
];
