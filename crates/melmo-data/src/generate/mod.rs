//! Random matrices, masks and noise: the same seed gives the same bits on every machine.
//!
//! Streams of different seeds are independent. A function that is given the seed of another draws the same numbers, so
//! an experiment takes a seed for each thing it generates.
//!
//! ```
//! use melmo_data::generate;
//!
//! let truth = generate::low_rank(1)?;
//! let noisy = generate::gaussian_noise(&truth, 0.1, 2)?;
//! let observed = generate::mask(100, 100, 0.3, 3)?;
//! assert_eq!(observed.data.iter().sum::<f64>(), 3000.0);
//! # assert_eq!(noisy.shape, [100, 100]);
//! # Ok::<(), melmo_data::Error>(())
//! ```

mod stream;

use crate::array::{Array, Kind, count};
use crate::error::Error;
use stream::Stream;

/// [`hadamard`] with 100 rows, 100 columns and rank 35.
pub fn low_rank(seed: u64) -> Result<Array, Error> {
    hadamard(100, 100, 35, seed)
}

/// (A·B) ∘ (C·D), entry by entry, where A and C are rows × rank and B and D are rank × cols, all standard normal and
/// drawn in this order.
pub fn hadamard(rows: usize, cols: usize, rank: usize, seed: u64) -> Result<Array, Error> {
    let size = entries(&[rows, cols])?;
    for factor in [[rows, rank], [rank, cols]] {
        entries(&factor)?;
    }
    let mut stream = Stream::new(seed);
    let mut product = || {
        let (left, right) = (stream.normals(rows * rank), stream.normals(rank * cols));
        let mut product = vec![0.0; size];
        for (i, row) in product.chunks_mut(cols.max(1)).enumerate() {
            for k in 0..rank {
                let factor = left[i * rank + k];
                row.iter_mut().zip(&right[k * cols..]).for_each(|(entry, r)| *entry += factor * r);
            }
        }
        product
    };
    let (first, second) = (product(), product());
    let data = first.iter().zip(&second).map(|(a, b)| a * b).collect();
    Ok(Array { shape: vec![rows, cols], data, kind: Kind::F64 })
}

/// Standard normal entries.
pub fn normal(shape: impl Into<Vec<usize>>, seed: u64) -> Result<Array, Error> {
    let shape = shape.into();
    let data = Stream::new(seed).normals(entries(&shape)?);
    Ok(Array { shape, data, kind: Kind::F64 })
}

/// Which entries are observed: exactly ⌊ω·rows·cols⌋ entries 1 for the fraction ω, the others 0. Every such choice is
/// as likely. The product is that of `f64`, as in other languages.
pub fn mask(rows: usize, cols: usize, fraction: f64, seed: u64) -> Result<Array, Error> {
    let entries = entries(&[rows, cols])?;
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Error::argument("the fraction of observed entries", fraction.to_string(), "0 to 1"));
    }
    let mut stream = Stream::new(seed);
    let mut missing = (fraction * entries as f64).floor() as u64;
    // Knuth's selection sampling: of the entries still to come, as many are 1 as are still missing.
    let choose = |left: usize| {
        let chosen = stream.below(left as u64) < missing;
        missing -= u64::from(chosen);
        f64::from(u8::from(chosen))
    };
    let data = (1..=entries).rev().map(choose).collect();
    Ok(Array { shape: vec![rows, cols], data, kind: Kind::Bool })
}

/// The array with independent normal numbers of mean 0 and standard deviation `deviation` added to its entries.
pub fn gaussian_noise(array: &Array, deviation: f64, seed: u64) -> Result<Array, Error> {
    array.check_shape()?;
    if !(deviation.is_finite() && deviation >= 0.0) {
        return Err(Error::argument(
            "the standard deviation of noise",
            deviation.to_string(),
            "a finite number, 0 or more",
        ));
    }
    let mut stream = Stream::new(seed);
    let data = array.data.iter().map(|v| v + deviation * stream.normal()).collect();
    Ok(Array { shape: array.shape.clone(), data, kind: Kind::F64 })
}

/// The most entries that are generated: 2²⁶, half a gibibyte.
const MOST: usize = 1 << 26;

/// The entries of a shape, at most [`MOST`].
fn entries(shape: &[usize]) -> Result<usize, Error> {
    count(shape).filter(|&n| n <= MOST).ok_or_else(|| {
        Error::argument("the shape to generate", format!("{shape:?}"), format!("at most {MOST} entries"))
    })
}
