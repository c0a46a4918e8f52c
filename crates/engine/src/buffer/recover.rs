//! Redo after a crash: every group from the last checkpoint is applied to the pages that have not seen it.
//!
//! Redo is physical and every record names one page, so pages are independent: the log is read once, in
//! order, by one thread, and records are dealt to workers by page number. Each worker keeps the order of its
//! pages, reads them as it meets them, and so the reads of different pages overlap. Running it twice changes
//! nothing, because a page remembers in its LSN which groups it has seen: a crash during recovery needs no
//! care of its own.
//!
//! A page that cannot be read stays as it is and is listed in [`Recovered::damaged`]; the others go on.

use super::guard::WriteGuard;
use super::pool::{Pool, damaged};
use super::redo::{self, Change};
use crate::error::{Error, Result};
use crate::ids::{Lsn, PageNo};
use crate::page::{PageKind, edit};
use crate::wal::Wal;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Threads that apply redo.
const WORKERS: usize = 4;
/// Redo bytes dealt to a worker at a time while all pages fit the pool.
const PARCEL_BYTES_MIN: usize = 256 << 10;
/// Once pages have to leave, a parcel is this large. A worker sorts it by page, so each page is brought into
/// memory once per parcel: twice the size is half the reads and writes. At most two parcels of each worker
/// exist at a time, one being filled and one being applied, which bounds recovery's memory at a quarter of a
/// gigabyte beside the pool.
const PARCEL_BYTES_MAX: usize = 32 << 20;
/// Parcels a worker may have waiting: none, it takes them from the dealer's hand.
const PARCELS_WAITING: usize = 0;

/// What recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Where redo began.
    pub from: Lsn,
    /// Where the log ends.
    pub to: Lsn,
    /// Redo groups read.
    pub groups: u64,
    /// Page changes applied; those a page had already seen are not counted.
    pub changes_applied: u64,
    /// Pages that were torn and were restored from the double-write file.
    pub restored_pages: Vec<PageNo>,
    /// Pages that redo names but that cannot be used, and why.
    pub damaged: Vec<Error>,
}

/// Everything one redo group does to one page, as self-contained records in a parcel's bytes. It is applied
/// under one hold of the latch: moves are not idempotent, so a page must never be written with half of a
/// group.
struct Piece {
    page_no: PageNo,
    group_start: Lsn,
    group_end: Lsn,
    bytes: Range<usize>,
}

/// Redo on its way to one worker.
#[derive(Default)]
struct Parcel {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

/// What one worker did.
#[derive(Default)]
struct Applied {
    changes: u64,
    damaged: FxHashMap<PageNo, Error>,
}

/// Deals groups to workers.
struct Dealer<'p> {
    parcels: Vec<Parcel>,
    senders: Vec<SyncSender<Parcel>>,
    /// The runs of one group: consecutive records of one page.
    runs: Vec<(PageNo, Range<usize>)>,
    groups: u64,
    pool: &'p Pool,
}

impl Dealer<'_> {
    fn deal(&mut self, group_start: Lsn, group_end: Lsn, body: &[u8]) -> Result<()> {
        self.groups += 1;
        self.runs.clear();
        let mut records = redo::records(body);
        loop {
            let from = body.len() - records.rest_len();
            let Some(record) = records.next() else { break };
            let (page_no, _) = record?;
            let to = body.len() - records.rest_len();
            match self.runs.last_mut() {
                Some((last, range)) if *last == page_no && range.end == from => range.end = to,
                _ => self.runs.push((page_no, from..to)),
            }
        }
        for nth in 0..self.runs.len() {
            let page_no = self.runs[nth].0;
            if self.runs[..nth].iter().any(|(earlier, _)| *earlier == page_no) {
                continue;
            }
            let worker = page_no.0 as usize % self.parcels.len();
            let parcel = &mut self.parcels[worker];
            let start = parcel.bytes.len();
            for (_, range) in self.runs[nth..].iter().filter(|(same, _)| *same == page_no) {
                parcel.bytes.extend_from_slice(&body[range.clone()]);
            }
            let bytes = start..parcel.bytes.len();
            parcel.pieces.push(Piece { page_no, group_start, group_end, bytes });
            let filled = parcel.bytes.len();
            if filled >= PARCEL_BYTES_MIN && filled >= self.parcel_bytes() {
                self.send(worker)?;
            }
        }
        Ok(())
    }

    fn parcel_bytes(&self) -> usize {
        if self.pool.has_evicted() { PARCEL_BYTES_MAX } else { PARCEL_BYTES_MIN }
    }

    fn send(&mut self, worker: usize) -> Result<()> {
        let parcel = std::mem::take(&mut self.parcels[worker]);
        // A worker that has gone has met an error, which is reported when it is joined.
        self.senders[worker].send(parcel).map_err(|_| Error::Stopped("redo cannot be applied".into()))
    }

    fn finish(mut self) -> Result<u64> {
        for worker in 0..self.parcels.len() {
            self.send(worker)?;
        }
        Ok(self.groups)
    }
}

