//! Definitions of tables: from CREATE TABLE's syntax to [`Definition`], and back to text for SHOW CREATE
//! TABLE.

use turnstile_engine::ids::{IndexId, TableId};

use std::collections::HashSet;

use crate::dictionary::table::{Definition, Part};
use crate::dictionary::{Column, Key};
use turnstile_expr::expr::{EvalContext, WarningLevel};
use turnstile_syntax::ast::{ColumnDef, CreateTable, KeyDef, KeyKind, KeyPart, KeyTarget};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};

mod allowed;
pub mod check;
pub mod column;
pub mod default;
pub mod foreign_key;
pub mod functional;
pub mod generated;
pub mod key;
pub mod limit;
pub mod new_keys;
mod option;
pub mod phase;
pub mod selected_type;
mod text;

use phase::{Faults, Phase};

pub use option::{Options, check_charset, check_encryption, is_own_engine, options};
pub use text::{create_table_text, default_text, escaped_text};

/// Most columns of a table.
const COLUMNS_MAX: usize = 1017;

/// Where a new table comes.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// Its database.
    pub schema: &'p str,
    /// Its number.
    pub id: TableId,
    /// Collation of the database.
    pub default: Collation,
}

/// The definition of a new table, without its trees. `selected`: the columns of CREATE TABLE ... SELECT's
/// query. One that is also written has the written definition, in the query's place; what is written only
/// comes first. After a fault was noted the definition is not to be used.
pub fn build(
    create: &CreateTable,
    selected: Vec<Column>,
    place: Place<'_>,
    faults: &mut Faults,
    eval: &EvalContext<'_>,
) -> SqlResult<Definition> {
    if create.partitioned {
        return Err(SqlError::not_supported_yet("partitions"));
    }
    faults.take(Phase::Table, limit::table_name(&create.name.table));
    for written in &create.columns {
        faults.take_column(column::known_names(&written.column_type));
    }
    let before = Options { collation: place.default, auto_increment: 0, comment: "".into() };
    let options = options(&create.options, before, (&create.name.table, true), faults, eval);
    let mut definition = Definition {
        id: place.id,
        schema: place.schema.into(),
        name: create.name.table.clone(),
        columns: Vec::with_capacity(create.columns.len() + selected.len()),
        keys: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        clustered: IndexId(0),
        collation: options.collation,
        comment: options.comment,
        auto_increment: options.auto_increment,
        created: now_seconds(),
    };
    faults.take(Phase::Comment, limit::table_comment(&definition, eval));
    add_columns(&mut definition, create, selected, faults, eval);
    faults.take(Phase::Automatic, one_automatic(&definition));
    let mut keys: Vec<KeyDef> = create.columns.iter().flat_map(new_keys::of_column).collect();
    keys.extend(create.keys.iter().cloned());
    let holds_null = |key: &KeyDef| refuse_null(&create.columns, key);
    let added = new_keys::add_keys(&mut definition, &keys, &holds_null, eval);
    faults.take(Phase::Keys, added);
    warn_of_duplicates(&definition, |_| true, eval);
    faults.take(Phase::AutomaticKey, check_automatic(&definition));
    faults.take(Phase::ForeignKeys, foreign_key::add(&mut definition, &create.keys, 0));
    faults.take(Phase::ForeignKeys, generated::check_foreign_keys(&definition));
    faults.take(Phase::Width, limit::row_width(definition.named_columns()));
    faults.take(Phase::Generated, generated::check(&definition));
    faults.take(Phase::Computed, default::check(&definition));
    faults.take(Phase::Whole, column_count(&definition));
    faults.take(Phase::Whole, limit::comments(&mut definition, eval));
    faults.take(Phase::Whole, check_whole(&definition));
    key::sort(&mut definition.keys, &definition.columns);
    Ok(definition)
}

/// Adds the columns of a new table, those of its query last. In the place of one with a fault comes one that
/// nothing depends on.
fn add_columns(
    definition: &mut Definition,
    create: &CreateTable,
    selected: Vec<Column>,
    faults: &mut Faults,
    eval: &EvalContext<'_>,
) {
    let in_primary = |name: &str| {
        create.keys.iter().filter(|key| key.kind == KeyKind::Primary).flat_map(|key| &key.parts).any(
            |part| matches!(&part.target, KeyTarget::Column(column) if column.eq_ignore_ascii_case(name)),
        )
    };
    let columns = &mut definition.columns;
    let mut known = HashSet::with_capacity(create.columns.len());
    let mut late = column::LateFaults::default();
    for written in &create.columns {
        let name = limit::column_name(&written.name);
        faults.take_column(name);
        faults.take(Phase::Attributes, column::fixed_length(written));
        if !known.insert(written.name.to_lowercase()) {
            faults.note(Phase::Columns, SqlError::duplicate_column(&written.name));
            continue;
        }
        let primary = written.primary_key || in_primary(&written.name);
        let made = column::column(written, definition.collation, primary, &mut late, eval);
        let made = made.and_then(|made| automatic_type(&made).map(|()| made));
        let made = faults.take_column(made).unwrap_or_else(|| column::stand_in(written));
        faults.take(Phase::Columns, limit::column_comment(&made, eval));
        columns.push(made);
    }
    late.first(columns).into_iter().for_each(|error| faults.note(Phase::Defaults, error));
    for (nth, column) in selected.into_iter().enumerate() {
        let place = columns.iter().position(|known| known.name.eq_ignore_ascii_case(&column.name));
        let column = match place {
            Some(at) if at < columns.len() - nth => columns.remove(at),
            Some(_) => {
                faults.note(Phase::Columns, SqlError::duplicate_column(&column.name));
                continue;
            }
            None => column,
        };
        columns.push(column);
    }
}

