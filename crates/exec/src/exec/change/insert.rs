//! INSERT, INSERT ... SELECT, REPLACE, ON DUPLICATE KEY UPDATE.

use turnstile_engine::{Error as EngineError, LockWait, Read, RowLock, RowRun, Savepoint};

use super::Changed;
use super::apply::{Rewrite, duplicate_entry};
use super::counters::Numbers;
use super::foreign_key::is_broken;
use crate::exec::change::{apply, counters, fill, foreign_key};
use crate::exec::tail::TupleRow;
use crate::exec::{Exec, Kept};
use crate::exec::{access, subquery};
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::dictionary::check::{is_broken_check, verify};
use turnstile_catalog::row_codec::RowView;
use turnstile_expr::expr::EvalContext;
use turnstile_expr::expr::WarningLevel;
use turnstile_plan::plan::change::{InsertPlan, InsertSource};
use turnstile_plan::plan::foreign_key::ForeignPlan;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::Value;

/// Bytes of rows that are gathered before they go to the engine together: some leaves full.
const RUN_BYTES: usize = 64 * 1024;

/// Buffers that all rows of one INSERT share.
#[derive(Default)]
struct Buffers {
    key: Vec<u8>,
    row: Vec<u8>,
    /// The rows go to the engine in runs; these have not gone yet.
    run: Option<RowRun>,
    /// The first generated number whose row was inserted.
    first_generated: Option<u64>,
    /// The first one among the rows of `run`.
    first_gathered: Option<u64>,
    numbers: Numbers,
}

/// Whether the rows of an INSERT are gathered: they are many, and the first duplicate ends it.
fn gathers(plan: &InsertPlan) -> bool {
    let single = matches!(&plan.source, InsertSource::Rows(rows) if rows.len() == 1);
    !single
        && !plan.replace
        && !plan.ignore
        && plan.on_duplicate.is_empty()
        && plan.foreign.is_none()
        && plan.table.engine.secondaries.is_empty()
        && plan.row_subqueries.is_empty()
}

/// Whether a generated number is there already: the column is full, and REPLACE must not take its last row
/// for that.
fn is_spent(table: &Table, nth: Option<usize>, generated: Option<u64>) -> bool {
    let key = nth.map_or(table.primary(), |nth| Some(table.key_of_secondary(nth)));
    let first = key.and_then(|key| table.keys()[key].parts.first());
    generated.is_some() && first.map(|part| part.column) == table.auto_column
}

impl Exec<'_> {
    /// Runs INSERT and REPLACE.
    pub async fn insert(&mut self, plan: &InsertPlan) -> SqlResult<Changed> {
        self.txn.wait_for_purge().await?;
        let mut done = Changed::default();
        let mut tuple = vec![Value::Null; plan.width];
        for subquery in plan.subqueries.iter().filter(|one| !one.correlated) {
            subquery::run_subquery(self, subquery, &mut tuple).await?;
        }
        counters::prepare_counters(self, &plan.table).await?;
        let mut buffers = Buffers {
            run: gathers(plan).then(RowRun::default),
            numbers: Numbers::of(plan),
            ..Buffers::default()
        };
        let filled = insert_rows(self, plan, &mut tuple, &mut buffers, &mut done).await;
        // A row that could not be computed comes after those before it, which may fail too.
        let inserted = insert_run(self, plan, &mut buffers, &mut done).await;
        // A number that a row had counts, even if the statement fails behind it.
        if let Some(first) = buffers.first_generated {
            self.session.set_generated_id(first);
        }
        inserted?;
        filled?;
        done.insert_id = match (buffers.first_generated, self.session.told_id()) {
            (Some(first), _) => first,
            (None, Some(told)) => told,
            (None, None) if done.changed > 0 => buffers.numbers.last,
            (None, None) => 0,
        };
        Ok(done)
    }
}

