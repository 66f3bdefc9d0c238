//! Every oracle on every kind of matrix, against the SVD and the golden table.

use super::*;
use crate::block::Layout;
use crate::linalg::{Dense, Into, Mat};
use crate::seeded::Seeded;

const SHAPES: [(usize, usize); 9] = [(12, 5), (5, 12), (9, 9), (1, 8), (8, 1), (1, 1), (70, 20), (20, 101), (90, 80)];

fn oracles() -> Vec<Oracle> {
    let polynomials = (1..=6).map(Oracle::NewtonSchulz).chain((1..=16).map(|steps| Oracle::Minimax { steps }));
    let single = [4, 8, 12].map(|steps| Oracle::MinimaxSingle { steps });
    polynomials.chain(single).chain([Oracle::Auto, Oracle::Gram, Oracle::Svd]).collect()
}

fn spectral<S: Real>(rows: usize, cols: usize, oracle: Oracle) -> Spectral<S> {
    Spectral::new(&Layout::matrix(rows, cols).unwrap().blocks()[0], oracle).unwrap()
}

/// Σσᵢ and σ₁ of the matrix by the SVD in `f64`, after scaling by a power of two.
fn singular_sums<S: Real>(x: &[S], rows: usize, cols: usize) -> (f64, f64) {
    let largest = vector::norm_inf(x);
    if largest == 0.0 {
        return (0.0, 0.0);
    }
    let scale = vector::power_of_two_scale::<f64>(largest);
    let x: Vec<f64> = x.iter().map(|v| v.f64() * scale).collect();
    let mut values = vec![0.0; rows.min(cols)];
    let mut work = vec![0.0; f64::singular_values_work_len(rows, cols)];
    assert!(f64::singular_values(&mut values, Mat::new(&x, rows, cols), &mut work));
    (values.iter().sum::<f64>() / scale, values[0] / scale)
}

/// A matrix whose columns, or rows, shrink from 1 to `least`: about as ill-conditioned as that.
fn graded<S: Real>(rows: usize, cols: usize, least: f64, seed: u64) -> Vec<S> {
    let mut x: Vec<f64> = Seeded::new(seed).normals(rows * cols);
    let last = (rows.min(cols) - 1).max(1) as f64;
    for (at, x) in x.iter_mut().enumerate() {
        let i = if rows >= cols { at % cols } else { at / cols };
        *x *= least.powf(i as f64 / last);
    }
    x.into_iter().map(S::of).collect()
}

/// A product of two thin matrices.
fn low_rank<S: Real>(rows: usize, cols: usize, rank: usize, seed: u64) -> Vec<S> {
    let (a, b): (Vec<f64>, Vec<f64>) =
        (Seeded::new(seed).normals(rows * rank), Seeded::new(seed + 1).normals(rank * cols));
    let mut x = vec![0.0; rows * cols];
    f64::gemm(&mut x, Into::Replace, 1.0, Mat::new(&a, rows, rank), Mat::new(&b, rank, cols));
    x.into_iter().map(S::of).collect()
}

fn zoo<S: Real>(rows: usize, cols: usize) -> Vec<(&'static str, Vec<S>)> {
    let single = S::EPSILON > 1e-10;
    let (tiny, huge) = if single { (1e-36, 1e36) } else { (1e-300, 1e300) };
    let scaled =
        |c: f64| -> Vec<S> { Seeded::new(31).normals::<f64>(rows * cols).iter().map(|v| S::of(c * v)).collect() };
    let mut dead = scaled(1.0);
    dead.iter_mut().step_by(cols).for_each(|v| *v = S::ZERO);
    let equal = (0..rows * cols).map(|i| if i / cols == i % cols { S::of(3.0) } else { S::ZERO }).collect();
    vec![
        ("ordinary", scaled(1.0)),
        ("tiny", scaled(tiny)),
        ("huge", scaled(huge)),
        ("nearly nothing", scaled(if single { 1e-42 } else { 1e-305 })),
        ("one column dead", dead),
        ("equal singular values", equal),
        ("rank one", low_rank(rows, cols, 1, 5)),
        ("low rank", low_rank(rows, cols, rows.min(cols).div_ceil(2), 7)),
        ("graded to 1e-3", graded(rows, cols, 1e-3, 1)),
        ("graded to 1e-6", graded(rows, cols, 1e-6, 2)),
        ("graded to 1e-12", graded(rows, cols, 1e-12, 3)),
    ]
}

