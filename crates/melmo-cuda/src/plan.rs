//! What a device has to know of a problem: sizes, data, and which formulas its kernels are made of.

use melmo::error::Error;
use melmo::operator;
use melmo::penalty::{self, Psi};
use melmo::problem::Problem;
use melmo::real::Real;
use melmo::smooth::{self, Factorization};

use crate::chain::{Chain, Linear};
use crate::formula::{Formula, Kind};

/// The loss, as far as kernels differ in it.
#[derive(Clone, Copy)]
pub enum Loss<'p, S> {
    /// ½‖M⊙(x − y)‖², evaluated in the same pass as the penalty, or one that a chain evaluates.
    Proximity,
    /// c‖M⊙(Y − WH)‖² + ν/2·‖H‖², by products.
    Factors(&'p Factorization<S>),
    /// ½‖M⊙(Y − L − S)‖².
    Sum,
}

/// A problem as data: a loss and g(Tx), T picks entries or takes differences, g is a sum over entries or pixels; or a chain.
#[derive(Clone)]
pub struct Plan<'p, S> {
    /// The loss.
    pub loss: Loss<'p, S>,
    /// Entries of x.
    pub size: usize,
    /// Slices, rows and columns: an image has one row a slice, so that threads walk down it.
    pub shape: [usize; 3],
    /// The entries that T picks, where it picks some.
    pub picked: [usize; 2],
    /// Components of Tx at a place: 1 where T picks entries, 2 in an image, 3 in a volume.
    pub components: usize,
    /// y.
    pub target: &'p [S],
    /// y where it is in the device's memory, if it is; then `target` is empty.
    pub lent: Option<&'p dyn smooth::Lent>,
    /// M.
    pub mask: Option<&'p [S]>,
    /// ψ.
    pub psi: Psi,
    /// Its weights.
    pub weights: Option<&'p [S]>,
    /// ψ of the norm of a place's components, not of each.
    pub pixels: bool,
    /// What is evaluated link by link, where it is: then T and the penalty are told there.
    pub chain: Option<Chain<'p, S>>,
}

/// What a loss says: its data, their mask, and where they are lent.
pub(crate) struct Told<'p, S> {
    pub loss: Loss<'p, S>,
    pub target: &'p [S],
    pub mask: Option<&'p [S]>,
    pub lent: Option<&'p dyn smooth::Lent>,
}

impl<'p, S: Real> Told<'p, S> {
    pub fn of(problem: &'p Problem<S>) -> Result<Self, Error> {
        let (loss, target, mask, lent): (_, &[S], _, _) = match problem.f().form() {
            smooth::Form::Proximity { target, mask } => (Loss::Proximity, target, mask, None),
            smooth::Form::Lent(lent) => (Loss::Proximity, &[], None, Some(lent)),
            smooth::Form::Factors(f) => match f.data() {
                smooth::Data::Dense(y) => (Loss::Factors(f), y, f.mask(), None),
                smooth::Data::Sparse(pair) => (Loss::Factors(f), pair[0].values(), None, None),
                smooth::Data::Rows(_) => return refuse("a factorisation of rows that are read"),
            },
            smooth::Form::Sum { target, mask } => (Loss::Sum, target, mask, None),
            _ => {
                return refuse(
                    "a loss other than ½‖M⊙(x − y)‖², ½‖Kx − y‖² with a convolution K, a factorisation or L + S",
                );
            }
        };
        Ok(Self { loss, target, mask, lent })
    }
}

/// Refuses what has no kernel, and says where it is solved.
pub(crate) fn refuse<T>(what: &str) -> Result<T, Error> {
    Err(Error::Unsupported(format!("{what}: no kernel of the GPU does that; the processor solves it (device cpu)")))
}

impl<'p, S: Real> Plan<'p, S> {
    /// Reads it from the forms of the terms.
    pub fn of(problem: &'p Problem<S>) -> Result<Self, Error> {
        Self::walked(problem).or_else(|_| Self::chained(problem))
    }

    /// A problem without a walk of its own.
    fn chained(problem: &'p Problem<S>) -> Result<Self, Error> {
        let (chain, told) = Chain::of(problem)?;
        let Told { loss, target, mask, lent } = told;
        let (n, psi) = (problem.layout().size(), chain.psi());
        let plan = Self {
            loss,
            size: n,
            shape: [1, 1, n],
            picked: [0, n],
            components: 1,
            target,
            lent,
            mask,
            psi,
            weights: None,
            pixels: false,
            chain: Some(chain),
        };
        if plan.given() && !plan.picks() { refuse("differences of factors or of sums") } else { Ok(plan) }
    }

