//! Order, equality and LIKE of the collations; weights agree with comparisons.
#![allow(clippy::unwrap_used)]

use super::*;

fn equal(collation: Collation, left: &str, right: &str) -> bool {
    collation.compare(left.as_bytes(), right.as_bytes()) == Ordering::Equal
}

#[test]
fn equality() {
    use Collation as C;
    assert!(equal(C::Utf8mb40900AiCi, "résumé", "RESUME"));
    assert!(!equal(C::Utf8mb40900AiCi, "a", "a "));
    assert!(equal(C::Utf8mb4GeneralCi, "a", "A  "));
    assert!(equal(C::Utf8mb4GeneralCi, "Ä", "a"));
    assert!(equal(C::Utf8mb40900AiCi, "ß", "ss"));
    assert!(equal(C::Utf8mb4GeneralCi, "ß", "s"));
    assert!(!equal(C::Utf8mb4Bin, "a", "A"));
    assert!(equal(C::Utf8mb4Bin, "a", "a "));
    assert!(!equal(C::Utf8mb40900Bin, "a", "a "));
    assert!(!equal(C::Utf8mb40900AiCi, "😀", "😁"));
    assert!(equal(C::Utf8mb4GeneralCi, "😀", "😁"));
    assert!(equal(C::Utf8mb40900AiCi, "가", "\u{1100}\u{1161}"));
    assert!(equal(C::Utf8mb40900AiCi, "e\u{301}", "é"));
}

#[test]
fn order_of_0900() {
    let sorted = ["", "_", "-", "!", "0", "1", "a", "ab", "b", "z", "α", "я", "一", "丁"];
    for pair in sorted.windows(2) {
        assert_eq!(
            Collation::DEFAULT.compare(pair[0].as_bytes(), pair[1].as_bytes()),
            Ordering::Less,
            "{} < {}",
            pair[0],
            pair[1]
        );
    }
}

#[test]
fn weights_agree_with_comparison() {
    let words = [
        "", "a", "A", "ä", "ab", "b", " ", "a b", "ss", "ß", "straße", "日本", "😀", "e\u{301}", "é", "한글",
        "ﬁ", "fi",
    ];
    for collation in Collation::all() {
        for left in words {
            for right in words {
                let (mut one, mut other) = (Vec::new(), Vec::new());
                collation.append_weights(left.as_bytes(), &mut one);
                collation.append_weights(right.as_bytes(), &mut other);
                assert_eq!(
                    one.cmp(&other),
                    collation.compare(left.as_bytes(), right.as_bytes()),
                    "{left} {right}"
                );
            }
        }
    }
}

/// The short ways through ASCII give what the iteration over weights gives.
#[test]
fn ascii_is_no_exception() {
    let pieces = [
        "", "a", "A", "b", "0", "9", "-", " ", "\0", "\u{1}", "\u{7f}", "~", "ab", "ß", "é", "e\u{301}",
        "日", "😀", "\u{ad}",
    ];
    let mut words = Vec::new();
    for one in pieces {
        for other in pieces {
            words.extend(["", "x", "ÿ"].map(|third| format!("{one}{other}{third}")));
        }
    }
    for collation in [Collation::Utf8mb40900AiCi, Collation::Utf8mb4UnicodeCi, Collation::Utf8mb4GeneralCi] {
        let weights = |word: &str| -> Vec<u16> {
            let uca = collation.description().order == Order::Uca;
            let text = collation.significant(word.as_bytes());
            Weights::new(text, uca).collect()
        };
        let all: Vec<_> = words.iter().map(|word| (word, weights(word))).collect();
        for (left, expected) in &all {
            let mut bytes = Vec::new();
            collation.append_weights(left.as_bytes(), &mut bytes);
            let expected_bytes: Vec<u8> = expected.iter().flat_map(|weight| weight.to_be_bytes()).collect();
            assert_eq!(bytes, expected_bytes, "{left:?}");
            for (right, other) in &all {
                let order = collation.compare(left.as_bytes(), right.as_bytes());
                assert_eq!(order, expected.cmp(other), "{left:?} {right:?}");
            }
        }
    }
}

#[test]
fn like_patterns() {
    let cases = [
        ("abc", "a%", true),
        ("abc", "A_C", true),
        ("abc", "%b", false),
        ("abc", "%b%", true),
        ("a%c", "a\\%c", true),
        ("abc", "a\\%c", false),
        ("", "%", true),
        ("", "_", false),
        ("ä", "a", true),
        ("日本", "__", true),
        ("mississippi", "%iss%ip%i", true),
        ("mississippi", "%iss%ix%", false),
        ("a ", "a", false),
    ];
    for (text, pattern, expected) in cases {
        let found = like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), Some('\\'));
        assert_eq!(found, expected, "{text} LIKE {pattern}");
    }
    assert!(!like(Collation::Utf8mb4Bin, b"abc", b"A%", Some('\\')));
}

#[test]
fn names_and_numbers() {
    assert_eq!(Collation::by_name("UTF8_GENERAL_CI"), Some(Collation::Utf8mb3GeneralCi));
    assert_eq!(Collation::by_name("klingon_ci"), None);
    assert_eq!(Collation::default_of_charset("utf8mb4"), Some(Collation::Utf8mb40900AiCi));
    for (position, collation) in Collation::all().enumerate() {
        assert_eq!(collation as usize, position);
        assert_eq!(Collation::by_id(collation.id()), Some(collation));
    }
}
