//! d = −p(φ/s), as `spectral/polynomial.rs` evaluates it, by products on the device: the same polynomials, chosen in the same way, and
//! their brackets.
//!
//! Nearly square matrices: X ← X(aI + bG + cG²) in half precision or tf32 with sums in single precision, or in the data's. Every matrix
//! is scaled by a power of two to where half precision has its digits. Tall ones: in double precision on the short side's Gram matrix.

use melmo::geometry::{Answer, Arithmetic as Rounding, Found, Polynomials};
use melmo::real::Real;

use crate::device::Device;
use crate::linalg::{Arithmetic, format_of};
use crate::machine::{Address, Args, Format, Kernel, Machine};

/// The most columns of a tall matrix that Gram space is taken for: it costs products of that size in double precision.
const GRAM_SPACE: usize = 1024;
/// Polynomials of so many steps in Gram space, and the fewest and the most elsewhere: as on the host.
const IN_GRAM_SPACE: u8 = 6;
const FEWEST: u8 = 4;
const MOST: u8 = 8;

/// A way to the polar factor of a block.
pub(crate) struct Polar {
    shape: [usize; 2],
    polynomials: Polynomials,
    gram_space: bool,
    /// φ is divided by ‖φ‖_F alone, as the paper does.
    plain_scale: bool,
    format: Format,
    at: Room,
}

/// What G is multiplied by in the first step, where it is rounded: from a G with 1/√r ≤ ‖G‖_F ≤ 1 to entries that half precision has
/// digits for.
const UP: f64 = 4096.0;

/// The matrix and the place of the next one; G, as a factor, and H; P; the direction.
#[derive(Clone, Copy, Default)]
struct Room {
    x: Address,
    y: Address,
    g: Address,
    h: Address,
    p: Address,
    d: Address,
}

impl Polar {
    pub(crate) fn new<S: Real>(arithmetic: Arithmetic, shape: [usize; 2]) -> Self {
        let [rows, cols] = shape;
        let (own, short, long) = (format_of::<S>(), rows.min(cols), rows.max(cols));
        let tall = 2 * long >= 3 * short && short <= GRAM_SPACE && arithmetic == Arithmetic::Auto;
        if let Some(polynomials) = Polynomials::in_gram_space(rows, cols, IN_GRAM_SPACE).filter(|_| tall) {
            let (format, at) = (Format::Double, Room::default());
            return Self { shape, polynomials, gram_space: true, plain_scale: true, format, at };
        }
        let plain = Rounding::Plain(S::EPSILON);
        let single = Rounding::Plain(f64::from(f32::EPSILON));
        let direct = |steps, rounding| Polynomials::direct(rows, cols, steps, rounding);
        let (polynomials, format) = match arithmetic {
            Arithmetic::Auto => (direct(FEWEST..=MOST, Rounding::Short), Format::Half),
            Arithmetic::Tf32 => (direct(FEWEST..=MOST, Rounding::Short), Format::Tf32),
            Arithmetic::Plain => (direct(FEWEST..=MOST, plain), own),
            Arithmetic::Minimax(steps) => (direct(steps..=steps, plain), own),
            Arithmetic::MinimaxSingle(steps) => (direct(steps..=steps, single), Format::Single),
            Arithmetic::NewtonSchulz(steps) => (Polynomials::newton_schulz(rows, cols, steps, plain), own),
        };
        let plain_scale = matches!(arithmetic, Arithmetic::NewtonSchulz(_));
        Self { shape, polynomials, gram_space: false, plain_scale, format, at: Room::default() }
    }

