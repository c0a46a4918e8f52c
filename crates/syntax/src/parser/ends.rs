//! Where a text of statements begins and ends. As in MySQL, blanks before a statement are not part of it (its
//! lines are counted behind them), nor are blanks and semicolons at the end of the whole text; comments are,
//! and a statement of comments alone does nothing.

/// The white space of C's locale.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

/// The text without the blanks and semicolons at its end.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let kept = text.iter().rposition(|&byte| !is_blank(byte) && byte != b';');
    &text[..kept.map_or(0, |last| last + 1)]
}

/// Where the first statement at or behind `start` begins: at something that is not blank, or at the text's
/// end.
pub(super) fn beginning(text: &[u8], start: usize) -> usize {
    let start = start.min(text.len());
    text[start..].iter().position(|&byte| !is_blank(byte)).map_or(text.len(), |blanks| start + blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_semicolons_are_left_out() {
        assert_eq!(trimmed(b" a; \n;\x0b"), b" a");
        assert_eq!(trimmed(b" ; "), b"");
        assert_eq!(trimmed(b"a -- ;"), b"a --");
        assert_eq!(beginning(b"a;\n\x0b b", 2), 5);
        assert_eq!(beginning(b"a; ", 2), 3);
        assert_eq!(beginning(b"a", 9), 1);
    }
}
