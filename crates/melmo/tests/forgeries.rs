//! Forged certificates, by hand and a thousand from a seed: none passes unless what it says is true of its own (x, u, β).

use melmo::block::Layout;
use melmo::catalogue::{self, Arguments};
use melmo::certificate::{Certificate, Claim, Evidence};
use melmo::drive::{Options, Stop, run};
use melmo::geometry::{Norm, Oracle, euclidean, for_layout};
use melmo::operator::{Dense, Difference2d, Identity, Scale};
use melmo::penalty::{Entrywise, Group, L1, Mcp, Spectral};
use melmo::problem::Problem;
use melmo::seeded::Seeded;
use melmo::smooth::{LeastSquares, MaskedLeastSquares, Smooth};

use crate::certificate::{linear, solve, variation};

fn problems() -> Vec<(Problem<f64>, &'static str, Norm)> {
    let mut seeded = Seeded::new(11);
    let layout = Layout::matrix(6, 5).unwrap();
    let mut image = |mask: bool| {
        let (y, mask) = (seeded.normals(30), mask.then(|| seeded.mask(30, 0.7)));
        MaskedLeastSquares::new(layout.clone(), y, mask).unwrap()
    };
    let (tv, masked, whole) = (image(false), image(true), image(true));
    let a = Dense::new(Seeded::new(4).normals(60), 12, 5).unwrap();
    let linear = LeastSquares::new(Box::new(a), Seeded::new(5).normals(12)).unwrap();
    let identity = Identity::new(linear.layout().clone());
    let (l1, mcp) = (L1::new(0.2).unwrap(), Mcp::new(0.3, 4.0).unwrap());
    let rows = Group::rows(mcp, &layout).unwrap();
    let values = Spectral::new(l1, &layout).unwrap();
    vec![
        (Problem::new(tv, Entrywise::new(l1, 60), Difference2d::new(6, 5).unwrap()).unwrap(), "admm", Norm::L2),
        (Problem::new(masked, rows, Identity::new(layout.clone())).unwrap(), "melmo", Norm::Spectral),
        (Problem::new(whole, values, Identity::new(layout)).unwrap(), "fista", Norm::Row),
        (Problem::new(linear, Entrywise::new(l1, 5), identity).unwrap(), "coordinate-descent", Norm::Linf),
    ]
}

fn below(seeded: &mut Seeded, n: usize) -> usize {
    (seeded.bits() % n as u64) as usize
}

/// Moves one thing, by at least two per cent; answers what.
fn forge(certificate: &mut Certificate<f64>, x: &mut [f64], seeded: &mut Seeded) -> &'static str {
    let by = [1.02, 0.97, 1.5, 0.1, 3.0, -1.0, f64::NAN, 1e9, 1e-40][below(seeded, 9)];
    match below(seeded, 11) {
        0 => {
            certificate.dual_norm.upper *= by;
            certificate.dual_norm.lower *= by;
            "dual norm"
        }
        1 => {
            certificate.prox_gap = certificate.prox_gap * by + if by.is_nan() { by } else { 0.01 };
            "proximal gap"
        }
        2 => {
            certificate.beta *= by;
            "β"
        }
        3 => {
            certificate.norms[0].radius *= by;
            "radius"
        }
        4 => {
            certificate.claim = Some(Claim::epsilon(0.5 * certificate.dual_norm.upper.min(certificate.prox_gap)));
            "a claim that is false"
        }
        5 => {
            let at = below(seeded, x.len());
            x[at] = x[at] * by + 0.05;
            "x"
        }
        6 if certificate.u.is_some() => {
            let u = certificate.u.as_mut().unwrap();
            let at = below(seeded, u.len());
            u[at] = u[at] * by + 0.05;
            "u"
        }
        7 if certificate.optimality.is_some() => {
            certificate.optimality.as_mut().unwrap().gap *= by;
            "gap"
        }
        8 if certificate.optimality.is_some() => {
            certificate.optimality.as_mut().unwrap().objective *= by;
            "F"
        }
        9 if certificate.stationarity.is_some() => {
            certificate.stationarity.as_mut().unwrap().bound *= by;
            "bound at x̃"
        }
        _ => {
            certificate.norms[0].norm = Norm::ALL[below(seeded, 7)];
            "norm"
        }
    }
}

