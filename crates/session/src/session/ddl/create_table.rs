//! CREATE TABLE of written columns, and CREATE TABLE ... LIKE.

use std::sync::Arc;

use turnstile_engine::ids::TableId;

use super::super::Session;
use super::super::statement::Outcome;
use super::database::check_names;
use super::foreign_key::children_of;
use super::{
    claim, create_select, foreign_key, is_taken, make_trees, parents_named, schema_of, temporary, unless,
};
use crate::collation::Collation;
use crate::definition::phase::{Faults, Phase};
use crate::dictionary::table::{Counters, Definition};
use crate::dictionary::{Dictionary, Table};
use crate::error::{SqlError, SqlResult};
use crate::expr::{EvalContext, Warnings};
use crate::mdl::Hold;
use crate::session::statement;
use crate::value::Value;
use crate::virtual_table::VirtualTable;
use crate::{ast, definition};

pub(super) async fn create_table(
    session: &mut Session,
    create: &ast::CreateTable,
    params: &[Value],
) -> SqlResult<Outcome> {
    let schema = schema_of(session, &create.name)?;
    look_at_text(session, create, &schema)?;
    look_at_like(session, create, &schema)?;
    let Some(default) = look_at_new_name(session, create, &schema)? else { return Ok(Outcome::default()) };
    if create.temporary {
        return create_temporary(session, create, params, (&schema, default)).await;
    }
    let mut claims = claim::new_table(&schema, &create.name.table);
    claims.extend(claim::parents(&parents_named(create.keys.iter(), &schema)));
    claim::claim(session, claims, &[]).await?;
    // Somebody may have been faster.
    let Some(default) = look_at_new_name(session, create, &schema)? else { return Ok(Outcome::default()) };
    let holds = take_for_create(session, create, &schema).await?;
    let id = session.db.dictionary().next_table_id();
    let place = definition::Place { schema: &schema, id, default };
    if let (None, Some(query)) = (&create.like, &create.query) {
        return Box::pin(create_select::create_from_query(session, create, (query, params), place)).await;
    }
    let mut faults = Faults::default();
    let mut definition = written(session, create, place, &mut faults)?;
    claim::claim_constraints(session, &definition, &holds).await?;
    let fits = foreign_key::fit_parents(session, &mut definition, 0, &[]);
    faults.take(Phase::ForeignKeys, fits);
    faults.end()?;
    foreign_key::fit_children(session, &definition)?;
    make_trees(session, &mut definition, false)?;
    let made_by = session.db.save_tables(&[&definition]).await?;
    let table = Table::new(definition, Arc::default(), Counters::fresh()).made_by(made_by);
    session.db.dictionary().put_table(Arc::new(table));
    Ok(Outcome::default())
}

/// CREATE TEMPORARY TABLE, under a name that the session has free.
async fn create_temporary(
    session: &mut Session,
    create: &ast::CreateTable,
    params: &[Value],
    (schema, default): (&str, Collation),
) -> SqlResult<Outcome> {
    let id = session.db.dictionary().next_table_id();
    let place = definition::Place { schema, id, default };
    // A foreign key needs a child that others know.
    if !parents_named(create.keys.iter(), schema).is_empty() {
        return Err(SqlError::cannot_add_foreign_key());
    }
    if let (None, Some(query)) = (&create.like, &create.query) {
        return Box::pin(create_select::create_from_query(session, create, (query, params), place)).await;
    }
    let mut faults = Faults::default();
    let mut definition = written(session, create, place, &mut faults)?;
    faults.end()?;
    let charge = session.charge_own(&definition)?;
    make_trees(session, &mut definition, true)?;
    temporary::publish(session, definition, Counters::fresh(), charge);
    Ok(Outcome::default())
}

/// The definition that is written, or that another table has.
fn written(
    session: &Session,
    create: &ast::CreateTable,
    place: definition::Place<'_>,
    faults: &mut Faults,
) -> SqlResult<Definition> {
    let taken = names_of_checks(session, create.temporary, (place.schema, ""));
    let Some(like) = &create.like else {
        let mut definition = statement::with_eval(session, &[], |eval| {
            definition::build(create, Vec::new(), place, faults, eval)
        })?;
        definition::check::add(&mut definition, &create.checks, &taken, faults);
        // Without keys and columns that are sound there is nothing that a parent could fit.
        faults.before(Phase::ForeignKeys)?;
        check_is_identified(session, &definition)?;
        return Ok(definition);
    };
    let other = session.names().table(&schema_of(session, like)?, &like.table)?;
    let mut definition = Definition {
        id: place.id,
        schema: place.schema.into(),
        name: create.name.table.clone(),
        auto_increment: 0,
        foreign_keys: Vec::new(),
        ..other.definition.clone()
    };
    definition::check::rename(&mut definition, "", true, &taken)?;
    create_select::warn_of_types(session, definition.columns.iter());
    faults.before(Phase::ForeignKeys)?;
    check_has_primary(session, &definition)?;
    Ok(definition)
}

