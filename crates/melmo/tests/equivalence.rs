//! Two ways to the same numbers.

use melmo::block::Layout;
use melmo::catalogue::{Arguments, geometries, methods};
use melmo::error::Error;
use melmo::geometry::{Geometry, L2, Norm, Oracle, Product, for_block, for_layout};
use melmo::operator::{Dense, Difference2d, Identity, LinOp, Select};
use melmo::penalty::{Entrywise, Group, L1, Mcp, Prox};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::schedule::Power;
use melmo::seeded::Seeded;
use melmo::smooth::{EntryFactors, EntryLoss, Factorization, LeastSquares, MaskedLeastSquares, Smooth};
use melmo::solver::{Melmo, Solver, State};
use melmo::sparse::{Csr, Misfit};
use serde_json::{Value, json};

use crate::support::entries::known_entries;
use crate::support::parts::low_rank_plus_sparse;

fn layout() -> Layout {
    Layout::matrix(9, 7).unwrap()
}

/// Recovery of a masked 9×7 matrix.
fn masked<S: Real>() -> (Problem<S>, Vec<S>) {
    let mut seeded = Seeded::new(5);
    let (y, mask) = (seeded.normals::<S>(63), seeded.mask::<S>(63, 0.7));
    let f = MaskedLeastSquares::new(layout(), y, Some(mask)).unwrap();
    let g = Entrywise::new(Mcp::new(0.2, 2.0).unwrap(), 63);
    (Problem::new(f, g, Identity::new(layout())).unwrap(), seeded.normals(63))
}

fn factorisation<S: Real>() -> (Problem<S>, Vec<S>) {
    let mut seeded = Seeded::new(6);
    let f = Factorization::new(seeded.normals::<S>(63), 9, 7, 3).unwrap();
    let t = Select::new(f.layout(), &["W"]).unwrap();
    let x0 = seeded.normals(f.layout().size());
    (Problem::new(f, Entrywise::new(Mcp::new(0.5, 3.0).unwrap(), 27), t).unwrap(), x0)
}

fn known<S: Real>() -> (Problem<S>, Vec<S>) {
    known_entries(9, 7, 3)
}

fn low_rank_and_sparse<S: Real>() -> (Problem<S>, Vec<S>) {
    low_rank_plus_sparse((9, 7), [1.0, 0.3].map(|lambda| Mcp::new(lambda, 3.0).unwrap()))
}

/// A jump costs as much as it is high: a program in disguise.
fn bent_lines<S: Real>() -> (Problem<S>, Vec<S>) {
    let mut seeded = Seeded::new(7);
    let f = MaskedLeastSquares::new(layout(), seeded.normals::<S>(63), None).unwrap();
    let g = Entrywise::new(L1::new(0.3).unwrap(), 126);
    (Problem::new(f, g, Difference2d::new(9, 7).unwrap()).unwrap(), seeded.normals(63))
}

fn both_factors<S: Real>() -> (Problem<S>, Vec<S>) {
    let mut seeded = Seeded::new(6);
    let f = Factorization::new(seeded.normals::<S>(63), 9, 7, 3).unwrap();
    let (layout, x0) = (f.layout().clone(), seeded.normals(f.layout().size()));
    (Problem::new(f, Entrywise::new(Mcp::new(0.5, 3.0).unwrap(), 48), Identity::new(layout)).unwrap(), x0)
}

fn yes_or_no<S: Real>() -> (Problem<S>, Vec<S>) {
    let entries = (0..63u32).filter(|at| at % 3 != 0).map(|at| (at / 7, at % 7, S::of(f64::from(at * 5 % 4 / 2))));
    let entries = Csr::from_entries(9, 7, entries, |_, _, _| Err(Misfit("twice".into()))).unwrap();
    let f = EntryFactors::new(entries, EntryLoss::Logistic, 3).unwrap().ridge(0.1).unwrap();
    let (layout, x0) = (f.layout().clone(), Seeded::new(6).normals(f.layout().size()));
    (Problem::new(f, Entrywise::new(Mcp::new(0.1, 3.0).unwrap(), 48), Identity::new(layout)).unwrap(), x0)
}

