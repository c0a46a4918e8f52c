//! One session of the simulator: a transaction, what it did, and the statement it is in the middle of. A
//! statement is a future that owns the transaction; it is polled only when its waker was called, so that a
//! lost wakeup shows.

use std::future::{Future, poll_fn};
use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use turnstile_engine::{
    Change, Error, Isolation, LockWait, Read, Result, RowLock, RowRun, Savepoint, ScanIndex, ScanSpec, Txn,
    UpdateDraft, Updated, Visit,
};

use crate::table::{Overlay, Row, Table, a_of, id_of};

/// What a statement came to.
#[derive(Debug)]
pub enum Answer {
    Inserted,
    Updated(Updated, Option<Row>),
    Deleted(bool),
    Row(Option<Row>),
    /// Rows in the order of their number, or only their numbers if the index covered the scan.
    Rows(Vec<(u32, Option<Row>)>),
    /// Every row a range statement changed: number, version it was locked in, version after.
    Changed(Vec<(u32, Row, Option<Row>)>),
}

/// What a statement was asked to do, to judge its answer.
#[derive(Clone, Debug)]
pub enum Asked {
    Insert {
        id: u32,
        row: Row,
    },
    /// Rows with numbers from `id` on.
    InsertRun {
        id: u32,
        rows: Vec<Row>,
    },
    /// `ends`: it may commit its transaction with the change.
    Update {
        id: u32,
        row: Row,
        ends: bool,
    },
    Delete {
        id: u32,
        ends: bool,
    },
    Read {
        id: u32,
    },
    LockRead {
        id: u32,
        wait: LockWait,
    },
    Scan {
        secondary: bool,
    },
    ChangeRange {
        from: u32,
        to: u32,
        modulus: u32,
    },
}

type Running = Pin<Box<dyn Future<Output = (Txn, Result<Answer>)>>>;

/// A statement on its way.
pub struct Statement {
    pub asked: Asked,
    pub table: u32,
    /// Where the transaction stood before it.
    pub savepoint: Savepoint,
    /// The version of the database that its consistent reads see.
    pub view: usize,
    running: Running,
    woken: Arc<Woken>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A future's waker, and whether it was called.
pub struct Waking(Woken);

impl Waking {
    pub fn raised() -> Arc<Waking> {
        Arc::new(Waking(Woken(AtomicBool::new(true))))
    }

    /// Whether the waker was called since the last poll.
    pub fn is_raised(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Polls a future once, if its waker was called since the last time.
    pub fn poll<F: Future + ?Sized>(self: &Arc<Self>, future: Pin<&mut F>) -> Option<F::Output> {
        if !self.0.0.swap(false, Ordering::SeqCst) {
            return None;
        }
        let waker = Waker::from(Arc::clone(self));
        match future.poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }
}

impl Wake for Waking {
    fn wake(self: Arc<Self>) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}

impl Statement {
    pub fn new(asked: Asked, table: u32, savepoint: Savepoint, view: usize, running: Running) -> Self {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        Statement { asked, table, savepoint, view, running, woken }
    }

    /// Whether somebody called its waker since it was polled.
    pub fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::SeqCst)
    }

    /// Polls it once.
    pub fn poll(&mut self) -> Option<(Txn, Result<Answer>)> {
        self.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.woken));
        match self.running.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }
}

/// What a session has open.
pub struct Work {
    pub isolation: Isolation,
    pub overlay: Overlay,
    pub savepoints: Vec<(Savepoint, Overlay)>,
    /// Under REPEATABLE READ: the version of the database seen since the first consistent read.
    pub view: Option<usize>,
}

/// A session. A transaction is open if `work` is there; it is in `txn`, or in the statement that runs.
#[derive(Default)]
pub struct Session {
    pub work: Option<Work>,
    pub txn: Option<Txn>,
    pub statement: Option<Statement>,
}

/// Runs a future that never waits for another session; it may yield, which is to wake itself.
pub fn at_once<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    while woken.0.swap(false, Ordering::SeqCst) {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
    }
    panic!("an operation that needs no lock waits")
}

