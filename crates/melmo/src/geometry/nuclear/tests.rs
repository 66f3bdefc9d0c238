//! Both ways to the leading pair, against the SVD and the golden table.

use super::*;
use crate::block::Layout;
use crate::linalg::{Dense, Mat};
use crate::seeded::Seeded;

/// The last three are found by iteration.
const SHAPES: [(usize, usize); 9] =
    [(12, 5), (5, 12), (9, 9), (1, 8), (8, 1), (1, 1), (100, 90), (90, 130), (101, 101)];

fn nuclear<S: Real>(rows: usize, cols: usize) -> Nuclear<S> {
    Nuclear::new(&Layout::matrix(rows, cols).unwrap().blocks()[0]).unwrap()
}

fn singular_values<S: Real>(x: &[S], rows: usize, cols: usize) -> Vec<f64> {
    let scale = vector::power_of_two_scale::<f64>(vector::norm_inf(x));
    let x: Vec<f64> = x.iter().map(|v| v.f64() * scale).collect();
    let (mut values, mut work) = (vec![0.0; rows.min(cols)], vec![0.0; f64::singular_values_work_len(rows, cols)]);
    assert!(f64::singular_values(&mut values, Mat::new(&x, rows, cols), &mut work));
    values.iter().map(|v| v / scale).collect()
}

/// Flat, decaying, clustered and degenerate spectra, tiny and huge.
fn zoo<S: Real>(rows: usize, cols: usize) -> Vec<(&'static str, Vec<S>)> {
    let normals: Vec<f64> = Seeded::new(3).normals(rows * cols);
    let (tiny, huge) = if S::EPSILON > 1e-10 { (1e-36, 1e36) } else { (1e-300, 1e300) };
    let map = |f: &dyn Fn(usize, usize, f64) -> f64| -> Vec<S> {
        normals.iter().enumerate().map(|(at, &v)| S::of(f(at / cols, at % cols, v))).collect()
    };
    let diagonal = |i: usize, j: usize, v: f64| if i == j { v } else { 0.0 };
    vec![
        ("flat", map(&|_, _, v| v)),
        ("tiny", map(&|_, _, v| tiny * v)),
        ("huge", map(&|_, _, v| huge * v)),
        ("decaying", map(&|_, j, v| v * 0.7f64.powi(j as i32))),
        ("clustered", map(&|i, j, v| 1e-3 * v + diagonal(i, j, if i < 7 { 1.0 } else { 0.9 }))),
        ("equal singular values", map(&|i, j, _| diagonal(i, j, 2.0))),
        ("one entry", map(&|i, j, _| if (i, j) == (rows / 2, cols / 2) { -2.0 } else { 0.0 })),
        ("rank one", map(&|i, j, _| (1.0 + i as f64) * (j as f64 - 0.4))),
    ]
}

fn answers_hold<S: Real>() {
    let rounding = 100.0 * S::EPSILON;
    for (rows, cols) in SHAPES {
        let mut geometry = nuclear::<S>(rows, cols);
        for (kind, phi) in zoo::<S>(rows, cols) {
            let exact = singular_values(&phi, rows, cols)[0];
            let mut d = vec![S::ZERO; phi.len()];
            let answer = geometry.lmo(&mut d, &phi);
            let context = format!("{rows}×{cols} {}, {kind}: exact {exact:e}, {answer:?}", S::NAME);
            let Bracket { lower, upper } = answer.dual_norm;
            assert!(lower <= exact * (1.0 + 1e-13) && exact <= upper * (1.0 + 1e-13), "{context}");
            assert!(upper - lower <= 2.0 * LOOSE * exact, "{context}: not tight");
            let decrease = -phi.iter().zip(&d).map(|(a, b)| a.f64() * b.f64()).sum::<f64>();
            assert!((decrease - answer.decrease).abs() <= rounding * exact, "{context}: ⟨φ,−d⟩ = {decrease:e}");
            assert!(decrease >= exact * (1.0 - 1e-9 - rounding), "{context}: not the leading pair");
            let length: f64 = singular_values(&d, rows, cols).iter().sum();
            assert!(length <= 1.0 + answer.excess + 10.0 * rounding, "{context}: ‖d‖ = {length}");
            let again = geometry.dual_norm(&phi);
            assert!((again - exact).abs() <= 1e-12 * exact, "{context}: dual_norm() = {again:e}");
        }
    }
}

