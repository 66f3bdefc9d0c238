//! A volume's certificate: made on the GPU in f32, verified on the processor in f64, in strips that fit into the memory that is given.

use std::time::Instant;

use melmo::block::Layout;
use melmo::certificate::{Asked, Certificate, Claim};
use melmo::error::Error;
use melmo::geometry::euclidean;
use melmo::operator::{Difference3d, LinOp};
use melmo::penalty::{Group, L1};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::schedule::Power;
use melmo::smooth::MaskedLeastSquares;
use melmo::solver::{Melmo, Solver};
use melmo_cuda::{Device, Gpu};
use melmo_mpi::{Piece, strips_within, verify_in_strips};

use crate::{scene_from, target};

/// Total variation, which is convex: so there is a gap. The slices from `first` on of a cube of f32 data.
fn slices<R: Real>(first: usize, count: usize, side: usize) -> Result<Problem<R>, Error> {
    let y = scene_from::<f32>(first * side * side, count * side * side, side);
    let y = y.into_iter().map(|v| R::of(f64::from(v))).collect();
    let t = Difference3d::new(count, side, side)?;
    let f = MaskedLeastSquares::new(Layout::matrix(count * side, side)?, y, None)?;
    let g = Group::pixels(L1::new(0.2)?, LinOp::<R>::range(&t))?;
    Problem::new(f, g, t)
}

/// A few steps on a cube, its certificate with what it proves as its claim, and every number of it recomputed.
pub fn verified(name: &str, side: usize, gibibytes: usize) {
    let (certificate, x) = made(name, side);
    let began = Instant::now();
    let count = strips_within::<f64>(gibibytes << 30, side, side * side, 3).expect("a slice fits");
    let tolerance = Certificate::<f32>::default_tolerance();
    let make = |piece: &Piece| slices::<f64>(piece.held.start, piece.held.len(), side);
    let found = verify_in_strips(&certificate, &x, (side, count), tolerance, make).unwrap();
    println!("{:<28} {:>9.1} s in {count} strips of f64, {gibibytes} GiB", "  verified", began.elapsed().as_secs_f64());
    for check in &found.checks {
        println!("    {}: {:e}, {:e} ± {:e}: {}", check.what, check.left, check.right, check.slack, check.holds);
    }
    assert!(found.passed());
}

fn made(name: &str, side: usize) -> (Certificate<f32>, Vec<f32>) {
    let problem = slices::<f32>(0, side, side).unwrap();
    let norms = euclidean::<f32>(problem.layout()).norms();
    let space = Device::new(&problem, norms.clone(), Gpu::open(0).unwrap()).unwrap();
    let mut solver = Melmo::on(space, Power::balanced(1.0), target(&problem)).unwrap();
    solver.by_ref().take(20).for_each(|info| assert!(info.finite));
    let began = Instant::now();
    let proven = solver.proven(&norms);
    let claim = Claim { dual_norm: Some(proven.dual_norm), prox_gap: Some(proven.prox_gap), gap: proven.gap };
    let certificate = solver.certificate(Asked { claim: Some(claim), ..Asked::default() }).unwrap();
    println!("{name:<28} {:>9.3} s: a certificate after 20 steps", began.elapsed().as_secs_f64());
    (certificate, solver.x())
}
