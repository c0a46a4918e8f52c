//! Copying a table's rows into another shape, for ALTER TABLE.
//!
//! The table is held alone meanwhile, so there is nothing to read but committed rows. The copy goes into new
//! trees in transactions of bounded size; until the new definition is durable nobody knows these trees, so a
//! crash or an error leaves the table as it was.

use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_engine::{Error as EngineError, Isolation, ScanIndex, ScanSpec, Txn, TxnOptions, Visit};

use super::super::Session;
use crate::dictionary::check::verify;
use crate::dictionary::{Column, DefaultValue, Table};
use crate::error::{ErrorKind, SqlError, SqlResult};
use crate::exec::change::apply::{Storing, duplicate_entry};
use crate::exec::tail::TupleRow;
use crate::expr::{EvalContext, Warnings};
use crate::row_codec::RowView;
use crate::session::statement;
use crate::types::ColumnType;
use crate::value::{Value, between_columns, column_text, parse_integer_prefix, shown_value, to_i64};
use turnstile_engine::yield_now::Slice;

/// Rows of one transaction of the copy, at most.
const CHUNK: usize = 2000;
/// Bytes of rows of one transaction, about; one row may be longer.
const CHUNK_BYTES: usize = 1 << 20;
/// A row of a chunk is in memory so many times: as it was, as values, and as it will be.
const COPIES: usize = 3;

/// Where a new column's values come from.
pub enum Origin {
    /// A column of the old table, as it is.
    Same(usize),
    /// A column of the old table, of another type.
    Converted(usize),
    /// The column is new: its default.
    Default,
}

pub(super) fn copy_txn(session: &Session) -> Txn {
    session.db.engine().begin(TxnOptions {
        isolation: Isolation::RepeatableRead,
        read_only: false,
        autocommit: false,
        lock_wait_timeout_ms: session.settings.row_lock_wait_ms,
        interrupt: session.interrupt.clone(),
        status: session.entry.status.clone(),
    })
}

/// Copies all rows of `old` into `new`; returns how many.
pub(super) async fn copy_rows(
    session: &mut Session,
    old: &Table,
    new: &Table,
    origins: &[Origin],
) -> SqlResult<u64> {
    let mut reader = copy_txn(session);
    let mut scan = reader.scan(&old.engine, ScanSpec::all(ScanIndex::Clustered));
    let mut copied = 0u64;
    let mut waiting: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut waiting_bytes = 0;
    let automatic = AtomicU64::new(1);
    let mut slice = Slice::default();
    let mut charge = session.charge();
    loop {
        slice.breathe().await;
        let mut admitted = Ok(());
        let mut bytes = waiting_bytes;
        let mut visit = |_: &[u8], pk: &[u8], row: &[u8]| {
            bytes += row.len();
            admitted = charge.add(COPIES * (row.len() + pk.len()));
            if admitted.is_err() {
                return Visit::Stop;
            }
            waiting.push((pk.to_vec(), row.to_vec()));
            Visit::Continue
        };
        let more = reader.scan_batch(&mut scan, &mut visit).await?;
        waiting_bytes = bytes;
        admitted?;
        if waiting.len() >= CHUNK || waiting_bytes >= CHUNK_BYTES || !more {
            waiting_bytes = 0;
            copied +=
                write_chunk(session, old, new, origins, std::mem::take(&mut waiting), &automatic, copied)
                    .await?;
            charge.clear();
        }
        if !more {
            break;
        }
    }
    reader.rollback().await?;
    Ok(copied)
}

async fn write_chunk(
    session: &mut Session,
    old: &Table,
    new: &Table,
    origins: &[Origin],
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    automatic: &AtomicU64,
    done: u64,
) -> SqlResult<u64> {
    let count = rows.len() as u64;
    let mut encoded = Vec::with_capacity(rows.len());
    let mut slice = Slice::default();
    for (nth, (pk, row)) in rows.into_iter().enumerate() {
        if nth % 32 == 31 {
            slice.breathe().await;
        }
        let view = RowView::new(&old.layout, &row).map_err(|_| SqlError::crashed_table(old.name()))?;
        let values = convert(session, &view, (old, new), origins, done + nth as u64 + 1, automatic)?;
        let key = new_key(old, new, &values, pk);
        let mut bytes = Vec::with_capacity(row.len());
        new.layout.encode(&values, &mut bytes);
        encoded.push((key, bytes, values));
    }
    let mut txn = copy_txn(session);
    for (nth, (key, bytes, values)) in encoded.into_iter().enumerate() {
        if nth % 32 == 31 {
            slice.breathe().await;
        }
        match txn.insert(&new.engine, &key, &bytes).await {
            Ok(()) => {}
            Err(error @ EngineError::DuplicateKey { .. }) => {
                txn.rollback().await?;
                return Err(duplicate_entry(new, &error, &values));
            }
            Err(error) => {
                txn.rollback().await?;
                return Err(error.into());
            }
        }
    }
    txn.commit()?;
    session.interrupt.check()?;
    Ok(count)
}

