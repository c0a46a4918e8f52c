//! Statements that must give the same rows by what the manual says of them. Where the second server gives the
//! first one's rows for such a form, and other ones for the statement itself, it contradicts itself.
//!
//! What the second server does otherwise, form by form:
//!
//! - `COALESCE(x)` for `x`, a CASE, IF or NULLIF: it reads the branch that was taken as a date, a time or a
//!   number, and not as the text that the whole is; it shows a BIT among decimals as bytes.
//! - `CASE WHEN x = y THEN NULL ELSE x END` for `NULLIF(x, y)`: it makes a date in it a number once it has
//!   compared it with one.
//! - `IF(x >= y, x, y)` or NULL for `GREATEST(x, y)`, and so for LEAST: it takes what is no date for the
//!   latest one, 16383-15-31.
//! - `MIN(COALESCE(x))` for `MIN(x)`, and so for MAX: with an index it takes the member of an ENUM that comes
//!   first in the list, not as a text.
//! - `IF(x IS NULL, NULL, JSON_VALID(x))` for `JSON_VALID(x)`: it gives 0 for NULL of a number or a date.
//! - `x IN (b, a)` for `x IN (a, b)` with documents: it takes for the first candidate what it has read of
//!   another one.
//! - `IF(RAND() >= 0, x, NULL)` for a constant document: it stores it into the column of numbers beside it,
//!   and compares what became of it.

/// A call of each name, `IF(` not being the end of another name, as `change` makes it of its argument list.
fn calls(text: &str, name: &str, change: &dyn Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, call) = rest.split_at(at);
        out += before;
        let inside = &call[name.len()..];
        let own = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        match closing(inside).filter(|_| own) {
            Some(end) => {
                out += &change(&calls(&inside[..end], name, change));
                rest = &inside[end + 1..];
            }
            None => {
                out += name;
                rest = inside;
            }
        }
    }
    out + rest
}

/// Where the bracket is closed that was opened before this text. Literals hold no brackets of this kind.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn choices_inside_coalesce(text: &str) -> String {
    let text = text.replace("CASE WHEN ", "COALESCE(CASE WHEN ").replace(" END", " END)");
    let of = |name: &str| {
        let name = name.to_string();
        move |inside: &str| format!("COALESCE({name}{inside}))")
    };
    let text = calls(&text, "IF(", &of("IF("));
    calls(&text, "NULLIF(", &of("NULLIF("))
}

fn nothings_compared(text: &str) -> String {
    calls(text, "NULLIF(", &|inside| match arguments(inside).as_slice() {
        [x, y] => format!("CASE WHEN ({x}) = ({y}) THEN NULL ELSE {x} END"),
        _ => format!("NULLIF({inside})"),
    })
}

fn members_as_texts(text: &str) -> String {
    let of = |name: &str| {
        let name = name.to_string();
        move |inside: &str| format!("{name}COALESCE({inside}))")
    };
    calls(&calls(text, "MIN(", &of("MIN(")), "MAX(", &of("MAX("))
}

fn validity_of_values(text: &str) -> String {
    calls(text, "JSON_VALID(", &|inside| format!("IF(({inside}) IS NULL, NULL, JSON_VALID({inside}))"))
}

/// The arguments of a call. Literals hold commas, but no quotes.
fn arguments(inside: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0usize, false, 0);
    let mut found = Vec::new();
    for (at, c) in inside.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 && !quoted => {
                found.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(inside[start..].trim());
    found
}

fn extremes_compared(text: &str) -> String {
    let of = |name: &str, operator: &str| {
        let (name, operator) = (name.to_string(), operator.to_string());
        move |inside: &str| match arguments(inside).as_slice() {
            [x, y] => {
                format!("IF(({x}) IS NULL OR ({y}) IS NULL, NULL, IF(({x}) {operator} ({y}), {x}, {y}))")
            }
            _ => format!("{name}{inside})"),
        }
    };
    let text = calls(text, "GREATEST(", &of("GREATEST(", ">="));
    calls(&text, "LEAST(", &of("LEAST(", "<="))
}

