//! The rows that are fought for: TURNSTILE_HOT_ROWS with numbers, sys.hot_rows with words.

use turnstile_catalog::catalog::Catalog;
use turnstile_values::error::SqlResult;
use turnstile_values::field::{FieldRef, RowWriter};
use turnstile_values::value::Value;

use super::locks::shortened;
use crate::picture::hot_rows::{hot_rows, readable_time};
use crate::picture::key_text::quoted;

/// Rates and times are estimates: digits behind the point that are kept.
const DECIMALS: f64 = 1000.0;

fn rounded(number: f64) -> Value {
    Value::Double((number * DECIMALS).round() / DECIMALS)
}

fn ms(us: Option<u64>) -> Value {
    us.map_or(Value::Null, |us| rounded(us as f64 / 1000.0))
}

/// Rows of TURNSTILE_HOT_ROWS.
pub fn counted(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    hot_rows(db).iter().try_for_each(|row| {
        let (seen, holder) = (&row.seen, row.holder.as_ref());
        let rates = [seen.grants_per_second, seen.waits_per_second].map(rounded);
        let waits = [seen.wait_us_p50, seen.wait_us_p99].map(|us| ms(us.map(u64::from)));
        let open = ms(holder.and_then(|holder| holder.open_us));
        out(&[
            FieldRef::Text(&row.table.definition.schema),
            FieldRef::Text(&row.table.definition.name),
            FieldRef::Text(&row.index),
            FieldRef::Text(&row.key),
            FieldRef::Value(&rates[0]),
            FieldRef::Value(&rates[1]),
            FieldRef::UInt(u64::from(seen.waiting)),
            FieldRef::UInt(u64::from(seen.queue_p50)),
            FieldRef::UInt(u64::from(seen.queue_p99)),
            FieldRef::Value(&waits[0]),
            FieldRef::Value(&waits[1]),
            FieldRef::UInt(u64::from(seen.handed_on)),
            holder.map_or(FieldRef::Null, |holder| FieldRef::UInt(holder.id)),
            holder.map_or(FieldRef::Null, |holder| FieldRef::UInt(holder.connection)),
            FieldRef::Value(&open),
        ])
    })
}

/// Rows of sys.hot_rows.
pub fn readable(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    hot_rows(db).iter().try_for_each(|row| {
        let (seen, holder) = (&row.seen, row.holder.as_ref());
        let table = quoted(&row.table);
        let waits = [seen.wait_us_p50, seen.wait_us_p99].map(|us| us.map(|us| readable_time(us.into())));
        let age = holder.and_then(|holder| holder.open_us).map(readable_time);
        let statement = holder.and_then(|holder| holder.statement.as_deref()).map(shortened);
        let kill = holder.filter(|holder| holder.connection != 0);
        let kill = kill.map(|holder| format!("KILL {}", holder.connection));
        out(&[
            FieldRef::Text(&table),
            FieldRef::Text(&row.index),
            FieldRef::Text(&row.key),
            FieldRef::UInt(seen.grants_per_second.round() as u64),
            FieldRef::UInt(seen.waits_per_second.round() as u64),
            FieldRef::UInt(u64::from(seen.waiting)),
            FieldRef::UInt(u64::from(seen.queue_p50)),
            FieldRef::UInt(u64::from(seen.queue_p99)),
            FieldRef::optional(waits[0].as_deref()),
            FieldRef::optional(waits[1].as_deref()),
            FieldRef::UInt(u64::from(seen.handed_on)),
            holder.map_or(FieldRef::Null, |holder| FieldRef::UInt(holder.id)),
            FieldRef::optional(age.as_deref()),
            holder.map_or(FieldRef::Null, |holder| FieldRef::UInt(holder.connection)),
            FieldRef::optional(statement.as_deref()),
            FieldRef::optional(kill.as_deref()),
        ])
    })
}
