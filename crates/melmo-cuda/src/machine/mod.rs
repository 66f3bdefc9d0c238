//! What runs kernels: memory that only it can read, launches, and the sums that a launch leaves.

mod args;
mod compile;
mod cublas;
pub mod gpu;
mod product;

pub use args::{Args, Blur, Part};
pub use compile::compile;
pub use product::{Factor, Format, Product};

use melmo::real::Real;

use crate::program::Program;

/// Why something could not be done, in words.
pub type Fault = String;

/// An address in a machine's memory; 0 is nowhere.
pub type Address = u64;

/// The most numbers that a launch leaves; the last says which launch it was.
pub const RESULTS: usize = 32;

/// Kernels by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
#[allow(missing_docs)]
pub enum Kernel {
    Gradient,
    AdvanceGradient,
    Value,
    Subgradient,
    Look,
    Dual,
    AddScaled,
    Scale,
    Extrapolate,
    SignStep,
    CoordinateStep,
    Dot,
    Measure,
    Find,
    RowParts,
    ColumnParts,
    LineNorms,
    LineStep,
    Apply,
    GroupParts,
    GroupNorms,
    AnswerGradient,
    AnswerValue,
    AnswerSubgradient,
    AnswerLook,
    AnswerDual,
    ConvolvedResidual,
    PullGradient,
    PullSubgradient,
    PullLook,
    Convert,
    Factor,
    Pair,
    BlockStep,
    Split,
    Fold,
    Residual,
    Apart,
    SparseTimes,
    Turn,
    Gather,
    Clear,
    Spread,
    SubtractRows,
}

impl Kernel {
    /// All, in the order of their numbers, with their names in the source.
    pub const ALL: [(Self, &str); 44] = [
        (Self::Gradient, "gradient"),
        (Self::AdvanceGradient, "advance_gradient"),
        (Self::Value, "value"),
        (Self::Subgradient, "subgradient"),
        (Self::Look, "look"),
        (Self::Dual, "dual"),
        (Self::AddScaled, "add_scaled"),
        (Self::Scale, "scale"),
        (Self::Extrapolate, "extrapolate"),
        (Self::SignStep, "sign_step"),
        (Self::CoordinateStep, "coordinate_step"),
        (Self::Dot, "dot"),
        (Self::Measure, "measure"),
        (Self::Find, "find"),
        (Self::RowParts, "row_parts"),
        (Self::ColumnParts, "column_parts"),
        (Self::LineNorms, "line_norms"),
        (Self::LineStep, "line_step"),
        (Self::Apply, "apply"),
        (Self::GroupParts, "group_parts"),
        (Self::GroupNorms, "group_norms"),
        (Self::AnswerGradient, "answer_gradient"),
        (Self::AnswerValue, "answer_value"),
        (Self::AnswerSubgradient, "answer_subgradient"),
        (Self::AnswerLook, "answer_look"),
        (Self::AnswerDual, "answer_dual"),
        (Self::ConvolvedResidual, "convolved_residual"),
        (Self::PullGradient, "pull_gradient"),
        (Self::PullSubgradient, "pull_subgradient"),
        (Self::PullLook, "pull_look"),
        (Self::Convert, "convert"),
        (Self::Factor, "factor"),
        (Self::Pair, "pair"),
        (Self::BlockStep, "block_step"),
        (Self::Split, "split"),
        (Self::Fold, "fold"),
        (Self::Residual, "residual"),
        (Self::Apart, "apart"),
        (Self::SparseTimes, "sparse_times"),
        (Self::Turn, "turn"),
        (Self::Gather, "gather"),
        (Self::Clear, "clear"),
        (Self::Spread, "spread"),
        (Self::SubtractRows, "subtract_rows"),
    ];
}

/// A device, or what stands for one. Work is done in the order in which it was asked for.
pub trait Machine: Send {
    /// Bytes that can still be had.
    fn available(&mut self) -> Result<usize, Fault>;

    /// Makes the kernels ready.
    fn load(&mut self, program: &Program) -> Result<(), Fault>;

    /// So many bytes, all 0, until the machine is dropped or [`Machine::release`] is called.
    fn allocate(&mut self, bytes: usize) -> Result<Address, Fault>;

    /// Gives an allocation back.
    fn release(&mut self, address: Address);

    /// Hands an allocation over: it stays when the machine is dropped. False where that cannot be.
    fn forget(&mut self, _: Address) -> bool {
        false
    }

    /// Memory there ← bytes here.
    fn upload(&mut self, to: Address, from: &[u8]) -> Result<(), Fault>;

    /// Bytes here ← memory there.
    fn download(&mut self, to: &mut [u8], from: Address) -> Result<(), Fault>;

    /// Memory there ← memory there.
    fn copy(&mut self, to: Address, from: Address, bytes: usize) -> Result<(), Fault>;

    /// Runs a kernel on so many threads, or a few more.
    fn launch(&mut self, kernel: Kernel, threads: usize, args: Args) -> Result<(), Fault>;

    /// Makes products of matrices possible; says why where they are not. Asked before the first of them.
    fn prepare_products(&mut self) -> Result<(), Fault>;

    /// C ← αAB + βC.
    fn multiply(&mut self, product: &Product) -> Result<(), Fault>;

    /// What the last launch left. Waits for it.
    fn results(&mut self) -> Result<[f64; RESULTS], Fault>;
}

/// A machine of a kind that is chosen when the program runs.
impl Machine for Box<dyn Machine> {
    fn available(&mut self) -> Result<usize, Fault> {
        (**self).available()
    }

    fn load(&mut self, program: &Program) -> Result<(), Fault> {
        (**self).load(program)
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address, Fault> {
        (**self).allocate(bytes)
    }

    fn release(&mut self, address: Address) {
        (**self).release(address);
    }

    fn forget(&mut self, address: Address) -> bool {
        (**self).forget(address)
    }

    fn upload(&mut self, to: Address, from: &[u8]) -> Result<(), Fault> {
        (**self).upload(to, from)
    }

    fn download(&mut self, to: &mut [u8], from: Address) -> Result<(), Fault> {
        (**self).download(to, from)
    }

    fn copy(&mut self, to: Address, from: Address, bytes: usize) -> Result<(), Fault> {
        (**self).copy(to, from, bytes)
    }

    fn launch(&mut self, kernel: Kernel, threads: usize, args: Args) -> Result<(), Fault> {
        (**self).launch(kernel, threads, args)
    }

    fn prepare_products(&mut self) -> Result<(), Fault> {
        (**self).prepare_products()
    }

    fn multiply(&mut self, product: &Product) -> Result<(), Fault> {
        (**self).multiply(product)
    }

    fn results(&mut self) -> Result<[f64; RESULTS], Fault> {
        (**self).results()
    }
}

/// Numbers as the bytes they are.
#[allow(unsafe_code)] // f32 and f64 have no padding, and every pattern of bits is one of them
pub(crate) fn bytes<S: Real>(numbers: &[S]) -> &[u8] {
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// The same, to write to.
#[allow(unsafe_code)]
pub(crate) fn bytes_mut<S: Real>(numbers: &mut [S]) -> &mut [u8] {
    unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
}
