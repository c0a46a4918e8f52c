//! CREATE TABLE ... SELECT.
//!
//! The query is planned first: its columns, behind those that are only written, make the definition. Its rows
//! then go into trees that no definition names yet, as INSERT ... SELECT puts rows into a table. Only when
//! their transaction is durable does the dictionary learn of the table. So others see it with all its rows or
//! not at all, and an error or a crash leaves no table. Readers whose view is older are told that the
//! definition has changed (1412).

mod column;

use std::sync::Arc;

use super::super::Session;
use super::super::show::Collected;
use super::super::statement::Outcome;
use crate::ast::{CreateTable, OnDuplicate, Query, Statement};
use crate::definition;
use crate::definition::phase::Faults;
use crate::dictionary::table::{Counters, Definition};
use crate::dictionary::{Column, Table};
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::plan::change::{InsertPlan, InsertSource};
use crate::plan::parameters::{Kinds, Parameters};
use crate::plan::uses::Uses;
use crate::reads_lock::ReadsLock;
use crate::row_plan::{PlanKind, RowPlan};
use crate::session::ddl::claim;
use crate::session::{ddl, prepared, reads, rights, statement, transaction};
use crate::used_tables::of_statement;
use crate::value::Value;
pub(super) use column::selected_columns;

/// Makes a table of a query's columns and rows. The caller has found its name to be free.
pub(super) async fn create_from_query(
    session: &mut Session,
    create: &CreateTable,
    (query, params): (&Query, &[Value]),
    place: definition::Place<'_>,
) -> SqlResult<Outcome> {
    let selecting = Statement::Select(Box::new(query.clone()));
    if create.temporary {
        // Its rows belong to a transaction even if the query reads no table.
        transaction::enter(session);
    }
    statement::enter_for(session, &of_statement(&selecting)).await?;
    let made = prepared::taken(session, &selecting, params).and_then(|(kinds, values)| {
        let params = values.unwrap_or_else(|| params.to_vec());
        let made = plan_creation(session, create, (query, &params, kinds), place)?;
        Ok((made, params))
    });
    let ((definition, counters, plan), params) = match made {
        Ok(made) => made,
        Err(error) => return statement::abandon(session, error).await,
    };
    let trees = definition.trees();
    let filled = match create.temporary {
        true => fill_temporary(session, definition, counters, (plan, &params)).await,
        false => fill_and_publish(session, definition, counters, (plan, &params)).await,
    };
    match filled {
        Ok(outcome) => Ok(outcome),
        // The transaction around goes on.
        Err(error) if create.temporary => {
            session.gone_trees.extend(trees);
            ddl::sweep_temporary(session)?;
            Err(error)
        }
        Err(error) => {
            transaction::rollback(session).await?;
            ddl::drop_trees(session, trees)?;
            Err(error)
        }
    }
}

/// The definition with its trees, and the plan that fills them.
fn plan_creation(
    session: &Session,
    create: &CreateTable,
    (query, params, kinds): (&Query, &[Value], Kinds),
    place: definition::Place<'_>,
) -> SqlResult<(Definition, Arc<Counters>, RowPlan)> {
    let current = session.state.schema();
    let uses = Uses::default();
    let locks_reads = reads::locks_reads(session, ReadsLock::RepeatableRead);
    let mut faults = Faults::default();
    let (mut definition, source) = statement::with_eval(session, params, |eval| {
        let parameters = match kinds.is_empty() {
            true => Parameters::literals(),
            false => Parameters::of_kinds(kinds),
        };
        let context =
            statement::plan_context(session, current.as_deref(), eval, &uses, &parameters, locks_reads);
        let source = crate::plan::plan_query(&context, query, None);
        let source = source.map_err(|error| rights::denied_before(session, &uses).unwrap_or(error))?;
        let within = (session.names(), current.as_deref(), eval);
        let selected = selected_columns(&source, query, within)?;
        warn_of_types(session, selected.iter());
        let definition = definition::build(create, selected, place, &mut faults, eval)?;
        parameters.take_constants().iter().try_for_each(|one| one.tell(eval))?;
        Ok::<_, SqlError>((definition, source))
    })?;
    if let Some(denied) = rights::denied_of(session, &uses.list()) {
        return Err(denied);
    }
    let taken = ddl::create_table::names_of_checks(session, create.temporary, (place.schema, ""));
    definition::check::add(&mut definition, &create.checks, &taken, &mut faults);
    faults.end()?;
    ddl::check_is_identified(session, &definition)?;
    ddl::make_trees(session, &mut definition, create.temporary)?;
    let (width, shown) = (definition.columns.len(), definition.named_columns().len());
    let counters = Counters::fresh();
    let table = Table::new(definition.clone(), Arc::default(), counters.clone());
    let table = if create.temporary { table.temporary() } else { table };
    let targets: Vec<usize> = (shown - source.columns().len()..shown).collect();
    targets.iter().try_for_each(|column| table.check_takes_value(*column))?;
    let plan = InsertPlan {
        table: Arc::new(table),
        targets,
        source: InsertSource::Query(source),
        conversions: Vec::new(),
        replace: create.on_duplicate == OnDuplicate::Replace,
        visible: Vec::new(),
        ignore: create.on_duplicate == OnDuplicate::Ignore,
        on_duplicate: Vec::new(),
        light: true,
        width,
        subqueries: Vec::new(),
        row_subqueries: Vec::new(),
        references: Vec::new(),
        duplicate_subqueries: Vec::new(),
        source_base: 0,
        foreign: None,
    };
    Ok((
        definition,
        counters,
        RowPlan {
            kind: PlanKind::Insert(Box::new(plan)),
            uses: uses.list(),
            constants: [].into(),
            row_steps: 0,
            weighed: false,
        },
    ))
}

/// The rows are part of the open transaction.
async fn fill_temporary(
    session: &mut Session,
    definition: Definition,
    counters: Arc<Counters>,
    (plan, params): (RowPlan, &[Value]),
) -> SqlResult<Outcome> {
    let charge = session.charge_own(&definition)?;
    let outcome = statement::run_rows(session, &plan, params, &[], &mut Collected::default()).await?;
    ddl::temporary::publish(session, definition, counters, charge);
    Ok(outcome)
}

async fn fill_and_publish(
    session: &mut Session,
    definition: Definition,
    counters: Arc<Counters>,
    (plan, params): (RowPlan, &[Value]),
) -> SqlResult<Outcome> {
    claim::claim_constraints(session, &definition, &[]).await?;
    let outcome = statement::run_rows(session, &plan, params, &[], &mut Collected::default()).await?;
    transaction::commit(session).await?;
    let made_by = session.db.save_tables(&[&definition]).await?;
    let table = Table::new(definition, Arc::default(), counters).made_by(made_by);
    session.db.dictionary().put_table(Arc::new(table));
    Ok(outcome)
}

/// What MySQL advises against in columns that are made like others.
pub(super) fn warn_of_types<'c>(session: &Session, columns: impl Iterator<Item = &'c Column>) {
    for warning in columns.flat_map(|column| definition::column::deprecated_in(&column.kind)) {
        session.state.warnings.push(WarningLevel::Warning, warning);
    }
}
