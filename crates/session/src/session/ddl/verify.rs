//! Testing the rows of a table against CHECK constraints that are new or enforced anew, for an ALTER TABLE
//! that leaves the rows where they are.
//!
//! The table is held alone meanwhile, so there is nothing to read but committed rows, and none can come that
//! is not tested.

use turnstile_engine::{ScanIndex, ScanSpec, Visit};

use super::super::Session;
use crate::dictionary::Table;
use crate::dictionary::check::{bind, verify};
use crate::dictionary::table::Definition;
use crate::error::{SqlError, SqlResult};
use crate::row_codec::RowView;
use crate::session::ddl::copy;
use crate::session::statement;
use turnstile_engine::yield_now::Slice;

/// Rows between two looks at the clock.
const PACE_ROWS: usize = 32;

/// Error 3819 if a row breaks an enforced constraint of the table's new definition, whose columns are the
/// old ones; returns how many rows there are.
pub(super) async fn verify_rows(session: &mut Session, table: &Table, new: &Definition) -> SqlResult<u64> {
    let checks = bind(new);
    let mut reader = copy::copy_txn(session);
    let mut scan = reader.scan(&table.engine, ScanSpec::all(ScanIndex::Clustered));
    let mut slice = Slice::default();
    let (mut rows, mut count) = (Vec::<Vec<u8>>::new(), 0);
    loop {
        let mut visit = |_: &[u8], _: &[u8], row: &[u8]| {
            rows.push(row.to_vec());
            Visit::Continue
        };
        let more = reader.scan_batch(&mut scan, &mut visit).await?;
        for (nth, row) in rows.drain(..).enumerate() {
            if nth % PACE_ROWS == 0 {
                slice.breathe().await;
            }
            let view =
                RowView::new(&table.layout, &row).map_err(|_| SqlError::crashed_table(table.name()))?;
            statement::with_eval(session, &[], |eval| verify(&checks, &view, eval))?;
            count += 1;
        }
        session.interrupt.check()?;
        if !more {
            reader.rollback().await?;
            return Ok(count);
        }
    }
}
