//! Losses that products make, as `smooth/factor` and `smooth/robust_pca.rs` have them: ∇f is written where the pass over the penalty
//! finds it.
//!
//! ‖Y − WH‖² = ‖Y‖² − 2⟨W, YHᵀ⟩ + ⟨WᵀW, HHᵀ⟩ takes two products with Y and no residual. In single precision Y is kept as 11 digits and a
//! rest of 8, and a product with it is three: one in tf32 with H or W split likewise, side by side, and one in bfloat16 with the rest. A
//! sparse Y has products of its own, and a residual for minibatches alone.

use melmo::real::Real;
use melmo::smooth::{Factorization, Rounding};

use crate::device::{Device, Point};
use crate::linalg::sparse::{self, Sparse};
use crate::linalg::{Arithmetic, format_of};
use crate::machine::{Address, Args, Factor, Format, Kernel, Machine, Product};
use crate::plan::{Loss, Plan};

/// ‖Y − WH‖² below this part of what it is made of has lost too many digits: it is made of the residual.
const CANCELLED: [f64; 2] = [1e-6, 1e-4];
/// Entries of a strip of the residual at most.
const STRIP: usize = 1 << 26;

/// Arrays of a factorisation.
pub(crate) struct Factors {
    /// Rows of a strip, and the strip.
    pub(super) height: usize,
    pub(super) strip: Address,
    /// W and H in double precision, and the Gram matrices of both, in double precision and as numbers of the data.
    double: Address,
    grams: [Address; 2],
    own_grams: [Address; 2],
    split: Option<Split>,
    pub(super) sparse: Option<Sparse>,
}

/// What three products in place of one need.
#[derive(Clone, Copy)]
struct Split {
    /// The first digits of Y, and the rest.
    high: Address,
    low: Address,
    /// W as a pair side by side and rounded, H as a pair one above the other and rounded.
    w: [Address; 2],
    h: [Address; 2],
    /// Products with a pair.
    sums: Address,
}

fn shape<S: Real>(plan: &Plan<'_, S>) -> Option<[usize; 3]> {
    let Loss::Factors(f) = plan.loss else { return None };
    let (rows, cols, rank) = f.shape();
    Some([rows, cols, rank])
}

/// Rows of a strip; none of sparse data, which have no residual.
fn height([rows, cols, _]: [usize; 3], sparse: bool) -> usize {
    if sparse { 0 } else { (STRIP / cols).clamp(1, rows) }
}

impl Factors {
    /// Bytes that a plan cannot do without, beside its data and points.
    pub(crate) fn bytes<S: Real>(plan: &Plan<'_, S>) -> usize {
        let (Some(shape @ [rows, cols, rank]), Loss::Factors(f)) = (shape(plan), plan.loss) else { return 0 };
        let (own, pair) = (size_of::<S>(), sparse::pair(f));
        let strip = height(shape, pair.is_some()) * cols * own;
        let sparse = pair.map_or(0, |pair| sparse::bytes_of(pair, rank));
        strip + sparse + 8 * rows.max(cols) * rank + (16 + 2 * own) * rank * rank
    }

    /// Bytes of a split.
    fn of_split([rows, cols, rank]: [usize; 3]) -> usize {
        6 * rows * cols + 10 * rank * (rows + cols) + 8 * rank * rows.max(cols)
    }
}

/// The two factors in a point.
pub(super) fn blocks<S: Real>(x: Address, [rows, _, rank]: [usize; 3]) -> [Address; 2] {
    [x, x + (rows * rank * size_of::<S>()) as Address]
}

