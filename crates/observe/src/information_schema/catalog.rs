//! What the dictionary holds, as tables.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::sought::Sought;
use super::{count, row, text};
use turnstile_catalog::accounts::{Privileges, Rights};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::definition::{default_text, escaped_text};
use turnstile_catalog::dictionary::{Check, Column, DefaultValue, Key, Table};
use turnstile_catalog::expression_text::expression_text;
use turnstile_catalog::session_state::SessionState;
use turnstile_catalog::virtual_table::VirtualTable;
use turnstile_values::datetime::DateTime;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

type Rows = Vec<Vec<Value>>;

/// Names of the databases a session may see, the computed ones included. `sys`, and `mysql` while no tables
/// are stored in it, can be used but are not shown: tools that copy every database that they are shown would
/// copy views, and tables of MySQL's, that are not there.
pub fn schema_names(db: &Catalog, session: &SessionState) -> Vec<Box<str>> {
    let shown = turnstile_catalog::virtual_table::VIRTUAL_SCHEMAS.iter().filter(|name| **name != "sys");
    let mut names: Vec<Box<str>> = shown.map(|name| (*name).into()).collect();
    let stored = db.dictionary().schema_names().into_iter();
    names.extend(stored.filter(|name| super::known(session, name)));
    names.sort();
    names
}

/// Rows of SCHEMATA.
pub fn schemata(db: &Catalog, session: &SessionState) -> Rows {
    let line = |name: Box<str>| {
        let collation = db.collation_of(&name);
        row([
            text("def"),
            text(&name),
            text(collation.charset()),
            text(collation.name()),
            Value::Null,
            text("NO"),
        ])
    };
    schema_names(db, session).into_iter().map(line).collect()
}

/// The tables that a session may see.
pub fn all_tables(db: &Catalog, session: &SessionState, sought: &Sought) -> Vec<Arc<Table>> {
    let rights = session.rights();
    let names = db
        .dictionary()
        .schema_names()
        .into_iter()
        .filter(|name| sought.takes_schema(name) && rights.may_see(name));
    let tables = names.flat_map(|name| db.dictionary().tables(&name));
    let tables = tables.filter(|table| sought.takes_table(table.name()));
    tables.filter(|table| rights.may_see_table(&table.definition.schema, table.name())).collect()
}

/// The computed tables among them.
fn computed(session: &SessionState, sought: &Sought) -> impl Iterator<Item = VirtualTable> {
    let wanted = |one: &VirtualTable| sought.takes_schema(one.schema()) && sought.takes_table(one.name());
    VirtualTable::all_visible(session.rights()).filter(wanted)
}

pub(super) fn moment(seconds: u64) -> Value {
    DateTime::from_unix_us(seconds as i64 * 1_000_000, 0).map_or(Value::Null, Value::DateTime)
}

/// Rows of TABLES.
pub fn tables(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    let mut rows: Rows = all_tables(db, session, sought).iter().map(|table| table_row(db, table)).collect();
    rows.extend(super::views::as_tables(db, session, sought));
    for one in computed(session, sought) {
        let mut line = vec![text("def"), text(one.schema()), text(one.name()), text(one.table_type())];
        line.resize(20, Value::Null);
        line.push(text(if one.table_type() == "VIEW" { "VIEW" } else { "" }));
        rows.push(line);
    }
    rows
}

/// Bytes of a page.
const PAGE_BYTES: u64 = 16384;

/// How large a table is. The rows are what a look at some leaves of the tree says: all of them where there
/// are few, and rows that a transaction has inserted and not committed are among them, as in InnoDB.
struct Size {
    rows: u64,
    data_bytes: u64,
    index_bytes: u64,
}

fn size_of(db: &Catalog, table: &Table) -> Size {
    // A table that is dropped meanwhile, or cannot be read, has no size to tell.
    let measured = |tree| db.engine().measure_index(tree).unwrap_or_default();
    let clustered = measured(table.definition.clustered);
    let secondary = table.keys().iter().filter(|key| !key.primary);
    Size {
        rows: clustered.records,
        data_bytes: clustered.pages * PAGE_BYTES,
        index_bytes: secondary.map(|key| measured(key.index).pages * PAGE_BYTES).sum(),
    }
}

