//! Texts come back as the bytes they were; sequences of several bytes are read as MySQL's lexer sees them.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

const MULTI_BYTE: &[Charset] = &[
    Charset::Gbk,
    Charset::Big5,
    Charset::Cp932,
    Charset::Ujis,
    Charset::Euckr,
    Charset::Gb2312,
    Charset::Sjis,
    Charset::Eucjpms,
    Charset::Gb18030,
];

/// Every legal sequence is a text, and that of most its own bytes; the same character may have two codes in
/// Japanese sets.
#[test]
fn codes_come_back() {
    for set in MULTI_BYTE {
        let (mut legal, mut other) = (0, 0);
        let mut check = |bytes: &[u8]| {
            let Some(text) = set.decode(bytes) else { return };
            if text.chars().count() != 1 {
                return;
            }
            legal += 1;
            let back = set.encode(&text);
            other += usize::from(back != bytes);
            assert_eq!(set.decode(&back).unwrap(), text, "{} {bytes:02X?}", set.name());
        };
        for pair in 0x8000..=0xFFFFu16 {
            let [first, second] = pair.to_be_bytes();
            check(&[first, second]);
            check(&[0x8F, first, second]);
        }
        let expected = match set {
            Charset::Gbk | Charset::Gb18030 => (23940, 0),
            Charset::Big5 => (13973, 0),
            Charset::Cp932 => (11280, 398),
            Charset::Sjis => (11280, 0),
            Charset::Ujis => (17735, 0),
            Charset::Eucjpms => (17735, 24),
            Charset::Euckr => (22428, 0),
            _ => (8178, 0),
        };
        assert_eq!((legal, other), expected, "{}", set.name());
    }
}

#[test]
fn four_bytes() {
    for (bytes, character) in [
        ([0x81, 0x30, 0x81, 0x30], '\u{80}'),
        ([0x81, 0x39, 0xEE, 0x39], '\u{3400}'),
        ([0x90, 0x30, 0x81, 0x30], '\u{10000}'),
        ([0xE3, 0x32, 0x9A, 0x35], '\u{10FFFF}'),
    ] {
        assert_eq!(Charset::Gb18030.decode(&bytes).unwrap(), character.to_string());
        assert_eq!(Charset::Gb18030.encode(&character.to_string()), bytes);
    }
    for character in ('\u{80}'..=char::MAX).step_by(7) {
        let text = character.to_string();
        assert_eq!(Charset::Gb18030.decode(&Charset::Gb18030.encode(&text)).unwrap(), text);
    }
    assert_eq!(Charset::Gb18030.decode(&[0xE3, 0x32, 0x9A, 0x36]), None);
}

/// A second byte that looks like a quote or a backslash belongs to its character; one that cannot be a second
/// byte does not.
#[test]
fn no_character_of_several_bytes_hides_a_quote() {
    for set in MULTI_BYTE {
        for first in 0x80..=0xFFu8 {
            for second in [b'\'', b'"', b'\\', b'`', b'\n'] {
                let text = set.decode_lossy(&[first, second]);
                let whole = set.decode(&[first, second]).is_some_and(|text| text.chars().count() == 1);
                let ends = text.ends_with(char::from(second));
                assert_eq!(ends, !whole, "{} {first:02X} {second:02X} {text}", set.name());
                // Legal second bytes are no quotes in any of the sets.
                assert!(!whole || second == b'\\' || second == b'`', "{}", set.name());
                assert!(text.chars().count() == if whole { 1 } else { 2 });
            }
        }
    }
    assert_eq!(Charset::Gbk.decode_lossy(b"\xBF'"), "?'");
    assert_eq!(Charset::Gbk.decode_lossy(b"\xBF\\'"), "縗'");
    assert_eq!(Charset::Sjis.decode_lossy(b"\x95\\'"), "表'");
    assert_eq!(Charset::Sjis.decode_lossy(b"\x81_\\"), "＼\\");
}

/// No legal sequence of several bytes reads as ASCII.
#[test]
fn ascii_has_one_byte() {
    for set in MULTI_BYTE {
        for pair in 0x8000..=0xFFFFu16 {
            let [first, second] = pair.to_be_bytes();
            for bytes in [&[first, second][..], &[0x8F, first, second]] {
                if let Some(text) = set.decode(bytes)
                    && text.chars().count() == 1
                {
                    assert!(!text.is_ascii(), "{} {bytes:02X?}", set.name());
                }
            }
        }
    }
}

/// What a set lacks in Unicode keeps its bytes.
#[test]
fn codes_without_a_character() {
    assert_eq!(Charset::Gb2312.decode(&[0xA2, 0xA1]).unwrap(), "\u{FA2A1}");
    assert_eq!(Charset::Gb2312.encode("\u{FA2A1}"), [0xA2, 0xA1]);
    assert_eq!(Charset::Gbk.first_missing("\u{F0041}"), Some(0));
}
