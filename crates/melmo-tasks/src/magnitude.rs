//! How large and how small numbers may be: methods work with their squares, and sums and products of those.

use melmo::real::Real;

use crate::error::Error;

/// The least and the largest size of a number: with n of them their squares, and the products of four, are numbers still.
fn limits<S: Real>() -> [f64; 2] {
    if S::EPSILON > 1e-10 { [1e-16, 1e16] } else { [1e-140, 1e140] }
}

/// Whether numbers whose largest is `size` are within bounds; 0 is.
pub(crate) fn is_usual<S: Real>(size: f64) -> bool {
    let [least, most] = limits::<S>();
    size == 0.0 || (least..=most).contains(&size)
}

/// Refuses numbers whose largest, `size`, is out of bounds; 0 is not.
pub(crate) fn check<S: Real>(what: &str, size: f64) -> Result<(), Error> {
    if is_usual::<S>(size) {
        return Ok(());
    }
    let [least, most] = limits::<S>();
    let expected = format!("{least:e} to {most:e} in {}: measure it in other units", S::NAME);
    Err(Error::input(what, format!("{size:e} as the largest number"), expected))
}

/// The largest of some numbers; NaN where one is.
pub(crate) fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(f64::abs).fold(0.0, |most, size| if size > most || size.is_nan() { size } else { most })
}

/// The same of an array; NaN stands for what is missing.
pub(crate) fn check_known<S: Real>(what: &str, numbers: &[S]) -> Result<(), Error> {
    check::<S>(what, largest(numbers.iter().map(|x| x.f64()).filter(|x| !x.is_nan())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_square_is_refused() {
        for size in [0.0, 1e-100, 1.0, 1e100] {
            assert!(check::<f64>("X", size).is_ok(), "{size}");
        }
        for size in [1e-160, 1e160, f64::NAN, f64::INFINITY] {
            assert!(check::<f64>("X", size).is_err(), "{size}");
        }
        assert!(
            check::<f32>("X", 1e-20).is_err() && check::<f32>("X", 1e37).is_err() && check::<f32>("X", 1e6).is_ok()
        );
        assert!(check_known("X", &[f64::NAN, -1e200]).is_err() && check_known("X", &[f64::NAN, 2.0]).is_ok());
        assert_eq!(largest([1.0, -3.0, 2.0].into_iter()), 3.0);
        assert!(largest([1.0, f64::NAN, 2.0].into_iter()).is_nan());
    }
}
