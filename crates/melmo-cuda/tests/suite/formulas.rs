//! Penalties whose blocks have formulas of their own; of groups of factors; and ψ′ that is piecewise linear.

use melmo::block::Layout;
use melmo::catalogue::Lift;
use melmo::geometry::Norm;
use melmo::operator::{Identity, Jet, LinOp};
use melmo::penalty::{Blocks, Entrywise, L1, Nonnegative, Prox, Spline};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::seeded::Seeded;
use melmo::smooth::{Factorization, MaskedLeastSquares, RobustPca, Smooth};
use melmo_cuda::Arithmetic;

use crate::chains::penalty;
use crate::laws::compare;
use crate::matrices::{SHAPE, certified, same_batch, same_loss};

fn blocks<S: Real>(layout: &Layout, parts: &[(&str, f64, &str, Lift<S>)]) -> Blocks<S> {
    let parts = parts.iter().map(|(name, weight, of, lift)| {
        let block = layout.require(name).unwrap();
        (*name, *weight, penalty(of, lift, &Layout::matrix(block.rows, block.cols).unwrap()))
    });
    Blocks::new(layout, parts.collect()).unwrap()
}

fn of_blocks(parts: &[(&str, f64, &str, Lift<f64>)]) -> Problem<f64> {
    let layout = Layout::new([("a", 3, 7), ("b", 4, 5), ("c", 2, 3)]).unwrap();
    let f = MaskedLeastSquares::new(layout.clone(), Seeded::new(3).normals(47), None).unwrap();
    Problem::new(f, blocks(&layout, parts), Identity::new(layout)).unwrap()
}

/// A block without a penalty, and one with half of one.
#[test]
fn blocks_of_one_formula() {
    compare("blocks", &of_blocks(&[("b", 0.5, "l1", Lift::Entries), ("c", 1.0, "l1", Lift::Rows)]), Norm::L2);
}

/// Every formula beside another one; the same formula with a sign and without; three at once.
#[test]
fn blocks_of_several_formulas() {
    for of in ["mcp", "scad", "huber", "log-sum", "elastic-net", "ridge", "box", "spline"] {
        let beside = [("b", 0.5, "l1", Lift::Entries), ("c", 1.0, of, Lift::Entries)];
        compare(&format!("l1 and {of}"), &of_blocks(&beside), Norm::L2);
    }
    let signs = [("a", 1.0, "mcp", Lift::Nonnegative), ("b", 2.0, "mcp", Lift::Rows)];
    compare("signs", &of_blocks(&signs), Norm::L2);
    let three =
        [("a", 0.3, "spline", Lift::Columns), ("b", 1.0, "ridge", Lift::Entries), ("c", 0.7, "scad", Lift::Rows)];
    compare("three", &of_blocks(&three), Norm::L2);
}

/// First differences under one ψ, second ones under another.
pub fn picture() -> Problem<f32> {
    let t = Jet::new(11, 9, 3, 0.5).unwrap();
    let (layout, range) = (LinOp::<f32>::domain(&t).clone(), LinOp::<f32>::range(&t).clone());
    let names: Vec<&str> = range.blocks().iter().map(|block| &*block.name).collect();
    let of = |name, weight, of| (name, weight, of, Lift::Columns);
    let g = blocks(&range, &[of(names[0], 1.0, "mcp"), of(names[1], 0.7, "spline")]);
    let f = MaskedLeastSquares::new(layout.clone(), Seeded::new(3).normals(layout.size()), None).unwrap();
    Problem::new(f, g, t).unwrap()
}

#[test]
fn differences_of_two_formulas() {
    compare("a picture", &picture(), Norm::L2);
}

