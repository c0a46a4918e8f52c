//! Undo records: what a transaction must do to take back one change, and what a reader needs to see past it.
//!
//! Items of a lane page, back to back from the page header up to `heap_top`; all numbers little endian:
//!
//! ```text
//!  transaction header: | len u16 | 1 | txn_id 6 | state u8 | commit_no u64 | flags u8 |              19 bytes
//!  record:             | len u16 | kind u8 | flags u8 | txn_id 6 | prev 6 | index u32 | key_len u16 | key | rest
//!     kind 2 insert:     rest = new_chain u32
//!     kind 3 update:     rest = new_chain u32 | old record flags u8 | old leaf value
//!                               (txn_id 6, roll_ptr 6, kind, payload)
//!     kind 4 entry added (or un-marked) in a secondary tree; kind 5 entry marked deleted: no rest
//! ```
//!
//! `prev` is the transaction's previous record (not of the row). `new_chain` is the first overflow page of
//! the new value, so that purge can free it if the change was undone. The flag UNDONE is set in the same
//! mini-transaction that takes the change back: a crash in the middle of a rollback neither repeats nor skips
//! a step.

use crate::error::{Error, Result};
use crate::ids::{IndexId, PageNo, RollPtr, TxnId};
use crate::page::{PAGE_SIZE, PageView};

use super::view::CommitNo;

/// Bytes of a transaction header.
pub const TXN_HEADER_BYTES: usize = 19;
/// Bytes of a record in front of its key.
pub const RECORD_FIXED_BYTES: usize = 22;
/// Offset of the record's flags byte.
pub const RECORD_FLAGS_OFFSET: usize = 3;
/// Record flag: the change was taken back.
pub const UNDONE: u8 = 1;
/// Record flag: the change delete-marked the row.
pub const DELETED: u8 = 2;
/// Offset of the `state` byte in a transaction header; commit number and flags follow.
pub const TXN_STATE_OFFSET: usize = 9;
/// Transaction flag: purge has something to do besides dropping the records.
pub const NEEDS_PURGE: u8 = 1;
/// Transaction flag, at its end: it has only added, so no reader follows its undo and there is nothing to
/// purge.
pub const INERT: u8 = 2;

const KIND_TXN: u8 = 1;
const KIND_INSERT: u8 = 2;
const KIND_UPDATE: u8 = 3;
const KIND_ENTRY_ADDED: u8 = 4;
const KIND_ENTRY_MARKED: u8 = 5;

/// How a transaction in a lane ended, if it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TxnState {
    /// Running, or a loser at restart.
    Active = 1,
    /// Committed.
    Committed = 2,
    /// Every change was taken back.
    RolledBack = 3,
}

/// The header in front of a transaction's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxnHeader {
    /// Whose records follow.
    pub txn_id: TxnId,
    /// How it ended.
    pub state: TxnState,
    /// Its place in the order of ends; 0 while active.
    pub commit_no: CommitNo,
    /// [`NEEDS_PURGE`], [`INERT`].
    pub flags: u8,
}

/// What a record says about its change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoKind<'p> {
    /// A row that was not there.
    Insert {
        /// First overflow page of the row, 0 if none.
        new_chain: PageNo,
    },
    /// A row that was there, perhaps delete-marked.
    Update {
        /// First overflow page of the new version, 0 if none.
        new_chain: PageNo,
        /// Record flags before.
        old_flags: u8,
        /// The whole leaf value before.
        old_value: &'p [u8],
    },
    /// A secondary entry was inserted or lost its delete mark.
    EntryAdded,
    /// A secondary entry got a delete mark.
    EntryMarked,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoRecord<'p> {
    /// [`UNDONE`], [`DELETED`].
    pub flags: u8,
    /// Who wrote it.
    pub txn_id: TxnId,
    /// The transaction's previous record.
    pub prev: RollPtr,
    /// The tree that was changed.
    pub index: IndexId,
    /// The key there.
    pub key: &'p [u8],
    /// The change.
    pub kind: UndoKind<'p>,
}

/// What lies at a place in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'p> {
    /// The start of a transaction.
    Txn(TxnHeader),
    /// One of its records.
    Record(UndoRecord<'p>),
}

/// A place in a lane: page and offset.
pub type Place = (PageNo, usize);

/// Splits a roll pointer.
#[inline]
pub fn place(ptr: RollPtr) -> Place {
    (PageNo((ptr.0 >> 16) as u32), (ptr.0 & 0xffff) as usize)
}

/// Makes a roll pointer.
#[inline]
pub fn roll_ptr(page: PageNo, offset: usize) -> RollPtr {
    RollPtr(u64::from(page.0) << 16 | (offset as u64 & 0xffff))
}

/// Reads a 48-bit number.
#[inline]
pub fn u48(bytes: &[u8]) -> u64 {
    u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], 0, 0])
}

/// Appends a 48-bit number.
#[inline]
pub fn push_u48(out: &mut Vec<u8>, value: u64) {
    debug_assert!(value < 1 << 48);
    out.extend_from_slice(&value.to_le_bytes()[..6]);
}

/// Appends a transaction header.
pub fn encode_header(header: &TxnHeader, out: &mut Vec<u8>) {
    out.extend_from_slice(&(TXN_HEADER_BYTES as u16).to_le_bytes());
    out.push(KIND_TXN);
    push_u48(out, header.txn_id.0);
    out.extend_from_slice(&encode_end(header.state, header.commit_no, header.flags));
}