fn regression<S: Real>() -> (Problem<S>, Vec<S>) {
    let mut seeded = Seeded::new(7);
    let f = LeastSquares::new(Box::new(Dense::new(seeded.normals::<S>(12 * 20), 12, 20).unwrap()), seeded.normals(12));
    let (f, g) = (f.unwrap(), Entrywise::new(Mcp::new(1.0, 3.0).unwrap(), 20));
    let layout = f.layout().clone();
    (Problem::new(f, g, Identity::new(layout)).unwrap(), seeded.normals(20))
}

fn differences<S: Real>() -> (Problem<S>, Vec<S>) {
    let mut seeded = Seeded::new(7);
    let f = MaskedLeastSquares::new(layout(), seeded.normals::<S>(63), None).unwrap();
    let g = Entrywise::new(Mcp::new(0.3, 2.0).unwrap(), 126);
    (Problem::new(f, g, Difference2d::new(9, 7).unwrap()).unwrap(), seeded.normals(63))
}

/// So many points, or fewer where the method has come to its end.
fn points<S: Real>(solver: &mut dyn Solver<S>, steps: usize) -> Vec<Vec<S>> {
    (0..steps).map_while(|_| solver.next().map(|_| solver.x())).collect()
}

fn farthest<S: Real>(a: &[Vec<S>], b: &[Vec<S>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a.f64() - b.f64()).abs()).fold(0.0, f64::max)
}

#[test]
fn a_product_of_one_block_is_the_block() {
    let (problem, x0) = masked::<f64>();
    for norm in Norm::ALL {
        let block = &layout().blocks()[0].clone();
        let alone = for_block(norm, block, Oracle::Auto).unwrap();
        let product = Product::new(&layout(), vec![for_block(norm, block, Oracle::Auto).unwrap()]).unwrap();
        let mut a = Melmo::new(&problem, alone, Power::balanced(1.0), &x0).unwrap();
        let mut b = Melmo::new(&problem, Box::new(product), Power::balanced(1.0), &x0).unwrap();
        assert_eq!(points(&mut a, 30), points(&mut b, 30), "{norm}");
    }
}

#[test]
fn l2_on_one_block_is_the_normalised_gradient() {
    let (problem, x0) = masked::<f64>();
    let geometry = Box::new(L2::new(&layout().blocks()[0]));
    let mut solver = Melmo::new(&problem, geometry, Power::balanced(1.0), &x0).unwrap();
    let found = points(&mut solver, 40);
    let (mut x, mut by_hand) = (x0.clone(), vec![x0.clone()]);
    let (mut phi, mut work) = (vec![0.0; 63], vec![0.0; problem.work_len()]);
    for k in 1..40 {
        problem.smoothed_gradient(&mut phi, &x, f64::from(k).powf(-1.0 / 3.0), &mut work);
        let length = phi.iter().map(|v| v * v).sum::<f64>().sqrt();
        x.iter_mut().zip(&phi).for_each(|(x, phi)| *x -= f64::from(k).powf(-7.0 / 12.0) * phi / length);
        by_hand.push(x.clone());
    }
    assert!(farthest(&found, &by_hand) < 1e-12);
}

#[test]
fn spectral_on_a_vector_is_l2() {
    for (rows, cols) in [(30, 1), (1, 30)] {
        let layout = Layout::matrix(rows, cols).unwrap();
        let y: Vec<f64> = Seeded::new(1).normals(30);
        let f = MaskedLeastSquares::new(layout.clone(), y, None).unwrap();
        let g = Entrywise::new(L1::new(0.3).unwrap(), 30);
        let problem = Problem::new(f, g, Identity::new(layout.clone())).unwrap();
        let [mut a, mut b] = [Norm::Spectral, Norm::L2].map(|norm| {
            let geometry = for_layout(norm, &layout, Oracle::Auto).unwrap();
            Melmo::new(&problem, geometry, Power::balanced(1.0), &[0.0; 30]).unwrap()
        });
        assert!(farthest(&points(&mut a, 30), &points(&mut b, 30)) < 1e-12);
    }
}

