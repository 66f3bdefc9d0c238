use super::*;
use crate::linalg::Dense;
use crate::smooth::laws;
use crate::sparse::Misfit;

fn mask(n: usize) -> Vec<f64> {
    (0..n).map(|i| f64::from(i % 3 != 1)).collect()
}

#[test]
fn obeys_the_laws() {
    let f = Factorization::new(laws::noise(42, 1), 6, 7, 3).unwrap();
    laws::check(&f);
    laws::check(&f.clone().coefficient(0.5).unwrap());
    laws::check(&f.clone().ridge(0.3).unwrap());
    let masked = Factorization::masked(laws::noise(42, 1), mask(42), 6, 7, 3).unwrap();
    laws::check(&masked.ridge(0.3).unwrap());
}

#[test]
fn known_value() {
    let f = Factorization::new(vec![1.0f32, 2.0, 3.0, 4.0], 2, 2, 1).unwrap().ridge(2.0).unwrap();
    let (mut grad, mut work) = ([9.0; 4], vec![0.0; f.work_len()]);
    // W = (1, 2)ᵀ, H = (1, 1): R = WH − Y = (0 −1; −1 −2).
    assert_eq!(f.value_grad(&mut grad, &[1.0, 2.0, 1.0, 1.0], &mut work), 6.0 + 2.0);
    assert_eq!(grad, [-2.0, -6.0, -4.0 + 2.0, -10.0 + 2.0]);
}

#[test]
fn strips_add_up_to_the_whole() {
    let (rows, cols, rank) = (300, 401, 2);
    let mask = mask(rows * cols);
    let mut y = laws::noise(rows * cols, 1);
    y[1] = f64::NAN; // not observed
    let f = Factorization::masked(y, mask.clone(), rows, cols, rank).unwrap();
    assert!(f.strip() < rows && f.work_len() < rows * cols);
    let x = laws::noise(f.layout().size(), 2);
    let (mut grad, mut work) = (vec![f64::NAN; x.len()], vec![f64::NAN; f.work_len()]);
    let value = f.value_grad(&mut grad, &x, &mut work);
    let (w, h) = x.split_at(rows * rank);
    let (mut plain, mut plain_grad) = (0.0, vec![0.0; x.len()]);
    for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
        let wh: f64 = (0..rank).map(|k| w[i * rank + k] * h[k * cols + j]).sum();
        let r = mask[i * cols + j] * (wh - f.data().dense().unwrap()[i * cols + j]);
        plain += r * r;
        for k in 0..rank {
            plain_grad[i * rank + k] += 2.0 * r * h[k * cols + j];
            plain_grad[rows * rank + k * cols + j] += 2.0 * r * w[i * rank + k];
        }
    }
    assert!((value - plain).abs() <= 1e-12 * plain);
    assert!(grad.iter().zip(&plain_grad).all(|(a, b)| (a - b).abs() <= 1e-11));
}

#[test]
fn products_and_residual_agree_also_where_the_fit_is_exact() {
    let (rows, cols, rank) = (23, 17, 3);
    let exact = laws::noise((rows + cols) * rank, 4);
    let (w, h) = exact.split_at(rows * rank);
    let mut y = vec![0.0; rows * cols];
    f64::gemm(&mut y, Into::Replace, 1.0, Mat::new(w, rows, rank), Mat::new(h, rank, cols));
    let f = Factorization::new(y, rows, cols, rank).unwrap();
    for size in [1.0, 1e-1, 1e-3, 1e-6, 0.0] {
        let x: Vec<f64> = exact.iter().zip(laws::noise(exact.len(), 5)).map(|(v, e)| v + size * e).collect();
        let (mut grad, mut plain, mut work) = (vec![0.0; x.len()], vec![0.0; x.len()], vec![0.0; f.work_len()]);
        let value = f.value_grad(&mut grad, &x, &mut work);
        let squared = f.by_residual(&mut plain, &x, &mut work);
        assert!((value - squared).abs() <= 1e-9 * squared, "{size}: {value} {squared}");
        assert!(grad.iter().zip(&plain).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs())), "{size}");
    }
}

