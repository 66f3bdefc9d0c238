//! A wide factorisation in fewer columns, exactly.
//!
//! Penalty and loss see H only through WH, and every step here (spectral, normalised, subgradient) commutes with rotations of
//! H's columns. Rotated so that Y lies in its first m columns and the start's remainder in the next r, all other columns are
//! zero and stay so: 400×4096 faces at rank 30 are a problem of 430 columns, with the same F at every iteration.

use melmo::linalg::{Dense, Into, Mat};

/// Y and H with fewer columns.
pub(crate) struct Compact {
    pub cols: usize,
    pub y: Vec<f64>,
    pub h: Vec<f64>,
}

/// For a rows×cols Y and a rank×cols H with cols > rows + rank; `None` where nothing is gained.
pub(crate) fn compact(y: &[f64], h: &[f64], rows: usize, cols: usize, rank: usize) -> Option<Compact> {
    let small = rows + rank;
    if cols <= small {
        return None;
    }
    // Y = U diag(s) Vᵀ with V (cols×rows): YV = U diag(s).
    let (mut s, mut u, mut v) = (vec![0.0; rows], vec![0.0; rows * rows], vec![0.0; cols * rows]);
    let mut work = vec![0.0; f64::svd_work_len(rows, cols)];
    if !f64::svd(&mut s, &mut u, &mut v, Mat::new(y, rows, cols), &mut work) {
        return None;
    }
    let basis = Mat::new(&v, cols, rows);
    let mut inside = vec![0.0; rank * rows];
    f64::gemm(&mut inside, Into::Replace, 1.0, Mat::new(h, rank, cols), basis); // HV
    let mut outside = h.to_vec();
    f64::gemm(&mut outside, Into::Add, -1.0, Mat::new(&inside, rank, rows), basis.t()); // H − HVVᵀ
    let rest = root(&outside, rank, cols)?;
    let (mut y, mut h) = (Vec::with_capacity(rows * small), Vec::with_capacity(rank * small));
    for row in u.chunks_exact(rows) {
        y.extend(row.iter().zip(&s).map(|(u, s)| u * s));
        y.extend(std::iter::repeat_n(0.0, rank));
    }
    for (near, far) in inside.chunks_exact(rows).zip(rest.chunks_exact(rank)) {
        h.extend_from_slice(near);
        h.extend_from_slice(far);
    }
    Some(Compact { cols: small, y, h })
}

/// C (rank×rank) with CCᵀ = AAᵀ: A up to a rotation of its columns.
fn root(a: &[f64], rank: usize, cols: usize) -> Option<Vec<f64>> {
    let (mut gram, mut values, mut vectors) = (vec![0.0; rank * rank], vec![0.0; rank], vec![0.0; rank * rank]);
    f64::gram(&mut gram, Mat::new(a, rank, cols).t());
    let mut work = vec![0.0; f64::eigen_work_len(rank)];
    if !f64::eigen(&mut values, &mut vectors, &gram, rank, &mut work) {
        return None;
    }
    // Row i of `vectors` is qᵢ: C = Q diag(√λ).
    let entry = |at: usize| vectors[at % rank * rank + at / rank] * values[at % rank].max(0.0).sqrt();
    Some((0..rank * rank).map(entry).collect())
}

#[cfg(test)]
mod tests {
    use melmo::seeded::Seeded;

    use super::*;

    /// F after steps of every method of the table, in all columns and in few.
    #[test]
    fn runs_are_the_same() {
        use melmo::drive::{Options, Stop, run};
        use melmo::geometry::{Norm, Oracle, for_layout};
        use melmo::operator::Select;
        use melmo::penalty::{Entrywise, Mcp};
        use melmo::problem::Problem;
        use melmo::schedule::Power;
        use melmo::smooth::{Factorization, Smooth};
        use melmo::solver::{Melmo, Solver, Subgradient};

        let (rows, cols, rank) = (6, 50, 2);
        let mut seeded = Seeded::new(2);
        let (y, x): (Vec<f64>, Vec<f64>) = (seeded.normals(rows * cols), seeded.normals(rank * (rows + cols)));
        let small = compact(&y, &x[rows * rank..], rows, cols, rank).unwrap();
        let end = |y: &[f64], cols: usize, start: &[f64], method: &str| {
            let loss = Factorization::new(y.to_vec(), rows, cols, rank).unwrap();
            let select = Select::new(loss.layout(), &["W"]).unwrap();
            let penalty = Entrywise::new(Mcp::new(1.0, 3.0).unwrap(), rows * rank);
            let problem = Problem::new(loss, penalty, select).unwrap();
            let schedule = Power { beta: 1.0, gamma: 1.0, p: 7.0 / 12.0, q: 1.0 / 3.0 };
            let in_norm = |norm, oracle| {
                let geometry = for_layout(norm, problem.layout(), oracle).unwrap();
                Box::new(Melmo::new(&problem, geometry, schedule, start).unwrap())
            };
            let mut solver: Box<dyn Solver<f64>> = match method {
                "subgradient" => Box::new(Subgradient::new(&problem, 1e-3, start).unwrap()),
                "normalised" => in_norm(Norm::L2, Oracle::Auto),
                _ => in_norm(Norm::Spectral, "newton-schulz:6".parse().unwrap()),
            };
            run(&mut *solver, &Options::new(Stop::after(60)), &mut []).objective
        };
        let start: Vec<f64> = x[..rows * rank].iter().chain(&small.h).copied().collect();
        for method in ["subgradient", "normalised", "spectral"] {
            let (whole, less) = (end(&y, cols, &x, method), end(&small.y, small.cols, &start, method));
            assert!((whole - less).abs() < 1e-8 * whole, "{method}: {whole} {less}");
        }
    }

    #[test]
    fn products_keep_their_lengths() {
        let (rows, cols, rank) = (5, 40, 3);
        let mut seeded = Seeded::new(1);
        let (y, h): (Vec<f64>, Vec<f64>) = (seeded.normals(rows * cols), seeded.normals(rank * cols));
        let w: Vec<f64> = seeded.normals(rows * rank);
        let loss = |y: &[f64], h: &[f64], cols: usize| {
            let mut residual = y.to_vec();
            f64::gemm(&mut residual, Into::Add, -1.0, Mat::new(&w, rows, rank), Mat::new(h, rank, cols));
            residual.iter().map(|r| r * r).sum::<f64>()
        };
        let small = compact(&y, &h, rows, cols, rank).unwrap();
        let (whole, less) = (loss(&y, &h, cols), loss(&small.y, &small.h, small.cols));
        assert!((whole - less).abs() < 1e-10 * whole, "{whole} {less}");
        assert!(compact(&y, &h, 40, 5, 3).is_none());
    }
}
