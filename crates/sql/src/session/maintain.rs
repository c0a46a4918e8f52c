//! ANALYZE, OPTIMIZE, CHECK, CHECKSUM, REPAIR TABLE.

use super::Session;
use super::show::Table;
use super::statement::Outcome;
use crate::accounts::Privileges;
use crate::ast::{AlterAction, AlterTable, MaintenanceKind, Statement, TableMaintenance};
use crate::error::{SqlError, SqlResult};
use crate::sink::ResultSink;
use crate::value::Value;

impl Session {
    /// SHUTDOWN: asks the process to end as SIGTERM does. What runs in process has nobody to ask.
    pub(super) fn shut_down(&mut self) -> SqlResult<()> {
        self.require_global(Privileges::SHUTDOWN, "SHUTDOWN")?;
        if self.db.ask_for_shutdown() {
            Ok(())
        } else {
            Err(SqlError::not_supported_yet("SHUTDOWN in process"))
        }
    }

    /// Statistics are kept up to date all the time and nothing has to be repaired by hand, so ANALYZE only looks
    /// whether the tables exist. OPTIMIZE builds the table anew. The others are refused.
    pub(super) async fn maintain(
        &mut self,
        work: &TableMaintenance,
        out: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        let operation = match work.kind {
            MaintenanceKind::Analyze => "analyze",
            MaintenanceKind::Optimize => "optimize",
            _ => return Err(SqlError::not_supported_yet("this table maintenance")),
        };
        self.commit_before().await?;
        let mut table = Table::new(&[("Table", 's'), ("Op", 's'), ("Msg_type", 's'), ("Msg_text", 't')]);
        for name in &work.tables {
            let schema = self.schema_of(name)?;
            let line = |kind: &str, message: &str| {
                let full = format!("{schema}.{}", name.table);
                vec![Value::text(full), Value::text(operation), Value::text(kind), Value::text(message)]
            };
            let known = self.db.dictionary().table(&schema, &name.table).map(drop);
            let done = match (known, work.kind) {
                (Ok(()), MaintenanceKind::Optimize) => {
                    table.push(line(
                        "note",
                        "Table does not support optimize, doing recreate + analyze instead",
                    ));
                    let anew = AlterTable { name: name.clone(), actions: vec![AlterAction::Force] };
                    let statement = Statement::AlterTable(Box::new(anew));
                    Box::pin(self.definition_statement(&statement)).await.map(drop)
                }
                (known, _) => known,
            };
            match done {
                Ok(()) => table.push(line("status", "OK")),
                Err(error) => table.push(line("Error", &error.message)),
            }
        }
        self.write_table(&table, out)
    }
}
