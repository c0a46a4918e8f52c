//! `mysql.innodb_table_stats` and `mysql.innodb_index_stats`, computed from what is known of tables, and the
//! histograms of their columns. They cannot be written: ANALYZE fills them.

use super::catalog::may_see_column;
use super::sought::Sought;
use super::{row, text};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::dictionary::statistics::TableStatistics;
use turnstile_catalog::session_state::SessionState;
use turnstile_values::datetime::DateTime;
use turnstile_values::value::Value;

type Rows = Vec<Vec<Value>>;

/// What is known of each table, of those that anybody has looked at.
fn known(
    db: &Catalog,
    session: &SessionState,
    mut visit: impl FnMut(&Table, &TableStatistics, Value, &mut Rows),
) -> Rows {
    let mut rows = Rows::new();
    for table in super::catalog::all_tables(db, session, &Sought::ALL) {
        if let Some(known) = table.counters.statistics.known() {
            let moment = DateTime::from_unix_us(known.gathered as i64 * 1_000_000, 0);
            let gathered = moment.map(|moment| session.settings().time_zone.from_utc(moment));
            visit(&table, &known, gathered.map_or(Value::Null, Value::DateTime), &mut rows);
        }
    }
    rows
}

/// Rows of `mysql.innodb_table_stats`.
pub(super) fn of_tables(db: &Catalog, session: &SessionState) -> Rows {
    known(db, session, |table, known, gathered, rows| {
        let primary = |index| table.keys().iter().any(|key| key.primary && key.index == index);
        let others = known.keys.iter().filter(|key| !primary(key.index)).map(|key| key.pages).sum();
        rows.push(row([
            text(&table.definition.schema),
            text(table.name()),
            gathered,
            Value::UInt(known.rows),
            Value::UInt(known.pages),
            Value::UInt(others),
        ]));
    })
}

/// Rows of `mysql.innodb_index_stats`.
pub(super) fn of_keys(db: &Catalog, session: &SessionState) -> Rows {
    known(db, session, |table, known, gathered, rows| {
        for key in table.keys() {
            let Some(found) = known.key(key.index) else { continue };
            let mut line = |name: String, value: u64, sampled: Option<u64>, description: &str| {
                rows.push(row([
                    text(&table.definition.schema),
                    text(table.name()),
                    text(&key.name),
                    gathered.clone(),
                    text(name),
                    Value::UInt(value),
                    sampled.map_or(Value::Null, Value::UInt),
                    text(description),
                ]));
            };
            let columns = |count: usize| {
                let parts = key.parts.iter().take(count);
                parts.map(|part| &*table.columns()[part.column].name).collect::<Vec<_>>().join(",")
            };
            for (nth, distinct) in found.distinct.iter().enumerate() {
                let name = format!("n_diff_pfx{:02}", nth + 1);
                line(name, *distinct, Some(found.sampled), &columns(nth + 1));
            }
            line("n_leaf_pages".into(), found.leaves, None, "Number of leaf pages in the index");
            line("size".into(), found.pages, None, "Number of pages in the index");
        }
    })
}

/// Rows of `information_schema.column_statistics`: of columns that the account may see.
pub(super) fn of_columns(db: &Catalog, session: &SessionState) -> Rows {
    let mut rows = Rows::new();
    let rights = session.rights();
    for table in super::catalog::all_tables(db, session, &Sought::ALL) {
        for known in table.counters.histograms.all() {
            if may_see_column(&rights, &table, &known.column) {
                rows.push(row([
                    text(&table.definition.schema),
                    text(table.name()),
                    text(&known.column),
                    known.document(),
                ]));
            }
        }
    }
    rows
}

/// Rows of `information_schema.OPTIMIZER_TRACE`: of the session's own statements.
pub(super) fn of_plans(session: &SessionState) -> Rows {
    let traces = session.traces().into_iter();
    let shown = traces.map(|trace| {
        let withheld = Value::Int(i64::from(trace.withheld));
        row([text(&trace.query), text(&trace.text), Value::Int(trace.missing as i64), withheld])
    });
    shown.collect()
}
