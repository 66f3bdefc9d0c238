//! Points in the memory of a GPU: [`Device`] is a [`Space`](melmo::space::Space), so that the solvers of `melmo` run there.
//!
//! What a problem is made of is read from its terms' forms ([`Plan`]); what has no kernel is refused, with the reason, before anything
//! is copied. Nothing is linked: the driver, NVRTC and cuBLAS are loaded when a GPU is asked for, and a missing one is an error message.

mod chain;
mod chained;
mod device;
mod formula;
mod kept;
mod lent;
mod linalg;
mod lines;
pub mod machine;
mod plan;
mod program;
mod space;
mod witness;

pub use chain::Chain;
pub use device::{Device, Point};
pub use lent::Elsewhere;
pub use linalg::Arithmetic;
pub use machine::gpu::{Described, Gpu, Owned, described, settle};
pub use plan::{Loss, Plan};
pub use program::Program;
