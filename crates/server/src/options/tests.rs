//! Options: precedence, spelling, files, and what is refused.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;

use turnstile_session::value::Value;
use turnstile_session::variables::Globals;

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
fn the_console_has_a_short_name_and_mysqlds_option_without_a_value_opens_none() {
    let opened = |options: &[&str]| {
        let globals = Globals::default();
        read(&arguments(&[&["--no-defaults"], options].concat()), &globals).unwrap();
        globals.named("turnstile_console").clone()
    };
    assert!(matches!(opened(&["--console"]), Value::Str(text) if text.is_empty()));
    for option in ["--console=10.0.0.1:80", "--turnstile-console=10.0.0.1:80"] {
        assert!(matches!(opened(&[option]), Value::Str(text) if &*text == "10.0.0.1:80"), "{option}");
    }
}

#[test]
fn unknown_options_are_refused_unless_loose() {
    let globals = Globals::default();
    let refused = |option: &str| read(&arguments(&["--no-defaults", option]), &globals).unwrap_err().0;
    assert_eq!(refused("--no-such-thing=1"), "unknown variable 'no-such-thing=1'");
    assert_eq!(refused("--no-such-thing"), "unknown option '--no-such-thing'");
    assert_eq!(refused("--skip-no-such-thing"), "unknown option '--skip-no-such-thing'");
    assert_eq!(refused("--skip-port"), "unknown option '--skip-port'");
    let asked = read(&arguments(&["--no-defaults", "--loose-no-such-thing=1"]), &globals).unwrap();
    assert_eq!(asked.warnings, ["unknown variable 'loose-no-such-thing=1'"]);
    assert!(read(&arguments(&["--no-defaults", "--port=abc"]), &globals).is_err());
    assert!(read(&arguments(&["--no-defaults", "port"]), &globals).is_err());
    assert!(read(&arguments(&["--defaults-file=/no/such/file.cnf"]), &globals).is_err());
    assert!(read(&arguments(&["--defaults-extra-file=/no/such/file.cnf"]), &globals).is_err());
}

#[test]
fn one_option_in_every_spelling() {
    for (spelling, name, value) in [
        ("--innodb-adaptive-hash-index", "innodb_adaptive_hash_index", 1),
        ("--innodb-adaptive-hash-index=1", "innodb_adaptive_hash_index", 1),
        ("--innodb_adaptive_hash_index=on", "innodb_adaptive_hash_index", 1),
        ("--innodb-deadlock-detect=0", "innodb_deadlock_detect", 0),
        ("--INNODB_deadlock-detect=OFF", "innodb_deadlock_detect", 0),
        ("--skip-innodb-deadlock-detect", "innodb_deadlock_detect", 0),
        ("--disable-innodb_deadlock_detect", "innodb_deadlock_detect", 0),
        ("--loose-skip-innodb-deadlock-detect", "innodb_deadlock_detect", 0),
        ("--skip-innodb-deadlock-detect=0", "innodb_deadlock_detect", 1),
        ("--enable-innodb-print-all-deadlocks", "innodb_print_all_deadlocks", 1),
        ("--loose-innodb-print-all-deadlocks=1", "innodb_print_all_deadlocks", 1),
        ("--skip-networking", "skip_networking", 1),
        ("--innodb-buffer-pool-size=64m", "innodb_buffer_pool_size", 64 << 20),
        ("--innodb-buffer-pool-size=1G", "innodb_buffer_pool_size", 1 << 30),
        ("--max-allowed-packet=32K", "max_allowed_packet", 32 << 10),
        ("--innodb-log-file-size=128M", "innodb_redo_log_capacity", 128 << 20),
    ] {
        let globals = Globals::default();
        let asked = read(&arguments(&["--no-defaults", spelling]), &globals).unwrap();
        assert_eq!((number(&globals, name), asked.warnings.len()), (value, 0), "{spelling}");
    }
}

#[test]
fn numbers_out_of_range_are_cut_with_a_warning_and_other_wrong_values_are_refused() {
    let globals = Globals::default();
    for (option, name, value) in [
        ("--max-connections=0", "max_connections", 1),
        ("--innodb-purge-batch-size=99999999999999999999999999", "innodb_purge_batch_size", 5000),
        ("--innodb-purge-batch-size=-99999999999999999999999999", "innodb_purge_batch_size", 1),
        ("--innodb-thread-concurrency=16E", "innodb_thread_concurrency", 1000),
    ] {
        let asked = read(&arguments(&["--no-defaults", option]), &globals).unwrap();
        assert_eq!((number(&globals, name), asked.warnings.len()), (value, 1), "{option}");
    }
    for option in [
        "--max-connections=many",
        "--max-connections=",
        "--max-connections=3X",
        "--innodb-deadlock-detect=maybe",
        "--thread-handling=fibers",
        "--sql-mode=SLOPPY",
        "--innodb-purge-batch-size=170141183460469231731687303715884105727E",
    ] {
        assert!(read(&arguments(&["--no-defaults", option]), &globals).is_err(), "{option}");
    }
}

/// What is accepted is done, or the log says that it is not.
#[test]
fn options_that_change_nothing_are_told() {
    for option in ["--read-buffer-size=1M", "--innodb-doublewrite=OFF", "--user=nobody"] {
        let asked = read(&arguments(&["--no-defaults", option]), &Globals::default()).unwrap();
        assert_eq!(asked.warnings.len(), 1, "{option}");
    }
    let globals = Globals::default();
    for option in ["--log-bin=ON", "--gtid-mode=ON", "--lower-case-table-names=1", "--daemonize"] {
        assert!(read(&arguments(&["--no-defaults", option]), &globals).is_err(), "{option}");
    }
}

#[test]
fn what_was_given_can_be_shown() {
    let globals = Globals::default();
    let words = arguments(&["--no-defaults", "--print-defaults", "--port", "4002", "--skip-name-resolve"]);
    let asked = read(&words, &globals).unwrap();
    assert!(asked.print_defaults);
    assert_eq!(asked.given, ["--print-defaults", "--port=4002", "--skip-name-resolve"]);
}

#[test]
fn values_lose_quotes_comments_and_escapes() {
    assert_eq!(unquote(" 'a b' # c"), "a b");
    assert_eq!(unquote("a#b # c"), "a#b");
    assert_eq!(unquote(r"a\sb\\c\n"), "a b\\c\n");
}
