//! Certificates: every method has one, and what they say is true. `forgeries` has what is false.

use melmo::block::Layout;
use melmo::catalogue::{self, Arguments};
use melmo::certificate::{Certificate, Claim, Evidence, can_bound};
use melmo::drive::{Epsilon, Gap, Options, Status, Stop, run};
use melmo::geometry::euclidean;
use melmo::known::Feedback;
use melmo::operator::{Dense, Difference2d, Difference3d, Identity, LinOp, Select};
use melmo::penalty::{ElasticNet, Entrywise, Group, Interval, L1, Mcp, Nonnegative, Prox, Ridge, Scad, Spectral};
use melmo::problem::Problem;
use melmo::report::Report;
use melmo::seeded::Seeded;
use melmo::smooth::{
    EntryFactors, EntryLoss, Factorization, HuberRegression, KnownFactors, LeastSquares, Logistic, MaskedLeastSquares,
    Smooth,
};
use melmo::solver::Als;
use melmo::sparse::{Csr, Misfit};

use crate::support::entries::known_entries;
use crate::support::parts::low_rank_plus_sparse;

fn regression(seed: u64, rows: usize, cols: usize) -> (Vec<f64>, Vec<f64>) {
    let mut seeded = Seeded::new(seed);
    let a = seeded.normals(rows * cols);
    let truth: Vec<f64> = (0..cols).map(|j| if j % 4 == 0 { 2.0 } else { 0.0 }).collect();
    let b = (0..rows).map(|i| (0..cols).map(|j| a[i * cols + j] * truth[j]).sum::<f64>() + 0.5 * seeded.normal());
    let b = b.collect();
    (a, b)
}

pub(crate) fn linear(seed: u64, rows: usize, cols: usize, g: Box<dyn Prox<f64>>) -> Problem<f64> {
    let (a, b) = regression(seed, rows, cols);
    let f = LeastSquares::new(Box::new(Dense::new(a, rows, cols).unwrap()), b).unwrap();
    let t = Identity::new(f.layout().clone());
    Problem::from_boxes(Box::new(f), g, Box::new(t)).unwrap()
}

fn image(seed: u64, rows: usize, cols: usize) -> MaskedLeastSquares<f64> {
    let mut seeded = Seeded::new(seed);
    let y = (0..rows * cols).map(|i| f64::from(u8::from(i % cols > cols / 2)) + 0.2 * seeded.normal()).collect();
    MaskedLeastSquares::new(Layout::matrix(rows, cols).unwrap(), y, None).unwrap()
}

pub(crate) fn variation(seed: u64, rows: usize, cols: usize, isotropic: bool) -> Problem<f64> {
    let t = Difference2d::new(rows, cols).unwrap();
    let l1 = L1::new(0.15).unwrap();
    let g: Box<dyn Prox<f64>> = match isotropic {
        true => Box::new(Group::pixels(l1, LinOp::<f64>::range(&t)).unwrap()),
        false => Box::new(Entrywise::new(l1, 2 * rows * cols)),
    };
    Problem::from_boxes(Box::new(image(seed, rows, cols)), g, Box::new(t)).unwrap()
}

fn completion(seed: u64, rows: usize, cols: usize) -> Problem<f64> {
    let mut seeded = Seeded::new(seed);
    let (u, v) = (seeded.normals::<f64>(rows), seeded.normals::<f64>(cols));
    let y = (0..rows * cols).map(|i| u[i / cols] * v[i % cols]).collect();
    let layout = Layout::matrix(rows, cols).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), y, Some(seeded.mask(rows * cols, 0.6))).unwrap();
    Problem::new(f, Spectral::new(L1::new(0.3).unwrap(), &layout).unwrap(), Identity::new(layout)).unwrap()
}

