//! Who does what now, and who waits for whom: sessions, transactions and locks, copied out and put together.
//! Reports and computed tables are written from it.

use std::ops::Deref;
use std::sync::Arc;

use turnstile_catalog::catalog::Catalog;
use turnstile_engine::lock::{LockId, LockSnapshot};
use turnstile_sys::relief;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Account, Charge};

use intentions::IMPLIED;

pub mod activity;
mod doing;
pub mod hot_rows;
pub mod intentions;
pub mod key_text;
pub mod lock_text;

pub use doing::{doing, statement_state};

/// All locks and waits. There may be millions: while somebody looks at them they count as memory of all
/// sessions.
pub struct Picture {
    copied: LockSnapshot,
    _charge: Charge,
}

impl Picture {
    /// Copies them out.
    pub fn take(db: &Catalog) -> SqlResult<Picture> {
        let account = Arc::new(Account::new(db.memory().clone()));
        let mut charge = Charge::on(Some(&account));
        let copied = db.engine().locks().try_snapshot(|bytes| {
            relief::worked();
            charge.add(bytes)
        })?;
        Ok(Picture { copied, _charge: charge })
    }
}

impl Deref for Picture {
    type Target = LockSnapshot;
    fn deref(&self) -> &LockSnapshot {
        &self.copied
    }
}

/// A lock's id in all views: the transaction's place in the order of beginnings, and where the lock table
/// keeps the lock, or the table of an intention.
pub fn lock_id(id: LockId) -> String {
    match id.shard {
        IMPLIED => format!("{}:t{}", id.transaction, id.node),
        shard => format!("{}:{shard}:{}", id.transaction, id.node),
    }
}
