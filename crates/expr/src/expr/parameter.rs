//! What the `?` of a statement can be: the kinds of their values, as far as types of expressions depend on
//! them, and what decided a kind. Where a `?` stands tells which of them it is (`open.rs`); what was found
//! out of all is kept by [`turnstile_plan::plan::derived`].

use super::beside_column::today;
use super::{Call, EvalContext, Expr, ScalarFunction, Typed};
use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::{self, Date, DateRules};
use turnstile_values::decimal::{Decimal, MAX_PRECISION, MAX_SCALE};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, IntWidth};
use turnstile_values::value::{Value, parse_double_prefix, parse_integer_prefix, shown_bytes, shown_value};

/// Announced length of a text, in characters.
const TEXT_LENGTH: u32 = 16_383;

/// How many bytes an aggregate of bits takes.
const FEW_BYTES: u32 = 511;

/// Announced length of bytes.
const BYTES_LENGTH: u32 = 65_535;

/// Digits of a number that is computed with a moment or a time.
const MICROS_PRECISION: u8 = 20;

/// Of one that is computed with a time.
const CLOCK_PRECISION: u8 = 13;

/// Those of them behind the point.
pub const MICROS_SCALE: u8 = 6;

/// Class of a parameter's value, as far as types of expressions depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// NULL
    Null,
    /// A signed integer.
    Int,
    /// An unsigned one.
    UInt,
    /// What a parameter beside BIT is: an unsigned integer, and nothing else that a text spells.
    Bits,
    /// FLOAT and DOUBLE
    Double,
    /// DECIMAL
    Decimal,
    /// YEAR, with all its digits.
    Year,
    /// Everything that comes as text.
    Text,
    /// Bytes; nothing arrives as such, a parameter beside bytes is.
    Bytes,
    /// As many bytes as an aggregate of bits takes.
    FewBytes,
    /// Bytes that give way to every text: what stands beside NULL.
    OfNull,
    /// A document; as a value it is a text.
    Document,
    /// DATE
    Date,
    /// TIME
    Time,
    /// A number with six digits behind the point: what is computed with a moment or a time.
    Micros,
    /// The same of what is computed with a time.
    Clock,
    /// DATETIME and TIMESTAMP
    DateTime,
    /// A text that spells no number, where a whole number is wanted; and so on.
    NoInt,
    /// The same where the whole number has no sign.
    NoUInt,
    /// A number beyond the whole numbers where one is wanted: their end.
    PastInt,
    /// The same of one of which a YEAR is another.
    NoYear,
    /// The same of a DECIMAL.
    NoDecimal,
    /// The same of a DOUBLE.
    NoDouble,
    /// The same of a number that is computed with a moment or a time.
    NoMicros,
    /// The same of what is computed with a time.
    NoClock,
    /// A TIME where a DATETIME is wanted: that time of today.
    Today,
    /// A value that is no DATE or DATETIME, where a DATETIME is wanted.
    NoMoment,
    /// The same of a DATE.
    NoDate,
    /// The same of a TIME.
    NoTime,
}

use ParameterKind as Kind;

impl ParameterKind {
    /// Of a value.
    pub fn of(value: &Value) -> ParameterKind {
        match value {
            Value::Null => Kind::Null,
            Value::Int(_) => Kind::Int,
            Value::UInt(_) => Kind::UInt,
            Value::Double(_) => Kind::Double,
            Value::Decimal(_) => Kind::Decimal,
            Value::Date(_) => Kind::Date,
            Value::Time(_) => Kind::Time,
            Value::DateTime(_) => Kind::DateTime,
            Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => Kind::Text,
        }
    }

    /// What a parameter is beside a value of this type.
    pub fn of_column(column: &ColumnType) -> ParameterKind {
        match column {
            ColumnType::Int { unsigned: false, .. } => Kind::Int,
            ColumnType::Int { .. } => Kind::UInt,
            ColumnType::Bit { .. } => Kind::Bits,
            ColumnType::Year => Kind::Year,
            ColumnType::Decimal { .. } => Kind::Decimal,
            ColumnType::Float { .. } | ColumnType::Double { .. } => Kind::Double,
            ColumnType::Date => Kind::Date,
            ColumnType::Time { .. } => Kind::Time,
            ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => Kind::DateTime,
            ColumnType::Json => Kind::Document,
            ColumnType::Null => Kind::OfNull,
            other if other.is_binary_string() => Kind::Bytes,
            _ => Kind::Text,
        }
    }

    /// What is cast to this.
    pub fn of_cast(target: &ast::CastType) -> ParameterKind {
        match target {
            ast::CastType::Signed => Kind::Int,
            ast::CastType::Unsigned => Kind::UInt,
            ast::CastType::Decimal { .. } => Kind::Decimal,
            ast::CastType::Float(_) | ast::CastType::Double => Kind::Double,
            ast::CastType::Year => Kind::Year,
            ast::CastType::Date => Kind::Date,
            ast::CastType::DateTime(_) => Kind::DateTime,
            ast::CastType::Time(_) => Kind::Time,
            ast::CastType::Json => Kind::Document,
            ast::CastType::Binary(_) => Kind::Bytes,
            _ => Kind::Text,
        }
    }