impl<S: Real, M: Machine> Device<'_, S, M> {
    /// Room for what the loss needs, and Y in two parts where that is wanted and fits.
    pub(crate) fn make_factors(&mut self, arithmetic: Arithmetic) {
        let Loss::Factors(f) = self.plan.loss else { return };
        let Some(shape @ [rows, cols, rank]) = shape(&self.plan) else { return };
        let (own, pair) = (size_of::<S>(), sparse::pair(f));
        let height = height(shape, pair.is_some());
        let square = rank * rank;
        let mut factors = Factors {
            height,
            strip: if height == 0 { 0 } else { self.raw(height * cols * own) },
            double: self.raw(8 * rows.max(cols) * rank),
            grams: [0, 1].map(|_| self.raw(8 * square)),
            own_grams: [0, 1].map(|_| self.raw(own * square)),
            split: None,
            sparse: pair.map(|pair| self.make_sparse(pair, rank)),
        };
        let wanted = own == 4 && arithmetic != Arithmetic::Plain && self.plan.mask.is_none() && pair.is_none();
        if wanted && self.has_room(Factors::of_split(shape).div_ceil(own) + 3 * self.plan.size()) {
            factors.split = Some(self.make_split(shape));
        }
        self.factors = Some(factors);
    }

    fn make_split(&mut self, [rows, cols, rank]: [usize; 3]) -> Split {
        let n = rows * cols;
        let split = Split {
            high: self.raw(4 * n),
            low: self.raw(2 * n),
            w: [8, 2].map(|bytes| self.raw(bytes * rows * rank)),
            h: [8, 2].map(|bytes| self.raw(bytes * rank * cols)),
            sums: self.raw(8 * rank * rows.max(cols)),
        };
        let args =
            Args { x: self.data()[0], y: split.high, out: split.low, to: Format::Brain as i64, ..Args::default() };
        self.entries(Kernel::Split, n, args);
        split
    }

    /// ∇f(x) where a point's entries are; f(x).
    pub(crate) fn loss_gradient(&mut self, to: &Point, x: &Point, exact: bool) -> f64 {
        let (to, x) = (self.at(to), self.at(x));
        match self.plan.loss {
            Loss::Proximity => f64::NAN,
            Loss::Sum => {
                let [d, mask] = self.data();
                self.entries(Kernel::Apart, self.plan.size() / 2, Args { x, out: to, d, mask, ..Args::default() });
                0.5 * self.results()[0]
            }
            Loss::Factors(f) => {
                let products = !exact || sparse::pair(f).is_some();
                let by_products = if products { self.by_products(f, to, x) } else { None };
                let squared = match by_products {
                    Some(squared) => squared,
                    None => self.by_residual(f, to, x),
                };
                self.with_ridge(f, to, x, squared)
            }
        }
    }

    /// f from ‖R‖², and νH added to its gradient.
    fn with_ridge(&mut self, f: &Factorization<S>, to: Address, x: Address, squared: f64) -> f64 {
        let ((c, ridge), (rows, cols, rank)) = (f.weights(), f.shape());
        if ridge == 0.0 {
            return c * squared;
        }
        let own = format_of::<S>();
        let ([_, h], [_, grad]) = (blocks::<S>(x, [rows, cols, rank]), blocks::<S>(to, [rows, cols, rank]));
        self.add_ridge(f, grad, h);
        c * squared + 0.5 * ridge * self.sums_of([h; 2], rank * cols, [own; 2], true)[1]
    }

    /// νH added to a gradient.
    pub(super) fn add_ridge(&mut self, f: &Factorization<S>, grad: Address, h: Address) {
        let ((_, a), (_, cols, rank)) = (f.weights(), f.shape());
        if a != 0.0 {
            let from = format_of::<S>() as i64;
            let args = Args { y: grad, x: grad, d: h, a, from, loose: 1, ..Args::default() };
            self.entries(Kernel::BlockStep, rank * cols, args);
        }
    }

    /// Through R = M⊙(WH − Y), strip by strip; ‖R‖².
    fn by_residual(&mut self, f: &Factorization<S>, to: Address, x: Address) -> f64 {
        let Some(Factors { height, strip, .. }) = self.factors else { return f64::NAN };
        let (rows, cols, rank) = f.shape();
        let (format, own) = (format_of::<S>(), size_of::<S>());
        let ([w, h], [of_w, of_h]) = (blocks::<S>(x, [rows, cols, rank]), blocks::<S>(to, [rows, cols, rank]));
        let [y, mask] = self.data();
        let (twice_c, mut squared) = (2.0 * f.weights().0, 0.0);
        for top in (0..rows).step_by(height) {
            let height = height.min(rows - top);
            let (w, of_w) = (w + (top * rank * own) as Address, of_w + (top * rank * own) as Address);
            let at = |data: Address| if data == 0 { 0 } else { data + (top * cols * own) as Address };
            let plain = |to, left, right, size, alpha, beta| Product {
                to,
                stored: format,
                left,
                right,
                format,
                size,
                alpha,
                beta,
            };
            let (factor, r) = (Factor::plain, Factor::plain(strip, cols));
            self.multiply(plain(r, factor(w, rank), factor(h, cols), [height, cols, rank], 1.0, 0.0));
            let args = Args { y: strip, d: at(y), mask: at(mask), ..Args::default() };
            self.entries(Kernel::Residual, height * cols, args);
            squared += self.results()[0];
            self.multiply(plain(factor(of_w, rank), r, Factor::turned(h, cols), [height, rank, cols], twice_c, 0.0));
            let add = if top == 0 { 0.0 } else { 1.0 };
            self.multiply(plain(factor(of_h, cols), Factor::turned(w, rank), r, [rank, cols, height], twice_c, add));
        }
        squared
    }

    /// By two products with Y; `None` with a mask, and where the fit is so good that its square has lost its digits, which a sparse Y
    /// bears.
    fn by_products(&mut self, f: &Factorization<S>, to: Address, x: Address) -> Option<f64> {
        let Some(Factors { double, grams, own_grams, split, sparse, .. }) = self.factors else { return Some(f64::NAN) };
        if f.mask().is_some() {
            return None;
        }
        let (rows, cols, rank) = f.shape();
        let (format, square) = (format_of::<S>(), rank * rank);
        let ([w, h], [to_w, to_h]) = (blocks::<S>(x, [rows, cols, rank]), blocks::<S>(to, [rows, cols, rank]));
        let c = f.weights().0;
        let shape = [rows, cols, rank];
        let inner = match (sparse, split) {
            (Some(sparse), _) => self.products_with_sparse(sparse, shape, [w, h], [to_w, to_h], -2.0 * c),
            (None, Some(split)) => self.three_products(split, shape, [w, h], [to_w, to_h], -2.0 * c),
            (None, None) => self.products_with_data(shape, [w, h], [to_w, to_h], -2.0 * c),
        };
        let of_w = (Factor::turned(double, rank), Factor::plain(double, rank), rows);
        let of_h = (Factor::plain(double, cols), Factor::turned(double, cols), cols);
        for ((x, product), (gram, own)) in [(w, of_w), (h, of_h)].into_iter().zip(grams.into_iter().zip(own_grams)) {
            self.convert([double, x], 1.0, product.2 * rank, [Format::Double, format], true);
            self.gram_of_factor(gram, product, rank);
            self.convert([own, gram], 1.0, square, [format, Format::Double], false);
        }
        let quadratic = self.sums_of(grams, square, [Format::Double; 2], false)[0];
        let (plain, turned) = (Factor::plain, Factor::turned);
        let add = |to, left, right, size| Product {
            to,
            stored: format,
            left,
            right,
            format,
            size,
            alpha: 2.0 * c,
            beta: 1.0,
        };
        self.multiply(add(plain(to_w, rank), plain(w, rank), plain(own_grams[1], rank), [rows, rank, rank]));
        self.multiply(add(plain(to_h, cols), turned(own_grams[0], rank), plain(h, cols), [rank, cols, rank]));
        let squared = f.data_squared() + inner / c + quadratic;
        if sparse.is_some() {
            // What rounding made of it may lie below 0; a NaN goes on.
            return Some(if squared < 0.0 { 0.0 } else { squared });
        }
        let least = CANCELLED[usize::from(format == Format::Single)] * (f.data_squared() + quadratic);
        // Written so that a NaN goes on: what is not finite is not cancelled.
        if squared < least { None } else { Some(squared) }
    }

    /// A factor's Gram matrix, rank×rank, in double precision.
    fn gram_of_factor(&mut self, gram: Address, (left, right, inner): (Factor, Factor, usize), rank: usize) {
        let (format, to) = (Format::Double, Factor::plain(gram, rank));
        let size = [rank, rank, inner];
        self.multiply(Product { to, stored: format, left, right, format, size, alpha: 1.0, beta: 0.0 });
    }

    /// aYHᵀ and aWᵀY where the gradients are; ⟨W, aYHᵀ⟩.
    fn products_with_data(
        &mut self,
        [rows, cols, rank]: [usize; 3],
        [w, h]: [Address; 2],
        to: [Address; 2],
        a: f64,
    ) -> f64 {
        let (format, y) = (format_of::<S>(), self.data()[0]);
        let (plain, turned) = (Factor::plain, Factor::turned);
        let product =
            |to, left, right, size| Product { to, stored: format, left, right, format, size, alpha: a, beta: 0.0 };
        self.multiply(product(plain(to[0], rank), plain(y, cols), turned(h, cols), [rows, rank, cols]));
        self.multiply(product(plain(to[1], cols), turned(w, rank), plain(y, cols), [rank, cols, rows]));
        self.sums_of([w, to[0]], rows * rank, [format; 2], true)[0]
    }

    /// The same in single precision by tf32, a product of Y's first digits with both parts of the factor, and of its rest with the
    /// factor rounded.
    fn three_products(
        &mut self,
        split: Split,
        [rows, cols, rank]: [usize; 3],
        [w, h]: [Address; 2],
        to: [Address; 2],
        a: f64,
    ) -> f64 {
        let Split { high, low, w: of_w, h: of_h, sums } = split;
        let (plain, turned) = (Factor::plain, Factor::turned);
        let product = |format, to, left, right, size, beta| {
            let stored = Format::Single;
            Product { to, stored, left, right, format, size, alpha: 1.0, beta }
        };
        self.split_factor(h, of_h, rank * cols, rank * cols);
        let size = [rows, 2 * rank, cols];
        self.multiply(product(
            Format::Tf32,
            plain(sums, 2 * rank),
            plain(high, cols),
            turned(of_h[0], cols),
            size,
            0.0,
        ));
        let size = [rows, rank, cols];
        self.multiply(product(
            Format::Brain,
            plain(sums, 2 * rank),
            plain(low, cols),
            turned(of_h[1], cols),
            size,
            1.0,
        ));
        let inner = self.fold(to[0], w, sums, rows * rank, rank, a);
        self.split_factor(w, of_w, rows * rank, rank);
        let size = [2 * rank, cols, rows];
        self.multiply(product(
            Format::Tf32,
            plain(sums, cols),
            turned(of_w[0], 2 * rank),
            plain(high, cols),
            size,
            0.0,
        ));
        let size = [rank, cols, rows];
        self.multiply(product(Format::Brain, plain(sums, cols), turned(of_w[1], rank), plain(low, cols), size, 1.0));
        self.fold(to[1], h, sums, rank * cols, rank * cols, a);
        inner
    }

    /// A factor as a pair of parts that are `width` apart, and rounded.
    fn split_factor(&mut self, x: Address, [pair, rounded]: [Address; 2], n: usize, width: usize) {
        let args = Args { x, y: pair, z: rounded, cols: width as i64, to: Format::Brain as i64, ..Args::default() };
        self.entries(Kernel::Split, n, args);
    }

    /// to ← a(one part + the other); ⟨x, to⟩.
    fn fold(&mut self, to: Address, x: Address, pair: Address, n: usize, width: usize, a: f64) -> f64 {
        let args = Args { y: to, x, d: pair, a, cols: width as i64, ..Args::default() };
        self.entries(Kernel::Fold, n, args);
        self.results()[0]
    }

    /// What rounding can have done to f and ∇f, as the loss says it.
    pub(crate) fn rounding_of_loss(&mut self, x: &Point, value: f64, grad: f64, x_norm: f64) -> Rounding {
        match self.plan.loss {
            Loss::Proximity => Rounding::of_proximity::<S>(value, grad, self.plan.size()),
            Loss::Sum => Rounding::of_sum::<S>(value, grad, x_norm, self.plan.size()),
            Loss::Factors(f) => {
                let (own, (rows, cols, rank)) = (format_of::<S>(), f.shape());
                let [w, h] = blocks::<S>(self.at(x), [rows, cols, rank]);
                let mut norm = |at, n: usize| self.sums_of([at; 2], n, [own; 2], true)[1].sqrt();
                let norms = [norm(w, rows * rank), norm(h, rank * cols)];
                f.rounding_for(norms, value)
            }
        }
    }
}
