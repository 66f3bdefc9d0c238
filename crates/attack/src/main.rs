//! Attacks: what should not break is tried over and over, with a seed that repeats every try.
//!
//! ```text
//! attack                      every campaign, 15 seconds each
//! attack readers kills        some of them
//! attack --seconds 3600       longer; --tries N stops at a number of tries instead, and with both it is what comes first
//! attack --seed 7             other tries
//! ```
//!
//! Status 0 when nothing broke. A try that broke something is told with its number and its seed, and goes on the list of past
//! failures in its campaign once it is understood.

mod campaign;
mod place;
mod run;

use std::process::ExitCode;
use std::time::Duration;

use run::Run;

fn main() -> ExitCode {
    let (mut names, mut seconds, mut tries, mut seed) = (Vec::new(), None, None, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse().ok());
        let set = match word.as_str() {
            "--seconds" => number().map(|n| seconds = Some(n)),
            "--tries" => number().map(|n| tries = Some(n)),
            "--seed" => number().map(|n| seed = n),
            name if campaign::ALL.iter().any(|(known, ..)| *known == name) => {
                names.push(name.to_string());
                Some(())
            }
            _ => None,
        };
        if set.is_none() {
            let known: Vec<&str> = campaign::ALL.iter().map(|(name, ..)| *name).collect();
            eprintln!("attack: `{word}` is no campaign and no option. Campaigns: {}", known.join(", "));
            return ExitCode::from(2);
        }
    }
    // A panic is a finding like any other: it is counted, and told once.
    std::panic::set_hook(Box::new(|_| ()));
    let mut broken = 0;
    let seconds = seconds.unwrap_or(if tries.is_some() { u64::MAX / 4 } else { 15 });
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    for (name, about, attack) in campaign::ALL.into_iter().filter(|(name, ..)| wanted(name)) {
        let mut run = Run::new(name, seed, Duration::from_secs(seconds), tries.unwrap_or(u64::MAX));
        attack(&mut run);
        println!("{name}: {about}. {}", run.told());
        broken += run.failures.len();
    }
    ExitCode::from(u8::from(broken > 0))
}
