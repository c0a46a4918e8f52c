//! The one place where privileges are asked for. `Session::dispatch` asks for what a statement says in
//! `needs.rs`; `Session::enter_for` for the tables of a statement on rows, whenever it takes their metadata
//! locks, so that a kept plan is not run by who has lost a right; `Session::run_rows` for the columns that a
//! plan uses, which planning has noted (`plan/uses.rs`).
//!
//! The answer is the account's as it is now: [`KnownRights`] looks it up again when an account has changed,
//! and one that is gone may do nothing.

mod denial;
mod viewed;

use std::sync::Arc;

use super::Session;
use super::needs::{self, Need};
use crate::accounts::{AccountName, KnownRights, Privileges as P, Rights, TableRights};
use crate::ast::{ShowWhat, Statement, TableName};
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::plan::uses::UseList;
use crate::registry::Entry;
use crate::session::ddl::schema_of;
use crate::used_tables::{Asked, Used};
use crate::variables::right;
use crate::virtual_table::VirtualTable;
use denial::{denial, denied_table, who_and_whence};
pub(super) use denial::{denied_before, denied_database, denied_of};

impl Session {
    /// COM_DEBUG
    pub fn may_debug(&mut self) -> SqlResult<()> {
        ask(self, &Need::Server(&[P::SUPER], "SUPER"))
    }
}

/// Fails unless the account has what a statement needs.
pub(super) fn ask_for_statement(session: &mut Session, statement: &Statement) -> SqlResult<()> {
    let current = session.state.schema();
    let needs = needs::of_statement(statement, current.as_deref(), &|| own_account_still(session))?;
    for need in &needs {
        if session.temporary.is_empty() || !of_own(session, statement, need) {
            ask(session, need)?;
        }
    }
    Ok(())
}

/// Whether it is a session's own table that a statement needs something on, and not the one of this name that
/// everybody has.
#[cold]
fn of_own(session: &Session, statement: &Statement, need: &Need) -> bool {
    let (Need::Table(_, schema, table)
    | Need::SomeOfTable(_, schema, table)
    | Need::SomeOfWholeTable(_, schema, table)
    | Need::Columns(schema, table)) = need
    else {
        return false;
    };
    if !session.temporary.has(schema, table) {
        return false;
    }
    let is =
        |name: &TableName| name.table == *table && schema_of(session, name).is_ok_and(|of| of == *schema);
    // Every kind that looks its tables up for the session alone; of the others it is everybody's.
    match statement {
        Statement::CreateTable(create) => create.like.as_ref().is_some_and(is),
        Statement::AlterTable(alter) => is(&alter.name),
        Statement::DropTable(_)
        | Statement::Truncate(_)
        | Statement::CreateIndex(_)
        | Statement::DropIndex { .. }
        | Statement::TableMaintenance(_)
        | Statement::LockTables(_) => true,
        Statement::Show(show) => matches!(
            show.what,
            ShowWhat::Columns { .. }
                | ShowWhat::Index { .. }
                | ShowWhat::CreateTable(_)
                | ShowWhat::CreateView(_)
        ),
        _ => false,
    }
}

fn rights(session: &mut Session) -> &Rights {
    let identity = &session.state.identity;
    let accounts = session.db.accounts();
    session.rights.now(accounts, || identity.lock().rights(accounts))
}

/// What the account holds on a database now.
fn held_on(session: &mut Session, schema: &str) -> P {
    let identity = &session.state.identity;
    let accounts = session.db.accounts();
    session.rights.on(accounts, || identity.lock().rights(accounts), schema)
}

fn ask_to_show(session: &mut Session, schema: &str) -> SqlResult<()> {
    let (user, host) = who_and_whence(session);
    let denied = |_| SqlError::database_access_denied(user, host, schema);
    ask(session, &Need::SomeOfSchema(schema.into())).map_err(denied)
}

