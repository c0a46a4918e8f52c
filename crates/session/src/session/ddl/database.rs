//! CREATE, ALTER and DROP DATABASE.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::super::Session;
use super::super::statement::Outcome;
use super::drop_table::drop_together;
use super::foreign_key::name_of;
use super::{claim, no_tables_locked, unless};
use crate::catalog::SERVERS_OWN;
use crate::collation::Collation;
use crate::error::{SqlError, SqlResult};
use crate::mdl::Mode;
use crate::mdl::names::Name;
use crate::session::rights;
use crate::virtual_table::VirtualTable;
use crate::{ast, definition};

fn database_collation(session: &Session, options: &ast::DatabaseOptions) -> SqlResult<Collation> {
    if let Some(encryption) = &options.encryption {
        definition::check_encryption(encryption)?;
    }
    let charset = options
        .charset
        .as_deref()
        .map(|name| Collation::default_of_charset(name).ok_or_else(|| SqlError::unknown_character_set(name)));
    let charset = charset.transpose()?;
    let Some(name) = &options.collation else {
        return Ok(charset.unwrap_or_else(|| session.state.collation_named("collation_server")));
    };
    let collation = Collation::by_name(name).ok_or_else(|| SqlError::unknown_collation(name))?;
    charset.map_or(Ok(()), |charset| definition::column::same_charset(collation, charset))?;
    Ok(collation)
}

pub(super) async fn create_database(session: &mut Session, create: &ast::CreateDatabase) -> SqlResult<()> {
    no_tables_locked(session)?;
    definition::limit::database_name(&create.name)?;
    // Nobody may create these two, whatever they hold; `sys` exists as any other.
    if VirtualTable::is_schema(&create.name) && !create.name.eq_ignore_ascii_case("sys") {
        return Err(rights::denied_database(session, &create.name));
    }
    if &*create.name == SERVERS_OWN && !create.if_not_exists {
        return Err(SqlError::system_schema_rejected(&create.name));
    }
    claim::claim(session, vec![(Name::Schema(create.name.clone()), Mode::Exclusive)], &[]).await?;
    let virtual_one = VirtualTable::is_schema(&create.name);
    if virtual_one || session.db.dictionary().schema_collation(&create.name).is_some() {
        let error = SqlError::database_exists(&create.name);
        return unless(session, create.if_not_exists, error);
    }
    let collation = database_collation(session, &create.options)?;
    session.db.save_schema(&create.name, collation).await?;
    session.db.dictionary().put_schema(&create.name, collation);
    Ok(())
}

/// Fails for a database that is the server's own.
fn not_the_servers(session: &Session, name: &str) -> SqlResult<()> {
    if VirtualTable::is_schema(name) {
        return Err(rights::denied_database(session, name));
    }
    if name == SERVERS_OWN { Err(SqlError::system_schema_rejected(name)) } else { Ok(()) }
}

pub(super) async fn alter_database(
    session: &mut Session,
    name: Option<&str>,
    options: &ast::DatabaseOptions,
) -> SqlResult<()> {
    let current = session.state.schema();
    let name = name.or(current.as_deref()).ok_or_else(SqlError::no_database_selected)?;
    no_tables_locked(session)?;
    not_the_servers(session, name)?;
    let collation = database_collation(session, options)?;
    claim::claim(session, vec![(Name::Schema(name.into()), Mode::Exclusive)], &[]).await?;
    let known = session.db.dictionary().schema_collation(name);
    known.ok_or_else(|| SqlError::no_such_database(name))?;
    session.db.save_schema(name, collation).await?;
    session.db.dictionary().put_schema(name, collation);
    Ok(())
}

pub(super) async fn drop_database(session: &mut Session, name: &str, if_exists: bool) -> SqlResult<Outcome> {
    no_tables_locked(session)?;
    not_the_servers(session, name)?;
    claim::claim(session, vec![(Name::Schema(name.into()), Mode::Exclusive)], &[]).await?;
    if session.db.dictionary().schema_collation(name).is_none() {
        let error = SqlError::cannot_drop_missing_database(name);
        return unless(session, if_exists, error).map(|()| Outcome::default());
    }
    let tables = session.db.dictionary().tables(name);
    let going: Vec<_> = tables.iter().map(|table| name_of(&table.definition)).collect();
    let affected = drop_together(session, &going, Some(name)).await?;
    if session.state.schema().as_deref() == Some(name) {
        session.state.set_schema(None);
    }
    Ok(Outcome { affected, ..Outcome::default() })
}

/// Tells of a name whether a table of a database, but for `except`, has a CHECK constraint that is called
/// so. The tables are looked at once, when the first name is asked for.
pub fn check_names(session: &Session, schema: &str, except: &str) -> impl Fn(&str) -> bool {
    let names = OnceCell::new();
    move |name| {
        let all = || {
            let tables = session.db.dictionary().tables(schema);
            let others = tables.iter().filter(|table| table.name() != except);
            let names = others.flat_map(|table| &table.definition.checks).map(|check| &check.name);
            names.map(|name| name.to_ascii_lowercase()).collect::<FxHashSet<String>>()
        };
        names.get_or_init(all).contains(&name.to_ascii_lowercase())
    }
}
