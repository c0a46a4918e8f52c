//! SET PERSIST, SET PERSIST_ONLY and RESET PERSIST: what of the globals outlives the server. The file and its
//! promise are in [`crate::variables::persisted`].
//!
//! The file is written when all items of a SET have been checked and before the first is set, so that a file
//! that cannot be written (error 3549) leaves the server as it was. The write blocks its thread for two
//! syncs: it is an administrator's statement, and the pool lends the rest of the group another thread.

use std::time::{SystemTime, UNIX_EPOCH};

use super::Session;
use crate::ast::VariableScope;
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::session::rights;
use crate::value::Value;
use crate::variables::persisted::{Change, Entry};
use crate::variables::{self, Definition, Effect, Persisted, Scope, VARIABLES, right};

/// Variables that say where this server lives or what it is: to be changed by who starts it, not through it.
/// Those that only report a fact are as little to be kept.
const NOT_KEPT: &[&str] = &[
    "auto_generate_certs",
    "basedir",
    "bind_address",
    "caching_sha2_password_auto_generate_rsa_keys",
    "caching_sha2_password_private_key_path",
    "caching_sha2_password_public_key_path",
    "datadir",
    "extra_port",
    "have_openssl",
    "have_ssl",
    "hostname",
    // Its statements run with all rights: who may set variables would hold them all.
    "init_file",
    "innodb_page_size",
    "license",
    "log_error",
    "lower_case_file_system",
    "lower_case_table_names",
    "persisted_globals_load",
    "pid_file",
    "port",
    "protocol_version",
    "restrict_fk_on_non_standard_key",
    "secure_file_priv",
    "server_uuid",
    "skip_networking",
    "socket",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
    "system_time_zone",
    "turnstile_console",
    "turnstile_console_host",
    "version",
    "version_comment",
];

/// Whether a SET of this scope is to outlive the server.
pub(super) fn is_kept(scope: VariableScope) -> bool {
    matches!(scope, VariableScope::Persist | VariableScope::PersistOnly)
}

/// Fails unless a variable may be set in this scope at all.
pub(super) fn check_scope(definition: &Definition, scope: VariableScope, name: &str) -> SqlResult<()> {
    let global = !matches!(scope, VariableScope::Default | VariableScope::Session);
    let refused = |what| Err(SqlError::incorrect_global_local_variable(name, what));
    if !definition.effect.is_dynamic() && scope != VariableScope::PersistOnly {
        if !global && definition.is_set_globally_in_mysql() {
            return Err(SqlError::global_variable(name));
        }
        return refused("read only");
    }
    match (definition.scope, global) {
        (Scope::Session, true) => return Err(SqlError::local_variable(name)),
        (Scope::Global, false) => return Err(SqlError::global_variable(name)),
        _ => {}
    }
    let not_kept = NOT_KEPT.contains(&definition.name)
        || definition.name.starts_with("innodb_monitor_")
        || matches!(definition.effect, Effect::Fixed | Effect::Only);
    match is_kept(scope) && not_kept {
        true if definition.effect.is_dynamic() => refused("non persistent"),
        true => refused("non persistent read only"),
        false => Ok(()),
    }
}

/// Whether SET may change what a kept value is for; so may one that only the file knows.
fn is_dynamic(name: &str) -> bool {
    variables::find(name).is_none_or(|at| VARIABLES[at].effect.is_dynamic())
}

/// Makes durable what SET PERSIST and SET PERSIST_ONLY ask for.
pub(super) fn keep<'v>(session: &Session, kept: impl Iterator<Item = (usize, &'v Value)>) -> SqlResult<()> {
    let mut kept = kept.peekable();
    if kept.peek().is_none() {
        return Ok(());
    }
    let account = session.own_account();
    let set_us = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_micros() as u64);
    let changes = kept.map(|(at, value)| {
        let value = VARIABLES[at].show(value);
        let (user, host) = (account.user.to_string(), account.host.to_string());
        Change::Keep(VARIABLES[at].name.into(), Entry { value, set_us, user, host })
    });
    change_kept(session, changes.collect())
}

fn change_kept(session: &Session, changes: Vec<Change>) -> SqlResult<()> {
    let persisted = session.db.globals().persisted().ok_or_else(SqlError::variable_not_persisted)?;
    persisted.change(changes).map_err(|_| SqlError::variable_not_persisted())
}

/// Who may forget a value is who may keep it; that nothing is kept is no secret.
fn ask_to_forget(session: &mut Session, name: &str) -> SqlResult<()> {
    if is_dynamic(name) {
        rights::ask_to_set(session, right::GLOBAL)
    } else {
        rights::ask_for_next_start(session)
    }
}

/// RESET PERSIST [[IF EXISTS] name]
pub(super) fn reset_persist(session: &mut Session, name: Option<&str>, if_exists: bool) -> SqlResult<()> {
    let Some(name) = name else {
        let Some(entries) = session.db.globals().persisted().map(Persisted::entries) else {
            rights::ask_to_set(session, right::GLOBAL)?;
            return Err(SqlError::variable_not_persisted());
        };
        let (dynamic, fixed): (Vec<_>, Vec<_>) = entries.iter().partition(|(name, _)| is_dynamic(name));
        for (name, _) in dynamic.into_iter().chain(fixed) {
            ask_to_forget(session, name)?;
        }
        return change_kept(session, vec![Change::ForgetAll]);
    };
    // By another spelling of its name, or by a name that only the file knows.
    let lower = name.to_ascii_lowercase();
    let known = variables::find(&lower).map_or(&*lower, |at| VARIABLES[at].name).to_string();
    if session.db.globals().persisted().is_some_and(|persisted| persisted.has(&known)) {
        ask_to_forget(session, &known)?;
        return change_kept(session, vec![Change::Forget(known)]);
    }
    let missing = SqlError::not_in_persisted_file(name);
    if !if_exists {
        return Err(missing);
    }
    session.state.warnings.push(WarningLevel::Warning, missing);
    Ok(())
}
