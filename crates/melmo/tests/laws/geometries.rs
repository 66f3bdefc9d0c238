//! Direction, dual norm and bracket of every geometry and every spectral oracle, on a zoo of gradients.

use melmo::block::Layout;
use melmo::catalogue::{geometries, oracles};
use melmo::geometry::{Geometry, Norm, Oracle, Product, for_block, product_dual, product_equivalence, product_primal};
use melmo::real::Real;
use melmo::seeded::Seeded;

use super::{dot, norm};

fn every_oracle() -> Vec<Oracle> {
    let mut all: Vec<Oracle> = oracles().into_iter().map(|(oracle, _)| oracle).collect();
    all.extend((1..6).map(Oracle::NewtonSchulz));
    all.extend([5, 12].map(|steps| Oracle::Minimax { steps }));
    all
}

/// Every geometry on one block; the spectral one with every oracle.
fn subjects<S: Real>(layout: &Layout) -> Vec<(String, Box<dyn Geometry<S>>)> {
    let block = &layout.blocks()[0];
    let mut subjects = Vec::new();
    for row in geometries::<S>() {
        let oracles = if row.norm == Norm::Spectral { every_oracle() } else { vec![Oracle::Auto] };
        for oracle in oracles {
            let name = format!("{} {oracle} {}×{}", row.entry.name, block.rows, block.cols);
            subjects.push((name, (row.build)(block, oracle).unwrap()));
        }
    }
    subjects
}

/// A gradient with the given singular values, as U diag(σ) Vᵀ of two random orthonormal families.
fn with_singular_values<S: Real>(rows: usize, cols: usize, sigma: &[f64], seed: u64) -> Vec<S> {
    let mut seeded = Seeded::new(seed);
    let mut family = |len: usize| -> Vec<Vec<f64>> {
        let mut vectors: Vec<Vec<f64>> = Vec::new();
        for _ in sigma {
            let mut v: Vec<f64> = seeded.normals(len);
            for _ in 0..2 {
                for w in &vectors {
                    let overlap = dot(&v, w);
                    v.iter_mut().zip(w).for_each(|(v, w)| *v -= overlap * w);
                }
            }
            let length = norm(&v);
            vectors.push(v.iter().map(|v| v / length).collect());
        }
        vectors
    };
    let (u, v) = (family(rows), family(cols));
    let entry = |i: usize, j: usize| -> f64 { sigma.iter().zip(&u).zip(&v).map(|((s, u), v)| s * u[i] * v[j]).sum() };
    (0..rows * cols).map(|at| S::of(entry(at / cols, at % cols))).collect()
}

/// Ordinary, zero, tiny, huge, rank-deficient, ill-conditioned.
fn zoo<S: Real>(rows: usize, cols: usize) -> Vec<(&'static str, Vec<S>)> {
    let n = rows * cols;
    let size = rows.min(cols);
    let (tiny, huge) = if S::EPSILON > 1e-10 { (1e-30, 1e30) } else { (1e-250, 1e250) };
    let mut seeded = Seeded::new(31);
    let mut scaled = |scale: f64| -> Vec<S> { (0..n).map(|_| S::of(scale * seeded.normal())).collect() };
    let mut zoo = vec![
        ("ordinary", scaled(1.0)),
        ("zero", vec![S::ZERO; n]),
        ("tiny", scaled(tiny)),
        ("huge", scaled(huge)),
        ("one entry", (0..n).map(|i| if i == n / 2 { S::of(-2.0) } else { S::ZERO }).collect()),
        ("rank one", with_singular_values(rows, cols, &[3.0], 5)),
    ];
    let decay =
        |ratio: f64| -> Vec<f64> { (0..size).map(|i| ratio.powf(i as f64 / (size.max(2) - 1) as f64)).collect() };
    zoo.push(("mildly conditioned", with_singular_values(rows, cols, &decay(1e-2), 6)));
    zoo.push(("ill-conditioned", with_singular_values(rows, cols, &decay(1e-12), 7)));
    if size > 2 {
        zoo.push(("rank-deficient", with_singular_values(rows, cols, &decay(0.5)[..size - 2], 8)));
    }
    zoo
}

const SHAPES: [(usize, usize); 8] = [(12, 5), (5, 12), (9, 9), (1, 8), (8, 1), (1, 1), (40, 16), (100, 90)];