    fn size(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    fn short(&self) -> usize {
        self.shape[0].min(self.shape[1])
    }

    /// Bytes of each array of a room, in its order.
    fn arrays(&self) -> [usize; 6] {
        let (n, square) = (self.size(), self.short() * self.short());
        let (entry, sum) = (self.format.bytes(), self.format.sums().bytes());
        let second = if self.gram_space { square } else { n };
        [n * entry, second * entry, square * entry, square * sum, square * entry, n * sum]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.arrays().iter().sum()
    }

    /// What G is multiplied by in the first step.
    fn up(&self) -> f64 {
        if self.format == self.format.sums() { 1.0 } else { UP }
    }

    /// Where the direction is, and how it is stored.
    pub(crate) fn direction(&self) -> (Address, Format) {
        (self.at.d, self.format.sums())
    }
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    pub(crate) fn make_polar(&mut self, polar: &mut Polar) {
        let [x, y, g, h, p, d] = polar.arrays().map(|bytes| if bytes > 0 { self.raw(bytes) } else { 0 });
        polar.at = Room { x, y, g, h, p, d };
    }

    /// d ← −UVᵀ for the φ that starts at an address, nearly.
    pub(crate) fn polar(&mut self, polar: &mut Polar, phi: Address, frobenius: f64, loose: bool) -> Answer {
        let (chosen, s) = match polar.gram_space {
            true => self.polar_in_gram_space(polar, phi, frobenius, loose),
            false => self.polar_directly(polar, phi, frobenius, loose),
        };
        let (d, stored) = polar.direction();
        let [ip, squared, ..] = self.sums_of([phi, d], polar.size(), [format_of::<S>(), stored], loose);
        polar.polynomials.answer(chosen, Found { ip: -ip, squared, s }, frobenius)
    }

    fn polar_directly(&mut self, polar: &mut Polar, phi: Address, frobenius: f64, loose: bool) -> (usize, f64) {
        let (n, short, format, shape) = (polar.size(), polar.short(), polar.format, polar.shape);
        let sums = format.sums();
        // Entries of X of the size of 1/16.
        let up = (0.5 * (n as f64).log2()).floor().exp2() / 16.0;
        self.convert([polar.at.x, phi], up / frobenius, n, [format, format_of::<S>()], loose);
        let of_g = polar.up();
        self.polar_squared(polar, sums, of_g / (up * up), of_g);
        let s = match polar.plain_scale {
            true => 1.0,
            false => polar.polynomials.scale(self.sums_of([polar.at.h; 2], short * short, [sums; 2], false)[1].sqrt()),
        };
        // What is not finite is found by whoever looks at the answer.
        let chosen = polar.polynomials.choose(if s.is_finite() { s } else { 1.0 });
        let count = polar.polynomials.steps(chosen).len();
        for k in 0..count {
            let step = polar.polynomials.steps(chosen)[k];
            if k > 0 {
                self.polar_squared(polar, format, 1.0, 1.0);
            }
            // The first P is made s times as large, so that its entries are no larger than its coefficients.
            let (step, alpha) = if k == 0 { (step.of_quotient(s), 1.0 / (up * s)) } else { (step, 1.0) };
            let (size, of_g) = if k == 0 { (s, of_g) } else { (1.0, 1.0) };
            let of_h = if k == 0 { sums } else { format };
            self.polar_factor(polar, [step.a * size, step.b * size / of_g, step.c * size], of_h);
            if k + 1 == count {
                self.times((polar.at.d, sums), [polar.at.x, polar.at.p], shape, format, -alpha);
            } else {
                self.times((polar.at.y, format), [polar.at.x, polar.at.p], shape, format, alpha);
                if format == Format::Tf32 {
                    self.convert([polar.at.y; 2], 1.0, n, [format; 2], false);
                }
                std::mem::swap(&mut polar.at.x, &mut polar.at.y);
            }
        }
        (chosen, s)
    }

    /// G ← αXᵀX in the factors' format, and H ← (G/of_g)² in another.
    fn polar_squared(&mut self, polar: &Polar, stored: Format, alpha: f64, of_g: f64) {
        let (n, format, Room { x, g, h, .. }) = (polar.short(), polar.format, polar.at);
        self.gram((g, format), x, polar.shape, format, alpha);
        if format == Format::Tf32 {
            self.convert([g; 2], 1.0, n * n, [format; 2], false);
        }
        self.square((h, stored), [g; 2], n, format, 1.0 / (of_g * of_g));
    }

    /// P ← aI + bG + cH.
    fn polar_factor(&mut self, polar: &Polar, coefficients: [f64; 3], of_h: Format) {
        let (n, Room { g, h, p, .. }) = (polar.short(), polar.at);
        self.weigh([p, g, h], coefficients, n, [polar.format, polar.format, of_h]);
    }

    fn weigh(&mut self, [y, x, d]: [Address; 3], [a, b, beta]: [f64; 3], n: usize, formats: [Format; 3]) {
        let [to, from, count] = formats.map(|format| format as i64);
        let args = Args { y, x, d, a, b, beta, cols: n as i64, to, from, count, ..Args::default() };
        self.entries(Kernel::Factor, n * n, args);
    }

    /// P_k = aI + bG + cG², G ← GP_k², and d = −X·P_1⋯P_K at the end.
    fn polar_in_gram_space(&mut self, polar: &mut Polar, phi: Address, frobenius: f64, loose: bool) -> (usize, f64) {
        let (format, n, shape) = (Format::Double, polar.short(), polar.shape);
        self.convert([polar.at.x, phi], 1.0 / frobenius, polar.size(), [format, format_of::<S>()], loose);
        self.gram((polar.at.g, format), polar.at.x, shape, format, 1.0);
        let Room { x, y: mut q, g, mut h, p, d, .. } = polar.at;
        let count = polar.polynomials.steps(0).len();
        for k in 0..count {
            let step = polar.polynomials.steps(0)[k];
            self.square((h, format), [g; 2], n, format, 1.0);
            let coefficients = [step.a, step.b, step.c];
            if k == 0 {
                self.weigh([q, g, h], coefficients, n, [format; 3]);
                self.copy_raw(p, q, n * n * format.bytes());
            } else {
                self.weigh([p, g, h], coefficients, n, [format; 3]);
                self.square((h, format), [q, p], n, format, 1.0);
                std::mem::swap(&mut q, &mut h);
            }
            if k + 1 < count {
                self.square((h, format), [g, p], n, format, 1.0);
                self.square((g, format), [h, p], n, format, 1.0);
            }
        }
        self.times((d, format), [x, q], shape, format, -1.0);
        (polar.at.y, polar.at.h) = (q, h);
        (0, 1.0)
    }
}
