//! What blurred a picture: a kernel by name, or entries.

use std::str::FromStr;

use crate::error::Error;

/// A kernel of rows×cols entries that add up to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Row after row.
    pub entries: Vec<f64>,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

/// The longest side of a kernel.
const LONGEST: usize = 1025;
/// Points along each side of a pixel, for shapes that cover a part of it.
const FINE: usize = 16;

impl Kernel {
    /// Entries of a kernel, divided by their sum.
    pub fn new(entries: Vec<f64>, rows: usize, cols: usize) -> Result<Self, Error> {
        let wrong = |found: String| {
            let expected = format!("finite numbers with a sum above 0, at most {LONGEST} in a row or column");
            Error::input("a kernel", found, expected)
        };
        if rows == 0 || cols == 0 || rows.checked_mul(cols) != Some(entries.len()) || rows.max(cols) > LONGEST {
            return Err(wrong(format!("{} entries for {rows}×{cols}", entries.len())));
        }
        let (sum, size) = (entries.iter().sum::<f64>(), entries.iter().map(|k| k.abs()).sum::<f64>());
        if !(size.is_finite() && sum > 1e-9 * size) {
            return Err(wrong(format!("entries that add up to {sum}")));
        }
        Ok(Self { entries: entries.iter().map(|k| k / sum).collect(), rows, cols })
    }

    /// A normal distribution, to four standard deviations.
    pub fn gaussian(width: f64) -> Result<Self, Error> {
        let radius = reach("gaussian", width, 4.0 * width)?;
        let weight = |i: usize| (-0.5 * ((i as f64 - radius as f64) / width).powi(2)).exp();
        let side = 2 * radius + 1;
        Self::new((0..side * side).map(|at| weight(at / side) * weight(at % side)).collect(), side, side)
    }

    /// A lens that is out of focus: a disk of this radius, in pixels.
    pub fn disk(radius: f64) -> Result<Self, Error> {
        let reach = reach("disk", radius, radius - 0.5)?;
        let side = 2 * reach + 1;
        let covered = |at: usize| {
            let point = |i: usize, k: usize| i as f64 - reach as f64 + (k as f64 + 0.5) / FINE as f64 - 0.5;
            let inside = |k: &usize| point(at / side, k / FINE).hypot(point(at % side, k % FINE)) <= radius;
            (0..FINE * FINE).filter(inside).count() as f64
        };
        Self::new((0..side * side).map(covered).collect(), side, side)
    }

    /// A hand that moved by so many pixels, at this angle in degrees, counterclockwise from the right.
    pub fn motion(length: f64, degrees: f64) -> Result<Self, Error> {
        if !degrees.is_finite() {
            return Err(Error::input("motion", degrees.to_string(), "an angle in degrees, as in motion:15,30"));
        }
        let half = 0.5 * (length - 1.0).max(0.0);
        let reach = reach("motion", length, half)?;
        let (side, (sin, cos)) = (2 * reach + 1, degrees.to_radians().sin_cos());
        let mut entries = vec![0.0; side * side];
        let steps = (FINE as f64 * length).ceil() as usize;
        for step in 0..=steps {
            let t = half * (2.0 * step as f64 / steps as f64 - 1.0);
            let (row, col) = (reach as f64 - t * sin, reach as f64 + t * cos);
            let (i, j) = (row.floor(), col.floor());
            for (di, dj) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let share = (1.0 - (row - i - f64::from(di)).abs()) * (1.0 - (col - j - f64::from(dj)).abs());
                let (i, j) = (i as usize + di as usize, j as usize + dj as usize);
                if share > 0.0 && i < side && j < side {
                    entries[i * side + j] += share;
                }
            }
        }
        Self::new(entries, side, side)
    }
}

/// Pixels to each side of the middle.
fn reach(name: &str, size: f64, reach: f64) -> Result<usize, Error> {
    if !(size > 0.0 && 2.0 * reach + 1.0 <= LONGEST as f64) {
        let expected = format!("a size above 0, for a kernel of at most {LONGEST} pixels");
        return Err(Error::input(name, size.to_string(), expected));
    }
    Ok(reach.max(0.0).ceil() as usize)
}

impl FromStr for Kernel {
    type Err = Error;

    /// `gaussian:1.5`, `motion:15,30` or `disk:4`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let expected = "gaussian:WIDTH, disk:RADIUS or motion:LENGTH,DEGREES, as in gaussian:1.5";
        let wrong = || Error::input("kernel", format!("`{text}`"), expected);
        let (name, numbers) = text.split_once(':').ok_or_else(wrong)?;
        let numbers: Vec<f64> =
            numbers.split(',').map(|part| part.trim().parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
        match (name, &numbers[..]) {
            ("gaussian", [width]) => Self::gaussian(*width),
            ("disk", [radius]) => Self::disk(*radius),
            ("motion", [length, degrees]) => Self::motion(*length, *degrees),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_by_name_are_what_they_say() {
        let gaussian: Kernel = "gaussian:1.6".parse().unwrap();
        assert_eq!((gaussian.rows, gaussian.cols), (15, 15));
        let at = |kernel: &Kernel, i: usize, j: usize| kernel.entries[i * kernel.cols + j];
        assert!((at(&gaussian, 7, 8) / at(&gaussian, 7, 7) - (-0.5 / 2.56f64).exp()).abs() < 1e-12);
        let disk: Kernel = "disk:4".parse().unwrap();
        assert!(disk.rows == 9 && at(&disk, 0, 0) == 0.0 && at(&disk, 4, 4) > 0.0);
        assert!((1.0 / at(&disk, 4, 4) / (std::f64::consts::PI * 16.0) - 1.0).abs() < 0.01);
        let motion: Kernel = "motion:9,0".parse().unwrap();
        assert!((0..9).all(|j| at(&motion, 4, j) > 0.0) && (0..9).all(|j| at(&motion, 3, j) == 0.0));
        let upright: Kernel = "motion:9,90".parse().unwrap();
        assert!((at(&upright, 0, 4) - at(&motion, 4, 0)).abs() < 1e-12);
        // Counterclockwise from the right: up and to the right.
        let slanted: Kernel = "motion:9,45".parse().unwrap();
        assert!(at(&slanted, 2, 6) > 0.0 && at(&slanted, 6, 6) == 0.0);
        for kernel in [gaussian, disk, motion, slanted] {
            assert!((kernel.entries.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        for text in [
            "",
            "gaussian",
            "gaussian:",
            "gaussian:0",
            "gaussian:nan",
            "gaussian:1,2",
            "disk:-1",
            "disk:1e9",
            "motion:5",
        ] {
            assert!(text.parse::<Kernel>().is_err(), "{text}");
        }
        assert!(Kernel::new(vec![1.0, -1.0], 1, 2).is_err() && Kernel::new(vec![f64::NAN], 1, 1).is_err());
        assert!(Kernel::new(vec![], 0, 0).is_err());
    }
}
