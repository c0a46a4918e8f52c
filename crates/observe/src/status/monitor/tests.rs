//! The cut of a long report.

use super::{TRUNCATED, cut};

#[test]
fn a_short_list_stays() {
    let mut text = b"head one\ntwo\n".to_vec();
    cut(&mut text, 5, 8);
    assert_eq!(text, b"head one\ntwo\n");
}

#[test]
fn a_long_list_ends_with_whole_lines_and_the_mark() {
    let mut text = ("head\n".to_string() + &"one transaction\n".repeat(1000)).into_bytes();
    cut(&mut text, 5, 4000);
    let text = String::from_utf8_lossy(&text);
    let kept = text.strip_prefix("head\n").expect("what is before the list stays");
    assert!(kept.len() <= 4000);
    let lines = kept.strip_suffix(TRUNCATED).expect("the mark is at the end");
    assert!(lines.lines().all(|line| line == "one transaction"));
    assert_eq!(lines.lines().count(), (4000 - TRUNCATED.len()) / 16);
}