fn convert(
    session: &Session,
    view: &RowView<'_>,
    (old, new): (&Table, &Table),
    origins: &[Origin],
    row: u64,
    automatic: &AtomicU64,
) -> SqlResult<Vec<Value>> {
    statement::with_eval(session, &[], |eval| {
        let storing = Storing { eval, strict: eval.settings.sql_mode.is_strict(), row };
        let mut values = Vec::with_capacity(origins.len());
        for (column, origin) in origins.iter().enumerate() {
            values.push(match origin {
                _ if new.columns()[column].generation().is_some() => Value::Null,
                Origin::Same(at) => view.get(*at),
                Origin::Converted(at) => {
                    let value = view.get(*at);
                    let zone = eval.settings.time_zone;
                    // TIMESTAMPs are stored in UTC and come back into another type as the session shows
                    // them.
                    let value = match value {
                        Value::DateTime(moment) if view.is_timestamp(*at) => {
                            Value::DateTime(zone.from_utc(moment))
                        }
                        other => {
                            between_columns(other, &old.columns()[*at].kind, &new.columns()[column].kind)
                        }
                    };
                    let (from, to) = (&old.columns()[*at].kind, &new.columns()[column]);
                    let value = as_copied(value, from, &to.kind, &storing)?;
                    storing.store(new, column, &value).map_err(|error| misfit(error, to, from, row))?
                }
                Origin::Default if Some(column) == new.auto_column => {
                    let next = automatic.fetch_add(1, Ordering::Relaxed);
                    storing.store(new, column, &Value::UInt(next))?
                }
                Origin::Default if storing.strict && wants_date(&new.columns()[column]) => {
                    storing.store(new, column, &zero_text(&new.columns()[column]))?
                }
                Origin::Default => {
                    let lenient = Storing { strict: false, ..storing };
                    lenient.default_silently(new, column)?
                }
            });
        }
        for (column, _) in &new.computed_defaults {
            if matches!(origins[*column], Origin::Default) {
                values[*column] = storing.default_in(new, *column, &TupleRow(&values))?;
            }
        }
        let quiet = Warnings::default();
        let unheard = EvalContext { settings: eval.settings, warnings: &quiet, ..*eval };
        for (column, expr) in &new.generated {
            // Nobody is told again of a value that was no error when its row came.
            let kept = new.columns()[*column].is_hidden() && !matches!(origins[*column], Origin::Default);
            let storing = if kept { Storing { eval: &unheard, strict: false, row } } else { storing };
            let expr = expr.as_ref().map_err(Clone::clone)?;
            values[*column] = storing.generated(new, *column, expr, &TupleRow(&values))?;
        }
        verify(&new.checks, &TupleRow(&values), eval)?;
        Ok(values)
    })
}

/// Why a value of the old table is refused, in the words of ALTER TABLE.
fn misfit(error: SqlError, column: &Column, from: &ColumnType, row: u64) -> SqlError {
    match error.kind() {
        ErrorKind::Null if *from == column.kind => SqlError::invalid_use_of_null(),
        ErrorKind::Null => SqlError::data_truncated(&column.name, row),
        ErrorKind::TooLong if is_shortened(from, &column.kind) => SqlError::data_truncated(&column.name, row),
        _ => error,
    }
}

/// Whether a column only becomes shorter.
fn is_shortened(from: &ColumnType, to: &ColumnType) -> bool {
    match (from, to) {
        (ColumnType::Char { collation, .. }, ColumnType::Char { collation: other, .. }) => collation == other,
        (ColumnType::Binary { .. }, ColumnType::Binary { .. }) => true,
        _ => from.is_copied_into(to),
    }
}

/// What a value of one type becomes on its way into BIT, which takes the number of a text, and into JSON,
/// which takes the text of a number.
fn as_copied(value: Value, from: &ColumnType, to: &ColumnType, storing: &Storing<'_>) -> SqlResult<Value> {
    match (&value, to) {
        (Value::Null, _) => Ok(value),
        (Value::Str(text), ColumnType::Bit { .. }) if from.is_blob() => {
            Ok(Value::Int(whole_prefix(text.as_bytes())))
        }
        (Value::Bytes(bytes), ColumnType::Bit { .. }) if from.is_blob() => {
            Ok(Value::Int(whole_prefix(bytes)))
        }
        (Value::Str(_) | Value::Bytes(_), ColumnType::Bit { .. }) => {
            let text = value.as_raw_bytes().unwrap_or(&[]);
            if storing.strict && !parse_integer_prefix(text).1 {
                return Err(SqlError::truncated_wrong_value("INTEGER", shown_value(&value)));
            }
            Ok(Value::Int(to_i64(&value, storing.eval)?))
        }
        (_, ColumnType::Json) if matches!(from, ColumnType::Bit { .. }) => Err(SqlError::json_of_binary()),
        (_, ColumnType::Json) if from.is_numeric() || from.is_temporal() => {
            Ok(Value::from(column_text(&value, from)))
        }
        _ => Ok(value),
    }
}

/// The whole number that a long text begins with.
fn whole_prefix(text: &[u8]) -> i64 {
    let whole = parse_integer_prefix(text).0;
    whole.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// A new column whose rows have to get a zero date, which the mode may refuse.
fn wants_date(column: &Column) -> bool {
    let dated =
        matches!(column.kind, ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. });
    dated && !column.nullable && column.default == DefaultValue::None
}

fn zero_text(column: &Column) -> Value {
    Value::text(if column.kind == ColumnType::Date { "0000-00-00" } else { "0000-00-00 00:00:00" })
}

/// The clustered key of a copied row.
fn new_key(old: &Table, new: &Table, values: &[Value], old_key: Vec<u8>) -> Vec<u8> {
    let mut key = Vec::new();
    if new.primary().is_some() {
        new.primary_key(values, &mut key);
        return key;
    }
    // Hidden row numbers are kept; a table that loses its primary key gets new ones.
    if old.primary().is_none() {
        old_key
    } else {
        new.counters.row_id.fetch_add(1, Ordering::Relaxed).to_be_bytes().to_vec()
    }
}
