//! What the commands do.

/// `$do` with `$bound` the arguments of whichever solving command it is; `$other` for a command that solves nothing.
macro_rules! solving {
    ($command:expr, $bound:ident => $do:expr, $other:expr) => {
        match $command {
            $crate::args::Command::Denoise($bound) => $do,
            $crate::args::Command::Factorize($bound) => $do,
            $crate::args::Command::Recover($bound) => $do,
            $crate::args::Command::Regress($bound) => $do,
            _ => $other,
        }
    };
}
pub(crate) use solving;

pub mod denoise;
pub mod explain;
mod factorize;
pub mod list;
mod recover;
mod regress;
pub mod verify;
