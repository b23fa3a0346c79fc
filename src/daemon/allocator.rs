//! How the daemon's allocator behaves: memory that is free goes back to the system.
//!
//! glibc keeps an arena for each thread, and learns to keep large blocks, too: after one look at a large vault a
//! daemon at rest would hold three times what it uses.
#![allow(unsafe_code)]

/// Larger blocks than this are the system's own, and so much free memory at the end of an arena is given back; in
/// bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 4 << 20;

/// One arena, whose free end is given back. To be called before there are other threads.
pub fn stay_small() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (what, value) in
        [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_THRESHOLD, LARGE), (libc::M_TRIM_THRESHOLD, LARGE)]
    {
        // SAFETY: sets numbers of the allocator, whose own lock guards them; a value that it refuses changes nothing.
        unsafe { libc::mallopt(what, value) };
    }
}
