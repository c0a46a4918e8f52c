//! Transactions and locks in the words of SHOW ENGINE INNODB STATUS: lines that people know and tools parse.
//! Used by the list of transactions and by LATEST DETECTED DEADLOCK.
//!
//! A lock here has a key and no page. Where the text wants a place, the space is the table's number, the page
//! the index's, and a lock covers one record, so `n bits` is 1. The key's bytes follow, as the engine
//! compares them.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use turnstile_engine::TableLock;
use turnstile_engine::ids::{IndexId, TableId, TxnId};
use turnstile_engine::lock::{LockInfo, LockKind, LockMode, LockName, LockShape};

use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::dictionary::Table;
use turnstile_values::field::Digits;

/// Longest piece of a statement's text that is shown, in bytes.
const STATEMENT_BYTES_MAX: usize = 3000;
/// Transactions that have written nothing have no id; they are shown by numbers from here on, as InnoDB does.
const READERS_FROM: u64 = 1 << 48;
/// The clustered tree of a table without a primary key.
pub const HIDDEN_KEY: &str = "GEN_CLUST_INDEX";

/// The number by which a transaction is shown: its id, or one made from its place in the order of beginnings.
pub fn shown_id(txn_id: Option<TxnId>, start_sequence: u64) -> u64 {
    txn_id.map_or(READERS_FROM + start_sequence, |id| id.0)
}

/// Which table a tree belongs to, and what its key is called; as the dictionary is now.
#[derive(Default)]
pub struct LockNames {
    tables: HashMap<TableId, Arc<Table>>,
    /// The position of the key in the table; none for the hidden one.
    indexes: HashMap<IndexId, (Arc<Table>, Option<usize>)>,
}

impl LockNames {
    /// Reads the dictionary.
    pub fn of(db: &Catalog) -> LockNames {
        let mut names = LockNames::default();
        let dictionary = db.dictionary();
        for table in dictionary.schema_names().iter().flat_map(|schema| dictionary.tables(schema)) {
            let definition = &table.definition;
            names.indexes.insert(definition.clustered, (table.clone(), table.primary()));
            for (nth, key) in table.keys().iter().enumerate().filter(|(_, key)| !key.primary) {
                names.indexes.insert(key.index, (table.clone(), Some(nth)));
            }
            names.tables.insert(definition.id, table.clone());
        }
        names
    }

    /// What these locks need: nothing is read if there are none.
    pub fn for_locks(db: &Catalog, locks: &[LockInfo]) -> LockNames {
        if locks.is_empty() { LockNames::default() } else { LockNames::of(db) }
    }

    /// The table in backticks with its database; a number if it is gone.
    pub fn table(&self, table: TableId) -> String {
        match self.tables.get(&table) {
            Some(table) => {
                let definition = &table.definition;
                format!("{}.{}", quoted(&definition.schema), quoted(&definition.name))
            }
            None => quoted(&format!("#{}", table.0)),
        }
    }

    /// The table of an index, and the index's name.
    pub fn index(&self, index: IndexId) -> (Option<TableId>, String) {
        match self.key(index) {
            Some((table, nth)) => {
                let name = nth.map_or(HIDDEN_KEY, |nth| &*table.keys()[nth].name);
                (Some(table.definition.id), name.to_owned())
            }
            None => (None, format!("#{}", index.0)),
        }
    }

    /// The table of an index and the position of its key there; None as a position is the hidden key.
    pub fn key(&self, index: IndexId) -> Option<(&Arc<Table>, Option<usize>)> {
        self.indexes.get(&index).map(|(table, nth)| (table, *nth))
    }

    /// The table that a lock is in.
    pub fn table_of(&self, name: LockName<'_>) -> Option<&Arc<Table>> {
        match name {
            LockName::Row { index, .. } | LockName::Supremum(index) => {
                self.indexes.get(&index).map(|(table, _)| table)
            }
            LockName::Table(table) => self.tables.get(&table),
        }
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// What the head of a transaction says.
#[derive(Clone, Debug, Default)]
pub struct TransactionHead<'a> {
    /// See [`shown_id`].
    pub id: u64,
    /// Seconds since it began.
    pub active_s: u64,
    /// What the engine does for it now: `starting index read`, or nothing.
    pub operation: &'a str,
    /// `thread declared inside InnoDB 5000` and its like, or nothing.
    pub admission: &'a str,
    /// Tables its statement uses, and locks. With 0 the line is left out.
    pub tables: (u32, u32),
    /// It waits for a lock.
    pub waits: bool,
    /// Names locked or waited for.
    pub lock_structs: u32,
    /// Their memory in bytes.
    pub heap_bytes: u32,
    /// Rows locked.
    pub row_locks: u32,
    /// Undo records that stand.
    pub undo_records: u64,
    /// Whose it is; None for work of the server's own.
    pub thread: Option<ThreadLine<'a>>,
}

/// The session behind a transaction.
#[derive(Clone, Debug, Default)]
pub struct ThreadLine<'a> {
    /// Connection id. A session has no thread of the system to itself, so the handle shown is the same.
    pub connection: u64,
    /// Names the statement: when it began, in microseconds since the server began.
    pub query_id: u64,
    /// Client's host.
    pub host: &'a [u8],
    /// User.
    pub user: &'a [u8],
    /// As SHOW PROCESSLIST says.
    pub state: &'a str,
    /// Its statement.
    pub statement: Option<&'a [u8]>,
}

