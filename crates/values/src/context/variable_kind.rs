//! What kind of value a user variable holds: its class and, of text, its collation.
//!
//! A statement that reads a variable is bound for that kind, as for the type of a column; a plan that is kept
//! says for which kinds of which variables it was made, and serves no others.

use crate::collation::Collation;
use crate::datum::{Value, to_text};
use crate::decimal::{MAX_PRECISION, MAX_SCALE};
use crate::types::{BlobSize, ColumnType, ExprType, IntWidth};

/// Where a system variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableScope {
    /// No scope written: in an expression the session's value if there is one, else the global one; in SET
    /// the session's.
    Default,
    /// `@@session.x`, `@@local.x`, SET SESSION x
    Session,
    /// `@@global.x`, SET GLOBAL x
    Global,
    /// `@@persist.x`, SET PERSIST x
    Persist,
    /// `@@persist_only.x`, SET PERSIST_ONLY x
    PersistOnly,
}

/// Announced digits of an integer with its sign.
const INTEGER_DIGITS: u8 = 21;

/// The kind of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// Nothing has been assigned to it.
    Unset,
    /// Integers, bits and years.
    Int {
        /// Without a sign.
        unsigned: bool,
    },
    /// FLOAT and DOUBLE.
    Double,
    /// DECIMAL.
    Decimal,
    /// Text of this collation, or bytes.
    Text(Collation),
}

impl VariableKind {
    /// What a value of this type makes of the variable it is assigned to; none if that keeps its kind,
    /// because NULL has none. Dates and times are text of the set that numbers are shown in, as in MySQL.
    pub fn assigned(column: &ColumnType, connection: Collation) -> Option<VariableKind> {
        Some(match column {
            ColumnType::Null => return None,
            ColumnType::Int { .. } | ColumnType::Bit { .. } | ColumnType::Year => {
                VariableKind::Int { unsigned: column.is_unsigned() }
            }
            ColumnType::Float { .. } | ColumnType::Double { .. } => VariableKind::Double,
            ColumnType::Decimal { .. } => VariableKind::Decimal,
            kind if kind.is_binary_string() => VariableKind::Text(Collation::Binary),
            kind if kind.is_temporal() => VariableKind::Text(Collation::by_id(8).unwrap_or(connection)),
            kind => VariableKind::Text(kind.collation().unwrap_or(connection)),
        })
    }

    /// A value as a variable of this kind holds it.
    pub fn held(self, value: Value) -> Value {
        match (self, value) {
            (_, Value::Null) => Value::Null,
            (VariableKind::Text(Collation::Binary), Value::Str(text)) => Value::bytes(text.as_bytes()),
            (VariableKind::Text(_), value @ (Value::Str(_) | Value::Bytes(_))) => value,
            (VariableKind::Text(_), other) => Value::Str(to_text(&other)),
            (_, other) => other,
        }
    }

    /// The type of an expression that reads the variable.
    pub fn read(self, connection: Collation) -> ColumnType {
        match self {
            VariableKind::Unset => ColumnType::Text { size: BlobSize::Medium, collation: connection },
            VariableKind::Int { unsigned } => integer(unsigned, INTEGER_DIGITS),
            VariableKind::Double => ColumnType::DOUBLE,
            VariableKind::Decimal => ColumnType::Decimal {
                precision: MAX_PRECISION,
                scale: MAX_SCALE,
                unsigned: false,
                zerofill: false,
            },
            VariableKind::Text(Collation::Binary) => ColumnType::Blob { size: BlobSize::Long },
            VariableKind::Text(collation) => ColumnType::Text { size: BlobSize::Long, collation },
        }
    }
}

fn integer(unsigned: bool, digits: u8) -> ColumnType {
    ColumnType::Int { width: IntWidth::Big, unsigned, display: Some(digits), zerofill: false }
}

/// The type of `@variable := value`: what the variable holds of a value of this type.
pub fn of_assignment(value: &ExprType, connection: Collation) -> ExprType {
    let column = match (&value.column, VariableKind::assigned(&value.column, connection)) {
        (kind, Some(VariableKind::Int { unsigned })) => {
            let digits = u8::try_from(kind.wire_length()).unwrap_or(INTEGER_DIGITS);
            integer(unsigned, digits.clamp(1, INTEGER_DIGITS))
        }
        (_, Some(VariableKind::Double)) => ColumnType::DOUBLE,
        (kind, Some(VariableKind::Text(collation))) if !kind.is_blob() && collation != Collation::Binary => {
            ColumnType::Varchar { length: kind.text_length(), collation }
        }
        (ColumnType::Null, _) => ColumnType::Varbinary { length: 0 },
        (ColumnType::Blob { size }, _) if size.max_bytes() <= 65_535 => {
            ColumnType::Varbinary { length: size.max_bytes() as u32 }
        }
        (ColumnType::Json, Some(VariableKind::Text(collation))) => {
            ColumnType::Text { size: BlobSize::Long, collation }
        }
        (kind, _) => kind.clone(),
    };
    ExprType::new(column, value.nullable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_holds_text_of_its_collation_bytes_or_a_number() {
        let connection = Collation::DEFAULT;
        let kind = |column: &ColumnType| VariableKind::assigned(column, connection);
        assert_eq!(kind(&ColumnType::Null), None, "NULL keeps the kind");
        let date = kind(&ColumnType::Date);
        assert!(
            matches!(date, Some(VariableKind::Text(own)) if own.name() == "latin1_swedish_ci"),
            "{date:?}"
        );
        assert_eq!(kind(&ColumnType::Json), Some(VariableKind::Text(Collation::Utf8mb4Bin)));
        assert_eq!(kind(&ColumnType::Year), Some(VariableKind::Int { unsigned: true }));
        let bytes = VariableKind::Text(Collation::Binary);
        assert_eq!(kind(&ColumnType::Varbinary { length: 1 }), Some(bytes));
        assert_eq!(bytes.held(Value::text("a")), Value::bytes(*b"a"));
        assert_eq!(VariableKind::Text(connection).held(Value::Int(1)), Value::text("1"));
        assert_eq!(VariableKind::Double.held(Value::Double(1.5)), Value::Double(1.5));
    }
}
