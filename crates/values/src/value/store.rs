//! Storing a value into a column: conversion to the column's type with MySQL's checks. In strict mode what
//! does not fit is an error; otherwise (and under IGNORE) it is clamped or cut, with a warning.

mod number;
mod temporal;
mod text;

use super::Value;
use crate::context::{EvalContext, SqlMode, WarningLevel};
use crate::datetime::{DateRules, DateTime, Time};
use crate::datum::shown_value;
use crate::error::{SqlError, SqlResult};
use crate::types::ColumnType;
use temporal::{store_date, store_moment, store_time};

pub use number::rounded_to_scale;
use number::{store_bits, store_decimal, store_double, store_integer, store_year, whole_seconds};
pub use text::shown_misfit;
use text::{store_bytes, store_enum, store_text};

/// Where a value goes.
#[derive(Clone, Copy)]
pub struct StoreContext<'a> {
    /// Column name for messages.
    pub column: &'a str,
    /// Row number of the statement, from 1, for messages.
    pub row: u64,
    /// NULL is allowed.
    pub nullable: bool,
    /// Misfits are errors: strict mode and no IGNORE.
    pub strict: bool,
    /// Settings and the place for warnings.
    pub eval: &'a EvalContext<'a>,
}

impl StoreContext<'_> {
    /// An error in strict mode, else a warning.
    fn misfit(&self, error: SqlError) -> SqlResult<()> {
        if self.strict {
            return Err(error);
        }
        self.eval.warnings.push(WarningLevel::Warning, error);
        Ok(())
    }

    fn out_of_range(&self) -> SqlResult<()> {
        self.misfit(SqlError::out_of_range_column(self.column, self.row))
    }

    /// An error in strict mode, and otherwise truncated.
    fn too_long(&self) -> SqlResult<()> {
        self.misfit(if self.strict {
            SqlError::data_too_long(self.column, self.row)
        } else {
            SqlError::data_truncated(self.column, self.row)
        })
    }

    fn note_truncated(&self) {
        self.eval.warnings.push(WarningLevel::Note, SqlError::data_truncated(self.column, self.row));
    }

    fn incorrect(&self, kind: &str, value: &Value) -> SqlError {
        SqlError::incorrect_value_for_field(kind, shown_value(value), self.column, self.row)
    }

    /// What is no moment of this kind: named in strict mode, otherwise told as truncated or as out of range.
    fn misfit_moment(&self, kind: &str, value: &Value, out_of_range: bool) -> SqlResult<()> {
        self.misfit(if self.strict {
            SqlError::incorrect_value_for_column(kind, shown_value(value), self.column, self.row)
        } else if out_of_range {
            SqlError::out_of_range_column(self.column, self.row)
        } else {
            SqlError::data_truncated(self.column, self.row)
        })
    }

    fn date_rules(&self) -> DateRules {
        let mode = self.eval.settings.sql_mode;
        DateRules {
            zero_in_date: !mode.has(SqlMode::NO_ZERO_IN_DATE),
            zero_date: !mode.has(SqlMode::NO_ZERO_DATE),
            invalid: mode.has(SqlMode::ALLOW_INVALID_DATES),
        }
    }
}

/// Converts a value to the column's type, ready for the row and key encodings. TIMESTAMP values come out in
/// UTC.
pub fn store(value: &Value, kind: &ColumnType, context: &StoreContext<'_>) -> SqlResult<Value> {
    match (value, kind) {
        (Value::Null, _) => {
            if context.nullable {
                return Ok(Value::Null);
            }
            context.misfit(SqlError::column_cannot_be_null(context.column))?;
            return store(&zero_of(kind), kind, &StoreContext { strict: false, ..*context });
        }
        // The two classes of the hot path.
        (Value::Int(number), ColumnType::Int { width, unsigned: false, .. }) => {
            let (low, high) = width.signed_range();
            if (low..=high).contains(number) {
                return Ok(Value::Int(*number));
            }
        }
        (Value::Str(text), ColumnType::Varchar { length, collation })
            if text.len() <= *length as usize && collation.takes_any_text() =>
        {
            return Ok(value.clone());
        }
        _ => {}
    }
    if let (Value::Json(marked), true) = (value, kind.is_temporal()) {
        if matches!(kind, ColumnType::DateTime { .. } | ColumnType::Timestamp { .. })
            && let Some(day) = super::document::day_of_text(marked, context.eval)?
        {
            context.misfit_moment("datetime", &Value::Date(day), false)?;
            return Ok(zero_of(kind));
        }
        return store(&super::document::unquoted(marked, context.eval)?, kind, context);
    }
    match kind {
        ColumnType::Null => Ok(Value::Null),
        ColumnType::Int { width, unsigned, .. } => store_integer(value, *width, *unsigned, context),
        ColumnType::Year => store_year(value, context),
        ColumnType::Bit { bits } => store_bits(value, *bits, context),
        ColumnType::Decimal { precision, scale, unsigned, .. } => {
            store_decimal(value, *precision, *scale, *unsigned, context)
        }
        ColumnType::Float { unsigned, digits, .. } => store_double(value, true, *unsigned, *digits, context),
        ColumnType::Double { unsigned, digits, .. } => {
            store_double(value, false, *unsigned, *digits, context)
        }
        ColumnType::Char { length, collation } | ColumnType::Varchar { length, collation } => {
            let char_type = matches!(kind, ColumnType::Char { .. });
            store_text(value, u64::from(*length), false, char_type, *collation, context)
        }
        ColumnType::Text { size, collation } => {
            store_text(value, size.max_bytes(), true, false, *collation, context)
        }
        ColumnType::Binary { length } => {
            let mut bytes = store_bytes(value, u64::from(*length), context)?;
            bytes.resize(*length as usize, 0);
            Ok(Value::bytes(bytes))
        }
        ColumnType::Varbinary { length } => {
            Ok(Value::bytes(store_bytes(value, u64::from(*length), context)?))
        }
        ColumnType::Blob { size } => Ok(Value::bytes(store_bytes(value, size.max_bytes(), context)?)),
        ColumnType::Date => store_date(value, context),
        ColumnType::DateTime { fsp } => store_moment(value, *fsp, false, context),
        ColumnType::Timestamp { fsp } => store_moment(value, *fsp, true, context),
        ColumnType::Time { fsp } => store_time(value, *fsp, context),
        ColumnType::Enum { .. } | ColumnType::Set { .. } => store_enum(value, kind, context),
        ColumnType::Json => super::document::store(value, context),
    }
}

/// The implicit default of a NOT NULL column outside strict mode.
pub fn zero_of(kind: &ColumnType) -> Value {
    match kind {
        ColumnType::Json => Value::text("null"),
        ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => {
            Value::DateTime(DateTime::ZERO)
        }
        ColumnType::Time { .. } => Value::Time(Time::default()),
        ColumnType::Enum { .. } => Value::UInt(1),
        _ if kind.is_string() => Value::text(""),
        _ => Value::Int(0),
    }
}
