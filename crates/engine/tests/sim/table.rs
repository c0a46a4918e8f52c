//! The simulator's tables and what they should hold: rows `a u32, b u32, text` under a `u32` key, with up to
//! two secondary indexes, and a state that is compared with what the engine shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use turnstile_engine::ids::{IndexId, TableId};
use turnstile_engine::{RowKeys, SecondaryDef, TableDef};

/// Stands for NULL in `b`.
pub const NULL: u32 = u32::MAX;

/// A row's bytes.
pub type Row = Arc<[u8]>;
/// The rows of one table by their number.
pub type Rows = BTreeMap<u32, Row>;
/// What one transaction did: table, row, new version or deletion.
pub type Overlay = BTreeMap<(u32, u32), Option<Row>>;

/// The rows of all tables by the table's number; a table without rows may be missing.
#[derive(Clone, Debug, Default)]
pub struct State {
    tables: BTreeMap<u32, Arc<Rows>>,
}

impl State {
    /// Rows of a table.
    pub fn rows(&self, table: u32) -> Arc<Rows> {
        self.tables.get(&table).cloned().unwrap_or_default()
    }

    /// This state with a transaction's changes.
    pub fn with(&self, overlay: &Overlay) -> State {
        let mut after = self.clone();
        for (&(table, id), row) in overlay {
            let rows = Arc::make_mut(after.tables.entry(table).or_default());
            match row {
                Some(row) => drop(rows.insert(id, Arc::clone(row))),
                None => drop(rows.remove(&id)),
            }
        }
        after
    }

    /// Rows of one table with a transaction's changes.
    pub fn rows_with(&self, table: u32, overlay: &Overlay) -> Arc<Rows> {
        let mut rows = self.rows(table);
        for (&(_, id), row) in overlay.range((table, 0)..=(table, u32::MAX)) {
            let rows = Arc::make_mut(&mut rows);
            match row {
                Some(row) => drop(rows.insert(id, Arc::clone(row))),
                None => drop(rows.remove(&id)),
            }
        }
        rows
    }

    /// Sets a table's rows.
    pub fn set(&mut self, table: u32, rows: Rows) {
        self.tables.insert(table, Arc::new(rows));
    }

    /// Forgets a table.
    pub fn forget(&mut self, table: u32) {
        self.tables.remove(&table);
    }

    /// Whether both hold the same rows.
    pub fn same(&self, other: &State) -> bool {
        let full = |state: &State| -> Vec<(u32, Arc<Rows>)> {
            let tables = state.tables.iter().filter(|(_, rows)| !rows.is_empty());
            tables.map(|(number, rows)| (*number, Arc::clone(rows))).collect()
        };
        full(self) == full(other)
    }

    /// Where the two differ, for a report.
    pub fn difference(&self, other: &State) -> String {
        let mut found = String::new();
        let numbers = self.tables.keys().chain(other.tables.keys());
        for number in numbers.collect::<std::collections::BTreeSet<_>>() {
            let (ours, theirs) = (self.rows(*number), other.rows(*number));
            for id in ours.keys().chain(theirs.keys()).collect::<std::collections::BTreeSet<_>>() {
                if ours.get(id) != theirs.get(id) && found.len() < 400 {
                    let show = |row: Option<&Row>| row.map(|row| (a_of(row), b_of(row), row.len()));
                    let (ours, theirs) = (show(ours.get(id)), show(theirs.get(id)));
                    found += &format!(" table {number} row {id}: {ours:?} against {theirs:?};");
                }
            }
        }
        found
    }
}

/// Secondary 0 is on `a`, not unique; secondary 1 is on `b`, unique. Both may be padded, so that few entries
/// fill a page.
pub struct Columns {
    /// Bytes behind each secondary key.
    pub pad: usize,
}

impl RowKeys for Columns {
    fn secondary_key(&self, nth: usize, row: &[u8], out: &mut Vec<u8>) -> bool {
        let column = &row[nth * 4..nth * 4 + 4];
        out.extend_from_slice(column);
        out.extend(std::iter::repeat_n(7, self.pad));
        nth == 0 || column != [0xff; 4]
    }
}

/// A table.
#[derive(Clone)]
pub struct Table {
    /// Its number in the states.
    pub number: u32,
    /// For the engine.
    pub def: TableDef,
    /// Bytes behind each primary key.
    pub pad: usize,
}

impl Table {
    /// A table over these trees, the clustered one first.
    pub fn new(number: u32, indexes: &[IndexId], pad: usize) -> Table {
        let secondaries =
            indexes[1..].iter().enumerate().map(|(nth, &id)| SecondaryDef { id, unique: nth == 1 }).collect();
        let keys = Arc::new(Columns { pad });
        let def = TableDef { id: TableId(number), clustered: indexes[0], secondaries, keys };
        Table { number, def, pad }
    }

    /// All its trees.
    pub fn indexes(&self) -> Vec<IndexId> {
        std::iter::once(self.def.clustered).chain(self.def.secondaries.iter().map(|def| def.id)).collect()
    }

    /// Key bytes of a row.
    pub fn key(&self, id: u32) -> Vec<u8> {
        let mut key = id.to_be_bytes().to_vec();
        key.resize(4 + self.pad, 9);
        key
    }

    /// Whether `b` must be unique.
    pub fn is_unique(&self) -> bool {
        self.def.secondaries.len() > 1
    }
}

/// The row number in primary key bytes.
pub fn id_of(key: &[u8]) -> u32 {
    word(&key[..4])
}

/// A row's `a`.
pub fn a_of(row: &[u8]) -> u32 {
    word(&row[..4])
}

/// A row's `b`.
pub fn b_of(row: &[u8]) -> u32 {
    word(&row[4..8])
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().unwrap())
}

/// A row.
pub fn row(a: u32, b: u32, text_len: usize, fill: u8) -> Row {
    let mut row = Vec::with_capacity(8 + text_len);
    row.extend_from_slice(&a.to_be_bytes());
    row.extend_from_slice(&b.to_be_bytes());
    row.resize(8 + text_len, fill);
    row.into()
}
