//! A sparse matrix times a narrow dense one: what factors of sparse data are made of.

use crate::real::Real;
use crate::sparse::Csr;
use crate::threads;
use crate::vector::simd;

/// So many rows are one part at least, whoever works on them.
const ROWS: usize = 64;

/// out ← AB for a cols×width matrix B; returns ⟨C, AB⟩ for the rows×width matrix C that may come with it, 0 without.
///
/// Every sum runs in double precision, row by row, whatever S is; rows are shared among the threads.
pub(crate) fn times<S: Real>(a: &Csr<S>, out: &mut [S], b: &[S], width: usize, with: Option<&[S]>) -> f64 {
    let size = threads::block(a.rows(), 1, ROWS);
    let parts = out.chunks_mut(size * width).enumerate();
    let [sum] = threads::sums(a.len().saturating_mul(width) / 2, parts, |(part, out)| {
        let rows = out.chunks_exact_mut(width).enumerate();
        [simd(
            #[inline(always)]
            || {
                let of_row = |(at, out): (usize, &mut [S])| {
                    let i = part * size + at;
                    row_times(a.row(i), out, b, with.map(|c| &c[i * width..(i + 1) * width]))
                };
                rows.map(of_row).sum()
            },
        )]
    });
    sum
}

/// One row of [`times`], as many columns at a time as registers hold.
#[inline(always)]
fn row_times<S: Real>(row: (&[u32], &[S]), out: &mut [S], b: &[S], with: Option<&[S]>) -> f64 {
    let (mut k, mut sum) = (0, 0.0);
    while k + 16 <= out.len() {
        sum += lanes::<S, 16>(row, k, out, b, with);
        k += 16;
    }
    while k + 4 <= out.len() {
        sum += lanes::<S, 4>(row, k, out, b, with);
        k += 4;
    }
    (k..out.len()).fold(sum, |sum, k| sum + lanes::<S, 1>(row, k, out, b, with))
}

#[inline(always)]
fn lanes<S: Real, const L: usize>(
    (columns, values): (&[u32], &[S]),
    k: usize,
    out: &mut [S],
    b: &[S],
    with: Option<&[S]>,
) -> f64 {
    let (width, mut sums) = (out.len(), [0.0; L]);
    for (&j, &v) in columns.iter().zip(values) {
        let (v, b) = (v.f64(), &b[j as usize * width + k..][..L]);
        for l in 0..L {
            sums[l] += v * b[l].f64();
        }
    }
    out[k..k + L].iter_mut().zip(sums).for_each(|(out, sum)| *out = S::of(sum));
    with.map_or(0.0, |c| c[k..k + L].iter().zip(sums).map(|(c, sum)| c.f64() * sum).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded::Seeded;
    use crate::sparse::Misfit;
    use crate::threads::Threads;

    #[test]
    fn products_are_those_of_the_dense_matrix_on_any_number_of_threads() {
        let (rows, cols) = (400, 90);
        let mut seeded = Seeded::new(3);
        let entries: Vec<_> =
            (0..6000).map(|k| ((k * 37 % rows) as u32, (k * 53 % cols) as u32, seeded.normal())).collect();
        let sum = |_, _, values: &[f64]| Ok::<_, Misfit>(values.iter().sum());
        let a = Csr::from_entries(rows, cols, entries.iter().copied(), sum).unwrap();
        let turned = a.transposed();
        for width in [1, 3, 4, 21, 37] {
            let (b, c): (Vec<f64>, Vec<f64>) = (seeded.normals(cols * width), seeded.normals(rows * width));
            let mut plain = vec![0.0; rows * width];
            for (i, j, v) in a.iter() {
                (0..width).for_each(|k| plain[i * width + k] += v * b[j * width + k]);
            }
            let with: f64 = c.iter().zip(&plain).map(|(c, p)| c * p).sum();
            let found = |threads: usize| {
                let mut out = vec![f64::NAN; rows * width];
                let sum = Threads::new(threads).unwrap().run(|| times(&a, &mut out, &b, width, Some(&c)));
                (out, sum)
            };
            let (out, sum) = found(1);
            assert!(out.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-12));
            assert!((sum - with).abs() < 1e-10 * (1.0 + with.abs()));
            assert_eq!(found(3), (out, sum));
            // ⟨C, AB⟩ = ⟨AᵀC, B⟩.
            let other = times(&turned, &mut vec![0.0; cols * width], &c, width, Some(&b));
            assert!((other - sum).abs() < 1e-10 * (1.0 + sum.abs()));
        }
    }
}
