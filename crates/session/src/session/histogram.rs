//! ANALYZE TABLE ... UPDATE HISTOGRAM and DROP HISTOGRAM.
//!
//! Rows are read as one snapshot sees them, under the metadata lock of a reader, so that DDL waits and
//! changes do not. KILL is seen between batches of rows, and other sessions of this one's worker go on.
//! Values that are counted are charged to the session. Where a table has more rows than
//! `histogram_generation_max_mem_size` has room for, rows are taken by chance, each alike; all are read.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use turnstile_engine::yield_now::Slice;
use turnstile_engine::{ScanIndex, ScanSpec, Txn, Visit};

use super::Session;
use super::maintain::Said;
use super::show::Table as Lines;
use super::statement::Outcome;
use crate::accounts::Privileges;
use crate::ast::{HistogramChange, Name, TableName};
use crate::catalog::SERVERS_OWN;
use crate::dictionary::Table;
use crate::dictionary::histogram::{BUCKETS_DEFAULT, BUCKETS_MAX, Collector, Histogram, Wanted};
use crate::error::{SqlError, SqlResult};
use crate::memory::{Charge, Metered};
use crate::session::{check, ddl, show, statement, transaction};
use crate::sink::ResultSink;
use crate::value::Value;

/// UPDATE HISTOGRAM and DROP HISTOGRAM, of one table.
pub(super) async fn change_histograms(
    session: &mut Session,
    tables: &[TableName],
    change: &HistogramChange,
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    check_text(change)?;
    ddl::each_once(session, tables)?;
    ddl::commit_before(session).await?;
    let mut lines = Lines::new(&[("Table", 's'), ("Op", 's'), ("Msg_type", 's'), ("Msg_text", 't')]);
    let mut say = |table: String, (kind, message): Said| {
        let line = [table, "histogram".into(), kind.into(), message];
        lines.push(line.into_iter().map(Value::text).collect());
    };
    let [name] = tables else {
        let only = "Only one table can be specified while modifying histogram statistics.";
        say(String::new(), ("Error", only.into()));
        return show::write_table(&lines, out);
    };
    let schema = ddl::schema_of(session, name)?;
    let full = format!("{schema}.{}", name.table);
    let said = match refused(session, &schema, name) {
        Some(why) => vec![("Error", why)],
        None => {
            statement::enter_for(session, &[check::read_of(name, Privileges::NONE)]).await?;
            let done = change_columns(session, &schema, name, change).await;
            transaction::commit(session).await?;
            done?
        }
    };
    said.into_iter().for_each(|one| say(full.clone(), one));
    show::write_table(&lines, out)
}

/// What is wrong with the statement whatever the table is.
fn check_text(change: &HistogramChange) -> SqlResult<()> {
    if let HistogramChange::Update { buckets: Some(buckets), .. } = change
        && !(1..=BUCKETS_MAX).contains(buckets)
    {
        return Err(SqlError::value_out_of_range("Number of buckets", "ANALYZE TABLE"));
    }
    let mut seen = HashSet::new();
    match change.columns().iter().find(|name| !seen.insert(name.to_ascii_lowercase())) {
        Some(twice) => Err(SqlError::duplicate_column(twice)),
        None => Ok(()),
    }
}

/// Why a name has no histograms, if it has none.
fn refused(session: &Session, schema: &str, name: &TableName) -> Option<String> {
    if schema == SERVERS_OWN {
        return Some("Histograms are not supported on the MySQL system schema.".into());
    }
    if session.temporary.has(schema, &name.table) {
        return Some("Cannot create histogram statistics for a temporary table.".into());
    }
    if session.db.dictionary().view(schema, &name.table).is_some() {
        return Some("Cannot create histogram statistics for a view.".into());
    }
    session.db.dictionary().base_table(schema, &name.table).err().map(|error| error.message)
}

async fn change_columns(
    session: &mut Session,
    schema: &str,
    name: &TableName,
    change: &HistogramChange,
) -> SqlResult<Vec<Said>> {
    let table = match session.db.dictionary().base_table(schema, &name.table) {
        Ok(table) => table,
        Err(error) => return Ok(vec![("Error", error.message)]),
    };
    let (found, missing) = columns_of(&table, change.columns());
    let mut said = match change {
        HistogramChange::Update { buckets, automatic, .. } => {
            let buckets = buckets.map_or(BUCKETS_DEFAULT, |buckets| buckets as u32);
            let wanted = |column: usize| Wanted { column, buckets, automatic: *automatic };
            let (able, said) = able(&table, found);
            let wanted: Vec<Wanted> = able.into_iter().map(wanted).collect();
            make(session, &table, &wanted).await?;
            said
        }
        HistogramChange::Drop(_) => {
            let known = |column: &usize| table.counters.histograms.of(&table.columns()[*column]).is_some();
            let (gone, without): (Vec<_>, Vec<_>) = found.into_iter().partition(known);
            let column = |at: usize| table.columns()[at].name.clone();
            let gone: Vec<Box<str>> = gone.into_iter().map(column).collect();
            if !gone.is_empty() {
                session.db.drop_histograms(&table, &gone).await?;
            }
            let removed = gone.into_iter().map(|name| {
                let text = format!("Histogram statistics removed for column '{name}'.");
                (name, ("status", text))
            });
            let without = without.into_iter().map(column).map(|name| {
                let text = format!("No histogram statistics found for column '{name}'.");
                (name, ("Error", text))
            });
            removed.chain(without).collect()
        }
    };
    said.extend(missing.into_iter().map(|name| {
        let text = format!("The column '{name}' does not exist.");
        (name, ("Error", text))
    }));
    said.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(said.into_iter().map(|(_, said)| said).collect())
}

