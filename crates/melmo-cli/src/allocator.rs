//! Arrays on huge pages: with pages of 4 kB, touching new memory is a tenth of the time of a picture.

#[cfg(target_os = "linux")]
mod linux {
    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// What the allocator reads when the program starts.
    // SAFETY: the name and the type (a pointer to text that ends in 0) are those that jemalloc documents, and nothing else
    // defines the name.
    #[allow(unsafe_code, reason = "jemalloc takes its settings by a symbol")]
    #[unsafe(export_name = "_rjem_malloc_conf")]
    static SETTINGS: Option<&'static std::ffi::c_char> = Some(unsafe { &*c"thp:always".as_ptr() });
}
