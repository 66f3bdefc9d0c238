//! The data of the experiments: bundled, generated, or from a folder the user names.

use std::path::Path;

use melmo::linalg::{Dense, Mat};
use melmo_data::{Array, bundled, generate, npy};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::setting::Options;

/// The names of the sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Set {
    Camera,
    Spectrometer,
    Olivetti,
    Football,
    Synthetic,
    Miserables,
}

impl Set {
    /// The sets of the factorisation, in the paper's order.
    pub const FACTORISED: [Self; 5] =
        [Self::Camera, Self::Spectrometer, Self::Olivetti, Self::Football, Self::Synthetic];

    /// Its name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::Camera => "Camera",
            Self::Spectrometer => "Spectrometer",
            Self::Olivetti => "Olivetti",
            Self::Football => "Football",
            Self::Synthetic => "Synthetic",
            Self::Miserables => "Misérables",
        }
    }

    /// How to get a set that is not bundled.
    pub fn how_to_get(self) -> &'static str {
        match self {
            Self::Spectrometer => {
                "the file `lrs.data` of the UCI Low Resolution Spectrometer set (or a 531×101 `spectrometer.npy`) in the folder of `--data-dir`"
            }
            Self::Olivetti => {
                "the 400×4096 faces of the Olivetti set (AT&T Laboratories Cambridge), as bytes in `olivetti_u8.npy`, in the folder of `--data-dir`"
            }
            _ => "it is bundled",
        }
    }
}

/// A matrix with its digest.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Entries, row by row.
    pub entries: Vec<f64>,
    /// SHA-256 of them.
    pub digest: String,
}

impl Matrix {
    fn new(array: Array) -> Self {
        let (rows, cols) = array.rows_cols().unwrap_or((array.data.len(), 1));
        let mut hash = Sha256::new();
        array.data.iter().for_each(|value| hash.update(value.to_le_bytes()));
        let digest = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { rows, cols, entries: array.data, digest }
    }

    /// Σ_{i>r} σ_i(Y)² of the entries mapped to [0, 1]: the least ‖Y − WH‖² of rank r. From the Gram matrix of the shorter side.
    pub fn tail(&self, rank: usize) -> f64 {
        let y = min_max(&self.entries);
        let whole = Mat::new(&y, self.rows, self.cols);
        let tall = if self.rows >= self.cols { whole } else { whole.t() };
        let n = tall.cols();
        let (mut gram, mut values) = (vec![0.0; n * n], vec![0.0; n]);
        f64::gram(&mut gram, tall);
        let mut work = vec![0.0; f64::eigenvalues_work_len(n)];
        if !f64::eigenvalues(&mut values, &gram, n, &mut work) {
            return f64::NAN;
        }
        values[..n.saturating_sub(rank)].iter().map(|value| value.max(0.0)).sum()
    }
}

/// The sets that are there.
#[derive(Clone, Debug, Default)]
pub struct Library {
    sets: Vec<(Set, Matrix)>,
}

impl Library {
    /// Loads everything; sets that are in no folder are left out.
    pub fn load(options: &Options) -> Result<Self, Error> {
        let mut sets = vec![
            (Set::Camera, Matrix::new(camera(options.quick)?)),
            (Set::Football, Matrix::new(bundled::football()?.adjacency)),
            (Set::Synthetic, Matrix::new(generate::low_rank(0)?)),
            (Set::Miserables, Matrix::new(bundled::miserables(None)?.adjacency)),
        ];
        if let Some(folder) = options.data.as_deref() {
            sets.extend(spectrometer(folder)?.map(|array| (Set::Spectrometer, Matrix::new(array))));
            sets.extend(olivetti(folder)?.map(|array| (Set::Olivetti, Matrix::new(array))));
        }
        Ok(Self { sets })
    }

    /// A set, if it is there.
    pub fn get(&self, set: Set) -> Option<&Matrix> {
        self.sets.iter().find(|(name, _)| *name == set).map(|(_, matrix)| matrix)
    }

    /// The sets of the paper that are not there.
    pub fn missing(&self) -> Vec<Set> {
        Set::FACTORISED.into_iter().filter(|&set| self.get(set).is_none()).collect()
    }
}

/// 256×256; a quarter of the side in a quick run.
fn camera(quick: bool) -> Result<Array, Error> {
    let full = bundled::camera256()?;
    Ok(if quick { bundled::halved(&bundled::halved(&full)?)? } else { full })
}

fn spectrometer(folder: &Path) -> Result<Option<Array>, Error> {
    let (stored, original) = (folder.join("spectrometer.npy"), folder.join("lrs.data"));
    if stored.is_file() {
        return shaped(npy::read(&stored)?, [531, 101], &stored).map(Some);
    }
    if !original.is_file() {
        return Ok(None);
    }
    let unreadable = |source| Error::Folder { path: original.clone(), source };
    let text = std::fs::read_to_string(&original).map_err(unreadable)?;
    shaped(low_resolution(&text), [531, 101], &original).map(Some)
}

/// Rows are records in parentheses, however their lines break, or lines; all numbers of a row but its first two tokens.
fn low_resolution(text: &str) -> Array {
    let mut data = Vec::new();
    let mut rows = 0;
    let end = if text.contains(')') { ')' } else { '\n' };
    for record in text.split(end) {
        let tokens = record.trim_matches(|c: char| c == '(' || c.is_whitespace()).split_whitespace();
        let numbers: Vec<f64> = tokens.skip(2).filter_map(|token| token.parse().ok()).collect();
        rows += usize::from(!numbers.is_empty());
        data.extend(numbers);
    }
    let cols = if rows > 0 && data.len() % rows == 0 { data.len() / rows } else { 0 };
    let shape = if cols > 0 { vec![rows, cols] } else { vec![data.len()] };
    Array { shape, data, kind: melmo_data::Kind::F64 }
}

fn olivetti(folder: &Path) -> Result<Option<Array>, Error> {
    let stored = folder.join("olivetti_u8.npy");
    if !stored.is_file() {
        return Ok(None);
    }
    let mut array = shaped(npy::read(&stored)?, [400, 4096], &stored)?;
    array.data.iter_mut().for_each(|value| *value /= 242.0);
    Ok(Some(array))
}

fn shaped(array: Array, shape: [usize; 2], file: &Path) -> Result<Array, Error> {
    if array.shape == shape {
        return Ok(array);
    }
    let message = format!("expected {}×{} numbers, found the shape {:?}", shape[0], shape[1], array.shape);
    Err(Error::Shape { file: file.to_path_buf(), message })
}

/// Entries mapped to [0, 1], as all matrices of the factorisation are.
pub(crate) fn min_max(entries: &[f64]) -> Vec<f64> {
    let low = entries.iter().copied().fold(f64::INFINITY, f64::min);
    let high = entries.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    entries.iter().map(|value| (value - low) / (high - low)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_however_their_lines_break() {
        let array = low_resolution("(1 A 10 20\n 30)\n(2 B 1.5\n 2 3)\n");
        assert_eq!((array.shape, array.data), (vec![2, 3], vec![10.0, 20.0, 30.0, 1.5, 2.0, 3.0]));
    }

    #[test]
    fn the_ends_of_the_range_are_0_and_1() {
        assert_eq!(min_max(&[-1.0, 3.0, 1.0]), [0.0, 1.0, 0.5]);
    }
}