/// Writes the head of a transaction: `TRANSACTION 1811, ACTIVE 5 sec ...` and the lines that belong to it.
pub fn write_transaction(out: &mut String, head: &TransactionHead<'_>) {
    // Writing into a string cannot fail.
    let _ = write!(out, "TRANSACTION {}, ACTIVE {} sec", head.id, head.active_s);
    if !head.operation.is_empty() {
        let _ = write!(out, " {}", head.operation);
    }
    if !head.admission.is_empty() {
        let _ = write!(out, ", {}", head.admission);
    }
    out.push('\n');
    if head.tables != (0, 0) {
        let _ = writeln!(out, "mysql tables in use {}, locked {}", head.tables.0, head.tables.1);
    }
    let wait = if head.waits { "LOCK WAIT " } else { "" };
    let _ = write!(
        out,
        "{wait}{} lock struct(s), heap size {}, {} row lock(s)",
        head.lock_structs, head.heap_bytes, head.row_locks
    );
    if head.undo_records > 0 {
        let _ = write!(out, ", undo log entries {}", head.undo_records);
    }
    out.push('\n');
    if let Some(thread) = &head.thread {
        write_thread(out, thread);
    }
}

/// Writes the session's line, and its statement.
pub fn write_thread(out: &mut String, thread: &ThreadLine<'_>) {
    let mut lines = Vec::new();
    put_thread(&mut lines, thread);
    out.push_str(&String::from_utf8_lossy(&lines));
}

/// The same as bytes, put together by hand: a report has one for every connection.
pub fn put_thread(out: &mut Vec<u8>, thread: &ThreadLine<'_>) {
    let connection = Digits::of(thread.connection);
    out.extend_from_slice(b"MySQL thread id ");
    out.extend_from_slice(connection.as_bytes());
    out.extend_from_slice(b", OS thread handle ");
    out.extend_from_slice(connection.as_bytes());
    out.extend_from_slice(b", query id ");
    out.extend_from_slice(Digits::of(thread.query_id).as_bytes());
    for word in [thread.host, thread.user, thread.state.as_bytes()] {
        out.push(b' ');
        out.extend_from_slice(word);
    }
    out.push(b'\n');
    if let Some(statement) = thread.statement {
        let shown = &statement[..statement.len().min(STATEMENT_BYTES_MAX)];
        out.extend_from_slice(String::from_utf8_lossy(shown).as_bytes());
        out.push(b'\n');
    }
}

/// Writes a lock: a line per shape, and for a row its key.
pub fn write_lock(out: &mut String, names: &LockNames, lock: &LockInfo) {
    let id = shown_id(lock.txn_id, lock.id.transaction);
    let waiting = if lock.waited.is_some() { " waiting" } else { "" };
    for shape in &lock.shapes {
        match lock.name.name() {
            LockName::Table(table) => {
                let (table, mode) = (names.table(table), shape.label().replace('_', "-"));
                let _ = writeln!(out, "TABLE LOCK table {table} trx id {id} lock mode {mode}{waiting}");
            }
            LockName::Row { index, key } => {
                write_record(out, names, index, id, &format!("{}{waiting}", row_mode(*shape, false)));
                write_key(out, 2, key);
            }
            LockName::Supremum(index) => {
                write_record(out, names, index, id, &format!("{}{waiting}", row_mode(*shape, true)));
                write_key(out, 1, b"supremum");
            }
        }
    }
}

fn write_record(out: &mut String, names: &LockNames, index: IndexId, id: u64, mode: &str) {
    let (table, name) = names.index(index);
    let (space, table) = table.map_or((0, quoted("?")), |table| (table.0, names.table(table)));
    let _ = writeln!(
        out,
        "RECORD LOCKS space id {space} page no {} n bits 1 index {} of table {table} trx id {id} {mode}",
        index.0,
        quoted(&name)
    );
}

/// InnoDB's words for a row lock. The supremum has no record, so there is nothing that a lock on it spares.
fn row_mode(shape: LockShape, supremum: bool) -> String {
    let LockShape::Row(mode, kind) = shape else { return shape.label().into() };
    let mode = if mode == LockMode::S { "lock mode S" } else { "lock_mode X" };
    let rest = match (kind, supremum) {
        (LockKind::Record | LockKind::Successor, false) => " locks rec but not gap",
        (LockKind::Gap, false) => " locks gap before rec",
        (LockKind::InsertIntention, false) => " locks gap before rec insert intention",
        (LockKind::InsertIntention, true) => " insert intention",
        (LockKind::NextKey, _) | (_, true) => "",
    };
    format!("{mode}{rest}")
}

fn write_key(out: &mut String, heap: u32, key: &[u8]) {
    let _ =
        writeln!(out, "Record lock, heap no {heap} PHYSICAL RECORD: n_fields 1; compact format; info bits 0");
    let hex = key.iter().fold(String::with_capacity(2 * key.len()), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let shown = |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { *byte as char } else { ' ' };
    let _ = writeln!(
        out,
        " 0: len {}; hex {hex}; asc {};;\n",
        key.len(),
        key.iter().map(shown).collect::<String>()
    );
}

/// What the engine does for a transaction that waits for this lock.
pub fn operation_of(waiting_for: &LockInfo) -> &'static str {
    match waiting_for.shapes.first() {
        Some(LockShape::Row(_, LockKind::InsertIntention)) => "inserting",
        Some(LockShape::Table(TableLock::AutoIncrement)) => "setting auto-inc lock",
        Some(LockShape::Table(_)) => "setting table lock",
        _ => "starting index read",
    }
}

#[cfg(test)]
mod tests;
