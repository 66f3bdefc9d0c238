//! How close two images are: PSNR and SSIM.

use crate::array::count;
use crate::error::Error;

/// The side of the window of [`ssim`].
pub const SSIM_WINDOW: usize = 7;

/// 10 log₁₀(range² / mean (a−b)²), in decibels; ∞ for equal images.
pub fn psnr(a: &[f64], b: &[f64], range: f64) -> Result<f64, Error> {
    check(a, b, a.len(), range)?;
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    Ok(10.0 * (range * range * a.len() as f64 / squares).log10())
}

/// The structural similarity of Wang et al. (2004) of two images of rows × cols samples that span `range`.
///
/// As scikit-image has it by default: 7×7 windows of equal weight, sample covariances (n−1), K₁ = 0.01, K₂ = 0.03, and
/// the mean over the windows that lie inside the image.
pub fn ssim(a: &[f64], b: &[f64], rows: usize, cols: usize, range: f64) -> Result<f64, Error> {
    let len = count(&[rows, cols]).unwrap_or(usize::MAX);
    check(a, b, len, range)?;
    if rows < SSIM_WINDOW || cols < SSIM_WINDOW {
        let expected = format!("at least {SSIM_WINDOW}×{SSIM_WINDOW}, one window");
        return Err(Error::argument("the images", format!("{rows}×{cols}"), expected));
    }
    // Covariances do not see a shift, and the squares of small numbers cancel less.
    let shift = a.iter().sum::<f64>() / len as f64;
    let moments = |at: usize| {
        let (x, y) = (a[at] - shift, b[at] - shift);
        [x, y, x * x, y * y, x * y]
    };
    let mut columns = vec![[0.0; 5]; cols];
    let mut total = 0.0;
    for row in 0..rows {
        for (j, column) in columns.iter_mut().enumerate() {
            add(column, moments(row * cols + j), 1.0);
            if row >= SSIM_WINDOW {
                add(column, moments((row - SSIM_WINDOW) * cols + j), -1.0);
            }
        }
        if row + 1 >= SSIM_WINDOW {
            total += row_of_windows(&columns, shift, range);
        }
    }
    let windows = (rows - SSIM_WINDOW + 1) * (cols - SSIM_WINDOW + 1);
    Ok(total / windows as f64)
}

/// The sum of the similarities of all windows whose columns have these sums.
fn row_of_windows(columns: &[[f64; 5]], shift: f64, range: f64) -> f64 {
    let mut window = [0.0; 5];
    let mut total = 0.0;
    for (j, &column) in columns.iter().enumerate() {
        add(&mut window, column, 1.0);
        if j >= SSIM_WINDOW {
            add(&mut window, columns[j - SSIM_WINDOW], -1.0);
        }
        if j + 1 >= SSIM_WINDOW {
            total += similarity(window, shift, range);
        }
    }
    total
}

fn similarity(sums: [f64; 5], shift: f64, range: f64) -> f64 {
    let n = (SSIM_WINDOW * SSIM_WINDOW) as f64;
    let [x, y, xx, yy, xy] = sums.map(|sum| sum / n);
    let sample = n / (n - 1.0);
    let (var_x, var_y, cov) = (sample * (xx - x * x), sample * (yy - y * y), sample * (xy - x * y));
    let (mean_x, mean_y) = (x + shift, y + shift);
    let (c1, c2) = ((0.01 * range).powi(2), (0.03 * range).powi(2));
    (2.0 * mean_x * mean_y + c1) * (2.0 * cov + c2) / ((mean_x * mean_x + mean_y * mean_y + c1) * (var_x + var_y + c2))
}

fn add(sums: &mut [f64; 5], terms: [f64; 5], sign: f64) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += sign * term;
    }
}

fn check(a: &[f64], b: &[f64], len: usize, range: f64) -> Result<(), Error> {
    if a.is_empty() || a.len() != len || b.len() != len {
        let found = format!("{} and {} samples", a.len(), b.len());
        return Err(Error::argument("the images", found, format!("{} in each, and not none", len.max(1))));
    }
    if !(range > 0.0 && range.is_finite()) {
        return Err(Error::argument("the range", range.to_string(), "a finite number above 0"));
    }
    match a.iter().chain(b).position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::argument("the images", format!("NaN or ∞ in sample {}", at % len), "finite samples")),
    }
}
