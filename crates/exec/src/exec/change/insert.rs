//! INSERT, INSERT ... SELECT, REPLACE, ON DUPLICATE KEY UPDATE.

use turnstile_engine::{Error as EngineError, LockWait, Read, RowLock, RowRun, Savepoint};

use super::Changed;
use super::apply::{Rewrite, duplicate_entry};
use super::counters::Numbers;
use super::foreign_key::is_broken;
use crate::exec::access;
use crate::exec::tail::FrameRow;
use crate::exec::{Exec, Kept};
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::dictionary::check::{is_broken_check, verify};
use turnstile_catalog::row_codec::RowView;
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
        let mut frame = vec![Value::Null; plan.width];
        for subquery in plan.subqueries.iter().filter(|one| !one.correlated) {
            self.subquery(subquery, &mut frame).await?;
        }
        self.prepare_counters(&plan.table).await?;
        let mut buffers = Buffers {
            run: gathers(plan).then(RowRun::default),
            numbers: Numbers::of(plan),
            ..Buffers::default()
        };
        let filled = self.insert_rows(plan, &mut frame, &mut buffers, &mut done).await;
        // A row that could not be computed comes after those before it, which may fail too.
        let inserted = self.insert_run(plan, &mut buffers, &mut done).await;
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

    async fn insert_rows(
        &mut self,
        plan: &InsertPlan,
        frame: &mut [Value],
        buffers: &mut Buffers,
        done: &mut Changed,
    ) -> SqlResult<()> {
        match &plan.source {
            InsertSource::Rows(rows) => {
                for (nth, row) in rows.iter().enumerate() {
                    self.pace().await?;
                    if plan.references.is_empty() && plan.row_subqueries.is_empty() {
                        self.fill(plan, row, frame, done.records + 1)?;
                    } else {
                        self.fill_reading(plan, nth, row, frame, done.records + 1).await?;
                    }
                    self.insert_row(plan, frame, buffers, done).await?;
                }
            }
            InsertSource::Literals(rows) => {
                for nth in 0..rows.len() {
                    self.pace().await?;
                    self.fill_from_literals(plan, rows, nth, frame, done.records + 1)?;
                    self.insert_row(plan, frame, buffers, done).await?;
                }
            }
            InsertSource::Query(query) => {
                let mut kept = Kept::new(self.eval, None);
                access::count(&self.session.entry.counts, query);
                self.query(query, &[], &mut kept).await?;
                for row in std::mem::take(&mut kept.rows) {
                    self.pace().await?;
                    self.fill_from_query(plan, row, frame, done.records + 1)?;
                    self.insert_row(plan, frame, buffers, done).await?;
                }
            }
        }
        Ok(())
    }

    /// Inserts the rows that were gathered. A plain INSERT fails at its first duplicate.
    async fn insert_run(
        &mut self,
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
            self.interrupt.check()?;
            self.breathe().await;
            let mut inserted = self.txn.try_insert_run(&table.engine, &run, at)?;
            if inserted == 0 {
                let (key, row) = run.get(at);
                if let Err(error) = self.txn.insert(&table.engine, key, row).await {
                    self.note_inserted(table, &run, at, buffers);
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
        self.note_numbers(table, &mut buffers.numbers);
        Ok(())
    }

    /// The first rows of a run were inserted, and the next one was not: later numbers are above theirs.
    fn note_inserted(&self, table: &Table, run: &RowRun, inserted: usize, buffers: &mut Buffers) {
        let Some(column) = table.auto_column else { return };
        for nth in 0..inserted {
            if let Ok(view) = RowView::new(&table.layout, run.get(nth).1) {
                let value = view.get(column);
                self.note_auto_increment(table, &value);
                let number = super::counters::as_number(&value);
                let first = buffers.first_gathered.filter(|first| number == Some(*first));
                buffers.first_generated = buffers.first_generated.or(first);
            }
        }
    }

    async fn insert_row(
        &mut self,
        plan: &InsertPlan,
        frame: &mut [Value],
        buffers: &mut Buffers,
        done: &mut Changed,
    ) -> SqlResult<()> {
        done.records += 1;
        let table = &plan.table;
        let count = table.columns().len();
        if let Err(error) = verify(&table.checks, &FrameRow(&frame[..count]), self.eval) {
            return self.refuse_row(plan, error, done);
        }
        let (mut generated, mut number) = (None, None);
        if let Some(column) = table.auto_column {
            generated = self.number_row(table, column, &mut frame[..count], &mut buffers.numbers)?;
            number = super::counters::as_number(&frame[column]);
            if plan.replace || (buffers.run.is_none() && matches!(plan.source, InsertSource::Query(_))) {
                self.note_numbers(table, &mut buffers.numbers);
            }
        }
        if let Some(number) = number {
            self.carry_auto_increment(table, number);
        }
        self.encode_row(table, &frame[..count], buffers);
        if let Some(run) = &mut buffers.run {
            run.push(&buffers.key, &buffers.row);
            if let Some(id) = generated {
                buffers.first_gathered.get_or_insert(id);
            }
            return if run.bytes() < RUN_BYTES { Ok(()) } else { self.insert_run(plan, buffers, done).await };
        }
        self.insert_encoded(plan, frame, generated, buffers, done).await?;
        if let Some(number) = number {
            self.auto_increment_is_logged(table, number);
        }
        Ok(())
    }

    /// Inserts the row in the buffers, or does what is to be done if it is there already or has no parent. A
    /// duplicate comes first: what ON DUPLICATE KEY UPDATE and IGNORE put in the place of the row needs no
    /// parent for it.
    async fn insert_encoded(
        &mut self,
        plan: &InsertPlan,
        frame: &mut [Value],
        generated: Option<u64>,
        buffers: &mut Buffers,
        done: &mut Changed,
    ) -> SqlResult<()> {
        let table = &plan.table;
        let count = table.columns().len();
        let mut savepoint = self.txn.savepoint();
        loop {
            let orphan = match plan.foreign.as_deref() {
                None => None,
                Some(foreign) => Box::pin(self.orphan(foreign, &frame[..count])).await?,
            };
            let error = match self.txn.insert(&table.engine, &buffers.key, &buffers.row).await {
                Ok(()) => match orphan {
                    Some(error) => {
                        buffers.numbers.give_back(generated);
                        return self.take_orphan_back(plan, savepoint, error, done).await;
                    }
                    None => {
                        done.changed += 1;
                        if let Some(id) = generated {
                            buffers.first_generated.get_or_insert(id);
                        }
                        self.note_numbers(table, &mut buffers.numbers);
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
                self.txn.rollback_to(savepoint).await?;
                if !self.has_children_checked(plan)
                    && self.is_there_already(table, nth, &pk, &buffers.row).await?
                {
                    done.duplicates -= 1;
                    done.changed += 1;
                    return Ok(());
                }
                match plan.foreign.as_deref() {
                    None => self.txn.delete(&table.engine, &pk).await?,
                    Some(foreign) => Box::pin(self.delete_parent(table, foreign, &pk, false)).await?,
                };
                savepoint = self.txn.savepoint();
                done.changed += 1;
                continue;
            }
            let error = duplicate_entry(table, &error, &frame[..count]);
            if plan.on_duplicate.is_empty() && !plan.ignore {
                return Err(error);
            }
            buffers.numbers.give_back(generated);
            self.txn.rollback_to(savepoint).await?;
            if !plan.on_duplicate.is_empty() {
                return self.update_duplicate(plan, &pk, frame, &mut buffers.numbers, done).await;
            }
            self.eval.warnings.push(WarningLevel::Warning, error);
            return Ok(());
        }
    }

    fn encode_row(&self, table: &Table, row: &[Value], buffers: &mut Buffers) {
        buffers.key.clear();
        if table.primary().is_some() {
            table.primary_key(row, &mut buffers.key);
        } else {
            buffers.key.extend_from_slice(&self.next_row_id(table));
        }
        buffers.row.clear();
        table.layout.encode(row, &mut buffers.row);
    }

    /// Leaves a row out that breaks a constraint, if IGNORE says so.
    fn refuse_row(&self, plan: &InsertPlan, error: SqlError, done: &mut Changed) -> SqlResult<()> {
        if !plan.ignore || !is_broken_check(&error) {
            return Err(error);
        }
        done.left_out += 1;
        self.eval.warnings.push(WarningLevel::Warning, error);
        Ok(())
    }

    /// Whether what REPLACE deletes may have children, which a row that is left alone would keep.
    fn has_children_checked(&self, plan: &InsertPlan) -> bool {
        let foreign = plan.foreign.as_deref();
        foreign.is_some_and(|foreign| !foreign.nodes[0].children.is_empty()) && self.checks_foreign_keys()
    }

    /// Error 1452, if the row that is about to be inserted lacks a parent. A parent that is there is locked,
    /// and stays.
    async fn orphan(&mut self, foreign: &ForeignPlan, row: &[Value]) -> SqlResult<Option<SqlError>> {
        if !self.checks_foreign_keys() {
            return Ok(None);
        }
        match self.check_parents(&foreign.nodes[0], row, None, None).await {
            Ok(()) => Ok(None),
            Err(error) if is_broken(&error) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// Takes a row back that was inserted without a parent.
    async fn take_orphan_back(
        &mut self,
        plan: &InsertPlan,
        before: Savepoint,
        error: SqlError,
        done: &mut Changed,
    ) -> SqlResult<()> {
        if !plan.ignore {
            return Err(error);
        }
        self.txn.rollback_to(before).await?;
        done.left_out += 1;
        self.eval.warnings.push(WarningLevel::Warning, error);
        Ok(())
    }

    /// True if the row that REPLACE would put in the place of `pk` is that very row. It is then left alone
    /// and counts once; as in MySQL only where no other unique key comes after the one that was found.
    async fn is_there_already(
        &mut self,
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
        Ok(self.txn.get(&table.engine, pk, mode).await?.is_some_and(|there| *there == *row))
    }

    /// Runs the sub-queries of ON DUPLICATE KEY UPDATE for the row that is there already.
    async fn read_for_subqueries(
        &mut self,
        plan: &InsertPlan,
        pk: &[u8],
        frame: &mut [Value],
    ) -> SqlResult<()> {
        let mode = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };
        let Some(row) = self.txn.get(&plan.table.engine, pk, mode).await? else { return Ok(()) };
        if let Ok(view) = RowView::new(&plan.table.layout, &row) {
            let values = view.values();
            frame[..values.len()].clone_from_slice(&values);
        }
        for nth in &plan.duplicate_subqueries {
            self.subquery(&plan.subqueries[*nth], frame).await?;
        }
        Ok(())
    }

    /// ON DUPLICATE KEY UPDATE for the row that is there already.
    async fn update_duplicate(
        &mut self,
        plan: &InsertPlan,
        pk: &[u8],
        frame: &mut [Value],
        numbers: &mut Numbers,
        done: &mut Changed,
    ) -> SqlResult<()> {
        self.session.entry.card.rows().read.add(1);
        let table = &plan.table;
        let count = table.columns().len();
        let (old, new) = frame.split_at_mut(count);
        new[..count].clone_from_slice(old);
        if !plan.duplicate_subqueries.is_empty() {
            self.read_for_subqueries(plan, pk, frame).await?;
        }
        let mut changed = Changed::default();
        let before = changed;
        let (assignments, foreign) = (plan.on_duplicate.as_slice(), plan.foreign.as_deref());
        let rewrite =
            Rewrite { table, base: 0, assignments, foreign, ignore: plan.ignore, light: plan.light };
        self.update_row(rewrite, pk, frame, &mut changed).await?;
        if changed.changed > before.changed {
            done.changed += 2;
        } else {
            // A row that is left as it was counts nowhere, and its number is not told.
            done.duplicates -= 1;
            done.changed += u64::from(self.session.found_rows_flag());
            return Ok(());
        }
        if let Some(number) = changed.number {
            numbers.last = number;
        }
        Ok(())
    }
}
