//! A volume's certificate, made where its f32 points are, and verified in f64 strip by strip.

use melmo::block::Layout;
use melmo::certificate::{Asked, Claim};
use melmo::error::Error;
use melmo::geometry::euclidean;
use melmo::operator::{Difference3d, LinOp};
use melmo::penalty::{Group, L1};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::schedule::Power;
use melmo::seeded::Seeded;
use melmo::smooth::MaskedLeastSquares;
use melmo::solver::{Melmo, Solver};
use melmo_cuda::Device;
use melmo_mpi::{Piece, verify_in_strips};

use crate::emulator::machine;

const SHAPE: [usize; 3] = [11, 6, 9];

fn slices<R: Real>(y: &[f32], piece: &Piece) -> Result<Problem<R>, Error> {
    let [_, rows, cols] = SHAPE;
    let held = &y[piece.held.start * rows * cols..piece.held.end * rows * cols];
    let f = Layout::matrix(piece.held.len() * rows, cols).and_then(|layout| {
        MaskedLeastSquares::new(layout, held.iter().map(|&v| R::of(f64::from(v))).collect(), None)
    })?;
    let t = Difference3d::new(piece.held.len(), rows, cols)?;
    let g = Group::pixels(L1::new(0.2)?, LinOp::<R>::range(&t))?;
    Problem::new(f, g, t)
}

#[test]
fn what_the_device_says_in_f32_is_verified_in_f64_in_strips() {
    let Some(machine) = machine() else { return };
    let depth = SHAPE[0];
    let y: Vec<f32> = Seeded::new(9).normals(SHAPE.iter().product());
    let problem = slices::<f32>(&y, &Piece::of(depth, 1, 0, 1)).unwrap();
    let norms = euclidean::<f32>(problem.layout()).norms();
    let device = Device::new(&problem, norms.clone(), machine).unwrap();
    let mut solver = Melmo::on(device, Power::balanced(0.5), &y).unwrap();
    solver.by_ref().take(30).for_each(drop);
    let proven = solver.proven(&norms);
    let claim = Claim { dual_norm: Some(proven.dual_norm), prox_gap: Some(proven.prox_gap), gap: proven.gap };
    let certificate = solver.certificate(Asked { claim: Some(claim), ..Asked::default() }).unwrap();
    assert!(certificate.gap().is_some());
    let x = solver.x();
    let verify = |x: &[f32], count| {
        verify_in_strips::<f32, f64>(&certificate, x, (depth, count), 1e-4, |piece| slices(&y, piece)).unwrap()
    };
    for count in [1, 3, depth] {
        let found = verify(&x, count);
        assert!(found.passed(), "{count}: {found:?}");
    }
    let mut moved = x;
    moved[100] += 2.0;
    assert!(!verify(&moved, 3).passed());
}