/// Applies redo from the last checkpoint to the end of the log.
pub(super) fn replay(wal: &Wal, pool: &Pool) -> Result<Recovered> {
    let from = wal.checkpoint_lsn();
    let to = wal.current_lsn();
    let mut recovered = Recovered { from, to, ..Recovered::default() };
    std::thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut workers = Vec::new();
        for _ in 0..WORKERS {
            let (sender, receiver) = sync_channel(PARCELS_WAITING);
            senders.push(sender);
            workers.push(scope.spawn(move || apply_parcels(pool, &receiver)));
        }
        let parcels = (0..WORKERS).map(|_| Parcel::default()).collect();
        let mut dealer = Dealer { parcels, senders, runs: Vec::new(), groups: 0, pool };
        let read = wal.scan(from, |start, end, body| dealer.deal(start, end, body));
        let dealt = read.and_then(|()| dealer.finish());
        let mut failed = None;
        for worker in workers {
            match worker.join() {
                Ok(Ok(applied)) => {
                    recovered.changes_applied += applied.changes;
                    recovered.damaged.extend(applied.damaged.into_values());
                }
                Ok(Err(error)) => failed = Some(error),
                Err(_) => failed = Some(Error::Stopped("a recovery worker panicked".into())),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        recovered.groups = dealt?;
        Ok(recovered)
    })
}

fn apply_parcels(pool: &Pool, parcels: &Receiver<Parcel>) -> Result<Applied> {
    let mut applied = Applied::default();
    while let Ok(mut parcel) = parcels.recv() {
        // Stable: the pieces of one page stay in the order of the log.
        parcel.pieces.sort_by_key(|piece| piece.page_no);
        for piece in &parcel.pieces {
            apply_piece(pool, piece, &parcel.bytes[piece.bytes.clone()], &mut applied)?;
        }
    }
    Ok(applied)
}

fn mark_dirty(pool: &Pool, page: &WriteGuard<'_>, since: Lsn) {
    let was_clean = page.frame().mark_dirty(since);
    pool.counters.count_dirty(i64::from(was_clean));
}

fn apply_piece(pool: &Pool, piece: &Piece, body: &[u8], applied: &mut Applied) -> Result<()> {
    let Some((_, first)) = redo::records(body).next().transpose()? else { return Ok(()) };
    let fresh = matches!(first, Change::Init { .. });
    let pin = match pool.try_pin(piece.page_no) {
        Ok(pin) => pin,
        Err(_) if fresh => pool.pin_fresh(piece.page_no)?,
        Err(_) if applied.damaged.contains_key(&piece.page_no) => return Ok(()),
        Err(_) => match pool.load_blocking(piece.page_no) {
            Ok(pin) => pin,
            Err(error @ Error::Corrupt { .. }) => {
                applied.damaged.insert(piece.page_no, error);
                return Ok(());
            }
            Err(error) => return Err(error),
        },
    };
    let mut page = pin.write();
    if page.lsn() >= piece.group_end {
        // What was read may come from the operating system's cache after a sync that failed, and may never
        // have reached the disk. So it is written again before the checkpoint passes its redo.
        mark_dirty(pool, &page, piece.group_start);
        return Ok(());
    }
    if !fresh && page.kind() == Some(PageKind::Empty) {
        let error = damaged(piece.page_no, "was never written, yet redo changes it".into());
        applied.damaged.insert(piece.page_no, error);
        return Ok(());
    }
    applied.damaged.remove(&piece.page_no);
    mark_dirty(pool, &page, piece.group_start);
    for record in redo::records(body) {
        let (page_no, change) = record?;
        redo::apply(page.bytes_mut(), page_no, change);
        applied.changes += 1;
    }
    edit::set_lsn(page.bytes_mut(), piece.group_end);
    Ok(())
}
