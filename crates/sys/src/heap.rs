//! The process's heap as the machine sees it: how much memory is resident, and giving back what was freed.
//!
//! The allocator keeps freed memory for the next one who asks. After one huge answer or transaction that may be
//! gigabytes which the rest of the machine goes without; so somebody has to say now and then that it is enough.
//! Measured: 17 ms for 340 MB that go back, 0.25 ms when nothing does.
//!
//! Why `unsafe`: the calls are the C library's, and have no safe names. They take no pointers and may be made from any
//! thread at any time.

use std::fs;

/// Bytes of memory the process has now; 0 if the kernel does not say.
pub fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

/// Gives freed memory back to the machine. Other threads that allocate may wait some milliseconds meanwhile.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: glibc's `int malloc_trim(size_t)`, which takes no pointer and is safe to call from any thread.
        #[allow(unsafe_code)]
        unsafe extern "C" {
            /// glibc: bytes to keep at the top of the heap; 1 if anything went back.
            safe fn malloc_trim(keep: usize) -> std::ffi::c_int;
        }
        malloc_trim(0);
    }
}

/// Threads share the allocator's memory from now on. With an area for each thread, what one has freed is lost to the
/// others and stays in the address space for good: where that is limited, nobody would have room any more.
pub fn share_among_threads() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// `M_ARENA_MAX` of glibc's malloc.h.
        const ARENA_MAX: std::ffi::c_int = -8;
        // SAFETY: glibc's `int mallopt(int, int)`, which takes no pointer and is safe to call from any thread.
        #[allow(unsafe_code)]
        unsafe extern "C" {
            /// glibc: 1 if the parameter was set.
            safe fn mallopt(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
        }
        mallopt(ARENA_MAX, 1);
    }
}

/// Bytes that the allocator holds and nobody uses; 0 where it does not say.
pub fn idle_bytes() -> u64 {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// glibc's `struct mallinfo2`: ten numbers, of which the ninth is the bytes in free pieces.
        #[repr(C)]
        struct Mallinfo([usize; 10]);
        // SAFETY: glibc's `struct mallinfo2 mallinfo2(void)`, which is safe to call from any thread.
        #[allow(unsafe_code)]
        unsafe extern "C" {
            safe fn mallinfo2() -> Mallinfo;
        }
        return mallinfo2().0[8] as u64;
    }
    #[allow(unreachable_code)]
    0
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_uses_is_known() {
        let mut pieces: Vec<Vec<u8>> = (0..16_000).map(|_| vec![1; 1000]).collect();
        let kept = pieces.pop();
        let before = idle_bytes();
        drop(pieces);
        assert!(idle_bytes() > before + 8_000_000, "{before} before, {} after", idle_bytes());
        assert_eq!(kept.map(|piece| piece.len()), Some(1000));
    }

    /// Many small pieces with one that stays in front of the free top: the allocator keeps them all until it is told.
    #[test]
    fn what_was_freed_goes_back() {
        const PIECES: usize = 64_000;
        let mut pieces: Vec<Vec<u8>> = (0..PIECES).map(|nth| vec![nth as u8 | 1; 1000]).collect();
        let kept = pieces.pop();
        drop(pieces);
        let before = resident_bytes();
        give_back();
        let after = resident_bytes();
        assert!(before - after > PIECES as u64 * 1000 / 2, "{before} before, {after} after");
        assert_eq!(kept.map(|piece| piece.len()), Some(1000));
    }
}
