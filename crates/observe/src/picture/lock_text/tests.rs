//! The lines, word for word.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
use super::*;
use crate::picture::statement_state;
use std::time::Duration;
use turnstile_engine::lock::{LockId, OwnedName};

fn lock(name: LockName<'_>, shape: LockShape, waited: Option<Duration>) -> LockInfo {
    let id = LockId { transaction: 3, shard: 0, node: 0 };
    LockInfo {
        id,
        txn_id: Some(TxnId(77)),
        session: 5,
        name: OwnedName::from(name),
        shapes: vec![shape],
        waited,
    }
}

fn line(lock: &LockInfo) -> String {
    let mut out = String::new();
    write_lock(&mut out, &LockNames::default(), lock);
    out.lines().next().unwrap().to_owned()
}

#[test]
fn modes_of_row_locks() {
    let row = LockName::row(IndexId(9), b"k");
    let end = LockName::Supremum(IndexId(9));
    let zero = Some(Duration::ZERO);
    let cases = [
        (row, LockMode::X, LockKind::Record, None, "lock_mode X locks rec but not gap"),
        (row, LockMode::S, LockKind::Record, zero, "lock mode S locks rec but not gap waiting"),
        (row, LockMode::X, LockKind::Gap, None, "lock_mode X locks gap before rec"),
        (row, LockMode::X, LockKind::NextKey, None, "lock_mode X"),
        (
            row,
            LockMode::X,
            LockKind::InsertIntention,
            zero,
            "lock_mode X locks gap before rec insert intention waiting",
        ),
        (end, LockMode::X, LockKind::Gap, None, "lock_mode X"),
        (end, LockMode::X, LockKind::InsertIntention, zero, "lock_mode X insert intention waiting"),
    ];
    for (name, mode, kind, waited, words) in cases {
        let line = line(&lock(name, LockShape::Row(mode, kind), waited));
        assert_eq!(
            line,
            format!("RECORD LOCKS space id 0 page no 9 n bits 1 index `#9` of table `?` trx id 77 {words}")
        );
    }
}

#[test]
fn table_locks() {
    let of = |shape, waited| line(&lock(LockName::Table(TableId(4)), LockShape::Table(shape), waited));
    assert_eq!(of(TableLock::IntentionExclusive, None), "TABLE LOCK table `#4` trx id 77 lock mode IX");
    assert_eq!(
        of(TableLock::AutoIncrement, Some(Duration::ZERO)),
        "TABLE LOCK table `#4` trx id 77 lock mode AUTO-INC waiting"
    );
}

#[test]
fn keys_are_shown_as_bytes() {
    let mut out = String::new();
    write_key(&mut out, 2, b"\x80\0ab");
    assert_eq!(
        out,
        "Record lock, heap no 2 PHYSICAL RECORD: n_fields 1; compact format; info bits 0\n 0: len 4; hex 80006162; asc   ab;;\n\n"
    );
}

#[test]
fn heads_of_transactions() {
    let thread = ThreadLine {
        connection: 8,
        query_id: 10,
        host: b"127.0.0.1",
        user: b"root",
        state: statement_state(b"  update t set a = 1"),
        statement: Some(b"update t set a = 1"),
    };
    let mut head = TransactionHead {
        id: shown_id(Some(TxnId(1811)), 2),
        active_s: 5,
        operation: "starting index read",
        tables: (1, 1),
        waits: true,
        lock_structs: 3,
        heap_bytes: 408,
        row_locks: 2,
        undo_records: 1,
        thread: Some(thread),
        ..TransactionHead::default()
    };
    let text = |head: &TransactionHead<'_>| {
        let mut out = String::new();
        write_transaction(&mut out, head);
        out
    };
    assert_eq!(
        text(&head),
        "TRANSACTION 1811, ACTIVE 5 sec starting index read\n\
         mysql tables in use 1, locked 1\n\
         LOCK WAIT 3 lock struct(s), heap size 408, 2 row lock(s), undo log entries 1\n\
         MySQL thread id 8, OS thread handle 8, query id 10 127.0.0.1 root updating\n\
         update t set a = 1\n"
    );
    head = TransactionHead {
        id: shown_id(None, 2),
        admission: "thread declared inside InnoDB 4999",
        lock_structs: 1,
        ..TransactionHead::default()
    };
    assert_eq!(
        text(&head),
        "TRANSACTION 281474976710658, ACTIVE 0 sec, thread declared inside InnoDB 4999\n\
         1 lock struct(s), heap size 0, 0 row lock(s)\n"
    );
}
