//! What the `?` of a statement can be: the kinds of their values, as far as types of expressions depend on
//! them, and what decided a kind. Where a `?` stands tells which of them it is (`open.rs`); what was found
//! out of all is kept by [`turnstile_plan::plan::derived`].

mod misfit;

use ParameterKind as Kind;
use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::decimal::{MAX_PRECISION, MAX_SCALE};
use turnstile_values::types::{ColumnType, IntWidth};
use turnstile_values::value::Value;

pub(super) use misfit::{among_days, as_bound, compared, in_list, is_given, read_once};
pub use misfit::{is_misfit_moment, misfit_of_parameter};

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
    /// Bytes that yield to every text: what stands beside NULL.
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