/// Notes what is wrong with a column that ALTER TABLE writes, as far as its text alone tells.
pub fn look_at_column(written: &ColumnDef, faults: &mut Faults, eval: &EvalContext<'_>) {
    faults.take_column(column::known_names(&written.column_type));
    faults.take(Phase::Attributes, column::fixed_length(written));
    let made = column::column(written, Collation::DEFAULT, false, &mut column::LateFaults::default(), eval);
    faults.take_column(made.and_then(|made| automatic_type(&made)));
}

/// Error 1171 for a primary key over a column that is said to be NULL.
fn refuse_null(columns: &[ColumnDef], key: &KeyDef) -> SqlResult<()> {
    let is_null = |name: &str| {
        columns.iter().any(|column| column.name.eq_ignore_ascii_case(name) && column.nullable == Some(true))
    };
    let holds = |part: &KeyPart| matches!(&part.target, KeyTarget::Column(name) if is_null(name));
    let refused = key.kind == KeyKind::Primary && key.parts.iter().any(holds);
    if refused { Err(SqlError::primary_cannot_have_null()) } else { Ok(()) }
}

/// Adds a key, without its tree.
fn add_key(definition: &mut Definition, written: &KeyDef, eval: &EvalContext<'_>) -> SqlResult<()> {
    let Some((key, hidden)) = key::key(written, definition, eval)? else { return Ok(()) };
    limit::key_comment(&key, eval)?;
    definition.columns.extend(hidden);
    hold_no_null(definition, &key);
    definition.keys.push(key);
    generated::check_primary(definition)
}

/// The columns of a primary key are NOT NULL.
pub fn hold_no_null(definition: &mut Definition, key: &Key) {
    for part in key.parts.iter().filter(|_| key.primary) {
        let column = &mut definition.columns[part.column];
        column.nullable = false;
        if column.default == crate::dictionary::DefaultValue::Value(turnstile_values::value::Value::Null) {
            column.default = crate::dictionary::DefaultValue::None;
        }
    }
}

/// The primary key, or the unique key over columns that are never NULL which MySQL takes in its place.
pub fn primary_key(definition: &Definition) -> Option<&Key> {
    let never_null = |key: &&Key| {
        let whole = |part: &Part| {
            let column = &definition.columns[part.column];
            part.prefix.is_none() && !column.nullable && !column.is_hidden()
        };
        key.unique && key.parts.iter().all(whole)
    };
    definition.keys.iter().find(|key| key.primary).or_else(|| definition.keys.iter().find(never_null))
}

/// Warns of keys that are new and the same as one before them.
pub fn warn_of_duplicates(definition: &Definition, is_new: impl Fn(&Key) -> bool, eval: &EvalContext<'_>) {
    for (at, key) in
        definition.keys.iter().enumerate().filter(|(_, key)| !key.primary && !key.implicit && is_new(key))
    {
        let same = |other: &Key| !other.primary && other.unique == key.unique && other.parts == key.parts;
        if definition.keys[..at].iter().any(same) {
            let table = format!("{}.{}", definition.schema, definition.name);
            eval.warnings.push(WarningLevel::Warning, SqlError::duplicate_index(&key.name, table));
        }
    }
}

/// Error 1117 for more columns than a table may have.
pub fn column_count(definition: &Definition) -> SqlResult<()> {
    if definition.named_columns().len() > COLUMNS_MAX { Err(SqlError::too_many_columns()) } else { Ok(()) }
}

/// Error 1075 for a second AUTO_INCREMENT column.
pub fn one_automatic(definition: &Definition) -> SqlResult<()> {
    let automatic = definition.columns.iter().filter(|column| column.auto_increment);
    if automatic.count() > 1 { Err(SqlError::wrong_auto_key()) } else { Ok(()) }
}

/// An AUTO_INCREMENT column is a number and begins a key.
pub fn check_automatic(definition: &Definition) -> SqlResult<()> {
    one_automatic(definition)?;
    let found = definition.columns.iter().enumerate().find(|(_, column)| column.auto_increment);
    let Some((at, column)) = found else { return Ok(()) };
    if !definition.keys.iter().any(|key| key.parts[0].column == at) {
        return Err(SqlError::wrong_auto_key());
    }
    automatic_type(column)
}

/// Error 1063 for an AUTO_INCREMENT column that is no number.
pub fn automatic_type(column: &Column) -> SqlResult<()> {
    match column.kind {
        turnstile_values::types::ColumnType::Int { .. } => Ok(()),
        _ if column.auto_increment => Err(SqlError::wrong_column_spec(&column.name)),
        _ => Ok(()),
    }
}

/// What expressions of columns read, and how such columns are used.
pub fn check_expressions(definition: &Definition) -> SqlResult<()> {
    generated::check(definition)?;
    default::check(definition)
}

/// The rules that no column or key breaks alone.
pub fn check_whole(definition: &Definition) -> SqlResult<()> {
    if definition.columns.iter().all(|column| column.invisible) {
        return Err(SqlError::invisible_only());
    }
    if primary_key(definition).is_some_and(|key| !key.visible) {
        return Err(SqlError::primary_key_invisible());
    }
    limit::row_width(definition.named_columns())?;
    if definition.keys.len() > 64 {
        return Err(SqlError::too_many_keys(64));
    }
    Ok(())
}

/// Seconds since 1970.
pub fn now_seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs()
}
