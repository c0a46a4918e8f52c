//! The cut of a long report.

use super::{TRUNCATED, cut};

#[test]
fn a_short_list_stays() {
    let mut list = "one\ntwo\n".to_string();
    assert_eq!(cut(&mut list, 8), "one\ntwo\n");
}

#[test]
fn a_long_list_ends_with_whole_lines_and_the_mark() {
    let mut list = "one transaction\n".repeat(1000);
    let kept = cut(&mut list, 4000).to_string();
    assert!(kept.len() <= 4000);
    let lines = kept.strip_suffix(TRUNCATED).expect("the mark is at the end");
    assert!(lines.lines().all(|line| line == "one transaction"));
    assert_eq!(lines.lines().count(), (4000 - TRUNCATED.len()) / 16);
}
