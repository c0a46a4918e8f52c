//! One row's new values, and what a duplicate key means to the user.

use smallvec::SmallVec;
use turnstile_engine::{Change, Error as EngineError, LockWait, Read, RowLock, Updated};

use super::Changed;
use super::counters::told;
use super::foreign_key::{Images, is_broken};
use crate::exec::Exec;
use crate::exec::change::{counters, foreign_key};
use crate::exec::tail::TupleRow;
use turnstile_catalog::definition::functional;
use turnstile_catalog::dictionary::check::{is_broken_check, verify};
use turnstile_catalog::dictionary::{DefaultValue, Key, Table};
use turnstile_catalog::row_codec::RowView;
use turnstile_expr::expr::{EvalContext, Expr, Row, WarningLevel};
use turnstile_plan::plan::foreign_key::ForeignPlan;
use turnstile_values::context::EvalSettings;
use turnstile_values::datetime::{DateTime, Time};
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{StoreContext, Value, column_text, store, zero_of};

/// A row while its columns are assigned: later assignments see what earlier ones did.
struct Assigning<'r> {
    view: &'r RowView<'r>,
    base: usize,
    rest: &'r [Value],
    changes: &'r [(usize, Value)],
}

impl Row for Assigning<'_> {
    fn value(&self, position: usize) -> Value {
        let Some(column) =
            position.checked_sub(self.base).filter(|column| *column < self.view.layout_columns())
        else {
            return self.rest.get(position).cloned().unwrap_or_default();
        };
        let changed = self.changes.iter().rev().find(|(at, _)| *at == column);
        changed.map_or_else(|| self.view.get(column), |(_, value)| value.clone())
    }
}

/// How new values are stored.
#[derive(Clone, Copy)]
pub struct Storing<'e> {
    /// What expressions may ask.
    pub eval: &'e EvalContext<'e>,
    /// Misfits are errors.
    pub strict: bool,
    /// Number of the row in its statement, from 1.
    pub row: u64,
}

