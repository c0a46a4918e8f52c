//! How much memory this process may use: what the machine has, what its control group allows, and its address
//! space limit, whichever is least; and whether there is room for more of it now.

use std::fs;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
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

/// Whether there is room for so many bytes, and for half a gigabyte or an eighth of [`limit_bytes`] besides,
/// whichever is less.
///
/// An allocation that fails ends the process, so what can be refused asks here before. Where memory is given
/// out beyond what there is (no limit of the address space, overcommitment), the answer is yes. Room that two
/// threads ask for at once may be there for one: the part besides is for them, for copies that are dropped at
/// once, and for what nobody asks for. Where the address space is limited nothing is reserved to find out:
/// another thread may allocate meanwhile.
pub fn has_room(bytes: u64) -> bool {
    static BESIDES: OnceLock<u64> = OnceLock::new();
    let besides = *BESIDES.get_or_init(|| limit_bytes().map_or(0, |limit| (limit / 8).min(512 << 20)));
    let wanted = bytes.saturating_add(besides);
    let free = space().and_then(Space::free_bytes);
    let is_free = |bytes: u64| free.map_or_else(|| can_reserve(bytes), |free| bytes <= free);
    // What others have freed is room as well: the allocator keeps address space that it cannot give back.
    is_free(wanted) || heap::idle_bytes() >= wanted && is_free(bytes.saturating_mul(2).max(PIECE_BYTES))
}

/// No value is larger, and hardly a row.
const PIECE_BYTES: u64 = 64 << 20;

/// An address space that is limited.
#[derive(Debug)]
struct Space {
    limit: u64,
    /// /proc/self/statm, which is made anew whenever it is read from its beginning.
    sizes: fs::File,
}

impl Space {
    /// Bytes that may still be mapped.
    fn free_bytes(&self) -> Option<u64> {
        let mut text = [0; 128];
        let length = self.sizes.read_at(&mut text, 0).ok()?;
        let mapped = std::str::from_utf8(text.get(..length)?).ok()?.split_whitespace().next()?;
        let mapped = mapped.parse::<u64>().ok()? * rustix::param::page_size() as u64;
        Some(self.limit.saturating_sub(mapped))
    }
}

/// The address space, if it is limited.
fn space() -> Option<&'static Space> {
    static SPACE: OnceLock<Option<Space>> = OnceLock::new();
    let find = || {
        let limit = address_space_bytes(&fs::read_to_string("/proc/self/limits").ok()?)?;
        Some(Space { limit, sizes: fs::File::open("/proc/self/statm").ok()? })
    };
    SPACE.get_or_init(find).as_ref()
}

/// Whether the allocator has one piece of so many bytes.
fn can_reserve(bytes: u64) -> bool {
    let Ok(wanted) = usize::try_from(bytes) else { return false };
    let mut piece: Vec<u8> = Vec::new();
    let reserved = piece.try_reserve_exact(wanted).is_ok();
    // A piece that nothing looks at need not be reserved at all.
    black_box(&piece);
    reserved
}

/// To be called before there are threads: sets the allocator. Where the address space is limited, they share
/// its memory.
pub fn prepare() {
    heap::join_at_once();
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
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
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
    const CHILD: &str = "TURNSTILE_LIMITED_CHILD";

    /// Runs in a process of its own, whose address space is limited.
    #[test]
    fn to_ask_for_room_takes_none_away() {
        if std::env::var_os(CHILD).is_none() {
            let name = "memory::tests::to_ask_for_room_takes_none_away";
            let mut child = std::process::Command::new("sh");
            child.args(["-c", "ulimit -v 2000000 && exec \"$0\" --exact \"$1\" --test-threads 1"]);
            let ended =
                child.arg(std::env::current_exe().unwrap()).arg(name).env(CHILD, "1").output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
            return;
        }
        const MIB: usize = 1 << 20;
        prepare();
        // So much is left that there is room besides, but not much more.
        let besides = limit_bytes().unwrap() / 8;
        let free = space().unwrap().free_bytes().unwrap();
        let taken: Vec<u8> = Vec::with_capacity((free - besides) as usize - 24 * MIB);
        assert!(has_room(1 << 20) && !has_room(64 << 20), "{:?}", space().unwrap().free_bytes());
        let asking = std::thread::spawn(|| {
            let found = (0..50_000).filter(|_| has_room(1)).count();
            // On a busy machine the other may have stood in the middle of an allocation all that time.
            let later = |_| {
                std::thread::yield_now();
                has_room(1)
            };
            found > 0 || (0..1_000_000).any(later)
        });
        let mut refused = 0;
        while !asking.is_finished() {
            refused += usize::from(!can_reserve(16 << 20) || !can_reserve(100 << 20));
        }
        assert!(asking.join().unwrap(), "there is room whenever nothing else is held");
        assert_eq!(refused, 0, "allocations found no room while somebody asked whether there is any");
        drop(black_box(taken));
    }
}