/// The bracket holds ‖φ‖_*, ⟨φ, d⟩ is what the answer says, ‖d‖ ≤ 1 + ξ.
fn answers_hold<S: Real>() {
    let rounding = if S::EPSILON > 1e-10 { 1e-6 } else { 1e-13 };
    for (rows, cols) in SHAPES {
        for oracle in oracles() {
            let mut geometry = spectral::<S>(rows, cols, oracle);
            for (kind, phi) in zoo::<S>(rows, cols) {
                let (exact, _) = singular_sums(&phi, rows, cols);
                if exact == 0.0 {
                    continue;
                }
                let mut d = vec![S::ZERO; phi.len()];
                let answer = geometry.lmo(&mut d, &phi);
                let context = format!("{oracle} {}, {rows}×{cols} {kind}: exact {exact:e}, {answer:?}", S::NAME);
                let Bracket { lower, upper } = answer.dual_norm;
                // Nothing but the rounding of the reference: the bracket itself accounts for the oracle's.
                assert!(lower <= exact * (1.0 + 1e-13) && exact <= upper * (1.0 + 1e-13), "{context}");
                let length = singular_sums(&d, rows, cols).1;
                assert!(length <= 1.0 + answer.excess + rounding, "{context}: ‖d‖ = {length}");
                let decrease = -phi.iter().zip(&d).map(|(a, b)| a.f64() * b.f64()).sum::<f64>();
                assert!((decrease - answer.decrease).abs() <= 1e-13 * exact, "{context}: ⟨φ,−d⟩ = {decrease:e}");
                assert!(decrease >= (1.0 - answer.eta()) * exact * (1.0 - 1e-13), "{context}: η");
                if matches!(oracle, Oracle::Gram | Oracle::Svd) {
                    // Singular values below long·ε of the data are taken for rounding errors.
                    let dropped = 4.0 * rows.max(cols) as f64 * S::EPSILON;
                    assert!(decrease >= exact * (1.0 - 3e-8 - dropped), "{context}: not exact");
                    assert!(upper - lower <= (1e-9 + dropped) * exact, "{context}: not tight");
                }
                let again = geometry.dual_norm(&phi);
                assert!((again - exact).abs() <= 1e-12 * exact, "{context}: dual_norm() = {again:e}");
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

#[test]
fn zero_and_what_is_not_finite() {
    for (rows, cols) in SHAPES {
        for oracle in oracles() {
            let mut geometry = spectral::<f64>(rows, cols, oracle);
            let mut d = vec![1.0; rows * cols];
            assert_eq!(geometry.lmo(&mut d, &vec![0.0; rows * cols]), Answer::exact(0.0));
            assert!(d.iter().all(|&v| v == 0.0) && geometry.dual_norm(&d) == 0.0);
            for bad in [f64::NAN, f64::INFINITY] {
                let mut phi: Vec<f64> = Seeded::new(1).normals(rows * cols);
                phi[rows * cols / 2] = bad;
                let answer = geometry.lmo(&mut d, &phi);
                assert!(answer.dual_norm.lower.is_nan() && answer.dual_norm.upper.is_nan(), "{oracle}: {answer:?}");
                assert!(geometry.dual_norm(&phi).is_nan() && d.iter().all(|&v| v == 0.0));
            }
        }
    }
}

#[test]
fn powers_of_two_leave_the_direction_alone() {
    for (rows, cols) in SHAPES {
        let phi: Vec<f64> = Seeded::new(23).normals(rows * cols);
        for oracle in oracles() {
            let mut geometry = spectral::<f64>(rows, cols, oracle);
            let (mut d, mut again) = (vec![0.0; phi.len()], vec![0.0; phi.len()]);
            geometry.lmo(&mut d, &phi);
            for exponent in [-990, -300, -7, 3, 300, 1000] {
                let scaled: Vec<f64> = phi.iter().map(|v| v * 2f64.powi(exponent)).collect();
                geometry.lmo(&mut again, &scaled);
                let apart = d.iter().zip(&again).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart <= 1e-9, "{oracle} {rows}×{cols}: 2^{exponent} moves d by {apart:e}");
            }
        }
    }
}

#[test]
fn auto_goes_by_shape_and_precision() {
    let (steps, auto) = (4, Oracle::Auto);
    assert_eq!(spectral::<f64>(256, 30, auto).method(), Oracle::Minimax { steps: 6 });
    assert_eq!(spectral::<f32>(256, 30, auto).method(), Oracle::Gram);
    assert_eq!(spectral::<f64>(256, 4, auto).method(), Oracle::Gram);
    assert_eq!(spectral::<f64>(200, 600, auto).method(), Oracle::Gram);
    assert_eq!(spectral::<f64>(8, 8, auto).method(), Oracle::Gram);
    assert_eq!(spectral::<f64>(9, 9, auto).method(), Oracle::MinimaxSingle { steps });
    assert_eq!(spectral::<f64>(200, 300, auto).method(), Oracle::MinimaxSingle { steps });
    assert_eq!(spectral::<f32>(200, 200, auto).method(), Oracle::Minimax { steps });
}

/// Few steps are enough for nearly equal singular values; a φ that needs more gets them.
#[test]
fn brackets_of_auto_are_tight() {
    for (rows, cols) in [(9, 9), (12, 12), (77, 77), (90, 80), (150, 200), (256, 256), (256, 30)] {
        let mut geometry = spectral::<f64>(rows, cols, Oracle::Auto);
        for (kind, phi) in zoo::<f64>(rows, cols) {
            let Bracket { lower, upper } = geometry.oracle(&phi).dual_norm;
            let most = if kind == "ordinary" { 1.03 } else { 1.08 };
            assert!(upper <= most * lower, "{rows}×{cols} {kind}: {lower:e} {upper:e}");
        }
    }
    let rank_one = low_rank(77, 77, 1, 5);
    let fixed = spectral::<f64>(77, 77, Oracle::MinimaxSingle { steps: 4 }).oracle(&rank_one).dual_norm;
    assert!(fixed.upper > 1.3 * fixed.lower, "four steps are enough: {fixed:?}");
}

fn golden(name: &str) -> (Vec<f64>, usize, usize) {
    let path = format!("{}/tests/golden/oracle-table/{name}.npy", env!("CARGO_MANIFEST_DIR"));
    let file = npyz::NpyFile::new(std::fs::File::open(path).unwrap()).unwrap();
    let (rows, cols) = (file.shape()[0] as usize, file.shape()[1] as usize);
    let by_columns = file.order() == npyz::Order::Fortran;
    let data: Vec<f64> = file.into_vec().unwrap();
    let at = |i: usize| if by_columns { data[i % cols * rows + i / cols] } else { data[i] };
    ((0..rows * cols).map(at).collect(), rows, cols)
}

const GOLDEN: [&str; 8] = ["tall", "wide", "square", "rank3", "row", "column", "illcond", "zero"];

#[test]
fn golden_newton_schulz() {
    for name in GOLDEN {
        let (phi, rows, cols) = golden(name);
        for steps in 1..=6 {
            let (expected, ..) = golden(&format!("{name}-ns{steps}"));
            let mut d = vec![0.0; phi.len()];
            spectral::<f64>(rows, cols, Oracle::NewtonSchulz(steps)).lmo(&mut d, &phi);
            let apart = d.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart <= 1e-9, "{name}-ns{steps}: {apart:e}");
            let (ip, golden_ip) = (vector::dot(&phi, &d), vector::dot(&phi, &expected));
            assert!((ip - golden_ip).abs() <= 1e-10 * golden_ip.abs(), "{name}-ns{steps}: {ip} {golden_ip}");
        }
    }
}

#[test]
fn golden_spectral() {
    let path = format!("{}/tests/golden/oracle-table/rows.json", env!("CARGO_MANIFEST_DIR"));
    let table: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for row in table.iter().filter(|row| row["geom"] == "spectral") {
        let name = row["phi"].as_str().unwrap();
        let expected = row["dual_norm"].as_f64().unwrap();
        let (phi, rows, cols) = golden(name);
        let (direction, ..) = golden(&format!("{name}-spectral"));
        for oracle in [Oracle::Auto, Oracle::Gram, Oracle::Svd] {
            let mut geometry = spectral::<f64>(rows, cols, oracle);
            let mut d = vec![0.0; phi.len()];
            geometry.lmo(&mut d, &phi);
            assert!((vector::dot(&phi, &d) + expected).abs() <= 1e-9 * expected, "{name} {oracle}");
            assert!((geometry.dual_norm(&phi) - expected).abs() <= 1e-11 * expected, "{name} {oracle}");
            let apart = d.iter().zip(&direction).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // The smallest singular vectors of the ill-conditioned one are known to so many digits only.
            assert!(apart <= if name == "illcond" { 1e-9 } else { 1e-12 }, "{name} {oracle}: {apart:e}");
        }
    }
}
