//! Which sources are kept in memory and looked up by hashed keys.

use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_values::collation::Collation;
use turnstile_values::types::ColumnType;

use super::super::block::Block;
use super::Condition;

/// A pair that is equal in a partner: an expression over earlier columns, and a column of the source, by its
/// place in the tuple.
pub(super) struct Pair {
    pub known: Expr,
    pub place: usize,
    pub collation: Collation,
}

/// The pair that a condition asks of a source at these places.
pub(super) fn pair(
    block: &Block<'_, '_>,
    condition: &Condition,
    is_here: &dyn Fn(usize) -> bool,
    is_known: &dyn Fn(usize) -> bool,
) -> Option<Pair> {
    let Expr::Compare { op: CompareOp::Equal, left, right, collation } = &condition.filter.expr else {
        return None;
    };
    let (Expr::Column(one), Expr::Column(other)) = (&**left, &**right) else { return None };
    let (place, known) = match (is_here(*one), is_here(*other)) {
        (true, false) => (*one, *other),
        (false, true) => (*other, *one),
        _ => return None,
    };
    let kind = |at| block.scope.column_at(at).map(|(_, column)| &column.kind);
    let fits = is_known(known) && hashable(kind(place)?, kind(known)?);
    fits.then_some(Pair { known: Expr::Column(known), place, collation: *collation })
}

/// Values of the two types are equal exactly if their hash keys are.
pub fn hashable(one: &ColumnType, other: &ColumnType) -> bool {
    use ColumnType as T;
    match (one, other) {
        (
            T::Char { .. } | T::Varchar { .. } | T::Text { .. },
            T::Char { .. } | T::Varchar { .. } | T::Text { .. },
        ) => one.collation() == other.collation(),
        (T::Varbinary { .. } | T::Blob { .. }, T::Varbinary { .. } | T::Blob { .. })
        | (T::Binary { .. }, T::Binary { .. })
        | (T::Decimal { .. }, T::Decimal { .. })
        | (T::Date, T::Date)
        | (T::DateTime { .. }, T::DateTime { .. })
        | (T::Time { .. }, T::Time { .. })
        | (T::Double { .. } | T::Float { .. }, T::Double { .. } | T::Float { .. }) => true,
        _ => one.is_integer() && other.is_integer(),
    }
}
