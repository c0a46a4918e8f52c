//! One undo lane: a chain of undo pages that one transaction at a time appends to.
//!
//! ```text
//!            first                                         last
//!   lane:   | T7 r r | T8 r r r | T9 r -> | r r r | T12 r  <- used |
//!            ^ purge_at               unpurged = 3 (T7 T8 T9), T12 is running
//! ```
//!
//! Transactions of a lane end in lane order, so purge walks a lane from the front and needs no list of them.
//! When purge has caught up and the lane is one page long, the next transaction begins at the front of that
//! page again, so in the ordinary course undo needs no new pages at all.

use parking_lot::Mutex;

use crate::buffer::{Mtr, PageHandle, Storage};
use crate::error::{Error, Result};
use crate::ids::{IndexId, Lsn, PageNo, RollPtr, TxnId};
use crate::page::{HEADER_SIZE, PAGE_SIZE, PageKind, edit};

use super::spare::{give_buffer, take_buffer};
use super::undo_record::{
    INERT, NEEDS_PURGE, Place, RECORD_FLAGS_OFFSET, TXN_HEADER_BYTES, TXN_STATE_OFFSET, TxnHeader, TxnState,
    UNDONE, UndoKind, UndoRecord, encode_end, encode_header, encode_record, place, record_len, roll_ptr,
};
use super::view::CommitNo;

/// Where the first item of an undo page lies.
pub const ITEMS_START: usize = HEADER_SIZE;
/// Offset of the page header's `heap_top`.
const OFF_HEAP_TOP: usize = 20;

/// One lane.
#[derive(Debug)]
pub struct Lane {
    /// Its place in the undo directory.
    pub number: u32,
    state: Mutex<LaneState>,
    /// Held by whoever purges this lane: the only one who moves its front or takes pages out of it.
    pub purging: Mutex<()>,
}

/// What is known of a lane's pages.
#[derive(Clone, Copy, Debug)]
pub struct LaneState {
    /// First page of the chain. Changed by purge.
    pub first: PageNo,
    /// Last page of the chain. Changed by the writer.
    pub last: PageNo,
    /// End of the items in the last page. Changed by the writer, when it gives the lane back.
    pub used: usize,
    /// Ended transactions from `purge_at` on. The writer adds, purge subtracts.
    pub unpurged: u64,
    /// How many of them are inert: nobody will ever ask for their undo.
    pub inert: u64,
    /// The header of the oldest transaction that purge has not been through, or a record of the one in
    /// `midst`. Changed by purge, and by the writer who begins at the front again.
    pub purge_at: Place,
    /// The transaction that purge has begun and not finished. While there is one, no page in front of it is
    /// freed: after a crash purge begins it again, and needs its header. Changed by purge.
    pub midst: Option<TxnId>,
    /// The transaction at `purge_at` has this commit number, which purge may not pass yet; 0: not known.
    /// Numbers only grow along a lane, so a stale one is never too great. Changed by purge.
    pub blocked_at: CommitNo,
    /// How far what lies behind the oldest view has been looked at for versions that no view needs; never in
    /// front of `purge_at`. Changed by purge, and with `purge_at`.
    pub looked_at: Place,
    /// Pages of the chain.
    pub pages: u64,
}

impl LaneState {
    /// The state of a lane that is one empty page.
    pub fn empty(page: PageNo) -> Self {
        LaneState {
            first: page,
            last: page,
            used: ITEMS_START,
            unpurged: 0,
            inert: 0,
            purge_at: (page, ITEMS_START),
            midst: None,
            blocked_at: CommitNo(0),
            looked_at: (page, ITEMS_START),
            pages: 1,
        }
    }

    /// Purge has passed everything in front of `to`.
    pub fn pass_to(&mut self, to: Place) {
        self.purge_at = to;
        self.looked_at = to;
    }

    /// A page is leaving the lane; `next` comes behind it.
    pub fn leave_page(&mut self, page: PageNo, next: PageNo) {
        if self.purge_at.0 == page {
            self.purge_at = (next, ITEMS_START);
        }
        if self.looked_at.0 == page {
            self.looked_at = (next, ITEMS_START);
        }
    }

    /// A transaction begins at the end of the lane, or at its front again if nobody wants what is there.
    /// Where its first record goes.
    fn begin(&mut self) -> Place {
        if self.unpurged == 0 && self.first == self.last {
            self.used = ITEMS_START;
            self.inert = 0;
            self.pass_to((self.first, ITEMS_START));
        }
        (self.last, self.used)
    }

    /// Whether a purge round with this limit has something to do here, by all that is known.
    pub fn has_work(&self, limit: CommitNo) -> bool {
        self.first != self.purge_at.0
            || (self.unpurged > 0 && self.blocked_at < limit)
            || (self.unpurged == 0 && self.first != self.last)
    }
}

