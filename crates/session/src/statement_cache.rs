//! Texts that come again: their parsed statements and plans, shared by all sessions.
//!
//! Two caches, asked in this order:
//! - whole texts. A shop's hot statement is one text, sent a million times. It is found here by the text's
//!   hash and compared byte by byte; then neither parser nor planner runs. A text is taken in only when it is
//!   seen a second time, so that statements with ever new literals do not push out the ones that come again;
//!   a text that a template serves, only at its fifteenth sight. A session whose texts templates serve shows
//!   one in sixteen. Texts with `(` or `@` stay out: a function or a variable may mean something else in each
//!   session.
//! - templates ([`crate::template`]), found by their keys in the same way, for texts that differ in their
//!   literals only. A key that turned out to have no template is remembered too, so that nobody tries again.
//!
//! What a session has found here it keeps ([`crate::session`], `known.rs`) and asks for no more.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use rustc_hash::FxHasher;
use turnstile_sys::ranked::RankedMutex;

use crate::expr::SqlMode;
use crate::kept_statement::Statement as CachedStatement;
use crate::rank;
use crate::template::{Signs, Template};

/// Longest text that is kept, in bytes.
pub const TEXT_BYTES_MAX: usize = 4096;
/// Entries per shard.
const SHARD_ENTRIES_MAX: usize = 128;
const SHARDS: usize = 16;
const SEEN: usize = 4096;
/// Low bits of an entry of `seen` that count.
const SIGHTS_MASK: u64 = 15;

struct Kept<T> {
    mode: SqlMode,
    text: Arc<[u8]>,
    entry: T,
}

/// Entries by exact bytes and `sql_mode`.
struct Shards<T> {
    shards: [RankedMutex<HashMap<u64, Kept<T>>>; SHARDS],
    /// Hashes of texts seen, each with how often in its low bits; two texts may share a place and then forget
    /// each other.
    seen: Box<[AtomicU64]>,
}

impl<T: Clone> Shards<T> {
    fn new() -> Self {
        Shards {
            shards: std::array::from_fn(|_| {
                RankedMutex::new(rank::SHORT, &rank::STATEMENT_CACHE, HashMap::new())
            }),
            seen: (0..SEEN).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn find(&self, hash: u64, text: &[u8], mode: SqlMode) -> Option<(T, Arc<[u8]>)> {
        let shard = self.shards[hash as usize % SHARDS].lock();
        let kept = shard.get(&hash).filter(|kept| kept.mode == mode && *kept.text == *text)?;
        Some((kept.entry.clone(), kept.text.clone()))
    }

    /// Counts a sight of a text; how often it has been seen now, at most 15.
    fn sight(&self, hash: u64) -> u64 {
        // Threads may race here; at worst a text is taken in some sights late.
        let place = &self.seen[hash as usize / SHARDS % SEEN];
        let seen = place.load(Ordering::Relaxed);
        let known = (seen ^ hash) & !SIGHTS_MASK == 0;
        let count = if known { (seen & SIGHTS_MASK).saturating_add(1).min(SIGHTS_MASK) } else { 1 };
        place.store((hash & !SIGHTS_MASK) | count, Ordering::Relaxed);
        count
    }

    fn keep(&self, hash: u64, text: &[u8], mode: SqlMode, entry: T) {
        let mut shard = self.shards[hash as usize % SHARDS].lock();
        if shard.len() >= SHARD_ENTRIES_MAX
            && let Some(some) = shard.keys().next().copied()
        {
            shard.remove(&some);
        }
        shard.insert(hash, Kept { mode, text: text.into(), entry });
    }
}

/// What texts of one key share.
pub struct CachedTemplate {
    /// The statement, with parameters for the literals.
    pub statement: CachedStatement,
    /// Which of them have a sign.
    pub signs: Signs,
}

impl From<Template> for CachedTemplate {
    fn from(template: Template) -> Self {
        let Template { tree, literals, aside, signs } = template;
        CachedTemplate { statement: CachedStatement::of_template(tree, literals, aside), signs }
    }
}

/// The caches.
pub struct StatementCache {
    texts: Shards<Arc<CachedStatement>>,
    templates: Shards<Option<Arc<CachedTemplate>>>,
}

impl Default for StatementCache {
    fn default() -> Self {
        StatementCache { texts: Shards::new(), templates: Shards::new() }
    }
}

/// By what texts and keys are looked up.
#[inline]
pub fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}

fn means_the_same_everywhere(text: &[u8]) -> bool {
    text.len() <= TEXT_BYTES_MAX && !text.iter().any(|byte| matches!(byte, b'(' | b'@'))
}

impl StatementCache {
    /// The statement of a text with this hash, with the text as it may be shown.
    pub fn find(&self, hash: u64, text: &[u8], mode: SqlMode) -> Option<(Arc<CachedStatement>, Arc<[u8]>)> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        self.texts.find(hash, text, mode)
    }

    /// Offers a text that was not found; `make` is asked for its statement if it is to be kept.
    pub fn offer(&self, text: &[u8], mode: SqlMode, make: impl FnOnce() -> CachedStatement) {
        self.offer_seen(2, text, mode, || Some(make()));
    }

    /// Offers a text that a template has served.
    pub fn offer_served(&self, text: &[u8], mode: SqlMode, make: impl FnOnce() -> Option<CachedStatement>) {
        self.offer_seen(SIGHTS_MASK, text, mode, make);
    }

    fn offer_seen(
        &self,
        sights: u64,
        text: &[u8],
        mode: SqlMode,
        make: impl FnOnce() -> Option<CachedStatement>,
    ) {
        if !means_the_same_everywhere(text) {
            return;
        }
        let hash = hash(text);
        if self.texts.sight(hash) >= sights
            && let Some(statement) = make()
        {
            self.texts.keep(hash, text, mode, Arc::new(statement));
        }
    }

    /// The template of a key with this hash; Some(None) if it is known that there is none.
    pub fn find_template(&self, hash: u64, key: &[u8], mode: SqlMode) -> Option<Option<Arc<CachedTemplate>>> {
        self.templates.find(hash, key, mode).map(|(template, _)| template)
    }

    /// Offers a key that was not found; `make` is asked for its template if it is seen for the second time.
    pub fn offer_template(&self, key: &[u8], mode: SqlMode, make: impl FnOnce() -> Option<Template>) {
        let hash = hash(key);
        if self.templates.sight(hash) >= 2 {
            self.templates.keep(hash, key, mode, make().map(|template| Arc::new(template.into())));
        }
    }
}
