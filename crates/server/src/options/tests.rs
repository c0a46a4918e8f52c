//! Options: precedence, spelling, files, and what is refused.
#![allow(clippy::unwrap_used)]

use std::fs;

use turnstile_sql::value::Value;
use turnstile_sql::variables::Globals;

use super::{read, unquote};

fn arguments(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| text.to_string()).collect()
}

fn number(globals: &Globals, name: &str) -> i64 {
    match globals.named(name) {
        Value::Int(number) => number,
        Value::UInt(number) => number as i64,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn the_command_line_wins_over_the_file_and_spelling_is_free() {
    let path = std::env::temp_dir().join(format!("turnstile-options-{}.cnf", std::process::id()));
    fs::write(
        &path,
        "[client]\nport=1\n[mysqld]\n# a comment\nport = 4000\nmax_connections=77\nskip-name-resolve\n",
    )
    .unwrap();
    let globals = Globals::default();
    let file = format!("--defaults-file={}", path.display());
    read(&arguments(&[&file, "--port=4001", "--innodb-buffer-pool-size=64M"]), &globals).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(number(&globals, "port"), 4001);
    assert_eq!(number(&globals, "max_connections"), 77);
    assert_eq!(number(&globals, "innodb_buffer_pool_size"), 64 << 20);
}

#[test]
fn a_value_may_follow_as_the_next_word() {
    let globals = Globals::default();
    read(&arguments(&["--no-defaults", "--port", "4002", "-S", "/tmp/x.sock"]), &globals).unwrap();
    assert_eq!(number(&globals, "port"), 4002);
}

#[test]
fn unknown_options_are_refused_unless_loose() {
    let globals = Globals::default();
    let error = read(&arguments(&["--no-defaults", "--no-such-thing=1"]), &globals).unwrap_err();
    assert_eq!(error.0, "unknown option --no_such_thing");
    read(&arguments(&["--no-defaults", "--loose-no-such-thing=1"]), &globals).unwrap();
    assert!(read(&arguments(&["--no-defaults", "--port=abc"]), &globals).is_err());
    assert!(read(&arguments(&["--no-defaults", "port"]), &globals).is_err());
    assert!(read(&arguments(&["--defaults-file=/no/such/file.cnf"]), &globals).is_err());
}

#[test]
fn values_lose_quotes_comments_and_escapes() {
    assert_eq!(unquote(" 'a b' # c"), "a b");
    assert_eq!(unquote("a#b # c"), "a#b");
    assert_eq!(unquote(r"a\sb\\c\n"), "a b\\c\n");
}
