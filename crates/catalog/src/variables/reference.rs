//! The reference of system variables, written from the table: the page `docs/variables.md` and the list of
//! `--help`.
//!
//! A test compares the page with what would be written now;
//! `UPDATE_DOCS=1 cargo test -p turnstile-catalog --lib reference` writes it.

use std::fmt::Write;

use super::guide::TOPICS;
use super::{Definition, Kind, Scope, VARIABLES, find};

const HEAD: &str = "# System variables

Written from the table in `crates/catalog/src/variables` by `UPDATE_DOCS=1 cargo test -p turnstile-catalog --lib reference`; do not edit.

The same table drives the command line (`--innodb-deadlock-detect=OFF`), the option file, SET and SHOW VARIABLES. Names, defaults and
ranges are MySQL 8.4's unless the description says otherwise.

- **Scope.** *global*: one value for the server, changed by SET GLOBAL. *session*: one for each session. *both*: SET GLOBAL changes what
  sessions begin with, SET SESSION the own value.
- **Dynamic.** *yes*: SET changes it while the server runs. *no*: only at start, by an option or SET PERSIST_ONLY; SET is refused with
  error 1238.
- **Kind.** *live*: it works and SET changes it. *at start*: it works and only the start of the server sets it. *fixed*: it reports a
  fact; SET is refused with error 1238, and an option that says otherwise is not taken, which the log says. *one value*: MySQL has a
  choice here and this server has not; its default says what is so and is accepted, any other value is refused with error 1231, at start
  too. *no effect*: kept and shown, so that clients and option files written for MySQL work; a value other than the default is accepted
  with warning 1235, or a line in the log at start.
- **Who may.** SET GLOBAL takes SYSTEM_VARIABLES_ADMIN or SUPER, SET PERSIST_ONLY both SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN.
  For the own session everybody may set a variable, but for those that say *guarded*: they take SESSION_VARIABLES_ADMIN,
  SYSTEM_VARIABLES_ADMIN or SUPER, those that say *guarded, not SUPER* one of the first two.
- **Wrong values change nothing**, and of a SET with several items none is carried out when one is wrong. A name that does not exist is
  error 1193, a value that is no number where one is wanted 1232, a word that is not among the choices 1231, GLOBAL for a session's
  variable 1228, no GLOBAL for the server's 1229. A number outside the range is cut to it with warning 1292, or refused with error 1231
  under sql_mode STRICT_ALL_TABLES.
- **SET PERSIST** sets the global value and keeps it for later starts in `mysqld-auto.cnf` of the data directory; **SET PERSIST_ONLY** only
  keeps it, also for variables that are not dynamic; **RESET PERSIST [[IF EXISTS] name]** forgets one or all. What is kept wins over option
  files and the command line and is shown in performance_schema.persisted_variables. Error 3549 says that the file could not be written
  and that nothing was changed, 3615 that there was nothing to forget. Variables that say where the server lives (datadir, port, ...) or
  only report a fact cannot be kept (1238).
- **Precedence**, later wins: default, option files, command line, what SET PERSIST has kept.
";

/// Whether setting it changes nothing.
fn is_without_effect(one: &Definition) -> bool {
    one.effect.reader().is_none()
}

fn scope(one: &Definition) -> &'static str {
    match one.scope {
        Scope::Global => "global",
        Scope::Session => "session",
        Scope::Both => "both",
    }
}

