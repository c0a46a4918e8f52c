//! What the `?` of a prepared statement are, and the user variables of any.
//!
//! A plan is made for the kinds of its parameters' values: `? + 1` of an integer is an integer, of a decimal a decimal. It serves all
//! executions whose values are of these kinds, or NULL, which is of every kind; others get a plan of their own.
//!
//! A text beside an exact number (`price + '0.10'`, `price = '19.99'`: drivers send decimals as texts) counts as the number it spells, as
//! in MySQL, so that nothing is computed or compared with doubles. Planning notes where that is; the values are converted before the plan
//! is run, and before its kinds are looked at.

use std::cell::{Cell, RefCell};

use smallvec::SmallVec;

use crate::collation::Collation;
use crate::decimal::{Decimal, MAX_PRECISION, MAX_SCALE};
use crate::expr::{Expr, Typed, VariableKind};
use crate::mixing::{Derivation, Repertoire, Traits};
use crate::types::{ColumnType, ExprType, IntWidth};
use crate::value::Value;

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
    /// Everything that comes as text or bytes.
    Text,
    /// DATE
    Date,
    /// TIME
    Time,
    /// DATETIME and TIMESTAMP
    DateTime,
}

/// The kinds of a statement's parameters.
pub type Kinds = SmallVec<[ParameterKind; 8]>;

/// Announced length of a text, in characters.
const TEXT_LENGTH: u32 = 16_383;

impl ParameterKind {
    /// Of a value.
    pub fn of(value: &Value) -> ParameterKind {
        match value {
            Value::Null => ParameterKind::Null,
            Value::Int(_) => ParameterKind::Int,
            Value::UInt(_) => ParameterKind::UInt,
            Value::Double(_) => ParameterKind::Double,
            Value::Decimal(_) => ParameterKind::Decimal,
            Value::Date(_) => ParameterKind::Date,
            Value::Time(_) => ParameterKind::Time,
            Value::DateTime(_) => ParameterKind::DateTime,
            Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => ParameterKind::Text,
        }
    }

    fn column_type(self, collation: Collation) -> ColumnType {
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
            ParameterKind::Date => ColumnType::Date,
            ParameterKind::Time => ColumnType::Time { fsp: 6 },
            ParameterKind::DateTime => ColumnType::DateTime { fsp: 6 },
            ParameterKind::Null | ParameterKind::Text => {
                ColumnType::Varchar { length: TEXT_LENGTH, collation }
            }
        }
    }
}

/// The kinds to plan values for; NULL takes the kind that it had in a plan before.
pub fn kinds_of(values: &[Value], before: Option<&Kinds>) -> Kinds {
    let kind = |(at, value)| match (ParameterKind::of(value), before) {
        (ParameterKind::Null, Some(before)) => before.get(at).copied().unwrap_or(ParameterKind::Null),
        (kind, _) => kind,
    };
    values.iter().enumerate().map(kind).collect()
}

/// Whether a plan made for these kinds serves these values.
#[inline]
pub fn serves(kinds: &Kinds, values: &[Value]) -> bool {
    kinds.iter().zip(values).all(|(kind, value)| value.is_null() || *kind == ParameterKind::of(value))
}

/// What planning knows of a statement's parameters, and what it finds out.
#[derive(Debug, Default)]
pub struct Parameters {
    /// None: they stand for literals, each with the type of its value.
    kinds: Option<Kinds>,
    /// They are literals again, each its value.
    in_place: bool,
    by_value: Cell<bool>,
    beside_numbers: Cell<u64>,
    variables: RefCell<Vec<(Box<str>, VariableKind)>>,
}

impl Parameters {
    /// Of a prepared statement.
    pub fn of_kinds(kinds: Kinds) -> Parameters {
        Parameters { kinds: Some(kinds), ..Parameters::default() }
    }

    /// Of a template, where they stand for literals.
    pub fn literals() -> Parameters {
        Parameters::default()
    }

    /// Of a template whose plan is made for the values of its literals alone.
    pub fn values() -> Parameters {
        Parameters { in_place: true, ..Parameters::default() }
    }

    /// Whether each is its value again.
    pub fn are_values(&self) -> bool {
        self.in_place
    }

    /// Notes that these are compared. What a literal beside a time or a year says decides what the two are compared as, and so does a
    /// number beside a date.
    pub fn compare(&self, operands: &[&Typed]) {
        if !self.are_literals() || self.in_place {
            return;
        }
        let literal = |one: &&&Typed| matches!(one.expr, Expr::Parameter(_));
        let numbers = operands.iter().filter(literal).any(|one| one.kind.column.is_numeric());
        let decides = |one: &&Typed| match one.kind.column {
            ColumnType::Time { .. } | ColumnType::Year => true,
            ref kind => numbers && kind.is_temporal(),
        };
        if operands.iter().any(|one| literal(&one)) && operands.iter().any(decides) {
            self.by_value.set(true);
        }
    }

