//! The process's heap as the machine sees it: how much memory is resident, and giving back what was freed;
//! and how the allocator is set, so that no call of it takes long.
//!
//! The allocator keeps freed memory for the next one who asks. After one huge answer or transaction that may
//! be gigabytes which the rest of the machine goes without; so somebody has to say now and then that it is
//! enough. Measured: 17 ms for 340 MB that go back, 0.25 ms when nothing does.
//!
//! Why `unsafe`: the calls are the C library's, and have no safe names. They take no pointers and may be made
//! from any thread at any time.

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
        // SAFETY: glibc's `int malloc_trim(size_t)`, which takes no pointer and is safe to call from any
        // thread.
        #[allow(unsafe_code, reason = "the allocator's functions are foreign")]
        unsafe extern "C" {
            /// glibc: bytes to keep at the top of the heap; 1 if anything went back.
            safe fn malloc_trim(keep: usize) -> std::ffi::c_int;
        }
        malloc_trim(0);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
// SAFETY: glibc's `int mallopt(int, int)`, which takes no pointer and is safe to call from any thread.
#[allow(unsafe_code, reason = "the allocator's functions are foreign")]
unsafe extern "C" {
    /// glibc: 1 if the parameter was set.
    safe fn mallopt(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
}

/// Threads share the allocator's memory from now on. With an area for each thread, what one has freed is lost
/// to the others and stays in the address space for good: where that is limited, nobody would have room any
/// more.
pub fn share_among_threads() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// `M_ARENA_MAX` of glibc's malloc.h.
        const ARENA_MAX: std::ffi::c_int = -8;
        mallopt(ARENA_MAX, 1);
    }
}

/// Small pieces are joined with their neighbours when they are freed. The allocator would put them on lists
/// of their own and join all that have gathered there in one call that wants or frees a large piece: after a
/// sort of a million rows half a second, in which nobody else who uses the same area allocates. The few of
/// each size that a thread keeps for itself stay as they are, so a short statement does not notice.
pub fn join_at_once() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// `M_MXFAST` of glibc's malloc.h: the largest piece that goes on such a list.
        const FAST_MAX: std::ffi::c_int = 1;
        mallopt(FAST_MAX, 0);
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
        #[allow(unsafe_code, reason = "the allocator's functions are foreign")]
        unsafe extern "C" {
            safe fn mallinfo2() -> Mallinfo;
        }
        return mallinfo2().0[8] as u64;
    }
    #[allow(unreachable_code, reason = "where there is such an allocator, it has answered")]
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

    fn work_ns() -> i64 {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// What freeing half of so many small pieces leaves to do for the call after it, in processor time.
    fn work_left_behind(pieces: usize) -> i64 {
        let mut kept: Vec<Option<Box<[u64; 4]>>> =
            (0..pieces).map(|nth| Some(Box::new([nth as u64; 4]))).collect();
        kept.iter_mut().step_by(2).for_each(|piece| *piece = None);
        let before = work_ns();
        drop(std::hint::black_box(vec![1_u8; 4096]));
        work_ns() - before
    }

    /// Ten times the pieces are not ten times the work.
    #[test]
    fn freed_pieces_leave_no_work_behind() {
        join_at_once();
        // In an area of its own, where nobody else frees anything.
        let measure =
            || std::thread::spawn(|| (work_left_behind(20_000), work_left_behind(2_000_000))).join();
        let rounds: Vec<_> = (0..5).filter_map(|_| measure().ok()).collect();
        assert!(rounds.iter().any(|(few, many)| many / 20 < *few), "{rounds:?}");
    }

    /// Many small pieces with one that stays in front of the free top: the allocator keeps them all until it
    /// is told.
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
