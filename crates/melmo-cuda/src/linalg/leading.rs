//! d = −u₁v₁ᵀ: the leading singular pair, by repeated squaring of the Gram matrix: G_{j+1} = (G_j/‖G_j‖_F)².
//!
//! λ₁(G_j) ≤ ‖G_j‖_F for every j bounds σ₁ from above, by (Σσᵢ^{2^{j+2}})^{1/2^{j+2}} in exact arithmetic: after ten squarings the bound
//! exceeds σ₁ by two thousandths at most, whatever the spectrum. Any q bounds it from below by ‖Xq‖/‖q‖.

use melmo::geometry::{Answer, Bracket};
use melmo::real::Real;
use melmo::seeded::Seeded;

use crate::device::Device;
use crate::linalg::format_of;
use crate::machine::{Address, Factor, Format, Machine, Product};

/// Squarings at most.
const SQUARINGS: usize = 10;
/// 1 − ‖G_j‖_F from which on it is a matrix of rank one.
const ONE: f64 = 1e-9;
/// Columns up to which it is done in double precision.
const DOUBLE: usize = 2048;
/// Products with XᵀX that polish the vector.
const POLISH: usize = 3;

pub(crate) struct Leading {
    shape: [usize; 2],
    format: Format,
    x: Address,
    g: Address,
    h: Address,
    /// The vector of the long side and of the short one, as factors; and both in double precision, u before v.
    long: Address,
    short: Address,
    pair: Address,
    /// A fixed vector that is nowhere 0.
    random: Address,
}

impl Leading {
    pub(crate) fn new<S: Real>(shape: [usize; 2]) -> Self {
        let exact = shape[0].min(shape[1]) <= DOUBLE || format_of::<S>() == Format::Double;
        let format = if exact { Format::Double } else { Format::Single };
        Self { shape, format, x: 0, g: 0, h: 0, long: 0, short: 0, pair: 0, random: 0 }
    }

    fn sides(&self) -> [usize; 2] {
        let [rows, cols] = self.shape;
        [rows.max(cols), rows.min(cols)]
    }

    pub(crate) fn bytes(&self) -> usize {
        let [long, short] = self.sides();
        self.format.bytes() * (long * short + 2 * short * short + long + 2 * short) + 8 * (long + short)
    }

    /// Both vectors, one after the other.
    pub(crate) fn direction(&self) -> (Address, Format) {
        (self.pair, Format::Double)
    }

    /// Where u and v are.
    pub(crate) fn vectors(&self) -> [Address; 2] {
        [self.pair, self.pair + 8 * self.shape[0] as Address]
    }
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    pub(crate) fn make_leading(&mut self, leading: &mut Leading) {
        let ([long, short], bytes) = (leading.sides(), leading.format.bytes());
        let sizes = [long * short, short * short, short * short, long, short].map(|n| n * bytes);
        [leading.x, leading.g, leading.h, leading.long, leading.short] = sizes.map(|bytes| self.raw(bytes));
        leading.pair = self.raw(8 * (long + short));
        leading.random = self.raw(bytes * short);
        let random: Vec<S> = Seeded::new(short as u64).normals(short);
        self.upload_raw(leading.pair, &random);
        self.convert([leading.random, leading.pair], 1.0, short, [leading.format, format_of::<S>()], false);
    }

    /// u and v for the φ that starts at an address, and a bracket of σ₁.
    pub(crate) fn leading(&mut self, leading: &mut Leading, phi: Address, frobenius: f64, loose: bool) -> Answer {
        let ([long, short], format, shape) = (leading.sides(), leading.format, leading.shape);
        self.convert([leading.x, phi], 1.0 / frobenius, long * short, [format, format_of::<S>()], loose);
        self.gram((leading.g, format), leading.x, shape, format, 1.0);
        let upper = self.bound_by_squaring(leading);
        self.start_of_vector(leading);
        for _ in 0..POLISH {
            self.image_of_vector(leading);
            self.back_of_vector(leading);
        }
        let length = self.image_of_vector(leading);
        let (u, v) = if shape[0] >= shape[1] { (leading.long, leading.short) } else { (leading.short, leading.long) };
        let [at_u, at_v] = leading.vectors();
        let of_long = if length > 0.0 { 1.0 / length } else { 0.0 };
        let scales = if shape[0] >= shape[1] { [of_long, 1.0] } else { [1.0, of_long] };
        self.convert([at_u, u], scales[0], shape[0], [Format::Double, format], false);
        self.convert([at_v, v], scales[1], shape[1], [Format::Double, format], false);
        let room = 8.0 * self.unit_of_leading(leading);
        let lower = length * (1.0 - room);
        let upper = upper.min(1.0 + room).max(lower);
        Answer {
            dual_norm: Bracket { lower: lower * frobenius, upper: upper * frobenius },
            decrease: lower * frobenius,
            excess: room,
        }
    }

