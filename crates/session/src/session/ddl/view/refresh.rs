//! The columns of views, when what they read has changed. Who reads a view takes the columns that its query
//! has at that moment; those that the dictionary keeps are for who asks what columns there are.

use std::sync::Arc;

use super::super::super::Session;
use super::super::claim;
use super::{FullName, columns_of, name_of};
use crate::ast::{AlterAction, Statement, TableName};
use crate::dictionary::{Column, View, ViewDefinition};
use crate::error::SqlResult;
use crate::expr::EvalContext;
use crate::mdl::Mode;
use crate::plan::parameters::Parameters;
use crate::plan::uses::Uses;
use crate::plan::{plan_query, within_view};
use crate::pulse;
use crate::session::{ddl, statement};

/// Views over views that are looked at after one statement.
const ROUNDS_MAX: usize = 64;

/// The columns of a view's query as it is now. Error 1356 if it names what is not there.
pub(in crate::session) fn columns_now(session: &Session, view: &View) -> SqlResult<Vec<Column>> {
    let planned = |eval: &EvalContext<'_>| {
        let (uses, parameters) = (Uses::default(), Parameters::literals());
        let context = statement::plan_context(session, None, eval, &uses, &parameters, false);
        within_view(&context, view, |context, query| {
            let plan = plan_query(context, query, None)?;
            columns_of(session, (&plan, query), &view.names, (context.schema, eval))
        })
    };
    pulse::watched(session.interrupt.clone(), || statement::with_eval(session, &[], planned))?
}

/// The tables and views that a statement has made, or made others of.
fn changed(session: &Session, statement: &Statement) -> Vec<FullName> {
    let mut names: Vec<&TableName> = Vec::new();
    match statement {
        Statement::CreateTable(create) => names.push(&create.name),
        Statement::CreateView(create) => names.push(&create.name),
        Statement::AlterTable(alter) => {
            names.push(&alter.name);
            names.extend(alter.actions.iter().filter_map(|action| match action {
                AlterAction::Rename(new) => Some(new),
                _ => None,
            }));
        }
        Statement::RenameTable(pairs) => names.extend(pairs.iter().flat_map(|(old, new)| [old, new])),
        _ => {}
    }
    let full = |name: &&TableName| Some((ddl::schema_of(session, name).ok()?, name.table.clone()));
    names.iter().filter_map(full).collect()
}

/// Keeps the new columns of the views that read what a statement has changed, and of those that read these.
/// The statement is done and stays so: this waits for nobody and fails for nothing. What somebody else is
/// defining is left as it is, and an engine that cannot write tells the next statement.
pub(in crate::session) async fn refresh(session: &mut Session, statement: &Statement) {
    let mut names = changed(session, statement);
    for _ in 0..ROUNDS_MAX {
        let views = match names.is_empty() {
            true => Vec::new(),
            false => session.db.dictionary().views_over(&names),
        };
        names.clear();
        for view in views {
            let Some(pass) = session.db.definitions().try_enter(Mode::Write, false) else { return };
            session.defining.push(pass);
            let kept = keep(session, &view).await;
            session.defining.clear();
            names.extend(kept.unwrap_or(false).then(|| name_of(&view)));
        }
    }
}

/// Keeps the new columns of a view; false if they are the old ones, or somebody else has its name.
async fn keep(session: &mut Session, view: &View) -> SqlResult<bool> {
    let (schema, name) = name_of(view);
    if !claim::claim_now(session, claim::new_table(&schema, &name)) {
        return Ok(false);
    }
    let Some(view) = session.db.dictionary().view(&schema, &name) else { return Ok(false) };
    let Ok(columns) = columns_now(session, &view) else { return Ok(false) };
    if columns == view.definition.columns {
        return Ok(false);
    }
    let definition = ViewDefinition { columns, ..view.definition.clone() };
    let made_by = session.db.save_views(&[], &[&definition]).await?;
    let now = View::new(definition, view.mdl.clone(), made_by);
    session.db.dictionary().replace_views(&[], vec![Arc::new(now)]);
    Ok(true)
}
