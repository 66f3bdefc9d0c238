//! What the commands do.

/// `$do` with `$bound` the arguments of whichever problem it is.
macro_rules! solving {
    ($problem:expr, $bound:ident => $do:expr) => {
        match $problem {
            $crate::args::Problem::Complete($bound) => $do,
            $crate::args::Problem::Deblur($bound) => $do,
            $crate::args::Problem::Denoise($bound) => $do,
            $crate::args::Problem::Factorize($bound) => $do,
            $crate::args::Problem::Inpaint($bound) => $do,
            $crate::args::Problem::Recover($bound) => $do,
            $crate::args::Problem::Regress($bound) => $do,
            $crate::args::Problem::Rpca($bound) => $do,
            $crate::args::Problem::Upscale($bound) => $do,
        }
    };
}
pub(crate) use solving;

pub mod check;
pub mod compare;
mod complete;
pub mod denoise;
pub mod explain;
mod factorize;
mod frames;
pub mod list;
pub mod manual;
mod pages;
pub mod predict;
mod quality;
mod ratings;
mod recommendations;
mod recover;
mod regress;
pub mod reproduce;
pub mod restore;
pub mod rpca;
pub mod verify;