fn ask(session: &mut Session, need: &Need) -> SqlResult<()> {
    match need {
        Need::Server(any, words) => {
            if !rights(session).may_any(any) {
                return Err(SqlError::specific_access_denied(words));
            }
        }
        Need::Schema(wanted, schema) => {
            let nobody = *wanted == P::CREATE_TEMPORARY_TABLES && VirtualTable::is_schema(schema);
            if held_on(session, schema).has(*wanted) && !nobody {
                return Ok(());
            }
            return Err(denied_database(session, schema));
        }
        Need::SomeOfSchema(schema) => {
            if schema.eq_ignore_ascii_case("information_schema") || rights(session).may_see(schema) {
                return Ok(());
            }
            return Err(denied_database(session, schema));
        }
        Need::Shown(schema) => return ask_to_show(session, schema),
        Need::Table(wanted, schema, table) => return ask_table(session, *wanted, schema, table),
        Need::SomeOfTable(command, schema, table) => {
            if !VirtualTable::is_schema(schema) && !rights(session).may_look_into_table(schema, table) {
                return Err(denied_table(session, command, table));
            }
        }
        Need::Columns(schema, table) => {
            let missing = !session.db.dictionary().has(schema, table);
            let rights = rights(session);
            let seen = rights.may_look_into_table(schema, table) || missing && rights.may_see(schema);
            if !VirtualTable::is_schema(schema) && !seen {
                return Err(denied_table(session, "SELECT", table));
            }
        }
        Need::SomeOfWholeTable(command, schema, table) => {
            if !VirtualTable::is_schema(schema) && !rights(session).may_know_table(schema, table) {
                return Err(denied_table(session, command, table));
            }
        }
        Need::Parent(schema, table) => {
            let whole = rights(session).on_table(schema, table).map_or(P::NONE, |rights| rights.whole);
            if !held_on(session, schema).with(whole).has(P::REFERENCES) {
                return Err(denied_table(session, "REFERENCES", &format!("{schema}.{table}")));
            }
        }
        Need::Routine(schema, name) => {
            if !held_on(session, schema).has(P::ALTER_ROUTINE) {
                let AccountName { user, host } = session.own_account();
                let full = format!("{schema}.{name}");
                return Err(SqlError::routine_access_denied("alter routine", user, host, full));
            }
        }
        Need::NextStart => {
            let both = P::SYSTEM_VARIABLES_ADMIN.with(P::PERSIST_RO_VARIABLES_ADMIN);
            if !rights(session).may(both, None) {
                return Err(SqlError::persist_only_access_denied(
                    "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN",
                ));
            }
        }
        Need::Passwords => {
            if !rights(session).may(P::CREATE_USER, None) && !held_on(session, "mysql").has(P::UPDATE) {
                return Err(denied_database(session, "mysql"));
            }
        }
    }
    Ok(())
}

fn ask_table(session: &mut Session, wanted: P, schema: &str, table: &str) -> SqlResult<()> {
    if schema.eq_ignore_ascii_case("information_schema") {
        return if wanted == P::SELECT { Ok(()) } else { Err(denied_database(session, schema)) };
    }
    // Nobody changes what is computed, whatever the account holds, but for numbers that begin anew; ANALYZE
    // and CREATE say so themselves.
    let looks = wanted.has(P::SELECT) || wanted.has(P::CREATE);
    let computed = VirtualTable::is_schema(schema) || !looks && VirtualTable::is_computed(schema, table);
    let begins_anew = wanted == P::DROP && VirtualTable::can_begin_anew(schema, table);
    if computed && changes_tables(wanted) && !begins_anew {
        return Err(denied_table(session, &wanted.without(P::SELECT).in_words(), table));
    }
    let held = held_on(session, schema);
    if held.has(wanted) || wanted == P::SELECT && VirtualTable::is_for_everybody(schema, table) {
        return Ok(());
    }
    // What is held on columns alone lets the statement on: which columns it uses is asked for when it is
    // planned.
    let lacking = wanted.without(held).without(held_on_table(session, schema, table));
    match lacking {
        P::NONE => Ok(()),
        lacking => Err(denied_table(session, &lacking.in_words(), table)),
    }
}

/// Whether one of these rights lets an account change tables, or which there are.
fn changes_tables(wanted: P) -> bool {
    let data = P::INSERT.with(P::UPDATE).with(P::DELETE).with(P::DROP);
    let tables =
        P::CREATE.with(P::ALTER).with(P::INDEX).with(P::CREATE_VIEW).with(P::CREATE_TEMPORARY_TABLES);
    data.with(tables).0 & wanted.0 != 0
}

/// What the account holds on a table or a column of it besides what it holds on the database.
fn held_on_table(session: &mut Session, schema: &str, table: &str) -> P {
    rights(session).on_table(schema, table).map_or(P::NONE, TableRights::somewhere)
}

/// Whether it holds one of these on a table, a column of it or the database.
fn holds_some(session: &mut Session, wanted: P, schema: &str, table: &str) -> bool {
    held_on(session, schema).0 & wanted.0 != 0 || held_on_table(session, schema, table).0 & wanted.0 != 0
}

/// Whether the account may change accounts that hold SYSTEM_USER.
pub(crate) fn is_system_user(session: &mut Session) -> bool {
    rights(session).may(P::SYSTEM_USER, None)
}

