//! GREATEST and LEAST.

use std::cmp::Ordering;

use crate::datetime::{self, DateTime};
use crate::error::{SqlError, SqlResult};
use crate::expr::{Call, EvalContext, coerce_value};
use crate::value::{Value, apply_offset, shown_value, to_bytes, to_date_time, to_text};

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
    let is_moment = |value: &Value| matches!(value, Value::DateTime(_));
    let best = if arguments.iter().any(is_moment) {
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
    };
    let text = |value: &Value| match call.kind.is_binary_string() {
        true => Value::bytes(to_bytes(value).into_owned()),
        false => Value::Str(to_text(value)),
    };
    let best = match best {
        None => extreme_of(arguments.iter().map(text).collect(), call, wanted, context)?,
        found => found,
    };
    best.map_or(Ok(Value::Null), |best| coerce_value(best, &call.kind, context))
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
