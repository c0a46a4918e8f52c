//! CREATE TABLE of written columns, and CREATE TABLE ... LIKE.

use std::sync::Arc;

use turnstile_engine::ids::TableId;

use super::super::Session;
use super::super::statement::Outcome;
use super::database::check_names;
use super::foreign_key::children_of;
use super::{claim, create_select, foreign_key, is_taken, make_trees, parents_named, schema_of, unless};
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
    if look_at_new_name(session, create, &schema)?.is_none() {
        return Ok(Outcome::default());
    }
    let mut claims = claim::new_table(&schema, &create.name.table);
    claims.extend(claim::parents(&parents_named(create.keys.iter(), &schema)));
    claim::claim(session, claims, &[]).await?;
    // Somebody may have been faster.
    let Some(default) = look_at_new_name(session, create, &schema)? else { return Ok(Outcome::default()) };
    let holds = take_for_create(session, create, &schema).await?;
    let id = session.db.dictionary().next_table_id();
    let place = definition::Place { schema: &schema, id, default };
    let mut faults = Faults::default();
    let mut definition = match (&create.like, &create.query) {
        (Some(like), _) => {
            let other = session.db.dictionary().table(&schema_of(session, like)?, &like.table)?;
            let (here, name) = (schema.clone(), create.name.table.clone());
            let mut definition = Definition {
                id,
                schema: here,
                name,
                auto_increment: 0,
                foreign_keys: Vec::new(),
                ..other.definition.clone()
            };
            let taken = check_names(session, &schema, "");
            definition::check::rename(&mut definition, "", true, &taken)?;
            create_select::warn_of_types(session, definition.columns.iter());
            definition
        }
        (None, Some(query)) => {
            return Box::pin(create_select::create_from_query(session, create, (query, params), place)).await;
        }
        (None, None) => {
            let mut definition = statement::with_eval(session, &[], |eval| {
                definition::build(create, Vec::new(), place, &mut faults, eval)
            })?;
            let taken = check_names(session, &schema, "");
            definition::check::add(&mut definition, &create.checks, &taken, &mut faults);
            definition
        }
    };
    // Without keys and columns that are sound there is nothing that a parent could fit.
    faults.before(Phase::ForeignKeys)?;
    if create.like.is_some() {
        check_has_primary(session, &definition)?;
    } else {
        check_is_identified(session, &definition)?;
    }
    claim::claim_constraints(session, &definition, &holds).await?;
    let fits = foreign_key::fit_parents(session, &mut definition, 0, &[]);
    faults.take(Phase::ForeignKeys, fits);
    faults.end()?;
    foreign_key::fit_children(session, &definition)?;
    make_trees(session, &mut definition)?;
    let made_by = session.db.save_tables(&[&definition]).await?;
    let table = Table::new(definition, Arc::default(), Counters::fresh()).made_by(made_by);
    session.db.dictionary().put_table(Arc::new(table));
    Ok(Outcome::default())
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
    session.db.dictionary().base_table(&of, &like.table).map(drop)
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
    if is_taken(session, schema, &create.name.table) {
        let error = SqlError::table_exists(&create.name.table);
        return unless(session, create.if_not_exists, error).map(|()| None);
    }
    if session.table_locks.is_some() {
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
