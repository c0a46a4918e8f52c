//! What the `?` of a prepared statement are, and the user variables of any.
//!
//! A plan is made for the kinds of its parameters: `? + 1` of an integer is an integer, of a decimal a decimal. It serves all
//! executions whose values are of these kinds, or NULL, which is of every kind; others get a plan of their own. Which kinds
//! values have is settled before ([`super::derived`]).

use std::cell::{Cell, RefCell};

use super::derived::{AllDerived, Deriving};
pub use super::derived::{Kinds, ParameterKind};
use crate::collation::Collation;
use crate::decimal::{Decimal, MAX_PRECISION, MAX_SCALE};
use crate::error::{SqlError, SqlResult};
use crate::expr::{Call, ComparedConstant, EvalContext, Expr, Meeting, ScalarFunction, Typed, VariableKind};
use crate::mixing::{Derivation, Repertoire, Traits};
use crate::types::{ColumnType, ExprType, IntWidth};
use crate::value::{Value, parse_double_prefix, parse_integer_prefix, shown_value};

/// Announced length of a text, in characters.
const TEXT_LENGTH: u32 = 16_383;

/// How many bytes an aggregate of bits takes.
const FEW_BYTES: u32 = 511;

/// Announced length of bytes.
const BYTES_LENGTH: u32 = 65_535;

impl ParameterKind {
    /// The type that a parameter is announced with.
    pub fn announced(self, collation: Collation) -> ColumnType {
        match self {
            ParameterKind::Document => ColumnType::Json,
            kind => kind.column_type(collation),
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
            ParameterKind::Year => ColumnType::Year,
            ParameterKind::Bytes | ParameterKind::OfNull => ColumnType::Varbinary { length: BYTES_LENGTH },
            ParameterKind::FewBytes => ColumnType::Varbinary { length: FEW_BYTES },
            ParameterKind::NoInt => integer(false),
            ParameterKind::NoDecimal => ParameterKind::Decimal.column_type(collation),
            ParameterKind::NoDouble => ParameterKind::Double.column_type(collation),
            ParameterKind::NoMoment => ColumnType::DateTime { fsp: 6 },
            ParameterKind::NoTime => ColumnType::Time { fsp: 6 },
            ParameterKind::Null | ParameterKind::Text | ParameterKind::Document => {
                ColumnType::Varchar { length: TEXT_LENGTH, collation }
            }
        }
    }
}

/// The kinds of values, whatever is expected of them.
pub fn actual(values: &[Value]) -> Kinds {
    values.iter().map(ParameterKind::of).collect()
}

/// Whether a plan made for these kinds serves these values.
///
/// NULL is what is expected in its place.
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
    derivation: Option<Deriving>,
    variables: RefCell<Vec<(Box<str>, VariableKind)>>,
    constants: RefCell<Vec<ComparedConstant>>,
}

impl Parameters {
    /// Of a prepared statement.
    pub fn of_kinds(kinds: Kinds) -> Parameters {
        Parameters { kinds: Some(kinds), ..Parameters::default() }
    }

    /// Of a statement that is prepared: as far as is known, and more is found out.
    pub fn deriving(known: &AllDerived) -> Parameters {
        let kinds = known.iter().map(|one| one.kind).collect();
        let derivation = Some(Deriving::of(known.len()));
        Parameters { kinds: Some(kinds), derivation, ..Parameters::default() }
    }