    /// The type that a parameter is announced with.
    pub fn announced(self, collation: Collation) -> ColumnType {
        match self {
            ParameterKind::Document => ColumnType::Json,
            kind => kind.column_type(collation),
        }
    }

    /// The type that it has in expressions.
    pub fn column_type(self, collation: Collation) -> ColumnType {
        let integer = |unsigned: bool| {
            let display = Some(20 + u8::from(!unsigned));
            ColumnType::Int { width: IntWidth::Big, unsigned, display, zerofill: false }
        };
        match self {
            ParameterKind::Int => integer(false),
            ParameterKind::UInt | ParameterKind::Bits | ParameterKind::NoUInt => integer(true),
            ParameterKind::Double => ColumnType::Double { unsigned: false, digits: None, zerofill: false },
            ParameterKind::Decimal => ColumnType::Decimal {
                precision: MAX_PRECISION,
                scale: MAX_SCALE,
                unsigned: false,
                zerofill: false,
            },
            ParameterKind::Micros | ParameterKind::NoMicros => ColumnType::Decimal {
                precision: MICROS_PRECISION,
                scale: MICROS_SCALE,
                unsigned: false,
                zerofill: false,
            },
            ParameterKind::Clock | ParameterKind::NoClock => ColumnType::Decimal {
                precision: CLOCK_PRECISION,
                scale: MICROS_SCALE,
                unsigned: false,
                zerofill: false,
            },
            ParameterKind::Date => ColumnType::Date,
            ParameterKind::Time => ColumnType::Time { fsp: 6 },
            ParameterKind::DateTime => ColumnType::DateTime { fsp: 6 },
            ParameterKind::Year | ParameterKind::NoYear => ColumnType::Year,
            ParameterKind::Bytes | ParameterKind::OfNull => ColumnType::Varbinary { length: BYTES_LENGTH },
            ParameterKind::FewBytes => ColumnType::Varbinary { length: FEW_BYTES },
            ParameterKind::NoInt | ParameterKind::PastInt => integer(false),
            ParameterKind::NoDecimal => ParameterKind::Decimal.column_type(collation),
            ParameterKind::NoDouble => ParameterKind::Double.column_type(collation),
            ParameterKind::NoDate => ColumnType::Date,
            ParameterKind::Today | ParameterKind::NoMoment => ColumnType::DateTime { fsp: 6 },
            ParameterKind::NoTime => ColumnType::Time { fsp: 6 },
            ParameterKind::Null | ParameterKind::Text | ParameterKind::Document => {
                ColumnType::Varchar { length: TEXT_LENGTH, collation }
            }
        }
    }
}

/// How a kind was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// Not at all: a text.
    #[default]
    None,
    /// Nothing decides; what stands around it may.
    Weak,
    /// By what it is compared or computed with.
    Beside,
    /// By what it bounds in BETWEEN.
    Bounds,
    /// By a date, a time or a moment that it is computed with: it is a number there.
    Computed,
    /// The same by an operator of bits, which takes whole numbers.
    Bits,
    /// By a date or a moment that it is computed with, where it is a DOUBLE: it has lost its sign or its
    /// fraction.
    RealOfDay,
    /// The same by a time.
    RealOfTime,
    /// By the other values of which one is given.
    Output,
    /// As the date, the time or the moment that a function reads: what says another of them is converted.
    Argument,
    /// The same, and what says none is read as what it is.
    Read,
    /// It counts the rows of LIMIT: a whole number, or the statement is refused.
    Count,
    /// It is converted to this where it stands, whatever it is.
    Pinned,
    /// So too, by a function that reads texts itself.
    Taken,
    /// So too, by the column that it is put into.
    Stored,
    /// The same where it is a value of one of several queries whose rows a column is given.
    Joined,
}

impl Hold {
    /// Whether a value of any kind is converted where it stands.
    pub fn converts(self) -> bool {
        matches!(self, Hold::Pinned | Hold::Taken | Hold::Stored | Hold::Joined | Hold::Count)
    }

    /// Whether a value of any kind is a number where it stands.
    pub fn computes(self) -> bool {
        matches!(self, Hold::Computed | Hold::Bits)
    }
}

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
fn beyond() -> Value {
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
pub(super) fn is_given(expr: &Expr) -> bool {
    match expr {
        Expr::Parameter(_) => true,
        Expr::Call(call) => call.name.ends_with(" of parameter"),
        _ => false,
    }
}

/// A constant of a list beside a date.
pub(super) fn among_days(typed: Typed) -> Typed {
    renamed(typed, |call| call.name == LISTED, AMONG_DAYS)
}

/// A constant of a list: what does not fit is told of once.
pub(super) fn in_list(typed: Typed) -> Typed {
    renamed(typed, |call| call.name.ends_with(" of parameter"), LISTED)
}

/// A number that does not fit beside a column of inexact numbers or DECIMALs where rows are looked for: it is
/// read once.
pub(super) fn read_once(typed: Typed) -> Typed {
    renamed(typed, |call| call.name == NUMBER, LISTED)
}

/// A bound of BETWEEN.
pub(super) fn as_bound(typed: Typed) -> Typed {
    renamed(typed, |call| call.name == NO_MOMENT, BOUND)
}

/// A moment that a moment is compared with.
pub(super) fn compared(typed: Typed) -> Typed {
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
fn read(
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