impl Storing<'_> {
    /// Converts a value for a column.
    pub fn store(&self, table: &Table, column: usize, value: &Value) -> SqlResult<Value> {
        let definition = &table.columns()[column];
        // What is no document is told with its table.
        let qualified = (definition.kind == ColumnType::Json)
            .then(|| format!("{}.{}", table.definition.name, definition.name));
        let context = StoreContext {
            column: qualified.as_deref().unwrap_or(&definition.name),
            row: self.row,
            nullable: definition.nullable,
            strict: self.strict,
            eval: self.eval,
        };
        store(value, &definition.kind, &context)
    }

    /// What a column holds that INSERT does not name: the default; that there is none is told once a
    /// statement.
    pub fn left_out(&self, table: &Table, column: usize) -> SqlResult<Value> {
        self.default_told(table, column, self.row == 1)
    }

    /// The default of a column.
    pub fn default(&self, table: &Table, column: usize) -> SqlResult<Value> {
        self.default_told(table, column, true)
    }

    /// The default of a column that rows get which are there already.
    pub fn default_silently(&self, table: &Table, column: usize) -> SqlResult<Value> {
        self.default_told(table, column, false)
    }

    fn default_told(&self, table: &Table, column: usize, told: bool) -> SqlResult<Value> {
        let definition = &table.columns()[column];
        match &definition.default {
            DefaultValue::Value(value) if self.strict && is_zero_date(value) => {
                self.store(table, column, value)
            }
            DefaultValue::Value(value) => Ok(value.clone()),
            DefaultValue::Now(digits) => self.now(table, column, *digits),
            // Computed when the rest of the row is there.
            DefaultValue::Computed(_) | DefaultValue::Generated(..) | DefaultValue::KeyPart(_) => {
                Ok(Value::Null)
            }
            DefaultValue::None if definition.nullable => Ok(Value::Null),
            // What asks for a number.
            DefaultValue::None if table.auto_column == Some(column) => {
                store(&Value::Int(0), &definition.kind, &self.lenient(&definition.name))
            }
            DefaultValue::None => {
                // ENUM NOT NULL without default has its first member, as in MySQL.
                if let ColumnType::Enum { names, .. } = &definition.kind {
                    return Ok(Value::Enum(turnstile_values::value::EnumValue {
                        names: names.clone(),
                        bits: 1,
                    }));
                }
                let error = SqlError::no_default_for_field(&definition.name);
                if self.strict {
                    return Err(error);
                }
                if told {
                    self.eval.warnings.push(WarningLevel::Warning, error);
                }
                implicit_zero(&definition.kind, &self.lenient(&definition.name))
            }
        }
    }

    /// For what the server itself puts into a column, which is never refused.
    fn lenient<'c>(&'c self, column: &'c str) -> StoreContext<'c> {
        StoreContext { column, row: self.row, nullable: false, strict: false, eval: self.eval }
    }

    /// What a column of a new row holds before anything is assigned to it: its constant default, and in the
    /// place of one that is found for each row NULL or the type's zero.
    pub fn unassigned(&self, table: &Table, column: usize) -> SqlResult<Value> {
        let definition = &table.columns()[column];
        match &definition.default {
            DefaultValue::Value(value) => Ok(value.clone()),
            _ if definition.nullable => Ok(Value::Null),
            // Nobody is told of a zero date that no statement has written.
            _ if definition.kind.is_temporal() => Ok(zero_moment(&definition.kind)),
            _ => store(&zero_of(&definition.kind), &definition.kind, &self.lenient(&definition.name)),
        }
    }

    /// The default of a column of this row, computed if it is an expression.
    pub fn default_in(&self, table: &Table, column: usize, row: &dyn Row) -> SqlResult<Value> {
        match table.computed_defaults.iter().find(|(at, _)| *at == column) {
            None => self.default(table, column),
            Some((_, expr)) => {
                let expr = expr.as_ref().map_err(Clone::clone)?;
                self.store(table, column, &expr.eval(row, self.eval)?)
            }
        }
    }

    /// Computes the generated columns of a row whose other columns are there.
    pub fn generate(&self, table: &Table, row: &mut [Value]) -> SqlResult<()> {
        for (column, expr) in &table.generated {
            let expr = expr.as_ref().map_err(Clone::clone)?;
            row[*column] = self.generated(table, *column, expr, &TupleRow(row))?;
        }
        Ok(())
    }

    /// The value of one of the generated columns. What is wrong with that of a hidden one is told of its key.
    pub fn generated(&self, table: &Table, column: usize, expr: &Expr, row: &dyn Row) -> SqlResult<Value> {
        let work = |eval: &EvalContext<'_>| self.store(table, column, &expr.eval(row, eval)?);
        if !table.columns()[column].is_hidden() {
            return work(self.eval);
        }
        let told = self.eval.warnings.count();
        let strictly =
            |strict_change: bool| self.eval.under(EvalSettings { strict_change, ..self.eval.settings });
        let value = match work(&strictly(self.strict)) {
            // A document may hold anything; that it is cast in vain is no fault of the row's.
            Err(error) if error.kind() == ErrorKind::JsonValue => work(&strictly(false)),
            value => value,
        };
        let key = functional::key_of(&table.definition, column);
        let words = |error: &SqlError| match error.kind() {
            ErrorKind::Truncated => Some(SqlError::functional_value_truncated(key, self.row)),
            ErrorKind::TooLong => Some(SqlError::functional_value_too_long(key)),
            ErrorKind::OutOfColumn => Some(SqlError::functional_value_out_of_range(key, self.row)),
            ErrorKind::JsonValue => Some(SqlError::functional_json_is_no_number(key)),
            _ => None,
        };
        if self.eval.warnings.count() > told {
            self.eval.warnings.restate(told, &words);
        }
        value.map_err(|error| words(&error).unwrap_or(error))
    }

    /// Adds to the changes of a row what they make of its generated columns.
    pub fn regenerate(&self, table: &Table, view: &RowView<'_>, changes: &mut Changes) -> SqlResult<()> {
        for (column, expr) in &table.generated {
            let expr = expr.as_ref().map_err(Clone::clone)?;
            let value =
                self.generated(table, *column, expr, &Assigning { view, base: 0, rest: &[], changes })?;
            if view.get(*column) != value {
                changes.push((*column, value));
            }
        }
        Ok(())
    }

    /// CURRENT_TIMESTAMP for a column.
    pub fn now(&self, table: &Table, column: usize, digits: u8) -> SqlResult<Value> {
        if let ColumnType::Timestamp { fsp } = table.columns()[column].kind {
            // Not by way of the session's clock, which shows an hour of the year twice.
            let mut utc = self.eval.settings.statement_start_utc().truncate_to(digits);
            utc.fsp = fsp;
            return Ok(Value::DateTime(utc));
        }
        let now = self.eval.now().truncate_to(digits);
        self.store(table, column, &Value::DateTime(now))
    }
}