/// Whether it may grant roles that it does not hold itself.
pub(crate) fn may_pass_any_role(session: &mut Session) -> bool {
    rights(session).may_any(&[P::ROLE_ADMIN, P::SUPER])
}

/// Fails unless it holds CREATE USER.
pub(crate) fn ask_for_create_user(session: &mut Session) -> SqlResult<()> {
    ask(session, &needs::ACCOUNTS)
}

/// The account, and the roles that are active.
pub(crate) fn own_roles(session: &Session) -> (AccountName, Arc<[AccountName]>) {
    let identity = session.state.identity.lock();
    (identity.account.clone(), identity.active.clone())
}

/// The account, unless another has its name now.
pub(crate) fn own_account_still(session: &Session) -> Option<AccountName> {
    let identity = session.state.identity.lock();
    let another = session.db.accounts().is_another(&identity.account, identity.account_id);
    (!another).then(|| identity.account.clone())
}

/// Makes roles active, for its rights from now on and for who looks at the session.
pub(crate) fn make_active(session: &mut Session, roles: Arc<[AccountName]>) {
    session.state.identity.lock().active = roles.clone();
    session.entry.show(|shown| shown.active = roles);
    session.rights = KnownRights::default();
}

/// Fails unless the account may use the tables of a statement on rows as it does.
pub(super) fn ask_for_tables(session: &mut Session, tables: &[Used]) -> SqlResult<()> {
    for table in tables {
        let current = if table.schema.is_none() { session.state.schema() } else { None };
        // Without a database there is no table to be found either.
        let Some(schema) = table.schema_in(current.as_deref()) else { continue };
        match table.asked {
            Asked::All(wanted) => ask_table(session, wanted, schema, &table.name)?,
            Asked::ReadAnd(wanted) => {
                ask_table(session, P::SELECT, schema, &table.name)?;
                ask_table(session, wanted, schema, &table.name)?;
            }
            // Which of the tables are changed is only known when the columns are.
            Asked::SomeOf(wanted) => {
                if !holds_some(session, wanted, schema, &table.name) {
                    return Err(denied_table(session, "SELECT", &table.name));
                }
            }
        }
        if table.for_update && !VirtualTable::is_schema(schema) {
            let lasting = P::UPDATE.with(P::DELETE).with(P::LOCK_TABLES);
            if !holds_some(session, lasting, schema, &table.name) {
                return Err(denied_table(session, "SELECT with locking clause", &table.name));
            }
        }
    }
    Ok(())
}

/// Fails unless the account may use the columns that a plan uses. Who may use all of the databases passes
/// at once.
pub(super) fn ask_for_columns(session: &mut Session, uses: &UseList) -> SqlResult<()> {
    if session.rights.has_passed(session.db.accounts(), uses.number) {
        return Ok(());
    }
    rights(session);
    let version = session.rights.version();
    if !uses.iter().all(|one| held_on(session, &one.schema).has(one.wanted)) {
        let rights = rights(session).clone();
        denial(session, &rights, uses).map_or(Ok(()), Err)?;
    }
    if !uses.views.is_empty() {
        let rights = rights(session).clone();
        viewed::ask(session, &rights, &uses.views)?;
    }
    session.rights.note_passed(version, uses.number);
    Ok(())
}

/// Error 1345 unless the account may be told how the views are read that a plan reads.
pub(super) fn ask_to_explain(session: &mut Session, uses: &UseList) -> SqlResult<()> {
    let rights = rights(session).clone();
    viewed::ask_to_explain(&rights, &uses.views)
}

/// Whether the account may not use the columns that a plan uses.
pub(super) fn is_denied(session: &Session, uses: &UseList) -> bool {
    let rights = session.state.rights();
    denial(session, &rights, uses).is_some() || viewed::ask(session, &rights, &uses.views).is_err()
}

/// Whether the account may be told how the views are read that a plan reads.
pub(super) fn may_explain(session: &Session, uses: &UseList) -> bool {
    viewed::ask_to_explain(&session.state.rights(), &uses.views).is_ok()
}

/// Error 1142 unless the account may see a view's query.
pub(super) fn ask_for_view_text(session: &Session, schema: &str, name: &str) -> SqlResult<()> {
    match viewed::may_see_query(&session.state.rights(), schema, name) {
        true => Ok(()),
        false => Err(denied_table(session, "SHOW VIEW", name)),
    }
}