pub(crate) fn solve(problem: &Problem<f64>, method: &str, stop: Stop) -> Report<f64> {
    let rows = catalogue::methods::<f64>();
    let row = catalogue::find("method", &rows, method).unwrap();
    let geometry = euclidean(problem.layout());
    let x0 = vec![0.1; problem.layout().size()];
    let mut solver = (row.build)(&Arguments::defaults(&row.entry).unwrap(), problem, geometry, &x0).unwrap();
    run(&mut *solver, &Options::new(stop), &mut [])
}

#[test]
fn every_method_that_fits_stops_at_epsilon_with_a_certificate_that_verifies() {
    let masked = |rows, cols| {
        let f = image(3, rows, cols);
        let g = Entrywise::new(Mcp::new(0.5, 2.0).unwrap(), rows * cols);
        let t = Identity::new(f.layout().clone());
        Problem::new(f, g, t).unwrap()
    };
    let mut y = Seeded::new(5).normals::<f64>(48);
    y.iter_mut().for_each(|v| *v *= 0.3);
    let factors = Factorization::new(y, 8, 6, 2).unwrap().ridge(0.1).unwrap();
    let w = Select::new(factors.layout(), &["W"]).unwrap();
    let on_w = Entrywise::new(L1::new(0.05).unwrap(), 16);
    let lasso = linear(1, 30, 8, Box::new(Entrywise::new(L1::new(1.0).unwrap(), 8)));
    let on_both = Problem::new(
        factors.clone(),
        Entrywise::new(L1::new(0.05).unwrap(), 28),
        Identity::new(factors.layout().clone()),
    );
    let on_w = Problem::new(factors, on_w, w).unwrap();
    let entries = (0..48u32).filter(|at| at % 3 != 0).map(|at| (at / 6, at % 6, f64::from(at % 4)));
    let counts = Csr::from_entries(8, 6, entries, |_, _, _| Err(Misfit("twice".into()))).unwrap();
    let counts = EntryFactors::new(counts, EntryLoss::Poisson { floor: 0.1 }, 2).unwrap().ridge(0.1).unwrap();
    let layout = counts.layout().clone();
    let counts = Problem::new(counts, Entrywise::new(Nonnegative, 28), Identity::new(layout)).unwrap();
    let parts = low_rank_plus_sparse((8, 6), [1.0, 0.3].map(|lambda| Mcp::new(lambda, 3.0).unwrap())).0;
    let known = known_entries(8, 6, 2).0;
    let problems = [masked(6, 5), variation(2, 6, 5, false), lasso, on_w, on_both.unwrap(), known, parts];
    let mut seen = std::collections::BTreeSet::new();
    for problem in problems.iter().chain([&counts]) {
        for row in catalogue::methods::<f64>() {
            let name = row.entry.name;
            // Methods that leave the domain have no place among counts.
            if std::ptr::eq(problem, &counts) && name != "majorised" {
                continue;
            }
            let x0 = vec![0.2; problem.layout().size()];
            let arguments = Arguments::defaults(&row.entry).unwrap();
            let Ok(mut solver) = (row.build)(&arguments, problem, euclidean(problem.layout()), &x0) else { continue };
            // Fixed, long steps do not come to rest: what they are asked for is what they reach.
            let epsilon = if matches!(name, "subgradient") { 50.0 } else { 1.0 };
            let stop = Stop::after(4000).at_epsilon(Epsilon::Absolute(epsilon));
            let report = run(&mut *solver, &Options::new(stop), &mut []);
            assert_eq!(report.status, Status::Certified, "{name}");
            let certificate = report.certificate.unwrap();
            assert_eq!(certificate.claim, Some(Claim::epsilon(epsilon)), "{name}");
            let verified = certificate.verify(problem, &report.x, 1e-6).unwrap();
            assert!(verified.passed(), "{name}: {verified:#?}");
            seen.insert(name);
        }
    }
    let all: std::collections::BTreeSet<&str> = catalogue::methods::<f64>().iter().map(|row| row.entry.name).collect();
    assert_eq!(seen, all);
}