/// The columns of these names, and the names that no column has.
fn columns_of(table: &Table, names: &[Name]) -> (Vec<usize>, Vec<Box<str>>) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for name in names {
        match table.column_position(name) {
            Some(at) => found.push(at),
            None => missing.push(name.clone()),
        }
    }
    (found, missing)
}

/// What is said of a column.
type Of = (Box<str>, Said);

/// Those of columns that can have a histogram, and what is said of each.
fn able(table: &Table, columns: Vec<usize>) -> (Vec<usize>, Vec<Of>) {
    let mut able = Vec::new();
    let say = |at: usize| {
        let column = &table.columns()[at];
        let name = &column.name;
        let said = if table.is_unique_alone(at) {
            ("Error", format!("The column '{name}' is covered by a single-part unique index."))
        } else if !Histogram::is_supported(&column.kind) {
            ("Error", format!("The column '{name}' has an unsupported data type."))
        } else {
            able.push(at);
            ("status", format!("Histogram statistics created for column '{name}'."))
        };
        (name.clone(), said)
    };
    let said = columns.into_iter().map(say).collect();
    (able, said)
}

/// ANALYZE TABLE makes those histograms anew that say so.
pub(super) async fn refresh(session: &mut Session, name: &TableName, table: &Table) -> SqlResult<()> {
    if Wanted::automatic(table).is_empty() {
        return Ok(());
    }
    statement::enter_for(session, &[check::read_of(name, Privileges::NONE)]).await?;
    let schema = ddl::schema_of(session, name)?;
    let done = match session.db.dictionary().base_table(&schema, &name.table) {
        Ok(table) => make(session, &table, &Wanted::automatic(&table)).await,
        // It went a moment ago.
        Err(_) => Ok(()),
    };
    transaction::commit(session).await?;
    done
}

/// Makes histograms and keeps them.
async fn make(session: &mut Session, table: &Table, wanted: &[Wanted]) -> SqlResult<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut txn = transaction::snapshot(session);
    let made = collect(session, &mut txn, table, wanted).await;
    txn.leave_engine();
    txn.rollback().await?;
    session.db.save_histograms(table, made?).await
}

async fn collect(
    session: &Session,
    txn: &mut Txn,
    table: &Table,
    wanted: &[Wanted],
) -> SqlResult<Vec<Histogram>> {
    let limit = match session.state.variables.lock().named("histogram_generation_max_mem_size") {
        Value::UInt(bytes) => bytes,
        _ => u64::MAX,
    };
    let mut chance = Chance::of(limit, Collector::row_bytes(table, wanted), rows_of(session, table)?);
    let charge = Charge::on(session.state.memory());
    let mut collector = Collector::new(table, wanted, charge);
    let (mut rows, mut failed) = (0u64, Ok(()));
    let mut scan = txn.scan(&table.engine, ScanSpec::all(ScanIndex::Clustered));
    let mut slice = Slice::default();
    let mut visit = |_: &[u8], _: &[u8], row: &[u8]| {
        rows += 1;
        if chance.takes() {
            failed = collector.note(table, row);
        }
        if failed.is_ok() { Visit::Continue } else { Visit::Stop }
    };
    loop {
        session.interrupt.check()?;
        slice.breathe().await;
        if !txn.scan_batch(&mut scan, &mut visit).await? {
            break;
        }
    }
    failed?;
    let updated = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
    Ok(collector.finish(table, rows, updated as u64))
}

/// About how many rows a table has.
fn rows_of(session: &Session, table: &Table) -> SqlResult<u64> {
    use std::sync::atomic::Ordering;
    if table.counters.statistics.known().is_some() {
        return Ok(table.counters.rows.load(Ordering::Relaxed));
    }
    // Nobody has looked at it yet.
    const LEAVES: usize = 20;
    let sample = session.db.engine().sample_rows(table.definition.clustered, LEAVES, |_| {})?;
    Ok(sample.size.records)
}

/// Takes some of many rows by chance.
struct Chance {
    /// Of 2^32 rows so many.
    share: u64,
    /// A sequence of numbers that do not look like one.
    state: u64,
}

impl Chance {
    /// As many rows of so many as a limit has room for.
    fn of(limit: u64, row_bytes: u64, rows: u64) -> Chance {
        let fit = limit / row_bytes.max(1);
        let share = if fit >= rows { 1.0 } else { fit as f64 / rows as f64 };
        Chance { share: (share * f64::from(u32::MAX)) as u64 + 1, state: 0 }
    }

    fn takes(&mut self) -> bool {
        if self.share > u64::from(u32::MAX) {
            return true;
        }
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ bits >> 31) >> 32 < self.share
    }
}