/// Which NO_ZERO_DATE refuses even as a default.
fn is_zero_date(value: &Value) -> bool {
    match value {
        Value::Date(date) => date.at_midnight() == DateTime::ZERO,
        Value::DateTime(moment) => *moment == DateTime::ZERO,
        _ => false,
    }
}

fn zero_moment(kind: &ColumnType) -> Value {
    match (zero_of(kind), kind) {
        (Value::DateTime(zero), ColumnType::Date) => Value::Date(zero.date()),
        (Value::DateTime(mut zero), ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp }) => {
            zero.fsp = *fsp;
            Value::DateTime(zero)
        }
        (Value::Time(zero), ColumnType::Time { fsp }) => Value::Time(Time { fsp: *fsp, ..zero }),
        (zero, _) => zero,
    }
}

fn implicit_zero(kind: &ColumnType, context: &StoreContext<'_>) -> SqlResult<Value> {
    let zero = match kind {
        ColumnType::Json => Value::text("null"),
        _ if kind.is_string() => Value::text(""),
        _ => Value::Int(0),
    };
    store(&zero, kind, context)
}

/// How a row is read that is about to be changed.
const OWN: Read = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };

/// Columns with their new values; mostly one or two.
pub type Changes = SmallVec<[(usize, Value); 2]>;

/// The columns an UPDATE changes in a row, in the order assigned; empty if all keep their values.
pub fn changed_columns(
    table: &Table,
    base: usize,
    assignments: &[(usize, Option<Expr>)],
    view: &RowView<'_>,
    rest: &[Value],
    storing: Storing<'_>,
) -> SqlResult<Changes> {
    let mut changes = Changes::new();
    for (column, expr) in assignments {
        let value = match expr {
            // Computed when all others have their values.
            None if table.columns()[*column].generation().is_some() => continue,
            // What a column holds is not stored anew: a zero date of another mode stays.
            Some(Expr::Column(at) | Expr::TimestampColumn(at)) if *at == base + column => continue,
            None => {
                let row = Assigning { view, base: 0, rest: &[], changes: &changes };
                storing.default_in(table, *column, &row)?
            }
            Some(expr) => {
                let row = Assigning { view, base, rest, changes: &changes };
                let value = expr.eval(&row, storing.eval)?;
                storing.store(table, *column, &value)?
            }
        };
        match changes.iter_mut().find(|(at, _)| at == column) {
            Some((_, slot)) => *slot = value,
            None => changes.push((*column, value)),
        }
    }
    changes.retain(|(column, value)| view.get(*column) != *value);
    if !changes.is_empty() {
        for (column, definition) in table.columns().iter().enumerate() {
            if let Some(digits) = definition.on_update
                && !assignments.iter().any(|(at, _)| *at == column)
            {
                changes.push((column, storing.now(table, column, digits)?));
            }
        }
        if !table.generated.is_empty() {
            storing.regenerate(table, view, &mut changes)?;
        }
        verify(&table.checks, &Assigning { view, base: 0, rest: &[], changes: &changes }, storing.eval)?;
    }
    Ok(changes)
}

/// How rows of one table are updated.
#[derive(Clone, Copy)]
pub struct Rewrite<'p> {
    /// The table.
    pub table: &'p Table,
    /// Tuple position of its first column.
    pub base: usize,
    /// SET
    pub assignments: &'p [(usize, Option<Expr>)],
    /// What that asks of parents and children.
    pub foreign: Option<&'p ForeignPlan>,
    /// IGNORE
    pub ignore: bool,
    /// The new row may be worked out while the old one's page is latched.
    pub light: bool,
}

