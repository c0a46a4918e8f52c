//! The house rules a compiler cannot check: sizes, headers, room ranks, the unsafe list, banned names and
//! words.
//!
//! A rule that fails names the file and line. Limits only tighten: `RATCHET` lists what is over a limit
//! today, with the size it may not exceed; a file that has shrunk below its entry must have the entry lowered
//! or removed.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod differences;
mod doors;
mod rooms;
mod rules;
mod source;
mod types;

use source::{Source, sources};

/// Code lines a file may have (comments and blanks are free).
const FILE_LINES_MAX: usize = 600;
/// Code lines a function may have.
const FUNCTION_LINES_MAX: usize = 70;
/// Columns that a line of comment may have.
const COMMENT_COLUMNS_MAX: usize = 110;

fn fail_if_any(rule: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "tidy: {rule}:\n  {}", findings.join("\n  "));
}

fn check(rule: &str, find: impl Fn(&Source) -> Vec<String>) {
    fail_if_any(rule, sources().iter().flat_map(find).collect());
}

#[test]
fn every_file_begins_with_what_it_is() {
    check("the first line is a //! paragraph", rules::header);
}

#[test]
fn files_stay_small() {
    check("file sizes", |source| rules::file_size(source, FILE_LINES_MAX));
}

#[test]
fn functions_stay_small() {
    check("function sizes", |source| rules::function_sizes(source, FUNCTION_LINES_MAX));
}

#[test]
fn types_have_one_duty() {
    fail_if_any("methods of a type", types::findings());
}

#[test]
fn comments_are_no_wider_than_code() {
    check("widths of comments", |source| rules::comment_width(source, COMMENT_COLUMNS_MAX));
}

#[test]
fn what_is_public_is_documented() {
    check("pub items without a sentence", rules::documented);
}

#[test]
fn rooms_import_only_downward() {
    check("rooms that use what is not below them", rooms::ranks);
    fail_if_any("rooms that are gone", rooms::gone());
}

#[test]
fn crates_depend_only_downward() {
    fail_if_any("crate order", rules::crate_order());
}

#[test]
fn unsafe_stays_on_the_list() {
    check("unsafe outside the listed files", rules::unsafe_list);
}

#[test]
fn no_unwrap_outside_tests() {
    check("unwrap() outside tests", rules::no_unwrap);
}

#[test]
fn only_an_allocation_says_that_the_disk_is_full() {
    check("kinds of errors that mean a full disk", rules::full_disk);
}

#[test]
fn errors_are_asked_for_their_kind() {
    check("errors told apart by number, outside values/src/error", rules::compared_codes);
}

#[test]
fn results_of_functions_grow_within_bounds() {
    check("memory that a statement sizes, outside functions/result_bytes.rs", rules::bounded_results);
}

#[test]
fn rows_are_kept_in_what_may_be_dropped() {
    check("lists of rows that hold others up when they are dropped (memory::Many)", rules::held_rows);
}

#[test]
fn no_banned_names_or_words() {
    check("banned names and words", rules::banned);
}

#[test]
fn every_engine_room_has_a_readme() {
    fail_if_any("rooms without README.md", rules::room_readmes());
}

#[test]
fn every_figure_says_what_it_was_measured_with() {
    fail_if_any("figures without a manifest", rules::figures());
}

#[test]
fn no_known_difference_is_a_fault_of_ours() {
    fail_if_any("known differences from MySQL without a reason", differences::reasons());
    let without = differences::in_list("a.differs", "> SELECT 1\n# The manual: so it is\n> SELECT 2\n");
    assert_eq!(without, ["a.differs:1: a difference without a reason"]);
    assert_eq!(differences::in_list("a.differs", "# wrong, not mended: 2\n> SELECT 2\n").len(), 1);
}

#[test]
fn subjects_of_commits_are_short() {
    fail_if_any("subjects of commits", rules::subjects());
    assert!(!rules::is_subject("mended") && !rules::is_subject(&format!("a: {}", "b".repeat(70))));
}

