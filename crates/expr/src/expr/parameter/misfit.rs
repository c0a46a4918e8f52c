//! What is told of a value of `?` that is not what its place wants, and how often.

use turnstile_values::datetime::{self, Date, DateRules};
use turnstile_values::decimal::{Decimal, MAX_SCALE};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, parse_double_prefix, parse_integer_prefix, shown_bytes, shown_value};

use super::super::beside_column::today;
use super::super::{Call, EvalContext, Expr, ScalarFunction, Typed};
use super::{MICROS_SCALE, ParameterKind};

/// Names of the calls that stand for values which say no moment and no time.
const NO_MOMENT: &str = "moment of parameter";

const NO_TIME: &str = "time of parameter";

/// Whether a call stands for a value that says no moment, or no time, where one is wanted.
pub fn is_misfit_moment(call: &Call) -> bool {
    matches!(call.name, NO_MOMENT | NO_TIME | COMPARED)
}

/// A number that does not fit.
const NUMBER: &str = "number of parameter";

/// The same of one of several constants of a list, which are read once.
const LISTED: &str = "candidate of parameter";

/// The same beside a date.
const AMONG_DAYS: &str = "day of parameter";

/// A moment that is compared.
const COMPARED: &str = "compared moment of parameter";

/// A moment or a day that bounds BETWEEN.
const BOUND: &str = "bound of parameter";

/// What a value that does not fit is read as where it stands, each time with a warning, which is a strict
/// change's error.
pub fn misfit_of_parameter(kind: ParameterKind) -> Option<(&'static str, ScalarFunction)> {
    Some(match kind {
        ParameterKind::NoInt | ParameterKind::NoYear => (NUMBER, |call, values, context| {
            read(call, "INTEGER", &values[0], context, |text| {
                let (number, _) = parse_integer_prefix(text);
                Value::Int(i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX }))
            })
        }),
        ParameterKind::NoUInt => (NUMBER, unsigned_prefix),
        ParameterKind::PastInt => (NUMBER, |call, values, context| {
            read(call, "DECIMAL", &values[0], context, |text| {
                let negative = text.trim_ascii_start().starts_with(b"-");
                Value::Int(if negative { i64::MIN } else { i64::MAX })
            })
        }),
        ParameterKind::NoDecimal => (NUMBER, |call, values, context| {
            read(call, "DECIMAL", &values[0], context, |text| decimal_of(text, MAX_SCALE))
        }),
        ParameterKind::NoMicros | ParameterKind::NoClock => (NUMBER, |call, values, context| {
            told(call, &values[0], "DECIMAL", context)?;
            Ok(values[0].as_raw_bytes().map_or(Value::Null, |text| decimal_of(text, MICROS_SCALE)))
        }),
        ParameterKind::NoDouble => (NUMBER, |call, values, context| {
            read(call, "DOUBLE", &values[0], context, |text| Value::Double(parse_double_prefix(text).0))
        }),
        ParameterKind::Today => ("today", today),
        ParameterKind::NoMoment => (NO_MOMENT, |call, values, context| {
            if call.name == AMONG_DAYS && values[0].as_raw_bytes().is_some_and(says_any_day) {
                return Ok(beyond());
            }
            // Whole and real numbers that are compared are read once.
            let number = matches!(values[0], Value::Int(_) | Value::UInt(_) | Value::Double(_));
            let once = is_listed(call) || number && matches!(call.name, COMPARED | BOUND);
            let shown = match &values[0] {
                Value::UInt(number) => (*number as i64).to_string(),
                other => shown_value(other),
            };
            tell(call, once, &values[0], SqlError::incorrect_value("datetime", shown), context)?;
            Ok(Value::Null)
        }),
        ParameterKind::NoDate => (NO_MOMENT, |call, values, context| {
            match &values[0] {
                // A number is told as the whole number that it was read as.
                number @ (Value::Int(_) | Value::UInt(_) | Value::Double(_)) if !is_past(number) => {
                    let error = SqlError::incorrect_value("datetime", shown_whole(number));
                    tell(call, is_listed(call), number, error, context)?;
                }
                other => told(call, other, "date", context)?,
            }
            // In BETWEEN and in a list it is beyond all days.
            let bounds = (is_listed(call) || call.name == BOUND) && !values[0].is_null();
            Ok(if bounds { beyond() } else { Value::Null })
        }),
        ParameterKind::NoTime => (NO_TIME, |call, values, context| {
            told(call, &values[0], "time", context)?;
            let text = values[0].as_raw_bytes();
            let time = text.and_then(datetime::parse_time).map(|(time, _)| Value::Time(time));
            let listed = call.name == LISTED && !values[0].is_null();
            let none = if listed { listed_time(&values[0]) } else { Value::Null };
            Ok(time.unwrap_or(none))
        }),
        _ => return None,
    })
}

/// Beyond all days.
pub(super) fn beyond() -> Value {
    Value::Date(Date::from_parts(16_383, 15, 31))
}

