//! The one place where privileges are asked for. `Session::dispatch` asks for what a statement says in
//! `needs.rs`; `Session::enter_for` for the tables of a statement on rows, whenever it takes their gates, so
//! that a kept plan is not run by who has lost a right; `Session::run_rows` for the columns that a plan uses,
//! which planning has noted (`plan/uses.rs`).
//!
//! The answer is the account's as it is now: [`KnownRights`] looks it up again when an account has changed,
//! and one that is gone may do nothing.

use std::sync::Arc;

use super::Session;
use super::needs::{self, Need};
use crate::accounts::{AccountName, KnownRights, Privileges as P, Rights, TableRights};
use crate::ast::Statement;
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::plan::uses::{TableUse, UseList, Uses};
use crate::registry::Entry;
use crate::used_tables::{Asked, Used};
use crate::variables::right;
use crate::virtual_table::VirtualTable;

impl Session {
    /// Fails unless the account has what a statement needs.
    pub(super) fn ask_for_statement(&mut self, statement: &Statement) -> SqlResult<()> {
        let current = self.state.schema();
        let needs = needs::of_statement(statement, current.as_deref(), &|| self.own_account_still())?;
        needs.iter().try_for_each(|need| self.ask(need))
    }

    fn rights(&mut self) -> &Rights {
        let identity = &self.state.identity;
        let accounts = self.db.accounts();
        self.rights.now(accounts, || identity.lock().rights(accounts))
    }

    /// What the account holds on a database now.
    fn held_on(&mut self, schema: &str) -> P {
        let identity = &self.state.identity;
        let accounts = self.db.accounts();
        self.rights.on(accounts, || identity.lock().rights(accounts), schema)
    }

    fn ask_to_show(&mut self, schema: &str) -> SqlResult<()> {
        let (user, host) = self.who_and_whence();
        let denied = |_| SqlError::database_access_denied(user, host, schema);
        self.ask(&Need::SomeOfSchema(schema.into())).map_err(denied)
    }

    fn ask(&mut self, need: &Need) -> SqlResult<()> {
        match need {
            Need::Server(any, words) => {
                if !self.rights().may_any(any) {
                    return Err(SqlError::specific_access_denied(words));
                }
            }
            Need::Schema(wanted, schema) => {
                if self.held_on(schema).has(*wanted) {
                    return Ok(());
                }
                return Err(self.denied_database(schema));
            }
            Need::SomeOfSchema(schema) => {
                if schema.eq_ignore_ascii_case("information_schema") || self.rights().may_see(schema) {
                    return Ok(());
                }
                return Err(self.denied_database(schema));
            }
            Need::Shown(schema) => return self.ask_to_show(schema),
            Need::Table(wanted, schema, table) => return self.ask_table(*wanted, schema, table),
            Need::SomeOfTable(command, schema, table) => {
                if !VirtualTable::is_schema(schema) && !self.rights().may_look_into_table(schema, table) {
                    return Err(self.denied_table(command, table));
                }
            }
            Need::Columns(schema, table) => {
                let missing = self.db.dictionary().find(schema, table).is_none();
                let rights = self.rights();
                let seen = rights.may_look_into_table(schema, table) || missing && rights.may_see(schema);
                if !VirtualTable::is_schema(schema) && !seen {
                    return Err(self.denied_table("SELECT", table));
                }
            }
            Need::SomeOfWholeTable(command, schema, table) => {
                if !VirtualTable::is_schema(schema) && !self.rights().may_know_table(schema, table) {
                    return Err(self.denied_table(command, table));
                }
            }
            Need::Parent(schema, table) => {
                let whole = self.rights().on_table(schema, table).map_or(P::NONE, |rights| rights.whole);
                if !self.held_on(schema).with(whole).has(P::REFERENCES) {
                    return Err(self.denied_table("REFERENCES", &format!("{schema}.{table}")));
                }
            }
            Need::Routine(schema, name) => {
                if !self.held_on(schema).has(P::ALTER_ROUTINE) {
                    let AccountName { user, host } = self.own_account();
                    let full = format!("{schema}.{name}");
                    return Err(SqlError::routine_access_denied("alter routine", user, host, full));
                }
            }
            Need::NextStart => {
                let both = P::SYSTEM_VARIABLES_ADMIN.with(P::PERSIST_RO_VARIABLES_ADMIN);
                if !self.rights().may(both, None) {
                    return Err(SqlError::persist_only_access_denied(
                        "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN",
                    ));
                }
            }
            Need::Passwords => {
                if !self.rights().may(P::CREATE_USER, None) && !self.held_on("mysql").has(P::UPDATE) {
                    return Err(self.denied_database("mysql"));
                }
            }
        }
        Ok(())
    }

