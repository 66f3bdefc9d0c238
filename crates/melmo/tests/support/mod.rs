//! The golden cases as data: `golden/README.md` says what they are.
#![allow(dead_code)]

pub mod entries;
pub mod parts;

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Beside the crate that was built, or in the checkout that a program of tests was brought to.
pub fn golden() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../melmo/tests/golden");
    if built.exists() { built } else { "crates/melmo/tests/golden".into() }
}

/// A row-major matrix of an `.npy` file.
pub struct Matrix {
    pub data: Vec<f64>,
    pub rows: usize,
    pub cols: usize,
}

pub fn npy(path: &Path) -> Matrix {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file = npyz::NpyFile::new(&bytes[..]).unwrap();
    let (rows, cols) = (file.shape()[0] as usize, file.shape()[1] as usize);
    let by_columns = file.order() == npyz::Order::Fortran;
    let stored: Vec<f64> = file.into_vec().unwrap();
    let data = match by_columns {
        true => (0..rows * cols).map(|at| stored[at % cols * rows + at / cols]).collect(),
        false => stored,
    };
    Matrix { data, rows, cols }
}

#[derive(Deserialize)]
pub struct Case {
    #[serde(skip)]
    pub name: String,
    pub problem: String,
    pub penalty: String,
    pub lam: f64,
    pub mu: f64,
    pub method: String,
    #[serde(default)]
    pub geom: Option<String>,
    pub rank: Option<usize>,
    pub gamma: Option<f64>,
    pub beta: Option<f64>,
    pub p: Option<f64>,
    pub q: Option<f64>,
    #[serde(rename = "L")]
    pub lipschitz: Option<f64>,
    #[serde(default)]
    pub normalized: bool,
    pub step: Option<f64>,
    pub eps: Option<f64>,
    pub max_epochs: Option<u32>,
    pub restart: Option<String>,
    #[serde(default)]
    pub certified: bool,
    pub certified_at: Option<u64>,
    pub stable_rows: usize,
    pub trace: Vec<GoldenRow>,
}

#[derive(Deserialize)]
pub struct GoldenRow {
    pub epoch: Option<u32>,
    pub k: u64,
    #[serde(rename = "F")]
    pub objective: f64,
    #[serde(rename = "F_smoothed")]
    pub smoothed: Option<f64>,
    pub dual_norm: Option<f64>,
    pub prox_gap: Option<f64>,
    pub beta: Option<f64>,
    pub gamma: Option<f64>,
}

impl Case {
    pub fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(golden().join(name).join("case.json")).unwrap();
        Self { name: name.into(), ..serde_json::from_str(&text).unwrap() }
    }

    pub fn all() -> Vec<Self> {
        let mut names: Vec<String> = std::fs::read_dir(golden())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("case.json").exists())
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names.iter().map(|name| Self::read(name)).collect()
    }

    pub fn file(&self, file: &str) -> Matrix {
        npy(&golden().join(&self.name).join(file))
    }

    /// The blocks of a stored point, one after another.
    pub fn point(&self, stem: &str) -> Option<Vec<f64>> {
        let path = |b: usize| golden().join(&self.name).join(format!("{stem}_{b}.npy"));
        if !path(0).exists() {
            return None;
        }
        Some((0..2).filter(|&b| path(b).exists()).flat_map(|b| npy(&path(b)).data).collect())
    }
}

/// The lasso ½‖Ax − b‖² + λ‖x‖₁ by plain cyclic coordinate descent, written apart from the library.
pub fn lasso_by_coordinates(a: &[f64], b: &[f64], cols: usize, lambda: f64) -> Vec<f64> {
    let mut x = vec![0.0; cols];
    for _ in 0..2000 {
        for j in 0..cols {
            let (mut slope, mut square) = (0.0, 0.0);
            for (row, b) in a.chunks(cols).zip(b) {
                let rest: f64 = row.iter().zip(&x).enumerate().filter(|(i, _)| *i != j).map(|(_, (a, x))| a * x).sum();
                slope += row[j] * (b - rest);
                square += row[j] * row[j];
            }
            x[j] = slope.signum() * (slope.abs() - lambda).max(0.0) / square;
        }
    }
    x
}