/// A line of information_schema.TABLES.
fn table_row(db: &Catalog, table: &Table) -> Vec<Value> {
    let definition = &table.definition;
    let size = size_of(db, table);
    let next = table.counters.auto_increment.load(Ordering::Relaxed).max(definition.auto_increment);
    let automatic = if table.auto_column.is_some() { Value::UInt(next.max(1)) } else { Value::Null };
    row([
        text("def"),
        text(&definition.schema),
        text(&definition.name),
        text("BASE TABLE"),
        text("InnoDB"),
        Value::UInt(10),
        text("Dynamic"),
        Value::UInt(size.rows),
        Value::UInt(size.data_bytes.checked_div(size.rows).unwrap_or(0)),
        Value::UInt(size.data_bytes),
        Value::UInt(0),
        Value::UInt(size.index_bytes),
        Value::UInt(0),
        automatic,
        moment(definition.created),
        Value::Null,
        Value::Null,
        text(definition.collation.name()),
        Value::Null,
        text(""),
        text(&definition.comment),
    ])
}

/// Rows of PARTITIONS: no table is divided, so each has the one row of an undivided one.
pub fn partitions(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    let line = |table: &Arc<Table>| {
        let size = size_of(db, table);
        let mut line = vec![text("def"), text(&table.definition.schema), text(table.name())];
        line.resize(12, Value::Null);
        let numbers = [
            size.rows,
            size.data_bytes.checked_div(size.rows).unwrap_or(0),
            size.data_bytes,
            0,
            size.index_bytes,
            0,
        ];
        line.extend(numbers.map(Value::UInt));
        line.push(moment(table.definition.created));
        line.extend([Value::Null, Value::Null, Value::Null, text(""), text(""), Value::Null]);
        line
    };
    all_tables(db, session, sought).iter().map(line).collect()
}

/// The key that stands for a primary one: the primary key, or else the first unique key whose columns are NOT
/// NULL as a whole.
fn identifying(table: &Table) -> Option<&Key> {
    let whole = |key: &&Key| {
        let part_is_whole = |part: &turnstile_catalog::dictionary::table::Part| {
            let column = &table.columns()[part.column];
            part.prefix.is_none() && !column.nullable && !column.is_hidden()
        };
        key.unique && key.parts.iter().all(part_is_whole)
    };
    let keys = || table.keys().iter();
    keys().find(|key| key.primary).or_else(|| keys().find(whole))
}

/// PRI, UNI or MUL.
pub fn key_mark(table: &Table, at: usize) -> &'static str {
    let keys = || table.keys().iter();
    if identifying(table).is_some_and(|key| key.parts.iter().any(|part| part.column == at)) {
        "PRI"
    } else if keys().any(|key| key.unique && key.parts.len() == 1 && key.parts[0].column == at) {
        "UNI"
    } else if keys().any(|key| key.parts[0].column == at) {
        "MUL"
    } else {
        ""
    }
}

/// What DESCRIBE shows under Extra.
pub fn extra(column: &Column) -> String {
    let mut parts = Vec::new();
    if column.auto_increment {
        parts.push("auto_increment".to_string());
    }
    if matches!(column.default, DefaultValue::Now(_) | DefaultValue::Computed(_)) {
        parts.push("DEFAULT_GENERATED".to_string());
    }
    if let Some((_, stored)) = column.generation() {
        parts.push(if stored { "STORED GENERATED" } else { "VIRTUAL GENERATED" }.to_string());
    }
    match column.on_update {
        Some(0) => parts.push("on update CURRENT_TIMESTAMP".to_string()),
        Some(digits) => parts.push(format!("on update CURRENT_TIMESTAMP({digits})")),
        None => {}
    }
    if column.invisible && !column.is_hidden() {
        parts.push("INVISIBLE".to_string());
    }
    parts.join(" ")
}

/// A type's bare name.
pub(super) fn data_type(kind: &ColumnType) -> String {
    let text = kind.to_string();
    text.split(['(', ' ']).next().unwrap_or_default().to_string()
}

