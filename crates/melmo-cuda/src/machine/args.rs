use crate::machine::Address;

/// A kernel of a convolution: `Blur` in `kernels/real.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Blur {
    pub taps: Address,
    pub rows: i64,
    pub cols: i64,
    pub boundary: i64,
}

/// A part of a penalty: `Part` in `kernels/real.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Part {
    pub start: i64,
    pub groups: i64,
    pub length: i64,
    pub step: i64,
    pub stride: i64,
    pub shares: i64,
    pub by_norm: i64,
    pub weight: f64,
    pub weights: Address,
    pub members: Address,
    pub ends: Address,
    pub norms: Address,
    pub others: Address,
}

/// Everything that a kernel may be told: `Args` in `kernels/real.cuh`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Args {
    pub n: i64,
    pub slices: i64,
    pub rows: i64,
    pub cols: i64,
    pub strip: i64,
    pub first: i64,
    pub count: i64,
    pub x: Address,
    pub d: Address,
    pub target: Address,
    pub mask: Address,
    pub weights: Address,
    pub u: Address,
    pub y: Address,
    pub out: Address,
    pub tx: Address,
    pub z: Address,
    pub a: f64,
    pub b: f64,
    pub beta: f64,
    pub psi: [f64; 2],
    pub pieces: Address,
    pub formula: i64,
    pub parts: Address,
    pub norms: Address,
    pub from: i64,
    pub to: i64,
    pub loose: i64,
    pub partial: Address,
    pub ticket: Address,
    pub result: Address,
    pub stamp: f64,
    pub at: i64,
    pub more: i64,
    pub components: i64,
    pub mask_of_t: Address,
    pub channels: i64,
    pub second: f64,
    pub residual: Address,
    pub blur: Blur,
    pub of_loss: Blur,
    pub part: Part,
}