    fn ask_table(&mut self, wanted: P, schema: &str, table: &str) -> SqlResult<()> {
        if schema.eq_ignore_ascii_case("information_schema") {
            return if wanted == P::SELECT { Ok(()) } else { Err(self.denied_database(schema)) };
        }
        let held = self.held_on(schema);
        if held.has(wanted) || wanted == P::SELECT && VirtualTable::is_for_everybody(schema, table) {
            return Ok(());
        }
        // What is held on columns alone lets the statement on: which columns it uses is asked for when it is
        // planned.
        let lacking = wanted.without(held).without(self.held_on_table(schema, table));
        match lacking {
            P::NONE => Ok(()),
            lacking => Err(self.denied_table(&lacking.in_words(), table)),
        }
    }

    /// What the account holds on a table or a column of it besides what it holds on the database.
    fn held_on_table(&mut self, schema: &str, table: &str) -> P {
        self.rights().on_table(schema, table).map_or(P::NONE, TableRights::somewhere)
    }

    /// Whether it holds one of these on a table, a column of it or the database.
    fn holds_some(&mut self, wanted: P, schema: &str, table: &str) -> bool {
        self.held_on(schema).0 & wanted.0 != 0 || self.held_on_table(schema, table).0 & wanted.0 != 0
    }

    pub(super) fn denied_database(&self, schema: &str) -> SqlError {
        let AccountName { user, host } = self.own_account();
        SqlError::database_access_denied(user, host, schema)
    }

    /// User of the account, and the host that the client has come from.
    fn who_and_whence(&self) -> (String, String) {
        let identity = self.state.identity.lock();
        let host = identity.user.rsplit_once('@').map_or("", |(_, host)| host);
        (identity.account.user.clone(), host.to_string())
    }

    fn denied_table(&self, command: &str, table: &str) -> SqlError {
        let (user, host) = self.who_and_whence();
        SqlError::table_access_denied(command, user, host, table)
    }

    /// Whether the account may change accounts that hold SYSTEM_USER.
    pub(crate) fn is_system_user(&mut self) -> bool {
        self.rights().may(P::SYSTEM_USER, None)
    }

    /// Whether it may grant roles that it does not hold itself.
    pub(crate) fn may_pass_any_role(&mut self) -> bool {
        self.rights().may_any(&[P::ROLE_ADMIN, P::SUPER])
    }

    /// Fails unless it holds CREATE USER.
    pub(crate) fn ask_for_create_user(&mut self) -> SqlResult<()> {
        self.ask(&needs::ACCOUNTS)
    }

    /// The account, and the roles that are active.
    pub(crate) fn own_roles(&self) -> (AccountName, Arc<[AccountName]>) {
        let identity = self.state.identity.lock();
        (identity.account.clone(), identity.active.clone())
    }

    /// The account, unless another has its name now.
    pub(crate) fn own_account_still(&self) -> Option<AccountName> {
        let identity = self.state.identity.lock();
        let another = self.db.accounts().is_another(&identity.account, identity.account_id);
        (!another).then(|| identity.account.clone())
    }