fn documents_of_rows(text: &str) -> String {
    calls(text, "CAST(", &|inside| match inside.ends_with(" AS JSON") {
        true => format!("IF(RAND() >= 0, CAST({inside}), NULL)"),
        false => format!("CAST({inside})"),
    })
}

fn lists_reversed(text: &str) -> String {
    calls(text, "IN (", &|inside| {
        let mut listed = arguments(inside);
        if inside.starts_with("SELECT") || !inside.contains(" AS JSON)") || listed.len() < 2 {
            return format!("IN ({inside})");
        }
        listed.reverse();
        format!("IN ({})", listed.join(", "))
    })
}

/// The statement in other words.
pub fn forms(statement: &str) -> Vec<String> {
    let valid = validity_of_values(statement);
    let mut forms = vec![
        choices_inside_coalesce(statement),
        choices_inside_coalesce(&valid),
        extremes_compared(&valid),
        nothings_compared(&valid),
        members_as_texts(statement),
        documents_of_rows(statement),
        lists_reversed(statement),
        valid,
    ];
    forms.retain(|form| form != statement);
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_is_wrapped_once() {
        assert_eq!(choices_inside_coalesce("IFNULL(a, IF(b, (c), d))"), "IFNULL(a, COALESCE(IF(b, (c), d)))");
        assert_eq!(
            choices_inside_coalesce("NULLIF(IF(1, IF(2, 3, 4), 5), 6)"),
            "COALESCE(NULLIF(COALESCE(IF(1, COALESCE(IF(2, 3, 4)), 5)), 6))"
        );
        assert_eq!(
            choices_inside_coalesce("CASE WHEN CASE WHEN a THEN b ELSE c END THEN d ELSE e END"),
            "COALESCE(CASE WHEN COALESCE(CASE WHEN a THEN b ELSE c END) THEN d ELSE e END)"
        );
        assert_eq!(validity_of_values("(JSON_VALID(f(a)))"), "(IF((f(a)) IS NULL, NULL, JSON_VALID(f(a))))");
    }

    #[test]
    fn extremes_are_written_out() {
        assert_eq!(
            extremes_compared("LEAST(f('a,b', 1), b)"),
            "IF((f('a,b', 1)) IS NULL OR (b) IS NULL, NULL, IF((f('a,b', 1)) <= (b), f('a,b', 1), b))"
        );
        assert_eq!(extremes_compared("GREATEST(a, b, c)"), "GREATEST(a, b, c)");
    }

    #[test]
    fn members_and_documents_are_said_otherwise() {
        assert_eq!(members_as_texts("MAX(a.c), MIN(f(b))"), "MAX(COALESCE(a.c)), MIN(COALESCE(f(b)))");
        assert_eq!(
            documents_of_rows("a >= CAST('1' AS JSON) + CAST(b AS DATE)"),
            "a >= IF(RAND() >= 0, CAST('1' AS JSON), NULL) + CAST(b AS DATE)"
        );
    }

    #[test]
    fn lists_with_documents_are_turned_round() {
        let list = "a IN (f(b, c), CAST('[1, 2]' AS JSON)) AND d IN (1, 2)";
        assert_eq!(lists_reversed(list), "a IN (CAST('[1, 2]' AS JSON), f(b, c)) AND d IN (1, 2)");
        let none = "a IN (SELECT b, CAST('1' AS JSON) FROM c JOIN (d) ON e)";
        assert_eq!(lists_reversed(none), none);
    }

    #[test]
    fn what_has_no_other_form_is_not_asked_again() {
        assert!(forms("SELECT IFNULL(a, 1) FROM t").is_empty());
        assert_eq!(forms("SELECT MIN(a), MAX(b)"), ["SELECT MIN(COALESCE(a)), MAX(COALESCE(b))"]);
        assert_eq!(forms("SELECT IF(a, 1, 2)"), ["SELECT COALESCE(IF(a, 1, 2))"]);
    }
}
