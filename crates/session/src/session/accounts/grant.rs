//! GRANT and REVOKE: of everything, of a database, of a table and of columns; and the statements that SHOW
//! GRANTS shows.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use super::staged::Staged;
use crate::accounts::{AccountName, Privileges, TableRights, privileges};
use crate::ast::{Grant, Privilege, PrivilegeLevel, Revoke, UserName};
use crate::error::{SqlError, SqlResult};
use crate::session::accounts::staged;
use crate::session::{Session, accounts, rights};
use crate::virtual_table::VirtualTable;

/// Where privileges are granted.
enum Place {
    Everything,
    Database(String),
    Table(String, String),
}

/// What is granted or revoked.
#[derive(Default)]
struct Wanted {
    /// ALL PRIVILEGES: REVOKE takes what there is.
    all: bool,
    /// On the place.
    whole: Privileges,
    /// On columns of the table.
    columns: Vec<(String, Privileges)>,
}

impl Wanted {
    fn read(names: &[Privilege], place: &Place) -> SqlResult<Wanted> {
        let possible = match place {
            Place::Everything => Privileges::all(false),
            Place::Database(_) => Privileges::all(true),
            Place::Table(..) => Privileges::all_of_tables(),
        };
        let mut wanted = Wanted::default();
        for one in names {
            let privilege = match &*one.name {
                "ALL" | "ALL PRIVILEGES" => {
                    wanted.all = true;
                    possible
                }
                "USAGE" => Privileges::NONE,
                name => Privileges::named(name).ok_or_else(|| match place {
                    Place::Table(_, table) => SqlError::illegal_privilege_level(table),
                    Place::Database(_) => SqlError::illegal_privilege_level(name),
                    Place::Everything if privileges::UNKNOWN_HERE.contains(&name) => {
                        SqlError::not_supported_yet(format!("the privilege {name}"))
                    }
                    Place::Everything => SqlError::syntax_error(),
                })?,
            };
            if !possible.with(Privileges::GRANT_OPTION).has(privilege) {
                return Err(misplaced(privilege, place));
            }
            if one.columns.is_empty() {
                wanted.whole = wanted.whole.with(privilege);
                continue;
            }
            if !matches!(place, Place::Table(..)) {
                return Err(SqlError::illegal_grant_for_table());
            }
            wanted.columns.extend(one.columns.iter().map(|column| (column.to_string(), privilege)));
        }
        Ok(wanted)
    }

    /// Whether some of it is not held where it would be taken from.
    fn lacks(&self, on_place: Privileges, table: Option<&TableRights>) -> bool {
        let on_column = |name: &str| table.map_or(Privileges::NONE, |table| table.on_column(name));
        !self.all && !on_place.has(self.whole)
            || self.columns.iter().any(|(name, one)| !on_column(name).has(*one))
    }
}

/// The error for a privilege that there is not at this place.
fn misplaced(privilege: Privileges, place: &Place) -> SqlError {
    let dynamic = Privileges::DYNAMIC;
    match place {
        Place::Table(_, table) if dynamic.has(privilege) => SqlError::illegal_privilege_level(table),
        _ if dynamic.has(privilege) => SqlError::illegal_privilege_level(privilege.in_words()),
        Place::Table(..) => SqlError::illegal_grant_for_table(),
        Place::Database(_) | Place::Everything => SqlError::wrong_usage("DB GRANT", "GLOBAL PRIVILEGES"),
    }
}

fn place(session: &Session, level: &PrivilegeLevel) -> SqlResult<Place> {
    let current = || {
        Ok::<_, SqlError>(session.current_schema().ok_or_else(SqlError::no_database_selected)?.to_string())
    };
    Ok(match level {
        PrivilegeLevel::Global => Place::Everything,
        PrivilegeLevel::Schema(name) => Place::Database(name.to_string()),
        PrivilegeLevel::CurrentSchema => Place::Database(current()?),
        PrivilegeLevel::Table { schema: Some(schema), table } => {
            Place::Table(schema.to_string(), table.to_string())
        }
        PrivilegeLevel::Table { schema: None, table } => Place::Table(current()?, table.to_string()),
        PrivilegeLevel::Routine { .. } => {
            return Err(SqlError::not_supported_yet("privileges on routines"));
        }
    })
}

