//! How much memory this process may use: what the machine has, what its control group allows, and its address space
//! limit, whichever is least; and whether there is room for more of it now.

use std::fs;
use std::hint::black_box;
use std::sync::OnceLock;

use crate::heap;

/// Bytes; None where nothing is known.
pub fn limit_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_bytes(&text));
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok());
    let space = fs::read_to_string("/proc/self/limits").ok().and_then(|text| address_space_bytes(&text));
    [machine, group, space].into_iter().flatten().min()
}

/// Whether the allocator has room for so many bytes, and for half a gigabyte or an eighth of [`limit_bytes`] besides,
/// whichever is less.
///
/// An allocation that fails ends the process, so what can be refused asks here before. Where memory is given out beyond
/// what there is (no limit of the address space, overcommitment), the answer is yes. Room that two threads ask for at
/// once may be there for one: the part besides is for them, for copies that are dropped at once, and for what nobody
/// asks for.
pub fn has_room(bytes: u64) -> bool {
    static BESIDES: OnceLock<u64> = OnceLock::new();
    let besides = *BESIDES.get_or_init(|| limit_bytes().map_or(0, |limit| (limit / 8).min(512 << 20)));
    let wanted = bytes.saturating_add(besides);
    // What others have freed is room as well: the allocator keeps address space that it cannot give back.
    can_reserve(wanted) || heap::idle_bytes() >= wanted && can_reserve(bytes.max(PIECE_BYTES))
}

/// No value is larger, and hardly a row.
const PIECE_BYTES: u64 = 64 << 20;

/// Whether the allocator has one piece of so many bytes.
fn can_reserve(bytes: u64) -> bool {
    let Ok(wanted) = usize::try_from(bytes) else { return false };
    let mut piece: Vec<u8> = Vec::new();
    let reserved = piece.try_reserve_exact(wanted).is_ok();
    // A piece that nothing looks at need not be reserved at all.
    black_box(&piece);
    reserved
}

/// To be called before there are threads: where the address space is limited, they share the allocator's memory.
pub fn prepare() {
    let limits = fs::read_to_string("/proc/self/limits").ok();
    if limits.and_then(|text| address_space_bytes(&text)).is_some() {
        heap::share_among_threads();
    }
}

/// `MemTotal` of /proc/meminfo.
fn total_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The soft limit of the address space in /proc/self/limits; None if there is none.
fn address_space_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_kernel_is_understood() {
        assert_eq!(total_bytes("MemTotal:       32768 kB\nMemFree: 1 kB\n"), Some(32 << 20));
        assert_eq!(total_bytes("nothing"), None);
        let limits = "Max cpu time  unlimited unlimited seconds\nMax address space         8192000000           unlimited            bytes\n";
        assert_eq!(address_space_bytes(limits), Some(8_192_000_000));
        let none = "Max address space         unlimited            unlimited            bytes\n";
        assert_eq!(address_space_bytes(none), None);
        assert!(limit_bytes().unwrap() > 16 << 20);
        assert!(has_room(1) && !has_room(u64::MAX) && !has_room(1 << 62));
    }
}
