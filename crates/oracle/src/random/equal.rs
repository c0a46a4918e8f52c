//! Statements that must give the same rows by what the manual says of them. Where the second server gives the first one's rows for such a
//! form, and other ones for the statement itself, it contradicts itself.
//!
//! | form | what the second server does otherwise |
//! |---|---|
//! | `COALESCE(x)` for `x`, a CASE, IF or NULLIF | reads the branch that was taken as a date, a time or a number, and not as the text that the whole is; shows a BIT among decimals as bytes |
//! | `IF(x IS NULL, NULL, JSON_VALID(x))` for `JSON_VALID(x)` | gives 0 for NULL of a number or a date |

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

fn validity_of_values(text: &str) -> String {
    calls(text, "JSON_VALID(", &|inside| format!("IF(({inside}) IS NULL, NULL, JSON_VALID({inside}))"))
}

/// The statement in other words.
pub fn forms(statement: &str) -> Vec<String> {
    let valid = validity_of_values(statement);
    let mut forms = vec![choices_inside_coalesce(statement), choices_inside_coalesce(&valid), valid];
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
    fn what_has_no_other_form_is_not_asked_again() {
        assert!(forms("SELECT IFNULL(a, 1) FROM t").is_empty());
        assert_eq!(forms("SELECT IF(a, 1, 2)"), ["SELECT COALESCE(IF(a, 1, 2))"]);
    }
}
