//! Limits of memory that nobody has set: they follow from the machine.

use super::{Globals, find};
use turnstile_values::value::Value;

/// Limits that nobody has set follow from the machine: whatever the statements of all sessions do, the
/// process lives.
pub fn set_memory_limits(globals: &Globals) {
    let number = |name: &str| match globals.named(name) {
        Value::UInt(number) => number,
        _ => u64::MAX,
    };
    let Some(machine) = turnstile_sys::memory::limit_bytes() else { return };
    let pool = number("innodb_buffer_pool_size").min(machine);
    let left = (machine - pool).max(machine / 8);
    let set = |name: &str, bytes: u64| {
        if let Some(at) = find(name).filter(|_| number(name) == u64::MAX) {
            globals.set(at, Value::UInt(bytes));
        }
    };
    set("global_connection_memory_limit", (left / 5 * 3).max(16 << 20));
    set("connection_memory_limit", (number("global_connection_memory_limit") / 2).max(2 << 20));
}
