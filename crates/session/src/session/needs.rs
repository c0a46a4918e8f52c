//! What statements need. Every kind of statement says it in [`of_statement`], in matches without a wildcard:
//! a new kind does not compile before it has said so. `rights.rs` asks for it before the statement does
//! anything.
//!
//! Statements that read or change rows say it by their tables ([`super::tables`]).

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

mod server;
mod show;

use super::ddl::parents_named;
use crate::accounts::{AccountName, Privileges as P};
use crate::ast::{
    AlterAction, ExplainTarget, KeyDef, MaintenanceKind, Statement, TableName, UserName, ViewChange,
};
use crate::error::{SqlError, SqlResult};
use crate::variables::right;

/// Something a statement needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// One of these on the whole server; the text names them in error 1227.
    Server(&'static [P], &'static str),
    /// All of these on a database, else error 1044.
    Schema(P, Box<str>),
    /// All of these on a table, else error 1142.
    Table(P, Box<str>, Box<str>),
    /// Any of a database's privileges, else error 1044.
    SomeOfSchema(Box<str>),
    /// The same, else error 1044 with the host that the client has come from.
    Shown(Box<str>),
    /// Any of a table's or its columns' privileges, else error 1142 with this command.
    SomeOfTable(&'static str, Box<str>, Box<str>),
    /// Any of a table's privileges, those on columns left aside, else error 1142 with this command.
    SomeOfWholeTable(&'static str, Box<str>, Box<str>),
    /// The same with SELECT for a table that is there: of one that is not, this is told.
    Columns(Box<str>, Box<str>),
    /// REFERENCES on all of a table that a foreign key refers to, else error 1142.
    Parent(Box<str>, Box<str>),
    /// ALTER ROUTINE on a routine, else error 1370.
    Routine(Box<str>, Box<str>),
    /// To say what the next start begins with.
    NextStart,
    /// To set the password of somebody else, else error 1044.
    Passwords,
}

/// Names of databases and tables that a statement leaves out are the current database's.
struct Asker<'s> {
    current: Option<&'s str>,
    /// Asked for only where it matters: BEGIN and COMMIT come all the time, and a name is an allocation.
    own: &'s dyn Fn() -> Option<AccountName>,
    needs: Vec<Need>,
}

/// What a statement needs before it begins. Its tables, if it reads or changes rows, are asked for when it
/// enters them. `own`: the account that runs it; None if another has its name by now.
pub(super) fn of_statement(
    statement: &Statement,
    current: Option<&str>,
    own: &dyn Fn() -> Option<AccountName>,
) -> SqlResult<Vec<Need>> {
    let mut asker = Asker { current, own, needs: Vec::new() };
    asker.statement(statement)?;
    Ok(asker.needs)
}

const ADMINISTRATION: Need = Need::Server(right::GLOBAL.0, right::GLOBAL.1);

pub(super) const ACCOUNTS: Need = Need::Server(&[P::CREATE_USER], "CREATE USER");

const REPLICATION: Need = Need::Server(&[P::SUPER, P::REPLICATION_CLIENT], "SUPER, REPLICATION CLIENT");

