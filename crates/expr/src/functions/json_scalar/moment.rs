//! Documents where a date, a moment or a time is wanted.

use turnstile_values::datetime::{self, DateRules};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::json::{Json, Kind};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, to_text, to_u64_bits};

use super::call;
use crate::expr::{Call, EvalContext, Expr, Typed};

/// Which kind of date or time a function reads an argument as. None for any other argument.
pub(crate) fn temporal_argument(name: &str, nth: usize) -> Option<&'static str> {
    Some(match (name, nth) {
        (
            "date" | "year" | "quarter" | "month" | "day" | "dayofmonth" | "dayofweek" | "weekday"
            | "dayofyear" | "week" | "weekofyear" | "yearweek" | "dayname" | "monthname" | "last_day"
            | "to_days" | "datediff",
            0,
        )
        | ("datediff", 1) => DATE,
        ("timestamp" | "unix_timestamp" | "date_format" | "convert_tz" | "to_seconds", 0) => MOMENT,
        ("time" | "hour" | "minute" | "second" | "microsecond" | "time_to_sec", 0)
        | ("addtime" | "subtime" | "timestamp", 1) => TIME,
        _ => return None,
    })
}

/// Whether a call of this name reads a document as a date or a time.
pub fn is_document_read(name: &str) -> bool {
    matches!(name, DATE | MOMENT | TIME | OR_BEGINNING)
}

/// A document is read as a day.
pub const DATE: &str = "DATE";

/// A document is read as a moment.
pub(crate) const MOMENT: &str = "DATETIME/TIMESTAMP";

/// A document is read as a time.
pub const TIME: &str = "TIME";

/// A document as the text of a date or a time, a year as its first day; anything else as it is. `source`: the
/// name of what it comes from, for the warning.
pub(crate) fn as_temporal(typed: Typed, wanted: &'static str, source: &str) -> Typed {
    let typed =
        if wanted == TIME { typed } else { crate::functions::clock::sum_of_today(typed, wanted == MOMENT) };
    if let ColumnType::Bit { bits } = typed.kind.column {
        let width = u32::from(bits.div_ceil(8));
        let kind = ExprType::new(ColumnType::Varbinary { length: width }, typed.kind.nullable);
        return call("bits as bytes", bytes_of_bits, vec![typed.expr, Expr::int(i64::from(width))], kind);
    }
    read_as(typed, wanted, source, Value::Null)
}

/// Bits as the text that a date or a time is read from: the bytes of their number.
fn bytes_of_bits(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let number = to_u64_bits(&arguments[0], context)?.to_be_bytes();
    let width = to_u64_bits(&arguments[1], context)?.min(8) as usize;
    Ok(Value::bytes(number[8 - width..].to_vec()))
}

/// The same, with what a document counts as that is no moment.
fn read_as(typed: Typed, wanted: &'static str, source: &str, otherwise: Value) -> Typed {
    if is_year_column(&typed) {
        let column = if wanted == MOMENT { ColumnType::DateTime { fsp: 0 } } else { ColumnType::Date };
        let kind = ExprType::new(column, typed.kind.nullable);
        return call(wanted, first_day, vec![typed.expr], kind);
    }
    if typed.kind.column != ColumnType::Json {
        return typed;
    }
    let kind = ExprType::nullable(ColumnType::varchar(64));
    let arguments = vec![typed.expr, Expr::Literal(Value::text(source)), Expr::Literal(otherwise)];
    call(wanted, moment, arguments, kind)
}

/// A document as what a column of dates or times takes; anything else, and for any other column, as it is.
/// Where errors are only warned of, the zero is taken of a column's document that is none, and NULL of one
/// that is worked out.
pub(crate) fn as_given_to(typed: Typed, column: &ColumnType, source: &str, is_column: bool) -> Typed {
    let wanted = match column {
        ColumnType::Date => DATE,
        ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => MOMENT,
        ColumnType::Time { .. } => TIME,
        _ => return typed,
    };
    let document = typed.clone();
    let read = read_as(typed, wanted, source, if is_column { Value::Int(0) } else { Value::Null });
    if wanted != MOMENT || document.kind.column != ColumnType::Json {
        return read;
    }
    call("given moment", day_kept, vec![read.expr, document.expr], read.kind)
}

