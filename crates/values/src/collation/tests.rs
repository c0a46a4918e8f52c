//! Order, equality and LIKE of the collations; weights agree with comparisons.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use crate::pulse;

fn equal(collation: Collation, left: &str, right: &str) -> bool {
    collation.compare(left.as_bytes(), right.as_bytes()) == Ordering::Equal
}

fn named(name: &str) -> Collation {
    Collation::by_name(name).unwrap()
}

/// The same names are told apart by the right letters.
#[test]
fn names_have_their_own_orders() {
    let case_and_accent = named("utf8mb4_0900_as_cs");
    assert!(!equal(case_and_accent, "a", "A") && !equal(case_and_accent, "a", "á"));
    let accent = named("utf8mb4_0900_as_ci");
    assert!(equal(accent, "a", "A") && !equal(accent, "a", "á"));
    let unicode = named("utf8mb4_unicode_ci");
    assert!(
        equal(unicode, "ß", "ss")
            && equal(unicode, "😀", "😁")
            && !equal(named("utf8mb4_unicode_520_ci"), "😀", "😁")
    );
    assert!(!equal(named("latin1_swedish_ci"), "ä", "a") && equal(named("latin1_general_ci"), "a", "A"));
    assert!(equal(named("latin1_german2_ci"), "ä", "ae") && equal(named("latin1_german1_ci"), "ä", "a"));
    assert!(!equal(named("utf8mb4_spanish_ci"), "ñ", "n") && equal(unicode, "ñ", "n"));
    assert!(!equal(named("utf8mb4_turkish_ci"), "ı", "i"));
    let czech = named("utf8mb4_czech_ci");
    assert_eq!(czech.compare(b"ch", b"hz"), Ordering::Greater);
    assert_eq!(unicode.compare(b"ch", b"hz"), Ordering::Less);
    let danish = named("utf8mb4_da_0900_ai_ci");
    assert_eq!(danish.compare("aa".as_bytes(), "z".as_bytes()), Ordering::Greater);
    assert_eq!(named("utf8mb4_da_0900_as_cs").compare(b"A", b"a"), Ordering::Less);
    assert_eq!(case_and_accent.compare(b"A", b"a"), Ordering::Greater);
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
    assert!(!equal(named("utf8mb4_0900_bin"), "a", "a "));
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

/// Keys, which go through all weights, agree with comparisons, which take short ways through ASCII and common
/// beginnings.
#[test]
fn ascii_is_no_exception() {
    let pieces = [
        "", "a", "A", "b", "0", "9", "-", " ", "\0", "\u{1}", "\u{7f}", "~", "ch", "aa", "ß", "é",
        "e\u{301}", "日", "😀", "\u{ad}",
    ];
    let mut words = Vec::new();
    for one in pieces {
        for other in pieces {
            words.extend(["", "c", "ÿ", " \t"].map(|third| format!("{one}{other}{third}")));
        }
    }
    for name in [
        "utf8mb4_0900_ai_ci",
        "utf8mb4_0900_as_cs",
        "utf8mb4_unicode_ci",
        "utf8mb4_general_ci",
        "utf8mb4_bin",
        "utf8mb4_czech_ci",
        "utf8mb4_da_0900_as_cs",
        "latin1_german2_ci",
        "latin1_bin",
        "gbk_chinese_ci",
        "gb18030_chinese_ci",
        "cp932_japanese_ci",
        "big5_bin",
        "tis620_thai_ci",
        "latin2_czech_cs",
        "cp1250_czech_cs",
    ] {
        let collation = Collation::by_name(name).unwrap();
        let keys: Vec<_> = words
            .iter()
            .map(|word| {
                let mut key = Vec::new();
                collation.append_weights(word.as_bytes(), &mut key);
                (word, key)
            })
            .collect();
        for (left, key) in keys.iter().step_by(3) {
            for (right, other) in &keys {
                let order = collation.compare(left.as_bytes(), right.as_bytes());
                assert_eq!(order, key.cmp(other), "{name} {left:?} {right:?}");
            }
        }
    }
}

/// Thai text is weighed as a whole, and keys agree with comparisons.
#[test]
fn thai_marks_and_vowels() {
    let thai = named("tis620_thai_ci");
    let letters = ["\u{e40}", "\u{e01}", "\u{e48}", "\u{e02}", "a", "A", " ", "\u{e4c}", ""];
    let mut words = Vec::new();
    for one in letters {
        for other in letters {
            words.extend(letters.map(|third| format!("{one}{other}{third}")));
        }
    }
    let key = |word: &String| {
        let mut key = Vec::new();
        thai.append_weights(word.as_bytes(), &mut key);
        key
    };
    for left in &words {
        for right in &words {
            let order = thai.compare(left.as_bytes(), right.as_bytes());
            assert_eq!(order, key(left).cmp(&key(right)), "{left:?} {right:?}");
        }
    }
    // The vowel that is written before its consonant is read behind it.
    assert_eq!(thai.compare("\u{e40}\u{e01}".as_bytes(), "\u{e02}".as_bytes()), Ordering::Less);
}

/// What MySQL 9.7 says to WEIGHT_STRING, for every collation that weighs otherwise than by UTF-8 bytes.
#[test]
fn weights_are_those_of_mysql() {
    let mut seen = std::collections::BTreeSet::new();
    let recorded =
        include_str!("recorded.tsv").lines().chain(include_str!("recorded_multi_byte.tsv").lines());
    for line in recorded {
        let mut fields = line.split('\t');
        let name = fields.next().unwrap();
        let Some(collation) = Collation::by_name(name) else { continue };
        if collation.is_by_utf8() {
            continue;
        }
        let (text, expected) = (bytes_of(fields.next().unwrap()), bytes_of(fields.next().unwrap()));
        let mut weights = Vec::new();
        collation.append_shown_weights(&text, &mut weights);
        assert_eq!(hex(&weights), hex(&expected), "{name}");
        seen.insert(name);
    }
    assert_eq!(seen.len(), Collation::all().filter(|one| !one.is_by_utf8()).count());
}

fn bytes_of(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// MySQL's tertiary weights of the syllables from U+D700 on are not those of their letters.
#[test]
fn last_hangul_syllables() {
    for (text, order) in [("\u{d6ff}", Ordering::Equal), ("\u{d700}", Ordering::Greater)] {
        let syllable = u32::from(text.chars().next().unwrap()) - 0xAC00;
        let parts = [0x1100 + syllable / 588, 0x1161 + syllable % 588 / 28, 0x11A7 + syllable % 28];
        let letters: String =
            parts.into_iter().filter(|part| *part != 0x11A7).filter_map(char::from_u32).collect();
        for name in ["utf8mb4_0900_as_cs", "utf8mb4_ru_0900_as_cs", "utf8mb4_ja_0900_as_cs"] {
            assert_eq!(named(name).compare(text.as_bytes(), letters.as_bytes()), order, "{name} {text}");
        }
        assert!(equal(Collation::DEFAULT, text, &letters));
    }
}

/// What MySQL 9.7 says to WEIGHT_STRING in Japanese and Chinese: hashes over blocks of code points and over
/// pairs of characters, and texts.
#[test]
fn eastern_weights_are_those_of_mysql() {
    let pairs: Vec<char> = ['\u{300}'..'\u{34F}', '\u{3000}'..'\u{3200}', '\u{FF61}'..'\u{FFA0}']
        .into_iter()
        .flatten()
        .collect();
    let mut counts = std::collections::BTreeMap::new();
    for line in include_str!("recorded_eastern.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, kind, what, last, expected] = fields[..] else { panic!("{line}") };
        let collation = named(name);
        let weights = |text: &[u8]| {
            let mut weights = Vec::new();
            collation.append_shown_weights(text, &mut weights);
            weights
        };
        let hash = |texts: &mut dyn Iterator<Item = String>| {
            let mut hash = 0xCBF2_9CE4_8422_2325_u64;
            let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
            for text in texts {
                for byte in weights(text.as_bytes()) {
                    let digit = |four: u8| if four < 10 { b'0' + four } else { b'A' - 10 + four };
                    add(digit(byte >> 4));
                    add(digit(byte & 0xF));
                }
                add(b'\n');
            }
            format!("{hash:016X}")
        };
        let point = |digits| u32::from_str_radix(digits, 16).unwrap();
        let found = match kind {
            "block" => hash(&mut (point(what)..=point(last)).filter_map(char::from_u32).map(String::from)),
            "pairs" => {
                let head = char::from_u32(point(what)).unwrap();
                hash(&mut pairs.iter().map(|behind| [head, *behind].iter().collect()))
            }
            _ => hex(&weights(&bytes_of(what))),
        };
        assert_eq!(found, expected, "{name} {kind} {what}");
        *counts.entry((name, kind)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 9);
    assert!(
        counts.iter().all(|((_, kind), count)| *count
            == match *kind {
                "block" => 52,
                "pairs" => 9,
                _ => 95,
            }),
        "{counts:?}"
    );
}

/// Keys and comparisons of Japanese and Chinese texts agree, for all that sequences and marks at the
/// beginning do.
#[test]
fn eastern_keys_agree_with_comparisons() {
    let pieces = [
        "か", "ガ", "ー", "ゝ", "ヽ", "ｰ", "a", "m", "n", "e\u{302}", "\u{304}", "一", "亜", "\u{1}", "α", "",
    ];
    let mut words = Vec::new();
    for one in pieces {
        for other in pieces {
            words.extend(["", "ー", "か", "z"].map(|third| format!("{one}{other}{third}")));
        }
    }
    for name in ["utf8mb4_ja_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks", "utf8mb4_zh_0900_as_cs"] {
        let collation = named(name);
        let key = |word: &String| {
            let mut key = Vec::new();
            collation.append_weights(word.as_bytes(), &mut key);
            key
        };
        let keys: Vec<_> = words.iter().map(|word| (word, key(word))).collect();
        for (left, key) in keys.iter().step_by(5) {
            for (right, other) in &keys {
                let order = collation.compare(left.as_bytes(), right.as_bytes());
                assert_eq!(order, key.cmp(other), "{name} {left:?} {right:?}");
            }
        }
    }
}

/// PAD SPACE: spaces go on for ever behind the end, so a control character sorts before it. MySQL 9.7's
/// answers.
#[test]
fn spaces_behind_the_end() {
    use Ordering::{Equal, Greater, Less};
    for (left, right, expected) in [
        ("a\t", "a", Less),
        ("a \t", "a", Less),
        ("a", "a  ", Equal),
        ("a\u{1}", "a ", Less),
        ("a  b", "a b", Less),
        ("a !", "a", Greater),
        ("a \tz", "a  ", Less),
        ("", "\t", Greater),
        ("", " ", Equal),
    ] {
        for name in ["utf8mb4_bin", "utf8mb4_general_ci", "utf8mb3_bin", "latin1_swedish_ci", "latin1_bin"] {
            let collation = Collation::by_name(name).unwrap();
            assert_eq!(
                collation.compare(left.as_bytes(), right.as_bytes()),
                expected,
                "{name} {left:?} {right:?}"
            );
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
        let found = like(
            Collation::DEFAULT,
            text.as_bytes(),
            pattern.as_bytes(),
            Some('\\'),
            &mut crate::context::Held::free(),
        )
        .unwrap();
        assert_eq!(found, expected, "{text} LIKE {pattern}");
    }
    assert!(
        !like(Collation::Utf8mb4Bin, b"abc", b"A%", Some('\\'), &mut crate::context::Held::free()).unwrap()
    );
}

/// Whatever LIKE finds by `text%` has a key that begins with the front of `text`, under every collation.
#[test]
fn keys_begin_with_the_front_of_a_pattern() {
    let letters: Vec<char> = "abcABC\u{e4}\u{c4}\u{df}lLhcdzZ \t\u{1}!-'9\u{43f}\u{41f}\u{3b1}\u{3ac}\u{304b}\u{30ab}\u{30fc}\u{65e5}\u{ac00}\u{e01}\u{e40}\u{301}\u{1f600}\u{ad}i\u{131}\u{130}I"
        .chars()
        .collect();
    let mut state = 7u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for collation in Collation::all() {
        let mut found = 0;
        for _ in 0..300 {
            let front: Vec<char> = (0..1 + next(4)).map(|_| letters[next(letters.len())]).collect();
            let text: String = front.iter().collect();
            let mut key = Vec::new();
            collation.append_front(text.as_bytes(), &mut key);
            // Each character by itself or another that may be equal, and something behind them.
            let mut other = String::new();
            for one in &front {
                other.push(if next(2) == 0 { *one } else { letters[next(letters.len())] });
            }
            (0..next(4)).for_each(|_| other.push(letters[next(letters.len())]));
            let pattern: String = front.iter().flat_map(|one| ['|', *one]).chain(['%']).collect();
            let held = &mut crate::context::Held::free();
            if like(collation, other.as_bytes(), pattern.as_bytes(), Some('|'), held).unwrap() {
                let mut weights = Vec::new();
                collation.append_weights(other.as_bytes(), &mut weights);
                assert!(weights.starts_with(&key), "{}: {other:?} by {text:?}", collation.name());
                found += 1;
            }
        }
        assert!(found > 20, "{}: {found}", collation.name());
    }
    let mut key = Vec::new();
    Collation::DEFAULT.append_front(b"ab", &mut key);
    assert_eq!(key.len(), 4);
    assert_eq!(literal_front(Collation::DEFAULT, b"a|%b_c%", Some('|')), b"a%b");
}

#[test]
fn names_and_numbers() {
    assert_eq!(Collation::by_name("UTF8_GENERAL_CI"), Some(Collation::Utf8mb3GeneralCi));
    assert_eq!(Collation::by_name("klingon_ci"), None);
    assert_eq!(Collation::default_of_charset("utf8mb4"), Some(Collation::Utf8mb40900AiCi));
    // A name that is not there is no other order's alias.
    for absent in ["utf8mb4_ja_0900_ai_ci", "utf8mb4_zh_0900_as_ci", "utf8mb4_klingon_ci"] {
        assert_eq!(Collation::by_name(absent), None);
    }
    assert_eq!(Collation::by_id(302), None);
    for collation in Collation::all() {
        assert_eq!(Collation::by_name(collation.name()), Some(collation));
        assert_eq!(Collation::by_id(collation.id()), Some(collation));
    }
}

#[test]
fn utf8mb4_takes_any_text() {
    for collation in Collation::all() {
        assert_eq!(collation.takes_any_text(), collation.charset() == "utf8mb4", "{}", collation.name());
    }
}

/// A beat now and then, whatever the collation, unless bytes decide.
#[test]
fn long_texts_are_compared_and_weighed_with_beats() {
    let text = "\u{E4}b".repeat(8_000);
    let (left, right) = (format!("{text}a"), format!("{text}b"));
    for collation in Collation::all() {
        let (beats, order) = pulse::beats_of(|| collation.compare(left.as_bytes(), right.as_bytes()));
        assert!(order.is_lt(), "{collation:?}");
        let mut key = Vec::new();
        let (more, ()) = pulse::beats_of(|| collation.append_weights(left.as_bytes(), &mut key));
        let is_plain = collation.is_by_utf8();
        assert_eq!((beats > 0, more > 0), (!is_plain, !is_plain), "{}: {beats}, {more}", collation.name());
    }
}
