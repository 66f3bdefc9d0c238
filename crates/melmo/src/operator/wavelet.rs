use crate::block::Layout;
use crate::error::Error;
use crate::operator::{LinOp, RightInverse};
use crate::real::Real;

/// Tx = the coefficients of an image in an orthonormal wavelet basis of Daubechies, cyclic at the border.
///
/// T*T = TT* = I: ‖T‖₂ = 1, and T* is the right inverse, σ_min = 1. On each level the upper left holds the means, which the next level
/// takes apart. Filters by Daubechies (1988): `haar`, `db2` (four taps), `db4` (eight).
#[derive(Clone, Debug)]
pub struct Wavelet {
    layout: Layout,
    levels: usize,
    low: &'static [f64],
}

const HAAR: [f64; 2] = [std::f64::consts::FRAC_1_SQRT_2; 2];
const DB2: [f64; 4] =
    [0.482_962_913_144_534_16, 0.836_516_303_737_807_9, 0.224_143_868_042_013_4, -0.129_409_522_551_260_37];
/// To the last bit; printed tables are good to twelve digits, which is not orthonormal enough.
const DB4: [f64; 8] = [
    0.230_377_813_308_896_5,
    0.714_846_570_552_915_7,
    0.630_880_767_929_858_9,
    -0.027_983_769_416_859_854,
    -0.187_034_811_719_093_09,
    0.030_841_381_835_560_764,
    0.032_883_011_666_885_2,
    -0.010_597_401_785_069_032,
];

impl Wavelet {
    /// The wavelets, by the names users type.
    pub const NAMES: [&'static str; 3] = ["haar", "db2", "db4"];

    /// Of a rows×cols image whose sides 2^levels divides, each at least as long as the filter on the last level.
    pub fn new((rows, cols): (usize, usize), name: &str, levels: usize) -> Result<Self, Error> {
        let layout = Layout::matrix(rows, cols)?;
        let low: &'static [f64] = match name {
            "haar" => &HAAR,
            "db2" => &DB2,
            "db4" => &DB4,
            _ => return Err(Error::Unsupported(format!("wavelet `{name}`; known: {}", Self::NAMES.join(", ")))),
        };
        let divides = |n: usize| levels < 32 && n.is_multiple_of(1 << levels) && (n >> levels) * 2 >= low.len();
        let fits = levels > 0 && divides(rows) && divides(cols);
        let must =
            "at least 1, with sides that are multiples of 2^levels and, halved levels − 1 times, as long as the filter";
        Error::expect_parameter("levels", levels as f64, fits, must)?;
        Ok(Self { layout, levels, low })
    }

    /// The sizes that levels work on, the first level first.
    fn sizes(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let block = &self.layout.blocks()[0];
        let (rows, cols) = (block.rows, block.cols);
        (0..self.levels).map(move |level| (rows >> level, cols >> level))
    }

    /// One line: means in its first half, details in its second; or back.
    fn line<S: Real>(&self, out: &mut [S], line: &[S], back: bool) {
        let (n, half, taps) = (line.len(), line.len() / 2, self.low.len());
        if back {
            out.fill(S::ZERO);
        }
        for k in 0..half {
            let (mut mean, mut detail) = (S::ZERO, S::ZERO);
            for (t, &low) in self.low.iter().enumerate() {
                let high = if t % 2 == 0 { self.low[taps - 1 - t] } else { -self.low[taps - 1 - t] };
                let (place, low, high) = ((2 * k + t) % n, S::of(low), S::of(high));
                match back {
                    true => out[place] += low * line[k] + high * line[half + k],
                    false => {
                        mean += low * line[place];
                        detail += high * line[place];
                    }
                }
            }
            if !back {
                (out[k], out[half + k]) = (mean, detail);
            }
        }
    }

