//! What the `?` of a prepared statement are, and the user variables of any.
//!
//! A plan is made for the kinds of its parameters: `? + 1` of an integer is an integer, of a decimal a
//! decimal. It serves all executions whose values are of these kinds, or NULL where it is of this kind
//! without a value; others get a plan of their own. Which kinds values have is settled before
//! ([`super::derived`]).

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

pub use super::derived::Kinds;
use super::derived::{AllDerived, Derived, Deriving};
use turnstile_expr::expr::{
    Call, ComparedConstant, Expr, Meeting, ParameterKind, Typed, VariableKind, misfit_of_parameter,
};
use turnstile_values::collation::Collation;
use turnstile_values::mixing::{Derivation, Repertoire, Traits};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::Value;

/// The kinds of values, whatever is expected of them.
pub fn actual(values: &[Value]) -> Kinds {
    values.iter().map(ParameterKind::of).collect()
}

/// Whether a plan made for these kinds serves these values.
///
/// NULL is what is expected in its place, or converted to that.
#[inline]
pub fn serves(kinds: &Kinds, derived: &[Derived], values: &[Value]) -> bool {
    let expected = |at: usize, kind: ParameterKind| {
        derived.get(at).is_some_and(|one| one.hold.converts() || one.kind == kind)
    };
    kinds.iter().zip(values).enumerate().all(|(at, (kind, value))| match value {
        Value::Null => expected(at, *kind),
        value => *kind == ParameterKind::of(value),
    })
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
    variables: RefCell<FxHashMap<Box<str>, VariableKind>>,
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

    /// Notes that these are compared. What a literal beside a time or a year says decides what the two are
    /// compared as, and so does a number beside a date.
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

    /// Notes that it depends on the values of literals what a plan is.
    pub fn note_by_value(&self) {
        if self.are_literals() && !self.in_place {
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
        // A text yields to a column's collation, as a literal does.
        let derivation = match kind {
            Some(ParameterKind::OfNull) => Derivation::Ignorable,
            _ => Derivation::Coercible,
        };
        let traits = match column.is_string() {
            true => Traits { derivation, repertoire: Repertoire::Unicode },
            false => Traits::of(&column),
        };
        let expr = match kind.copied().and_then(misfit_of_parameter) {
            Some((name, function)) => {
                Call::new(name, function, vec![Expr::Parameter(at)], column.clone()).into_expr()
            }
            None => Expr::Parameter(at),
        };
        Typed { expr, kind: ExprType::nullable(column).with_traits(traits) }
    }

    /// Notes that a user variable of this kind is read.
    pub fn note_variable(&self, name: Box<str>, kind: VariableKind) {
        self.variables.borrow_mut().entry(name).or_insert(kind);
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
        self.variables.borrow().iter().map(|(name, kind)| (name.clone(), *kind)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstile_expr::expr::Hold;

    #[test]
    fn null_is_what_is_expected() {
        let planned: Kinds = smallvec::smallvec![ParameterKind::Int, ParameterKind::Text];
        let beside = |kind| Derived { kind, hold: Hold::Beside };
        let stored = |kind| Derived { kind, hold: Hold::Stored };
        let same = [beside(ParameterKind::Int), beside(ParameterKind::Text)];
        assert!(serves(&planned, &same, &[Value::Null, Value::Null]));
        assert!(serves(&planned, &same, &[Value::Int(7), Value::Null]));
        assert!(!serves(&planned, &same, &[Value::text("a"), Value::Null]));
        // A plan of an earlier number is not that of NULL beside a text.
        let text = [beside(ParameterKind::Text), beside(ParameterKind::Text)];
        assert!(!serves(&planned, &text, &[Value::Null, Value::Null]));
        assert!(serves(&planned, &text, &[Value::Int(7), Value::Null]));
        let column = [stored(ParameterKind::Text), stored(ParameterKind::Text)];
        assert!(serves(&planned, &column, &[Value::Null, Value::Null]));
    }
}