pub(super) fn accounts_named(session: &Session, names: &[UserName]) -> Vec<AccountName> {
    names.iter().map(|name| accounts::account_named(session, name)).collect()
}

/// Fails unless the account may grant or revoke this here.
fn may_pass(session: &mut Session, place: &Place, wanted: &Wanted) -> SqlResult<()> {
    match place {
        Place::Everything => rights::may_pass_on(session, wanted.whole, None),
        Place::Database(name) => rights::may_pass_on(session, wanted.whole, Some(name)),
        Place::Table(schema, table) => {
            rights::may_pass_on_table(session, (schema, table), wanted.whole, &wanted.columns)
        }
    }
}

/// GRANT
pub(super) async fn grant(session: &mut Session, grant: &Grant) -> SqlResult<()> {
    let place = place(session, &grant.level)?;
    let mut wanted = Wanted::read(&grant.privileges, &place)?;
    let named_option = wanted.whole.has(Privileges::GRANT_OPTION);
    if grant.grant_option {
        wanted.whole = wanted.whole.with(wanted.whole.option());
    }
    may_pass(session, &place, &wanted)?;
    check_granted(session, &place, &wanted)?;
    let grantor = session.own_account().text();
    let granted = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut staged = staged::stage(session).await?;
    for name in accounts_named(session, &grant.users) {
        staged::pace(session, &mut staged).await?;
        let found = staged::account_to_change(session, &staged, &name)?;
        if wanted.whole.has(Privileges::SYSTEM_USER)
            && session.database().accounts().mandatory().contains(&name)
        {
            return Err(SqlError::system_user_for_mandatory_role(name.quoted()));
        }
        let mut account = found.ok_or_else(SqlError::cannot_create_user_with_grant)?;
        match &place {
            Place::Everything => {
                // GRANT OPTION by its name is for the dynamic ones too that the account holds.
                let held = Privileges(account.global.0 & Privileges::DYNAMIC.0);
                if named_option && held != Privileges::NONE {
                    rights::may_pass_on(session, held, None)?;
                    account.global = account.global.with(held.handed_on());
                }
                account.global = account.global.with(wanted.whole);
            }
            Place::Database(name) => {
                let held = account.databases.entry(name.clone()).or_default();
                *held = held.with(wanted.whole);
            }
            Place::Table(schema, table) => {
                let rights = account.tables.entry((schema.clone(), table.clone())).or_default();
                rights.whole = rights.whole.with(wanted.whole);
                wanted.columns.iter().for_each(|(column, one)| rights.grant_column(column, *one));
                (rights.grantor, rights.granted) = (grantor.clone(), granted);
            }
        }
        staged.put(account);
    }
    staged::keep_staged(session, staged).await
}

/// Fails if the table or a column is not there that privileges are granted on.
fn check_granted(session: &Session, place: &Place, wanted: &Wanted) -> SqlResult<()> {
    let Place::Table(schema, table) = place else { return Ok(()) };
    if VirtualTable::find(schema, table)?.is_some() {
        return Ok(());
    }
    let named = match session.database().dictionary().named(schema, table) {
        Ok(named) => named,
        Err(_) => {
            let may_come = wanted.columns.is_empty() && wanted.whole.has(Privileges::CREATE);
            return if may_come { Ok(()) } else { Err(SqlError::no_such_table(schema, table)) };
        }
    };
    for (column, _) in &wanted.columns {
        if !named.columns().iter().any(|one| one.name.eq_ignore_ascii_case(column)) {
            return Err(SqlError::unknown_column(column, table));
        }
    }
    Ok(())
}