#[test]
fn a_dense_identity_is_the_identity() {
    let n = 12;
    let eye: Vec<f64> = (0..n * n).map(|i| if i / n == i % n { 1.0 } else { 0.0 }).collect();
    let mut seeded = Seeded::new(3);
    let (y, x0): (Vec<f64>, Vec<f64>) = (seeded.normals(n), seeded.normals(n));
    let layout = Layout::vector(n).unwrap();
    let problem = |t: Box<dyn LinOp<f64>>| {
        let f = MaskedLeastSquares::new(layout.clone(), y.clone(), None).unwrap();
        let g = Entrywise::new(Mcp::new(0.3, 2.0).unwrap(), n);
        Problem::from_boxes(Box::new(f), Box::new(g), t).unwrap()
    };
    let problems =
        [problem(Box::new(Identity::new(layout.clone()))), problem(Box::new(Dense::new(eye, n, n).unwrap()))];
    let [a, b] = [0, 1].map(|i| {
        let geometry = for_layout(Norm::L2, &layout, Oracle::Auto).unwrap();
        points(&mut Melmo::new(&problems[i], geometry, Power::balanced(1.0), &x0).unwrap(), 40)
    });
    assert!(farthest(&a, &b) < 1e-13);
}

type MakePenalty<S> = fn(&Layout, Vec<S>, Mcp) -> Box<dyn Prox<S>>;