#[test]
fn the_svd_start_is_the_best_fit() {
    for (rows, cols, rank) in [(9, 6, 3), (4, 7, 2), (3, 2, 4)] {
        let y = laws::noise(rows * cols, 3);
        let (mut sigma, mut work) = (vec![0.0; rows.min(cols)], vec![0.0; f64::singular_values_work_len(rows, cols)]);
        assert!(f64::singular_values(&mut sigma, Mat::new(&y, rows, cols), &mut work));
        let f = Factorization::new(y, rows, cols, rank).unwrap();
        let x = f.svd_start().unwrap();
        let value = f.value_grad(&mut vec![0.0; x.len()], &x, &mut vec![0.0; f.work_len()]);
        let tail: f64 = sigma.iter().skip(rank).map(|s| s * s).sum();
        assert!((value - tail).abs() < 1e-12, "{value} {tail}");
    }
}

#[test]
fn bad_input_is_refused() {
    let new = |rank| Factorization::new(vec![0.0; 6], 2, 3, rank);
    assert!(matches!(new(0), Err(Error::Parameter { name: "rank", .. })));
    assert!(matches!(Factorization::new(vec![0.0; 5], 2, 3, 1), Err(Error::Shape { .. })));
    assert!(matches!(Factorization::new(vec![f32::NAN; 6], 2, 3, 1), Err(Error::NotFinite { .. })));
    assert!(matches!(Factorization::<f64>::new(vec![], 0, 3, 1), Err(Error::EmptyBlock { .. })));
    assert!(matches!(new(1).unwrap().coefficient(0.0), Err(Error::Parameter { name: "c", .. })));
    assert!(matches!(new(1).unwrap().ridge(-1.0), Err(Error::Parameter { name: "ridge", .. })));
    let masked = |mask| Factorization::masked(vec![0.0; 6], mask, 2, 3, 1);
    assert!(matches!(masked(vec![1.0; 5]), Err(Error::Shape { .. })));
    assert!(matches!(masked(vec![0.5; 6]), Err(Error::NotBinary { .. })));
}

/// About a third of the entries of noise, rounded to S.
fn counts<S: Real>(rows: usize, cols: usize) -> (Vec<S>, Csr<S>) {
    let noise = laws::noise(rows * cols, 6);
    let y: Vec<S> = noise.iter().map(|v| S::of(if *v > 0.4 { (3.0 * v).ceil() } else { 0.0 })).collect();
    let sparse = stored(&y, rows, cols);
    (y, sparse)
}

/// What is not 0.
fn stored<S: Real>(y: &[S], rows: usize, cols: usize) -> Csr<S> {
    let entries = y.iter().enumerate().filter(|(_, v)| **v != S::ZERO);
    let entries = entries.map(|(at, &v)| ((at / cols) as u32, (at % cols) as u32, v));
    Csr::from_entries(rows, cols, entries, |_, _, _| Err(Misfit("twice".into()))).unwrap()
}

/// The rows of a matrix in memory, three at a time; those from `broken` on cannot be read.
#[derive(Debug)]
struct Kept {
    y: Vec<f64>,
    cols: usize,
    broken: usize,
}

impl Rows<f64> for Kept {
    fn shape(&self) -> (usize, usize) {
        (self.y.len() / self.cols, self.cols)
    }

    fn height(&self) -> usize {
        3
    }

    fn read(&self, first: usize, to: &mut [f64]) -> bool {
        to.copy_from_slice(&self.y[first * self.cols..][..to.len()]);
        first < self.broken
    }
}

#[test]
fn sparse_data_and_rows_that_are_read_obey_the_laws() {
    let (y, sparse) = counts(7, 5);
    let f = Factorization::sparse(sparse, 3).unwrap();
    laws::check(&f);
    laws::check(&f.coefficient(0.5).unwrap().ridge(0.3).unwrap());
    let f = Factorization::of_rows(Arc::new(Kept { y, cols: 5, broken: 7 }), 2).unwrap();
    laws::check(&f.ridge(0.3).unwrap());
}

