//! The widest vector instructions of the machine, picked at run time.

/// Runs `work` compiled for the widest vector instructions the machine has.
#[inline(always)]
pub fn simd<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The name of those instructions. Sums are rounded in another order with others: two machines that differ here agree to
/// rounding, not bit for bit.
pub fn instructions() -> &'static str {
    match pulp::Arch::new() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        pulp::Arch::V4(_) => "AVX-512",
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        pulp::Arch::V3(_) => "AVX2",
        _ => std::env::consts::ARCH,
    }
}
