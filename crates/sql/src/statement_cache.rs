//! Texts that come again: their parsed statements and plans, shared by all sessions.
//!
//! A shop's hot statement is one text, sent a million times. It is found here by the text's hash and compared byte by byte;
//! then neither parser nor planner runs. A text is taken in only when it is seen a second time, so that statements with
//! ever new literals do not push out the ones that come again. Texts with `(` or `@` stay out: a function or a variable may
//! mean something else in every session.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use rustc_hash::FxHasher;
use turnstile_sys::ranked::RankedMutex;

use crate::expr::SqlMode;
use crate::rank;
use crate::session::CachedStatement;

/// Longest text that is kept, in bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// Statements per shard.
const SHARD_STATEMENTS_MAX: usize = 128;
const SHARDS: usize = 16;
const SEEN: usize = 4096;

struct Kept {
    mode: SqlMode,
    text: Arc<[u8]>,
    statement: Arc<CachedStatement>,
}

/// The cache.
pub struct StatementCache {
    shards: [RankedMutex<HashMap<u64, Kept>>; SHARDS],
    /// Hashes of texts seen once.
    seen: Box<[AtomicU64]>,
}

impl Default for StatementCache {
    fn default() -> Self {
        StatementCache {
            shards: std::array::from_fn(|_| {
                RankedMutex::new(rank::SHORT, &rank::STATEMENT_CACHE, HashMap::new())
            }),
            seen: (0..SEEN).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}

impl StatementCache {
    /// The statement of a text, with the text as it may be shown.
    pub fn find(&self, text: &[u8], mode: SqlMode) -> Option<(Arc<CachedStatement>, Arc<[u8]>)> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let hash = hash(text);
        let shard = self.shards[hash as usize % SHARDS].lock();
        let kept = shard.get(&hash).filter(|kept| kept.mode == mode && *kept.text == *text)?;
        Some((kept.statement.clone(), kept.text.clone()))
    }

    /// Offers a text that was not found; `make` is asked for its statement if it is to be kept.
    pub fn offer(&self, text: &[u8], mode: SqlMode, make: impl FnOnce() -> CachedStatement) {
        if text.len() > TEXT_BYTES_MAX || text.iter().any(|byte| matches!(byte, b'(' | b'@')) {
            return;
        }
        let hash = hash(text);
        // Two threads may race here; at worst a text is taken in one sight late.
        if self.seen[hash as usize % SEEN].swap(hash, Ordering::Relaxed) != hash {
            return;
        }
        let statement = Arc::new(make());
        let mut shard = self.shards[hash as usize % SHARDS].lock();
        if shard.len() >= SHARD_STATEMENTS_MAX
            && let Some(some) = shard.keys().next().copied()
        {
            shard.remove(&some);
        }
        shard.insert(hash, Kept { mode, text: text.into(), statement });
    }
}
