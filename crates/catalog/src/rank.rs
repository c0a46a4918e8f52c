//! Ranks and classes of the mutexes above the engine. Each is held for some instructions and nothing else is
//! taken under it, so all have the engine's deepest rank.

use turnstile_engine::rank;
use turnstile_sys::latch::LatchClass;
use turnstile_sys::ranked::Rank;

/// Of every mutex here.
pub const SHORT: Rank = rank::LEAF;

/// Databases and tables in memory.
pub static DICTIONARY: LatchClass = LatchClass::new("dict_operation_lock");
/// Shards of the statement cache.
pub static STATEMENT_CACHE: LatchClass = LatchClass::mutexes("statement_cache_mutex");
/// Those who wait for metadata locks.
pub static METADATA: LatchClass = LatchClass::mutexes("mdl_waiters_mutex");
/// Names that statements are giving.
pub static METADATA_NAMES: LatchClass = LatchClass::mutexes("mdl_names_mutex");
/// Locks that users have named, by name.
pub static USER_LOCKS: LatchClass = LatchClass::mutexes("user_locks_mutex");
/// Waits at metadata locks, written down.
pub static METADATA_DEADLOCKS: LatchClass = LatchClass::mutexes("mdl_deadlocks_mutex");
/// The table of digests.
pub static DIGESTS: LatchClass = LatchClass::mutexes("digests_mutex");
/// Numbers of a digest.
pub static DIGEST: LatchClass = LatchClass::mutexes("digest_mutex");
