//! Every method in every geometry on data, designs and operators that are too large, too small or too odd, in both precisions.

use melmo::block::Layout;
use melmo::catalogue::{self, Lift};
use melmo::certificate::{Certificate, Check};
use melmo::operator::{Dense, Difference2d, Identity, LinOp, Scale, Sparse};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{HuberRegression, LeastSquares, Logistic, MaskedLeastSquares, Smooth};
use melmo_tasks::{Defaults, PenaltyChoice, Prepared, Settings, Solved, Watch, factorize, recover, solve};

use crate::run::{Run, below, one_of};

const GEOMETRIES: [&str; 7] = ["l2", "l1", "linf", "spectral", "nuclear", "column", "row"];
const PENALTIES: [&str; 5] =
    ["mcp:lambda=0.1,mu=3", "mcp:lambda=0.1,mu=1e12", "l1:lambda=0.1", "scad:lambda=0.1", "log-sum:lambda=0.1,theta=1"];
/// Sizes of the numbers.
const SCALES: [f64; 20] = [
    1.0, 0.0, 1e-5, 1e5, 1e-20, 1e18, 1e20, 1e37, 1e-37, 1e-45, 1e38, 1e-80, 1e80, 1e-154, 1e153, 1e160, 1e-200, 1e300,
    1e308, 5e-324,
];
/// Data sets for every method and geometry: every size twice.
const SETS: usize = 2 * SCALES.len();

pub fn campaign(run: &mut Run) {
    let mut methods: Vec<&str> = catalogue::methods::<f64>().iter().map(|row| row.entry.name).collect();
    methods.push("auto");
    run.until_the_end(|number, seeded| {
        // All of them in turn, every round with other numbers of the same size.
        let at = number as usize % (SETS * methods.len() * GEOMETRIES.len());
        let (set, pair) = (at / (methods.len() * GEOMETRIES.len()), at % (methods.len() * GEOMETRIES.len()));
        let (method, geometry) = (methods[pair / GEOMETRIES.len()], GEOMETRIES[pair % GEOMETRIES.len()]);
        let settings = Settings { geometry: geometry.parse().ok(), iterations: Some(30), ..Settings::method(method) };
        let scale = SCALES[set / 2];
        let found =
            if set % 2 == 0 { one::<f64>(&settings, scale, seeded) } else { one::<f32>(&settings, scale, seeded) };
        found.map_err(|wrong| format!("{method} in {geometry}, numbers about {scale:e}: {wrong}"))
    });
}

fn one<S: Real>(settings: &Settings, scale: f64, seeded: &mut Seeded) -> Result<(), String> {
    let (rows, cols) = *one_of(seeded, &[(3, 4), (1, 6), (5, 1), (6, 5)]);
    let y: Vec<S> = data(seeded, scale, rows * cols).into_iter().map(S::of).collect();
    let penalty = one_of(seeded, &PENALTIES).parse().map_err(|_| "no penalty of the catalogue")?;
    let Some(prepared) = problem(&y, rows, cols, &penalty, seeded) else { return Ok(()) };
    let Ok(solved) = solve(&prepared, settings, Watch::default()) else { return Ok(()) };
    let told = || format!("{} on {rows}×{cols}, {penalty}: {:?}, {y:?}", S::NAME, solved.report.status);
    judge(&prepared, &solved, settings).map_err(|wrong| format!("{wrong}: {}", told()))
}

/// Numbers of one size, now and then all the same, or with one that stands out, or with one that is missing.
fn data(seeded: &mut Seeded, scale: f64, size: usize) -> Vec<f64> {
    let mut y: Vec<f64> = seeded.normals::<f64>(size).iter().map(|v| (v * scale).clamp(f64::MIN, f64::MAX)).collect();
    let at = below(seeded, size);
    match below(seeded, 5) {
        0 => y.fill(scale),
        1 => y[at] = *one_of(seeded, &SCALES),
        2 => y[at] = f64::NAN,
        _ => {}
    }
    y
}

/// A matrix whose columns have sizes of their own: all one, or mixed, from 10⁻¹⁶⁰ to 10¹⁶⁰ as far as S goes; now and then one is 0,
/// or two are the same.
fn matrix<S: Real>(seeded: &mut Seeded, rows: usize, cols: usize) -> Vec<S> {
    const SIZES: [f64; 9] = [1e-160, 1e-100, 1e-37, 1e-8, 1.0, 1e8, 1e37, 1e100, 1e160];
    let fits: Vec<f64> = SIZES.into_iter().filter(|&size| S::of(size).is_finite() && S::of(size) != S::ZERO).collect();
    let one = *one_of(seeded, &fits);
    let mixed = below(seeded, 3) > 0;
    let mut sizes: Vec<f64> = (0..cols).map(|_| if mixed { *one_of(seeded, &fits) } else { one }).collect();
    let mut a: Vec<f64> = seeded.normals(rows * cols);
    let (odd, other) = (below(seeded, cols), below(seeded, cols));
    match below(seeded, 6) {
        0 => sizes[odd] = 0.0,
        1 => (0..rows).for_each(|i| a[i * cols + odd] = a[i * cols + other]),
        _ => {}
    }
    a.iter().enumerate().map(|(at, v)| S::of(v * sizes[at % cols])).collect()
}

