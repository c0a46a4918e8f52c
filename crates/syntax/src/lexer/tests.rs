//! Token by token.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use TokenKind as T;

fn kinds(text: &str) -> Vec<TokenKind> {
    let mut lexer =
        Lexer::new(text.as_bytes(), 0, LexOptions { ansi_quotes: false, no_backslash_escapes: false });
    let mut kinds = Vec::new();
    loop {
        match lexer.next_token().kind {
            T::End => return kinds,
            kind => kinds.push(kind),
        }
        assert!(kinds.len() <= text.len() + 1, "the lexer moves on");
    }
}

#[test]
fn numbers_and_words() {
    let cases: [(&str, &[TokenKind]); 21] = [
        ("1", &[T::Integer]),
        ("1.", &[T::Decimal]),
        (".5", &[T::Decimal]),
        ("1.5e3", &[T::Float]),
        ("1e-3", &[T::Float]),
        ("1e", &[T::Identifier]),
        ("1a", &[T::Identifier]),
        ("0x1F", &[T::HexNumber]),
        ("0x1G", &[T::Identifier]),
        ("0x", &[T::Identifier]),
        ("0b101", &[T::BitNumber]),
        ("0b12", &[T::Identifier]),
        ("x'4D'", &[T::HexString]),
        ("x'4'", &[T::Invalid, T::String]),
        ("b'01'", &[T::BitString]),
        ("N'a'", &[T::NationalString]),
        ("a.1b", &[T::Identifier, T::Dot, T::Identifier]),
        ("t.select", &[T::Identifier, T::Dot, T::Identifier]),
        ("select.a", &[T::Identifier, T::Dot, T::Identifier]),
        ("1.5abc", &[T::Decimal, T::Identifier]),
        ("naïve", &[T::Identifier]),
    ];
    for (text, expected) in cases {
        let found = kinds(text);
        assert!(found.starts_with(&expected[..1]) || found == expected, "{text}: {found:?}");
        if expected[0] != T::Invalid {
            assert_eq!(found, expected, "{text}");
        }
    }
}

#[test]
fn comments() {
    assert_eq!(kinds("1 -- x\n2 # y\n/* z */3"), [T::Integer; 3]);
    assert_eq!(kinds("1--2"), [T::Integer, T::Minus, T::Minus, T::Integer]);
    assert_eq!(kinds("/*!40101 1 */ 2"), [T::Integer; 2]);
    assert_eq!(kinds("/*! 1 */ 2"), [T::Integer; 2]);
    assert_eq!(kinds("/*!80400 1 */ 2"), [T::Integer; 2]);
    assert_eq!(kinds("/*!80401 1 */ 2"), [T::Integer]);
    assert_eq!(kinds("/*!999999\\- enable the sandbox mode */"), []);
    assert_eq!(kinds("/*!100100 1 */ 2"), [T::Integer]);
    assert_eq!(kinds("/*M!100100 1 */ 2"), [T::Integer]);
    assert_eq!(kinds("/*!99999 1 /* in */ 2 */ 3"), [T::Integer]);
    assert_eq!(kinds("/*+ hint */ 1"), [T::Integer]);
    assert_eq!(kinds("1 /* open"), [T::Integer, T::Invalid]);
    assert_eq!(kinds("--"), []);
    // 5 * / 2: no comment ends outside a conditional one
    assert_eq!(kinds("5 */ 2"), [T::Integer, T::Star, T::Slash, T::Integer]);
}

#[test]
fn operators() {
    assert_eq!(
        kinds("<=> << >> <> != := && || -> ->>"),
        [
            T::NullSafeEqual,
            T::ShiftLeft,
            T::ShiftRight,
            T::NotEqual,
            T::NotEqual,
            T::Assign,
            T::AndAnd,
            T::PipePipe,
            T::Arrow,
            T::ArrowText
        ]
    );
    assert_eq!(
        kinds("@a @'b c' @@global @"),
        [T::UserVariable, T::UserVariable, T::AtAt, T::Keyword(Keyword::Global), T::At]
    );
}

#[test]
fn every_keyword_is_found() {
    for word in ["SELECT", "zerofill", "Year_Month", "xa", "as", "SECONDARY_ENGINE_ATTRIBUTE"] {
        assert_eq!(Keyword::find(word.as_bytes()).unwrap().text(), word.to_ascii_uppercase());
    }
    assert!(Keyword::find(b"sbtest1").is_none());
    assert!(Keyword::Select.is_reserved() && !Keyword::Begin.is_reserved());
}

#[test]
fn escapes() {
    assert_eq!(&*literal::unquote(br"'a\n\0\Z\%\_\x\'b'", true), b"a\n\0\x1a\\%\\_x'b");
    assert_eq!(&*literal::unquote(br"'a\n''b'", false), br"a\n'b");
    assert_eq!(&*literal::hex_bytes(b"1aF"), [0x1, 0xAF]);
    assert_eq!(&*literal::bit_bytes(b"100000001"), [1, 1]);
    assert_eq!(literal::integer(b"18446744073709551615"), Some(u64::MAX));
    assert_eq!(literal::integer(b"18446744073709551616"), None);
}

#[test]
fn plain_text_ends_at_the_first_quote_or_backslash() {
    let mut rng = turnstile_sys::rng::Rng::new(7);
    for _ in 0..20_000 {
        // The neighbours of the two in the alphabet, and bytes with the high bit, are what a carry could
        // mistake for them.
        let alphabet = b"\\\\'\"&([]]]]xyz\x00\x80\xA7\xDC\xFF((((((((((((((";
        let text: Vec<u8> = (0..rng.index(40)).map(|_| alphabet[rng.index(alphabet.len())]).collect();
        for quote in [b'\'', b'"', b'`'] {
            let slow = text.iter().take_while(|&&byte| byte != quote && byte != b'\\').count();
            assert_eq!(literal::plain_length(&text, quote), slow, "{text:?}");
        }
    }
}
