//! ANALYZE, OPTIMIZE, CHECK, CHECKSUM, REPAIR TABLE.

use super::Session;
use super::show::Table;
use super::statement::Outcome;
use crate::ast::{MaintenanceKind, TableMaintenance};
use crate::error::{SqlError, SqlResult};
use crate::sink::ResultSink;
use crate::value::Value;

impl Session {
    /// Statistics are kept up to date all the time and nothing has to be repaired by hand, so ANALYZE only looks
    /// whether the tables exist; the others are refused.
    pub(super) async fn maintain(
        &mut self,
        work: &TableMaintenance,
        out: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        if work.kind != MaintenanceKind::Analyze {
            return Err(SqlError::not_supported_yet("this table maintenance"));
        }
        let mut table = Table::new(&[("Table", 's'), ("Op", 's'), ("Msg_type", 's'), ("Msg_text", 't')]);
        for name in &work.tables {
            let schema = self.schema_of(name)?;
            let line = |kind: &str, message: &str| {
                let full = format!("{schema}.{}", name.table);
                vec![Value::text(full), Value::text("analyze"), Value::text(kind), Value::text(message)]
            };
            match self.db.dictionary().table(&schema, &name.table) {
                Ok(_) => table.push(line("status", "OK")),
                Err(error) => table.push(line("Error", &error.message)),
            }
        }
        self.write_table(&table, out)
    }
}
