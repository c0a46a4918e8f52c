//! What the engine puts in front of a row: who wrote this version, and where the one before it is.
//!
//! ```text
//!  clustered leaf value:  | txn_id 6 | roll_ptr 6 | kind u8 | payload |        kind 0: payload is the row
//!                                                                           kind 1: | first page u32 | length u32 |
//!  secondary leaf value:  | txn_id 6 | pk_len u16 |
//! ```
//!
//! A secondary entry's key is `secondary key ++ primary key`; `pk_len` tells where the second begins.
//! `txn_id` there is whoever inserted the entry, or set or cleared its delete mark, last.

use crate::error::{Error, Result};
use crate::ids::{PageNo, RollPtr, TxnId};
use crate::txn::undo_record::u48;

/// Bytes in front of a row's payload.
pub const ROW_HEADER_BYTES: usize = 13;
/// Bytes of a secondary entry's value.
pub const ENTRY_BYTES: usize = 8;
/// A longer payload goes to a chain of overflow pages.
pub const INLINE_BYTES_MAX: usize = 4096;

const INLINE: u8 = 0;
const OVERFLOW: u8 = 1;

/// Where a row's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'p> {
    /// Here.
    Inline(&'p [u8]),
    /// In a chain of overflow pages.
    Chain {
        /// First page of the chain.
        first: PageNo,
        /// Bytes in the chain.
        len: u32,
    },
}

impl<'p> Payload<'p> {
    /// The payload of a row whose chain, if it needs one, has been written; 0: it needs none.
    pub fn of(row: &'p [u8], chain: PageNo) -> Self {
        if chain.0 == 0 {
            Payload::Inline(row)
        } else {
            Payload::Chain { first: chain, len: row.len() as u32 }
        }
    }

    /// First page of the chain, 0 if inline.
    pub fn chain(&self) -> PageNo {
        match self {
            Payload::Inline(_) => PageNo(0),
            Payload::Chain { first, .. } => *first,
        }
    }
}

/// A clustered leaf value taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowValue<'p> {
    /// Who wrote this version.
    pub txn_id: TxnId,
    /// Its undo record, which leads to the version before; 0 if there is none.
    pub roll_ptr: RollPtr,
    /// The row.
    pub payload: Payload<'p>,
}

fn damaged(what: &str) -> Error {
    Error::Corrupt { file: crate::buffer::DATA_FILE.to_owned(), offset: 0, what: what.to_owned() }
}

/// The transaction id in front of any leaf value.
#[inline]
pub fn writer_of(value: &[u8]) -> Result<TxnId> {
    if value.len() < 6 {
        return Err(damaged("leaf value without a transaction id"));
    }
    Ok(TxnId(u48(value)))
}

impl<'p> RowValue<'p> {
    /// Takes a clustered leaf value apart.
    #[inline]
    pub fn decode(value: &'p [u8]) -> Result<Self> {
        if value.len() < ROW_HEADER_BYTES {
            return Err(damaged("row without its header"));
        }
        let rest = &value[ROW_HEADER_BYTES..];
        let payload = match (value[12], rest.len()) {
            (INLINE, _) => Payload::Inline(rest),
            (OVERFLOW, 8) => Payload::Chain {
                first: PageNo(u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]])),
                len: u32::from_le_bytes([rest[4], rest[5], rest[6], rest[7]]),
            },
            _ => return Err(damaged("row of unknown kind")),
        };
        Ok(RowValue { txn_id: TxnId(u48(value)), roll_ptr: RollPtr(u48(&value[6..])), payload })
    }

    /// What comes before an inserted row's bytes in its leaf value: no version is before it.
    pub fn head_of_new(txn_id: TxnId) -> [u8; ROW_HEADER_BYTES] {
        let mut head = [0; ROW_HEADER_BYTES];
        head[..6].copy_from_slice(&txn_id.0.to_le_bytes()[..6]);
        head[12] = INLINE;
        head
    }

    /// Bytes [`RowValue::encode`] makes.
    pub fn encoded_len(&self) -> usize {
        ROW_HEADER_BYTES
            + match self.payload {
                Payload::Inline(bytes) => bytes.len(),
                Payload::Chain { .. } => 8,
            }
    }

    /// Puts a clustered leaf value together in `out`, which is cleared first.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.reserve(self.encoded_len());
        out.extend_from_slice(&self.txn_id.0.to_le_bytes()[..6]);
        out.extend_from_slice(&self.roll_ptr.0.to_le_bytes()[..6]);
        match self.payload {
            Payload::Inline(bytes) => {
                out.push(INLINE);
                out.extend_from_slice(bytes);
            }
            Payload::Chain { first, len } => {
                out.push(OVERFLOW);
                out.extend_from_slice(&first.0.to_le_bytes());
                out.extend_from_slice(&len.to_le_bytes());
            }
        }
    }
}

/// A secondary leaf value.
#[inline]
pub fn entry_value(txn_id: TxnId, pk_len: usize) -> [u8; ENTRY_BYTES] {
    let mut out = [0; ENTRY_BYTES];
    out[..6].copy_from_slice(&txn_id.0.to_le_bytes()[..6]);
    out[6..].copy_from_slice(&(pk_len as u16).to_le_bytes());
    out
}

/// Splits a secondary entry's key into secondary key and primary key.
#[inline]
pub fn split_entry<'k>(key: &'k [u8], value: &[u8]) -> Result<(&'k [u8], &'k [u8])> {
    if value.len() != ENTRY_BYTES {
        return Err(damaged("secondary entry of unknown form"));
    }
    let pk_len = usize::from(u16::from_le_bytes([value[6], value[7]]));
    key.split_at_checked(key.len().wrapping_sub(pk_len))
        .ok_or_else(|| damaged("secondary entry shorter than its key"))
}

/// The chain that a leaf value of any tree refers to, if it is a clustered one and its row is in a chain.
pub fn chain_in_value(value: &[u8]) -> Option<PageNo> {
    if value.len() != ROW_HEADER_BYTES + 8 {
        return None;
    }
    RowValue::decode(value).ok().map(|row| row.payload.chain()).filter(|first| first.0 != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn values_round_trip() {
        let mut out = Vec::new();
        for payload in
            [Payload::Inline(b"row"), Payload::Inline(b""), Payload::Chain { first: PageNo(9), len: 70_000 }]
        {
            let value = RowValue { txn_id: TxnId(1 << 47), roll_ptr: RollPtr(5 << 16 | 40), payload };
            value.encode(&mut out);
            assert_eq!(out.len(), value.encoded_len());
            assert_eq!(RowValue::decode(&out).unwrap(), value);
            assert_eq!(writer_of(&out).unwrap(), value.txn_id);
        }
        assert!(RowValue::decode(&[0; 12]).is_err());
    }

    #[test]
    fn entries_split() {
        let value = entry_value(TxnId(7), 2);
        assert_eq!(split_entry(b"keypk", &value).unwrap(), (&b"key"[..], &b"pk"[..]));
        assert!(split_entry(b"k", &value).is_err());
    }
}