    /// Whether a plan with them serves other values.
    pub fn decide_by_value(&self) -> bool {
        self.by_value.get()
    }

    /// Whether they stand for literals.
    pub fn are_literals(&self) -> bool {
        self.kinds.is_none()
    }

    /// A parameter as an operand.
    pub fn typed(&self, at: usize, collation: Collation) -> Typed {
        let kind = self.kinds.as_ref().and_then(|kinds| kinds.get(at));
        let column = kind.copied().unwrap_or(ParameterKind::Text).column_type(collation);
        // A text gives way to a column's collation, as a literal does.
        let traits = match column.is_string() {
            true => Traits { derivation: Derivation::Coercible, repertoire: Repertoire::Unicode },
            false => Traits::of(&column),
        };
        Typed { expr: Expr::Parameter(at), kind: ExprType::nullable(column).with_traits(traits) }
    }

    /// Notes that these are operands of one operation: parameters among exact numbers are numbers.
    pub fn meet(&self, operands: &[Typed]) {
        if self.are_literals() {
            return;
        }
        let is_parameter = |one: &&Typed| matches!(one.expr, Expr::Parameter(_));
        let mut others = operands.iter().filter(|one| !is_parameter(one)).peekable();
        if others.peek().is_none() || !others.all(|one| is_exact(&one.kind.column)) {
            return;
        }
        for operand in operands {
            if let Expr::Parameter(at @ 0..64) = operand.expr {
                self.beside_numbers.set(self.beside_numbers.get() | 1 << at);
            }
        }
    }

    /// Notes that a user variable of this kind is read.
    pub fn note_variable(&self, name: Box<str>, kind: VariableKind) {
        let mut noted = self.variables.borrow_mut();
        if !noted.iter().any(|(other, _)| *other == name) {
            noted.push((name, kind));
        }
    }

    /// The user variables that are read, and the kinds they had.
    pub fn variables(&self) -> Box<[(Box<str>, VariableKind)]> {
        self.variables.borrow().as_slice().into()
    }

    /// The parameters that were met beside exact numbers, a bit each; those behind the sixty-fourth are left as they come.
    pub fn beside_numbers(&self) -> u64 {
        self.beside_numbers.get()
    }
}

fn is_exact(column: &ColumnType) -> bool {
    matches!(column, ColumnType::Int { .. } | ColumnType::Decimal { .. })
}

/// The values with the texts among `beside_numbers` that spell a number as that number; None if there is no such.
pub fn as_numbers(values: &[Value], beside_numbers: u64) -> Option<Vec<Value>> {
    let spelt = |(at, value): (usize, &Value)| {
        (at < 64 && beside_numbers >> at & 1 == 1).then(|| spelt_number(value)).flatten()
    };
    if beside_numbers == 0 || !values.iter().enumerate().any(|one| spelt(one).is_some()) {
        return None;
    }
    Some(values.iter().enumerate().map(|one| spelt(one).unwrap_or_else(|| one.1.clone())).collect())
}

/// The number that all of a text spells.
pub fn spelt_number(value: &Value) -> Option<Value> {
    let bytes = match value {
        Value::Str(_) | Value::Bytes(_) => value.as_raw_bytes()?,
        _ => return None,
    };
    if !matches!(bytes.first()?, b'0'..=b'9' | b'+' | b'-' | b'.') {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    if let Ok(number) = text.parse() {
        return Some(Value::Int(number));
    }
    if let Ok(number) = text.parse() {
        return Some(Value::UInt(number));
    }
    Decimal::parse(text).map(Value::Decimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_of_every_kind() {
        let planned = kinds_of(&[Value::Int(1), Value::Null], None);
        assert!(serves(&planned, &[Value::Null, Value::Null]));
        assert!(!serves(&planned, &[Value::Int(1), Value::text("a")]), "the plan was made for NULL alone");
        let next = kinds_of(&[Value::Null, Value::text("a")], Some(&planned));
        assert_eq!(&*next, [ParameterKind::Int, ParameterKind::Text]);
        assert!(serves(&next, &[Value::Int(7), Value::Null]));
    }

    #[test]
    fn texts_that_spell_numbers() {
        let spelt = |text: &str| spelt_number(&Value::text(text));
        assert_eq!(spelt("9007199254740993"), Some(Value::Int(9_007_199_254_740_993)));
        assert_eq!(spelt("18446744073709551615"), Some(Value::UInt(u64::MAX)));
        assert_eq!(spelt("0.10"), Decimal::parse("0.10").map(Value::Decimal));
        for text in ["", "abc", "12abc", "1 2", "nan", "-", "2024-01-01"] {
            assert_eq!(spelt(text), None, "{text}");
        }
        let values = [Value::text("5"), Value::text("5")];
        assert_eq!(as_numbers(&values, 0b10), Some(vec![Value::text("5"), Value::Int(5)]));
        assert_eq!(as_numbers(&values, 0), None);
    }
}