/// ½‖Ax − y‖² and the like behind T = I: a design, dense or sparse, and one label or number for each of its rows.
fn regression<S: Real>(y: &[S], penalty: &PenaltyChoice, seeded: &mut Seeded) -> Option<Prepared<S>> {
    let (rows, cols) = (y.len(), 1 + below(seeded, 5));
    let a = matrix::<S>(seeded, rows, cols);
    let design: Box<dyn LinOp<S>> = match below(seeded, 3) {
        0 => {
            let columns = (0..rows * cols).map(|at| at % cols).collect();
            Box::new(Sparse::new(rows, cols, (0..=rows).map(|i| i * cols).collect(), columns, a).ok()?)
        }
        1 => Box::new(Dense::design(a, rows, cols).ok()?),
        _ => Box::new(Dense::new(a, rows, cols).ok()?),
    };
    let layout = design.domain().clone();
    let labels = || y.iter().map(|y| if *y > S::ZERO { S::ONE } else { -S::ONE }).collect();
    let f: Box<dyn Smooth<S>> = match below(seeded, 4) {
        0 => Box::new(Logistic::new(design, labels()).ok()?),
        1 => Box::new(HuberRegression::new(design, y.to_vec(), 1.0).ok()?),
        _ => Box::new(LeastSquares::new(design, y.to_vec()).ok()?),
    };
    let g = penalty.build(&Lift::Entries, &layout).ok()?;
    let problem = Problem::from_boxes(f, g, Box::new(Identity::new(layout))).ok()?;
    Some(Prepared { problem, start: vec![S::ZERO; cols], defaults: Defaults::default(), optimum: None })
}

/// ½‖x − y‖² and a penalty behind an operator: a matrix, or a number.
fn behind<S: Real>(y: &[S], penalty: &PenaltyChoice, seeded: &mut Seeded) -> Option<Prepared<S>> {
    let layout = Layout::vector(y.len()).ok()?;
    let t: Box<dyn LinOp<S>> = match below(seeded, 2) {
        0 => {
            let rows = 1 + below(seeded, 6);
            let a = matrix::<S>(seeded, rows, y.len());
            Box::new(Dense::new(a, rows, y.len()).ok()?)
        }
        _ => Box::new(Scale::new(*one_of(seeded, &SCALES), Box::new(Identity::new(layout.clone()))).ok()?),
    };
    let g = penalty.build(&Lift::Entries, t.range()).ok()?;
    let f = MaskedLeastSquares::new(layout, y.to_vec(), None).ok()?;
    let problem = Problem::from_boxes(Box::new(f), g, t).ok()?;
    Some(Prepared { problem, start: y.to_vec(), defaults: Defaults::default(), optimum: None })
}

/// T = I, T = D, a matrix, a regression or two factors; none where it is refused.
fn problem<S: Real>(
    y: &[S],
    rows: usize,
    cols: usize,
    penalty: &PenaltyChoice,
    seeded: &mut Seeded,
) -> Option<Prepared<S>> {
    match below(seeded, 5) {
        3 => regression(y, penalty, seeded),
        4 => behind(y, penalty, seeded),
        0 => recover::prepare(y, None, rows, cols, penalty).ok(),
        1 => {
            let factors = factorize::Factors { y, mask: None, rows, cols, rank: 2, penalty, ridge: 0.1 };
            factors.prepare(seeded.normals(2 * rows), seeded.normals(2 * cols)).ok()
        }
        _ => {
            let layout = Layout::matrix(rows, cols).ok()?;
            let t = Difference2d::new(rows, cols).ok()?;
            let g = penalty.build(&Lift::Entries, LinOp::<S>::range(&t)).ok()?;
            let f = MaskedLeastSquares::new(layout, y.to_vec(), None).ok()?;
            let problem = Problem::from_boxes(Box::new(f), g, Box::new(t)).ok()?;
            Some(Prepared { problem, start: y.to_vec(), defaults: Defaults::default(), optimum: None })
        }
    }
}

/// An answer in numbers with a certificate that can be verified and, where the method was chosen, not above the start; or a word
/// that it is none.
fn judge<S: Real>(prepared: &Prepared<S>, solved: &Solved<S>, settings: &Settings) -> Result<(), String> {
    let (problem, report) = (&prepared.problem, &solved.report);
    let finite = report.objective.is_finite() && report.x.iter().chain(&report.z).all(|v| v.is_finite());
    if solved.report.status == melmo::drive::Status::NotFinite {
        return Ok(());
    }
    if !finite {
        return Err(format!("F = {}, x and z are {:?}, {:?}", report.objective, report.x, report.z));
    }
    let start = problem.objective(&prepared.start);
    if settings.method == "auto" && report.objective > start + 16.0 * S::EPSILON * start.abs() {
        return Err(format!("F = {} above {start} at the start", report.objective));
    }
    let Some(certificate) = &report.certificate else { return Ok(()) };
    if certificate.prox_gap.is_nan() || certificate.dual_norm.upper.is_nan() {
        return Err("NaN in a certificate".into());
    }
    let tolerance = Certificate::<S>::default_tolerance();
    let verified = certificate.verify(problem, &report.x, tolerance).map_err(|error| error.to_string())?;
    // That nothing can be told for rounding is a true word.
    let fails = |check: &&Check| !check.holds && !check.what.starts_with("rounding is small");
    let failed: Vec<String> = verified.checks.iter().filter(fails).map(|check| format!("{check:?}")).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("the certificate does not verify: {}", failed.join("; "))) }
}
