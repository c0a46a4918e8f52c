//! Functions that find a part of a text, take one, or put one in.

use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::value::{Value, to_bytes};

use super::super::result_bytes::Stop;
use super::super::search;
use super::{build_like, count_of, like, place_of, to_count};
use crate::expr::{Call, EvalContext};

pub(super) fn substring(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let position = to_count(&arguments[1], context)?;
    let wanted = match arguments.get(2) {
        Some(wanted) => to_count(wanted, context)?,
        None => i64::MAX,
    };
    let start = match position {
        ..0 => (count_of(&arguments[0], &bytes) as i64).saturating_add(position),
        _ => position - 1,
    };
    if start < 0 || wanted <= 0 {
        return Ok(like(&arguments[0], Vec::new()));
    }
    let begin = place_of(&arguments[0], &bytes, start as usize);
    let end = begin + place_of(&arguments[0], &bytes[begin..], wanted as usize);
    Ok(like(&arguments[0], bytes[begin..end].to_vec()))
}

pub(super) fn left(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let wanted = usize::try_from(to_count(&arguments[1], context)?.max(0)).unwrap_or(usize::MAX);
    Ok(like(&arguments[0], bytes[..place_of(&arguments[0], &bytes, wanted)].to_vec()))
}

pub(super) fn right(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let count = count_of(&arguments[0], &bytes);
    let wanted = to_count(&arguments[1], context)?.clamp(0, count as i64) as usize;
    Ok(like(&arguments[0], bytes[place_of(&arguments[0], &bytes, count - wanted)..].to_vec()))
}

fn trim_ends(arguments: &[Value], leading: bool, trailing: bool) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let remove = arguments.get(1).map_or(std::borrow::Cow::Borrowed(&b" "[..]), to_bytes);
    let mut kept = &bytes[..];
    if !remove.is_empty() {
        while leading && kept.starts_with(&remove) {
            kept = &kept[remove.len()..];
        }
        while trailing && kept.ends_with(&remove) {
            kept = &kept[..kept.len() - remove.len()];
        }
    }
    Ok(like(&arguments[0], kept.to_vec()))
}

pub(super) fn trim(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    trim_ends(arguments, true, true)
}

pub(super) fn trim_left(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    trim_ends(arguments, true, false)
}

pub(super) fn trim_right(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    trim_ends(arguments, false, true)
}

pub(super) fn replace(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (text, from, to) = (to_bytes(&arguments[0]), to_bytes(&arguments[1]), to_bytes(&arguments[2]));
    if from.is_empty() {
        return Ok(arguments[0].clone());
    }
    build_like(&arguments[0], call, context, |out| {
        let mut copied = 0;
        for at in memchr::memmem::find_iter(&text, &from) {
            out.push(&text[copied..at])?;
            out.push(&to)?;
            copied = at + from.len();
        }
        out.push(&text[copied..])
    })
}

/// Character position (from 1) of `needle` in `text` from character `from` (from 1); 0 if absent.
fn position_of(
    call: &Call,
    text: &Value,
    needle: &Value,
    from: i64,
    context: &EvalContext<'_>,
) -> SqlResult<i64> {
    let (haystack, wanted) = (to_bytes(text), to_bytes(needle));
    let binary = matches!(text, Value::Bytes(_));
    let collation = if binary { Collation::Binary } else { call.collation };
    let Ok(before) = usize::try_from(from.saturating_sub(1)) else { return Ok(0) };
    let begin = place_of(text, &haystack, before);
    if begin == haystack.len() && before > count_of(text, &haystack) {
        return Ok(0);
    }
    let found = search::find(collation, &haystack[begin..], &wanted, &mut context.held())?;
    Ok(found.map_or(0, |at| from + count_of(text, &haystack[begin..begin + at]) as i64))
}

pub(super) fn instr(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::Int(position_of(call, &arguments[0], &arguments[1], 1, context)?))
}

pub(super) fn locate(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let from = match arguments.get(2) {
        Some(from) => to_count(from, context)?,
        None => 1,
    };
    Ok(Value::Int(position_of(call, &arguments[1], &arguments[0], from, context)?))
}

fn pad(call: &Call, arguments: &[Value], context: &EvalContext<'_>, left: bool) -> SqlResult<Value> {
    null_guard!(arguments);
    let (bytes, filler) = (to_bytes(&arguments[0]), to_bytes(&arguments[2]));
    let Ok(wanted) = u64::try_from(to_count(&arguments[1], context)?) else { return Ok(Value::Null) };
    let count = count_of(&arguments[0], &bytes) as u64;
    if wanted <= count {
        let end = place_of(&arguments[0], &bytes, wanted as usize);
        return Ok(like(&arguments[0], bytes[..end].to_vec()));
    }
    build_like(&arguments[0], call, context, |out| {
        // As many bytes as so many characters can take.
        let bytes_each =
            if matches!(arguments[0], Value::Bytes(_)) { 1 } else { call.collation.max_char_bytes() };
        if wanted.saturating_mul(u64::from(bytes_each)) > context.settings.result_bytes_max {
            return Err(Stop::TooLong);
        }
        let filler_count = count_of(&arguments[2], &filler) as u64;
        if filler_count == 0 {
            return out.push(&bytes);
        }
        let missing = wanted - count;
        out.push(if left { b"" } else { &bytes })?;
        out.push_repeated(&filler, missing / filler_count)?;
        let rest = place_of(&arguments[2], &filler, (missing % filler_count) as usize);
        out.push(&filler[..rest])?;
        out.push(if left { &bytes } else { b"" })
    })
}

pub(super) fn pad_left(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    pad(call, arguments, context, true)
}

pub(super) fn pad_right(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    pad(call, arguments, context, false)
}

pub(super) fn substring_index(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (text, delimiter) = (to_bytes(&arguments[0]), to_bytes(&arguments[1]));
    let count = to_count(&arguments[2], context)?;
    if delimiter.is_empty() || count == 0 {
        return Ok(like(&arguments[0], Vec::new()));
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    // From the right, matches are those that a search from the left finds.
    let all = || memchr::memmem::find_iter(&text, &delimiter[..]);
    let kept = if count > 0 {
        all().nth(wanted - 1).map_or(&text[..], |at| &text[..at])
    } else {
        let found = all().count();
        let place = found.checked_sub(wanted).and_then(|nth| all().nth(nth));
        place.map_or(&text[..], |at| &text[at + delimiter.len()..])
    };
    Ok(like(&arguments[0], kept.to_vec()))
}

pub(super) fn insert(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let (position, replaced) = (to_count(&arguments[1], context)?, to_count(&arguments[2], context)?);
    let Ok(start @ 1..) = usize::try_from(position) else { return Ok(arguments[0].clone()) };
    let begin = place_of(&arguments[0], &bytes, start - 1);
    if begin == bytes.len() {
        return Ok(arguments[0].clone());
    }
    let length = usize::try_from(replaced).unwrap_or(usize::MAX);
    let end = begin + place_of(&arguments[0], &bytes[begin..], length);
    build_like(&arguments[0], call, context, |out| {
        out.push(&bytes[..begin])?;
        out.push(&to_bytes(&arguments[3]))?;
        out.push(&bytes[end..])
    })
}
