//! Whether an expression of a statement is the one that a column of a table was made of, which then stands
//! for it: both are compared as they are bound, so that it does not matter how they were written.

use std::mem::discriminant;

use turnstile_values::pulse;

use super::tree::Expr;

/// What comparing two expressions comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// They are different ones.
    Different,
    /// They differ in nothing but that one has parameters where the other has literals.
    InLiterals,
    /// They give the same for every row.
    Same,
}

impl Expr {
    /// Whether another expression, over a tuple in which the columns of this one's row begin at `base`, is
    /// the same as this one. What depends on a session, and a TIMESTAMP does on its zone, is like nothing.
    pub fn likeness(&self, other: &Expr, base: usize) -> Likeness {
        // Of a statement that is to end nobody looks at what was found.
        if pulse::step().is_err() {
            return Likeness::Different;
        }
        match (self, other) {
            (Expr::Literal(own), Expr::Literal(value)) if own == value => Likeness::Same,
            (Expr::Literal(_), Expr::Parameter(_)) => Likeness::InLiterals,
            (Expr::Column(own), Expr::Column(at)) if base + own == *at => Likeness::Same,
            _ if discriminant(self) != discriminant(other) || !agree(self, other) => Likeness::Different,
            _ => {
                let (own, theirs) = (self.children(), other.children());
                if own.len() != theirs.len() {
                    return Likeness::Different;
                }
                let mut least = Likeness::Same;
                for (own, other) in own.into_iter().zip(theirs) {
                    match own.likeness(other, base) {
                        Likeness::Different => return Likeness::Different,
                        Likeness::InLiterals => least = Likeness::InLiterals,
                        Likeness::Same => {}
                    }
                }
                least
            }
        }
    }
}

/// Whether two nodes of one kind do the same with their children.
fn agree(own: &Expr, other: &Expr) -> bool {
    use Expr as E;
    match (own, other) {
        (E::Arithmetic { op, .. }, E::Arithmetic { op: other, .. }) => op == other,
        (E::Negate { .. }, _) | (E::BitNot(_), _) | (E::And(_), _) | (E::Or(_), _) | (E::Xor(..), _) => true,
        (E::Not(_), _) | (E::WithOperand { .. }, _) | (E::Operand, _) => true,
        (E::Compare { op, collation, .. }, E::Compare { op: other, collation: by, .. }) => {
            op == other && collation == by
        }
        (E::Is { test, negated, .. }, E::Is { test: other, negated: not, .. }) => {
            test == other && negated == not
        }
        (E::Between { collation, negated, .. }, E::Between { collation: by, negated: not, .. })
        | (E::InList { collation, negated, .. }, E::InList { collation: by, negated: not, .. })
        | (E::Regexp { collation, negated, .. }, E::Regexp { collation: by, negated: not, .. }) => {
            collation == by && negated == not
        }
        (
            E::InRows { operand, collation, negated, .. },
            E::InRows { operand: row, collation: by, negated: not, .. },
        ) => operand.len() == row.len() && collation == by && negated == not,
        (
            E::Like { escape, collation, negated, .. },
            E::Like { escape: other, collation: by, negated: not, .. },
        ) => escape.is_some() == other.is_some() && collation == by && negated == not,
        (
            E::Case { branches, otherwise, kind },
            E::Case { branches: others, otherwise: other, kind: as_kind },
        ) => branches.len() == others.len() && otherwise.is_some() == other.is_some() && kind == as_kind,
        (E::Coalesce { kind, .. }, E::Coalesce { kind: other, .. }) => kind == other,
        (E::NullIf { collation, .. }, E::NullIf { collation: by, .. }) => collation == by,
        (E::Cast { to, .. }, E::Cast { to: other, .. })
        | (E::Coerce { to, .. }, E::Coerce { to: other, .. }) => to == other,
        (E::DateArithmetic { unit, subtract, .. }, E::DateArithmetic { unit: by, subtract: other, .. }) => {
            unit == by && subtract == other
        }
        (E::TimestampDiff { unit, .. }, E::TimestampDiff { unit: other, .. })
        | (E::Extract { unit, .. }, E::Extract { unit: other, .. }) => unit == other,
        (E::Call(own), E::Call(call)) => {
            own.name == call.name
                && std::ptr::fn_addr_eq(own.function, call.function)
                && own.kind == call.kind
                && own.collation == call.collation
                && own.deterministic
                && call.deterministic
                && !of_session(own.name, own.arguments.len())
        }
        _ => false,
    }
}

/// Whether what a function gives is settled by variables of the session too: its zone, the first day of its
/// weeks.
fn of_session(name: &str, arguments: usize) -> bool {
    matches!((name, arguments), ("week", 1) | ("from_unixtime" | "unix_timestamp", _))
}

#[cfg(test)]
mod tests {
    use super::super::tree::ArithmeticOp;
    use super::*;

    fn sum(left: Expr, right: Expr) -> Expr {
        let (left, right) = (Box::new(left), Box::new(right));
        Expr::Arithmetic { op: ArithmeticOp::Add, left, right, source: None }
    }

    #[test]
    fn columns_are_found_where_their_row_begins() {
        let own = sum(Expr::Column(0), Expr::int(1));
        assert_eq!(own.likeness(&sum(Expr::Column(4), Expr::int(1)), 4), Likeness::Same);
        assert_eq!(own.likeness(&sum(Expr::Column(5), Expr::int(1)), 4), Likeness::Different);
        assert_eq!(own.likeness(&sum(Expr::int(1), Expr::Column(4)), 4), Likeness::Different);
        assert_eq!(own.likeness(&sum(Expr::Column(4), Expr::int(2)), 4), Likeness::Different);
        assert_eq!(own.likeness(&sum(Expr::Column(4), Expr::Parameter(0)), 4), Likeness::InLiterals);
        let zoned = sum(Expr::TimestampColumn(0), Expr::int(1));
        assert_eq!(zoned.likeness(&zoned, 0), Likeness::Different);
    }
}
