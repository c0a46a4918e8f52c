//! The order of latches, outermost first: who holds one may take only those further down; of one rank one at a time,
//! unless the entry says in which order. Debug builds check it (`turnstile_sys::ranked`). Against the order only `try_`.

use turnstile_sys::ranked::Rank;

/// Structure changes of one index.
pub const TREE: Rank = Rank::new(2, "tree");
/// Tree pages: parent before child, left before right.
pub const PAGE: Rank = Rank::nested(3, "page");
/// Undo pages of one transaction.
pub const UNDO: Rank = Rank::nested(4, "undo");
/// Allocation of pages, bitmap pages included.
pub const SPACE: Rank = Rank::nested(5, "space");
/// A shard of the lock table; ascending shard number, at most two.
pub const LOCK_SHARD: Rank = Rank::nested(6, "lock shard");
/// Active transactions and read views.
pub const REGISTRY: Rank = Rank::new(7, "registry");
/// Committed undo that waits for purge.
pub const HISTORY: Rank = Rank::new(8, "history");
/// A shard of the page table, or a list of the buffer pool.
pub const POOL_SHARD: Rank = Rank::new(9, "pool shard");
/// Log buffer and writer.
pub const LOG: Rank = Rank::new(10, "log");
/// Gates, wait cells, counters: nothing else is taken while one is held.
pub const LEAF: Rank = Rank::new(11, "leaf");
