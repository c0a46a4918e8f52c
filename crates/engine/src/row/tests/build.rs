//! CREATE INDEX: the tree that is filled from the rows has what insertions would have put there.

use super::stage::*;
use crate::api::*;
use crate::btree::verify;
use crate::error::Error;

/// The table's rows in a fresh pair of secondary trees.
fn indexed(engine: &crate::engine::Engine, table: &TableDef) -> TableDef {
    let new = new_table(engine);
    TableDef { secondaries: new.secondaries, keys: new.keys, ..table.clone() }
}

#[test]
fn a_filled_index_agrees_with_its_table() {
    let (_disk, engine, table) = open(110);
    let rows = bare(&table);
    let mut txn = begin(&engine);
    for id in 0..6000u32 {
        // In every portion all values, so that later portions go between what is there.
        let text = if id.is_multiple_of(1000) { "l".repeat(9000) } else { "short".to_string() };
        insert(&mut txn, &rows, id, &row(id.wrapping_mul(2_654_435_761) % 900, id ^ 0x155, &text));
    }
    for id in (0..6000).step_by(7) {
        assert!(block_on(txn.delete(&rows, &key(id))).unwrap());
    }
    txn.commit().unwrap();
    let table = indexed(&engine, &rows);
    for nth in 0..2 {
        block_on(engine.build_secondary(&table, nth)).unwrap();
        verify(&begin(&engine).kernel.tree(table.secondaries[nth].id).unwrap()).unwrap();
    }
    let left = 6000 - 6000usize.div_ceil(7);
    assert_eq!(contents(&mut begin(&engine), &table).len(), left);
    // It is an index like any other from now on.
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 9000, &row(5, 9000, "new"));
    assert!(block_on(txn.delete(&table, &key(1))).unwrap());
    txn.commit().unwrap();
    assert_eq!(contents(&mut begin(&engine), &table).len(), left);
}

#[test]
fn a_duplicate_in_any_portion_is_found() {
    let (_disk, engine, table) = open(111);
    let rows = bare(&table);
    let mut txn = begin(&engine);
    for id in 0..4000 {
        insert(&mut txn, &rows, id, &row(1, id, "x"));
    }
    insert(&mut txn, &rows, 4000, &row(1, 17, "the b of row 17"));
    txn.commit().unwrap();
    let table = indexed(&engine, &rows);
    let error = block_on(engine.build_secondary(&table, 1)).unwrap_err();
    assert!(matches!(error, Error::DuplicateKey { nth: Some(1), .. }), "{error:?}");
}
