//! Cosine transforms of one line: with `fourier.rs` the only user of the transform crates.
//!
//! Their own planners know every algorithm for every processor, and all of it would be compiled. What is planned here is what
//! they plan on a processor with AVX, and plain Rust elsewhere.

use std::sync::Arc;

use rustdct::algorithm::type2and3_butterflies::{
    Type2And3Butterfly2, Type2And3Butterfly3, Type2And3Butterfly4, Type2And3Butterfly8, Type2And3Butterfly16,
};
use rustdct::algorithm::{Type2And3ConvertToFft, Type2And3SplitRadix};
use rustdct::{DctNum, TransformType2And3};
use rustfft::FftDirection;

use crate::fourier;

/// Cosine transforms of lines of one length.
pub trait Line<S>: Send + Sync {
    /// Scratch of both directions, in numbers.
    fn work_len(&self) -> usize;

    /// x̂ₖ = Σᵢ xᵢ·cos(πk(2i+1)/(2n)), in place.
    fn forward(&self, line: &mut [S], work: &mut [S]);

    /// x̂₀/2 + Σₖ x̂ₖ·cos(πk(2i+1)/(2n)), in place: n/2 times the inverse of `forward`.
    fn backward(&self, line: &mut [S], work: &mut [S]);
}

/// Numbers that have cosine transforms.
pub trait Cosines: Sized {
    /// The transforms of lines of n numbers.
    fn line(n: usize) -> Box<dyn Line<Self>>;
}

struct Planned<S>(Arc<dyn TransformType2And3<S>>);

/// Powers of two by halves and quarters, the smallest by hand, the others by a Fourier transform.
fn plan<S: DctNum>(n: usize) -> Arc<dyn TransformType2And3<S>> {
    match n {
        2 => Arc::new(Type2And3Butterfly2::new()),
        3 => Arc::new(Type2And3Butterfly3::new()),
        4 => Arc::new(Type2And3Butterfly4::new()),
        8 => Arc::new(Type2And3Butterfly8::new()),
        16 => Arc::new(Type2And3Butterfly16::new()),
        n if n.is_power_of_two() && n > 16 => Arc::new(Type2And3SplitRadix::new(plan(n / 2), plan(n / 4))),
        n => Arc::new(Type2And3ConvertToFft::new(fourier::plan(n, FftDirection::Forward))),
    }
}

macro_rules! cosines {
    ($($t:ident),*) => {$(
        impl Line<$t> for Planned<$t> {
            fn work_len(&self) -> usize {
                self.0.get_scratch_len()
            }

            fn forward(&self, line: &mut [$t], work: &mut [$t]) {
                self.0.process_dct2_with_scratch(line, &mut work[..self.0.get_scratch_len()]);
            }

            fn backward(&self, line: &mut [$t], work: &mut [$t]) {
                self.0.process_dct3_with_scratch(line, &mut work[..self.0.get_scratch_len()]);
            }
        }

        impl Cosines for $t {
            fn line(n: usize) -> Box<dyn Line<Self>> {
                Box::new(Planned(plan(n)))
            }
        }
    )*};
}
cosines!(f32, f64);
