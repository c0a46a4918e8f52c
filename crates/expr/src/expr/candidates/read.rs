//! Reading one candidate of IN as a whole number, a date, a moment or a time, with what is told of one that
//! is none.

use turnstile_syntax::ast;
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{
    Value, apply_offset, parse_integer_prefix, shown_value, tell_delimiter, to_bytes, to_date_time, to_i64,
    to_time,
};

use super::super::predicate::moment_beside;
use super::super::{Call, EvalContext, Expr, ScalarFunction, Typed};
use super::Reading;

/// What a warning calls the column that a text was meant for.
pub fn name_of(written: &ast::Expr) -> Option<String> {
    match written {
        ast::Expr::Column(name) => Some(name.column.to_string()),
        ast::Expr::Literal(ast::Literal::String(text)) => {
            Some(String::from_utf8_lossy(&text.bytes).into_owned())
        }
        _ => None,
    }
}

pub(super) fn called(
    name: &'static str,
    function: ScalarFunction,
    operand: Typed,
    column: Option<&str>,
    kind: ColumnType,
) -> Typed {
    let column = column.map_or(Value::Null, Value::text);
    let call = Call::new(name, function, vec![operand.expr, Expr::Literal(column)], kind.clone());
    Typed { expr: call.into_expr(), kind: ExprType { column: kind, ..operand.kind } }
}

pub(super) fn read(text: Typed, reading: Reading, name: Option<&str>) -> Typed {
    match reading {
        Reading::Date => called("date", date, text, None, ColumnType::DateTime { fsp: 6 }),
        Reading::Moment => called("timestamp", moment, text, name, ColumnType::DateTime { fsp: 6 }),
        Reading::Time => called("time", time, text, None, ColumnType::Time { fsp: 6 }),
    }
}

/// A text among dates that are not all known beforehand: the moment that it says, or the zero date.
pub fn read_as_moment(text: Typed, name: Option<&str>) -> Typed {
    read(text, Reading::Moment, name)
}

/// A text among times that are not all known beforehand: the time that it says, or one that is equal to none.
pub fn read_as_time(text: Typed) -> Typed {
    called("time", time_or_never, text, None, ColumnType::Time { fsp: 6 })
}

pub(super) fn whole(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let value = &arguments[0];
    let Some(text) = value.as_raw_bytes().filter(|_| !value.is_null()) else {
        return Ok(if value.is_null() { Value::Null } else { Value::Int(to_i64(value, context)?) });
    };
    let (number, complete) = parse_integer_prefix(text);
    if !complete {
        context.warn(SqlError::truncated_wrong_value("INTEGER", shown_value(value)))?;
    }
    let signed = i64::try_from(number).map(Value::Int);
    Ok(signed.unwrap_or(if number < 0 {
        Value::Int(i64::MIN)
    } else {
        Value::UInt(u64::try_from(number).unwrap_or(u64::MAX))
    }))
}

/// A number as a moment; one that is none is equal to no moment.
pub(super) fn moment_of_number(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let found = to_date_time(&arguments[0], context)?;
    Ok(Value::DateTime(found.unwrap_or_else(never)))
}

/// What no text says, and no candidate is.
fn never() -> datetime::DateTime {
    const HOURS: u32 = 24;
    datetime::DateTime::from_parts(datetime::Date::from_parts(9999, 12, 31), HOURS, 0, 0, 0, 6)
}

pub(super) fn date_or_never(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    date_or(never(), &arguments[0], context)
}

pub(super) fn date_or_unknown(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = &arguments[0];
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    let Some(found) = datetime::parse_date_time(&written, DateRules::LENIENT) else {
        context.warn(SqlError::truncated_wrong_value("date", shown_value(text)))?;
        return Ok(Value::Null);
    };
    tell_delimiter(&found, &written, 1, context);
    Ok(Value::DateTime(apply_offset(found.moment, found.offset_seconds, context)))
}

pub(super) fn time_or_unknown(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Null => Ok(Value::Null),
        text => Ok(to_time(text, context)?.map_or(Value::Null, Value::Time)),
    }
}

/// A candidate that is no date, which differs from an operand that is none.
pub(super) fn date_or_none(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let none = datetime::DateTime::from_parts(never().date(), 24, 1, 0, 0, 6);
    date_or(none, &arguments[0], context)
}

/// A candidate beside dates: a time of day, an offset or what follows the date is told of, and what is no
/// date is equal to none.
pub(super) fn date_alone(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = &arguments[0];
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    let tell = || context.warn(SqlError::truncated_wrong_value("date", shown_value(text)));
    // A month or a day of zero is found in columns of any mode; the zero date is none where the mode refuses
    // it.
    let rules =
        datetime::DateRules { zero_date: context.compared_date_rules().zero_date, ..context.date_rules() };
    let Some(parsed) = datetime::parse_date_time(&written, rules) else {
        tell()?;
        return Ok(Value::DateTime(never()));
    };
    tell_delimiter(&parsed, &written, 1, context);
    let moment = apply_offset(parsed.moment, parsed.offset_seconds, context);
    if parsed.truncated || parsed.offset_seconds.is_some() || moment != moment.date().at_midnight() {
        tell()?;
    }
    Ok(Value::DateTime(moment))
}

/// A candidate beside dates among which is a parameter, which is a moment: so are the others. A day that no
/// month has is told of by nobody.
pub(super) fn moment_or_none(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = &arguments[0];
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    let parsed = datetime::parse_date_time(&written, DateRules { invalid: true, ..DateRules::LENIENT });
    let truncated = || SqlError::truncated_wrong_value("date", shown_value(text));
    let Some(parsed) = parsed else {
        context.warn(truncated())?;
        return Ok(Value::DateTime(never()));
    };
    if parsed.truncated {
        context.warn(truncated())?;
    }
    Ok(Value::DateTime(apply_offset(parsed.moment, parsed.offset_seconds, context)))
}

fn date_or(none: datetime::DateTime, text: &Value, context: &EvalContext<'_>) -> SqlResult<Value> {
    let found = moment_beside(text, "date", context)?;
    let is_date = datetime::parse_date_time(&to_bytes(text), context.compared_date_rules()).is_some();
    Ok(if is_date || text.is_null() { found } else { Value::DateTime(none) })
}

pub(super) fn time_or_never(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let beyond = datetime::Time { us: datetime::TIME_MAX_US + 1, fsp: 6 };
    Ok(Value::Time(to_time(&arguments[0], context)?.unwrap_or(beyond)))
}

pub(super) fn date(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    moment_beside(&arguments[0], "date", context)
}

pub(super) fn moment(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let [text, Value::Str(name)] = arguments else {
        return moment_beside(&arguments[0], "datetime", context);
    };
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    Ok(Value::DateTime(match datetime::parse_date_time(&written, context.compared_date_rules()) {
        Some(parsed) => {
            tell_delimiter(&parsed, &written, 1, context);
            apply_offset(parsed.moment, parsed.offset_seconds, context)
        }
        None => {
            context.warn(SqlError::incorrect_value_for_column("datetime", shown_value(text), name, 1))?;
            datetime::DateTime::ZERO
        }
    }))
}

pub(super) fn time(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Null => Ok(Value::Null),
        text => Ok(Value::Time(to_time(text, context)?.unwrap_or_default())),
    }
}
