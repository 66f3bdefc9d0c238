//! Everything that a space is asked, on the machine and on slices: the same numbers.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, Lift, find, penalties};
use melmo::certificate::{Shown, Witness};
use melmo::geometry::{Geometry, Norm, Oracle, for_layout};
use melmo::operator::{Difference2d, Difference3d, Identity, LinOp, Select};
use melmo::penalty::Prox;
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::MaskedLeastSquares;
use melmo::space::{Host, Space};
use melmo_cuda::Device;

use crate::emulator::machine;

/// A problem with one of the operators.
pub fn problem<S: Real>(operator: &str, penalty: &str, lift: Lift<S>, masked: bool) -> Problem<S> {
    let (layout, t): (Layout, Box<dyn LinOp<S>>) = match operator {
        "image" => (Layout::matrix(37, 23).unwrap(), Box::new(Difference2d::new(37, 23).unwrap())),
        "fours" => (Layout::matrix(19, 24).unwrap(), Box::new(Difference2d::new(19, 24).unwrap())),
        "row" => (Layout::matrix(1, 9).unwrap(), Box::new(Difference2d::new(1, 9).unwrap())),
        "column" => (Layout::matrix(9, 1).unwrap(), Box::new(Difference2d::new(9, 1).unwrap())),
        "volume" => (Layout::matrix(5 * 7, 10).unwrap(), Box::new(Difference3d::new(5, 7, 10).unwrap())),
        "blocks" => {
            let layout = Layout::new([("a", 3, 7), ("b", 4, 5), ("c", 2, 3)]).unwrap();
            let t = Select::new(&layout, &["b", "c"]).unwrap();
            (layout, Box::new(t))
        }
        _ => (Layout::matrix(41, 120).unwrap(), Box::new(Identity::new(Layout::matrix(41, 120).unwrap()))),
    };
    let (n, range) = (layout.size(), t.range().clone());
    let mask = (0..n).map(|i| S::of(f64::from(i % 5 != 0))).collect();
    let f = MaskedLeastSquares::new(layout, Seeded::new(3).normals(n), masked.then_some(mask)).unwrap();
    let rows = penalties::<S>();
    let row = find("penalty", &rows, penalty).unwrap();
    let g: Box<dyn Prox<S>> = (row.build)(&Arguments::defaults(&row.entry).unwrap(), &lift, &range).unwrap();
    Problem::from_boxes(Box::new(f), g, t).unwrap()
}

fn close<S: Real>(what: &str, got: f64, want: f64, scale: f64) {
    let same = got == want || got.is_nan() && want.is_nan();
    let room = 40.0 * S::EPSILON * (scale.abs() + want.abs());
    assert!(same || (got - want).abs() <= room, "{what}: {got:e} instead of {want:e}");
}

