//! Patterns of hosts and databases: what they match, and which is the more specific.

/// How closely a pattern tells the databases that it means: by what stands before its first wildcard.
pub(super) fn specificity(pattern: &str) -> usize {
    let mut letters = pattern.bytes().enumerate();
    while let Some((at, letter)) = letters.next() {
        match letter {
            b'%' | b'_' => return at,
            b'\\' => drop(letters.next()),
            _ => {}
        }
    }
    usize::MAX
}

/// The one database that a pattern means; None if it has wildcards.
pub(super) fn plain_name(pattern: &str) -> Option<String> {
    let mut name = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' | '_' => return None,
            '\\' => name.push(letters.next().unwrap_or('\\')),
            other => name.push(other),
        }
    }
    Some(name)
}

/// `%` and `_` wildcards, with a backslash before one that is meant literally.
pub fn like(pattern: &str, text: &str) -> bool {
    matches(pattern, text)
}

/// `%` and `_` wildcards over names.
pub fn matches(pattern: &str, text: &str) -> bool {
    fits(pattern.as_bytes(), text.as_bytes())
}

pub(super) fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        let (wanted, width) = match pattern.get(p) {
            Some(b'\\') if p + 1 < pattern.len() => (Some(pattern[p + 1]), 2),
            other => (other.copied(), 1),
        };
        if width == 1 && wanted == Some(b'%') {
            retry = Some((p + 1, t));
            p += 1;
        } else if wanted == Some(text[t]) || width == 1 && wanted == Some(b'_') {
            p += width;
            t += 1;
        } else if let Some((after, from)) = retry {
            retry = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'%')
}