#[test]
fn answers_hold_f64() {
    answers_hold::<f64>();
}

#[test]
fn answers_hold_f32() {
    answers_hold::<f32>();
}

/// ‖φᵀφv − σ²v‖/σ² for the direction d = ∓uvᵀ that was found, v being the vector of the short side: a row of d, or a
/// column when it is wide.
fn residual(phi: &[f64], d: &[f64], rows: usize, cols: usize) -> f64 {
    let at = (0..d.len()).max_by(|&i, &j| d[i].abs().total_cmp(&d[j].abs())).unwrap();
    let (row, column) = (at / cols, at % cols);
    let v: Vec<f64> = match rows >= cols {
        true => d[row * cols..(row + 1) * cols].to_vec(),
        false => d.iter().skip(column).step_by(cols).copied().collect(),
    };
    let length = vector::norm2(&v);
    let v: Vec<f64> = v.iter().map(|v| v / length).collect();
    let (mut w, mut long) = (vec![0.0; rows.min(cols)], vec![0.0; rows.max(cols)]);
    product::normal(&mut w, &mut long, Shape { rows, cols }, phi, &v);
    let squared = vector::dot(&w, &v);
    vector::axpy(&mut w, -squared, &v);
    vector::norm2(&w) / squared
}

/// Flat spectra take single precision, decaying ones do not; both keep the residual, and without single precision all
/// digits are there.
#[test]
fn the_tolerance_is_kept() {
    for (rows, cols) in [(90, 81), (100, 120), (200, 200), (300, 190)] {
        for (tolerance, allowed, gap) in [(1e-6, 1.5e-6, 1e-4), (1e-9, 1e-9, 1e-6), (1e-12, 1.2e-12, 2e-8)] {
            let block = Layout::matrix(rows, cols).unwrap().blocks()[0].clone();
            let mut geometry = Nuclear::<f64>::with_tolerance(&block, tolerance).unwrap();
            for (kind, phi) in zoo::<f64>(rows, cols) {
                if kind == "tiny" || kind == "huge" {
                    continue;
                }
                let mut d = vec![0.0; rows * cols];
                let answer = geometry.lmo(&mut d, &phi);
                let exact = singular_values(&phi, rows, cols)[0];
                let context = format!("{rows}×{cols} {kind} {tolerance:e}: exact {exact:e}, {answer:?}");
                let residual = residual(&phi, &d, rows, cols);
                assert!(residual <= allowed, "{context}: residual {residual:e}");
                let Bracket { lower, upper } = answer.dual_norm;
                assert!(lower <= exact * (1.0 + 1e-13) && exact <= upper * (1.0 + 1e-13), "{context}");
                assert!(upper - lower <= gap * exact, "{context}: not tight");
                assert!(answer.decrease >= exact * (1.0 - 1e-13 - tolerance * 1e-2), "{context}");
            }
        }
    }
}

/// Also where single precision has no room: 10⁻³²⁰ cannot be scaled to 1.
#[test]
fn the_smallest_numbers_are_bracketed() {
    let normals: Vec<f64> = Seeded::new(3).normals(100 * 100);
    let phi: Vec<f64> = normals.iter().map(|v| v * 1e-315).collect();
    let exact: Vec<f64> = phi.iter().map(|v| v * 1e300).collect();
    let exact = singular_values(&exact, 100, 100)[0];
    let Bracket { lower, upper } = nuclear::<f64>(100, 100).oracle(&phi).dual_norm;
    assert!(lower * 1e300 <= exact * (1.0 + 1e-7) && exact <= upper * 1e300 * (1.0 + 1e-7));
}