/// Lets the other sessions run.
async fn pause() {
    let mut first = true;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::take(&mut first) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

async fn write_row(
    txn: &mut Txn,
    table: &Table,
    id: u32,
    row: Option<&Row>,
    ends: bool,
) -> Result<(Updated, Option<Row>)> {
    let mut old_row = None;
    let mut change = |old: &[u8], new: &mut Vec<u8>| {
        old_row = Some(Row::from(old));
        let Some(row) = row else { return Change::Delete };
        new.clear();
        new.extend_from_slice(row);
        Change::Replace
    };
    let (key, mut draft) = (table.key(id), UpdateDraft::that_ends(ends));
    let updated = match txn.update_now(&table.def, &key, &mut change, &mut draft)? {
        Some(updated) => updated,
        None => txn.update_waiting(&table.def, &key, &mut change, draft).await?,
    };
    Ok((updated, old_row))
}

/// All rows by one index, a leaf at a time with others running in between.
async fn scan(txn: &mut Txn, table: &Table, index: ScanIndex, covering: bool) -> Result<Answer> {
    let spec = ScanSpec {
        index,
        lower: Bound::Unbounded,
        upper: Bound::Unbounded,
        reverse: covering,
        mode: Read::Consistent,
        fetch_row: !covering,
    };
    let mut found = Vec::new();
    let mut scan = txn.scan(&table.def, spec);
    while txn
        .scan_batch(&mut scan, &mut |_, pk, row| {
            found.push((id_of(pk), (!covering).then(|| Row::from(row))));
            Visit::Continue
        })
        .await?
    {
        pause().await;
    }
    if index == ScanIndex::Clustered && found.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err(Error::Stopped("a scan is out of order".into()));
    }
    found.sort();
    Ok(Answer::Rows(found))
}

/// Locks every row of a range whose `a` is not a multiple of `modulus` and changes it, as an UPDATE or DELETE
/// with a range.
async fn change_range(
    txn: &mut Txn,
    table: &Table,
    range: (u32, u32),
    modulus: u32,
    new: &[Option<Row>],
) -> Result<Answer> {
    let spec = ScanSpec {
        index: ScanIndex::Clustered,
        lower: Bound::Included(table.key(range.0)),
        upper: Bound::Excluded(table.key(range.1)),
        reverse: false,
        mode: Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait },
        fetch_row: true,
    };
    let mut changed = Vec::new();
    let mut scan = txn.scan(&table.def, spec);
    let mut accept = |row: &[u8]| !a_of(row).is_multiple_of(modulus);
    while let Some((pk, locked)) = txn.scan_locked_next(&mut scan, &mut accept).await? {
        if !accept(&locked) {
            continue;
        }
        let id = id_of(&pk);
        // The row keeps its indexed columns, so that it cannot collide with another one.
        let version = new[changed.len() % new.len()].as_ref().map(|row| {
            let mut bytes = row.to_vec();
            bytes[..8].copy_from_slice(&locked[..8]);
            Row::from(bytes)
        });
        let (updated, old) = write_row(txn, table, id, version.as_ref(), false).await?;
        let Some(old) = old.filter(|old| old[..] == locked[..]) else {
            return Err(Error::Stopped(format!("row {id}, locked, has become {updated:?}")));
        };
        changed.push((id, old, version));
    }
    Ok(Answer::Changed(changed))
}

/// The future of a statement. `new` are versions for the rows of a range.
pub fn run(mut txn: Txn, table: Table, asked: Asked, new: Vec<Option<Row>>) -> Running {
    Box::pin(async move {
        let answer = answer(&mut txn, &table, &asked, &new).await;
        (txn, answer)
    })
}

async fn answer(txn: &mut Txn, table: &Table, asked: &Asked, new: &[Option<Row>]) -> Result<Answer> {
    Ok(match asked {
        Asked::Insert { id, row } => {
            txn.insert(&table.def, &table.key(*id), row).await?;
            Answer::Inserted
        }
        Asked::InsertRun { id, rows } => {
            let mut run = RowRun::default();
            for (id, row) in (*id..).zip(rows) {
                run.push(&table.key(id), row);
            }
            let mut at = 0;
            while at < run.len() {
                at += match txn.try_insert_run(&table.def, &run, at)? {
                    0 => {
                        let (key, row) = run.get(at);
                        txn.insert(&table.def, key, row).await?;
                        1
                    }
                    inserted => inserted,
                };
            }
            Answer::Inserted
        }
        Asked::Update { id, row, ends } => {
            let (updated, old) = write_row(txn, table, *id, Some(row), *ends).await?;
            Answer::Updated(updated, old)
        }
        Asked::Delete { id, ends } => {
            Answer::Deleted(write_row(txn, table, *id, None, *ends).await?.0 == Updated::Deleted)
        }
        Asked::Read { id } => {
            let row = txn.get(&table.def, &table.key(*id), Read::Consistent).await?;
            Answer::Row(row.map(Row::from))
        }
        Asked::LockRead { id, wait } => {
            let lock = if id.is_multiple_of(2) { RowLock::Shared } else { RowLock::Exclusive };
            let mode = Read::Locking { lock, wait: *wait };
            Answer::Row(txn.get(&table.def, &table.key(*id), mode).await?.map(Row::from))
        }
        Asked::Scan { secondary: false } => scan(txn, table, ScanIndex::Clustered, false).await?,
        Asked::Scan { secondary: true } => {
            let nth = table.def.secondaries.len() - 1;
            scan(txn, table, ScanIndex::Secondary(nth), nth == 0).await?
        }
        Asked::ChangeRange { from, to, modulus } => {
            change_range(txn, table, (*from, *to), *modulus, new).await?
        }
    })
}