/// Changes one row by its primary key.
pub(super) async fn update_row(
    exec: &mut Exec<'_>,
    rewrite: Rewrite<'_>,
    pk: &[u8],
    tuple: &[Value],
    done: &mut Changed,
) -> SqlResult<()> {
    let savepoint = exec.txn.savepoint();
    let (updated, refused) = try_update_row(exec, rewrite, pk, tuple, done).await?;
    if let Some(error) = refused {
        if !rewrite.ignore {
            return Err(error);
        }
        exec.txn.rollback_to(savepoint).await?;
        exec.eval.warnings.push(WarningLevel::Warning, error);
        done.matched += 1;
    } else if updated != Updated::Missing {
        done.matched += 1;
        done.changed += u64::from(!matches!(updated, Updated::Kept | Updated::Aborted));
    }
    Ok(())
}

/// Changes a row and gives the error that IGNORE forgives apart from all others.
async fn try_update_row(
    exec: &mut Exec<'_>,
    rewrite: Rewrite<'_>,
    pk: &[u8],
    tuple: &[Value],
    done: &mut Changed,
) -> SqlResult<(Updated, Option<SqlError>)> {
    let Rewrite { table, base, assignments, ignore, .. } = rewrite;
    let foreign = rewrite.foreign.filter(|_| foreign_key::checks_foreign_keys(exec));
    let storing = Storing { eval: exec.eval, strict: is_strict(exec) && !ignore, row: done.matched + 1 };
    let mut images = None;
    let mut numbered = None;
    let mut failed = None;
    let mut moved: Option<(Vec<u8>, Vec<u8>)> = None;
    let mut change = |old: &[u8], new: &mut Vec<u8>| {
        let outcome = (|| {
            let view = RowView::new(&table.layout, old).map_err(|_| SqlError::crashed_table(table.name()))?;
            let changes = changed_columns(table, base, assignments, &view, tuple, storing)?;
            if changes.is_empty() {
                return Ok(Change::Keep);
            }
            done.number = table.auto_column.map(|column| told(&view.get(column)));
            numbered = changes.iter().find(|(at, _)| Some(*at) == table.auto_column).cloned();
            let encoded = table.layout.encode_changed(old, &changes, new);
            encoded.map_err(|_| SqlError::crashed_table(table.name()))?;
            if foreign.is_some() {
                images = Some(Images::of(&view, &changes));
            }
            if let Some(key) = new_key(table, &changes, new)
                && key != pk
            {
                moved = Some((key, std::mem::take(new)));
                return Ok(Change::Delete);
            }
            Ok(Change::Replace)
        })();
        outcome.unwrap_or_else(|error| {
            failed = Some(error);
            Change::Abort
        })
    };
    let outcome = change_by(exec, &rewrite, pk, &mut change).await;
    if let Some(error) = failed {
        return if is_broken_check(&error) { Ok((Updated::Aborted, Some(error))) } else { Err(error) };
    }
    counters::raise_auto_increment(exec, table, numbered.as_ref().filter(|_| outcome.is_ok())).await?;
    let (outcome, new_row) = put_moved(exec, table, outcome, moved).await;
    if let Some((_, value)) = numbered.filter(|_| outcome.is_ok()) {
        counters::note_auto_increment(table, &value);
        done.number = Some(told(&value));
    }
    match (outcome, foreign, images) {
        (Ok(updated), Some(foreign), Some(images)) => {
            match Box::pin(foreign_key::row_updated(exec, foreign, images)).await {
                Err(error) if is_broken(&error) => Ok((updated, Some(error))),
                kept => kept.map(|()| (updated, None)),
            }
        }
        (Ok(updated), ..) => Ok((updated, None)),
        (Err(error @ EngineError::DuplicateKey { .. }), ..) => {
            let error = duplicate(exec, rewrite, &error, pk, tuple, new_row, storing).await?;
            Ok((Updated::Aborted, Some(error)))
        }
        (Err(error), ..) => Err(error.into()),
    }
}

/// A row with another primary key was deleted in its old place: inserts it in the new one. Gives back the
/// row for an error's text.
async fn put_moved(
    exec: &mut Exec<'_>,
    table: &Table,
    outcome: Result<Updated, EngineError>,
    moved: Option<(Vec<u8>, Vec<u8>)>,
) -> (Result<Updated, EngineError>, Option<Vec<u8>>) {
    match (outcome, moved) {
        (Ok(Updated::Deleted), Some((key, row))) => {
            let inserted = exec.txn.insert(&table.engine, &key, &row).await;
            (inserted.map(|()| Updated::Changed), Some(row))
        }
        (outcome, _) => (outcome, None),
    }
}

