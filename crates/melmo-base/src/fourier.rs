//! Fourier transforms of lines of complex numbers, whose real and imaginary parts stand side by side.

use std::sync::Arc;

use num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum, FftPlannerAvx, FftPlannerScalar};

/// The Fourier transform of lines of one length, in one direction.
pub trait Lines<S>: Send + Sync {
    /// Scratch, in numbers.
    fn work_len(&self) -> usize;

    /// x̂ₖ = Σᵢ xᵢ·exp(∓2πiki/n) of every line, one after another, in place; nothing is divided by n.
    fn transform(&self, lines: &mut [S], work: &mut [S]);
}

/// Numbers that have Fourier transforms.
pub trait Fourier: Sized {
    /// The transform of lines of n complex numbers, forwards (−) or backwards (+).
    fn lines(n: usize, backwards: bool) -> Box<dyn Lines<Self>>;
}

/// The plan of one length: with AVX where the processor has it, in plain Rust elsewhere.
pub(crate) fn plan<S: FftNum>(n: usize, direction: FftDirection) -> Arc<dyn Fft<S>> {
    match FftPlannerAvx::new() {
        Ok(mut planner) => planner.plan_fft(n, direction),
        Err(()) => FftPlannerScalar::new().plan_fft(n, direction),
    }
}

struct Planned<S>(Arc<dyn Fft<S>>);

macro_rules! fourier {
    ($($t:ident),*) => {$(
        impl Lines<$t> for Planned<$t> {
            fn work_len(&self) -> usize {
                2 * self.0.get_inplace_scratch_len()
            }

            fn transform(&self, lines: &mut [$t], work: &mut [$t]) {
                let lines: &mut [Complex<$t>] = bytemuck::cast_slice_mut(lines);
                let work: &mut [Complex<$t>] = bytemuck::cast_slice_mut(&mut work[..2 * self.0.get_inplace_scratch_len()]);
                self.0.process_with_scratch(lines, work);
            }
        }

        impl Fourier for $t {
            fn lines(n: usize, backwards: bool) -> Box<dyn Lines<Self>> {
                let direction = if backwards { FftDirection::Inverse } else { FftDirection::Forward };
                Box::new(Planned(plan(n, direction)))
            }
        }
    )*};
}
fourier!(f32, f64);
