//! Certificates at the ends of the range of numbers: what cannot be told is not told, and nothing is NaN.

use melmo::block::Layout;
use melmo::certificate::{Certificate, Evidence};
use melmo::geometry::{Norm, Oracle, euclidean, for_layout};
use melmo::operator::{Dense, Identity, Scale};
use melmo::penalty::{Entrywise, L1, Mcp};
use melmo::problem::Problem;
use melmo::smooth::{LeastSquares, MaskedLeastSquares, Smooth};

#[test]
fn no_gap_is_better_than_one_that_is_no_number() {
    let layout = Layout::matrix(2, 2).unwrap();
    for size in [1.0, 1e150, 1e300, 1e308] {
        let f = MaskedLeastSquares::new(layout.clone(), vec![size; 4], None).unwrap();
        let g = Entrywise::new(L1::new(0.1).unwrap(), 4);
        let problem = Problem::new(f, g, Identity::new(layout.clone())).unwrap();
        let norms = euclidean::<f64>(problem.layout()).norms();
        let found = Certificate::new(&problem, &[size; 4], Evidence::smoothed(1.0), norms, None, None);
        // Of 1e308 it was 0, above a bound that is NaN.
        let known = found.as_ref().ok().and_then(|found| found.optimality);
        assert!(known.is_none_or(|known| known.gap.is_finite() && known.bound.is_finite()), "{size:e}: {known:?}");
        assert!(size > 1.0 || known.is_some(), "{found:?}");
    }
}

/// ‖A‖² is infinite, and nothing else is: at x = 0 an allowance of ∞·0 let no certificate through, and ∞ would let everything.
#[test]
fn a_lipschitz_constant_beyond_all_numbers_allows_nothing() {
    let f = LeastSquares::new(Box::new(Dense::new(vec![1e160, 2e160, -3e160, 1e160], 2, 2).unwrap()), vec![1.0, 2.0]);
    let f = f.unwrap();
    assert_eq!(f.lipschitz(), Some(f64::INFINITY));
    let t = Identity::new(f.layout().clone());
    let problem = Problem::new(f, Entrywise::new(Mcp::new(0.1, 3.0).unwrap(), 2), t).unwrap();
    let (x, norms) = ([0.0; 2], for_layout::<f64>(Norm::L2, problem.layout(), Oracle::Auto).unwrap().norms());
    let mut made = Certificate::new(&problem, &x, Evidence::smoothed(1.0), norms, None, None).unwrap();
    assert!(made.verify(&problem, &x, 1e-6).unwrap().passed());
    made.stationarity.as_mut().unwrap().bound *= 0.5;
    assert!(!made.verify(&problem, &x, 1e-6).unwrap().passed());
}

/// Constants of T that leave the range of numbers, σ_min(T)⁻¹ or what rounding does to it, times an x or a gap of 0: no NaN comes of
/// it, and a certificate verifies that says no more than it can.
#[test]
fn operators_at_the_ends_of_the_range_of_numbers() {
    for c in [5e-324, 1e-310, 1e-160, 1e160, 1e300, 1e308] {
        let layout = Layout::vector(6).unwrap();
        let f = MaskedLeastSquares::new(layout.clone(), vec![1e-5; 6], None).unwrap();
        let t = Scale::new(c, Box::new(Identity::new(layout.clone()))).unwrap();
        let problem = Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 6), t).unwrap();
        let norms = for_layout::<f64>(Norm::L2, &layout, Oracle::Auto).unwrap().norms();
        let x = vec![0.0; 6];
        let Ok(certificate) = Certificate::new(&problem, &x, Evidence::smoothed(1.0), norms, None, None) else {
            continue;
        };
        let verified = certificate.verify(&problem, &x, 1e-6).unwrap();
        let small = |what: &str| what.starts_with("rounding is small");
        let wrong = verified.checks.iter().find(|check| check.slack.is_nan() || !check.holds && !small(check.what));
        assert!(wrong.is_none(), "{c}: {wrong:?}");
    }
}

/// R(z − Tx) of 10³⁶⁰ is no point: such an x̃ was stored, and could not be verified because ∞ − ∞ is no number.
#[test]
fn a_point_beyond_all_numbers_is_none() {
    let layout = Layout::vector(2).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), vec![1.0; 2], None).unwrap();
    let t = Scale::new(1e-260, Box::new(Identity::new(layout.clone()))).unwrap();
    let problem = Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 2), t).unwrap();
    for (size, there) in [(1.0, true), (1e100, false)] {
        let (x, u) = ([0.0; 2], [size, -size]);
        let (evidence, norms) = (Evidence { u: Some(&u[..]), beta: 1.0 }, euclidean::<f64>(&layout).norms());
        let certificate = Certificate::new(&problem, &x, evidence, norms, None, None).unwrap();
        assert_eq!(certificate.stationarity.is_some(), there, "{size:e}");
        let verified = certificate.verify(&problem, &x, 1e-6).unwrap();
        let wrong = verified.checks.iter().find(|check| !check.holds && !check.what.starts_with("rounding is small"));
        assert!(wrong.is_none(), "{size:e}: {wrong:?}");
    }
}