/// Which names of CHECK constraints a table cannot give: those of a temporary table concern nobody else.
pub(super) fn names_of_checks<'a>(
    session: &'a Session,
    temporary: bool,
    (schema, table): (&'a str, &'a str),
) -> Box<dyn Fn(&str) -> bool + 'a> {
    if temporary { Box::new(|_| false) } else { Box::new(check_names(session, schema, table)) }
}

/// `sql_require_primary_key` for a new table with keys of its own: one that stands for the primary key
/// will do.
pub fn check_is_identified(session: &Session, definition: &Definition) -> SqlResult<()> {
    match definition::primary_key(definition) {
        Some(_) => Ok(()),
        None => check_has_primary(session, definition),
    }
}

/// `sql_require_primary_key` for a table that is changed, or made as another one is.
pub fn check_has_primary(session: &Session, definition: &Definition) -> SqlResult<()> {
    if session.settings.require_primary_key && !definition.keys.iter().any(|key| key.primary) {
        return Err(SqlError::table_without_primary_key());
    }
    Ok(())
}

/// What is wrong with the text of a new table alone is told before its name is looked at.
fn look_at_text(session: &Session, create: &ast::CreateTable, schema: &str) -> SqlResult<()> {
    let place = definition::Place { schema, id: TableId(0), default: Collation::DEFAULT };
    if create.columns.is_empty() && (create.query.is_some() || create.like.is_some()) {
        return Ok(());
    }
    let quiet = Warnings::default();
    let mut faults = Faults::default();
    statement::with_eval(session, &[], |eval| {
        let eval = EvalContext { settings: eval.settings, warnings: &quiet, ..*eval };
        let mut definition = definition::build(create, Vec::new(), place, &mut faults, &eval)?;
        definition::check::add(&mut definition, &create.checks, &|_| false, &mut faults);
        // What a query selects is not known yet: conditions may be over its columns.
        faults.before(if create.query.is_some() { Phase::Conditions } else { Phase::Comment })
    })
}

/// What is wrong with the table that a new one is to be like is told before what is wrong with its name.
fn look_at_like(session: &Session, create: &ast::CreateTable, schema: &str) -> SqlResult<()> {
    let Some(like) = &create.like else { return Ok(()) };
    let of = schema_of(session, like)?;
    let same = *of == *schema && like.table == create.name.table;
    if same {
        return Err(SqlError::non_unique_table(&like.table));
    }
    if let Some(computed) = VirtualTable::find(&of, &like.table)? {
        return Err(match computed.table_type() {
            "BASE TABLE" => SqlError::not_supported_yet("CREATE TABLE LIKE of a computed table"),
            _ => SqlError::wrong_object(computed.schema(), computed.name(), "BASE TABLE"),
        });
    }
    session.names().base_table(&of, &like.table).map(drop)
}

/// The collation of the database that a new table comes into; None, with a note, if the table is there
/// and may be.
fn look_at_new_name(
    session: &mut Session,
    create: &ast::CreateTable,
    schema: &str,
) -> SqlResult<Option<Collation>> {
    let default = session.db.dictionary().schema_collation(schema);
    let default = default.ok_or_else(|| SqlError::unknown_database(schema))?;
    definition::limit::table_name(&create.name.table)?;
    let names = create.checks.iter().filter_map(|check| check.name.as_deref());
    names.into_iter().try_for_each(definition::limit::name_length)?;
    let taken = match create.temporary {
        true => session.temporary.has(schema, &create.name.table),
        false => is_taken(session, schema, &create.name.table),
    };
    if taken {
        let error = SqlError::table_exists(&create.name.table);
        return unless(session, create.if_not_exists, error).map(|()| None);
    }
    if session.table_locks.is_some() && !create.temporary {
        return Err(SqlError::table_not_locked(&create.name.table));
    }
    Ok(Some(default))
}

/// Takes the tables at the other end of a new table's foreign keys: its parents, and children that wait
/// for a table of its name.
async fn take_for_create(
    session: &mut Session,
    create: &ast::CreateTable,
    schema: &str,
) -> SqlResult<Vec<Hold>> {
    let parents = parents_named(create.keys.iter(), schema);
    if create.query.is_some() && !parents.is_empty() {
        return Err(SqlError::not_supported_yet("foreign keys in CREATE TABLE ... SELECT"));
    }
    let name = &create.name.table;
    let wanted = |dictionary: &Dictionary| [parents.clone(), children_of(dictionary, schema, name)].concat();
    foreign_key::take_all_alone(session, &wanted).await
}