    /// Makes roles active, for its rights from now on and for who looks at the session.
    pub(crate) fn make_active(&mut self, roles: Arc<[AccountName]>) {
        self.state.identity.lock().active = roles.clone();
        self.entry.show(|shown| shown.active = roles);
        self.rights = KnownRights::default();
    }

    /// Fails unless the account may use the tables of a statement on rows as it does.
    pub(super) fn ask_for_tables(&mut self, tables: &[Used]) -> SqlResult<()> {
        for table in tables {
            let current = if table.schema.is_none() { self.state.schema() } else { None };
            // Without a database there is no table to be found either.
            let Some(schema) = table.schema_in(current.as_deref()) else { continue };
            match table.asked {
                Asked::All(wanted) => self.ask_table(wanted, schema, &table.name)?,
                Asked::ReadAnd(wanted) => {
                    self.ask_table(P::SELECT, schema, &table.name)?;
                    self.ask_table(wanted, schema, &table.name)?;
                }
                // Which of the tables are changed is only known when the columns are.
                Asked::SomeOf(wanted) => {
                    if !self.holds_some(wanted, schema, &table.name) {
                        return Err(self.denied_table("SELECT", &table.name));
                    }
                }
            }
            if table.for_update && !VirtualTable::is_schema(schema) {
                let lasting = P::UPDATE.with(P::DELETE).with(P::LOCK_TABLES);
                if !self.holds_some(lasting, schema, &table.name) {
                    return Err(self.denied_table("SELECT with locking clause", &table.name));
                }
            }
        }
        Ok(())
    }

    /// Fails unless the account may use the columns that a plan uses. Who may use all of the databases passes
    /// at once.
    pub(super) fn ask_for_columns(&mut self, uses: &UseList) -> SqlResult<()> {
        if self.rights.has_passed(self.db.accounts(), uses.number) {
            return Ok(());
        }
        self.rights();
        let version = self.rights.version();
        if !uses.iter().all(|one| self.held_on(&one.schema).has(one.wanted)) {
            let rights = self.rights().clone();
            self.denial(&rights, uses).map_or(Ok(()), Err)?;
        }
        self.rights.note_passed(version, uses.number);
        Ok(())
    }

    /// The error for the first column that the account may not use so.
    pub(super) fn denied_of(&self, uses: &[TableUse]) -> Option<SqlError> {
        self.denial(&self.state.rights(), uses)
    }

    /// The same for a statement that could not be planned: who may not read a column is not told more than
    /// that.
    pub(super) fn denied_before(&self, uses: &Uses) -> Option<SqlError> {
        self.denied_of(&uses.list_sought())
    }

    fn denial(&self, rights: &Rights, uses: &[TableUse]) -> Option<SqlError> {
        for one in uses {
            let (schema, table) = (&*one.schema, &*one.table);
            let world = one.wanted == P::SELECT && VirtualTable::is_for_everybody(schema, table);
            let held = rights.on(schema);
            if world || schema.eq_ignore_ascii_case("information_schema") || held.has(one.wanted) {
                continue;
            }
            let own = rights.on_table(schema, table);
            let whole = held.with(own.map_or(P::NONE, |own| own.whole));
            let mut some = false;
            for column in one.columns.iter().filter(|column| !whole.has(column.wanted)) {
                let granted = own.map_or(P::NONE, |own| own.on_column(&column.name));
                if whole.with(granted).has(column.wanted) {
                    some |= column.unnamed;
                    continue;
                }
                let command = column.wanted.in_words();
                // Who may use the columns before it is not told its name.
                if column.unnamed && some {
                    return Some(self.denied_table(&command, table));
                }
                let (user, host) = self.who_and_whence();
                return Some(SqlError::column_access_denied(command, user, host, &column.name, table));
            }
        }
        None
    }

