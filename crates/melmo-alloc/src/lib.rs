//! Arrays that begin where they are read fastest: at a cache line, and large ones at a huge page.
//!
//! A vector of 64 bytes that straddles two cache lines is read in two turns, and the system's allocator puts nearly every array
//! 16 bytes past a line. With pages of 4 kB, touching new memory is a tenth of the time of a picture. Pages that were just mapped
//! are 0 already, and there only when they are touched: scratch that nobody comes to use costs nothing.
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
    reason = "an allocator is unsafe by its nature; this one aligns, maps what is large, and leaves the rest to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};

/// A cache line.
const LINE: usize = 64;
/// From this size on an array begins at a line.
const ARRAY: usize = 1 << 10;
/// A huge page.
const PAGE: usize = 2 << 20;
/// From this size on an array is mapped by itself. The GNU library keeps what is smaller for the next array, and gives this back.
#[cfg(target_os = "linux")]
const MAPPED: usize = 32 << 20;

/// The system's allocator, asked for better places.
///
/// From `LARGE` bytes on an array gets whole huge pages of its own, where the system has them (Linux). They are handed out
/// anew, and zeroed, for each array: a program that calls the library again and again does better with a `LARGE` above the
/// default of 2 MB, one huge page. From 32 MB on they are mapped for each array, and zeroed as they are touched.
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

/// Whole pages for one array. What they hold is 0.
#[cfg(target_os = "linux")]
mod pages {
    use super::{Layout, MAPPED, PAGE};
    use std::ptr;

    /// Whether an array lives in pages of its own: decided by its layout alone, so that it goes back the way it came.
    pub fn are_for(layout: Layout) -> bool {
        layout.size() >= MAPPED && layout.align() <= PAGE && layout.size() <= isize::MAX as usize - 2 * PAGE
    }

    /// Maps pages that begin at a huge one; null where there is no room.
    pub fn map(layout: Layout) -> *mut u8 {
        let size = layout.size().next_multiple_of(PAGE);
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping where the system likes; no memory that anyone has is touched.
        let start = unsafe { libc::mmap(ptr::null_mut(), size + PAGE, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return ptr::null_mut();
        }
        let before = start.align_offset(PAGE);
        // SAFETY: what lies before and behind the array is a part of the mapping that nobody has seen.
        unsafe {
            let array = start.cast::<u8>().add(before);
            if before > 0 {
                libc::munmap(start, before);
            }
            libc::munmap(array.add(size).cast(), PAGE - before);
            array
        }
    }

    /// Gives back what `map` gave for this layout.
    ///
    /// # Safety
    /// `start` came from `map` with the same layout, and nobody uses it any more.
    pub unsafe fn unmap(start: *mut u8, layout: Layout) {
        unsafe { libc::munmap(start.cast(), layout.size().next_multiple_of(PAGE)) };
    }
}

/// Elsewhere the system's allocator has them all.
#[cfg(not(target_os = "linux"))]
mod pages {
    use super::Layout;

    pub fn are_for(_: Layout) -> bool {
        false
    }

    pub fn map(_: Layout) -> *mut u8 {
        std::ptr::null_mut()
    }

    pub unsafe fn unmap(_: *mut u8, _: Layout) {}
}

// SAFETY: the system does the work. `asked` and `pages::are_for` depend on the layout alone, so memory goes back to where it came
// from; an array that grows or shrinks is moved by hand, as the trait's default does, unless it stays small.
unsafe impl<const LARGE: usize> GlobalAlloc for Aligned<LARGE> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = match pages::are_for(layout) {
            true => pages::map(layout),
            false => unsafe { System.alloc(asked::<LARGE>(layout)) },
        };
        advise::<LARGE>(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() < LARGE && !pages::are_for(layout) {
            return unsafe { System.alloc_zeroed(asked::<LARGE>(layout)) };
        }
        let start = unsafe { self.alloc(layout) };
        if !start.is_null() && !pages::are_for(layout) {
            unsafe { start.write_bytes(0, layout.size()) };
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        match pages::are_for(layout) {
            true => unsafe { pages::unmap(start, layout) },
            false => unsafe { System.dealloc(start, asked::<LARGE>(layout)) },
        }
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
    #[cfg(target_os = "linux")]
    fn what_is_mapped_is_zero_aligned_and_given_back() {
        for _ in 0..200 {
            let mut large = vec![0u8; MAPPED + 12345];
            assert_eq!(place(&large) % PAGE, 0);
            assert!(large.iter().step_by(4096).all(|&v| v == 0) && large[MAPPED + 12344] == 0);
            large.iter_mut().step_by(4096).for_each(|v| *v = 1);
            large.truncate(10);
            large.shrink_to_fit();
            assert_eq!((large[0], large[1]), (1, 0));
        }
        let mapped = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(mapped.lines().count() < 1000, "{mapped}");
        let too_large = Layout::from_size_align(1 << 60, 8).unwrap();
        // SAFETY: the layout is not empty; what there is no room for is null.
        assert!(unsafe { ALLOCATOR.alloc(too_large) }.is_null());
    }

    /// Three gigabytes that nobody touches take no memory.
    #[test]
    #[cfg(target_os = "linux")]
    fn zeros_that_nobody_touches_are_not_there() {
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        let before = resident();
        let scratch = vec![0.0f64; 400_000_000];
        assert!(resident() < before + (1 << 30), "{} {before}", resident());
        assert_eq!(scratch[scratch.len() - 1], 0.0);
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