pub(super) fn lengths(kind: &ColumnType) -> [Value; 5] {
    let number = |number: u64| Value::UInt(number);
    let none = || Value::Null;
    match kind {
        ColumnType::Text { size, .. } | ColumnType::Blob { size } => {
            [number(size.max_bytes()), number(size.max_bytes()), none(), none(), none()]
        }
        ColumnType::Json => [none(), none(), none(), none(), none()],
        kind if kind.is_string() => {
            [number(kind.text_length().into()), number(kind.wire_length().into()), none(), none(), none()]
        }
        ColumnType::Decimal { precision, scale, .. } => {
            [none(), none(), number((*precision).into()), number((*scale).into()), none()]
        }
        ColumnType::Int { width, unsigned, .. } => {
            let digits = match (width.bytes(), unsigned) {
                (1, _) => 3,
                (2, _) => 5,
                (3, _) => 7,
                (4, _) => 10,
                (_, false) => 19,
                (_, true) => 20,
            };
            [none(), none(), number(digits), number(0), none()]
        }
        ColumnType::Float { digits: Some((m, d)), .. } | ColumnType::Double { digits: Some((m, d)), .. } => {
            [none(), none(), number((*m).into()), number((*d).into()), none()]
        }
        ColumnType::Float { .. } => [none(), none(), number(12), none(), none()],
        ColumnType::Double { .. } => [none(), none(), number(22), none(), none()],
        ColumnType::Bit { bits } => [none(), none(), number((*bits).into()), none(), none()],
        ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => {
            [none(), none(), none(), none(), number((*fsp).into())]
        }
        _ => [none(), none(), none(), none(), none()],
    }
}

/// Rows of COLUMNS.
pub fn columns(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    let mut rows = Vec::new();
    let rights = session.rights();
    for table in all_tables(db, session, sought) {
        for (at, column) in table.named_columns().iter().enumerate() {
            if let Some(privileges) = column_privileges(&rights, &table, column) {
                rows.push(column_row(&table, at, column, &privileges));
            }
        }
    }
    rows.extend(super::views::as_columns(db, session, sought));
    for table in computed(session, sought) {
        for (at, (name, kind, nullable)) in table.columns().into_iter().enumerate() {
            let mut line =
                vec![text("def"), text(table.schema()), text(table.name()), text(name), count(at + 1)];
            line.extend([Value::Null, text(if nullable { "YES" } else { "NO" }), text(data_type(&kind))]);
            line.extend(lengths(&kind));
            let collation = kind.collation();
            line.push(collation.map_or(Value::Null, |one| text(one.charset())));
            line.push(collation.map_or(Value::Null, |one| text(one.name())));
            line.extend([
                text(kind.to_string()),
                text(""),
                text(""),
                text("select"),
                text(""),
                text(""),
                Value::Null,
            ]);
            rows.push(line);
        }
    }
    rows
}

/// What an account holds of what can be held on a column, as SHOW FULL COLUMNS lists it; None if nothing, so
/// that the column is not to be seen.
pub fn column_privileges(rights: &Rights, table: &Table, column: &Column) -> Option<String> {
    let of_columns = held_on_column(rights, table, &column.name);
    let seen = of_columns != Privileges::NONE;
    seen.then(|| of_columns.in_words().to_ascii_lowercase().replace(", ", ","))
}

/// Whether an account holds anything that can be held on a column.
pub(super) fn may_see_column(rights: &Rights, table: &Table, column: &str) -> bool {
    held_on_column(rights, table, column) != Privileges::NONE
}

fn held_on_column(rights: &Rights, table: &Table, column: &str) -> Privileges {
    if table.temporary {
        return Privileges::all_of_columns();
    }
    let held = rights.on_column(&table.definition.schema, table.name(), column);
    Privileges(held.0 & Privileges::all_of_columns().0)
}

fn column_row(table: &Table, at: usize, column: &Column, privileges: &str) -> Vec<Value> {
    let mut line = vec![
        text("def"),
        text(&table.definition.schema),
        text(table.name()),
        text(&column.name),
        count(at + 1),
        default_text(column).map_or(Value::Null, text),
        text(if column.nullable { "YES" } else { "NO" }),
        text(data_type(&column.kind)),
    ];
    line.extend(lengths(&column.kind));
    let collation = column.kind.shown_collation();
    line.push(collation.map_or(Value::Null, |one| text(one.charset())));
    line.push(collation.map_or(Value::Null, |one| text(one.name())));
    line.extend([
        text(column.kind.to_string()),
        text(key_mark(table, at)),
        text(extra(column)),
        text(privileges),
        text(&column.comment),
        text(column.generation().map_or(String::new(), |(expr, _)| escaped_text(expr))),
        Value::Null,
    ]);
    line
}