    /// Every row or every column of the upper left rows×cols part.
    fn lines<S: Real>(&self, image: &mut [S], (rows, cols): (usize, usize), down: bool, back: bool, work: &mut [S]) {
        let width = self.layout.blocks()[0].cols;
        let (count, n, first, step) = if down { (cols, rows, 1, width) } else { (rows, cols, width, 1) };
        let (from, rest) = work.split_at_mut(n);
        let to = &mut rest[..n];
        for line in 0..count {
            (0..n).for_each(|i| from[i] = image[line * first + i * step]);
            self.line(to, from, back);
            (0..n).for_each(|i| image[line * first + i * step] = to[i]);
        }
    }

    fn side(&self) -> usize {
        let block = &self.layout.blocks()[0];
        block.rows.max(block.cols)
    }
}

impl<S: Real> LinOp<S> for Wavelet {
    fn domain(&self) -> &Layout {
        &self.layout
    }

    fn range(&self) -> &Layout {
        &self.layout
    }

    fn norm_bound(&self) -> f64 {
        1.0 + LinOp::<S>::rounding(self)
    }

    fn lower_norm_bound(&self) -> f64 {
        1.0 - LinOp::<S>::rounding(self)
    }

    /// Two filters a level, whose taps are rounded too; Σ|taps| is below 2.2.
    fn rounding(&self) -> f64 {
        (10 * self.levels * (self.low.len() + 2)) as f64 * S::EPSILON
    }

    /// An image, and two lines.
    fn work_len(&self) -> usize {
        self.layout.size() + 2 * self.side()
    }

    fn apply(&self, y: &mut [S], x: &[S], work: &mut [S]) {
        y.copy_from_slice(x);
        for size in self.sizes() {
            self.lines(y, size, false, false, work);
            self.lines(y, size, true, false, work);
        }
    }

    fn adjoint_add(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        let (image, rest) = work.split_at_mut(y.len());
        image.copy_from_slice(y);
        for size in self.sizes().rev() {
            self.lines(image, size, true, true, rest);
            self.lines(image, size, false, true, rest);
        }
        x.iter_mut().zip(&*image).for_each(|(x, &v)| *x += v);
    }

    fn right_inverse(&self) -> Option<&dyn RightInverse<S>> {
        Some(self)
    }
}

impl<S: Real> RightInverse<S> for Wavelet {
    fn right_inverse(&self, x: &mut [S], y: &[S], work: &mut [S]) {
        x.fill(S::ZERO);
        self.adjoint_add(x, y, work);
    }

    fn sigma_min(&self) -> f64 {
        1.0 - LinOp::<S>::rounding(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::laws;

    #[test]
    fn obeys_the_laws_and_is_orthonormal() {
        for (shape, name, levels) in [((4, 8), "haar", 2), ((8, 4), "db2", 1), ((8, 8), "db2", 2), ((8, 8), "db4", 1)] {
            let t = Wavelet::new(shape, name, levels).unwrap();
            laws::check::<f32>(&t);
            let matrix = laws::check::<f64>(&t);
            let n = shape.0 * shape.1;
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let dot: f64 = (0..n).map(|k| matrix[k * n + i] * matrix[k * n + j]).sum();
                assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-12, "{name} {i} {j}: {dot}");
            }
        }
    }

    #[test]
    fn slopes_have_few_details() {
        let x: Vec<f64> = (0..256).map(|at| (at / 16 + at % 16) as f64).collect();
        let t = Wavelet::new((16, 16), "db2", 1).unwrap();
        let mut y = vec![f64::NAN; 256];
        t.apply(&mut y, &x, &mut vec![f64::NAN; LinOp::<f64>::work_len(&t)]);
        let inner = (0..7).flat_map(|i| (8..15).map(move |j| i * 16 + j));
        assert!(inner.into_iter().all(|at| y[at].abs() < 1e-10));
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert!(Wavelet::new((6, 8), "haar", 2).is_err() && Wavelet::new((8, 8), "db4", 2).is_err());
        assert!(Wavelet::new((8, 8), "db9", 1).is_err() && Wavelet::new((8, 8), "haar", 0).is_err());
    }
}
