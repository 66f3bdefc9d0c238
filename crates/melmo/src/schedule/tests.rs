use super::*;
use crate::geometry::Inexactness;
use crate::guarantee::{Numerics, Rate};

#[test]
fn epochs_are_constant_between_powers_of_two() {
    let schedule = EpochConstant::new(1.0);
    assert_eq!(schedule.at(4), schedule.at(7));
    assert!(schedule.at(8).beta < schedule.at(7).beta);
    assert_eq!(schedule.beta_after(7), schedule.at(7).beta);
    assert!((schedule.at(1).beta - 0.5f64.powf(1.0 / 3.0)).abs() < 1e-15);
}

#[test]
fn exponents_outside_their_range_are_refused() {
    for (p, q) in [(0.0, 0.1), (1.0, 0.1), (0.5, -0.1), (0.5, 1.0), (f64::NAN, 0.1)] {
        let schedule = Power { p, q, ..Power::balanced(1.0) };
        assert!(matches!(schedule.check(), Err(Error::Parameter { .. })), "{p} {q}");
    }
    assert!(Power { q: 0.0, ..Power::balanced(1.0) }.check().is_ok());
    assert!(Power { gamma: 0.0, ..Power::balanced(1.0) }.check().is_err());
    assert!(Horizon { beta: 1.0, gamma: 1.0, steps: 0 }.check().is_err());
}

const TAME: Facts = Facts {
    rho: 0.5,
    lipschitz_g: Some(2.0),
    lipschitz_f: Some(1.0),
    operator_squared: 1.0,
    surjective: true,
    infimum: Some(0.0),
    start: Some(10.0),
    oracle: Some(Inexactness::NONE),
    numerics: Numerics { operator_norm: 1.0, of_operator: 0.0, of_prox: 0.0, size: 1, range: 1 },
};

#[track_caller]
fn promises(guarantee: &Guarantee, smoothed: f64, composite: f64) {
    let close = |rate: Rate, wanted: f64| match rate {
        Rate::Iterations { exponent, .. } | Rate::Certificate { exponent } => (exponent - wanted).abs() < 1e-12,
        _ => false,
    };
    assert!(close(guarantee.smoothed, smoothed) && close(guarantee.composite, composite), "{guarantee}");
}

#[test]
fn the_paper_is_quoted_correctly() {
    promises(&Power::balanced(1.0).guarantee(&TAME), -0.25, -0.25);
    promises(&Power::favouring(1.0).guarantee(&TAME), -1.0 / 3.0, -0.25);
    promises(&Horizon { beta: 1.0, gamma: 1.0, steps: 10 }.guarantee(&TAME), -1.0 / 3.0, -1.0 / 3.0);
    promises(&EpochPower::new(1.0).guarantee(&TAME), -4.0, -4.0);
    promises(&EpochConstant::new(1.0).guarantee(&TAME), -3.0, -3.0);
    for schedule in [&Power::balanced(1.0) as &dyn Schedule, &EpochPower::new(1.0), &EpochConstant::new(1.0)] {
        let guarantee = schedule.guarantee(&TAME);
        assert!(guarantee.applies_to_composite() && guarantee.failing().count() == 0, "{guarantee}");
    }
}

/// p = 1/2, q = 0 and 2p − q = 1: what they give, logarithms included.
#[test]
fn boundaries_are_proven() {
    let rates = |p: f64, q: f64| {
        let guarantee = Power { p, q, ..Power::balanced(1.0) }.guarantee(&TAME);
        assert!(guarantee.applies(), "{guarantee}");
        [guarantee.smoothed, guarantee.composite].map(|rate| match rate {
            Rate::Iterations { exponent, log } => ((exponent * 1e9).round() / 1e9, log),
            _ => unreachable!("a rate in k"),
        })
    };
    assert_eq!(rates(0.5, 0.25), [(-0.25, false), (-0.25, false)]);
    assert_eq!(rates(0.5, 0.0), [(-0.5, true), (0.0, false)]);
    assert_eq!(rates(0.75, 0.0), [(-0.25, false), (0.0, false)]);
    let third = (-1e9f64 / 3.0).round() / 1e9;
    assert_eq!(rates(2.0 / 3.0, 1.0 / 3.0), [(third, true), (third, true)]);
    assert_eq!(rates(0.6, 0.2), [(-0.4, true), (-0.2, false)]);
    let text = Power { p: 2.0 / 3.0, q: 1.0 / 3.0, ..Power::balanced(1.0) }.guarantee(&TAME).to_string();
    assert!(text.contains("O(log k · k^(-1/3))") && text.ends_with("proven"), "{text}");
}

/// The formulas of docs/theory.md, worked out by hand (and by a second program).
#[test]
fn numbers_of_steps_are_known() {
    let steps = |schedule: &dyn Schedule, epsilon: f64| schedule.guarantee(&TAME).steps(epsilon);
    // Δ = 10 + ½·4 = 12, Λ = 1 + 1 = 2: (4·2·12)^{3/2} = 940.6…, at ε = 0.1 a thousand times that.
    let smoothness = Smoothness { beta: 1.0, lipschitz: 1.0, operator_squared: 1.0, normalized: false };
    assert_eq!(steps(&smoothness, 0.1), Some((96f64.powf(1.5) * 1e3).ceil()));
    // 2^l·γ_(l) = 2^{(l−2)/3}: 2(10 + 2β_(l) + ½·2^l·γ²(1 + 1/β_(l)))/2^{(l−2)/3} ≤ 1 for the first time at l = 16.
    assert_eq!(steps(&EpochConstant::new(1.0), 1.0), Some(131_072.0));
    let known = |schedule: &dyn Schedule, epsilon: f64, wanted: f64| {
        let found = steps(schedule, epsilon).unwrap();
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found} instead of {wanted}");
    };
    known(&Power::balanced(1.0), 0.5, 170_650.0);
    known(&Power::balanced(1.0), 0.05, 414_709_277.0);
    known(&EpochPower::new(1.0), 0.5, 1_048_576.0);
    known(&EpochPower::new(1.0), 0.05, 1_073_741_824.0);
    known(&Horizon { beta: 1.0, gamma: 1.0, steps: 10 }, 1e-2, 1_158_412_501.0);
    assert_eq!(steps(&Power { q: 0.0, ..Power::balanced(1.0) }, 0.1), None);
}

#[test]
fn conditions_that_fail_are_named() {
    let failing = |schedule: &dyn Schedule, facts: &Facts| schedule.guarantee(facts).failing().collect::<Vec<_>>();
    assert_eq!(failing(&Power { p: 0.3, q: 0.4, ..Power::balanced(1.0) }, &TAME), ["0 ≤ q < p < 1"]);
    assert_eq!(failing(&Power::balanced(2.0), &TAME), ["β < 1/ρ"]);
    assert!(failing(&Power::balanced(1.9), &TAME).is_empty());
    let wild = Facts { lipschitz_g: None, lipschitz_f: None, infimum: None, oracle: None, surjective: false, ..TAME };
    assert_eq!(failing(&Power::balanced(1.0), &wild).len(), 5);
    assert!(!Power::balanced(1.0).guarantee(&wild).applies());
    let none = EpochConstant { restart: Restart::None, ..EpochConstant::new(1.0) };
    assert_eq!(failing(&none, &TAME).len(), 1);
    let smoothed = Power { q: 0.0, ..Power::balanced(1.0) }.guarantee(&TAME).to_string();
    assert!(smoothed.contains("does not shrink"), "{smoothed}");
}
