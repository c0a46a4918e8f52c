//! The rows that INSERT and REPLACE are about to insert: their values, converted, with the defaults of
//! columns that are left out.

use super::apply::Storing;
use crate::exec::change::apply;
use crate::exec::tail::TupleRow;
use crate::exec::{Exec, subquery};
use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::{Expr, literal_value};
use turnstile_plan::plan::change::{InsertPlan, InsertSource};
use turnstile_syntax::ast::LiteralRows;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, in_own_bytes, into_column};

pub(super) fn storing<'e>(exec: &Exec<'e>, plan: &InsertPlan, row: u64) -> Storing<'e> {
    Storing { eval: exec.eval, strict: apply::is_strict(exec) && !plan.ignore, row }
}

/// Computes a row of VALUES into the tuple.
pub(super) fn fill(
    exec: &Exec<'_>,
    plan: &InsertPlan,
    row: &[Option<Expr>],
    tuple: &mut [Value],
    number: u64,
) -> SqlResult<()> {
    let storing = storing(exec, plan, number);
    fill_defaults(plan, tuple, storing)?;
    for (column, expr) in plan.targets.iter().zip(row) {
        fill_column(exec, plan, *column, expr.as_ref(), tuple, storing)?;
    }
    fill_computed(plan, tuple, storing)
}

/// The same for a row, the statement's `nth`, with values that refer to its columns. The row begins with
/// what columns hold that nothing was assigned to, and is assigned from left to right.
pub(super) async fn fill_reading(
    exec: &mut Exec<'_>,
    plan: &InsertPlan,
    nth: usize,
    row: &[Option<Expr>],
    tuple: &mut [Value],
    number: u64,
) -> SqlResult<()> {
    let table = &plan.table;
    for column in &plan.references {
        tuple[*column] = storing(exec, plan, number).unassigned(table, *column)?;
    }
    let mut asks_for_number = false;
    for (at, (column, expr)) in plan.targets.iter().zip(row).enumerate() {
        // They are in the order of rows and places.
        let read = plan.row_subqueries.binary_search_by_key(&(nth, at), |(row, place, _)| (*row, *place));
        for subquery in read.ok().map(|found| &plan.row_subqueries[found].2).into_iter().flatten() {
            subquery::run_subquery(exec, &plan.subqueries[*subquery], tuple).await?;
        }
        fill_column(exec, plan, *column, expr.as_ref(), tuple, storing(exec, plan, number))?;
        // A number that is asked for reads as 0.
        if Some(*column) == table.auto_column && tuple[*column].is_null() {
            asks_for_number = true;
            tuple[*column] = storing(exec, plan, number).unassigned(table, *column)?;
        }
    }
    if let Some(column) = table.auto_column.filter(|_| asks_for_number) {
        tuple[column] = Value::Null;
    }
    fill_defaults(plan, tuple, storing(exec, plan, number))?;
    fill_computed(plan, tuple, storing(exec, plan, number))
}

fn fill_column(
    exec: &Exec<'_>,
    plan: &InsertPlan,
    column: usize,
    expr: Option<&Expr>,
    tuple: &mut [Value],
    storing: Storing<'_>,
) -> SqlResult<()> {
    tuple[column] = match expr {
        None if Some(column) == plan.table.auto_column => Value::Null,
        // Written out, a computed default is computed in its turn.
        None => storing.default_in(&plan.table, column, &TupleRow(tuple))?,
        Some(expr) => {
            let value = expr.eval(&TupleRow(tuple), exec.eval)?;
            converted(plan, column, &value, storing)?
        }
    };
    Ok(())
}

pub(super) fn fill_from_literals(
    exec: &Exec<'_>,
    plan: &InsertPlan,
    rows: &LiteralRows,
    nth: usize,
    tuple: &mut [Value],
    number: u64,
) -> SqlResult<()> {
    let storing = storing(exec, plan, number);
    fill_defaults(plan, tuple, storing)?;
    let written = ColumnType::Varchar { length: 0, collation: exec.eval.settings.connection_collation };
    for (column, literal) in plan.targets.iter().zip(rows.row(nth)) {
        let value = literal_value(literal, rows.escapes(), &exec.eval.settings);
        let value = in_own_bytes(value, &written, &plan.table.columns()[*column].kind);
        tuple[*column] = converted(plan, *column, &value, storing)?;
    }
    fill_computed(plan, tuple, storing)
}

