//! For fuzzing: what a client may send as a statement's text.

use crate::digest::digest;
use crate::parser::{ParseOptions, parse, parse_at};
use crate::template::{Scan, Template};

/// Parses every statement of `data` under several modes, computes the digests, and makes the template. The
/// first byte chooses the modes. Must return, whatever `data` is.
pub fn fuzz_parse(data: &[u8]) {
    let Some((&modes, text)) = data.split_first() else { return };
    let options = ParseOptions {
        ansi_quotes: modes & 1 != 0,
        pipes_as_concat: modes & 2 != 0,
        no_backslash_escapes: modes & 4 != 0,
        high_not_precedence: modes & 8 != 0,
        real_as_float: modes & 16 != 0,
        parameters: modes & 32 == 0,
        ignore_space: modes & 64 != 0,
        client_set: None,
    };
    let mut start = 0;
    while let Ok(parsed) = parse_at(text, start, options) {
        assert!(parsed.next > start && parsed.statement_end <= parsed.next, "a statement has a length");
        start = parsed.next;
        if start >= text.len() {
            break;
        }
    }
    let _ = digest(text, options.lex_options());
    let mut scan = Scan::default();
    if scan.read(text, options.lex_options(), false)
        && let Ok(parsed) = parse(text, options)
    {
        let _ = Template::of(&parsed.statement, &scan, options);
    }
}