async fn insert_rows(
    exec: &mut Exec<'_>,
    plan: &InsertPlan,
    tuple: &mut [Value],
    buffers: &mut Buffers,
    done: &mut Changed,
) -> SqlResult<()> {
    match &plan.source {
        InsertSource::Rows(rows) => {
            for (nth, row) in rows.iter().enumerate() {
                exec.pace().await?;
                if plan.references.is_empty() && plan.row_subqueries.is_empty() {
                    fill::fill(exec, plan, row, tuple, done.records + 1)?;
                } else {
                    fill::fill_reading(exec, plan, nth, row, tuple, done.records + 1).await?;
                }
                insert_row(exec, plan, tuple, buffers, done).await?;
            }
        }
        InsertSource::Literals(rows) => {
            for nth in 0..rows.len() {
                exec.pace().await?;
                fill::fill_from_literals(exec, plan, rows, nth, tuple, done.records + 1)?;
                insert_row(exec, plan, tuple, buffers, done).await?;
            }
        }
        InsertSource::Query(query) => {
            let mut kept = Kept::growing(exec);
            access::count(&exec.session.entry.counts, query);
            exec.query(query, &[], &mut kept).await?;
            let (list, _charge) = kept.into_list(exec)?;
            let mut rows = list.read();
            while let Some(row) = rows.next()? {
                exec.pace().await?;
                fill::fill_from_query(exec, plan, row, tuple, done.records + 1)?;
                insert_row(exec, plan, tuple, buffers, done).await?;
            }
        }
    }
    Ok(())
}

/// Inserts the rows that were gathered. A plain INSERT fails at its first duplicate.
async fn insert_run(
    exec: &mut Exec<'_>,
    plan: &InsertPlan,
    buffers: &mut Buffers,
    done: &mut Changed,
) -> SqlResult<()> {
    // After a failure there is none any more: nothing goes to the engine twice.
    let Some(mut run) = buffers.run.take() else { return Ok(()) };
    let table = &plan.table;
    let mut at = 0;
    while at < run.len() {
        // A leaf full of rows is some hundred: a run of short rows has thousands.
        exec.interrupt.check()?;
        exec.breathe().await;
        let mut inserted = exec.txn.try_insert_run(&table.engine, &run, at)?;
        if inserted == 0 {
            let (key, row) = run.get(at);
            if let Err(error) = exec.txn.insert(&table.engine, key, row).await {
                note_inserted(table, &run, at, buffers);
                let Ok(view) = RowView::new(&table.layout, row) else { return Err(error.into()) };
                return Err(duplicate_entry(table, &error, &view.values()));
            }
            inserted = 1;
        }
        at += inserted;
        done.changed += inserted as u64;
    }
    run.clear();
    buffers.run = Some(run);
    buffers.first_generated = buffers.first_generated.or(buffers.first_gathered);
    counters::note_numbers(table, &mut buffers.numbers);
    Ok(())
}

/// The first rows of a run were inserted, and the next one was not: later numbers are above theirs.
fn note_inserted(table: &Table, run: &RowRun, inserted: usize, buffers: &mut Buffers) {
    let Some(column) = table.auto_column else { return };
    for nth in 0..inserted {
        if let Ok(view) = RowView::new(&table.layout, run.get(nth).1) {
            let value = view.get(column);
            counters::note_auto_increment(table, &value);
            let number = super::counters::as_number(&value);
            let first = buffers.first_gathered.filter(|first| number == Some(*first));
            buffers.first_generated = buffers.first_generated.or(first);
        }
    }
}

async fn insert_row(
    exec: &mut Exec<'_>,
    plan: &InsertPlan,
    tuple: &mut [Value],
    buffers: &mut Buffers,
    done: &mut Changed,
) -> SqlResult<()> {
    done.records += 1;
    let table = &plan.table;
    let count = table.columns().len();
    if !table.checks.is_empty()
        && let Err(error) = verify_new(table, &tuple[..count], exec.eval)
    {
        return refuse_row(exec, plan, error, done);
    }
    let (mut generated, mut number) = (None, None);
    if let Some(column) = table.auto_column {
        generated = counters::number_row(exec, table, column, &mut tuple[..count], &mut buffers.numbers)?;
        number = super::counters::as_number(&tuple[column]);
        if plan.replace || (buffers.run.is_none() && matches!(plan.source, InsertSource::Query(_))) {
            counters::note_numbers(table, &mut buffers.numbers);
        }
    }
    if let Some(number) = number {
        counters::carry_auto_increment(exec, table, number);
    }
    encode_row(table, &tuple[..count], buffers);
    if let Some(run) = &mut buffers.run {
        run.push(&buffers.key, &buffers.row);
        if let Some(id) = generated {
            buffers.first_gathered.get_or_insert(id);
        }
        return if run.bytes() < RUN_BYTES { Ok(()) } else { insert_run(exec, plan, buffers, done).await };
    }
    insert_encoded(exec, plan, tuple, generated, buffers, done).await?;
    if let Some(number) = number {
        counters::auto_increment_is_logged(exec, table, number);
    }
    Ok(())
}

