//! p_k = a_k x + b_k x³ + c_k x⁵, k = 1…6: the Newton–Schulz coefficients of the paper.
//!
//! Six steps: |1 − p| ≤ .0044 on [.002, 1], p ≤ .9994, slope 1137 at 0. Fewer steps leave the ball.

use super::quintic::Quintic;

/// (a, b, c)·1024.
const TRIPLES: [[f64; 3]; 6] = [
    [3955.0, -8306.0, 5008.0],
    [3735.0, -6681.0, 3463.0],
    [3799.0, -6499.0, 3211.0],
    [4019.0, -6385.0, 2906.0],
    [2677.0, -3029.0, 1162.0],
    [2172.0, -1833.0, 682.0],
];

/// How many steps there are.
pub(super) const MOST: u8 = TRIPLES.len() as u8;

/// The first so many steps.
pub(super) fn newton_schulz(steps: u8) -> Vec<Quintic> {
    let triple = |t: &[f64; 3]| Quintic { a: t[0] / 1024.0, b: t[1] / 1024.0, c: t[2] / 1024.0 };
    TRIPLES[..steps as usize].iter().map(triple).collect()
}