/// A document that is the text of a day stays one: columns of moments refuse it.
fn day_kept(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if let Value::Str(text) = &arguments[0]
        && datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT).is_some_and(|found| !found.has_time)
        && let document @ Json::String(_) =
            crate::functions::json::kept_or_null(&arguments[1], &mut context.held())?
    {
        return Ok(crate::functions::json::marked(Value::from(turnstile_values::json::write(
            &document,
            &mut context.held(),
        )?)));
    }
    Ok(arguments[0].clone())
}

/// A column of years is read as days; years that are worked out are numbers.
fn is_year_column(typed: &Typed) -> bool {
    typed.kind.column == ColumnType::Year && matches!(typed.expr, Expr::Column(_))
}

/// What an interval is added to: of a year the text of its first moment, so that the sum is a text too.
pub(crate) fn as_summand(typed: Typed, source: &str) -> Typed {
    if !is_year_column(&typed) {
        // A sum of times stays a text, and so does what is added to it.
        let kind = typed.kind.clone();
        let moment = as_temporal(typed, MOMENT, source);
        return if crate::functions::clock::is_sum_of_today(&moment) {
            Typed { kind, ..moment }
        } else {
            moment
        };
    }
    let kind = ExprType::new(ColumnType::varchar(19), typed.kind.nullable);
    call(MOMENT, first_moment, vec![typed.expr], kind)
}

fn first_moment(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let year = to_u64_bits(&arguments[0], context)?;
    Ok(Value::from(format!("{year:04}-01-01 00:00:00")))
}

const OR_BEGINNING: &str = "moment or beginning";

/// What UNIX_TIMESTAMP reads of a document: one that says no moment is the beginning of time.
pub(crate) fn or_beginning(moment: Typed, document: Expr) -> Typed {
    call(OR_BEGINNING, moment_or_zero, vec![moment.expr, document], moment.kind)
}

fn moment_or_zero(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match (&arguments[0], &arguments[1]) {
        (Value::Null, document) if !document.is_null() => Value::DateTime(datetime::DateTime::ZERO),
        (moment, _) => moment.clone(),
    })
}

/// The first day of a year, at midnight where a moment is wanted.
fn first_day(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let year = to_u64_bits(&arguments[0], context)?;
    let day = datetime::Date::from_parts(year.min(9999) as u32, 1, 1);
    Ok(if call.name == MOMENT { Value::DateTime(day.at_midnight()) } else { Value::Date(day) })
}

/// What is no moment of the wanted kind is the third argument, with warning 3156.
pub(super) fn moment(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if matches!(arguments[0], Value::Null) {
        return Ok(Value::Null);
    }
    let date = |text: &str| {
        datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT).is_some_and(|found| !found.truncated)
    };
    let found = match crate::functions::json::kept_or_null(&arguments[0], &mut context.held())? {
        Json::Opaque(Kind::DateTime | Kind::Timestamp | Kind::Date, text) if call.name != "TIME" => {
            Some(text)
        }
        Json::Opaque(Kind::Time, text) if call.name == "TIME" => Some(text),
        // Digits alone are no time here.
        Json::String(text) if call.name == "TIME" => {
            let found = datetime::parse_time(text.as_bytes()).filter(|(_, truncated)| !truncated);
            found.filter(|_| text.contains(':')).map(|_| text)
        }
        Json::String(text) => date(&text).then_some(text),
        _ => None,
    };
    if found.is_none() {
        context.warn(SqlError::json_is_no_number(call.name, to_text(&arguments[1]), context.row()))?;
    }
    Ok(found.map_or_else(|| arguments[2].clone(), Value::from))
}