    /// What a product's sum is off by as a rule.
    fn unit_of_leading(&self, leading: &Leading) -> f64 {
        let epsilon = if leading.format == Format::Double { f64::EPSILON } else { f64::from(f32::EPSILON) };
        epsilon * (2.0 + (leading.sides()[0] as f64).sqrt() / 8.0)
    }

    /// σ₁(X) is at most Π‖G_j‖_F^{1/2^{j+1}}; G ← the last of them.
    fn bound_by_squaring(&mut self, leading: &mut Leading) -> f64 {
        let (n, format) = (leading.sides()[1], leading.format);
        let (mut log, mut weight) = (0.0, 0.5);
        for j in 0..=SQUARINGS {
            let norm = self.sums_of([leading.g; 2], n * n, [format; 2], false)[1].sqrt();
            log += weight * norm.ln();
            if j == SQUARINGS || j > 0 && norm > 1.0 - ONE || !norm.is_finite() {
                break;
            }
            self.square((leading.h, format), [leading.g; 2], n, format, 1.0 / (norm * norm));
            std::mem::swap(&mut leading.g, &mut leading.h);
            weight *= 0.5;
        }
        // Every product is off by a little of its size, and each counts half as much as the one before.
        log.exp() * (1.0 + 8.0 * self.unit_of_leading(leading))
    }

    /// short ← the part of the last G along a fixed vector.
    fn start_of_vector(&mut self, leading: &Leading) {
        let (n, format) = (leading.sides()[1], leading.format);
        let (left, right) = (Factor::plain(leading.g, n), Factor::plain(leading.random, 1));
        self.vector_product(leading.short, left, right, [n, 1, n], format);
        self.unit_vector(leading.short, n, format);
    }

    /// long ← Xq for the q in short; its length is returned.
    fn image_of_vector(&mut self, leading: &Leading) -> f64 {
        let ([long, short], [rows, cols]) = (leading.sides(), leading.shape);
        let x = if rows >= cols { Factor::plain(leading.x, cols) } else { Factor::turned(leading.x, cols) };
        let right = Factor::plain(leading.short, 1);
        self.vector_product(leading.long, x, right, [long, 1, short], leading.format);
        let squared = self.sums_of([leading.long; 2], long, [leading.format; 2], false)[1];
        squared.sqrt()
    }

    /// short ← Xᵀt for the t in long, of length 1.
    fn back_of_vector(&mut self, leading: &Leading) {
        let ([long, short], [rows, cols]) = (leading.sides(), leading.shape);
        let x = if rows >= cols { Factor::turned(leading.x, cols) } else { Factor::plain(leading.x, cols) };
        let right = Factor::plain(leading.long, 1);
        self.vector_product(leading.short, x, right, [short, 1, long], leading.format);
        self.unit_vector(leading.short, short, leading.format);
    }

    fn vector_product(&mut self, to: Address, left: Factor, right: Factor, size: [usize; 3], format: Format) {
        let to = Factor::plain(to, 1);
        self.multiply(Product { to, stored: format.sums(), left, right, format, size, alpha: 1.0, beta: 0.0 });
    }

    fn unit_vector(&mut self, x: Address, n: usize, format: Format) {
        let length = self.sums_of([x; 2], n, [format; 2], false)[1].sqrt();
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        self.convert([x; 2], scale, n, [format; 2], false);
    }
}
