//! ANALYZE, OPTIMIZE, CHECK, CHECKSUM, REPAIR TABLE.

use super::Session;
use super::show::Table;
use super::statement::Outcome;
use crate::ast::{AlterAction, AlterTable, MaintenanceKind, Online, Statement, TableMaintenance, TableName};
use crate::error::{SqlError, SqlResult};
use crate::session::{check, ddl, histogram, show};
use crate::sink::ResultSink;
use crate::value::Value;

/// Kind and text of one line about a table.
pub(super) type Said = (&'static str, String);

/// SHUTDOWN: asks the process to end as SIGTERM does. What runs in process has nobody to ask.
pub(super) fn shut_down(session: &mut Session) -> SqlResult<()> {
    if session.db.ask_for_shutdown() {
        Ok(())
    } else {
        Err(SqlError::not_supported_yet("SHUTDOWN in process"))
    }
}

/// ANALYZE estimates the statistics of a table anew, from some leaves of its trees, and makes the histograms
/// anew that say so; [`super::histogram`] makes and drops them. Nothing has to be
/// repaired by hand, so REPAIR says that there is nothing to do. OPTIMIZE builds the table anew. CHECK and
/// CHECKSUM: [`super::check`].
pub(super) async fn maintain(
    session: &mut Session,
    work: &TableMaintenance,
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if let Some(change) = &work.histogram {
        return histogram::change_histograms(session, &work.tables, change, out).await;
    }
    ddl::each_once(session, &work.tables)?;
    let operation = match work.kind {
        MaintenanceKind::Analyze => "analyze",
        MaintenanceKind::Optimize => "optimize",
        MaintenanceKind::Check => "check",
        MaintenanceKind::Repair => "repair",
        MaintenanceKind::Checksum => return check::checksum_tables(session, work, out).await,
    };
    ddl::commit_before(session).await?;
    let mut table = Table::new(&[("Table", 's'), ("Op", 's'), ("Msg_type", 's'), ("Msg_text", 't')]);
    for name in &work.tables {
        let schema = ddl::schema_of(session, name)?;
        let line = |(kind, message): (&str, String)| {
            let full = format!("{schema}.{}", name.table);
            vec![Value::text(full), Value::text(operation), Value::text(kind), Value::text(message)]
        };
        let known = session.names().base_table(&schema, &name.table).map(drop);
        let is_view = session.names().view(&schema, &name.table).is_some();
        let said = match (known, work.kind) {
            // What the query of a view reads is checked by itself.
            (Err(_), MaintenanceKind::Check) if is_view => vec![("status", "OK".into())],
            (Err(error), _) => {
                vec![("Error", error.message), ("status", "Operation failed".into())]
            }
            (Ok(()), MaintenanceKind::Optimize) => optimize(session, name).await,
            (Ok(()), MaintenanceKind::Check) => check::check_table(session, name).await?,
            (Ok(()), MaintenanceKind::Repair) => {
                vec![("note", "The storage engine for the table doesn't support repair".into())]
            }
            (Ok(()), _) => analyze(session, name).await?,
        };
        said.into_iter().for_each(|one| table.push(line(one)));
    }
    show::write_table(&table, out)
}

async fn analyze(session: &mut Session, name: &TableName) -> SqlResult<Vec<Said>> {
    let table = session.names().table(&ddl::schema_of(session, name)?, &name.table)?;
    session.db.statistics().analyze(&table).await?;
    histogram::refresh(session, name, &table).await?;
    Ok(vec![("status", "OK".into())])
}

async fn optimize(session: &mut Session, name: &TableName) -> Vec<Said> {
    let anew =
        AlterTable { name: name.clone(), actions: vec![AlterAction::Force], online: Online::default() };
    let statement = Statement::AlterTable(Box::new(anew));
    let done = Box::pin(ddl::definition_statement(session, &statement, &[])).await;
    let note = "Table does not support optimize, doing recreate + analyze instead";
    let end = match done {
        Ok(_) => ("status", "OK".into()),
        Err(error) => ("Error", error.message),
    };
    vec![("note", note.into()), end]
}