    /// Fails unless the account may grant or revoke these on a table, and these on columns of it.
    pub(crate) fn may_pass_on_table(
        &mut self,
        (schema, table): (&str, &str),
        passed: P,
        columns: &[(String, P)],
    ) -> SqlResult<()> {
        let held = self.held_on(schema);
        let own = self.rights().on_table(schema, table).cloned().unwrap_or_default();
        let of_columns = columns.iter().fold(P::NONE, |all, (_, one)| all.with(*one));
        let lacking = passed.with(P::GRANT_OPTION).without(held.with(own.whole));
        let lacking = lacking.with(of_columns.without(held.with(own.somewhere())));
        if lacking != P::NONE {
            return Err(self.denied_table(&lacking.in_words(), table));
        }
        for (column, wanted) in columns {
            if !held.with(own.whole).with(own.on_column(column)).has(*wanted) {
                let (user, host) = self.who_and_whence();
                let command = wanted.in_words();
                return Err(SqlError::column_access_denied(command, user, host, column, table));
            }
        }
        Ok(())
    }

    /// A note for the client.
    pub(crate) fn note(&self, note: SqlError) {
        self.state.warnings.push(WarningLevel::Note, note);
    }

    /// A warning for the client.
    pub(crate) fn warn(&self, warning: SqlError) {
        self.state.warnings.push(WarningLevel::Warning, warning);
    }

    /// Fails unless the account may grant or revoke these: it must hold them itself, and the right to pass
    /// them on.
    pub(crate) fn may_pass_on(&mut self, passed: P, database: Option<&str>) -> SqlResult<()> {
        if self.rights().on_pattern(database).has(passed.to_pass()) {
            return Ok(());
        }
        let dynamic_alone = passed != P::NONE && P::DYNAMIC.has(passed);
        Err(match database {
            Some(database) => self.denied_database(database),
            None if dynamic_alone => SqlError::specific_access_denied("GRANT OPTION"),
            None => {
                let AccountName { user, host } = self.own_account();
                let open = self.db.accounts().find(&self.own_account()).is_none_or(|one| one.is_open());
                SqlError::access_denied(user, host, if open { "NO" } else { "YES" })
            }
        })
    }

    /// Fails unless the account may set a variable that takes one of these.
    pub(super) fn ask_to_set(&mut self, (any, words): right::Asked) -> SqlResult<()> {
        self.ask(&Need::Server(any, words))
    }

    /// Fails unless it may say what the next start begins with.
    pub(super) fn ask_for_next_start(&mut self) -> SqlResult<()> {
        self.ask(&Need::NextStart)
    }

    /// KILL of somebody else's session.
    pub(super) fn may_kill(&mut self, id: u64) -> SqlResult<()> {
        match self.rights().may_any(&[P::SUPER, P::CONNECTION_ADMIN]) {
            true => Ok(()),
            false => Err(SqlError::kill_denied(id)),
        }
    }

    /// KILL of a session whose account has SYSTEM_USER.
    pub(super) fn may_end(&mut self, other: &Entry) -> SqlResult<()> {
        let (account, active) = other.look(|shown| (shown.account.clone(), shown.active.clone()));
        let guarded = Rights::of(self.db.accounts(), &account, &active).may(P::SYSTEM_USER, None);
        if guarded && other.id != self.entry.id && !self.is_system_user() {
            return Err(SqlError::kill_denied(other.id));
        }
        Ok(())
    }

    /// COM_DEBUG
    pub fn may_debug(&mut self) -> SqlResult<()> {
        self.ask(&Need::Server(&[P::SUPER], "SUPER"))
    }

    /// Whether its database may be the current one; the name may be unknown.
    pub(super) fn ask_for_schema(&mut self, name: &str) -> SqlResult<()> {
        self.ask(&Need::SomeOfSchema(name.into()))
    }

    /// COM_FIELD_LIST
    pub(super) fn ask_for_fields(&mut self, schema: &str, table: &str) -> SqlResult<()> {
        self.ask_table(P::SELECT, schema, table)
    }
}