fn is_listed(call: &Call) -> bool {
    matches!(call.name, LISTED | AMONG_DAYS)
}

/// Whether a text says a day, if only one that its month has not.
fn says_any_day(text: &[u8]) -> bool {
    datetime::parse_date_time(text, DateRules { invalid: true, ..DateRules::LENIENT }).is_some()
}

/// Whether an expression is a parameter, or stands for one that does not fit.
pub fn is_given(expr: &Expr) -> bool {
    match expr {
        Expr::Parameter(_) => true,
        Expr::Call(call) => call.name.ends_with(" of parameter"),
        _ => false,
    }
}

/// A constant of a list beside a date.
pub fn among_days(typed: Typed) -> Typed {
    renamed(typed, |call| call.name == LISTED, AMONG_DAYS)
}

/// A constant of a list: what does not fit is told of once.
pub fn in_list(typed: Typed) -> Typed {
    renamed(typed, |call| call.name.ends_with(" of parameter"), LISTED)
}

/// A number that does not fit beside a column of inexact numbers or DECIMALs where rows are looked for: it is
/// read once.
pub fn read_once(typed: Typed) -> Typed {
    renamed(typed, |call| call.name == NUMBER, LISTED)
}

/// A bound of BETWEEN.
pub fn as_bound(typed: Typed) -> Typed {
    renamed(typed, |call| call.name == NO_MOMENT, BOUND)
}

/// A moment that a moment is compared with.
pub fn compared(typed: Typed) -> Typed {
    renamed(typed, |call| call.name == NO_MOMENT, COMPARED)
}

fn renamed(typed: Typed, fits: fn(&Call) -> bool, name: &'static str) -> Typed {
    match &typed.expr {
        Expr::Call(call) if fits(call) => {
            let call = Call::new(name, call.function, call.arguments.clone(), call.kind.clone());
            Typed { expr: call.into_expr(), ..typed }
        }
        _ => typed,
    }
}

/// The whole number without a sign that the bytes of one begin with; a sign is read as bits.
fn unsigned_prefix(call: &Call, values: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let number = read(call, "INTEGER", &values[0], context, |text| {
        let (number, _) = parse_integer_prefix(text);
        match number < 0 {
            true => Value::Int(i64::try_from(number).unwrap_or(i64::MIN)),
            false => Value::UInt(u64::try_from(number).unwrap_or(u64::MAX)),
        }
    })?;
    let Value::Int(negative) = number else { return Ok(number) };
    context.warn(SqlError::cast_to_complement("unsigned", "negative integer", "positive"))?;
    Ok(Value::UInt(negative as u64))
}

/// The value that the bytes of one are `taken` for, with a warning that it is no such number; NULL stays
/// NULL.
pub(super) fn read(
    call: &Call,
    wanted: &str,
    value: &Value,
    context: &EvalContext<'_>,
    taken: impl FnOnce(&[u8]) -> Value,
) -> SqlResult<Value> {
    let Some(text) = value.as_raw_bytes() else { return Ok(Value::Null) };
    // A text is shown by its bytes.
    let error = SqlError::truncated_wrong_value(wanted, shown_bytes(text));
    tell(call, is_listed(call), value, error, context)?;
    Ok(taken(text))
}

fn told(call: &Call, value: &Value, kind: &str, context: &EvalContext<'_>) -> SqlResult<()> {
    let error = SqlError::truncated_wrong_value(kind, shown_value(value));
    tell(call, is_listed(call), value, error, context)
}

/// What a value that is no time is in a list: beyond all times where it is a whole number, else midnight.
fn listed_time(value: &Value) -> Value {
    let beyond = match value {
        Value::Int(number) => number.signum(),
        Value::UInt(_) => 1,
        Value::Double(number) if !is_past(value) => number.signum() as i64,
        _ => 0,
    };
    Value::Time(datetime::Time { us: beyond * (datetime::TIME_MAX_US + 1), fsp: 6 })
}

/// Warns of a value unless it is NULL, or was told of in this statement and is to be told `once`.
fn tell(call: &Call, once: bool, value: &Value, error: SqlError, context: &EvalContext<'_>) -> SqlResult<()> {
    let place = std::ptr::from_ref(call) as usize;
    if value.is_null() || once && context.session.was_told(place) {
        return Ok(());
    }
    context.warn(error)?;
    if once {
        context.session.note_told(place);
    }
    Ok(())
}

/// Whether a number is beyond all whole numbers.
fn is_past(value: &Value) -> bool {
    matches!(value, Value::Double(number) if number.abs() >= -(i64::MIN as f64))
}

/// A number that is no date, as a message shows it: without what is behind its point, and with a sign.
fn shown_whole(value: &Value) -> String {
    match value {
        Value::UInt(number) => (*number as i64).to_string(),
        Value::Double(number) => (number.trunc() as i64).to_string(),
        other => shown_value(other),
    }
}

fn decimal_of(text: &[u8], scale: u8) -> Value {
    Value::Decimal(Decimal::parse_prefix(text).value.round_to(scale))
}