#[test]
fn a_masked_mcp_problem_is_certified_within_twenty_steps() {
    let y: Vec<f64> = Seeded::new(1).normals::<f64>(1200).iter().map(|v| 3.0 * v).collect();
    let layout = Layout::matrix(60, 20).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), y, None).unwrap();
    let problem = Problem::new(f, Entrywise::new(Mcp::new(0.5, 2.0).unwrap(), 1200), Identity::new(layout)).unwrap();
    let report = solve(&problem, "auto", Stop::after(10_000).at_epsilon(Epsilon::Absolute(0.05)));
    assert_eq!(report.status, Status::Certified);
    assert!(report.info.k <= 21, "{}", report.info.k);
    let gap = report.certificate.unwrap().gap().unwrap();
    assert!((0.0..1e-2).contains(&gap), "{gap}");
}

/// F after a long run: F* from above.
fn least(problem: &Problem<f64>, methods: &[&str]) -> f64 {
    methods
        .iter()
        .map(|m| solve(problem, m, Stop::after(3000).at_tolerance(1e-13)).objective)
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn f_star_lies_between_the_bound_and_f_in_two_hundred_cases() {
    let entries = |psi, n| Box::new(Entrywise::new(psi, n)) as Box<dyn Prox<f64>>;
    let mut cases = 0;
    for seed in 0..25 {
        let (rows, cols) = (12, 6 + seed as usize % 9); // wide and tall
        let (a, b) = regression(seed, rows, cols);
        let design = || Box::new(Dense::new(a.clone(), rows, cols).unwrap());
        let signs = b.iter().map(|v| v.signum()).collect();
        let logistic = Logistic::new(design(), signs).unwrap();
        let huber = HuberRegression::new(design(), b.clone(), 0.5).unwrap();
        let (t, l1) = (Identity::new(logistic.layout().clone()), L1::new(1.0).unwrap());
        let weak = Mcp::new(0.5, 1e3).unwrap(); // ρ below λ_min(AᵀA) for the tall ones
        let problems: Vec<(Problem<f64>, Vec<&str>)> = vec![
            (linear(seed, rows, cols, entries(l1, cols)), vec!["coordinate-descent", "fista"]),
            (
                linear(seed, rows, cols, Box::new(Entrywise::new(ElasticNet::new(1.0, 0.5).unwrap(), cols))),
                vec!["fista"],
            ),
            (linear(seed, rows, cols, Box::new(Entrywise::new(Ridge::new(0.7).unwrap(), cols))), vec!["fista"]),
            (linear(seed, rows, cols, Box::new(Entrywise::new(weak, cols))), vec!["coordinate-descent", "fista"]),
            (Problem::new(logistic, Entrywise::new(l1, cols), t.clone()).unwrap(), vec!["coordinate-descent", "fista"]),
            (Problem::new(huber, Entrywise::new(l1, cols), t).unwrap(), vec!["coordinate-descent", "fista"]),
            (variation(seed, 5, 4, seed % 2 == 0), vec!["admm", "metric"]),
            (completion(seed, 6, 5), vec!["fista"]),
        ];
        for (problem, methods) in &problems {
            if can_bound(problem, None).is_err() {
                assert!(problem.g().weak_convexity() > 0.0);
                continue;
            }
            let star = least(problem, methods);
            for (steps, method) in [(0, methods[0]), (3, methods[0]), (40, methods[methods.len() - 1])] {
                let report = solve(problem, method, Stop::after(steps));
                let found = report.certificate.unwrap().optimality.unwrap();
                assert_eq!(found.objective, report.objective);
                let room = 1e-9 * (1.0 + star.abs());
                assert!(found.bound <= star + room, "seed {seed}, {method}: {} above {star}", found.bound);
                assert!(star <= found.objective + room && found.objective - star <= found.gap + room);
                cases += 1;
            }
        }
    }
    assert!(cases >= 500, "{cases}");
}

#[test]
fn closed_forms_lie_between_too() {
    for seed in 0..12 {
        let mut seeded = Seeded::new(seed);
        let y: Vec<f64> = seeded.normals::<f64>(40).iter().map(|v| 2.0 * v).collect();
        let mask: Vec<f64> = seeded.mask(40, 0.7);
        let layout = Layout::vector(40).unwrap();
        let problem = |g: Box<dyn Prox<f64>>| {
            let f = MaskedLeastSquares::new(layout.clone(), y.clone(), Some(mask.clone())).unwrap();
            Problem::from_boxes(Box::new(f), g, Box::new(Identity::new(layout.clone()))).unwrap()
        };
        // Scanned on a fine grid: μ = 0.4 bends down more than f bends up.
        for (psi, value) in [
            (Box::new(Entrywise::new(Mcp::new(0.8, 0.4).unwrap(), 40)) as Box<dyn Prox<f64>>, 0),
            (Box::new(Entrywise::new(Scad::new(0.8, 2.1).unwrap(), 40)), 1),
        ] {
            let scalar = |x: f64| match value {
                0 => Entrywise::<_, f64>::new(Mcp::new(0.8, 0.4).unwrap(), 1).value(&[x], &mut []),
                _ => Entrywise::<_, f64>::new(Scad::new(0.8, 2.1).unwrap(), 1).value(&[x], &mut []),
            };
            let grid = |y: f64| {
                (-12_000..=12_000)
                    .map(|i| f64::from(i) * 1e-3)
                    .map(|x| 0.5 * (x - y).powi(2) + scalar(x))
                    .fold(f64::INFINITY, f64::min)
            };
            let star: f64 = y.iter().zip(&mask).filter(|(_, m)| **m > 0.0).take(40).map(|(&y, _)| grid(y)).sum();
            let found =
                solve(&problem(psi), "proximal-gradient", Stop::after(5)).certificate.unwrap().optimality.unwrap();
            assert!(found.bound <= star + 1e-9 && star <= found.bound + 1e-4, "{} {star}", found.bound);
        }
    }
}

#[test]
fn gaps_of_a_millionth_are_reached() {
    let lasso = linear(4, 60, 120, Box::new(Entrywise::new(L1::new(3.0).unwrap(), 120)));
    let net = linear(4, 60, 120, Box::new(Entrywise::new(ElasticNet::new(3.0, 0.1).unwrap(), 120)));
    for (problem, method) in
        [(&lasso, "coordinate-descent"), (&lasso, "fista"), (&net, "fista"), (&variation(1, 24, 20, false), "admm")]
    {
        let report = solve(problem, method, Stop::after(20_000).at_gap(Gap::Relative(1e-6)));
        assert_eq!(report.status, Status::Certified, "{method}");
        let certificate = report.certificate.unwrap();
        assert!(certificate.gap().unwrap() <= 1e-6 * report.objective);
        let verified = certificate.verify(problem, &report.x, 1e-6).unwrap();
        assert!(verified.passed(), "{method}: {verified:#?}");
    }
}

#[test]
fn no_bound_is_given_where_there_is_none() {
    let y = Seeded::new(5).normals::<f64>(48);
    let factors = Factorization::new(y, 8, 6, 2).unwrap();
    let w = Select::new(factors.layout(), &["W"]).unwrap();
    let problem = Problem::new(factors, Entrywise::new(L1::new(0.05).unwrap(), 16), w).unwrap();
    assert!(can_bound(&problem, None).unwrap_err().contains("convex"));
    let bent = linear(1, 30, 8, Box::new(Entrywise::new(Mcp::new(1.0, 1e-3).unwrap(), 8)));
    assert!(can_bound(&bent, None).unwrap_err().contains("bends"));
    // A blurred image's mean is free.
    let f = LeastSquares::new(Box::new(Dense::new(vec![1.0, 1.0, 0.0, 0.0], 2, 2).unwrap()), vec![1.0, 0.0]).unwrap();
    let flat =
        Problem::new(f, Entrywise::new(L1::new(0.1).unwrap(), 2), Dense::new(vec![1.0, -1.0, 0.0, 0.0], 2, 2).unwrap());
    let flat = flat.unwrap();
    assert!(can_bound(&flat, None).unwrap_err().contains("radius"));
    assert!(can_bound(&flat, Some(10.0)).is_ok());
    let volume = Difference3d::new(3, 4, 2).unwrap();
    let f = MaskedLeastSquares::new(LinOp::<f64>::domain(&volume).clone(), vec![1.0; 24], None).unwrap();
    let convex = Problem::new(f, Entrywise::new(Mcp::new(0.1, 13.0).unwrap(), 72), volume).unwrap();
    assert!(can_bound(&convex, None).is_ok(), "ρ‖T‖² = 12/13 < 1");
}

#[test]
fn a_box_is_not_left_by_rounding() {
    // x + (z − x) misses 0.1 by one unit, and ∂g is empty there.
    let f = MaskedLeastSquares::new(Layout::vector(3).unwrap(), vec![-1.0, 0.3, 5.0], None).unwrap();
    let t = Identity::new(f.layout().clone());
    let problem = Problem::new(f, Entrywise::new(Interval::new(0.1, 1.0).unwrap(), 3), t).unwrap();
    let x = [0.3 - 0.6, 0.3, 1.7];
    let norms = euclidean::<f64>(problem.layout()).norms();
    let new = Certificate::new(&problem, &x, Evidence::smoothed(0.5), norms, None, None).unwrap();
    let near = new.stationarity.as_ref().unwrap();
    assert_eq!((near.point[0], near.residual), (0.1, Some(0.0)));
    assert!(new.verify(&problem, &x, 1e-6).unwrap().passed());
    // What version 0.1 stored: one unit below the box, and no word about z.
    let mut old = new.clone();
    let point = &mut old.stationarity.as_mut().unwrap().point;
    point[0] = 0.1f64.next_down();
    assert!(!old.verify(&problem, &x, 1e-6).unwrap().passed(), "said to be z to the last bit");
    old.stationarity.as_mut().unwrap().residual = None;
    assert!(!old.verify(&problem, &x, 1e-6).unwrap().passed(), "∂g is empty there");
}

#[test]
fn behind_a_dense_operator_the_bound_speaks_of_the_pair() {
    let mut seeded = Seeded::new(2);
    let f = MaskedLeastSquares::new(Layout::vector(6).unwrap(), seeded.normals(6), None).unwrap();
    let t = Dense::new(seeded.normals(24), 4, 6).unwrap();
    let problem = Problem::new(f, Entrywise::new(L1::new(20.0).unwrap(), 4), t).unwrap();
    let report = solve(&problem, "scaled", Stop::after(3000));
    let certificate = report.certificate.unwrap();
    assert!(report.z.contains(&0.0));
    let near = certificate.stationarity.as_ref().unwrap();
    assert!(near.residual.unwrap() < 1e-12);
    assert!(certificate.verify(&problem, &report.x, 1e-6).unwrap().passed());
    let mut old = certificate.clone();
    old.stationarity.as_mut().unwrap().residual = None;
    let lines = old.verify(&problem, &report.x, 1e-6).unwrap().checks;
    assert!(lines.iter().any(|line| line.what.contains("∂g(Tx̃)") && !line.holds), "{lines:#?}");
}

#[test]
fn old_certificates_still_verify() {
    // The fields that version 0.1 wrote, at a point where x̃ has no kink to miss.
    let problem = variation(3, 5, 4, false);
    let report = solve(&problem, "melmo", Stop::after(50));
    let certificate = report.certificate.unwrap();
    let mut json = serde_json::to_value(&certificate).unwrap();
    let fields = json.as_object_mut().unwrap();
    fields.retain(|key, _| {
        ["precision", "beta", "norms", "dual_norm", "prox_gap", "claim", "stationarity"].contains(&key.as_str())
    });
    fields.insert("claim".into(), serde_json::json!({"dual_norm": 1e3, "prox_gap": 1e3}));
    let old: Certificate<f64> = serde_json::from_value(json).unwrap();
    assert_eq!(old.claim, Some(Claim::epsilon(1e3)));
    assert!(old.verify(&problem, &report.x, 1e-6).unwrap().passed());
}

#[test]
fn settled_knows_no_scale_and_nothing_of_the_start() {
    let lasso = |scale: f64| {
        let (a, b) = regression(6, 100, 40);
        let f = LeastSquares::new(Box::new(Dense::new(a, 100, 40).unwrap()), b.iter().map(|v| v * scale).collect());
        let f = f.unwrap();
        let t = Identity::new(f.layout().clone());
        Problem::new(f, Entrywise::new(L1::new(5.0 * scale).unwrap(), 40), t).unwrap()
    };
    let problem = lasso(1.0);
    let best = least(&problem, &["coordinate-descent"]);
    let rows = catalogue::methods::<f64>();
    for method in ["auto", "fista", "proximal-gradient", "coordinate-descent"] {
        let row = catalogue::find("method", &rows, method).unwrap();
        let far = vec![1e6; 40];
        let arguments = Arguments::defaults(&row.entry).unwrap();
        let mut solver = (row.build)(&arguments, &problem, euclidean(problem.layout()), &far).unwrap();
        let report = run(&mut *solver, &Options::new(Stop::after(50_000).at_tolerance(1e-6)), &mut []);
        assert_eq!(report.status, Status::Settled, "{method}");
        assert!(report.objective <= best * (1.0 + 1e-4), "{method}: {} against {best}", report.objective);
    }
    // Scaling everything by a million, or a millionth, changes nothing but the units.
    for scale in [1e6, 1e-6] {
        let report = solve(&lasso(scale), "coordinate-descent", Stop::after(1000).at_tolerance(1e-6));
        assert_eq!(report.status, Status::Settled);
        assert!((report.objective / (scale * scale) - best).abs() <= 1e-6 * best);
    }
}

/// A line's gradient is a sum over its entries: in single precision, worst case, nothing of it was certain beyond a million of them.
#[test]
fn many_entries_in_single_precision_can_be_verified() {
    let (rows, cols, rank) = (4000, 600, 8);
    let mut seeded = Seeded::new(12);
    let (w, h): (Vec<f32>, Vec<f32>) = (seeded.normals(rows * 2), seeded.normals(cols * 2));
    let known = (0..rows * cols).filter(|at| at % 5 != 2).map(|at| {
        let (i, j) = (at / cols, at % cols);
        let noise = ((at * 7919) % 1000) as f32 / 500.0 - 1.0;
        (i as u32, j as u32, w[2 * i] * h[2 * j] + w[2 * i + 1] * h[2 * j + 1] + noise)
    });
    let entries = Csr::from_entries(rows, cols, known, |_, _, _| Err(Misfit("twice".into()))).unwrap();
    for (feedback, entries) in [(Feedback::Explicit, entries.clone()), (Feedback::Implicit, entries.map(f32::abs))] {
        let f = KnownFactors::new(entries, feedback, rank, 5.0).unwrap();
        let t = Select::new(f.layout(), &["W"]).unwrap();
        let x0: Vec<f32> = Seeded::new(4).normals(f.layout().size());
        let problem = Problem::new(f, Entrywise::new(Ridge::new(5.0).unwrap(), rows * rank), t).unwrap();
        let mut solver = Als::new(&problem, &x0).unwrap();
        let report = run(&mut solver, &Options::new(Stop::after(5)), &mut []);
        let verified = report.certificate.unwrap().verify(&problem, &report.x, 1e-4).unwrap();
        assert!(verified.passed(), "{feedback:?}: {verified:?}");
    }
}