#[test]
fn none_of_a_thousand_passes_unless_it_is_true() {
    let mut seeded = Seeded::new(2026);
    let mut told = std::collections::BTreeMap::new();
    for (problem, method, norm) in &problems() {
        let rows = catalogue::methods::<f64>();
        let row = catalogue::find("method", &rows, method).unwrap();
        let geometry = for_layout(*norm, problem.layout(), Oracle::Auto).unwrap();
        let x0 = vec![0.3; problem.layout().size()];
        let mut solver = (row.build)(&Arguments::defaults(&row.entry).unwrap(), problem, geometry, &x0).unwrap();
        let report = run(&mut *solver, &Options::new(Stop::after(2)), &mut []);
        let honest = report.certificate.unwrap();
        assert!(honest.verify(problem, &report.x, 1e-6).unwrap().passed(), "{method}");
        for _ in 0..250 {
            let (mut forged, mut x) = (honest.clone(), report.x.clone());
            let what = forge(&mut forged, &mut x, &mut seeded);
            if !forged.verify(problem, &x, 1e-6).is_ok_and(|lines| lines.passed()) {
                continue;
            }
            // It passed: then it is what its own (x, u, β) gives.
            let again =
                Certificate::new(problem, &x, forged.evidence(), forged.norms.clone(), None, forged.claim).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * (a.abs() + b.abs()) + 1e-12;
            assert!(near(forged.dual_norm.upper, again.dual_norm.upper), "{method}: {what}");
            assert!(near(forged.prox_gap, again.prox_gap), "{method}: {what}");
            assert!(
                forged.claim.is_none_or(|claim| again.dual_norm.upper <= claim.dual_norm.unwrap()),
                "{method}: {what}"
            );
            *told.entry(what).or_insert(0) += 1;
        }
    }
    // What may pass is a norm exchanged for one that agrees, or a move that changes nothing.
    assert!(told.values().sum::<i32>() < 100, "{told:?}");
}

