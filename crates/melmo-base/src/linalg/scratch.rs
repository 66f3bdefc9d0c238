//! Lends a slice of numbers as the byte scratch that the linear algebra crate asks for.

use std::mem::MaybeUninit;

use faer::dyn_stack::{MemStack, StackReq};

/// How many numbers cover `req`, alignment included.
pub(super) fn numbers<S>(req: StackReq) -> usize {
    req.unaligned_bytes_required().div_ceil(size_of::<S>())
}

/// The numbers' memory as a stack of bytes.
pub(super) fn stack<S: bytes::Plain>(work: &mut [S]) -> &mut MemStack {
    MemStack::new(bytes::of(work))
}

pub(super) use bytes::Plain;

/// Kept to itself: the one place with hand-written unsafe code.
#[allow(unsafe_code)]
mod bytes {
    use super::MaybeUninit;

    /// A number type for which every pattern of bits is a value.
    ///
    /// # Safety
    /// Implement only where that is true: the memory comes back with whatever the borrower left in it.
    pub unsafe trait Plain: Copy {}
    // SAFETY: every bit pattern is a floating-point number.
    unsafe impl Plain for f32 {}
    // SAFETY: as above.
    unsafe impl Plain for f64 {}

    pub(super) fn of<S: Plain>(work: &mut [S]) -> &mut [MaybeUninit<u8>] {
        let len = size_of_val(work);
        // SAFETY: the pointer and the length cover exactly the borrowed slice, bytes need no alignment, and whatever
        // initialised bytes are left behind are valid numbers (`Plain`). The scratch stack of the linear algebra crate
        // hands the memory out for numbers, which it initialises before use, and never stores uninitialised bytes.
        unsafe { std::slice::from_raw_parts_mut(work.as_mut_ptr().cast(), len) }
    }
}
