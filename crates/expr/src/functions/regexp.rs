//! Regular expression functions: REGEXP_LIKE, REGEXP_REPLACE, REGEXP_SUBSTR and REGEXP_INSTR, with position,
//! occurrence and match type. Positions count characters from 1.

use super::result_bytes::{Grown, ResultBytes, build_text};
use super::{Entry, bigint, entry, text_long};
use crate::expr::{Call, EvalContext};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::regexp::{Groups, Options, Pattern};
use turnstile_values::value::{Value, to_i64, to_text};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("regexp_like", (2, 3), regexp_like, bigint, 0),
    entry("regexp_replace", (3, 6), regexp_replace, text_long, 0),
    entry("regexp_substr", (2, 5), regexp_substr, crate::functions::text_always, 0),
    entry("regexp_instr", (2, 6), regexp_instr, bigint, 0),
];

/// The pattern under a match type: `c` and `i` choose the case, the last one counts; `m` lets `^` and `$`
/// match at lines, `n` lets the dot match their ends; `u` lets only `\\n` end one. It is looked at even if
/// there is no text to match; None if it is NULL.
fn compiled(
    call: &Call,
    pattern: &Value,
    match_type: Option<&Value>,
    context: &EvalContext<'_>,
) -> SqlResult<Option<Pattern>> {
    let letters = match_type.filter(|letters| !letters.is_null()).map(to_text).unwrap_or_default();
    let mut options = Options { ignores_case: !call.collation.is_case_sensitive(), ..Options::default() };
    for letter in letters.chars() {
        match letter {
            'c' | 'i' => options.ignores_case = letter == 'i',
            'm' => options.lines = true,
            'n' => options.dot_matches_all = true,
            'u' => options.unix_lines = true,
            _ => return Err(SqlError::wrong_arguments(call.name)),
        }
    }
    if pattern.is_null() || match_type.is_some_and(Value::is_null) {
        return Ok(None);
    }
    Pattern::new(&to_text(pattern), options, &|work| context.session.work(work)).map(Some)
}

/// Byte offset of a position in characters from 1; 1 without an argument.
fn start(call: &Call, text: &str, position: Option<&Value>, context: &EvalContext<'_>) -> SqlResult<usize> {
    let Some(position) = position else { return Ok(0) };
    // Its lower 32 bits count, with their sign.
    let position = i64::from(to_i64(position, context)? as i32);
    let before = usize::try_from(position.saturating_sub(1)).map_err(|_| match call.name {
        "regexp_instr" => SqlError::regexp_index_out_of_bounds(),
        name => SqlError::wrong_native_parameters(name),
    })?;
    let mut offsets = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    offsets.nth(before).ok_or_else(SqlError::regexp_index_out_of_bounds)
}

/// Which match is meant, from 1; `otherwise` without an argument.
fn occurrence(argument: Option<&Value>, otherwise: i64, context: &EvalContext<'_>) -> SqlResult<i64> {
    argument.map_or(Ok(otherwise), |value| to_i64(value, context))
}

fn regexp_like(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(compiled) = compiled(call, &arguments[1], arguments.get(2), context)? else {
        return Ok(Value::Null);
    };
    null_guard!(arguments);
    Ok(Value::boolean(
        compiled.search(&to_text(&arguments[0]), &|work| context.session.work(work))?.is_match()?,
    ))
}

/// REGEXP_REPLACE(text, pattern, replacement, position, occurrence, match type): occurrence 0, the default,
/// means all of them.
fn regexp_replace(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(compiled) = compiled(call, &arguments[1], arguments.get(5), context)? else {
        return Ok(Value::Null);
    };
    null_guard!(arguments);
    let (text, replacement) = (to_text(&arguments[0]), to_text(&arguments[2]));
    let from = start(call, &text, arguments.get(3), context)?;
    let wanted = occurrence(arguments.get(4), 0, context)?;
    let note = |work| context.session.work(work);
    let mut search = compiled.search(&text, &note)?;
    build_text(call.name, context, |replaced| {
        replaced.push(&text.as_bytes()[..from])?;
        let mut copied = from;
        let mut counted = 0;
        let mut at = from;
        while at <= text.len()
            && let Some(groups) = search.groups_at(at)?
            && let Some(&Some(found)) = groups.first()
        {
            counted += 1;
            if wanted <= 0 || counted == wanted {
                replaced.push(&text.as_bytes()[copied..found.0])?;
                expand(&replacement, &text, &groups, replaced)?;
                copied = found.1;
                if counted == wanted {
                    break;
                }
            }
            context.session.work(found.1 - at)?;
            at = after(&text, found);
        }
        replaced.push(&text.as_bytes()[copied..])
    })
}