/// Fails unless the account may grant or revoke these on a table, and these on columns of it.
pub(crate) fn may_pass_on_table(
    session: &mut Session,
    (schema, table): (&str, &str),
    passed: P,
    columns: &[(String, P)],
) -> SqlResult<()> {
    let held = held_on(session, schema);
    let own = rights(session).on_table(schema, table).cloned().unwrap_or_default();
    let of_columns = columns.iter().fold(P::NONE, |all, (_, one)| all.with(*one));
    let lacking = passed.with(P::GRANT_OPTION).without(held.with(own.whole));
    let lacking = lacking.with(of_columns.without(held.with(own.somewhere())));
    if lacking != P::NONE {
        return Err(denied_table(session, &lacking.in_words(), table));
    }
    for (column, wanted) in columns {
        if !held.with(own.whole).with(own.on_column(column)).has(*wanted) {
            let (user, host) = who_and_whence(session);
            let command = wanted.in_words();
            return Err(SqlError::column_access_denied(command, user, host, column, table));
        }
    }
    Ok(())
}

/// A note for the client.
pub(crate) fn note(session: &Session, note: SqlError) {
    session.state.warnings.push(WarningLevel::Note, note);
}

/// A warning for the client.
pub(crate) fn warn(session: &Session, warning: SqlError) {
    session.state.warnings.push(WarningLevel::Warning, warning);
}

/// Fails unless the account may grant or revoke these: it must hold them itself, and the right to pass
/// them on.
pub(crate) fn may_pass_on(session: &mut Session, passed: P, database: Option<&str>) -> SqlResult<()> {
    if rights(session).on_pattern(database).has(passed.to_pass()) {
        return Ok(());
    }
    let dynamic_alone = passed != P::NONE && P::DYNAMIC.has(passed);
    Err(match database {
        Some(database) => denied_database(session, database),
        None if dynamic_alone => SqlError::specific_access_denied("GRANT OPTION"),
        None => {
            let AccountName { user, host } = session.own_account();
            let open = session.db.accounts().find(&session.own_account()).is_none_or(|one| one.is_open());
            SqlError::access_denied(user, host, if open { "NO" } else { "YES" })
        }
    })
}

/// Fails unless the account may set a variable that takes one of these.
pub(super) fn ask_to_set(session: &mut Session, (any, words): right::Asked) -> SqlResult<()> {
    ask(session, &Need::Server(any, words))
}

/// Fails unless it may say what the next start begins with.
pub(super) fn ask_for_next_start(session: &mut Session) -> SqlResult<()> {
    ask(session, &Need::NextStart)
}

/// Fails unless the account may make what runs with the rights of another. Those of an account with
/// SYSTEM_USER only who has that too.
pub(super) fn ask_to_define_for(session: &mut Session, definer: &AccountName) -> SqlResult<()> {
    ask(session, &Need::Server(&[P::SUPER], "SUPER or SET_ANY_DEFINER"))?;
    let guarded = Rights::of(session.db.accounts(), definer, &[]).may(P::SYSTEM_USER, None);
    if guarded && !is_system_user(session) {
        return Err(SqlError::specific_access_denied("SYSTEM_USER"));
    }
    Ok(())
}

/// KILL of somebody else's session.
pub(super) fn may_kill(session: &mut Session, id: u64) -> SqlResult<()> {
    match rights(session).may_any(&[P::SUPER, P::CONNECTION_ADMIN]) {
        true => Ok(()),
        false => Err(SqlError::kill_denied(id)),
    }
}

/// EXPLAIN FOR CONNECTION of another account's session: only who may do everything sees how it reads.
pub(super) fn may_everything(session: &mut Session) -> bool {
    let everything = P::all(false).without(P::DYNAMIC);
    rights(session).may(everything, None)
}

/// KILL of a session whose account has SYSTEM_USER.
pub(super) fn may_end(session: &mut Session, other: &Entry) -> SqlResult<()> {
    let (account, active) = other.look(|shown| (shown.account.clone(), shown.active.clone()));
    let guarded = Rights::of(session.db.accounts(), &account, &active).may(P::SYSTEM_USER, None);
    if guarded && other.id != session.entry.id && !is_system_user(session) {
        return Err(SqlError::kill_denied(other.id));
    }
    Ok(())
}

/// Whether its database may be the current one; the name may be unknown.
pub(super) fn ask_for_schema(session: &mut Session, name: &str) -> SqlResult<()> {
    ask(session, &Need::SomeOfSchema(name.into()))
}

/// COM_FIELD_LIST
pub(super) fn ask_for_fields(session: &mut Session, schema: &str, table: &str) -> SqlResult<()> {
    if session.temporary.has(schema, table) {
        return Ok(());
    }
    ask_table(session, P::SELECT, schema, table)
}