fn each_part(tables: &[Arc<Table>]) -> impl Iterator<Item = (&Arc<Table>, &Key, usize)> {
    tables.iter().flat_map(|table| {
        table.keys().iter().flat_map(move |key| (0..key.parts.len()).map(move |nth| (table, key, nth)))
    })
}

/// Rows of STATISTICS.
pub fn statistics(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    statistics_of(db, &all_tables(db, session, sought))
}

/// Those of some tables. Where nobody has looked at a table yet, the values of a unique key are as many as
/// the rows; how many those of other keys, or of the first columns of a key, are is not known, unless there
/// is one row at most.
pub fn statistics_of(db: &Catalog, tables: &[Arc<Table>]) -> Rows {
    let measured = |table: &Arc<Table>| {
        let records = |tree| db.engine().measure_index(tree).map(|size| size.records);
        // A tree that cannot be read has no number to tell.
        records(table.definition.clustered).ok()
    };
    let mut rows = Rows::new();
    for table in tables {
        rows.extend(statistics_of_table(table, measured(table)));
    }
    rows
}

/// What the engine keeps with each row besides its columns: the number of a row that no primary key names,
/// the transaction that wrote it, and where its version before is.
pub fn engine_columns(table: &Table) -> &'static [&'static str] {
    const ALL: [&str; 3] = ["DB_ROW_ID", "DB_TRX_ID", "DB_ROLL_PTR"];
    if table.primary().is_some() { &ALL[1..] } else { &ALL }
}

/// The statistics of a table's keys with what the engine adds to each: to the primary key the other columns
/// of the row, to any other what finds the row. Rows that no primary key orders are kept by their number.
pub fn extended_statistics_of(db: &Catalog, table: &Arc<Table>) -> Rows {
    let named = |at: usize| (&*table.columns()[at].name, table.columns()[at].nullable);
    let of_engine = || engine_columns(table).iter().map(|name| (*name, false));
    let kept = |at: &usize| table.columns()[*at].generation().is_none_or(|(_, stored)| stored);
    let others = |key: Option<&Key>| {
        let has = |column: usize| key.is_some_and(|key| key.parts.iter().any(|part| part.column == column));
        (0..table.columns().len()).filter(|at| !has(*at) && kept(at)).map(named).collect::<Vec<_>>()
    };
    let primary = table.primary().map(|at| &table.keys()[at]);
    let mut rows = Rows::new();
    if primary.is_none() {
        let row = of_engine().chain(others(None));
        rows.extend(row.enumerate().map(|(nth, part)| added_part(table, None, nth, part)));
    }
    let mut own = statistics_of(db, std::slice::from_ref(table)).into_iter();
    for key in table.keys() {
        rows.extend(own.by_ref().take(key.parts.len()));
        let added: Vec<(&str, bool)> = match primary {
            Some(primary) if std::ptr::eq(primary, key) => of_engine().chain(others(Some(key))).collect(),
            Some(primary) => {
                let new = |column: &usize| !key.parts.iter().any(|part| part.column == *column);
                primary.parts.iter().map(|part| part.column).filter(new).map(named).collect()
            }
            None => of_engine().take(1).collect(),
        };
        let from = key.parts.len();
        rows.extend(
            added.into_iter().enumerate().map(|(nth, part)| added_part(table, Some(key), from + nth, part)),
        );
    }
    rows
}

/// A part of a key that the engine adds: its name and whether it may be NULL. None: of rows without a
/// primary key.
fn added_part(table: &Table, key: Option<&Key>, nth: usize, (name, nullable): (&str, bool)) -> Vec<Value> {
    let visible = key.is_none_or(|key| key.visible);
    row([
        text("def"),
        text(&table.definition.schema),
        text(table.name()),
        Value::UInt(u64::from(key.is_some_and(|key| !key.unique))),
        text(&table.definition.schema),
        text(key.map_or("PRIMARY", |key| &key.name)),
        count(nth + 1),
        text(name),
        text("A"),
        Value::Null,
        Value::Null,
        Value::Null,
        text(if nullable { "YES" } else { "" }),
        text("BTREE"),
        text(""),
        text(key.map_or("", |key| &key.comment)),
        text(if visible { "YES" } else { "NO" }),
        Value::Null,
    ])
}

