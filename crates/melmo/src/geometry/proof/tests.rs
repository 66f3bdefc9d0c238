//! Brackets against norms that are known better than `f64` can compute them: not one digit is forgiven.

use super::double::Double;
use super::*;
use crate::block::{Block, Layout};
use crate::geometry::{Geometry, Norm, Nuclear, Oracle, Spectral, for_block};
use crate::linalg::{Dense, Into, Mat};
use crate::seeded::Seeded;

fn block(rows: usize, cols: usize) -> Block {
    Layout::matrix(rows, cols).unwrap().blocks()[0].clone()
}

fn holds(bracket: Bracket, exact: f64, width: f64, context: &str) {
    let Bracket { lower, upper } = bracket;
    assert!(lower <= exact && exact <= upper, "{context}: {exact:e} is not in [{lower:e}, {upper:e}]");
    let wide = (upper - lower) / exact;
    assert!(wide <= width, "{context}: [{lower:e}, {upper:e}] is {wide:e} wide");
}

/// An entry of a Hadamard matrix of any power of two, without its factor.
fn hadamard(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// U diag(σ) Vᵀ with Hadamard factors of 4^k rows: for powers of two not too far apart every entry is exact.
fn with_singular_values<S: Real>(rows: usize, cols: usize, values: &[f64]) -> Vec<S> {
    let factor = 1.0 / ((rows * cols) as f64).sqrt();
    let entry = |at: usize| {
        let terms = values.iter().enumerate().map(|(k, s)| s * hadamard(at / cols, k) * hadamard(k, at % cols));
        let exact = factor * terms.sum::<f64>();
        assert_eq!(S::of(exact).f64(), exact);
        S::of(exact)
    };
    (0..rows * cols).map(entry).collect()
}

/// Powers of two: flat, falling slowly and fast, one large, one tiny, few.
fn spectra<S: Real>(n: usize) -> Vec<Vec<f64>> {
    let deepest = if S::EPSILON > 1e-10 { 14 } else { 36 };
    let power = |k: usize| 0.5f64.powi(k.min(deepest) as i32);
    let all = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
    vec![
        all(&|_| 1.0),
        all(&|k| power(k / 4)),
        all(&power),
        all(&|k| if k == 0 { 1.0 } else { power(deepest) }),
        all(&|k| if k + 1 == n { power(deepest) } else { 1.0 }),
        all(&|k| if k < 3 { power(k) } else { 0.0 }),
        all(&|k| if k < n.min(16) { 1.0 } else { 0.0 }),
        all(&|k| if k == 0 { 1.0 } else { 0.0 }),
    ]
}

const ORACLES: [Oracle; 8] = [
    Oracle::Auto,
    Oracle::NewtonSchulz(2),
    Oracle::NewtonSchulz(6),
    Oracle::Minimax { steps: 4 },
    Oracle::Minimax { steps: 8 },
    Oracle::MinimaxSingle { steps: 4 },
    Oracle::Gram,
    Oracle::Svd,
];

/// What is proven is tight and holds; what an iteration goes by holds on these too.
fn known_singular_values<S: Real>() {
    let far = if S::EPSILON > 1e-10 { 90 } else { 500 };
    for (rows, cols) in [(4, 4), (16, 16), (64, 16), (16, 64), (64, 64), (256, 64), (256, 256)] {
        let n = rows.min(cols);
        for (kind, values) in spectra::<S>(n).iter().enumerate() {
            let (sum, largest): (f64, f64) = (values.iter().sum(), values[0]);
            let phi: Vec<S> = with_singular_values(rows, cols, values);
            let scales = [1.0, 2f64.powi(far), 2f64.powi(-far)];
            for &scale in if n > 64 { &scales[..1] } else { &scales } {
                let phi: Vec<S> = phi.iter().map(|v| S::of(v.f64() * scale)).collect();
                let context = format!("{} {rows}×{cols}, spectrum {kind}, times {scale:e}", S::NAME);
                let proven = |norm: Norm| norm.dual(&phi, rows, cols).unwrap();
                holds(proven(Norm::Spectral), sum * scale, 1e-9, &format!("spectral {context}"));
                holds(proven(Norm::Nuclear), largest * scale, 1e-8, &format!("nuclear {context}"));
                let oracles = if n > 64 || scale != 1.0 { &ORACLES[..1] } else { &ORACLES[..] };
                for &oracle in oracles {
                    let answer = Spectral::<S>::new(&block(rows, cols), oracle).unwrap().oracle(&phi);
                    holds(answer.dual_norm, sum * scale, f64::INFINITY, &format!("{oracle} {context}"));
                }
                let nuclear = Nuclear::<S>::new(&block(rows, cols)).unwrap().oracle(&phi).dual_norm;
                holds(nuclear, largest * scale, f64::INFINITY, &format!("nuclear oracle {context}"));
            }
        }
    }
}

#[test]
fn known_singular_values_f64() {
    known_singular_values::<f64>();
}

#[test]
fn known_singular_values_f32() {
    known_singular_values::<f32>();
}

/// Random, graded, nearly singular, of two clusters, tiny and huge; the singular values by Jacobi's method in 106 digits.
fn against_double_precision_twice<S: Real>() {
    for (rows, cols) in [(1, 1), (1, 7), (9, 1), (9, 9), (30, 8), (8, 30), (20, 20)] {
        let normals: Vec<f64> = Seeded::new(11).normals(rows * cols);
        let (r, single) = (rows.min(cols) as f64, S::EPSILON > 1e-10);
        let along = |at: usize| if rows >= cols { at % cols } else { at / cols } as f64 / r;
        let kinds: [(&str, &dyn Fn(usize) -> f64); 7] = [
            ("random", &|_| 1.0),
            ("tiny", &|_| if single { 1e-40 } else { 1e-310 }),
            ("huge", &|_| if single { 1e37 } else { 1e305 }),
            ("graded to 1e-3", &|at| 1e-3f64.powf(along(at))),
            ("graded to 1e-9", &|at| 1e-9f64.powf(along(at))),
            ("graded to 1e-30", &|at| 1e-30f64.powf(along(at))),
            ("two clusters", &|at| if along(at) < 0.5 { 1.0 } else { 1e-7 }),
        ];
        for (kind, weight) in kinds {
            let mut phi: Vec<S> = normals.iter().enumerate().map(|(at, v)| S::of(v * weight(at))).collect();
            if kind == "two clusters" && cols > 1 {
                // Two columns that differ in the last digit.
                (0..rows).for_each(|i| phi[i * cols] = S::of(phi[i * cols + 1].f64() * (1.0 + S::EPSILON)));
            }
            let scale = power_of_two(vector::norm_inf(&phi));
            let (sum, largest) = double::singular_values(&phi, rows, cols, scale);
            let context = format!("{} {rows}×{cols} {kind}", S::NAME);
            for (norm, exact, width) in [(Norm::Spectral, sum, 1e-9), (Norm::Nuclear, largest, 1e-9)] {
                let Bracket { lower, upper } = norm.dual(&phi, rows, cols).unwrap();
                let (low, high) = (Double::from(lower * scale), Double::from(upper * scale));
                assert!(
                    (exact - low).high() >= 0.0,
                    "{context} {norm}: {lower:e} is above by {:e}",
                    (low - exact).high()
                );
                assert!(
                    (high - exact).high() >= 0.0,
                    "{context} {norm}: {upper:e} is below by {:e}",
                    (exact - high).high()
                );
                let wide = (upper - lower) / upper;
                // Below the normal range there are fewer digits.
                assert!(wide <= width || kind == "tiny", "{context} {norm}: {wide:e}");
            }
        }
    }
}

/// What is exact for every f64 but those at the end of the range.
fn power_of_two(largest: f64) -> f64 {
    vector::power_of_two_scale::<f64>(largest)
}

#[test]
fn against_double_precision_twice_f64() {
    against_double_precision_twice::<f64>();
}

#[test]
fn against_double_precision_twice_f32() {
    against_double_precision_twice::<f32>();
}

/// 10⁶×12 entries ±0.7: a Gram matrix summed in one chain puts the nuclear norm 10⁻¹¹ too low. Its entries are integers times
/// 0.7², so the norms are known.
fn tall_signs<S: Real>() {
    let (rows, cols, value) = (1_000_000, 12, S::of(0.7).f64());
    let mut seeded = Seeded::new(7);
    let signs: Vec<u16> = (0..rows).map(|_| (seeded.uniform() * 4096.0) as u16).collect();
    let sign = |i: usize, j: usize| if signs[i] >> j & 1 == 1 { 1.0 } else { -1.0 };
    let phi: Vec<S> = (0..rows * cols).map(|at| S::of(value * sign(at / cols, at % cols))).collect();
    let mut counts = vec![0.0; cols * cols];
    for &row in &signs {
        for (at, count) in counts.iter_mut().enumerate() {
            *count += if row >> (at / cols) & 1 == row >> (at % cols) & 1 { 1.0 } else { -1.0 };
        }
    }
    // √ of the counts' eigenvalues: one-sided Jacobi gives the eigenvalues of a symmetric positive definite matrix.
    let eigenvalues = double::column_norms(&counts, cols, cols, 1.0);
    let value = Double::from(value);
    let roots: Vec<Double> = eigenvalues.iter().map(|v| value * v.sqrt()).collect();
    let nuclear = roots.iter().fold(Double::from(0.0), |sum, &root| sum + root).high();
    let largest = roots.iter().map(|root| root.high()).fold(0.0, f64::max);
    let (size, value) = ((rows * cols) as f64, value.high());
    let columns = value * (rows as f64).sqrt() * cols as f64;
    for (norm, exact, width) in [
        (Norm::Spectral, nuclear, 2e-12),
        (Norm::Nuclear, largest, 2e-12),
        (Norm::L2, value * size.sqrt(), 1e-13),
        (Norm::Linf, value * size, 1e-13),
        (Norm::Row, value * (cols as f64).sqrt() * rows as f64, 2e-13),
        (Norm::Column, columns, 2e-13),
    ] {
        let context = format!("{norm} {}", S::NAME);
        holds(norm.dual(&phi, rows, cols).unwrap(), exact, width, &context);
        let answer = for_block::<S>(norm, &block(rows, cols), Oracle::Auto).unwrap().oracle(&phi);
        holds(answer.dual_norm, exact, 0.02, &format!("oracle in {context}"));
    }
    let gram = Spectral::<S>::new(&block(rows, cols), Oracle::Gram).unwrap().oracle(&phi);
    holds(gram.dual_norm, nuclear, 1e-12, "gram");
}

#[test]
fn tall_signs_f64() {
    tall_signs::<f64>();
}

#[test]
fn tall_signs_f32() {
    tall_signs::<f32>();
}

/// Larger blocks, where σ₁ takes a Cholesky factor, of full rank and of rank 16: as wide as docs/brackets.md says.
fn widths<S: Real>() {
    for (rows, cols, rank) in
        [(256, 30, 30), (64, 64, 64), (256, 256, 256), (256, 256, 16), (256, 256, 1), (300, 140, 140)]
    {
        let normals = |n: usize, seed| Seeded::new(seed).normals::<f64>(n);
        let phi: Vec<f64> = match rank {
            _ if rank == rows.min(cols) => normals(rows * cols, 3),
            _ => {
                let (a, b, mut phi) = (normals(rows * rank, 4), normals(rank * cols, 5), vec![0.0; rows * cols]);
                f64::gemm(&mut phi, Into::Replace, 1.0, Mat::new(&a, rows, rank), Mat::new(&b, rank, cols));
                phi
            }
        };
        let phi: Vec<S> = phi.into_iter().map(S::of).collect();
        let width = |Bracket { lower, upper }: Bracket| upper / lower - 1.0;
        let [sum, largest] = [Norm::Spectral, Norm::Nuclear].map(|norm| width(norm.dual(&phi, rows, cols).unwrap()));
        let oracle = |norm| {
            let answer = for_block::<S>(norm, &block(rows, cols), Oracle::Auto).unwrap().oracle(&phi);
            (width(answer.dual_norm), answer)
        };
        let ((spectral, answer), (nuclear, _)) = (oracle(Norm::Spectral), oracle(Norm::Nuclear));
        let proven = Norm::Spectral.dual(&phi, rows, cols).unwrap();
        let inside = answer.dual_norm.lower <= proven.upper && proven.lower <= answer.dual_norm.upper;
        println!(
            "{} {rows}×{cols}, rank {rank}: Σσ {sum:.1e} (oracle {spectral:.1e}), σ₁ {largest:.1e} ({nuclear:.1e})",
            S::NAME
        );
        assert!(
            sum <= 1e-9 && largest <= 3e-9 && inside,
            "{} {rows}×{cols}, rank {rank}: {sum:e} {largest:e}",
            S::NAME
        );
    }
}

#[test]
fn widths_f64() {
    widths::<f64>();
}

#[test]
fn widths_f32() {
    widths::<f32>();
}
