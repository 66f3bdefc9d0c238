//! Products as plain loops, in the formats that a GPU multiplies: what cuBLAS is replaced by where there is no GPU.
#![allow(unsafe_code)] // matrices of the emulator's memory

use melmo_cuda::machine::{Address, Factor, Format, Product};

/// C ← αAB + βC; sums in f64, rounded to the format of C.
pub unsafe fn multiply(product: &Product) {
    let Product { to, stored, left, right, format, size: [rows, cols, inner], alpha, beta } = *product;
    let read = |factor: Factor, of: Format, [rows, cols]: [usize; 2]| -> Vec<f64> {
        let place = |i: usize, j: usize| if factor.turned { j * factor.stride + i } else { i * factor.stride + j };
        (0..rows * cols).map(|at| unsafe { get(factor.at, of, place(at / cols, at % cols)) }).collect()
    };
    let (a, b) = (read(left, format, [rows, inner]), read(right, format, [inner, cols]));
    let mut sums = vec![0.0; cols];
    for i in 0..rows {
        sums.fill(0.0);
        for (k, b) in b.chunks_exact(cols).enumerate() {
            let a = a[i * inner + k];
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
        for (j, sum) in sums.iter().enumerate() {
            let at = i * to.stride + j;
            let before = if beta == 0.0 { 0.0 } else { beta * unsafe { get(to.at, stored, at) } };
            unsafe { put(to.at, stored, at, alpha * sum + before) };
        }
    }
}

/// A number as products take it: tf32 without the digits that it lacks.
unsafe fn get(at: Address, format: Format, i: usize) -> f64 {
    let byte = at as usize + i * format.bytes();
    unsafe {
        match format {
            Format::Double => *(byte as *const f64),
            Format::Single => (*(byte as *const f32)).into(),
            Format::Tf32 => f32::from_bits(*(byte as *const u32) & !0x1fff).into(),
            Format::Brain => f32::from_bits(u32::from(*(byte as *const u16)) << 16).into(),
            Format::Half => from_half(*(byte as *const u16)),
        }
    }
}

unsafe fn put(at: Address, format: Format, i: usize, value: f64) {
    let byte = at as usize + i * format.bytes();
    unsafe {
        match format {
            Format::Double => *(byte as *mut f64) = value,
            Format::Single | Format::Tf32 => *(byte as *mut f32) = value as f32,
            Format::Brain => *(byte as *mut u16) = (nearest(value as f32, 16).to_bits() >> 16) as u16,
            Format::Half => *(byte as *mut u16) = to_half(value),
        }
    }
}

/// Without the last so many digits, rounded to nearest, ties to even.
fn nearest(value: f32, drop: u32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits((bits + ((1 << (drop - 1)) - 1) + ((bits >> drop) & 1)) >> drop << drop)
}

fn from_half(half: u16) -> f64 {
    let (sign, exponent, rest) = (half >> 15, (half >> 10) & 31, f64::from(half & 0x3ff));
    let size = match exponent {
        0 => rest / 16_777_216.0,
        31 => f64::INFINITY * if rest == 0.0 { 1.0 } else { f64::NAN },
        _ => (1.0 + rest / 1024.0) * f64::from(i32::from(exponent) - 15).exp2(),
    };
    if sign == 1 { -size } else { size }
}

fn to_half(value: f64) -> u16 {
    let (sign, size) = (if value.is_sign_negative() { 0x8000 } else { 0 }, value.abs());
    if size.is_nan() {
        return 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // The step of numbers of this size, as a power of two.
    let step = (size.max(6.103_515_625e-5).log2().floor() - 10.0).exp2();
    let rounded = (size / step).round_ties_even() * step;
    if rounded < 6.103_515_625e-5 {
        return sign | (rounded * 16_777_216.0) as u16;
    }
    let exponent = rounded.log2().floor();
    sign | (((exponent + 15.0) as u16) << 10) | ((rounded / exponent.exp2() - 1.0) * 1024.0) as u16
}

#[test]
fn halves_come_back() {
    for half in (0..0x7c00u16).chain(0x8000..0xfc00) {
        assert_eq!(to_half(from_half(half)), half);
    }
    assert_eq!(from_half(to_half(1.0 + 1.0 / 2048.0)), 1.0);
    assert_eq!(from_half(to_half(1.0 + 3.0 / 2048.0)), 1.0 + 2.0 / 1024.0);
}
