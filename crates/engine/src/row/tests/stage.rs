//! What the tests of this room share: a small table, an executor of one thread, and futures polled by hand.

use std::future::Future;
use std::ops::Bound;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::Thread;

use turnstile_sys::fault_disk::FaultDisk;

use crate::api::*;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::TableId;
use crate::interrupt::Interrupt;
use crate::txn::Txn;

/// Runs a future to its end on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park_timeout(std::time::Duration::from_secs(10)),
        }
    }
}

/// Polls a future once: its output, or `None` while it waits.
pub fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Option<F::Output> {
    let mut context = Context::from_waker(Waker::noop());
    match future.poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Rows of this table are `a u32 big endian, b u32 big endian, text`; secondary 0 is on `a`, secondary 1
/// unique on `b`, where `u32::MAX` stands for NULL.
pub struct Columns;

impl RowKeys for Columns {
    fn secondary_key(&self, nth: usize, row: &[u8], out: &mut Vec<u8>) -> bool {
        let column = &row[nth * 4..nth * 4 + 4];
        out.extend_from_slice(column);
        column != [0xff; 4]
    }
}

pub const NULL: u32 = u32::MAX;

pub fn row(a: u32, b: u32, text: &str) -> Vec<u8> {
    [&a.to_be_bytes()[..], &b.to_be_bytes(), text.as_bytes()].concat()
}

pub fn a_of(row: &[u8]) -> u32 {
    u32::from_be_bytes(row[..4].try_into().unwrap())
}

pub fn key(id: u32) -> [u8; 4] {
    id.to_be_bytes()
}

pub fn small_config() -> Config {
    Config { buffer_pool_bytes: 4 << 20, redo_capacity_bytes: 8 << 20, ..Config::default() }
}

/// An engine without threads on a fresh memory disk, with a table.
pub fn open(seed: u64) -> (FaultDisk, Arc<Engine>, TableDef) {
    let disk = FaultDisk::new(seed);
    let engine = Engine::open_quiet(Arc::new(disk.clone()), small_config()).unwrap();
    let table = new_table(&engine);
    (disk, engine, table)
}

pub fn new_table(engine: &Engine) -> TableDef {
    TableDef {
        id: TableId(7),
        clustered: engine.create_index().unwrap(),
        secondaries: vec![
            SecondaryDef { id: engine.create_index().unwrap(), unique: false },
            SecondaryDef { id: engine.create_index().unwrap(), unique: true },
        ],
        keys: Arc::new(Columns),
    }
}

/// The same table without secondary trees.
pub fn bare(table: &TableDef) -> TableDef {
    TableDef { secondaries: Vec::new(), ..table.clone() }
}

pub fn options(isolation: Isolation) -> TxnOptions {
    TxnOptions {
        isolation,
        read_only: false,
        autocommit: false,
        lock_wait_timeout_ms: 50_000,
        interrupt: Arc::new(Interrupt::new()),
        status: Default::default(),
    }
}

pub fn begin(engine: &Arc<Engine>) -> Txn {
    engine.begin(options(Isolation::RepeatableRead))
}

pub fn begin_rc(engine: &Arc<Engine>) -> Txn {
    engine.begin(options(Isolation::ReadCommitted))
}

pub fn get(txn: &mut Txn, table: &TableDef, id: u32) -> Option<Vec<u8>> {
    block_on(txn.get(table, &key(id), Read::Consistent)).unwrap()
}

pub fn insert(txn: &mut Txn, table: &TableDef, id: u32, bytes: &[u8]) {
    block_on(txn.insert(table, &key(id), bytes)).unwrap();
}

pub fn set(txn: &mut Txn, table: &TableDef, id: u32, bytes: &[u8]) -> Updated {
    block_on(update(txn, table, id, bytes)).unwrap()
}

pub async fn update(txn: &mut Txn, table: &TableDef, id: u32, bytes: &[u8]) -> Result<Updated> {
    let mut change = |_: &[u8], new: &mut Vec<u8>| {
        new.clear();
        new.extend_from_slice(bytes);
        Change::Replace
    };
    txn.update(table, &key(id), &mut change).await
}

pub fn spec(index: ScanIndex, mode: Read) -> ScanSpec {
    ScanSpec {
        index,
        lower: Bound::Unbounded,
        upper: Bound::Unbounded,
        reverse: false,
        mode,
        fetch_row: true,
    }
}

/// Primary keys and rows of a consistent scan.
pub fn scan_all(txn: &mut Txn, table: &TableDef, spec: ScanSpec) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut out = Vec::new();
    let mut scan = txn.scan(table, spec);
    while block_on(txn.scan_batch(&mut scan, &mut |_, pk, row| {
        out.push((pk.to_vec(), row.to_vec()));
        Visit::Continue
    }))
    .unwrap()
    {}
    out
}

/// All rows by each of the table's trees; they must agree.
pub fn contents(txn: &mut Txn, table: &TableDef) -> Vec<(Vec<u8>, Vec<u8>)> {
    let rows = scan_all(txn, table, spec(ScanIndex::Clustered, Read::Consistent));
    for nth in 0..table.secondaries.len() {
        for (reverse, fetch_row) in [(false, true), (true, true), (false, false)] {
            let spec = ScanSpec { reverse, fetch_row, ..spec(ScanIndex::Secondary(nth), Read::Consistent) };
            let mut found = scan_all(txn, table, spec);
            found.sort();
            if fetch_row {
                assert_eq!(found, rows, "secondary {nth} disagrees");
            } else {
                let keys =
                    |rows: &[(Vec<u8>, Vec<u8>)]| rows.iter().map(|(pk, _)| pk.clone()).collect::<Vec<_>>();
                assert_eq!(keys(&found), keys(&rows), "secondary {nth} disagrees, covering");
            }
        }
    }
    rows
}

/// Changes a row in a transaction of its own.
pub fn commit_set(engine: &Arc<Engine>, table: &TableDef, id: u32, n: u32) {
    let mut txn = begin(engine);
    set(&mut txn, table, id, &row(n, id, "some text to make it a row"));
    txn.commit().unwrap();
}

/// Inserts rows and purges what is left of that.
pub fn fill(engine: &Arc<Engine>, table: &TableDef, rows: u32) {
    let mut txn = begin(engine);
    for id in 0..rows {
        insert(&mut txn, table, id, &row(0, id, "some text to make it a row"));
    }
    txn.commit().unwrap();
    engine.purge_all().unwrap();
}