fn answers_hold<S: Real>() {
    let rounding = if S::EPSILON > 1e-10 { 2e-4 } else { 1e-9 };
    for (rows, cols) in SHAPES {
        let layout = Layout::matrix(rows, cols).unwrap();
        for (name, mut geometry) in subjects::<S>(&layout) {
            let norms = geometry.norms();
            for (kind, phi) in zoo::<S>(rows, cols) {
                let proven = product_dual(&norms, &phi).unwrap();
                let exact = proven.middle();
                let mut d = vec![S::of(5.0); phi.len()];
                let answer = geometry.lmo(&mut d, &phi);
                let context = format!("{name} {}, {kind}: {answer:?}, exact {exact:e}", S::NAME);
                assert!(d.iter().all(|v| v.is_finite()), "{context}");
                if exact == 0.0 {
                    assert!(d.iter().all(|&v| v == S::ZERO), "{context}: d must be 0");
                    assert_eq!((answer.dual_norm.lower, answer.dual_norm.upper), (0.0, 0.0), "{context}");
                    continue;
                }
                let slack = rounding * exact;
                // Both hold the truth, so they have a point in common; the proven one is 10⁻⁹ wide at most.
                let bracket = answer.dual_norm;
                assert!(bracket.lower <= proven.upper && proven.lower <= bracket.upper, "{context}: {proven:?}");
                assert!(proven.upper - proven.lower <= 1e-9 * exact, "{context}: {proven:?}");
                let length = product_primal(&norms, &d).unwrap().upper;
                assert!(length <= 1.0 + answer.excess + rounding, "{context}: ‖d‖ = {length}");
                let decrease = -dot(&phi, &d);
                assert!((decrease - answer.decrease).abs() <= slack, "{context}: ⟨φ,−d⟩ = {decrease:e}");
                assert!(decrease >= (1.0 - answer.eta()) * exact - slack, "{context}: η");
                assert!(decrease <= (1.0 + answer.excess) * exact + slack, "{context}");
                let again = geometry.dual_norm(&phi);
                assert!((again - exact).abs() <= slack, "{context}: dual_norm() = {again:e}");
                let c = product_equivalence(&norms).unwrap();
                let euclid = melmo::vector::norm2(&phi);
                assert!(euclid <= c.c1 * exact * (1.0 + rounding), "{context}: c₁");
                assert!(length <= c.c3 * melmo::vector::norm2(&d) * (1.0 + rounding), "{context}: c₃");
            }
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

/// How good each oracle's direction is on ordinary gradients: exact ones exact, six Newton–Schulz steps within .005, `auto` within .015.
#[test]
fn oracles_are_as_good_as_stated() {
    let layout = Layout::matrix(40, 24).unwrap();
    let phi: Vec<f64> = Seeded::new(17).normals(layout.size());
    for (name, mut geometry) in subjects::<f64>(&layout) {
        let exact = product_dual(&geometry.norms(), &phi).unwrap().middle();
        let mut d = vec![0.0; phi.len()];
        geometry.lmo(&mut d, &phi);
        let loss = 1.0 + dot(&phi, &d) / exact;
        let allowed = match &*name {
            n if n.contains("newton-schulz:6") => 0.005,
            n if n.contains("newton-schulz") => 1.0,
            n if n.contains("minimax:5") => 0.1,
            n if n.contains("minimax") => 1e-4,
            n if n.contains("auto") => 0.015,
            _ => 1e-9,
        };
        assert!(loss <= allowed, "{name}: η = {loss:e}");
    }
}

/// A power of two changes exponents only: from the same start, the direction stays the same to rounding.
fn scaling_by_powers_of_two<S: Real>() {
    let exponents: &[i32] = if S::EPSILON > 1e-10 { &[-90, -7, 60] } else { &[-700, -40, 3, 600] };
    for (rows, cols) in SHAPES {
        let layout = Layout::matrix(rows, cols).unwrap();
        let phi: Vec<S> = Seeded::new(23).normals(rows * cols);
        for (name, mut geometry) in subjects::<S>(&layout) {
            let mut d = vec![S::ZERO; phi.len()];
            let start = geometry.warm_start();
            geometry.lmo(&mut d, &phi);
            for &exponent in exponents {
                geometry.resume(&start);
                let scaled: Vec<S> = phi.iter().map(|v| S::of(v.f64() * 2f64.powi(exponent))).collect();
                let mut again = vec![S::ZERO; phi.len()];
                geometry.lmo(&mut again, &scaled);
                let apart = d.iter().zip(&again).map(|(a, b)| (a.f64() - b.f64()).abs()).fold(0.0, f64::max);
                let tolerance = if S::EPSILON > 1e-10 { 1e-4 } else { 1e-9 };
                assert!(apart <= tolerance, "{name} {}: 2^{exponent} moves d by {apart:e}", S::NAME);
            }
        }
    }
}

#[test]
fn scaling_by_powers_of_two_f64() {
    scaling_by_powers_of_two::<f64>();
}

#[test]
fn scaling_by_powers_of_two_f32() {
    scaling_by_powers_of_two::<f32>();
}

#[test]
fn not_a_number_is_shown_and_does_no_harm() {
    for (rows, cols) in SHAPES {
        let layout = Layout::matrix(rows, cols).unwrap();
        for bad in [f64::NAN, f64::INFINITY] {
            let mut phi: Vec<f64> = Seeded::new(1).normals(rows * cols);
            phi[rows * cols / 2] = bad;
            for (name, mut geometry) in subjects::<f64>(&layout) {
                let upper = geometry.oracle(&phi).dual_norm.upper;
                assert!(!upper.is_finite(), "{name}: {bad} went unnoticed, upper = {upper}");
                let fine: Vec<f64> = Seeded::new(2).normals(rows * cols);
                assert!(geometry.oracle(&fine).dual_norm.upper.is_finite(), "{name}: does not recover");
            }
        }
    }
}

#[test]
fn products_of_different_norms_and_radii() {
    let layout = Layout::new([("W", 7, 3), ("H", 3, 5), ("b", 4, 1)]).unwrap();
    let norms = [Norm::Spectral, Norm::Linf, Norm::L1];
    let parts = layout.blocks().iter().zip(norms).map(|(b, n)| for_block::<f64>(n, b, Oracle::Svd).unwrap()).collect();
    let mut product = Product::with_radii(&layout, parts, &[2.0, 0.5, 3.0]).unwrap();
    let phi: Vec<f64> = Seeded::new(41).normals(layout.size());
    let mut d = vec![0.0; phi.len()];
    let answer = product.lmo(&mut d, &phi);
    let norms = product.norms();
    let exact = product_dual(&norms, &phi).unwrap().middle();
    assert!((answer.decrease - exact).abs() < 1e-10 && (dot(&phi, &d) + exact).abs() < 1e-10);
    assert!((product_primal(&norms, &d).unwrap().middle() - 1.0).abs() < 1e-10);
    assert!((product.dual_norm(&phi) - exact).abs() < 1e-10);
}