impl Asker<'_> {
    fn needs(&mut self, need: Need) {
        self.needs.push(need);
    }

    fn schema(&self, name: &TableName) -> SqlResult<Box<str>> {
        let current = || self.current.map(Box::from);
        name.schema.clone().or_else(current).ok_or_else(SqlError::no_database_selected)
    }

    fn table(&mut self, wanted: P, name: &TableName) -> SqlResult<()> {
        let schema = self.schema(name)?;
        self.needs(Need::Table(wanted, schema, name.table.clone()));
        Ok(())
    }

    fn tables<'n>(&mut self, wanted: P, names: impl IntoIterator<Item = &'n TableName>) -> SqlResult<()> {
        names.into_iter().try_for_each(|name| self.table(wanted, name))
    }

    fn some_of_schema(&mut self, name: Option<&str>) -> SqlResult<()> {
        let name = name.or(self.current).ok_or_else(SqlError::no_database_selected)?;
        self.needs(Need::SomeOfSchema(name.into()));
        Ok(())
    }

    fn parents<'k>(&mut self, keys: impl Iterator<Item = &'k KeyDef>, child: &TableName) -> SqlResult<()> {
        let schema = self.schema(child)?;
        for (schema, table) in parents_named(keys, &schema) {
            self.needs(Need::Parent(schema, table));
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> SqlResult<()> {
        match statement {
            // As they enter their tables; DO and EXPLAIN do so too, and what is executed is asked for itself.
            Statement::Select(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {}
            Statement::Do(_) | Statement::Nothing => {}
            Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate(_) => {}
            Statement::Explain(explain) => match &explain.target {
                ExplainTarget::Statement(statement) => self.statement(statement)?,
                // Whose session it is, is known when it is found.
                ExplainTarget::Connection(_) => {}
            },
            // One's own transaction and session.
            Statement::Begin(_) | Statement::Commit(_) | Statement::Rollback(_) => {}
            Statement::Savepoint(_) | Statement::RollbackTo(_) | Statement::ReleaseSavepoint(_) => {}
            Statement::UnlockTables => {}
            // Whose session it is, is known when it is found.
            Statement::Kill(_) => {}
            Statement::Use(name) => self.some_of_schema(Some(name))?,
            Statement::Set(items) => items.iter().for_each(|item| self.set_item(item)),
            Statement::Show(show) => self.show(&show.what)?,
            Statement::Flush(targets) => targets.iter().try_for_each(|target| self.flush(target))?,
            Statement::LockTables(tables) => {
                for one in tables {
                    self.lock(&one.name)?;
                }
            }
            Statement::TableMaintenance(work) => {
                let wanted = match work.kind {
                    MaintenanceKind::Check => {
                        for name in &work.tables {
                            let schema = self.schema(name)?;
                            self.needs(Need::SomeOfTable("SELECT", schema, name.table.clone()));
                        }
                        return Ok(());
                    }
                    MaintenanceKind::Checksum => P::SELECT,
                    MaintenanceKind::Analyze | MaintenanceKind::Optimize | MaintenanceKind::Repair => {
                        P::SELECT.with(P::INSERT)
                    }
                };
                self.tables(wanted, &work.tables)?;
            }
            Statement::Shutdown => self.needs(Need::Server(&[P::SHUTDOWN], "SHUTDOWN")),
            Statement::Reset(_) => self.needs(Need::Server(&[P::RELOAD], "RELOAD")),
            // By what is kept: `persist.rs`.
            Statement::ResetPersist { .. } => {}
            Statement::User(user) => self.user(user),
            Statement::DropUser { .. } | Statement::RenameUser(_) => self.needs(ACCOUNTS),
            // What may be passed on is told when the privileges have been made out: `may_pass_on`.
            Statement::Grant(_) => {}
            Statement::Revoke(revoke) => {
                if revoke.is_of_all() {
                    self.needs(ACCOUNTS);
                }
            }
            Statement::Role(role) => self.role(role),
            Statement::CreateDatabase(_)
            | Statement::AlterDatabase { .. }
            | Statement::DropDatabase { .. }
            | Statement::CreateTable(_)
            | Statement::DropTable(_)
            | Statement::AlterTable(_)
            | Statement::RenameTable(_)
            | Statement::Truncate(_)
            | Statement::CreateIndex(_)
            | Statement::DropIndex { .. }
            | Statement::CreateView(_)
            | Statement::DropView { .. }
            | Statement::DropProgram { .. } => self.definition(statement)?,
        }
        Ok(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the one caller names the kinds that come here")]
    fn definition(&mut self, statement: &Statement) -> SqlResult<()> {
        match statement {
            Statement::CreateDatabase(create) => self.needs(Need::Schema(P::CREATE, create.name.clone())),
            Statement::AlterDatabase { name, .. } => {
                let name = name.as_deref().or(self.current).ok_or_else(SqlError::no_database_selected)?;
                self.needs(Need::Schema(P::ALTER, name.into()));
            }
            Statement::DropDatabase { name, .. } => self.needs(Need::Schema(P::DROP, name.clone())),
            Statement::CreateTable(create) => {
                if create.temporary {
                    let schema = self.schema(&create.name)?;
                    self.needs(Need::Schema(P::CREATE_TEMPORARY_TABLES, schema));
                } else {
                    let filled = if create.query.is_some() { P::INSERT } else { P::NONE };
                    self.table(P::CREATE.with(filled), &create.name)?;
                }
                self.tables(P::SELECT, &create.like)?;
                self.parents(create.keys.iter(), &create.name)?;
            }
            Statement::DropTable(drop) if drop.temporary => {}
            Statement::DropTable(drop) => self.tables(P::DROP, &drop.names)?,
            Statement::AlterTable(alter) => {
                let renames = |one: &&AlterAction| matches!(one, AlterAction::Rename(_));
                let moved = if alter.actions.iter().any(|one| renames(&one)) { P::DROP } else { P::NONE };
                self.table(P::ALTER.with(moved), &alter.name)?;
                let keys = alter.actions.iter().filter_map(|action| match action {
                    AlterAction::AddKey(key) => Some(key),
                    _ => None,
                });
                self.parents(keys, &alter.name)?;
                for action in &alter.actions {
                    if let AlterAction::Rename(new) = action {
                        self.table(P::CREATE.with(P::INSERT), new)?;
                    }
                }
            }
            Statement::RenameTable(pairs) => {
                for (old, new) in pairs {
                    self.table(P::ALTER.with(P::DROP), old)?;
                    self.table(P::CREATE.with(P::INSERT), new)?;
                }
            }
            Statement::Truncate(name) => self.table(P::DROP, name)?,
            Statement::CreateIndex(create) => self.table(P::INDEX, &create.table)?,
            Statement::DropIndex { table, .. } => self.table(P::INDEX, table)?,
            Statement::CreateView(create) => {
                let replaces = matches!(create.change, ViewChange::Replace | ViewChange::Alter);
                let dropped = if replaces { P::DROP } else { P::NONE };
                self.table(P::CREATE_VIEW.with(dropped), &create.name)?;
            }
            Statement::DropView { names, .. } => self.tables(P::DROP, names)?,
            Statement::DropProgram { kind, name, .. } => match *kind {
                // There is none, and which table it would belong to is not said.
                "TRIGGER" => {}
                "EVENT" => {
                    let schema = self.schema(name)?;
                    self.needs(Need::Schema(P::EVENT, schema));
                }
                _ => {
                    let schema = self.schema(name)?;
                    self.needs(Need::Routine(schema, name.table.clone()));
                }
            },
            _ => return Err(SqlError::unknown_error("a statement that has not said what it needs")),
        }
        Ok(())
    }

    fn is_own_or_left_out(&self, user: Option<&UserName>) -> bool {
        user.map_or_else(|| (self.own)().is_some(), |user| self.is_own(user))
    }

    fn is_own(&self, user: &UserName) -> bool {
        (self.own)().is_some_and(|own| user.is_current() || AccountName::new(&user.user, &user.host) == own)
    }
}