    /// One that is walked through in one pass.
    fn walked(problem: &'p Problem<S>) -> Result<Self, Error> {
        let size = problem.layout().size();
        let Told { loss, target, mask, lent } = Told::of(problem)?;
        let (shape, picked, components) = match problem.t().form() {
            operator::Form::Identity => ([1, 1, size], [0, size], 1),
            operator::Form::Select(t) => ([1, 1, size], stretch(t)?, 1),
            operator::Form::Difference2d(t) => ([t.shape().0, 1, t.shape().1], [0, 0], 2),
            operator::Form::Difference3d(t) => ([t.shape().0, t.shape().1, t.shape().2], [0, 0], 3),
            _ => return refuse("an operator other than the identity, a choice of blocks or differences"),
        };
        let (psi, weights, pixels) = match problem.g().form() {
            penalty::Form::Entries { psi, weights } => (psi, weights, false),
            penalty::Form::Pixels { psi, weights, .. } if components > 1 => (psi, weights, true),
            _ => return refuse("a penalty other than one on entries, or on the differences of a pixel"),
        };
        let plan =
            Self { loss, size, shape, picked, components, target, lent, mask, psi, weights, pixels, chain: None };
        if plan.given() && components > 1 {
            return refuse("differences of factors or of sums");
        }
        Ok(plan)
    }

    /// Entries of x.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The factorisation that is solved, if one is: minibatches are rows of its data.
    pub fn factorization(&self) -> Option<&'p Factorization<S>> {
        if let Loss::Factors(f) = self.loss { Some(f) } else { None }
    }

    /// Refuses what has no minibatches.
    pub fn expect_samples(&self) -> Result<(), Error> {
        match self.factorization() {
            Some(_) => Ok(()),
            None => refuse("minibatches of another loss than a factorisation"),
        }
    }

    /// ∇f is there before the pass over the penalty.
    pub fn given(&self) -> bool {
        !matches!(self.loss, Loss::Proximity)
    }

    /// x and v are worth reading for a certificate: T picks entries.
    pub(crate) fn picks(&self) -> bool {
        match &self.chain {
            Some(chain) => matches!(chain.operator, Linear::Select { .. }),
            None => self.components == 1,
        }
    }

    /// Entries of Tx.
    pub fn range(&self) -> usize {
        if let Some(chain) = &self.chain {
            return chain.range;
        }
        if self.components == 1 { self.picked[1] } else { self.components * self.size() }
    }

    /// How many slices a thread walks through: so that there are enough threads, whatever device they run on.
    pub fn strip(&self) -> usize {
        ((self.columns() * self.shape[0]) >> 18).clamp(1, 32)
    }

    /// Fours of columns in a slice.
    fn columns(&self) -> usize {
        self.shape[1] * self.shape[2].div_ceil(4)
    }

    /// Threads of a walk through Tx.
    pub fn threads(&self) -> usize {
        if let Some(chain) = &self.chain {
            return self.size() / chain.channels();
        }
        match self.components {
            1 => entry_threads(self.size()),
            _ => self.columns() * self.shape[0].div_ceil(self.strip()),
        }
    }

    /// Terms that a thread of a walk adds up one after another.
    pub fn terms(&self) -> usize {
        if let Some(chain) = &self.chain {
            return chain.channels();
        }
        if self.components == 1 { 16 } else { 4 * self.strip() * self.components }
    }

    /// Bytes of the data, and of so many points.
    pub fn bytes(&self, points: usize) -> usize {
        let data = self.target.len().saturating_mul(1 + usize::from(self.mask.is_some()));
        let beside = self.weights.map_or(0, <[S]>::len) + self.chain.as_ref().map_or(0, Chain::numbers);
        let arrays = points.saturating_mul(self.size()).saturating_add(data).saturating_add(beside);
        size_of::<S>().saturating_mul(arrays)
    }

    /// The formulas of the penalty, each once; `None` where there is one that kernels do not have.
    pub(crate) fn kinds(&self) -> Option<Vec<Kind>> {
        match &self.chain {
            Some(chain) => chain.kinds(),
            None => Some(vec![Formula::of(self.psi)?.kind]),
        }
    }
}

/// Threads of a pass over entries: sixteen each.
pub(crate) fn entry_threads(n: usize) -> usize {
    n.div_ceil(4096) * 256
}

/// Where the chosen blocks start, and how long they are, if they are one stretch of x.
pub(crate) fn stretch(t: &operator::Select) -> Result<[usize; 2], Error> {
    let mut whole: Option<std::ops::Range<usize>> = None;
    for (in_x, _) in t.pairs() {
        whole = match whole {
            None => Some(in_x),
            Some(so_far) if so_far.end == in_x.start => Some(so_far.start..in_x.end),
            Some(_) => return refuse("a choice of blocks that do not follow one another"),
        };
    }
    whole.map(|all| [all.start, all.len()]).map_or_else(|| refuse("no block at all"), Ok)
}
