//! Large arrays on huge pages: with pages of 4 kB, touching new memory is a tenth of the time of a picture.

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "an allocator is unsafe by its nature; this one only aligns, and leaves the rest to the system's"
)]
mod linux {
    use std::alloc::{GlobalAlloc, Layout, System};

    /// A huge page.
    const PAGE: usize = 2 << 20;
    /// From this size on an array gets whole pages of its own.
    const LARGE: usize = PAGE;

    #[global_allocator]
    static ALLOCATOR: HugePages = HugePages;

    struct HugePages;

    /// The layout that the system is asked for: a large one begins at a huge page.
    fn asked(layout: Layout) -> Layout {
        match Layout::from_size_align(layout.size(), PAGE.max(layout.align())) {
            Ok(aligned) if layout.size() >= LARGE => aligned,
            _ => layout,
        }
    }

    /// Asks for huge pages; where there are none nothing changes.
    fn advise(start: *mut u8, size: usize) {
        if !start.is_null() && size >= LARGE {
            // SAFETY: the range lies within an allocation that was just made, and the advice changes no byte of it.
            unsafe { libc::madvise(start.cast(), size / PAGE * PAGE, libc::MADV_HUGEPAGE) };
        }
    }

    // SAFETY: the system's allocator does the work. `asked` depends on the layout alone, so memory goes back with the layout
    // that it was asked for with; a layout that grows or shrinks past LARGE is moved by hand, as the trait's default does.
    unsafe impl GlobalAlloc for HugePages {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let start = unsafe { System.alloc(asked(layout)) };
            advise(start, layout.size());
            start
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            if layout.size() < LARGE {
                return unsafe { System.alloc_zeroed(layout) };
            }
            let start = unsafe { self.alloc(layout) };
            if !start.is_null() {
                unsafe { start.write_bytes(0, layout.size()) };
            }
            start
        }

        unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
            unsafe { System.dealloc(start, asked(layout)) }
        }

        unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            if layout.size().max(size) < LARGE {
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
}
