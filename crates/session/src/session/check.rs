//! CHECK TABLE and CHECKSUM TABLE.
//!
//! CHECK looks at a table twice. First at the pages of each of its trees: their order, levels, bounds and
//! links (`Engine::verify_index`). That keeps splits of the tree under way waiting until it is through, so it
//! is for quiet hours; readers and other changes go on, and so do other sessions of this one's worker. Then
//! at the rows, as one snapshot sees them: each can be read, and every index has as many entries as there are
//! rows. The table's metadata lock is held like a reader's, so DDL waits.
//!
//! A checksum is the sum of the CRC-32 of the rows' bytes, so their order does not matter. The bytes are this
//! server's own: compare it only with checksums that it made of the same definition.

use turnstile_engine::session_status::Operation;
use turnstile_engine::{ScanIndex, ScanSpec, Txn, Visit};

use super::Session;
use super::maintain::Said;
use super::statement::Outcome;
use crate::accounts::Privileges;
use crate::ast::{TableMaintenance, TableName};
use crate::dictionary::Table;
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::functions::crc32;
use crate::row_codec::RowView;
use crate::session::{ddl, show, statement, transaction};
use crate::sink::ResultSink;
use crate::used_tables::{Asked, Used};
use crate::value::Value;
use turnstile_engine::yield_now::Slice;

/// A use of a table as a reader.
pub(super) fn read_of(name: &TableName, needs: Privileges) -> Used {
    Used {
        schema: name.schema.clone(),
        name: name.table.clone(),
        alias: None,
        written: false,
        asked: Asked::All(needs),
        for_update: false,
        times: 1,
    }
}

/// Checks a table that was there a moment ago, outside any transaction.
pub(super) async fn check_table(session: &mut Session, name: &TableName) -> SqlResult<Vec<Said>> {
    // That something is held on it has been asked before: `Need::SomeOfTable`.
    statement::enter_for(session, &[read_of(name, Privileges::NONE)]).await?;
    let table = session.names().table(&ddl::schema_of(session, name)?, &name.table)?;
    let checked = match check_trees(session, &table).await {
        Ok(()) => check_rows(session, &table).await,
        Err(error) => Err(error),
    };
    transaction::commit(session).await?;
    match checked {
        Ok(None) => Ok(vec![("status", "OK".into())]),
        Ok(Some(found)) => Ok(vec![("Warning", found), ("error", "Corrupt".into())]),
        Err(error) if error.ends_statement() => Err(error),
        Err(error) => Ok(vec![("Warning", error.message), ("error", "Corrupt".into())]),
    }
}

async fn check_trees(session: &mut Session, table: &Table) -> SqlResult<()> {
    let secondaries = table.engine.secondaries.iter().map(|one| one.id);
    let mut slice = Slice::default();
    for tree in secondaries.chain([table.engine.clustered]) {
        session.interrupt.check()?;
        slice.breathe().await;
        session.db.engine().verify_index(tree)?;
    }
    Ok(())
}

/// What is wrong with the rows, if anything is.
async fn check_rows(session: &mut Session, table: &Table) -> SqlResult<Option<String>> {
    let mut txn = transaction::snapshot(session);
    let found = compare_counts(session, &mut txn, table).await;
    txn.leave_engine();
    txn.rollback().await?;
    found
}

async fn compare_counts(session: &Session, txn: &mut Txn, table: &Table) -> SqlResult<Option<String>> {
    let mut rows = 0u64;
    let mut unreadable = 0u64;
    let mut visit = |row: &[u8]| {
        rows += 1;
        unreadable += u64::from(RowView::new(&table.layout, row).is_err());
    };
    scan_rows(session, txn, table, ScanIndex::Clustered, &mut visit).await?;
    if unreadable > 0 {
        return Ok(Some(format!("{unreadable} of {rows} rows cannot be read")));
    }
    for nth in 0..table.keys().len() {
        let mut entries = 0u64;
        scan_rows(session, txn, table, table.scan_index(nth), &mut |_| entries += 1).await?;
        if entries != rows {
            let key = &table.keys()[nth].name;
            return Ok(Some(format!("Index '{key}' contains {entries} entries, should be {rows}.")));
        }
    }
    Ok(None)
}

async fn scan_rows(
    session: &Session,
    txn: &mut Txn,
    table: &Table,
    index: ScanIndex,
    visit: &mut (dyn FnMut(&[u8]) + Send),
) -> SqlResult<()> {
    let mut scan = txn.scan(&table.engine, ScanSpec::all(index));
    let mut slice = Slice::default();
    let mut on_row = |_: &[u8], _: &[u8], row: &[u8]| {
        visit(row);
        Visit::Continue
    };
    loop {
        session.interrupt.check()?;
        slice.breathe().await;
        if !txn.scan_batch(&mut scan, &mut on_row).await? {
            return Ok(());
        }
    }
}

/// CHECKSUM TABLE: of the rows that the session's transaction sees, NULL for QUICK. A table that is
/// missing has none, and a warning.
pub(super) async fn checksum_tables(
    session: &mut Session,
    work: &TableMaintenance,
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let mut lines = show::Table::new(&[("Table", 's'), ("Checksum", 'n')]);
    for name in &work.tables {
        let schema = ddl::schema_of(session, name)?;
        let sum = match session.names().base_table(&schema, &name.table) {
            // No checksum is kept beside the rows.
            Ok(_) if work.quick => Value::Null,
            Ok(_) => Value::UInt(u64::from(checksum(session, name).await?)),
            Err(error) => {
                session.state.warnings.push(WarningLevel::Error, error);
                Value::Null
            }
        };
        lines.push(vec![Value::text(format!("{schema}.{}", name.table)), sum]);
    }
    show::write_table(&lines, out)
}

async fn checksum(session: &mut Session, name: &TableName) -> SqlResult<u32> {
    statement::enter_for(session, &[read_of(name, Privileges::SELECT)]).await?;
    let table = session.names().table(&ddl::schema_of(session, name)?, &name.table)?;
    let Some(mut open) = session.open.take() else { return Err(SqlError::query_interrupted()) };
    let savepoint = open.txn.savepoint();
    open.txn.begin_statement(Operation::FetchingRows);
    let mut sum = 0u32;
    let mut add = |row: &[u8]| sum = sum.wrapping_add(crc32(row));
    let done = scan_rows(session, &mut open.txn, &table, ScanIndex::Clustered, &mut add).await;
    open.txn.leave_engine();
    session.open = Some(open);
    transaction::leave(session, savepoint, done.map(|()| sum)).await
}
