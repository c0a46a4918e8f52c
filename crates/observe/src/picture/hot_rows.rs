//! The rows that are fought for, with the names of what they are in and what their holders do.

use std::sync::Arc;

use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::registry::Listed;
use turnstile_engine::lock::{HotRowReport, LockName};

use super::key_text::key_text;
use super::lock_text::{LockNames, shown_id};

/// A hot row in words.
pub struct HotRow {
    /// Its numbers.
    pub seen: HotRowReport,
    /// Its table.
    pub table: Arc<Table>,
    /// The name of its index.
    pub index: String,
    /// Its key, as LOCK_DATA of data_locks shows it.
    pub key: String,
    /// Who holds it exclusively.
    pub holder: Option<Holder>,
}

/// The transaction that holds a hot row.
pub struct Holder {
    /// The id it is shown by.
    pub id: u64,
    /// The connection's number; 0 if its session is gone and it is being rolled back.
    pub connection: u64,
    /// Since when it is open, in microseconds: it holds the row for no longer. None if it has just ended.
    pub open_us: Option<u64>,
    /// The statement that runs now.
    pub statement: Option<String>,
}

/// The hot rows, the most waited for first. A row of a table that is gone, or of a temporary one, is left
/// out: nobody could find it by its name.
pub fn hot_rows(db: &Catalog) -> Vec<HotRow> {
    let seen = HotRowReport::of(db.engine().locks());
    if seen.is_empty() {
        return Vec::new();
    }
    let (names, sessions) = (LockNames::of(db), db.registry().list());
    let now_us = db.registry().now_us();
    let in_words = |seen: HotRowReport| {
        let LockName::Row { index, key } = seen.name.name() else { return None };
        let (table, nth) = names.key(index)?;
        Some(HotRow {
            table: table.clone(),
            index: names.index(index).1,
            key: key_text(table, nth, key),
            holder: holder(&seen, &sessions, now_us),
            seen,
        })
    };
    seen.into_iter().filter_map(in_words).collect()
}

fn holder(seen: &HotRowReport, sessions: &[Listed], now_us: u64) -> Option<Holder> {
    let holder = seen.holder?;
    let session = sessions.iter().find(|one| holder.session != 0 && one.id == holder.session);
    let status = session.map(|one| one.status.picture());
    // The session may have begun another transaction since.
    let its_own = status.filter(|one| one.open && holder.txn_id.is_none_or(|id| id.0 == one.txn_id));
    let statement = session
        .filter(|_| its_own.is_some())
        .and_then(|one| one.with_text(|text| text.map(|text| String::from_utf8_lossy(text).into_owned())));
    Some(Holder {
        id: shown_id(holder.txn_id, holder.start_sequence),
        connection: holder.session,
        open_us: its_own.map(|one| now_us.saturating_sub(one.started_us)),
        statement,
    })
}

/// Microseconds as people read them.
pub fn readable_time(us: u64) -> String {
    let number = us as f64;
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{:.2} ms", number / 1e3),
        1_000_000..60_000_000 => format!("{:.2} s", number / 1e6),
        _ => format!("{:.2} m", number / 6e7),
    }
}