/// The streamed pass over an image against T, g and T* called one after another: both losses, both kinds of TV.
fn streamed_is_chained<S: Real>(tolerance: f64) {
    for (rows, cols) in [(1, 1), (1, 9), (9, 1), (2, 2), (17, 23)] {
        let n = rows * cols;
        let mut seeded = Seeded::new(7);
        let (y, mask, x): (Vec<S>, Vec<S>, Vec<S>) = (seeded.normals(n), seeded.mask(n, 0.6), seeded.normals(n));
        let layout = Layout::matrix(rows, cols).unwrap();
        let t = Difference2d::new(rows, cols).unwrap();
        let range = LinOp::<S>::range(&t).clone();
        let mcp = Mcp::new(0.5, 2.0).unwrap();
        let weights: Vec<S> = (0..2 * n).map(|i| S::of(0.2 + 0.1 * (i % 7) as f64)).collect();
        let penalties: [MakePenalty<S>; 3] = [
            |range, _, mcp| Box::new(Entrywise::new(mcp, range.size())),
            |_, weights, mcp| Box::new(Entrywise::weighted(mcp, weights).unwrap()),
            |range, _, mcp| Box::new(Group::pixels(mcp, range).unwrap()),
        ];
        let losses: [&dyn Fn() -> Box<dyn Smooth<S>>; 3] = [
            &|| Box::new(MaskedLeastSquares::new(layout.clone(), y.clone(), None).unwrap()),
            &|| Box::new(MaskedLeastSquares::new(layout.clone(), y.clone(), Some(mask.clone())).unwrap()),
            &|| Box::new(LeastSquares::new(Box::new(Identity::new(layout.clone())), y.clone()).unwrap()),
        ];
        for penalty in penalties {
            for loss in losses {
                let make = || {
                    let g = penalty(&range, weights.clone(), mcp);
                    Problem::from_boxes(loss(), g, Box::new(t.clone())).unwrap()
                };
                let evaluate = |problem: Problem<S>| {
                    let (mut grad, mut work) = (vec![S::of(3.0); n], vec![S::of(2.0); problem.work_len()]);
                    let found = problem.smoothed_gradient(&mut grad, &x, 0.7, &mut work);
                    let values = [problem.envelope(&x, 0.7, &mut work), problem.penalty(&x, &mut work)];
                    (grad, [found.f, found.slope_squared, values[0], values[1]])
                };
                let (a, b) = (evaluate(make()), evaluate(make().chained()));
                assert!(farthest(&[a.0], &[b.0]) <= tolerance, "{rows}×{cols}");
                for (a, b) in a.1.into_iter().zip(b.1) {
                    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{rows}×{cols}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn streamed_is_chained_f64() {
    streamed_is_chained::<f64>(1e-13);
}

#[test]
fn streamed_is_chained_f32() {
    streamed_is_chained::<f32>(1e-5);
}

fn start<'p, S: Real>(method: &str, norm: Norm, problem: &'p Problem<S>, x0: &[S]) -> Box<dyn Solver<S> + 'p> {
    try_start(method, norm, problem, x0).unwrap()
}

/// `None` when it is not a method for this problem.
fn try_start<'p, S: Real>(
    method: &str,
    norm: Norm,
    problem: &'p Problem<S>,
    x0: &[S],
) -> Option<Box<dyn Solver<S> + 'p>> {
    let rows = methods::<S>();
    let row = melmo::catalogue::find("method", &rows, method).unwrap();
    let given: &[(&str, f64)] = if method == "variable-smoothing" { &[("lipschitz", 1e3)] } else { &[] };
    let geometry: Box<dyn Geometry<S>> = for_layout(norm, problem.layout(), Oracle::Auto).unwrap();
    match (row.build)(&Arguments::new(&row.entry, given).unwrap(), problem, geometry, x0) {
        Err(Error::Unsupported(_)) => None,
        built => Some(built.unwrap()),
    }
}

fn single_follows_double((problem, x0): (Problem<f64>, Vec<f64>), (problem32, x0_32): (Problem<f32>, Vec<f32>)) {
    for row in methods::<f64>() {
        for norm in [Norm::L2, Norm::Row, Norm::Column, Norm::L1] {
            if try_start(row.entry.name, norm, &problem, &x0).is_none() {
                continue;
            }
            let double = points(&mut *start(row.entry.name, norm, &problem, &x0), 20);
            let single = points(&mut *start(row.entry.name, norm, &problem32, &x0_32), 20);
            let single: Vec<Vec<f64>> = single.iter().map(|x| x.iter().map(|v| f64::from(*v)).collect()).collect();
            assert!(farthest(&double, &single) < 1e-3, "{} {norm}: {}", row.entry.name, farthest(&double, &single));
        }
    }
}

#[test]
fn single_precision_follows_double() {
    single_follows_double(masked(), masked());
}

/// A run that is saved as text, dropped and restored goes on with the same bits: every method, every geometry.
fn saved_and_restored<S: Real>(make: fn() -> (Problem<S>, Vec<S>)) -> Vec<&'static str> {
    let ((problem, x0), mut ran) = (make(), Vec::new());
    for row in methods::<S>() {
        for geometry in geometries::<S>() {
            if !row.uses_geometry && geometry.norm != Norm::L2 {
                continue;
            }
            if try_start(row.entry.name, geometry.norm, &problem, &x0).is_none() {
                continue;
            }
            ran.push(row.entry.name);
            let name = format!("{} {}", row.entry.name, geometry.entry.name);
            let Some(mut whole) = try_start(row.entry.name, geometry.norm, &problem, &x0) else { continue };
            let uninterrupted = points(&mut *whole, 40);
            assert!(uninterrupted.len() > 7, "{name} ended after {}", uninterrupted.len());
            for cut in [0, 1, 2, 7, 15, 16] {
                let mut first = start(row.entry.name, geometry.norm, &problem, &x0);
                points(&mut *first, cut);
                let text = serde_json::to_string(&first.save()).unwrap();
                drop(first);
                let state: State<S> = serde_json::from_str(&text).unwrap();
                // Another start: everything that matters is in the state.
                let elsewhere: Vec<S> = x0.iter().map(|&v| v + S::ONE).collect();
                let mut second = start(row.entry.name, geometry.norm, &problem, &elsewhere);
                points(&mut *second, 3);
                second.restore(&state).unwrap();
                let rest = points(&mut *second, 40 - cut);
                assert_eq!(rest, uninterrupted.get(cut..).unwrap_or_default(), "{name}, cut after {cut}");
            }
        }
    }
    ran
}