/// Different values of the first columns of a key, if they were ever estimated.
fn cardinality(table: &Table, key: &Key, nth: usize) -> Option<u64> {
    table.counters.statistics.known()?.key(key.index)?.distinct.get(nth).copied()
}

fn statistics_of_table(table: &Arc<Table>, records: Option<u64>) -> Rows {
    let line = |(table, key, nth): (&Arc<Table>, &Key, usize)| {
        let distinct = key.unique && nth + 1 == key.parts.len();
        let part = key.parts[nth];
        let column = &table.columns()[part.column];
        row([
            text("def"),
            text(&table.definition.schema),
            text(table.name()),
            Value::UInt(u64::from(!key.unique)),
            text(&table.definition.schema),
            text(&key.name),
            count(nth + 1),
            if column.is_hidden() { Value::Null } else { text(&column.name) },
            text(if part.descending { "D" } else { "A" }),
            cardinality(table, key, nth)
                .or(records.filter(|records| distinct || *records <= 1))
                .map_or(Value::Null, Value::UInt),
            part.prefix.map_or(Value::Null, |prefix| Value::UInt(prefix.into())),
            Value::Null,
            text(if column.nullable { "YES" } else { "" }),
            text("BTREE"),
            text(""),
            text(&key.comment),
            text(if key.visible { "YES" } else { "NO" }),
            column.key_part().map_or(Value::Null, |expr| text(escaped_text(expr))),
        ])
    };
    each_part(std::slice::from_ref(table)).map(line).collect()
}

/// Rows of KEY_COLUMN_USAGE.
pub fn key_column_usage(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    let (tables, rights) = (all_tables(db, session, sought), session.rights());
    let line = |(table, key, nth): (&Arc<Table>, &Key, usize)| {
        let column = &table.columns()[key.parts[nth].column].name;
        super::foreign_keys::key_column((table, &key.name), (column, nth), None)
    };
    let seen = |(table, key, nth): &(&Arc<Table>, &Key, usize)| {
        let column = &table.columns()[key.parts[*nth].column];
        key.unique && !column.is_hidden() && may_see_column(&rights, table, &column.name)
    };
    let mut rows: Rows = each_part(&tables).filter(seen).map(line).collect();
    rows.extend(super::foreign_keys::key_columns(&tables, &rights));
    rows
}

/// Rows of TABLE_CONSTRAINTS.
pub fn table_constraints(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    let tables = all_tables(db, session, sought);
    let keys = tables.iter().flat_map(|table| table.keys().iter().map(move |key| (table, key)));
    let line = |(table, key): (&Arc<Table>, &Key)| {
        let schema = || text(&table.definition.schema);
        let kind = if key.primary { "PRIMARY KEY" } else { "UNIQUE" };
        row([text("def"), schema(), text(&key.name), schema(), text(table.name()), text(kind), text("YES")])
    };
    let checks =
        tables.iter().flat_map(|table| table.definition.checks.iter().map(move |check| (table, check)));
    let check_line = |(table, check): (&Arc<Table>, &Check)| {
        let schema = || text(&table.definition.schema);
        let enforced = if check.enforced { "YES" } else { "NO" };
        row([
            text("def"),
            schema(),
            text(&check.name),
            schema(),
            text(table.name()),
            text("CHECK"),
            text(enforced),
        ])
    };
    let unique = keys.filter(|(_, key)| key.unique).map(line);
    let foreign = super::foreign_keys::constraints(&tables);
    unique.chain(foreign).chain(checks.map(check_line)).collect()
}

/// Rows of CHECK_CONSTRAINTS. As in MySQL, the text is escaped as in a string.
pub fn check_constraints(db: &Catalog, session: &SessionState) -> Rows {
    let line = |table: &Table, check: &Check| {
        let clause = expression_text(&check.expr).replace('\\', "\\\\").replace('\'', "\\'");
        row([text("def"), text(&table.definition.schema), text(&check.name), text(clause)])
    };
    let mut rows = Rows::new();
    for table in all_tables(db, session, &Sought::ALL) {
        rows.extend(table.definition.checks.iter().map(|check| line(&table, check)));
    }
    rows
}
