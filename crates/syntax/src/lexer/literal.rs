//! What the spans of literal tokens say.

/// Bytes at the start of `text` that are neither `quote` nor a backslash; eight at a time.
#[must_use]
pub fn plain_length(text: &[u8], quote: u8) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = ONES << 7;
    // The lowest bit set belongs to the first byte that is zero.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (quotes, backslashes) = (ONES * u64::from(quote), ONES * u64::from(b'\\'));
    let mut words = text.chunks_exact(8);
    let mut length = 0;
    for word in &mut words {
        let word = u64::from_le_bytes(word.try_into().expect("chunks of eight"));
        let found = zeros(word ^ quotes) | zeros(word ^ backslashes);
        if found != 0 {
            return length + found.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = words.remainder().iter();
    length + rest.take_while(|&&byte| byte != quote && byte != b'\\').count()
}

/// What is between the quotes of a quoted span, if it is what the span says: nothing in it is doubled or
/// escaped.
#[must_use]
pub fn plain_text(span: &[u8], escapes: bool) -> Option<&[u8]> {
    let (&quote, rest) = span.split_first()?;
    let inner = rest.strip_suffix(&[quote]).unwrap_or(rest);
    let plain = plain_length(inner, quote);
    (plain == inner.len() || (!escapes && !inner[plain..].contains(&quote))).then_some(inner)
}

/// The bytes of a quoted span (quotes included): doubled quotes and, if `escapes`, backslash sequences
/// resolved. `\%` and `\_` keep their backslash, which LIKE understands.
#[must_use]
pub fn unquote(span: &[u8], escapes: bool) -> Box<[u8]> {
    if let Some(plain) = plain_text(span, escapes) {
        return plain.into();
    }
    let Some((&quote, rest)) = span.split_first() else { return Box::default() };
    let inner = rest.strip_suffix(&[quote]).unwrap_or(rest);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        if byte == b'\\' && escapes {
            match rest.next() {
                Some(escaped) => push_escaped(escaped, &mut bytes),
                None => bytes.push(byte),
            }
        } else {
            if byte == quote {
                rest.next();
            }
            bytes.push(byte);
        }
    }
    bytes.into()
}

fn push_escaped(escaped: u8, bytes: &mut Vec<u8>) {
    let byte = match escaped {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'0' => 0,
        b'Z' => 26,
        b'%' | b'_' => {
            bytes.push(b'\\');
            escaped
        }
        other => other,
    };
    bytes.push(byte);
}

/// Hexadecimal digits to bytes; an odd first digit stands alone.
#[must_use]
pub fn hex_bytes(digits: &[u8]) -> Box<[u8]> {
    let (head, pairs) = digits.split_at(digits.len() % 2);
    let first = head.iter().map(|&digit| hex_digit(digit));
    first.chain(pairs.chunks_exact(2).map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1]))).collect()
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit & 0xDF).wrapping_sub(b'A').wrapping_add(10),
    }
}

/// Binary digits to bytes, padded with zero bits on the left.
#[must_use]
pub fn bit_bytes(digits: &[u8]) -> Box<[u8]> {
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | (bit & 1));
    let (head, rest) = digits.split_at(digits.len() % 8);
    let first = (!head.is_empty()).then(|| byte(head));
    first.into_iter().chain(rest.chunks_exact(8).map(byte)).collect()
}

/// A whole number, unless it needs more than 64 bits.
#[must_use]
pub fn integer(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// The character sets that may be written as `_name` before a literal.
#[must_use]
pub fn is_character_set(name: &[u8]) -> bool {
    const NAMES: [&str; 42] = [
        "utf8mb4", "utf8", "utf8mb3", "binary", "latin1", "ascii", "ucs2", "utf16", "utf16le", "utf32",
        "big5", "gbk", "gb2312", "gb18030", "sjis", "cp932", "ujis", "eucjpms", "euckr", "latin2", "latin5",
        "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "dec8", "geostd8",
        "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "macce", "macroman", "swe7", "tis620",
        "armscii8",
    ];
    NAMES.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}
