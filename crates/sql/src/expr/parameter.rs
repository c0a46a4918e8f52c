//! What the `?` of a statement can be: the kinds of their values, as far as types of expressions depend on them, and what decided a kind.
//! Where a `?` stands tells which of them it is (`open.rs`); what was found out of all is kept by [`crate::plan::derived`].

use super::beside_column::today;
use super::{Call, EvalContext, ScalarFunction};
use crate::ast;
use crate::collation::Collation;
use crate::datetime;
use crate::decimal::{Decimal, MAX_PRECISION, MAX_SCALE};
use crate::error::{SqlError, SqlResult};
use crate::types::{ColumnType, IntWidth};
use crate::value::{Value, parse_double_prefix, parse_integer_prefix, shown_value};

/// Announced length of a text, in characters.
const TEXT_LENGTH: u32 = 16_383;

/// How many bytes an aggregate of bits takes.
const FEW_BYTES: u32 = 511;

/// Announced length of bytes.
const BYTES_LENGTH: u32 = 65_535;

/// Digits of a number that is computed with a moment or a time.
const MICROS_PRECISION: u8 = 20;

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
    /// DATETIME and TIMESTAMP
    DateTime,
    /// A text that spells no number, where a whole number is wanted; and so on.
    NoInt,
    /// The same of one of which a YEAR is another.
    NoYear,
    /// The same of a DECIMAL.
    NoDecimal,
    /// The same of a DOUBLE.
    NoDouble,
    /// The same of a number that is computed with a moment or a time.
    NoMicros,
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
            ColumnType::Int { .. } | ColumnType::Bit { .. } => Kind::UInt,
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
            ParameterKind::UInt => integer(true),
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
            ParameterKind::Date => ColumnType::Date,
            ParameterKind::Time => ColumnType::Time { fsp: 6 },
            ParameterKind::DateTime => ColumnType::DateTime { fsp: 6 },
            ParameterKind::Year | ParameterKind::NoYear => ColumnType::Year,
            ParameterKind::Bytes | ParameterKind::OfNull => ColumnType::Varbinary { length: BYTES_LENGTH },
            ParameterKind::FewBytes => ColumnType::Varbinary { length: FEW_BYTES },
            ParameterKind::NoInt => integer(false),
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
    /// By a date, a time or a moment that it is computed with: it is a number there.
    Computed,
    /// The same by an operator of bits, which takes whole numbers.
    Bits,
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
    /// So too, by the column that it is put into.
    Stored,
}

impl Hold {
    /// Whether a value of any kind is converted where it stands.
    pub fn converts(self) -> bool {
        matches!(self, Hold::Pinned | Hold::Stored | Hold::Count)
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
    matches!(call.name, NO_MOMENT | NO_TIME)
}

/// What a value that does not fit is read as where it stands, each time with a warning, which is a strict change's error.
pub fn misfit_of_parameter(kind: ParameterKind) -> Option<(&'static str, ScalarFunction)> {
    Some(match kind {
        ParameterKind::NoInt | ParameterKind::NoYear => ("integer of parameter", |_, values, context| {
            read("INTEGER", &values[0], context, |text| {
                let (number, _) = parse_integer_prefix(text);
                Value::Int(i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX }))
            })
        }),
        ParameterKind::NoDecimal => ("decimal of parameter", |_, values, context| {
            read("DECIMAL", &values[0], context, |text| decimal_of(text, MAX_SCALE))
        }),
        ParameterKind::NoMicros => ("number of parameter", |_, values, context| {
            read("DECIMAL", &values[0], context, |text| decimal_of(text, MICROS_SCALE))
        }),
        ParameterKind::NoDouble => ("double of parameter", |_, values, context| {
            read("DOUBLE", &values[0], context, |text| Value::Double(parse_double_prefix(text).0))
        }),
        ParameterKind::Today => ("today", today),
        ParameterKind::NoMoment => (NO_MOMENT, |_, values, context| {
            if !values[0].is_null() {
                context.warn(SqlError::incorrect_value("datetime", shown_value(&values[0])))?;
            }
            Ok(Value::Null)
        }),
        ParameterKind::NoDate => (NO_MOMENT, |_, values, context| {
            if values[0].as_raw_bytes().is_some() {
                told(&values[0], "date", context)?;
            }
            Ok(Value::Null)
        }),
        ParameterKind::NoTime => (NO_TIME, |_, values, context| {
            read("time", &values[0], context, |text| {
                datetime::parse_time(text).map_or(Value::Null, |(time, _)| Value::Time(time))
            })
        }),
        _ => return None,
    })
}

/// The value that the bytes of one are `taken` for, with a warning that it is no such number; NULL stays NULL.
fn read(
    wanted: &str,
    value: &Value,
    context: &EvalContext<'_>,
    taken: impl FnOnce(&[u8]) -> Value,
) -> SqlResult<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    told(value, wanted, context)?;
    Ok(taken(value.as_raw_bytes().unwrap_or_default()))
}

fn decimal_of(text: &[u8], scale: u8) -> Value {
    Value::Decimal(Decimal::parse_prefix(text).value.round_to(scale))
}

fn told(value: &Value, kind: &str, context: &EvalContext<'_>) -> SqlResult<()> {
    context.warn(SqlError::truncated_wrong_value(kind, shown_value(value)))
}