pub(super) fn fill_from_query(
    exec: &Exec<'_>,
    plan: &InsertPlan,
    mut row: Vec<Value>,
    tuple: &mut [Value],
    number: u64,
) -> SqlResult<()> {
    let storing = storing(exec, plan, number);
    fill_defaults(plan, tuple, storing)?;
    let InsertSource::Query(query) = &plan.source else { return Ok(()) };
    let given = &row[plan.targets.len().min(row.len())..];
    tuple[plan.source_base..plan.source_base + given.len()].clone_from_slice(given);
    for (nth, (column, from)) in plan.targets.iter().zip(query.columns().iter()).enumerate() {
        let value = match plan.conversions.get(nth) {
            Some(Some(conversion)) => conversion.eval(&TupleRow(&row), exec.eval)?,
            _ => row.get_mut(nth).map(std::mem::take).unwrap_or_default(),
        };
        let value = into_column(value, &from.column_type, &plan.table.columns()[*column].kind);
        tuple[*column] = converted(plan, *column, &value, storing)?;
    }
    fill_computed(plan, tuple, storing)
}

fn fill_defaults(plan: &InsertPlan, tuple: &mut [Value], storing: Storing<'_>) -> SqlResult<()> {
    for (column, slot) in tuple.iter_mut().enumerate().take(plan.table.columns().len()) {
        if !plan.targets.contains(&column) {
            let generated = Some(column) == plan.table.auto_column;
            *slot = if generated { Value::Null } else { storing.left_out(&plan.table, column)? };
        }
    }
    Ok(())
}

/// Computes the defaults that are expressions, of columns that are left out.
fn fill_computed(plan: &InsertPlan, tuple: &mut [Value], storing: Storing<'_>) -> SqlResult<()> {
    for (column, _) in &plan.table.computed_defaults {
        if !plan.targets.contains(column) {
            // A default may read what is generated before it; what is generated may read this default.
            if reads_generated(&plan.table, *column) {
                storing.generate(&plan.table, tuple)?;
            }
            tuple[*column] = storing.default_in(&plan.table, *column, &TupleRow(tuple))?;
        }
    }
    storing.generate(&plan.table, tuple)
}

/// A given value in the column's type; NULL for an AUTO_INCREMENT column stays, it asks for a new value.
fn converted(plan: &InsertPlan, column: usize, value: &Value, storing: Storing<'_>) -> SqlResult<Value> {
    if value.is_null() && Some(column) == plan.table.auto_column {
        return Ok(Value::Null);
    }
    // Only a single row's NULL is an error outside strict mode.
    if value.is_null() && !storing.strict && !plan.table.columns()[column].nullable && !plan.ignore {
        let single = matches!(&plan.source, InsertSource::Rows(rows) if rows.len() == 1);
        if single {
            return Err(SqlError::column_cannot_be_null(&plan.table.columns()[column].name));
        }
    }
    let stored = storing.store(&plan.table, column, value);
    stored.map_err(|error| {
        if error.kind() == ErrorKind::TooLong { cut_as_copied(plan, column, storing, error) } else { error }
    })
}

/// What is too long because a column of the source is copied into a shorter one is called truncated.
fn cut_as_copied(plan: &InsertPlan, column: usize, storing: Storing<'_>, error: SqlError) -> SqlError {
    let InsertSource::Query(source) = &plan.source else { return error };
    let nth = plan.targets.iter().position(|target| *target == column);
    let from = nth.and_then(|nth| source.columns().get(nth));
    let target = &plan.table.columns()[column];
    match from {
        Some(from) if !from.org_name.is_empty() && from.column_type.is_copied_into(&target.kind) => {
            SqlError::data_truncated(&target.name, storing.row)
        }
        _ => error,
    }
}

/// Whether the computed default of a column reads generated columns.
fn reads_generated(table: &Table, column: usize) -> bool {
    let is_generated = |at: &usize| table.generated.iter().any(|(generated, _)| generated == at);
    !table.generated.is_empty()
        && table
            .computed_defaults
            .iter()
            .filter(|(at, _)| *at == column)
            .filter_map(|(_, expr)| expr.as_ref().ok())
            .any(|expr| expr.columns().iter().any(is_generated))
}