/// Compares all that is asked of a space and of its witness at seeded points.
pub fn compare<S: Real>(name: &str, problem: &Problem<S>, norm: Norm) {
    let Some(machine) = machine() else { return };
    let geometry = || -> Box<dyn Geometry<S>> { for_layout(norm, problem.layout(), Oracle::Auto).unwrap() };
    let geometry =
        if problem.layout().blocks().len() > 1 { melmo::geometry::euclidean(problem.layout()) } else { geometry() };
    let mut device = Device::new(problem, geometry.norms(), machine).unwrap();
    let mut host = Host::new(problem, geometry).unwrap();
    let (n, beta) = (problem.layout().size(), 0.4 * problem.default_beta());
    let [x, d]: [Vec<S>; 2] = [Seeded::new(11).normals(n), Seeded::new(12).normals(n)];
    let mut there: Vec<_> = (0..4).map(|_| device.point()).collect();
    device.write(&mut there[0], 0, &x);
    device.write(&mut there[1], 0, &d);
    let (mut y, mut phi) = (vec![S::ZERO; n], vec![S::ZERO; n]);
    let mut read = vec![S::ZERO; n];
    let [x_there, d_there, y_there, phi_there] = &mut there[..] else { unreachable!() };

    let vectors = |what: &str, got: &[S], want: &[S]| {
        for (i, (a, b)) in got.iter().zip(want).enumerate() {
            close::<S>(&format!("{name}: {what} {i}"), a.f64(), b.f64(), 4.0 / beta.min(1.0));
        }
    };
    close::<S>(name, device.dot(x_there, d_there), host.dot(&x, &d), n as f64);
    close::<S>(name, device.norm(x_there), host.norm(&x), 0.0);
    close::<S>(name, device.penalty(x_there), host.penalty(&x), 1.0);
    close::<S>(name, device.envelope(x_there, beta), host.envelope(&x, beta), 1.0);

    let (got, want) = (device.gradient(phi_there, x_there, beta), host.gradient(&mut phi, &x, beta));
    close::<S>(name, got.f, want.f, 0.0);
    close::<S>(name, got.slope_squared, want.slope_squared, 1.0);
    let squared = host.norm_squared(&phi);
    close::<S>(name, got.squared.unwrap(), squared, 1.0);
    device.read(phi_there, 0, &mut read);
    vectors("gradient", &read, &phi);

    // From the same φ: a sign of a rounded 0 would be another step.
    device.write(phi_there, 0, &phi);
    let (got, want) = (device.oracle(phi_there, Some(squared)), host.oracle(&phi, Some(squared)));
    close::<S>(name, got.dual_norm.middle(), want.dual_norm.middle(), 0.0);
    assert!(got.dual_norm.lower <= want.dual_norm.upper && want.dual_norm.lower <= got.dual_norm.upper, "{name}");
    let (got, want) = (
        device.advance_and_evaluate(y_there, x_there, phi_there, [0.3, beta]),
        host.advance_and_evaluate(&mut y, &x, &mut phi, [0.3, beta]),
    );
    close::<S>(name, got.f, want.f, 0.0);
    device.read(y_there, 0, &mut read);
    vectors("moved", &read, &y);
    device.read(phi_there, 0, &mut read);
    vectors("gradient after", &read, &phi);
    close::<S>(name, device.dual_norm(phi_there), host.dual_norm(&phi), 0.0);

    device.extrapolate(phi_there, x_there, d_there, 0.7);
    host.extrapolate(&mut phi, &x, &d, 0.7);
    device.scale(phi_there, -1.5);
    host.scale(&mut phi, -1.5);
    device.add(phi_there, 0.3, d_there);
    host.add(&mut phi, 0.3, &d);
    device.read(phi_there, 0, &mut read);
    vectors("combined", &read, &phi);

    let (mut tx, mut v) = (Space::image(&mut device), Space::image(&mut device));
    let (mut tx_here, mut v_here) = (host.image(), host.image());
    let got = device.subgradient(phi_there, x_there, &mut tx, &mut v);
    close::<S>(name, got, host.subgradient(&mut phi, &x, &mut tx_here, &mut v_here), 1.0);
    device.read(phi_there, 0, &mut read);
    vectors("subgradient", &read, &phi);

    let shown = Shown::smoothed(beta);
    let shown_stored = device.show(&tx, &v, 0.5);
    assert_eq!(shown_stored, host.show(&tx_here, &v_here, 0.5), "{name}");
    for shown in [shown, shown_stored] {
        looks::<S>(name, (&mut device, x_there), (&mut host, &x), shown);
    }
    let (got, want) = (device.witness().look(x_there, shown), host.witness().look(&x[..], shown));
    close::<S>(name, got.of_sum, want.of_sum, 1.0);
    assert_eq!(device.strengthen(), host.witness().strengthen(), "{name}");
    assert_eq!(device.fault(), None, "{name}");
}

