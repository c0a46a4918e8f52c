//! Encoding round trips, and hostile bytes are refused.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

fn sample<'p>(kind: UndoKind<'p>) -> UndoRecord<'p> {
    UndoRecord {
        flags: UNDONE,
        txn_id: TxnId(1 << 40),
        prev: RollPtr(77),
        index: IndexId(9),
        key: b"key",
        kind,
    }
}

#[test]
fn records_round_trip() {
    let kinds = [
        UndoKind::Insert { new_chain: PageNo(5) },
        UndoKind::Update { new_chain: PageNo(0), old_flags: 1, old_value: b"old value of the row" },
        UndoKind::EntryAdded,
        UndoKind::EntryMarked,
    ];
    for kind in kinds {
        let record = sample(kind);
        let mut bytes = Vec::new();
        encode_record(&record, &mut bytes);
        assert_eq!(bytes.len(), record_len(&record));
        assert_eq!(decode(&bytes), Some(Item::Record(record)));
    }
}

#[test]
fn headers_round_trip_and_end_in_place() {
    let mut header =
        TxnHeader { txn_id: TxnId(3), state: TxnState::Active, commit_no: CommitNo(0), flags: 0 };
    let mut bytes = Vec::new();
    encode_header(&header, &mut bytes);
    assert_eq!(bytes.len(), TXN_HEADER_BYTES);
    bytes[TXN_STATE_OFFSET..].copy_from_slice(&encode_end(TxnState::Committed, CommitNo(8), NEEDS_PURGE));
    header.state = TxnState::Committed;
    header.commit_no = CommitNo(8);
    header.flags = NEEDS_PURGE;
    assert_eq!(decode(&bytes), Some(Item::Txn(header)));
}

#[test]
fn truncated_records_are_refused() {
    let mut bytes = Vec::new();
    encode_record(&sample(UndoKind::Insert { new_chain: PageNo(5) }), &mut bytes);
    for len in TXN_HEADER_BYTES..bytes.len() {
        assert_eq!(decode(&bytes[..len]), None, "{len}");
    }
}