/// A lane in the hands of one transaction: where its next record goes, and what it has written.
#[derive(Debug)]
pub struct LaneHold {
    lane: std::sync::Arc<Lane>,
    last: PageNo,
    used: usize,
    /// Where the transaction's header lies; none before its first record.
    header: RollPtr,
    /// The transaction's newest record that stands.
    newest: RollPtr,
    /// Flags for the header.
    flags: u8,
    /// Nothing but additions so far, and none taken back.
    inert: bool,
    /// Its end was written with its last record: under this number, up to there in the log.
    ended: Option<(CommitNo, Lsn)>,
    buffer: Vec<u8>,
}

impl Lane {
    /// A lane found on disk, or just created.
    pub fn new(number: u32, state: LaneState) -> Self {
        Lane { number, state: Mutex::new(state), purging: Mutex::new(()) }
    }

    /// A copy of its state.
    pub fn state(&self) -> LaneState {
        *self.state.lock()
    }

    /// Changes its state under its mutex.
    pub fn with_state<R>(&self, change: impl FnOnce(&mut LaneState) -> R) -> R {
        change(&mut self.state.lock())
    }

    /// Gives the lane to a transaction. The caller got it from the free list, so nobody else writes to it.
    pub fn hold(self: std::sync::Arc<Self>) -> LaneHold {
        let (last, used) = self.with_state(LaneState::begin);
        LaneHold {
            lane: self,
            last,
            used,
            header: RollPtr(0),
            newest: RollPtr(0),
            flags: 0,
            inert: true,
            ended: None,
            buffer: take_buffer(),
        }
    }
}

impl LaneHold {
    /// The hold of a loser found at restart: its records end where the lane ends.
    pub fn of_loser(lane: std::sync::Arc<Lane>, header: RollPtr, newest: RollPtr, flags: u8) -> Self {
        let state = lane.state();
        LaneHold {
            lane,
            last: state.last,
            used: state.used,
            header,
            newest,
            flags,
            inert: false,
            ended: None,
            buffer: Vec::new(),
        }
    }

    /// The lane.
    pub fn lane(&self) -> &std::sync::Arc<Lane> {
        &self.lane
    }

    /// The transaction's newest record that has not been undone.
    pub fn newest(&self) -> RollPtr {
        self.newest
    }

    /// After the newest record was undone, the one before it is the newest.
    pub fn set_newest(&mut self, ptr: RollPtr) {
        self.newest = ptr;
    }

    /// Whether the transaction has written anything here.
    pub fn has_header(&self) -> bool {
        self.header.0 != 0
    }

    /// The number and the LSN of its end, if that was written with its last record.
    pub fn ended(&self) -> Option<(CommitNo, Lsn)> {
        self.ended
    }

    /// The mini-transaction of [`LaneHold::append`] with an `end` is in the log.
    pub fn note_end(&mut self, number: CommitNo, lsn: Lsn) {
        self.ended = Some((number, lsn));
    }

    /// Adds a flag to be written when the transaction ends.
    pub fn add_flags(&mut self, flags: u8) {
        self.flags |= flags;
    }

    fn header_len(&self) -> usize {
        if self.has_header() { 0 } else { TXN_HEADER_BYTES }
    }

    /// Whether the record goes into the lane's last page. If not: [`LaneHold::extend`].
    pub fn fits(&self, record: &UndoRecord<'_>) -> bool {
        self.used + self.header_len() + record_len(record) <= PAGE_SIZE
    }

    /// Bytes that the lane's last page has for records.
    pub fn room(&self) -> usize {
        PAGE_SIZE.saturating_sub(self.used + self.header_len())
    }

    /// The page the next record goes to.
    pub fn tail_page(&self) -> PageNo {
        self.last
    }

    /// Puts a new page behind the last one. A mini-transaction of its own; `DiskFull` leaves everything as it
    /// was.
    pub fn extend(&mut self, storage: &Storage) -> Result<()> {
        let mut mtr = Mtr::begin(storage);
        let old = storage.pool.try_pin(self.last)?.write();
        let old = mtr.take(old);
        let new = storage.space.alloc(&mut mtr, PageKind::Undo)?;
        let new_no = mtr.page_no(new);
        edit::set_index_id(&mut mtr.edit(new), IndexId(self.lane.number));
        edit::set_prev(&mut mtr.edit(new), self.last);
        edit::set_next(&mut mtr.edit(old), new_no);
        mtr.commit();
        self.last = new_no;
        self.used = ITEMS_START;
        self.lane.with_state(|state| {
            state.last = new_no;
            state.pages += 1;
        });
        Ok(())
    }

    /// Where [`LaneHold::append`] will put the next record.
    pub fn next_ptr(&self) -> RollPtr {
        roll_ptr(self.last, self.used + self.header_len())
    }

