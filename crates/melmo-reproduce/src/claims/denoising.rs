//! Sentences about total variation denoising.

use super::{Claim, Evidence, list, short};
use crate::experiments::denoising::{EPOCHS, METHODS};
use crate::experiments::rates::FROM;
use crate::instance::{Experiment, Outcome, Point};
use crate::published;
use crate::results::Results;
use crate::statistics::slope;

const PLACE: &str = "Total variation denoising";

pub(super) fn claims(results: &Results) -> Vec<Claim> {
    let run = |experiment, label: &str| results.group(experiment, label, |_| true).first().map(|(_, outcome)| outcome);
    let methods: Option<Vec<&Outcome>> = METHODS.iter().map(|label| run(Experiment::Denoising, label)).collect();
    let epochs: Option<Vec<&Outcome>> = EPOCHS.iter().map(|label| run(Experiment::Epochs, label)).collect();
    let judged = |judge: fn(&[f64]) -> Evidence, of: &dyn Fn(&Outcome) -> f64| {
        let numbers = methods.as_ref().map(|runs| runs.iter().map(|run| of(run)).collect::<Vec<_>>());
        numbers.map_or_else(Evidence::missing, |numbers| judge(&numbers))
    };
    let seen = published::DENOISING.map(|(_, ssim)| ssim);
    let compared = |judge: fn(&Outcome, &Outcome, f64) -> Evidence| match (&epochs, &methods) {
        (Some(runs), Some(five)) => judge(runs[0], runs[1], spread(five)),
        _ => Evidence::missing(),
    };
    vec![
        Claim {
            sentence: "All three MELMO geometries reach higher SSIM values than the sub-gradient baseline on this test image.",
            place: PLACE,
            reading: "SSIM at the end is above the subgradient’s",
            ours: judged(above_subgradient, &|outcome| outcome.end(ssim)),
            printed: Some(above_subgradient(&seen)),
        },
        Claim {
            sentence: "Among the LMOs, the ℓ2 oracle performs best, the spectral oracle is comparable to variable smoothing, and \
                       the nuclear oracle is the weakest of the three geometries.",
            place: PLACE,
            reading: "SSIM at the end: ℓ2 the highest and nuclear the lowest of the three, spectral nearer to variable smoothing \
                      than to nuclear",
            ours: judged(order, &|outcome| outcome.end(ssim)),
            printed: Some(order(&seen)),
        },
        Claim {
            sentence: "both methods have comparable performance.",
            place: PLACE,
            reading: "regular and epoch-wise end with F nearer to one another than the five methods of the figure",
            ours: compared(comparable),
            printed: None,
        },
        Claim {
            sentence: "the proximal gap goes down faster with the epoch-wise MELMO than the regular variant",
            place: PLACE,
            reading: "‖Tx − z‖ at the end is smaller",
            ours: compared(|regular, epochs, _| {
                let (a, b) = (epochs.end(|p| p.gap), regular.end(|p| p.gap));
                Evidence::new(a < b, format!("{} epoch-wise, {} regular", short(a), short(b)))
            }),
            printed: None,
        },
        Claim {
            sentence: "oscillates for both methods but it goes down at a comparable rate.",
            place: PLACE,
            reading: "slopes of the least dual norm so far in log–log axes: both negative, neither twice the other",
            ours: compared(falls_alike),
            printed: None,
        },
    ]
}

fn ssim(point: &Point) -> f64 {
    point.extra[0]
}

/// The largest F of the five methods less the least.
fn spread(five: &[&Outcome]) -> f64 {
    let (low, high) = crate::statistics::range(&five.iter().map(|run| run.last()).collect::<Vec<_>>());
    high - low
}

fn above_subgradient(ssim: &[f64]) -> Evidence {
    let told = format!("ℓ2, spectral, nuclear {} against {}", list(ssim[2..].iter().copied()), short(ssim[0]));
    Evidence::new(ssim[2..].iter().all(|value| *value > ssim[0]), told)
}

fn order(ssim: &[f64]) -> Evidence {
    let [_, smoothing, l2, spectral, nuclear] = ssim[..] else { return Evidence::missing() };
    let holds = l2 >= spectral && nuclear < spectral && (spectral - smoothing).abs() < (spectral - nuclear).abs();
    let told =
        format!("ℓ2, spectral, nuclear {}; variable smoothing {}", list([l2, spectral, nuclear]), short(smoothing));
    Evidence::new(holds, told)
}

fn comparable(regular: &Outcome, epochs: &Outcome, spread: f64) -> Evidence {
    let (a, b) = (regular.last(), epochs.last());
    let told = format!(
        "F {} regular, {} epoch-wise; the five methods differ by {}; SSIM {} and {}",
        short(a),
        short(b),
        short(spread),
        short(regular.end(ssim)),
        short(epochs.end(ssim))
    );
    Evidence::new((a - b).abs() < spread, told)
}

fn falls_alike(regular: &Outcome, epochs: &Outcome, _: f64) -> Evidence {
    let fit = |run: &Outcome| slope(run.points.iter().map(|p| (p.k as f64, p.least)), (FROM as f64, f64::INFINITY));
    let (Some(a), Some(b)) = (fit(regular), fit(epochs)) else { return Evidence::missing() };
    let holds = a < 0.0 && b < 0.0 && a / b < 2.0 && b / a < 2.0;
    Evidence::new(holds, format!("{a:.2} regular, {b:.2} epoch-wise, from k = {FROM}"))
}