    /// Where what parameters are is noted, if it is looked for.
    pub fn derivation(&self) -> Option<&Deriving> {
        self.derivation.as_ref()
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
    pub fn compare(&self, meeting: Meeting, operands: &[&Typed]) {
        if !self.are_literals() || self.in_place {
            return;
        }
        let literal = |one: &&&Typed| matches!(one.expr, Expr::Parameter(_));
        let numbers = operands.iter().filter(literal).any(|one| one.kind.column.is_numeric());
        let decides = |one: &&Typed| match one.kind.column {
            ColumnType::Time { .. } | ColumnType::Year => true,
            // The candidates of a list are read once, and told of, when the statement is planned.
            ref kind if kind.is_temporal() && meeting == Meeting::List => true,
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
        let derivation = match kind {
            Some(ParameterKind::OfNull) => Derivation::Ignorable,
            _ => Derivation::Coercible,
        };
        let traits = match column.is_string() {
            true => Traits { derivation, repertoire: Repertoire::Unicode },
            false => Traits::of(&column),
        };
        let expr = match kind.copied().and_then(misfit) {
            Some((name, function)) => {
                Call::new(name, function, vec![Expr::Parameter(at)], column.clone()).into_expr()
            }
            None => Expr::Parameter(at),
        };
        Typed { expr, kind: ExprType::nullable(column).with_traits(traits) }
    }

    /// Notes that a user variable of this kind is read.
    pub fn note_variable(&self, name: Box<str>, kind: VariableKind) {
        let mut noted = self.variables.borrow_mut();
        if !noted.iter().any(|(other, _)| *other == name) {
            noted.push((name, kind));
        }
    }

    /// Notes constants that are compared with columns.
    pub fn note_constants(&self, found: Vec<ComparedConstant>) {
        self.constants.borrow_mut().extend(found);
    }

    /// The constants that were noted since the last plan was made.
    pub fn take_constants(&self) -> Box<[ComparedConstant]> {
        self.constants.take().into()
    }

    /// The user variables that are read, and the kinds they had.
    pub fn variables(&self) -> Box<[(Box<str>, VariableKind)]> {
        self.variables.borrow().as_slice().into()
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
fn misfit(kind: ParameterKind) -> Option<(&'static str, ScalarFunction)> {
    Some(match kind {
        ParameterKind::NoInt => ("integer of parameter", |_, values, context| {
            if values[0].is_null() {
                return Ok(Value::Null);
            }
            told(&values[0], "INTEGER", context)?;
            let (number, _) = parse_integer_prefix(values[0].as_raw_bytes().unwrap_or_default());
            Ok(Value::Int(i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })))
        }),
        ParameterKind::NoDecimal => ("decimal of parameter", |_, values, context| {
            if values[0].is_null() {
                return Ok(Value::Null);
            }
            told(&values[0], "DECIMAL", context)?;
            Ok(Value::Decimal(Decimal::parse_prefix(values[0].as_raw_bytes().unwrap_or_default()).value))
        }),
        ParameterKind::NoDouble => ("double of parameter", |_, values, context| {
            if values[0].is_null() {
                return Ok(Value::Null);
            }
            told(&values[0], "DOUBLE", context)?;
            Ok(Value::Double(parse_double_prefix(values[0].as_raw_bytes().unwrap_or_default()).0))
        }),
        ParameterKind::NoMoment => (NO_MOMENT, |_, values, context| {
            if values[0].is_null() {
                return Ok(Value::Null);
            }
            context.warn(SqlError::incorrect_value("datetime", shown_value(&values[0])))?;
            Ok(Value::Null)
        }),
        ParameterKind::NoTime => (NO_TIME, |_, values, context| {
            if values[0].is_null() {
                return Ok(Value::Null);
            }
            told(&values[0], "time", context)?;
            Ok(Value::Null)
        }),
        _ => return None,
    })
}

fn told(value: &Value, kind: &str, context: &EvalContext<'_>) -> SqlResult<()> {
    context.warn(SqlError::truncated_wrong_value(kind, shown_value(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_of_every_kind() {
        let planned: Kinds = smallvec::smallvec![ParameterKind::Int, ParameterKind::Text];
        assert!(serves(&planned, &[Value::Null, Value::Null]));
        assert!(serves(&planned, &[Value::Int(7), Value::Null]));
        assert!(!serves(&planned, &[Value::text("a"), Value::Null]));
    }
}
