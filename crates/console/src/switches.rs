//! The switches of experiments: their values, and the statement that turns one. Whether somebody may turn it
//! is asked where SET GLOBAL asks it.

use serde_json::{Value as Json, json};
use turnstile_catalog::variables::{Definition, Kind, VARIABLES, find};
use turnstile_observe::status::Observed;

/// The switches of experiments, and what goes with them.
pub const SWITCHES: &[&str] = &[
    "innodb_adaptive_hash_index",
    "innodb_commit_concurrency",
    "innodb_concurrency_tickets",
    "innodb_deadlock_detect",
    "innodb_flush_log_at_trx_commit",
    "innodb_spin_wait_delay",
    "innodb_sync_spin_loops",
    "innodb_thread_concurrency",
    "innodb_thread_sleep_delay",
    "turnstile_blind_wait_ms",
    "turnstile_hot_row",
    "turnstile_hot_row_group_cap",
    "turnstile_hot_row_min_waiters",
    "turnstile_hot_row_patience_ms",
    "turnstile_hot_row_queue_cap",
    "turnstile_lock_queue_skips",
];

/// Shown, and not turned here: whether commits survive a crash is no matter of a click.
const NOT_TURNED: &[&str] = &["innodb_flush_log_at_trx_commit"];

/// Digits of a number that is passed on.
const DIGITS_MAX: usize = 20;

fn definition(name: &str) -> Option<&'static Definition> {
    find(name).map(|at| &VARIABLES[at])
}

/// The words that a switch may have; none for a number.
fn choices(definition: &Definition) -> &'static [&'static str] {
    match &definition.kind {
        Kind::Bool => &["OFF", "ON"],
        Kind::Enum(words) => words,
        _ => &[],
    }
}

/// All of them: name, value, default, the words that each may have, and whether it may be turned here.
pub fn told(db: &Observed) -> Vec<Json> {
    let in_words = |name: &&str| {
        let at = find(name)?;
        let definition = &VARIABLES[at];
        Some(json!({
            "name": name,
            "value": definition.show(&db.globals().get(at)),
            "default": definition.default,
            "choices": choices(definition),
            "turns": !NOT_TURNED.contains(name),
        }))
    };
    SWITCHES.iter().filter_map(in_words).collect()
}

/// The statement that turns a switch; None if there is no such switch, or it cannot have that value. Nothing
/// but words of the table and digits gets into it.
pub fn statement(name: &str, value: &str) -> Option<String> {
    let name = SWITCHES.iter().find(|known| **known == name && !NOT_TURNED.contains(known))?;
    let choices = choices(definition(name)?);
    if choices.is_empty() {
        let is_number =
            (1..=DIGITS_MAX).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit());
        return is_number.then(|| format!("SET GLOBAL {name} = {value}"));
    }
    let word = choices.iter().find(|word| **word == value)?;
    Some(format!("SET GLOBAL {name} = '{word}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_known_names_and_values_gets_into_a_statement() {
        let is = |name: &str, value: &str| statement(name, value);
        assert_eq!(
            is("turnstile_hot_row", "HINT_ONLY").as_deref(),
            Some("SET GLOBAL turnstile_hot_row = 'HINT_ONLY'")
        );
        assert_eq!(
            is("innodb_thread_concurrency", "8").as_deref(),
            Some("SET GLOBAL innodb_thread_concurrency = 8")
        );
        for (name, value) in [
            ("turnstile_hot_row", "on"),
            ("turnstile_hot_row", "ON'; DROP TABLE t"),
            ("innodb_thread_concurrency", "8; SHUTDOWN"),
            ("innodb_thread_concurrency", "-1"),
            ("innodb_thread_concurrency", ""),
            ("innodb_thread_concurrency", "DEFAULT"),
            ("innodb_flush_log_at_trx_commit", "0"),
            ("max_connections", "1"),
            ("no_such", "1"),
        ] {
            assert_eq!(is(name, value), None, "{name} {value}");
        }
        for name in SWITCHES.iter().chain(NOT_TURNED) {
            assert!(definition(name).is_some() && SWITCHES.contains(name), "{name}");
        }
    }
}
