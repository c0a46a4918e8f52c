//! How much memory this process may use: what the machine has, what its control group allows, and its address space limit,
//! whichever is least.

use std::fs;

/// Bytes; None where nothing is known.
pub fn limit_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_bytes(&text));
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok());
    let space = fs::read_to_string("/proc/self/limits").ok().and_then(|text| address_space_bytes(&text));
    [machine, group, space].into_iter().flatten().min()
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
    }
}
