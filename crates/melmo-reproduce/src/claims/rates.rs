//! Sentences about rates, measured on masked recovery, where every assumption of the theorems holds.

use super::{Claim, Evidence};
use crate::experiments::rates::SCHEDULES;
use crate::experiments::recovery::SETS;
use crate::results::Results;
use crate::slopes::{Quantity, Slope, measured};

pub(super) fn claims(results: &Results) -> Vec<Claim> {
    let slopes: Vec<(&str, Slope)> = SETS
        .into_iter()
        .flat_map(|set| measured(results, set).into_iter().map(move |slope| (set.name(), slope)))
        .collect();
    let claim = |sentence, reading, keep: &dyn Fn(&Slope) -> bool| Claim {
        sentence,
        place: "Discussion",
        reading,
        ours: judged(slopes.iter().filter(|(_, slope)| keep(slope))),
        printed: None,
    };
    let steep = "fitted slopes of the least dual norm and of the gap, on Football and Misérables: at least as steep as the \
                 exponent, within the 0.05 that a fit is good for";
    let grows = "fitted growth of the steps to a certificate with 1/ε: no faster than the exponent, within 0.05";
    vec![
        claim(
            "A balanced schedule gives O(k^{-1/4}) rates for both the smoothed-gradient norm and the composite stationarity proxy, \
             whereas a more aggressive schedule improves the smoothed-gradient rate to O(k^{-1/3})",
            steep,
            &|slope| slope.quantity != Quantity::Steps && SCHEDULES[..2].contains(&slope.schedule),
        ),
        claim(
            "We also establish a K-horizon-dependent convergence rate that yields O(K^{-1/3}) for the composite proxy.",
            steep,
            &|slope| slope.quantity != Quantity::Steps && slope.schedule == SCHEDULES[2],
        ),
        claim("this certification requires O(ε^{-4}) iterations", grows, &|slope| {
            slope.quantity == Quantity::Steps && slope.schedule == SCHEDULES[3]
        }),
        claim(
            "an epoch-constant specialization with per-epoch restarts improves the bound to O(ε^{-3})",
            grows,
            &|slope| slope.quantity == Quantity::Steps && slope.schedule == SCHEDULES[4],
        ),
    ]
}

/// All of them, if every one could be fitted.
fn judged<'a>(slopes: impl Iterator<Item = &'a (&'a str, Slope)>) -> Evidence {
    let (mut told, mut all, mut unknown) = (Vec::new(), true, false);
    for (set, slope) in slopes {
        let what = match slope.quantity {
            Quantity::DualNorm => "norm",
            Quantity::Gap => "gap",
            Quantity::Steps => "steps",
        };
        unknown |= slope.fitted.is_none();
        all &= slope.holds() == Some(true);
        let fitted = slope.fitted.map_or("not fitted".into(), |fitted| format!("{fitted:.2}").replace('-', "−"));
        let guaranteed = format!("{:.2}", slope.guaranteed).replace('-', "−");
        told.push(format!("{set}, {}, {what} {fitted} ({guaranteed})", slope.schedule));
    }
    let told = told.join("; ");
    if unknown { Evidence::open(told) } else { Evidence::new(all, told) }
}