/// Twelve knots, up and down and up again: every piece is stood on.
#[test]
fn splines_of_many_pieces() {
    let knots: Vec<f64> = (1..=12).map(|j| 0.3 * f64::from(j)).collect();
    let values: Vec<f64> = knots.iter().map(|t| 1.0 + (2.0 * t).sin()).collect();
    let layout = Layout::matrix(19, 24).unwrap();
    let y: Vec<f64> = Seeded::new(3).normals(456).into_iter().map(|v: f64| 3.0 * v).collect();
    for (knots, values) in [(&knots[..], &values[..]), (&[0.4][..], &[0.7][..])] {
        let g = Entrywise::new(Spline::new(knots, values).unwrap(), 456);
        let f = MaskedLeastSquares::new(layout.clone(), y.clone(), None).unwrap();
        compare("spline", &Problem::new(f, g, Identity::new(layout.clone())).unwrap(), Norm::L2);
    }
}

/// ‖Y − WH‖² with a penalty of W's rows and another one of H's entries.
pub fn factors<S: Real>(masked: bool) -> (Problem<S>, Vec<S>) {
    let [rows, cols, rank] = SHAPE;
    let y = Seeded::new(6).normals(rows * cols);
    let mask = (0..rows * cols).map(|i| S::of(f64::from(i % 5 != 0))).collect();
    let f = match masked {
        true => Factorization::masked(y, mask, rows, cols, rank).unwrap(),
        false => Factorization::new(y, rows, cols, rank).unwrap().ridge(0.2).unwrap(),
    };
    let layout = f.layout().clone();
    let g = blocks(&layout, &[("W", 0.8, "mcp", Lift::Rows), ("H", 1.0, "elastic-net", Lift::Entries)]);
    (Problem::new(f, g, Identity::new(layout)).unwrap(), Seeded::new(5).normals((rows + cols) * rank))
}

/// ½‖M⊙(Y − L − S)‖² with a penalty of L's entries, and of S's columns or signs.
fn sums<S: Real>(masked: bool, columns: bool) -> (Problem<S>, Vec<S>) {
    let (rows, cols) = (23, 31);
    let n = rows * cols;
    let mask = (0..n).map(|i| S::of(f64::from(i % 4 != 1))).collect();
    let f = RobustPca::new(Seeded::new(7).normals(n), rows, cols, masked.then_some(mask)).unwrap();
    let layout = f.layout().clone();
    let on_s: Box<dyn Prox<S>> = match columns {
        true => penalty("l1", &Lift::Columns, &Layout::matrix(rows, cols).unwrap()),
        false => Box::new(Entrywise::new(Nonnegative, n)),
    };
    let on_l: Box<dyn Prox<S>> = Box::new(Entrywise::new(L1::new(0.3).unwrap(), n));
    let g = Blocks::new(&layout, vec![("L", 0.5, on_l), ("S", 1.0, on_s)]).unwrap();
    let x = Seeded::new(8).normals::<S>(2 * n).into_iter().map(|v| v.abs()).collect();
    (Problem::new(f, g, Identity::new(layout)).unwrap(), x)
}

#[test]
fn losses_of_products_with_penalties_of_groups() {
    for masked in [false, true] {
        same_loss("factors", factors::<f64>(masked), Arithmetic::Auto);
        same_loss("factors", factors::<f32>(masked), Arithmetic::Auto);
        same_loss("L + S", sums::<f64>(masked, true), Arithmetic::Auto);
        same_loss("L + S", sums::<f32>(masked, false), Arithmetic::Auto);
    }
    same_batch(factors::<f64>(true), &[3, 3, 40, 0, 3]);
}

#[test]
fn runs_with_penalties_of_groups_are_certified() {
    certified(factors::<f64>(false), &[(Norm::Spectral, 1.0), (Norm::L2, 0.5)], 1e-6);
    certified(factors::<f32>(true), &[(Norm::Row, 1.0), (Norm::L2, 2.0)], 1e-3);
    certified(sums::<f64>(false, true), &[(Norm::Spectral, 1.0), (Norm::L1, 1.0)], 1e-6);
}