/// Where a state has numbers: all that have a name, and the first of every buffer.
fn numbers(state: &Value) -> Vec<String> {
    let named: Vec<(String, &Value)> = match state {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(values) => values.first().map(|value| ("0".into(), value)).into_iter().collect(),
        Value::Number(_) => return vec![String::new()],
        _ => vec![],
    };
    named
        .into_iter()
        .flat_map(|(name, value)| numbers(value).into_iter().map(move |at| format!("/{name}{at}")))
        .collect()
}

/// Counts that are none, or so large that counting on would overflow, are refused; whatever is accepted goes on.
fn damaged_and_restored<S: Real>(make: fn() -> (Problem<S>, Vec<S>)) {
    let (problem, x0) = make();
    for row in methods::<S>() {
        let Some(mut first) = try_start(row.entry.name, Norm::L2, &problem, &x0) else { continue };
        points(&mut *first, 7);
        let state = serde_json::to_value(first.save()).unwrap();
        for bad in [json!(-1), json!(0.5), json!(1_000_000_000_000_000u64), json!(u64::MAX), json!(1e16), json!(1e300)]
        {
            for at in numbers(&state) {
                let mut damaged = state.clone();
                *damaged.pointer_mut(&at).unwrap() = bad.clone();
                // What is no number of its kind is no state at all.
                let Ok(damaged) = serde_json::from_value::<State<S>>(damaged) else { continue };
                let mut second = start(row.entry.name, Norm::L2, &problem, &x0);
                let accepted = second.restore(&damaged).is_ok();
                assert!(at != "/k" || damaged.k < 1 << 53 || !accepted, "{}: k = {bad}", row.entry.name);
                if accepted {
                    let _ = second.by_ref().take(3).count();
                    assert!(second.x().iter().all(|x| x.is_finite()), "{}: {at}, {bad}", row.entry.name);
                }
            }
        }
    }
}

#[test]
fn damaged_states_are_refused_or_go_on() {
    for make in [masked, differences, bent_lines, low_rank_and_sparse, factorisation, known, regression] {
        damaged_and_restored::<f64>(make);
    }
}

#[test]
fn saved_and_restored_is_uninterrupted() {
    let problems = [masked, differences, bent_lines, factorisation, both_factors, yes_or_no, known, regression];
    let ran =
        [problems.map(saved_and_restored::<f64>).concat(), saved_and_restored::<f64>(low_rank_and_sparse)].concat();
    assert!(methods::<f64>().iter().all(|row| ran.contains(&row.entry.name)), "a method for none of the problems");
    saved_and_restored::<f32>(masked);
    saved_and_restored::<f32>(factorisation);
    saved_and_restored::<f32>(regression);
}

/// The nuclear oracle of a large block starts from its last answer: that memory is part of the state.
#[test]
fn warm_starts_are_saved() {
    let layout = Layout::matrix(120, 100).unwrap();
    let mut seeded = Seeded::new(9);
    let f = MaskedLeastSquares::new(layout.clone(), seeded.normals(12_000), None).unwrap();
    let g = Entrywise::new(L1::new(0.1).unwrap(), 12_000);
    let problem = Problem::new(f, g, Identity::new(layout)).unwrap();
    let x0 = vec![0.0; 12_000];
    let uninterrupted = points(&mut *start("melmo", Norm::Nuclear, &problem, &x0), 12);
    for cut in [0, 1, 5] {
        let mut first = start("melmo", Norm::Nuclear, &problem, &x0);
        points(&mut *first, cut);
        let state = first.save();
        let saved = serde_json::to_value(&state).unwrap();
        let warm_start = saved.pointer("/memo/melmo/place/warm_start").and_then(Value::as_array).unwrap();
        assert_eq!(warm_start.is_empty(), cut == 0);
        // The same solver, some steps later: nothing of its other life may remain.
        points(&mut *first, 4);
        first.restore(&state).unwrap();
        assert_eq!(points(&mut *first, 12 - cut), uninterrupted[cut..], "cut after {cut}");
    }
}
