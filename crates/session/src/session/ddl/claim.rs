//! Holding the names that a statement gives, until everybody sees who has them ([`crate::mdl::names`]).

use turnstile_engine::session_status::WaitingFor;

use super::super::Session;
use crate::dictionary::TableName;
use crate::dictionary::table::Definition;
use crate::error::{SqlError, SqlResult};
use crate::mdl::names::{Claim, Name, in_order};
use crate::mdl::{Hold, Mode};
use crate::session::ddl::foreign_key;
use crate::session::{ddl, transaction};
use turnstile_engine::yield_now::Slice;

/// What a statement holds that makes a table, or gives one a name.
pub(super) fn new_table(schema: &str, name: &str) -> Vec<Claim> {
    let table = Name::Table(schema.into(), name.into());
    vec![(Name::Schema(schema.into()), Mode::Write), (table, Mode::Exclusive)]
}

/// What it holds of the names of parents.
pub(super) fn parents(named: &[TableName]) -> impl Iterator<Item = Claim> {
    named.iter().map(|(schema, name)| (Name::Table(schema.clone(), name.clone()), Mode::Write))
}

/// Holds names until the statement ends, besides the tables that it holds. What a look finds out about
/// them from then on stays so.
pub(super) async fn claim(session: &mut Session, mut claims: Vec<Claim>, holds: &[Hold]) -> SqlResult<()> {
    in_order(&mut claims);
    let status = session.entry.status.clone();
    let _note = status.waits(WaitingFor::Definition);
    let mut patience = transaction::metadata_patience(session);
    holds.iter().for_each(|hold| patience.also_holds(hold));
    let (mut claimed, mut slice) = (Vec::with_capacity(claims.len()), Slice::default());
    for (name, mode) in claims {
        slice.breathe().await;
        let mdl = session.db.names().mdl(&name);
        let hold = match mode {
            Mode::Exclusive => mdl.lock(mode, &mut patience).await?,
            _ => mdl.enter(mode, false, &mut patience).await?,
        };
        patience.also_holds(&hold);
        claimed.push(hold);
    }
    drop(patience);
    session.defining.append(&mut claimed);
    Ok(())
}

/// The same without waiting; false, with nothing more held, if somebody else has one of them.
pub(super) fn claim_now(session: &mut Session, mut claims: Vec<Claim>) -> bool {
    in_order(&mut claims);
    let take = |(name, mode): &Claim| {
        let mdl = session.db.names().mdl(name);
        match mode {
            Mode::Exclusive => mdl.try_lock(),
            mode => mdl.try_enter(*mode, false),
        }
    };
    let Some(mut claimed) = claims.iter().map(take).collect::<Option<Vec<Hold>>>() else { return false };
    session.defining.append(&mut claimed);
    true
}

/// Holds the names of a new table's constraints, and finds that no other table has them: errors 3822 and
/// 1826.
pub(super) async fn claim_constraints(
    session: &mut Session,
    definition: &Definition,
    holds: &[Hold],
) -> SqlResult<()> {
    let (schema, table) = (&definition.schema, &definition.name);
    claim(session, new_constraints(definition, None), holds).await?;
    let taken = ddl::check_names(session, schema, table);
    for check in &definition.checks {
        if taken(&check.name) {
            return Err(SqlError::duplicate_check_name(&check.name));
        }
    }
    definition
        .foreign_keys
        .iter()
        .try_for_each(|key| foreign_key::check_name_is_free(session, schema, table, &key.name))
}

/// Claims on the names of constraints that a definition has and `old` has not.
pub(super) fn new_constraints(definition: &Definition, old: Option<&Definition>) -> Vec<Claim> {
    let old = old.filter(|old| old.schema == definition.schema);
    let had = |name: &str| old.into_iter().flat_map(constraints).any(|one| one.eq_ignore_ascii_case(name));
    let new = constraints(definition).filter(|name| !had(name));
    new.map(|name| (Name::constraint(&definition.schema, name), Mode::Exclusive)).collect()
}

fn constraints(definition: &Definition) -> impl Iterator<Item = &str> {
    let keys = definition.foreign_keys.iter().map(|key| &*key.name);
    definition.checks.iter().map(|check| &*check.name).chain(keys)
}
