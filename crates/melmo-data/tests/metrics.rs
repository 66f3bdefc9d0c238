//! PSNR and SSIM against a direct loop, against scikit-image, and where they have to refuse.

use melmo_data::metrics::{psnr, ssim};

const ROWS: usize = 20;
const COLS: usize = 23;

fn images() -> (Vec<f64>, Vec<f64>) {
    let at = |k: usize| (k / COLS, k % COLS);
    let a: Vec<f64> =
        (0..ROWS * COLS).map(at).map(|(i, j)| ((i * 31 + j * 17 + i * j * 7) % 101) as f64 / 100.0).collect();
    let other = |(i, j): (usize, usize)| ((i * 13 + j * 29 + 3 * i * i) % 97) as f64 / 96.0;
    let b = a.iter().enumerate().map(|(k, a)| 0.8 * a + 0.2 * other(at(k))).collect();
    (a, b)
}

/// The definition, window by window, with means subtracted before squaring.
fn direct(a: &[f64], b: &[f64], rows: usize, cols: usize, range: f64) -> f64 {
    let (c1, c2) = ((0.01 * range).powi(2), (0.03 * range).powi(2));
    let mut values = Vec::new();
    for top in 0..=rows - 7 {
        for left in 0..=cols - 7 {
            let window = |x: &[f64]| -> Vec<f64> { (0..49).map(|k| x[(top + k / 7) * cols + left + k % 7]).collect() };
            let (x, y) = (window(a), window(b));
            let (mx, my) = (x.iter().sum::<f64>() / 49.0, y.iter().sum::<f64>() / 49.0);
            let moment = |u: &[f64], mu: f64, v: &[f64], mv: f64| {
                u.iter().zip(v).map(|(u, v)| (u - mu) * (v - mv)).sum::<f64>() / 48.0
            };
            let (vx, vy, cov) = (moment(&x, mx, &x, mx), moment(&y, my, &y, my), moment(&x, mx, &y, my));
            values.push((2.0 * mx * my + c1) * (2.0 * cov + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2)));
        }
    }
    values.iter().sum::<f64>() / values.len() as f64
}

fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} {b}");
}

#[test]
fn scikit_image_agrees() {
    // skimage.metrics 0.26.0: structural_similarity and peak_signal_noise_ratio with data_range=1.
    let (a, b) = images();
    assert_close(ssim(&a, &b, ROWS, COLS, 1.0).unwrap(), 0.9507910364947993, 1e-12);
    assert_close(psnr(&a, &b, 1.0).unwrap(), 21.79823149946752, 1e-10);
}

#[test]
fn a_direct_loop_agrees() {
    let (a, b) = images();
    for (rows, cols) in [(7, 7), (7, 23), (20, 7), (20, 23), (13, 11)] {
        let (a, b) = (&a[..rows * cols], &b[..rows * cols]);
        for range in [0.5, 1.0, 255.0] {
            assert_close(ssim(a, b, rows, cols, range).unwrap(), direct(a, b, rows, cols, range), 1e-12);
        }
    }
    let tall: Vec<f64> = (0..4000 * 9).map(|k| 1000.0 + ((k * k) % 17) as f64).collect();
    let other: Vec<f64> = tall.iter().enumerate().map(|(k, v)| v + (k % 5) as f64).collect();
    assert_close(ssim(&tall, &other, 4000, 9, 17.0).unwrap(), direct(&tall, &other, 4000, 9, 17.0), 1e-9);
}

#[test]
fn symmetric_and_perfect_only_when_equal() {
    let (a, b) = images();
    assert_close(ssim(&a, &a, ROWS, COLS, 1.0).unwrap(), 1.0, 1e-14);
    assert_eq!(psnr(&a, &a, 1.0).unwrap(), f64::INFINITY);
    assert_close(ssim(&a, &b, ROWS, COLS, 1.0).unwrap(), ssim(&b, &a, ROWS, COLS, 1.0).unwrap(), 1e-14);
    let flat = vec![0.25; 100];
    assert_close(ssim(&flat, &flat, 10, 10, 1.0).unwrap(), 1.0, 1e-14);
}

#[test]
fn what_has_no_answer_is_refused() {
    let (a, mut b) = images();
    assert!(psnr(&[], &[], 1.0).is_err());
    assert!(psnr(&a, &b[1..], 1.0).is_err());
    for range in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(psnr(&a, &b, range).is_err());
        assert!(ssim(&a, &b, ROWS, COLS, range).is_err());
    }
    assert!(ssim(&a, &b, COLS, COLS, 1.0).is_err());
    assert!(ssim(&a, &b, usize::MAX, 2, 1.0).is_err());
    assert!(ssim(&a[..60], &b[..60], 6, 10, 1.0).unwrap_err().to_string().contains("7×7"));
    b[5] = f64::NAN;
    assert!(ssim(&a, &b, ROWS, COLS, 1.0).unwrap_err().to_string().contains("sample 5"));
}
