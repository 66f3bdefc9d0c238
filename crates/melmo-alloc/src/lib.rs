//! Arrays that begin where they are read fastest: at a cache line, and large ones at a huge page.
//!
//! A vector of 64 bytes that straddles two cache lines is read in two turns, and the system's allocator puts nearly every array
//! 16 bytes past a line. With pages of 4 kB, touching new memory is a tenth of the time of a picture.
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: melmo_alloc::Aligned = melmo_alloc::Aligned;
//!
//! let x = vec![0.0f64; 1000];
//! assert_eq!(x.as_ptr().addr() % 64, 0);
//! ```
#![allow(
    unsafe_code,
    reason = "an allocator is unsafe by its nature; this one only aligns, and leaves the rest to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};

/// A cache line.
const LINE: usize = 64;
/// From this size on an array begins at a line.
const ARRAY: usize = 1 << 10;
/// A huge page.
const PAGE: usize = 2 << 20;

/// The system's allocator, asked for better places.
///
/// From `LARGE` bytes on an array gets whole huge pages of its own, where the system has them (Linux). They are handed out
/// anew, and zeroed, for each array: a program that calls the library again and again does better with a `LARGE` above the
/// default of 2 MB, one huge page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aligned<const LARGE: usize = PAGE>;

/// The layout that the system is asked for.
fn asked<const LARGE: usize>(layout: Layout) -> Layout {
    let place = match layout.size() {
        size if size < ARRAY => 1,
        size if size < LARGE => LINE,
        _ => PAGE,
    };
    layout.align_to(place).unwrap_or(layout)
}

/// Asks for huge pages; where there are none nothing changes.
fn advise<const LARGE: usize>(start: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    if !start.is_null() && size >= LARGE {
        // SAFETY: the range lies within an allocation that was just made, and the advice changes no byte of it.
        unsafe { libc::madvise(start.cast(), size / PAGE * PAGE, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, size);
}

// SAFETY: the system's allocator does the work. `asked` depends on the layout alone, so memory goes back with the layout that it
// was asked for with; an array that grows or shrinks is moved by hand, as the trait's default does, unless it stays small.
unsafe impl<const LARGE: usize> GlobalAlloc for Aligned<LARGE> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = unsafe { System.alloc(asked::<LARGE>(layout)) };
        advise::<LARGE>(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() < LARGE {
            return unsafe { System.alloc_zeroed(asked::<LARGE>(layout)) };
        }
        let start = unsafe { self.alloc(layout) };
        if !start.is_null() {
            unsafe { start.write_bytes(0, layout.size()) };
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        unsafe { System.dealloc(start, asked::<LARGE>(layout)) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.size().max(size) < ARRAY {
            return unsafe { System.realloc(start, layout, size) };
        }
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            unsafe {
                new.copy_from_nonoverlapping(start, layout.size().min(size));
                self.dealloc(start, layout);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Aligned = Aligned;

    fn place<T>(of: &[T]) -> usize {
        of.as_ptr().addr()
    }

    #[test]
    fn arrays_begin_at_lines_and_large_ones_at_pages() {
        for len in [128, 129, 1000, 300_000, 600_000] {
            let (zeros, ones) = (vec![0.0f64; len], vec![1.0f64; len]);
            let unit = if 8 * len >= PAGE { PAGE } else { LINE };
            assert_eq!((place(&zeros) % unit, place(&ones) % unit), (0, 0), "{len}");
            assert!(zeros.iter().all(|&v| v == 0.0) && ones.iter().all(|&v| v == 1.0));
        }
        assert_eq!(asked::<PAGE>(Layout::new::<u8>()), Layout::new::<u8>());
    }

    #[test]
    fn what_grows_and_shrinks_keeps_its_contents() {
        let mut v: Vec<u64> = Vec::new();
        for i in 0..1_200_000 {
            v.push(i);
        }
        for keep in [600_000, 400_000, 1000, 100, 3] {
            v.truncate(keep);
            v.shrink_to_fit();
            assert!(v.iter().enumerate().all(|(i, &v)| i as u64 == v), "{keep}");
        }
    }
}
