use crate::operator::LinOp;
use crate::smooth::{EntryFactors, Factorization, KnownFactors, Responses};

/// What a loss is made of, for the methods that can use it: a variable metric, alternating or coordinate steps.
#[non_exhaustive]
pub enum Form<'a, S> {
    /// Nothing that a method knows of.
    General,
    /// f(x) = ½‖M⊙(x − y)‖².
    Proximity {
        /// y; anything where it is not observed.
        target: &'a [S],
        /// M, of zeros and ones; all ones when there is none.
        mask: Option<&'a [S]>,
    },
    /// f(x) = ½‖x − y‖² with y in the memory of a device, where it is read as it lies there.
    Lent(&'a dyn Lent),
    /// f(x) = H(Ax + o), H a sum over rows.
    Linear {
        /// A.
        operator: &'a dyn LinOp<S>,
        /// H and o, row by row.
        rows: &'a Responses<S>,
    },
    /// f(X) = H(AX + o) for a matrix X, or an H that is no sum over rows.
    Coupled {
        /// A.
        operator: &'a dyn LinOp<S>,
        /// H and o.
        rows: &'a Responses<S>,
    },
    /// f(W, H) = c‖M⊙(Y − WH)‖² + ν/2·‖H‖².
    Factors(&'a Factorization<S>),
    /// f(W, H) = ½Σ (y − (WH)ᵢⱼ)² + ν/2·‖H‖² over known entries.
    Known(&'a KnownFactors<S>),
    /// f(W, H) = Σ h((WH)ᵢⱼ) + ν/2·‖H‖² over the entries of a sparse Y: counts, or yes and no.
    Entries(&'a EntryFactors<S>),
    /// f(L, S) = ½‖M⊙(Y − L − S)‖².
    Sum {
        /// Y.
        target: &'a [S],
        /// M, of zeros and ones; all ones when there is none.
        mask: Option<&'a [S]>,
    },
}

/// Data in the memory of a device, lent for as long as a run takes, and whoever takes the point that it leaves there.
pub trait Lent: Send + Sync {
    /// The device, counted from 0.
    fn device(&self) -> usize;

    /// Where the data are in its memory.
    fn address(&self) -> u64;

    /// How many numbers.
    fn size(&self) -> usize;

    /// A run has left its point, of as many numbers, in the device's memory: it belongs to whoever lent the data.
    fn leave(&self, address: u64);
}