/// The ten bytes at [`TXN_STATE_OFFSET`] that end a transaction.
pub fn encode_end(state: TxnState, commit_no: CommitNo, flags: u8) -> [u8; 10] {
    let mut out = [0; 10];
    out[0] = state as u8;
    out[1..9].copy_from_slice(&commit_no.0.to_le_bytes());
    out[9] = flags;
    out
}

/// Bytes [`encode_record`] appends.
pub fn record_len(record: &UndoRecord<'_>) -> usize {
    let rest = match record.kind {
        UndoKind::Insert { .. } => 4,
        UndoKind::Update { old_value, .. } => 5 + old_value.len(),
        UndoKind::EntryAdded | UndoKind::EntryMarked => 0,
    };
    RECORD_FIXED_BYTES + record.key.len() + rest
}

/// Appends a record. Its length must fit a page, which the limits of the tree guarantee.
pub fn encode_record(record: &UndoRecord<'_>, out: &mut Vec<u8>) {
    let len = u16::try_from(record_len(record)).expect("an undo record is smaller than a page");
    out.extend_from_slice(&len.to_le_bytes());
    out.push(match record.kind {
        UndoKind::Insert { .. } => KIND_INSERT,
        UndoKind::Update { .. } => KIND_UPDATE,
        UndoKind::EntryAdded => KIND_ENTRY_ADDED,
        UndoKind::EntryMarked => KIND_ENTRY_MARKED,
    });
    out.push(record.flags);
    push_u48(out, record.txn_id.0);
    push_u48(out, record.prev.0);
    out.extend_from_slice(&record.index.0.to_le_bytes());
    out.extend_from_slice(&(record.key.len() as u16).to_le_bytes());
    out.extend_from_slice(record.key);
    match record.kind {
        UndoKind::Insert { new_chain } => out.extend_from_slice(&new_chain.0.to_le_bytes()),
        UndoKind::Update { new_chain, old_flags, old_value } => {
            out.extend_from_slice(&new_chain.0.to_le_bytes());
            out.push(old_flags);
            out.extend_from_slice(old_value);
        }
        UndoKind::EntryAdded | UndoKind::EntryMarked => {}
    }
}

/// Offset, from the record's start, of its `new_chain` field.
pub fn new_chain_offset(key_len: usize) -> usize {
    RECORD_FIXED_BYTES + key_len
}

/// Offset, from the record's start, of an update record's old leaf value.
pub fn old_value_offset(key_len: usize) -> usize {
    RECORD_FIXED_BYTES + key_len + 5
}

/// Decodes the item at `offset` of a lane page and tells where the next one begins.
pub fn item_at(page: &PageView, offset: usize) -> Result<(Item<'_>, usize)> {
    let end = page.heap_top().min(PAGE_SIZE);
    let bytes = page.bytes();
    let damaged = |what: &str| Error::Corrupt {
        file: crate::buffer::DATA_FILE.to_owned(),
        offset: u64::from(page.page_no().0) * PAGE_SIZE as u64 + offset as u64,
        what: what.to_owned(),
    };
    if offset + 3 > end {
        return Err(damaged("undo item outside its page"));
    }
    let len = usize::from(u16::from_le_bytes([bytes[offset], bytes[offset + 1]]));
    if len < TXN_HEADER_BYTES || offset + len > end {
        return Err(damaged("undo item length"));
    }
    match decode(&bytes[offset..offset + len]) {
        Some(item) => Ok((item, offset + len)),
        None => Err(damaged("undo item content")),
    }
}

/// Decodes one item from exactly its bytes.
pub fn decode(b: &[u8]) -> Option<Item<'_>> {
    if b[2] == KIND_TXN {
        let state = match b[TXN_STATE_OFFSET] {
            1 => TxnState::Active,
            2 => TxnState::Committed,
            3 => TxnState::RolledBack,
            _ => return None,
        };
        let commit_no = CommitNo(u64::from_le_bytes(b[10..18].try_into().ok()?));
        return Some(Item::Txn(TxnHeader { txn_id: TxnId(u48(&b[3..])), state, commit_no, flags: b[18] }));
    }
    if b.len() < RECORD_FIXED_BYTES {
        return None;
    }
    let key_len = usize::from(u16::from_le_bytes([b[20], b[21]]));
    let key = b.get(RECORD_FIXED_BYTES..RECORD_FIXED_BYTES + key_len)?;
    let rest = &b[RECORD_FIXED_BYTES + key_len..];
    let chain = || Some(PageNo(u32::from_le_bytes(rest.get(..4)?.try_into().ok()?)));
    let kind = match b[2] {
        KIND_INSERT => UndoKind::Insert { new_chain: chain()? },
        KIND_UPDATE => {
            UndoKind::Update { new_chain: chain()?, old_flags: *rest.get(4)?, old_value: &rest[5..] }
        }
        KIND_ENTRY_ADDED => UndoKind::EntryAdded,
        KIND_ENTRY_MARKED => UndoKind::EntryMarked,
        _ => return None,
    };
    Some(Item::Record(UndoRecord {
        flags: b[RECORD_FLAGS_OFFSET],
        txn_id: TxnId(u48(&b[4..])),
        prev: RollPtr(u48(&b[10..])),
        index: IndexId(u32::from_le_bytes(b[16..20].try_into().ok()?)),
        key,
        kind,
    }))
}

#[cfg(test)]
mod tests;
