//! Bounds of the search, and what the two libraries read differently.
#![allow(clippy::unwrap_used)]

use super::*;

fn matches(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern, Options::default()).unwrap().is_match(text).unwrap()
}

#[test]
fn backtracking_ends() {
    let pattern = Pattern::new(r"^(a|aa|a+)+\1b$", Options::default()).unwrap();
    let error = pattern.is_match(&"a".repeat(200)).unwrap_err();
    assert_eq!(error.code, 3699);
}

#[test]
fn plain_patterns_do_not_backtrack() {
    for plain in ["^a+b$", r"\d{2,3}", "[a-z]|x", "(?:a)(b)", "a.c", r"\p{L}"] {
        assert!(!translate(plain, Options::default(), false).unwrap().backtracks, "{plain}");
    }
    for other in ["(?=a)", "(?<!a)b", r"(a)\1", "a++b", "(?>a)b"] {
        assert!(translate(other, Options::default(), false).unwrap().backtracks, "{other}");
    }
}

#[test]
fn ends_of_lines() {
    assert!(
        matches("c$", "abc\n")
            && matches("c$", "abc\r")
            && matches("c$", "abc\r\n")
            && !matches("c$", "abc\n\n")
    );
    assert!(!matches("a.b", "a\rb") && !matches("a.b", "a\nb"));
    assert!(matches("aab", "aab") && matches("a++b", "aab") && !matches("^(?>a+)ab", "aab"));
}