/// Has the engine change a row as `change` decides. What is heavy is decided outside the page's latch:
/// the row is locked, read and left.
async fn change_by(
    exec: &mut Exec<'_>,
    rewrite: &Rewrite<'_>,
    pk: &[u8],
    change: &mut (dyn FnMut(&[u8], &mut Vec<u8>) -> Change + Send),
) -> Result<Updated, EngineError> {
    let engine = &rewrite.table.engine;
    if rewrite.light {
        return exec.txn.update(engine, pk, change).await;
    }
    let mut ahead = None;
    if let Some(old) = exec.txn.get(engine, pk, OWN).await? {
        let mut new = Vec::new();
        ahead = Some((change(&old, &mut new), new));
    }
    // The row's lock keeps it as it was when that was decided.
    let mut decide = |old: &[u8], new: &mut Vec<u8>| match ahead.take() {
        Some((decision, row)) => {
            *new = row;
            decision
        }
        None => change(old, new),
    };
    exec.txn.update(engine, pk, &mut decide).await
}

/// The error for a duplicate key of an UPDATE; the new row is computed again for its text.
async fn duplicate(
    exec: &mut Exec<'_>,
    Rewrite { table, base, assignments, .. }: Rewrite<'_>,
    error: &EngineError,
    pk: &[u8],
    tuple: &[Value],
    moved: Option<Vec<u8>>,
    storing: Storing<'_>,
) -> SqlResult<SqlError> {
    let damaged = || SqlError::crashed_table(table.name());
    if let Some(row) = moved {
        let view = RowView::new(&table.layout, &row).map_err(|_| damaged())?;
        return Ok(duplicate_entry(table, error, &view.values()));
    }
    let Some(old) = exec.txn.get(&table.engine, pk, OWN).await? else {
        return Ok(SqlError::duplicate_key_write(table.name()));
    };
    let view = RowView::new(&table.layout, &old).map_err(|_| damaged())?;
    let mut values = view.values();
    for (column, value) in changed_columns(table, base, assignments, &view, tuple, storing)? {
        values[column] = value;
    }
    Ok(duplicate_entry(table, error, &values))
}

/// Values that do not fit are errors.
pub(super) fn is_strict(exec: &Exec<'_>) -> bool {
    exec.eval.settings.sql_mode.is_strict()
}

/// The primary key of a changed row, if the change touches it.
pub(super) fn new_key(table: &Table, changes: &[(usize, Value)], row: &[u8]) -> Option<Vec<u8>> {
    let primary = &table.keys()[table.primary()?];
    let touched = primary.parts.iter().any(|part| changes.iter().any(|(column, _)| *column == part.column));
    if !touched {
        return None;
    }
    let view = RowView::new(&table.layout, row).ok()?;
    let mut key = Vec::new();
    table.primary_key(&view.values(), &mut key);
    Some(key)
}

/// Error 1062 with the values of the key.
pub fn duplicate_entry(table: &Table, error: &EngineError, values: &[Value]) -> SqlError {
    let EngineError::DuplicateKey { nth, .. } = error else { return error.clone().into() };
    match duplicated(table, *nth, values) {
        Some((shown, key)) => SqlError::duplicate_entry(shown, format!("{}.{}", table.name(), key.name)),
        None => SqlError::duplicate_key_write(table.name()),
    }
}

/// The values of the secondary tree's key (of the primary key for None) as they are shown, and the key.
pub(super) fn duplicated<'t>(
    table: &'t Table,
    nth: Option<usize>,
    values: &[Value],
) -> Option<(String, &'t Key)> {
    let key = match nth {
        None => table.primary().unwrap_or(0),
        Some(nth) => table.key_of_secondary(nth),
    };
    let key = table.keys().get(key)?;
    let text = |part: &turnstile_catalog::dictionary::table::Part| match &values[part.column] {
        Value::Null => "NULL".to_string(),
        value => {
            let text = column_text(value, &table.columns()[part.column].kind);
            match part.prefix {
                Some(count) => text.chars().take(count as usize).collect(),
                None => text,
            }
        }
    };
    let values = key.parts.iter().map(text).collect::<Vec<_>>().join("-");
    Some((values.chars().take(64 * 3).collect(), key))
}