    /// Appends a record, and in front of a transaction's first one its header. `tail` is the latched last
    /// page, and [`LaneHold::fits`] said yes. `end` commits the transaction with this record, which is its
    /// first: [`LaneHold::note_end`] follows the mini-transaction.
    pub fn append(
        &mut self,
        mtr: &mut Mtr<'_>,
        tail: PageHandle,
        record: &UndoRecord<'_>,
        end: Option<CommitNo>,
    ) -> RollPtr {
        debug_assert!(self.fits(record));
        let ptr = self.next_ptr();
        debug_assert!(end.is_none() || !self.has_header());
        self.buffer.clear();
        self.inert &= matches!(record.kind, UndoKind::Insert { .. } | UndoKind::EntryAdded);
        self.begin(record.txn_id, end);
        encode_record(record, &mut self.buffer);
        self.write_buffer(mtr, tail);
        self.newest = ptr;
        ptr
    }

    /// Appends the records of rows that one transaction inserts into one index. [`LaneHold::room`] is enough
    /// for all.
    pub fn append_inserts<'k>(
        &mut self,
        mtr: &mut Mtr<'_>,
        tail: PageHandle,
        (txn_id, index): (TxnId, IndexId),
        keys: impl Iterator<Item = &'k [u8]>,
    ) {
        self.buffer.clear();
        self.begin(txn_id, None);
        for key in keys {
            let kind = UndoKind::Insert { new_chain: PageNo(0) };
            let record = UndoRecord { flags: 0, txn_id, prev: self.newest, index, key, kind };
            self.newest = roll_ptr(self.last, self.used + self.buffer.len());
            encode_record(&record, &mut self.buffer);
        }
        debug_assert!(self.used + self.buffer.len() <= PAGE_SIZE);
        self.write_buffer(mtr, tail);
    }

    /// Puts the transaction's header into the buffer, if this is its first record.
    fn begin(&mut self, txn_id: TxnId, end: Option<CommitNo>) {
        if !self.has_header() {
            let (state, commit_no, flags) = match end {
                Some(number) => (TxnState::Committed, number, self.end_flags(TxnState::Committed)),
                None => (TxnState::Active, CommitNo(0), self.flags),
            };
            let header = TxnHeader { txn_id, state, commit_no, flags };
            encode_header(&header, &mut self.buffer);
            self.header = roll_ptr(self.last, self.used);
        }
    }

    fn write_buffer(&mut self, mtr: &mut Mtr<'_>, tail: PageHandle) {
        mtr.write(tail, self.used, &self.buffer);
        self.used += self.buffer.len();
        mtr.write(tail, OFF_HEAP_TOP, &(self.used as u16).to_le_bytes());
    }

    /// Marks the record at `ptr` as undone, in the mini-transaction that takes its change back.
    pub fn mark_undone(mtr: &mut Mtr<'_>, page: PageHandle, ptr: RollPtr) {
        let offset = place(ptr).1 + RECORD_FLAGS_OFFSET;
        let flags = mtr.page(page).bytes()[offset] | UNDONE;
        mtr.write(page, offset, &[flags]);
    }

    /// The header's flags of a transaction that ends like this.
    fn end_flags(&mut self, state: TxnState) -> u8 {
        self.inert &= state == TxnState::Committed && self.flags & NEEDS_PURGE == 0;
        if self.inert { self.flags | INERT } else { self.flags }
    }

    /// Writes how the transaction ended. Its own mini-transaction; the LSN returned is the commit LSN.
    pub fn end(&mut self, storage: &Storage, state: TxnState, number: CommitNo) -> Result<Lsn> {
        let (page_no, offset) = place(self.header);
        let flags = self.end_flags(state);
        let mut mtr = Mtr::begin(storage);
        let page = storage.pool.try_pin(page_no)?.write();
        let page = mtr.take(page);
        mtr.write(page, offset + TXN_STATE_OFFSET, &encode_end(state, number, flags));
        Ok(mtr.commit())
    }

    /// Gives the lane back: what was written is now purge's.
    pub fn release(self) -> std::sync::Arc<Lane> {
        self.lane.with_state(|state| {
            state.last = self.last;
            state.used = self.used;
            if self.header.0 != 0 {
                state.unpurged += 1;
                state.inert += u64::from(self.inert);
            }
        });
        give_buffer(self.buffer);
        self.lane
    }

    /// The id check used by recovery and tests.
    pub fn check_owner(found: TxnId, expected: TxnId, page: PageNo) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(Error::Corrupt {
            file: crate::buffer::DATA_FILE.to_owned(),
            offset: u64::from(page.0) * PAGE_SIZE as u64,
            what: format!("undo of transaction {expected} expected, found {found}"),
        })
    }
}
