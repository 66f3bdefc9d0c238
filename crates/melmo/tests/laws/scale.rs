//! The scale law: with Y → cY, λ → cλ, x₀ → cx₀, γ → cγ, iterates scale by c and F by c².

use melmo::block::Layout;
use melmo::catalogue::{Arguments, Lift, find, penalties};
use melmo::geometry::{Norm, Oracle, for_layout};
use melmo::operator::{Difference2d, LinOp};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::schedule::Power;
use melmo::seeded::Seeded;
use melmo::smooth::MaskedLeastSquares;
use melmo::solver::{Melmo, Solver};

use super::{distance, norm};

fn end_point<S: Real>(penalty: &str, norm: Norm, c: f64) -> (Vec<S>, f64) {
    let (rows, cols) = (8, 6);
    let y: Vec<S> = Seeded::new(3).normals::<f64>(rows * cols).iter().map(|v| S::of(c * v)).collect();
    let t = Difference2d::new(rows, cols).unwrap();
    let all = penalties::<S>();
    let row = find("penalty", &all, penalty).unwrap();
    let arguments = Arguments::new(&row.entry, &[("lambda", 0.3 * c)]).unwrap();
    let range = LinOp::<S>::range(&t).clone();
    let g = (row.build)(&arguments, &Lift::Entries, &range).unwrap();
    let f = MaskedLeastSquares::new(Layout::matrix(rows, cols).unwrap(), y.clone(), None).unwrap();
    let problem = Problem::from_boxes(Box::new(f), g, Box::new(t)).unwrap();
    let schedule = Power { gamma: c, ..Power::balanced(0.5) };
    let geometry = for_layout(norm, problem.layout(), Oracle::Auto).unwrap();
    let mut solver = Melmo::new(&problem, geometry, schedule, &y).unwrap();
    solver.by_ref().take(30).for_each(drop);
    (solver.x(), solver.objective())
}

fn scale_law<S: Real>(tolerance: f64) {
    for penalty in ["l1", "mcp", "scad"] {
        // Rows and columns whose gradient nearly vanishes turn with the last digit: there only powers of two, which
        // change no digit, say anything.
        for (geometry, factors) in
            [(Norm::L2, [255.0, 0.125]), (Norm::Row, [256.0, 0.125]), (Norm::Column, [256.0, 0.125])]
        {
            let (x, objective) = end_point::<S>(penalty, geometry, 1.0);
            for c in factors {
                let (scaled, scaled_objective) = end_point::<S>(penalty, geometry, c);
                let back: Vec<S> = scaled.iter().map(|v| S::of(v.f64() / c)).collect();
                assert!(distance(&back, &x) <= tolerance * norm(&x), "{penalty} {geometry} ×{c}");
                let ratio = scaled_objective / (c * c * objective);
                assert!((ratio - 1.0).abs() <= tolerance, "{penalty} {geometry} ×{c}: F ratio {ratio}");
            }
        }
    }
}

#[test]
fn scale_law_f64() {
    scale_law::<f64>(1e-11);
}

#[test]
fn scale_law_f32() {
    scale_law::<f32>(1e-3);
}
