//! The simulated table: id -> (a, b, text), with a secondary tree on `a` and a unique one on `b`; and how to read all of it.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Bound;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use turnstile_engine::ids::{IndexId, TableId};
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::{
    Change, Engine, Isolation, Read, Result, RowKeys, ScanIndex, ScanSpec, SecondaryDef, TableDef, Txn,
    TxnOptions, Visit,
};

/// What a table holds: rows by primary key.
pub type State = BTreeMap<Vec<u8>, Vec<u8>>;

struct Columns;

impl RowKeys for Columns {
    fn secondary_key(&self, nth: usize, row: &[u8], out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&row[nth * 4..nth * 4 + 4]);
        true
    }
}

/// A row.
pub fn row(a: u32, b: u32, text_len: usize) -> Vec<u8> {
    let mut row = [a.to_be_bytes(), b.to_be_bytes()].concat();
    row.resize(8 + text_len, b'a' + (a % 26) as u8);
    row
}

/// Runs a future of an engine without threads, where nothing waits for another thread. `None`: it waits for a lock.
pub fn run<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

pub fn create(engine: &Engine) -> Result<TableDef> {
    Ok(TableDef {
        id: TableId(1),
        clustered: engine.create_index()?,
        secondaries: vec![
            SecondaryDef { id: engine.create_index()?, unique: false },
            SecondaryDef { id: engine.create_index()?, unique: true },
        ],
        keys: Arc::new(Columns),
    })
}

pub fn begin(engine: &Arc<Engine>, isolation: Isolation) -> Txn {
    engine.begin(TxnOptions {
        isolation,
        read_only: false,
        autocommit: false,
        lock_wait_timeout_ms: 1000,
        interrupt: Arc::new(Interrupt::new()),
    })
}

/// Writes a row, new or not; `None`: it would wait.
pub fn put(txn: &mut Txn, table: &TableDef, key: &[u8], bytes: &[u8], exists: bool) -> Option<Result<()>> {
    if !exists {
        return run(txn.insert(table, key, bytes));
    }
    let mut change = |_: &[u8], new: &mut Vec<u8>| {
        new.extend_from_slice(bytes);
        Change::Replace
    };
    run(txn.update(table, key, &mut change)).map(|outcome| outcome.map(drop))
}

fn walk(txn: &mut Txn, table: &TableDef, index: ScanIndex) -> Result<State> {
    let mut state = State::new();
    let spec = ScanSpec {
        index,
        lower: Bound::Unbounded,
        upper: Bound::Unbounded,
        reverse: false,
        mode: Read::Consistent,
        fetch_row: true,
    };
    let mut scan = txn.scan(table, spec);
    let mut visit = |_: &[u8], pk: &[u8], row: &[u8]| {
        state.insert(pk.to_vec(), row.to_vec());
        Visit::Continue
    };
    while run(txn.scan_batch(&mut scan, &mut visit)).expect("nothing to wait for")? {}
    Ok(state)
}

/// All rows, read through each tree: the three must agree.
pub fn read(engine: &Arc<Engine>, table: &TableDef) -> std::result::Result<State, String> {
    let mut txn = begin(engine, Isolation::RepeatableRead);
    let rows = walk(&mut txn, table, ScanIndex::Clustered).map_err(|error| error.to_string())?;
    for nth in 0..table.secondaries.len() {
        let by_secondary =
            walk(&mut txn, table, ScanIndex::Secondary(nth)).map_err(|error| error.to_string())?;
        if by_secondary != rows {
            return Err(format!("secondary {nth} has {} rows, the table {}", by_secondary.len(), rows.len()));
        }
    }
    Ok(rows)
}

/// Every tree is sound; with `records`, none has a record more or less.
pub fn check(engine: &Engine, table: &TableDef, records: Option<usize>) -> std::result::Result<(), String> {
    let indexes: Vec<IndexId> =
        std::iter::once(table.clustered).chain(table.secondaries.iter().map(|def| def.id)).collect();
    for index in indexes {
        let report = engine.verify_index(index).map_err(|error| format!("index {index}: {error}"))?;
        if records.is_some_and(|records| records as u64 != report.records) {
            return Err(format!("index {index} has {} records, the table {records:?} rows", report.records));
        }
    }
    Ok(())
}
