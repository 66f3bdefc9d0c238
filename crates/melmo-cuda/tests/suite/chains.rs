//! Problems that are evaluated link by link: operators without a walk of their own, and penalties of groups.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, Lift, find, penalties};
use melmo::drive::{Options, Stop, run};
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::operator::{Boundary, Convolution, Difference2d, Identity, Jet, LinOp, Mask};
use melmo::penalty::{Blocks, Group, LogSum, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{LeastSquares, MaskedLeastSquares, Smooth};
use melmo::solver::{Adaptive, Smoothing};
use melmo_cuda::Device;

use crate::emulator::machine;
use crate::laws::compare;

/// A penalty by name.
pub fn penalty<S: Real>(name: &str, lift: &Lift<S>, range: &Layout) -> Box<dyn Prox<S>> {
    let rows = penalties::<S>();
    let row = find("penalty", &rows, name).unwrap();
    (row.build)(&Arguments::defaults(&row.entry).unwrap(), lift, range).unwrap()
}

/// ½‖M⊙(x − y)‖², a penalty by name, and T.
fn proximity<S: Real>(t: Box<dyn LinOp<S>>, name: &str, lift: &Lift<S>, masked: bool) -> Problem<S> {
    let (layout, g) = (t.domain().clone(), penalty(name, lift, t.range()));
    let n = layout.size();
    let mask = (0..n).map(|i| S::of(f64::from(i % 5 != 0))).collect();
    let f = MaskedLeastSquares::new(layout, Seeded::new(3).normals(n), masked.then_some(mask)).unwrap();
    Problem::from_boxes(Box::new(f), g, t).unwrap()
}

fn convolution<S: Real>(boundary: Boundary) -> Convolution<S> {
    let kernel: Vec<S> = Seeded::new(8).normals(12);
    Convolution::new((13, 11), &kernel, (3, 4), boundary).unwrap()
}

/// Colour: first and second differences with penalties of their own, locally weighted, as `denoise` has them.
pub fn colour<S: Real>(rows: usize, cols: usize, channels: usize) -> Problem<S> {
    let t = Jet::new(rows, cols, channels, 0.5).unwrap();
    let columns = |slope: f64, theta: f64, components: usize| -> Box<dyn Prox<S>> {
        let weights = (0..rows * cols).map(|i| S::of(f64::from(i as u32 % 4) / 2.0)).collect();
        let layout = Layout::matrix(components * channels, rows * cols).unwrap();
        let group = Group::columns(LogSum::new(slope * theta, theta).unwrap(), &layout).unwrap();
        Box::new(group.weighted(weights).unwrap())
    };
    let parts = vec![("first", 1.0, columns(0.5, 2.0, 2)), ("second", 0.7, columns(0.6, 4.0, 3))];
    let g = Blocks::new(LinOp::<S>::range(&t), parts).unwrap();
    let layout = LinOp::<S>::domain(&t).clone();
    let f = MaskedLeastSquares::new(layout.clone(), Seeded::new(3).normals(layout.size()), None).unwrap();
    Problem::new(f, g, t).unwrap()
}

/// A problem with each of the other operators, and with a convolution in the loss.
pub fn every_link() -> Vec<(&'static str, Problem<f64>)> {
    let t: Box<dyn LinOp<f64>> = Box::new(convolution(Boundary::Reflect));
    let mask = Mask::new(Layout::matrix(8, 6).unwrap(), vec![1.0; 48]).unwrap();
    vec![
        ("convolution", proximity(t, "mcp", &Lift::Entries, true)),
        ("mask", proximity(Box::new(mask), "log-sum", &Lift::Rows, false)),
        ("blurred", blurred(Boundary::Zero)),
    ]
}

/// ½‖Kx − y‖² and total variation.
fn blurred(boundary: Boundary) -> Problem<f64> {
    let f: Box<dyn Smooth<f64>> =
        Box::new(LeastSquares::new(Box::new(convolution(boundary)), Seeded::new(4).normals(143)).unwrap());
    let t = Difference2d::new(13, 11).unwrap();
    let g = penalty("l1", &Lift::Pixels, LinOp::<f64>::range(&t));
    Problem::from_boxes(f, g, Box::new(t)).unwrap()
}

#[test]
fn pictures_in_colour_with_second_differences() {
    for (rows, cols) in [(1, 1), (1, 5), (5, 1), (2, 2), (3, 3), (9, 14)] {
        compare(&format!("colour {rows}×{cols}"), &colour::<f64>(rows, cols, 3), Norm::L2);
    }
    compare("grey", &colour::<f32>(17, 19, 1), Norm::L2);
    let jet = || Box::new(Jet::new(7, 9, 3, 0.0).unwrap());
    compare("total variation", &proximity::<f64>(jet(), "mcp", &Lift::Columns, true), Norm::Linf);
    compare("each difference", &proximity::<f64>(jet(), "mcp", &Lift::Entries, false), Norm::L2);
}

#[test]
fn masks_and_convolutions() {
    for boundary in [Boundary::Zero, Boundary::Periodic, Boundary::Reflect] {
        let t = Box::new(convolution::<f64>(boundary));
        compare(&format!("T, {boundary:?}"), &proximity(t, "mcp", &Lift::Entries, false), Norm::L2);
        compare(&format!("f, {boundary:?}"), &blurred(boundary), Norm::L2);
    }
    let layout = Layout::matrix(8, 6).unwrap();
    let seen = (0..48).map(|i| f64::from(i % 3 != 1)).collect();
    let t = Box::new(Mask::new(layout, seen).unwrap());
    compare("mask", &proximity(t, "l1", &Lift::Entries, true), Norm::L1);
}

#[test]
fn rows_columns_and_groups() {
    let identity = |rows, cols| Box::new(Identity::new(Layout::matrix(rows, cols).unwrap()));
    for (rows, cols) in [(6, 9), (3, 200), (200, 3)] {
        let name = format!("{rows}×{cols}");
        compare(
            &format!("rows of {name}"),
            &proximity::<f64>(identity(rows, cols), "l1", &Lift::Rows, false),
            Norm::L2,
        );
        let weights = (0..cols).map(|j| f64::from(j as u32 % 3)).collect();
        let columns = Lift::Columns.weighted(weights);
        compare(
            &format!("columns of {name}"),
            &proximity::<f64>(identity(rows, cols), "mcp", &columns, true),
            Norm::L2,
        );
    }
    let some: Vec<Vec<usize>> = vec![vec![0, 7, 3], (20..120).rev().step_by(2).collect(), vec![130]];
    let given = proximity::<f64>(identity(12, 12), "scad", &Lift::Groups(some), false);
    compare("groups", &given, Norm::Linf);
    let t = Box::new(Difference2d::new(7, 8).unwrap());
    compare("rows of differences", &proximity::<f32>(t, "l1", &Lift::Rows, false), Norm::L2);
}

/// A run in colour, certified there and verified here.
#[test]
fn a_picture_in_colour_is_solved() {
    let problem = colour::<f32>(24, 20, 3);
    let Some(machine) = machine() else { return };
    let norms = for_layout::<f32>(Norm::L2, problem.layout(), Oracle::Auto).unwrap().norms();
    let x0: Vec<f32> = Seeded::new(6).normals(problem.layout().size());
    let space = Device::new(&problem, norms, machine).unwrap();
    let mut solver = Adaptive::on(space, Smoothing::new::<f32>(problem.default_beta()), &x0).unwrap();
    let report = run(&mut solver, &Options::new(Stop { tolerance: Some(1e-4), ..Stop::after(2000) }), &mut []);
    let verified = report.certificate.unwrap().verify(&problem, &report.x, 1e-4).unwrap();
    assert!(verified.passed(), "{:?} {verified:?}", report.status);
}
