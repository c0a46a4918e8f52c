//! The last foreign key that stood against a change: LATEST FOREIGN KEY ERROR of SHOW ENGINE INNODB STATUS.

use parking_lot::Mutex;
use turnstile_engine::ids::TxnId;

use turnstile_catalog::registry::Registry;
use turnstile_values::datetime::DateTime;

/// Keeps the last one.
#[derive(Debug, Default)]
pub struct ForeignKeyErrors {
    last: Mutex<Option<String>>,
}

/// What was tried, and what was in its way.
pub struct Attempt<'a> {
    /// The transaction, once it has written.
    pub txn: Option<TxnId>,
    /// `table`, CONSTRAINT ...
    pub constraint: &'a str,
    /// "Trying to ... in index i tuple: (values)"
    pub tried: String,
    /// "But in ... table t, in index j, ..."
    pub but: String,
}

impl ForeignKeyErrors {
    /// Writes one down in InnoDB's words.
    pub fn note(&self, registry: &Registry, attempt: &Attempt<'_>) {
        let now_us = registry.unix_us(registry.now_us());
        let at = DateTime::from_unix_us((now_us / 1_000_000 * 1_000_000) as i64, 0).unwrap_or(DateTime::ZERO);
        let (table, constraint) = attempt.constraint.split_once(", ").unwrap_or((attempt.constraint, ""));
        let txn = attempt.txn.unwrap_or_default().0;
        let Attempt { tried, but, .. } = attempt;
        let text = format!(
            "{at} 0x0 Transaction:\nTRANSACTION {txn}\nForeign key constraint fails for table {table}:\n,\n  {constraint}\n\
             {tried}\n{but}\n"
        );
        *self.last.lock() = Some(text);
    }

    /// The section's body; None if there was none.
    pub fn latest(&self) -> Option<String> {
        self.last.lock().clone()
    }
}