/// Inserts the row in the buffers, or does what is to be done if it is there already or has no parent. A
/// duplicate comes first: what ON DUPLICATE KEY UPDATE and IGNORE put in the place of the row needs no
/// parent for it.
async fn insert_encoded(
    exec: &mut Exec<'_>,
    plan: &InsertPlan,
    tuple: &mut [Value],
    generated: Option<u64>,
    buffers: &mut Buffers,
    done: &mut Changed,
) -> SqlResult<()> {
    let table = &plan.table;
    let count = table.columns().len();
    let mut savepoint = exec.txn.savepoint();
    loop {
        let orphan = match plan.foreign.as_deref() {
            None => None,
            Some(foreign) => Box::pin(orphan(exec, foreign, &tuple[..count])).await?,
        };
        let error = match exec.txn.insert(&table.engine, &buffers.key, &buffers.row).await {
            Ok(()) => match orphan {
                Some(error) => {
                    buffers.numbers.give_back(generated);
                    return take_orphan_back(exec, plan, savepoint, error, done).await;
                }
                None => {
                    done.changed += 1;
                    if let Some(id) = generated {
                        buffers.first_generated.get_or_insert(id);
                    }
                    counters::note_numbers(table, &mut buffers.numbers);
                    return Ok(());
                }
            },
            Err(error @ EngineError::DuplicateKey { .. }) => error,
            Err(error) => return Err(error.into()),
        };
        let EngineError::DuplicateKey { nth, pk, .. } = &error else { continue };
        let nth = *nth;
        let pk = if nth.is_none() { buffers.key.clone() } else { pk.clone() };
        done.duplicates += 1;
        if plan.replace && !is_spent(table, nth, generated) {
            exec.txn.rollback_to(savepoint).await?;
            if !has_children_checked(exec, plan)
                && is_there_already(exec, table, nth, &pk, &buffers.row).await?
            {
                done.duplicates -= 1;
                done.changed += 1;
                return Ok(());
            }
            delete_replaced(exec, plan, &pk).await?;
            savepoint = exec.txn.savepoint();
            done.changed += 1;
            continue;
        }
        let error = duplicate_entry(table, &error, &tuple[..count]);
        if plan.on_duplicate.is_empty() && !plan.ignore {
            return Err(error);
        }
        buffers.numbers.give_back(generated);
        exec.txn.rollback_to(savepoint).await?;
        if !plan.on_duplicate.is_empty() {
            return update_duplicate(exec, plan, &pk, tuple, &mut buffers.numbers, done).await;
        }
        exec.eval.warnings.push(WarningLevel::Warning, error);
        return Ok(());
    }
}

fn encode_row(table: &Table, row: &[Value], buffers: &mut Buffers) {
    buffers.key.clear();
    if table.primary().is_some() {
        table.primary_key(row, &mut buffers.key);
    } else {
        buffers.key.extend_from_slice(&counters::next_row_id(table));
    }
    buffers.row.clear();
    table.layout.encode(row, &mut buffers.row);
}

/// What the table asks of a new row. Its automatic number is not known yet: as in MySQL it is 0 for the
/// conditions of views; others do not ask for it.
fn verify_new(table: &Table, row: &[Value], eval: &EvalContext<'_>) -> SqlResult<()> {
    match table.auto_column.filter(|column| row[*column].is_null()) {
        None => verify(&table.checks, &TupleRow(row), eval),
        Some(column) => {
            let mut numbered = row.to_vec();
            numbered[column] = Value::Int(0);
            verify(&table.checks, &TupleRow(&numbered), eval)
        }
    }
}

/// Deletes the row that REPLACE puts another in the place of.
async fn delete_replaced(exec: &mut Exec<'_>, plan: &InsertPlan, pk: &[u8]) -> SqlResult<()> {
    if !plan.visible.is_empty() {
        refuse_invisible(exec, plan, pk).await?;
    }
    match plan.foreign.as_deref() {
        None => exec.txn.delete(&plan.table.engine, pk).await?,
        Some(foreign) => Box::pin(foreign_key::delete_parent(exec, &plan.table, foreign, pk, false)).await?,
    };
    Ok(())
}

/// Error 3059 if the row that REPLACE would delete is none of the view's.
async fn refuse_invisible(exec: &mut Exec<'_>, plan: &InsertPlan, pk: &[u8]) -> SqlResult<()> {
    let mode = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };
    let Some(row) = exec.txn.get(&plan.table.engine, pk, mode).await? else { return Ok(()) };
    let Ok(view) = RowView::new(&plan.table.layout, &row) else { return Ok(()) };
    match verify(&plan.visible, &view, exec.eval) {
        Err(error) if is_broken_check(&error) => Err(SqlError::replaced_row_not_in_view()),
        other => other,
    }
}