/// REVOKE
pub(super) async fn revoke(session: &mut Session, revoke: &Revoke) -> SqlResult<()> {
    let names = accounts_named(session, &revoke.users);
    let Some(level) = &revoke.level else { return revoke_everything(session, &names).await };
    let place = place(session, level)?;
    let known = |one: &&Privilege| {
        Privileges::named(&one.name).is_some() || matches!(&*one.name, "ALL" | "ALL PRIVILEGES" | "USAGE")
    };
    let mut privileges = revoke.privileges.clone();
    if matches!(place, Place::Everything) {
        // Nobody holds what nobody knows.
        for one in revoke.privileges.iter().filter(|one| !known(one)) {
            if !privileges::UNKNOWN_HERE.contains(&&*one.name) {
                rights::warn(session, SqlError::unknown_dynamic_privilege(&one.name));
            }
        }
        privileges.retain(|one| known(&one));
    }
    let wanted = Wanted::read(&privileges, &place)?;
    if !revoke.is_of_all() {
        may_pass(session, &place, &wanted)?;
    }
    let mut staged = staged::stage(session).await?;
    for name in names {
        staged::pace(session, &mut staged).await?;
        if revoke.ignore_unknown_user && session.database().accounts().find(&name).is_none() {
            rights::warn(session, SqlError::unknown_authorization_id(&name.user));
            continue;
        }
        revoke_from(session, &mut staged, &name, (&place, &wanted), revoke.if_exists)?;
    }
    staged::keep_staged(session, staged).await
}

/// With IF EXISTS what is held goes, and a warning tells that some is not.
fn revoke_from(
    session: &mut Session,
    staged: &mut Staged,
    name: &AccountName,
    (place, wanted): (&Place, &Wanted),
    if_exists: bool,
) -> SqlResult<()> {
    let found = staged::account_to_change(session, staged, name)?;
    let missing = || match place {
        Place::Table(_, table) => SqlError::nonexisting_table_grant(&name.user, &name.host, table),
        Place::Everything | Place::Database(_) => SqlError::nonexisting_grant(&name.user, &name.host),
    };
    let Some(mut account) = found else { return refuse_or_warn(session, missing(), if_exists) };
    match place {
        // What is not held on everything is not missed, as in MySQL.
        Place::Everything => {
            account.global = account.global.without(wanted.whole.with(wanted.whole.handed_on()));
        }
        Place::Database(database) => {
            let Some(held) = account.databases.get_mut(database) else {
                return refuse_or_warn(session, missing(), if_exists);
            };
            if wanted.lacks(*held, None) {
                refuse_or_warn(session, missing(), if_exists)?;
            }
            *held = held.without(wanted.whole);
            account.databases.retain(|_, privileges| *privileges != Privileges::NONE);
        }
        Place::Table(schema, table) => {
            let key = (schema.clone(), table.clone());
            let Some(rights) = account.tables.get_mut(&key) else {
                return refuse_or_warn(session, missing(), if_exists);
            };
            if wanted.lacks(rights.somewhere(), Some(rights)) {
                refuse_or_warn(session, missing(), if_exists)?;
            }
            rights.revoke_whole(wanted.whole);
            wanted.columns.iter().for_each(|(column, one)| rights.revoke_column(column, *one));
            account.tables.retain(|_, rights| !rights.is_empty());
        }
    }
    staged.put(account);
    Ok(())
}

pub(super) fn refuse_or_warn(session: &Session, error: SqlError, if_exists: bool) -> SqlResult<()> {
    if !if_exists {
        return Err(error);
    }
    rights::warn(session, error);
    Ok(())
}

/// REVOKE ALL PRIVILEGES, GRANT OPTION: at every level.
async fn revoke_everything(session: &mut Session, names: &[AccountName]) -> SqlResult<()> {
    let accounts = session.database().accounts();
    if names.iter().any(|name| accounts.find(name).is_none()) {
        return Err(SqlError::cannot_revoke_all());
    }
    let mut staged = staged::stage(session).await?;
    for name in names {
        staged::pace(session, &mut staged).await?;
        let Some(mut account) = staged::account_to_change(session, &staged, name)? else { continue };
        account.global = Privileges::NONE;
        account.databases = BTreeMap::new();
        account.tables = BTreeMap::new();
        staged.put(account);
    }
    staged::keep_staged(session, staged).await
}