/// The values a variable takes, in words.
pub fn range(one: &Definition) -> String {
    match one.kind {
        Kind::Bool => "ON, OFF".into(),
        Kind::Int { min, max } if min == max => min.to_string(),
        Kind::Int { min, max } => format!("{min} to {max}"),
        Kind::UInt { min, max } => format!("{min} to {max}"),
        Kind::Double { min, max } => format!("{min} to {max}"),
        Kind::Text => "text".into(),
        Kind::Roles => "names of roles".into(),
        Kind::Switches(flags) => {
            let names: Vec<_> = flags.iter().map(|flag| flag.name).collect();
            format!("on or off for any of {}", names.join(", "))
        }
        Kind::Enum(words) => words.join(", "),
        Kind::Set(words) => format!("any of {}", words.join(", ")),
        Kind::Charset => "a character set".into(),
        Kind::CharsetOrNull => "a character set or NULL".into(),
        Kind::Collation => "a collation".into(),
        Kind::Engine => "InnoDB".into(),
        Kind::Locale => "en_US".into(),
        Kind::TimeZone => "SYSTEM, an offset such as +02:00 or a name such as Europe/Berlin".into(),
    }
}

fn shown_default(one: &Definition) -> String {
    // A default that cannot be read is a mistake in the table, and shown as it stands.
    one.parse(one.default).map_or_else(|_| one.default.to_string(), |value| one.show(&value))
}

fn row(page: &mut String, one: &Definition) {
    let default = match shown_default(one) {
        empty if empty.is_empty() => "(empty)".into(),
        text => format!("`{}`", text.replace(',', ", ")),
    };
    let dynamic = if one.effect.is_dynamic() { "yes" } else { "no" };
    let scope = match one.right.of_session().filter(|_| one.scope != Scope::Global) {
        Some(_) => format!("{}, {}", scope(one), one.right.name()),
        None => scope(one).to_string(),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        page,
        "| `{}` | {scope} | {dynamic} | {} | {default} | {} | {} |",
        one.name,
        one.effect.name(),
        range(one),
        one.doc.replace('|', "\\|")
    );
}

fn table<'a>(page: &mut String, rows: impl Iterator<Item = &'a Definition>) {
    page.push_str(
        "\n| Name | Scope | Dynamic | Kind | Default | Range | What it does |\n|---|---|---|---|---|---|---|\n",
    );
    rows.for_each(|one| row(page, one));
}

/// The page.
pub fn page() -> String {
    let mut page = HEAD.to_string();
    for topic in TOPICS {
        let _ = writeln!(page, "\n## {}\n\n{}", topic.title, topic.text);
        table(&mut page, topic.names.iter().filter_map(|name| find(name)).map(|at| &VARIABLES[at]));
    }
    let others = || {
        let in_topic = |one: &Definition| TOPICS.iter().any(|topic| topic.names.contains(&one.name));
        let mut others: Vec<_> = VARIABLES.iter().filter(|one| !in_topic(one)).collect();
        others.sort_by_key(|one| one.name);
        others
    };
    page.push_str("\n## Others\n");
    table(&mut page, others().into_iter().filter(|one| !is_without_effect(one)));
    page.push_str("\n## Facts, and what has no effect here\n\nSo that clients, tools and option files written for MySQL work; the column Kind says how each answers to being set.\n");
    table(&mut page, others().into_iter().filter(|one| is_without_effect(one)));
    page
}

/// The list of `--help`.
pub fn options() -> String {
    let mut list = String::new();
    for one in VARIABLES {
        let _ = writeln!(list, "  --{:<40} {}", one.name.replace('_', "-"), one.doc);
        let _ = writeln!(list, "  {:42} (default {:?}; {})", "", shown_default(one), range(one));
    }
    list
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn reference_page_is_what_the_table_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/variables.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, page()).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        let differs = found.lines().zip(page().lines().map(String::from).collect::<Vec<_>>());
        let first = differs.into_iter().find(|(found, now)| found != now);
        assert!(
            found == page(),
            "docs/variables.md is older than the table, first at {first:?}; to write it: UPDATE_DOCS=1 cargo test -p turnstile-catalog --lib reference"
        );
    }

    #[test]
    fn reference_topics_name_variables_that_exist_once() {
        let mut seen = std::collections::BTreeSet::new();
        for topic in TOPICS {
            for name in topic.names {
                assert!(find(name).is_some(), "{name}");
                assert!(seen.insert(name), "{name} is in two topics");
            }
        }
    }
}
