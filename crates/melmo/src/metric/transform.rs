//! Cosine transforms of one line: the only user of the transform crate.

use std::sync::Arc;

use rustdct::{DctPlanner, TransformType2And3};

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
                Box::new(Planned(DctPlanner::<$t>::new().plan_dct2(n)))
            }
        }
    )*};
}
cosines!(f32, f64);
