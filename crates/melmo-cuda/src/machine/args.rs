use crate::machine::Address;

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
    pub phi: [f64; 2],
    pub parts: Address,
    pub norms: Address,
    pub from: i64,
    pub to: i64,
    pub loose: i64,
    pub partial: Address,
    pub ticket: Address,
    pub result: Address,
    pub stamp: f64,
}