#[test]
fn zero_and_what_is_not_finite() {
    for (rows, cols) in SHAPES {
        let mut geometry = nuclear::<f64>(rows, cols);
        let mut d = vec![1.0; rows * cols];
        assert_eq!(geometry.lmo(&mut d, &vec![0.0; rows * cols]), Answer::exact(0.0));
        assert!(d.iter().all(|&v| v == 0.0) && geometry.dual_norm(&d) == 0.0);
        for bad in [f64::NAN, f64::INFINITY] {
            let mut phi: Vec<f64> = Seeded::new(1).normals(rows * cols);
            phi[rows * cols / 2] = bad;
            let answer = geometry.lmo(&mut d, &phi);
            assert!(answer.dual_norm.lower.is_nan() && answer.dual_norm.upper.is_nan());
            assert!(geometry.dual_norm(&phi).is_nan() && d.iter().all(|&v| v == 0.0));
        }
        let fine: Vec<f64> = Seeded::new(1).normals(rows * cols);
        assert!(geometry.oracle(&fine).dual_norm.upper.is_finite());
    }
}

/// The last answer is an exact singular vector of the new matrix, but another one leads now.
#[test]
fn a_start_that_is_a_wrong_singular_vector_is_left() {
    let n = 120;
    let leading = |at: usize| -> Vec<f64> {
        (0..n * n).map(|i| if i / n != i % n { 0.0 } else { if i / n == at { 2.0 } else { 1.0 } }).collect()
    };
    let mut geometry = nuclear::<f64>(n, n);
    for at in [3, 50, 119] {
        assert!((geometry.oracle(&leading(at)).decrease - 2.0).abs() < 1e-9);
    }
}

#[test]
fn a_resumed_run_is_the_same_run() {
    for (rows, cols) in [(100, 90), (90, 130)] {
        let phi = |k: usize| -> Vec<f32> {
            let noise: Vec<f32> = Seeded::new(k as u64).normals(rows * cols);
            noise.iter().enumerate().map(|(i, v)| 0.1 * v + ((i * i) as f32 * 0.1).sin()).collect()
        };
        let mut first = nuclear::<f32>(rows, cols);
        assert_eq!(first.warm_start().len(), rows.min(cols));
        for k in 0..5 {
            first.oracle(&phi(k));
        }
        let mut second = nuclear::<f32>(rows, cols);
        second.resume(&first.warm_start());
        for k in 4..8 {
            let (mut a, mut b) = (vec![0.0; rows * cols], vec![0.0; rows * cols]);
            if k > 4 {
                first.oracle(&phi(k));
            }
            first.advance(&mut a, &vec![0.0; rows * cols], &phi(k), 1.0);
            second.lmo(&mut b, &phi(k));
            assert_eq!(a, b, "call {k}");
            assert_eq!(first.warm_start(), second.warm_start());
        }
    }
    assert!(nuclear::<f64>(12, 5).warm_start().is_empty());
}

#[test]
fn nonsense_is_refused() {
    let layout = Layout::matrix(3, 4).unwrap();
    for tolerance in [0.0, -1.0, 0.2, f64::NAN] {
        assert!(matches!(Nuclear::<f64>::with_tolerance(&layout.blocks()[0], tolerance), Err(Error::Parameter { .. })));
    }
}

#[test]
fn golden_table() {
    let folder = format!("{}/tests/golden/oracle-table", env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(format!("{folder}/rows.json")).unwrap();
    let table: Vec<serde_json::Value> = serde_json::from_str(&table).unwrap();
    for row in table.iter().filter(|row| row["geom"] == "nuclear") {
        let (name, expected) = (row["phi"].as_str().unwrap(), row["dual_norm"].as_f64().unwrap());
        let file = npyz::NpyFile::new(std::fs::File::open(format!("{folder}/{name}.npy")).unwrap()).unwrap();
        assert_eq!(file.order(), npyz::Order::C);
        let (rows, cols) = (file.shape()[0] as usize, file.shape()[1] as usize);
        let phi: Vec<f64> = file.into_vec().unwrap();
        let mut geometry = nuclear::<f64>(rows, cols);
        let mut d = vec![0.0; phi.len()];
        let answer = geometry.lmo(&mut d, &phi);
        assert!((answer.decrease - expected).abs() <= 1e-12 * expected, "{name}: {answer:?}");
        assert!((vector::dot(&phi, &d) + expected).abs() <= 1e-12 * expected, "{name}");
        assert!((geometry.dual_norm(&phi) - expected).abs() <= 1e-12 * expected, "{name}");
    }
}
