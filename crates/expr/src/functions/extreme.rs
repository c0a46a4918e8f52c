//! GREATEST and LEAST.

use std::cmp::Ordering;

use crate::expr::{Call, EvalContext, Expr, coerce_value};
use turnstile_values::datetime::{self, DateRules, DateTime};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{
    Value, apply_offset, parse_double_prefix, shown_value, to_bytes, to_date_time, to_double, to_text,
};

pub(super) fn greatest(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    extreme(call, arguments, context, Ordering::Greater)
}

pub(super) fn least(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    extreme(call, arguments, context, Ordering::Less)
}

fn extreme(
    call: &Call,
    arguments: &[Value],
    context: &EvalContext<'_>,
    wanted: Ordering,
) -> SqlResult<Value> {
    null_guard!(arguments);
    if call.kind.is_string() {
        return extreme_text(call, arguments, context, wanted);
    }
    let mut best = &arguments[0];
    for candidate in &arguments[1..] {
        let (one, other) = crate::expr::on_one_day(candidate, best, context)?;
        context.step()?;
        if takes_over(context.compare(&one, &other, call.collation)?, wanted) {
            best = candidate;
        }
    }
    coerce_value(best.clone(), &call.kind, context)
}

/// Of equal values the greatest is the last one, the least the first.
fn takes_over(found: Option<Ordering>, wanted: Ordering) -> bool {
    found == Some(wanted) || wanted.is_gt() && found == Some(Ordering::Equal)
}

/// Of values whose common type is text: as moments if one of them is a moment, else by their texts.
fn extreme_text(
    call: &Call,
    arguments: &[Value],
    context: &EvalContext<'_>,
    wanted: Ordering,
) -> SqlResult<Value> {
    let text = |value: &Value| match call.kind.is_binary_string() {
        true => Value::bytes(to_bytes(value).into_owned()),
        false => Value::Str(to_text(value)),
    };
    let best = match extreme_moment(call, arguments, context, wanted)? {
        None => extreme_of(arguments.iter().map(text).collect(), call, wanted, context)?,
        Some(Value::DateTime(mut moment)) => {
            let written = call.arguments.iter().zip(arguments);
            let digits = written.map(|(expr, value)| digits_of(value, matches!(expr, Expr::Literal(_))));
            moment.fsp = digits.max().unwrap_or(0).max(moment.fsp).min(FSP_MAX);
            Some(Value::DateTime(moment))
        }
        found => found,
    };
    best.map_or(Ok(Value::Null), |best| coerce_value(best, &call.kind, context))
}

const FSP_MAX: u8 = 6;

/// The digits behind the seconds that a moment is shown with beside a value. A literal has those that it
/// says.
fn digits_of(value: &Value, is_literal: bool) -> u8 {
    match value {
        Value::Str(text) if is_literal => datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT)
            .map_or(FSP_MAX, |found| found.moment.fsp),
        Value::DateTime(moment) => moment.fsp,
        Value::Time(time) => time.fsp,
        Value::Decimal(number) => number.scale(),
        Value::Null | Value::Int(_) | Value::UInt(_) | Value::Date(_) => 0,
        Value::Double(_) | Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => FSP_MAX,
    }
}

/// The moment among values of which one is a moment. None: their texts are compared.
fn extreme_moment(
    call: &Call,
    arguments: &[Value],
    context: &EvalContext<'_>,
    wanted: Ordering,
) -> SqlResult<Option<Value>> {
    let is_moment = |value: &Value| matches!(value, Value::DateTime(_));
    Ok(if arguments.iter().any(is_moment) {
        // What is no moment is told of and counts as the zero date. Where that one wins, the texts decide.
        let moments = arguments
            .iter()
            .map(|value| Ok(Value::DateTime(moment(call, value, false, context)?.unwrap_or(DateTime::ZERO))));
        let best = extreme_of(moments.collect::<SqlResult<_>>()?, call, wanted, context)?;
        best.filter(|best| !matches!(best, Value::DateTime(moment) if moment.packed() == 0))
    } else if arguments.iter().any(|value| matches!(value, Value::Date(_))) {
        let mut dates = Vec::new();
        for value in arguments {
            let number =
                matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_));
            if let Some(day) = crate::expr::day_of_number(value).filter(|_| number) {
                dates.push(Value::Date(day));
                continue;
            }
            // What is no date is told of, and left out.
            let moment = moment(call, value, true, context)?;
            dates.extend(moment.map(|moment| Value::Date(moment.date())));
        }
        extreme_of(dates, call, wanted, context)?
    } else {
        None
    })
}

/// The moment that an argument says beside dates, or beside a moment by whose name a warning calls that.
fn moment(call: &Call, value: &Value, day: bool, context: &EvalContext<'_>) -> SqlResult<Option<DateTime>> {
    if !value.is_string() {
        return to_date_time(value, context);
    }
    let text = to_bytes(value);
    let name = call.sources.as_deref().and_then(<[_]>::first);
    let kind = if day { "date" } else { "datetime" };
    let Some(found) = datetime::parse_date_time(&text, context.date_rules()) else {
        let shown = shown_value(value);
        context.warn(match name {
            _ if day => SqlError::truncated_wrong_value(kind, shown),
            Some(name) => {
                SqlError::incorrect_value_for_column(kind, shown, name.text(context), context.row())
            }
            None => SqlError::incorrect_value(kind, shown),
        })?;
        return Ok(None);
    };
    if found.truncated {
        context.warn(SqlError::truncated_wrong_value(kind, shown_value(value)))?;
    }
    Ok(Some(apply_offset(found.moment, found.offset_seconds, context)))
}

/// GREATEST or LEAST of texts where a number is wanted: that of the moment that wins among moments, that of
/// the arguments' numbers if some are times, else that which the text begins with.
pub fn as_number(call: &Call) -> Call {
    let function = if call.name == "least" { least_number } else { greatest_number };
    Call { name: "number of extreme", function, ..call.clone() }
}

fn greatest_number(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    number(call, arguments, context, Ordering::Greater)
}

fn least_number(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    number(call, arguments, context, Ordering::Less)
}

fn number(call: &Call, arguments: &[Value], context: &EvalContext<'_>, wanted: Ordering) -> SqlResult<Value> {
    null_guard!(arguments);
    if arguments.iter().any(|value| matches!(value, Value::Date(_) | Value::DateTime(_))) {
        let best = extreme_moment(call, arguments, context, wanted)?;
        return Ok(Value::Double(best.map_or(Ok(0.0), |best| to_double(&best, context))?));
    }
    if !arguments.iter().any(|value| matches!(value, Value::Time(_))) {
        // A text that spells no number is not told of.
        let text = extreme_text(call, arguments, context, wanted)?;
        return Ok(Value::Double(parse_double_prefix(&to_bytes(&text)).0));
    }
    let mut best: Option<f64> = None;
    for value in arguments {
        context.step()?;
        let number = to_double(value, context)?;
        best = best.filter(|best| number.partial_cmp(best) != Some(wanted)).or(Some(number));
    }
    Ok(best.map_or(Value::Null, Value::Double))
}

fn extreme_of(
    values: Vec<Value>,
    call: &Call,
    wanted: Ordering,
    context: &EvalContext<'_>,
) -> SqlResult<Option<Value>> {
    let mut values = values.into_iter();
    let Some(mut best) = values.next() else { return Ok(None) };
    for candidate in values {
        context.step()?;
        if takes_over(context.compare(&candidate, &best, call.collation)?, wanted) {
            best = candidate;
        }
    }
    Ok(Some(best))
}
