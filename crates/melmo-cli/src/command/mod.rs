//! What the commands do.

/// `$do` with `$bound` the arguments of whichever solving command it is; `$other` for a command that solves nothing.
macro_rules! solving {
    ($command:expr, $bound:ident => $do:expr, $other:expr) => {
        match $command {
            $crate::args::Command::Complete($bound) => $do,
            $crate::args::Command::Denoise($bound) => $do,
            $crate::args::Command::Factorize($bound) => $do,
            $crate::args::Command::Recover($bound) => $do,
            $crate::args::Command::Regress($bound) => $do,
            $crate::args::Command::Rpca($bound) => $do,
            _ => $other,
        }
    };
}
pub(crate) use solving;

mod complete;
pub mod denoise;
pub mod explain;
mod factorize;
mod frames;
pub mod list;
mod ratings;
mod recover;
mod regress;
pub mod reproduce;
mod rpca;
pub mod verify;