type Forgery = (&'static str, fn(&mut Certificate<f64>, f64));

#[test]
fn numbers_that_were_moved_do_not_pass() {
    let lasso = linear(9, 20, 6, Box::new(Entrywise::new(L1::new(1.0).unwrap(), 6)));
    let report = solve(&lasso, "fista", Stop::after(4));
    let mut good = report.certificate.clone().unwrap();
    let (dual_norm, gap) = (good.dual_norm.upper, good.gap().unwrap());
    assert!(dual_norm > 1e-3 && gap > 1e-3, "there has to be something to move");
    good.claim = Some(Claim { dual_norm: Some(1.02 * dual_norm), prox_gap: Some(1e-6), gap: Some(1.02 * gap) });
    assert!(good.verify(&lasso, &report.x, 1e-6).unwrap().passed());
    let moves: [Forgery; 13] = [
        ("both ends of the dual norm", |c, by| {
            c.dual_norm.lower *= by;
            c.dual_norm.upper *= by;
        }),
        ("lower end of the dual norm", |c, by| c.dual_norm.lower *= by),
        ("upper end of the dual norm", |c, by| c.dual_norm.upper *= by),
        ("proximal gap", |c, by| c.prox_gap = c.prox_gap * by + if by.is_nan() { by } else { 0.01 }),
        ("residual of x̃", |c, by| c.stationarity.as_mut().unwrap().residual = Some(by)),
        ("claimed dual norm", |c, by| {
            c.claim.as_mut().unwrap().dual_norm = Some(c.dual_norm.upper / by.abs().max(1.01))
        }),
        ("claimed gap", |c, by| c.claim.as_mut().unwrap().gap = Some(c.optimality.unwrap().gap / by.abs().max(1.01))),
        ("objective", |c, by| c.optimality.as_mut().unwrap().objective *= by),
        ("lower bound", |c, by| c.optimality.as_mut().unwrap().bound *= by),
        ("gap", |c, by| c.optimality.as_mut().unwrap().gap *= by),
        ("distance of x̃", |c, by| c.stationarity.as_mut().unwrap().distance = by),
        ("bound at x̃", |c, by| c.stationarity.as_mut().unwrap().bound *= by),
        ("x̃", |c, by| c.stationarity.as_mut().unwrap().point[0] += by),
    ];
    for (what, forge) in moves {
        for by in [1.05, 0.95, 1.5, 0.5, 2.0, f64::NAN, -1.0] {
            let mut forged = good.clone();
            forge(&mut forged, by);
            let passed = forged.verify(&lasso, &report.x, 1e-6).is_ok_and(|v| v.passed());
            assert!(!passed, "{what} by {by}");
        }
    }
    // What sums in another order would give, as on another machine, passes.
    for by in [1.0 + 4.0 * f64::EPSILON, 1.0 - 4.0 * f64::EPSILON] {
        let mut other = good.clone();
        for number in [&mut other.dual_norm.lower, &mut other.dual_norm.upper, &mut other.prox_gap] {
            *number *= by;
        }
        let (optimality, near) = (other.optimality.as_mut().unwrap(), other.stationarity.as_mut().unwrap());
        for number in [&mut optimality.objective, &mut optimality.bound, &mut optimality.gap, &mut near.distance] {
            *number *= by;
        }
        near.bound *= by;
        assert!(other.verify(&lasso, &report.x, 1e-6).unwrap().passed());
    }
    // Another λ, other data, another operator, norm or precision.
    let swapped = [
        linear(9, 20, 6, Box::new(Entrywise::new(L1::new(1.1).unwrap(), 6))),
        linear(10, 20, 6, Box::new(Entrywise::new(L1::new(1.0).unwrap(), 6))),
    ];
    assert!(swapped.iter().all(|problem| !good.verify(problem, &report.x, 1e-6).unwrap().passed()));
    let (tv, layout) = (variation(3, 6, 5, false), Layout::matrix(6, 5).unwrap());
    let (x, norms) = (Seeded::new(8).normals::<f64>(30), euclidean::<f64>(&layout).norms());
    let of_tv = Certificate::new(&tv, &x, Evidence::smoothed(0.1), norms, None, None).unwrap();
    assert!(of_tv.verify(&tv, &x, 1e-6).unwrap().passed());
    let y = MaskedLeastSquares::new(layout, Seeded::new(3).normals(30), None).unwrap();
    let doubled = Scale::new(2.0, Box::new(Difference2d::new(6, 5).unwrap())).unwrap();
    let doubled = Problem::new(y, Entrywise::new(L1::new(0.15).unwrap(), 60), doubled).unwrap();
    assert!(!of_tv.verify(&doubled, &x, 1e-6).unwrap().passed());
    let mut other = good.clone();
    other.norms = for_layout::<f64>(Norm::L1, lasso.layout(), Oracle::Auto).unwrap().norms();
    assert!(!other.verify(&lasso, &report.x, 1e-6).unwrap().passed());
    other = good.clone();
    other.norms[0].radius = 1e-9;
    assert!(!other.verify(&lasso, &report.x, 1e-6).unwrap().passed());
    other = good.clone();
    other.precision = "f32".into();
    assert!(other.verify(&lasso, &report.x, 1e-6).is_err());
    // A point that was moved passes only with what is true of it.
    let mut moved = report.x.clone();
    moved[0] += 1.0;
    assert!(!good.verify(&lasso, &moved, 1e-6).unwrap().passed());
    let honest = Certificate::new(&lasso, &moved, good.evidence(), good.norms.clone(), None, None).unwrap();
    assert!(honest.verify(&lasso, &moved, 1e-6).unwrap().passed());
}

#[test]
fn a_tiny_beta_proves_nothing() {
    let problem = variation(3, 6, 5, false);
    let x: Vec<f64> = Seeded::new(8).normals(30);
    let norms = euclidean::<f64>(problem.layout()).norms();
    for beta in [1e-14, 1e-20, 1e-40, 1e-300] {
        for claim in [None, Some(Claim::epsilon(10.0))] {
            let Ok(mut forged) = Certificate::new(&problem, &x, Evidence::smoothed(beta), norms.clone(), None, claim)
            else {
                continue;
            };
            assert!(!forged.verify(&problem, &x, 1e-6).unwrap().passed(), "β = {beta}");
            forged.dual_norm = melmo::geometry::Bracket::exact(0.0);
            assert!(!forged.verify(&problem, &x, 1e-6).unwrap().passed(), "β = {beta}, dual norm 0");
        }
    }
    assert!(problem.check_evidence(&Evidence { u: Some(&[0.0; 3][..]), beta: 0.1 }).is_err());
}

/// Singular values are rounded otherwise on another machine, and so is the z that x̃ was set to there: Tx̃ is that z, not ours.
#[test]
fn a_z_that_was_rounded_elsewhere_passes() {
    let (problem, _, _) = problems().swap_remove(2);
    let report = solve(&problem, "fista", Stop::after(3));
    let good = report.certificate.unwrap();
    assert_eq!(good.stationarity.as_ref().unwrap().residual, Some(0.0));
    let moved = |by: f64| {
        let mut other = good.clone();
        other.stationarity.as_mut().unwrap().point.iter_mut().for_each(|v| *v *= 1.0 + by);
        other.verify(&problem, &report.x, 1e-6).unwrap().passed()
    };
    assert!(moved(f64::EPSILON) && !moved(1e-6));
}
