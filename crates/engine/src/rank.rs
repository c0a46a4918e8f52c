//! The order of latches, outermost first: who holds one may take only those further down; of one rank one at
//! a time, unless the entry says in which order. Debug builds check it for every mutex of these ranks
//! (`turnstile_sys::ranked`); the order among page latches is kept by their users. Against the order only
//! `try_`.

use turnstile_sys::latch::LatchClass;
use turnstile_sys::ranked::Rank;

/// Structure changes of one index.
pub const TREE: Rank = Rank::new(20, "tree");
// Here come the latches of tree pages (parent before child, left before right), then those of undo pages:
// kept in order by their users.
/// Allocation of pages, bitmap pages included.
pub const SPACE: Rank = Rank::nested(50, "space");
/// The search for deadlocks.
pub const LOCK_SEARCH: Rank = Rank::new(55, "lock search");
/// A shard of the lock table.
pub const LOCK_SHARD: Rank = Rank::new(60, "lock shard");
/// Active transactions and read views.
pub const REGISTRY: Rank = Rank::new(70, "registry");
/// Free list and queues of the buffer pool.
pub const POOL_LIST: Rank = Rank::new(85, "pool list");
/// A shard of the page table.
pub const POOL_SHARD: Rank = Rank::new(90, "pool shard");
/// The log buffer.
pub const LOG: Rank = Rank::new(100, "log");
/// The set of open indexes; nothing else is taken while it is held.
pub const INDEXES: Rank = Rank::new(105, "index directory");
/// Gates, wait cells, counters: nothing else is taken while one is held.
pub const LEAF: Rank = Rank::new(110, "leaf");

// Classes: what is counted together. Named as MySQL's performance schema names what corresponds to them.

/// Latches of leaf pages.
pub static PAGE_LEAF: LatchClass = LatchClass::new("page_leaf_rw_lock");
/// Latches of inner pages.
pub static PAGE_INNER: LatchClass = LatchClass::new("page_inner_rw_lock");
/// Latches of undo pages, and of the list of undo lanes.
pub static PAGE_UNDO: LatchClass = LatchClass::new("page_undo_rw_lock");
/// Latches of allocation maps.
pub static PAGE_MAP: LatchClass = LatchClass::new("page_map_rw_lock");
/// Latches of all other pages, and of those whose kind is not known yet.
pub static PAGE_OTHER: LatchClass = LatchClass::new("page_other_rw_lock");
/// Structure changes of one index. Only ever exclusive; named for what corresponds to it.
pub static INDEX_TREE: LatchClass = LatchClass::new("index_tree_rw_lock");
/// The open indexes.
pub static INDEX_DIRECTORY: LatchClass = LatchClass::new("index_directory_rw_lock");
/// Allocation of pages.
pub static FILE_SPACE: LatchClass = LatchClass::mutexes("file_space_mutex");
/// Shards of the lock table.
pub static LOCK_SHARDS: LatchClass = LatchClass::mutexes("lock_sys_page_mutex");
/// The search for deadlocks.
pub static LOCK_SEARCHES: LatchClass = LatchClass::mutexes("lock_search_mutex");
/// Active transactions and read views.
pub static TRX_SYS: LatchClass = LatchClass::mutexes("trx_sys_mutex");
/// Shards of the page table.
pub static PAGE_HASH: LatchClass = LatchClass::mutexes("page_hash_mutex");
/// Free list and queues of the buffer pool.
pub static POOL_LISTS: LatchClass = LatchClass::mutexes("buf_pool_free_list_mutex");
/// The log buffer.
pub static LOG_BUFFER: LatchClass = LatchClass::mutexes("log_buffer_mutex");
/// The admission gate.
pub static ADMISSION: LatchClass = LatchClass::mutexes("srv_conc_mutex");