#[test]
fn what_newcomers_are_told_is_there() {
    fail_if_any("ten questions of ARCHITECTURE", doors::questions());
    let wrong = "## Ten questions\n| a | b | `tests/tidy/doors.rs`: `questions`, `answers` |\n| c | d | `x.rs`: `y` |\n";
    assert_eq!(doors::questions_in(wrong).len(), 4);
}

#[test]
fn limits_bite() {
    // The canary: rules that cannot fail prove nothing.
    let long = format!("//! x\nfn f() {{\n{}}}\n", "    a();\n".repeat(71));
    let source = Source::new("crates/engine/src/page/x.rs", &long);
    assert!(!rules::function_sizes(&source, 70).is_empty());
    assert!(!rules::file_size(&source, 70).is_empty());
    let comment = format!("//! x\nfn f() {{}}\n    /// {}\n", "ä".repeat(113));
    let wide = Source::new("crates/engine/src/page/x.rs", &comment);
    assert_eq!(rules::comment_width(&wide, 120), ["crates/engine/src/page/x.rs:3: 121 columns, at most 120"]);
    assert!(rules::comment_width(&wide, 121).is_empty());
    for upward in [
        "use crate::txn::Txn;",
        "use super::super::txn::Txn;",
        "use crate::{\n    ids::Id, txn::Txn};",
        "use crate::Txn;",
    ] {
        let upward = Source::new("crates/engine/src/page/x.rs", &format!("//! x\n{upward}\n"));
        assert_eq!(rooms::ranks(&upward).len(), 1, "{upward:?}", upward = upward.lines);
    }
    let downward =
        Source::new("crates/engine/src/txn/x.rs", "//! x\nuse crate::{ids::Id, page::{a, txn}};\n");
    assert!(rooms::ranks(&downward).is_empty());
    assert!(!rooms::ranks(&Source::new("crates/engine/src/new.rs", "//! x\n")).is_empty());
    let greedy = Source::new("crates/expr/src/functions/x.rs", "//! x\nfn f() { g.repeat(n) }\n");
    assert!(!rules::bounded_results(&greedy).is_empty());
    let hasty = Source::new("crates/session/src/x.rs", "//! x\nfn f() { g().unwrap() }\n");
    assert!(!rules::no_unwrap(&hasty).is_empty());
    let hopeful =
        Source::new("crates/engine/src/buffer/x.rs", "//! x\nif e.kind() == StorageFull { again() }\n");
    assert!(!rules::full_disk(&hopeful).is_empty());
    let numbered =
        Source::new("crates/exec/src/x.rs", "//! x\nErr(error) if error.code == 1213 => again(),\n");
    assert!(!rules::compared_codes(&numbered).is_empty());
    assert_eq!(
        rules::manifest_lacks(r#"{"date": "1", "manifest": {"date": "1"}}"#),
        ["commit", "cores", "command"]
    );
    let bare = Source::new("crates/session/src/x.rs", "fn f() { unsafe { g() } }\n");
    assert!(!rules::header(&bare).is_empty());
    assert!(!rules::unsafe_list(&bare).is_empty());
    let silent = Source::new(
        "crates/exec/src/x.rs",
        "//! x\n/// A.\n#[inline]\npub const fn f() {}\npub async fn g() {}\n#[allow(missing_docs)]\nimpl X {\n    pub const A: u8 = 1;\n    pub const B: u8 = 1;\n}\npub enum E {\n",
    );
    let found = rules::documented(&silent);
    assert_eq!(
        found,
        ["crates/exec/src/x.rs:5: pub async fn g() {}", "crates/exec/src/x.rs:11: pub enum E {"]
    );
    let kept = Source::new("crates/exec/src/exec/x.rs", "//! x\nfn f(rows: Vec<Vec<Value>>) {}\n");
    assert!(!rules::held_rows(&kept).is_empty());
}
