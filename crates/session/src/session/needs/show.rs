//! What SHOW needs.

use super::{Asker, Need, REPLICATION};
use crate::accounts::Privileges as P;
use crate::ast::ShowWhat;
use crate::error::{SqlError, SqlResult};

impl Asker<'_> {
    pub(super) fn show(&mut self, what: &ShowWhat) -> SqlResult<()> {
        match what {
            // Lists show what the account may see.
            ShowWhat::Databases | ShowWhat::OpenTables(_) | ShowWhat::ProcessList { .. } => {}
            ShowWhat::ProcedureStatus | ShowWhat::FunctionStatus => {}
            // What everybody may know, and what is one's own.
            ShowWhat::Variables { .. } | ShowWhat::Status { .. } => {}
            ShowWhat::Warnings(_) | ShowWhat::Errors(_) => {}
            ShowWhat::WarningCount | ShowWhat::ErrorCount => {}
            ShowWhat::Profiles | ShowWhat::Profile(_) | ShowWhat::ProgramCode => {}
            ShowWhat::Engines | ShowWhat::CharacterSets | ShowWhat::Collations => {}
            ShowWhat::Plugins | ShowWhat::Privileges => {}
            ShowWhat::Tables { schema, .. } => self.some_of_schema(schema.as_deref())?,
            ShowWhat::TableStatus(schema) | ShowWhat::Triggers(schema) => {
                self.some_of_schema(schema.as_deref())?;
            }
            ShowWhat::Events(schema) => {
                let schema = schema.as_deref().or(self.current);
                let schema = schema.ok_or_else(SqlError::no_database_selected)?.into();
                self.needs(Need::Schema(P::EVENT, schema));
            }
            ShowWhat::CreateDatabase { name, .. } => self.needs(Need::Shown(name.clone())),
            ShowWhat::Columns { table, .. } | ShowWhat::Index { table, .. } => {
                let schema = self.schema(table)?;
                self.needs(Need::Columns(schema, table.table.clone()));
            }
            ShowWhat::CreateTable(table) => {
                let schema = self.schema(table)?;
                self.needs(Need::SomeOfWholeTable("SHOW", schema, table.table.clone()));
            }
            ShowWhat::CreateView(name) => self.table(P::SHOW_VIEW.with(P::SELECT), name)?,
            ShowWhat::CreateOther { name, .. } => {
                let schema = self.schema(name)?;
                self.needs(Need::SomeOfSchema(schema));
            }
            ShowWhat::CreateUser(user) => {
                if !self.is_own(user) {
                    self.needs(Need::Schema(P::SELECT, "mysql".into()));
                }
            }
            ShowWhat::Grants { user, .. } => {
                if !self.is_own_or_left_out(user.as_ref()) {
                    self.needs(Need::Table(P::SELECT, "mysql".into(), "user".into()));
                }
            }
            ShowWhat::Engine { .. } => self.needs(Need::Server(&[P::PROCESS], "PROCESS")),
            ShowWhat::BinaryLogStatus | ShowWhat::BinaryLogs => self.needs(REPLICATION),
            ShowWhat::ReplicaStatus | ShowWhat::ReplicaStatusOf(_) => {
                self.needs(REPLICATION);
            }
            ShowWhat::Replicas | ShowWhat::BinlogEvents | ShowWhat::RelaylogEvents(_) => {
                self.needs(Need::Server(&[P::REPLICATION_SLAVE], "REPLICATION SLAVE"));
            }
        }
        Ok(())
    }
}