/// A look and what follows from it.
fn looks<S: Real>(
    name: &str,
    (device, x_there): (&mut Device<'_, S, Box<dyn melmo_cuda::machine::Machine>>, &melmo_cuda::Point),
    (host, x): (&mut Host<'_, S>, &[S]),
    shown: Shown,
) {
    let norms = host.norms();
    let (got, want) = (device.witness().look(x_there, shown), host.witness().look(x, shown));
    let pairs = [
        ("f", got.f, want.f),
        ("g(z)", got.at_z, want.at_z),
        ("g(Tx)", got.at_tx, want.at_tx),
        ("overlap", got.overlap, want.overlap),
        ("∇f", got.of_f, want.of_f),
        ("T*w", got.of_g, want.of_g),
        ("v", got.of_sum, want.of_sum),
        ("gap", got.prox_gap, want.prox_gap),
        ("x", got.x_norm, want.x_norm),
        ("Tx", got.tx_norm, want.tx_norm),
        ("u", got.u_norm, want.u_norm),
        ("w", got.w_norm, want.w_norm),
        ("rounding", got.rounding.grad, want.rounding.grad),
    ];
    for (what, got, want) in pairs {
        close::<S>(&format!("{name}: {what}"), got, want, 1e3 / shown.beta.min(1.0));
    }
    let (got, want) = (device.residual(&norms).unwrap(), host.witness().residual(&norms).unwrap());
    close::<S>(name, got.middle(), want.middle(), 10.0 / shown.beta.min(1.0));
    let (mut got, mut want) = (Vec::new(), Vec::new());
    device.z(&mut got);
    host.witness().z(&mut want);
    for (a, b) in got.iter().zip(&want) {
        close::<S>(&format!("{name}: z"), a.f64(), b.f64(), 1.0);
    }
    let (got, want) = (device.near(x_there), host.witness().near(x));
    assert_eq!(got.is_some(), want.is_some(), "{name}");
    if let (Some(got), Some(want)) = (got, want) {
        close::<S>(&format!("{name}: x̃"), got.bound, want.bound, 1.0 / shown.beta.min(1.0));
    }
}

/// Every penalty that has a formula, on entries and on pixels.
const PENALTIES: [&str; 9] = ["l1", "mcp", "scad", "huber", "log-sum", "elastic-net", "ridge", "box", "spline"];

#[test]
fn every_penalty_on_an_image() {
    for penalty in PENALTIES {
        compare::<f64>(&format!("{penalty}, image"), &problem("image", penalty, Lift::Entries, true), Norm::L2);
    }
}

#[test]
fn every_penalty_on_pixels_in_single_precision() {
    for penalty in ["l1", "mcp", "scad", "huber", "log-sum", "spline"] {
        compare::<f32>(&format!("{penalty}, pixels"), &problem("fours", penalty, Lift::Pixels, false), Norm::L2);
    }
}

#[test]
fn volumes() {
    compare::<f64>("volume", &problem("volume", "mcp", Lift::Entries, false), Norm::L2);
    compare::<f64>("pixels of a volume", &problem("volume", "l1", Lift::Pixels, true), Norm::Linf);
}

#[test]
fn entries_and_blocks() {
    compare::<f64>("entries", &problem("identity", "mcp", Lift::Entries, true), Norm::L1);
    compare::<f64>("nonnegative", &problem("identity", "elastic-net", Lift::Nonnegative, false), Norm::Linf);
    compare::<f64>("blocks", &problem("blocks", "l1", Lift::Entries, false), Norm::L2);
}

#[test]
fn thin_images_and_weights() {
    for shape in ["row", "column"] {
        compare::<f64>(shape, &problem(shape, "l1", Lift::Entries, false), Norm::L2);
    }
    let weights = (0..2 * 37 * 23).map(|i| f64::from(i % 4) / 2.0).collect();
    let plain = problem::<f64>("image", "l1", Lift::Entries, false);
    compare("rows", &plain, Norm::Row);
    compare("columns", &plain, Norm::Column);
    compare::<f64>("weights", &problem("image", "mcp", Lift::Entries.weighted(weights), false), Norm::L1);
}