#[test]
fn wherever_y_is_the_loss_is_the_same() {
    let (rows, cols, rank) = (41, 23, 5);
    let (y, sparse) = counts::<f64>(rows, cols);
    let dense = Factorization::new(y.clone(), rows, cols, rank).unwrap().ridge(0.2).unwrap();
    let sparse = Factorization::sparse(sparse, rank).unwrap().ridge(0.2).unwrap();
    let read = Factorization::of_rows(Arc::new(Kept { y, cols, broken: rows }), rank).unwrap().ridge(0.2).unwrap();
    let x = laws::noise(dense.layout().size(), 7);
    let at = |f: &Factorization<f64>| {
        let mut grad = vec![f64::NAN; x.len()];
        let value = f.value_grad(&mut grad, &x, &mut vec![f64::NAN; f.work_len()]);
        let mut batch = vec![f64::NAN; x.len()];
        f.batch_grad(&mut batch, &x, &[3, 17, 3], &mut vec![f64::NAN; f.work_len()]);
        (value, grad, batch)
    };
    let (value, grad, batch) = at(&dense);
    for f in [&sparse, &read] {
        let (other, other_grad, other_batch) = at(f);
        assert!((other - value).abs() <= 1e-13 * value, "{other} {value}");
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-11 * (1.0 + b.abs()));
        assert!(close(&other_grad, &grad) && close(&other_batch, &batch));
        assert_eq!(f.data_squared(), norm2_squared(dense.data().dense().unwrap()));
    }
}

#[test]
fn what_rounding_does_to_a_sparse_fit_stays_within_what_is_said() {
    // Y = WH exactly, sparse because W is: everything cancels.
    let (rows, cols, rank) = (60, 40, 4);
    let whole = |n: usize, seed: u64| laws::noise(n, seed).into_iter().map(|v| (2.0 * v).round() as f32);
    let w: Vec<f32> = whole(rows * rank, 8).enumerate().map(|(i, v)| if i % 3 == 0 { v } else { 0.0 }).collect();
    let h: Vec<f32> = whole(rank * cols, 9).collect();
    let mut y = vec![0.0f32; rows * cols];
    f32::gemm(&mut y, Into::Replace, 1.0, Mat::new(&w, rows, rank), Mat::new(&h, rank, cols));
    let f = Factorization::sparse(stored(&y, rows, cols), rank).unwrap();
    for size in [0.0, 1e-6, 1e-3, 1.0] {
        let moved = |v: &[f32], seed| -> Vec<f32> {
            v.iter().zip(laws::noise(v.len(), seed)).map(|(v, e)| v + (size * e) as f32).collect()
        };
        let (w, h) = (moved(&w, 10), moved(&h, 11));
        let x = [w.clone(), h.clone()].concat();
        let mut grad = vec![f32::NAN; x.len()];
        let value = f.value_grad(&mut grad, &x, &mut vec![f32::NAN; f.work_len()]);
        let plain: f64 = (0..rows * cols)
            .map(|at| {
                let (i, j) = (at / cols, at % cols);
                let wh: f64 = (0..rank).map(|k| f64::from(w[i * rank + k]) * f64::from(h[k * cols + j])).sum();
                (wh - f64::from(y[at])).powi(2)
            })
            .sum();
        let room = f.rounding(&x, value, &grad);
        assert!((value - plain).abs() <= room.value && value >= 0.0, "{size}: {value} {plain} {room:?}");
        assert!(room.value <= 1e-9 * f.data_squared() + 1e-6 * plain, "{room:?}");
    }
}

#[test]
fn rows_that_cannot_be_read_give_nan_and_are_refused_at_first() {
    let source = |broken| Arc::new(Kept { y: laws::noise(35, 1), cols: 5, broken });
    assert!(matches!(Factorization::of_rows(source(3), 2), Err(Error::Unsupported(_))));
    let mut f = Factorization::of_rows(source(7), 2).unwrap();
    f.y = Data::Rows(source(3));
    let mut grad = vec![0.0; f.layout().size()];
    assert!(f.value_grad(&mut grad, &laws::noise(24, 2), &mut vec![0.0; f.work_len()]).is_nan());
    let mut y = laws::noise(35, 1);
    y[17] = f64::NAN;
    let missing = Factorization::of_rows(Arc::new(Kept { y, cols: 5, broken: 7 }), 2);
    assert!(matches!(missing, Err(Error::NotFinite { index: 17, .. })));
}