/// Where the search goes on: after an empty match one character further.
fn after(text: &str, (start, end): (usize, usize)) -> usize {
    if start < end { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) }
}

/// The replacement with `$n` for the n-th group; a backslash takes the next character as it is.
fn expand(replacement: &str, text: &str, groups: &Groups, out: &mut ResultBytes<'_>) -> Grown {
    let mut rest = replacement.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => rest.next().map_or(Ok(()), |next| out.push_char(next))?,
            '$' => {
                let Some(first) = rest.next().and_then(|digit| digit.to_digit(10)) else {
                    return Err(SqlError::regexp_invalid_group_name().into());
                };
                let mut group = first as usize;
                while let Some(digit) = rest.peek().and_then(|digit| digit.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer >= groups.len() {
                        break;
                    }
                    group = longer;
                    rest.next();
                }
                let found = groups.get(group).ok_or_else(SqlError::regexp_index_out_of_bounds)?;
                out.push(found.map_or("", |(start, end)| &text[start..end]).as_bytes())?;
            }
            letter => out.push_char(letter)?,
        }
    }
    Ok(())
}

/// The match at or behind a byte offset that the occurrence means.
fn nth_match(
    compiled: &Pattern,
    text: &str,
    from: usize,
    wanted: i64,
    context: &EvalContext<'_>,
) -> SqlResult<Option<(usize, usize)>> {
    let wanted = wanted.max(1);
    let note = |work| context.session.work(work);
    let mut search = compiled.search(text, &note)?;
    let mut at = from;
    let mut counted = 0;
    while at <= text.len()
        && let Some(found) = search.find_at(at)?
    {
        counted += 1;
        context.session.work(found.1 - at)?;
        if counted == wanted {
            return Ok(Some(found));
        }
        at = after(text, found);
    }
    Ok(None)
}

fn regexp_substr(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(compiled) = compiled(call, &arguments[1], arguments.get(4), context)? else {
        return Ok(Value::Null);
    };
    null_guard!(arguments);
    let text = to_text(&arguments[0]);
    let from = start(call, &text, arguments.get(2), context)?;
    let wanted = occurrence(arguments.get(3), 1, context)?;
    let found = nth_match(&compiled, &text, from, wanted, context)?;
    Ok(found.map_or(Value::Null, |(start, end)| Value::text(&text[start..end])))
}

/// REGEXP_INSTR(text, pattern, position, occurrence, return option, match type): where the match begins, or
/// with return option 1 what comes after it begins. Unlike for the others, the text begins at the position:
/// `^` matches there, and nothing looks behind it.
fn regexp_instr(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(compiled) = compiled(call, &arguments[1], arguments.get(5), context)? else {
        return Ok(Value::Null);
    };
    null_guard!(arguments);
    let text = to_text(&arguments[0]);
    let after = match arguments.get(4).map(|value| to_i64(value, context)).transpose()? {
        None | Some(0) => false,
        Some(1) => true,
        Some(_) => {
            return Err(SqlError::wrong_arguments(format!("{}: return_option must be 1 or 0.", call.name)));
        }
    };
    let from = start(call, &text, arguments.get(2), context)?;
    let wanted = occurrence(arguments.get(3), 1, context)?;
    let found = nth_match(&compiled, &text[from..], 0, wanted, context)?;
    let place = |found: (usize, usize)| {
        let end = if after { found.1 } else { found.0 };
        text[..from + end].chars().count() as i64 + 1
    };
    Ok(Value::Int(found.map_or(0, place)))
}