/// Leaves a row out that breaks a constraint, if IGNORE says so.
fn refuse_row(exec: &Exec<'_>, plan: &InsertPlan, error: SqlError, done: &mut Changed) -> SqlResult<()> {
    if !plan.ignore || !is_broken_check(&error) {
        return Err(error);
    }
    done.left_out += 1;
    exec.eval.warnings.push(WarningLevel::Warning, error);
    Ok(())
}

/// Whether what REPLACE deletes may have children, which a row that is left alone would keep.
fn has_children_checked(exec: &Exec<'_>, plan: &InsertPlan) -> bool {
    let foreign = plan.foreign.as_deref();
    foreign.is_some_and(|foreign| !foreign.nodes[0].children.is_empty())
        && foreign_key::checks_foreign_keys(exec)
}

/// Error 1452, if the row that is about to be inserted lacks a parent. A parent that is there is locked,
/// and stays.
async fn orphan(exec: &mut Exec<'_>, foreign: &ForeignPlan, row: &[Value]) -> SqlResult<Option<SqlError>> {
    if !foreign_key::checks_foreign_keys(exec) {
        return Ok(None);
    }
    match foreign_key::check_parents(exec, &foreign.nodes[0], row, None, None).await {
        Ok(()) => Ok(None),
        Err(error) if is_broken(&error) => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

/// Takes a row back that was inserted without a parent.
async fn take_orphan_back(
    exec: &mut Exec<'_>,
    plan: &InsertPlan,
    before: Savepoint,
    error: SqlError,
    done: &mut Changed,
) -> SqlResult<()> {
    if !plan.ignore {
        return Err(error);
    }
    exec.txn.rollback_to(before).await?;
    done.left_out += 1;
    exec.eval.warnings.push(WarningLevel::Warning, error);
    Ok(())
}

/// True if the row that REPLACE would put in the place of `pk` is that very row. It is then left alone
/// and counts once; as in MySQL only where no other unique key comes after the one that was found.
async fn is_there_already(
    exec: &mut Exec<'_>,
    table: &Table,
    nth: Option<usize>,
    pk: &[u8],
    row: &[u8],
) -> SqlResult<bool> {
    let found = nth.map_or(table.primary(), |nth| Some(table.key_of_secondary(nth)));
    let last = table.keys().iter().rposition(|key| key.unique);
    if found.is_none() || found != last {
        return Ok(false);
    }
    let mode = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };
    Ok(exec.txn.get(&table.engine, pk, mode).await?.is_some_and(|there| *there == *row))
}

/// Runs the sub-queries of ON DUPLICATE KEY UPDATE for the row that is there already.
async fn read_for_subqueries(
    exec: &mut Exec<'_>,
    plan: &InsertPlan,
    pk: &[u8],
    tuple: &mut [Value],
) -> SqlResult<()> {
    let mode = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };
    let Some(row) = exec.txn.get(&plan.table.engine, pk, mode).await? else { return Ok(()) };
    if let Ok(view) = RowView::new(&plan.table.layout, &row) {
        let values = view.values();
        tuple[..values.len()].clone_from_slice(&values);
    }
    for nth in &plan.duplicate_subqueries {
        subquery::run_subquery(exec, &plan.subqueries[*nth], tuple).await?;
    }
    Ok(())
}

/// ON DUPLICATE KEY UPDATE for the row that is there already.
async fn update_duplicate(
    exec: &mut Exec<'_>,
    plan: &InsertPlan,
    pk: &[u8],
    tuple: &mut [Value],
    numbers: &mut Numbers,
    done: &mut Changed,
) -> SqlResult<()> {
    exec.session.entry.status.rows().read.add(1);
    let table = &plan.table;
    let count = table.columns().len();
    let (old, new) = tuple.split_at_mut(count);
    new[..count].clone_from_slice(old);
    if !plan.duplicate_subqueries.is_empty() {
        read_for_subqueries(exec, plan, pk, tuple).await?;
    }
    let mut changed = Changed::default();
    let before = changed;
    let (assignments, foreign) = (plan.on_duplicate.as_slice(), plan.foreign.as_deref());
    let rewrite = Rewrite { table, base: 0, assignments, foreign, ignore: plan.ignore, light: plan.light };
    apply::update_row(exec, rewrite, pk, tuple, &mut changed).await?;
    if changed.changed > before.changed {
        done.changed += 2;
    } else {
        // A row that is left as it was is no duplicate, and its number is not told.
        done.duplicates -= 1;
        done.kept += 1;
        return Ok(());
    }
    if let Some(number) = changed.number {
        numbers.last = number;
    }
    Ok(())
}
