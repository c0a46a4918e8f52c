//! Which generated columns stand for their expressions: what a statement asks of the expression, it may ask
//! of the column, which a key is over.

use std::collections::HashMap;

use turnstile_expr::expr::{Expr, Typed};
use turnstile_values::error::SqlResult;
use turnstile_values::types::ColumnType;

use super::Definition;
use crate::expression_text::expression_text;

/// Columns that stand for the same expression: each key over it has one of its own.
pub(super) type Alike = Vec<usize>;

/// Columns that keys are over and that hold what their expressions give.
pub(super) fn stand_ins(definition: &Definition, generated: &[(usize, SqlResult<Typed>)]) -> Vec<Alike> {
    let has_key =
        |column: usize| definition.keys.iter().any(|key| key.parts.iter().any(|part| part.column == column));
    let stands = |(column, bound): &(usize, SqlResult<Typed>)| {
        let Ok(bound) = bound else { return None };
        let alone = matches!(bound.expr, Expr::Column(_) | Expr::TimestampColumn(_) | Expr::Literal(_));
        let holds = holds(&definition.columns[*column].kind, &bound.kind.column);
        (!alone && holds && has_key(*column)).then_some(*column)
    };
    let (mut all, mut places): (Vec<Alike>, HashMap<_, usize>) = Default::default();
    for at in generated.iter().filter_map(stands) {
        let column = &definition.columns[at];
        let text = column.generation().map(|(expr, _)| expression_text(expr)).unwrap_or_default();
        let shape = (text, column.kind.to_string(), column.kind.collation());
        let place = *places.entry(shape).or_insert(all.len());
        match all.get_mut(place) {
            Some(alike) => alike.push(at),
            None => all.push(vec![at]),
        }
    }
    all
}

/// Whether a column holds every value of an expression as it is. A whole number that a narrow column does not
/// hold is refused when the row comes, or else the column stands for it all the same, as in MySQL.
fn holds(column: &ColumnType, expr: &ColumnType) -> bool {
    use ColumnType as T;
    match (column, expr) {
        (T::Int { zerofill: false, .. }, T::Int { .. }) => column.is_unsigned() == expr.is_unsigned(),
        (T::Year, T::Year) | (T::Date, T::Date) => true,
        (
            T::Decimal { precision, scale, unsigned: false, .. },
            T::Decimal { precision: all, scale: own, .. },
        ) => scale >= own && precision - scale >= all - own,
        (T::Double { digits: None, unsigned: false, .. }, T::Double { digits: None, .. }) => true,
        (T::Time { fsp }, T::Time { fsp: own }) | (T::DateTime { fsp }, T::DateTime { fsp: own }) => {
            fsp >= own
        }
        (T::Varchar { length, collation }, T::Varchar { length: own, collation: by })
        | (T::Varchar { length, collation }, T::Char { length: own, collation: by }) => {
            collation == by && length >= own
        }
        (T::Varbinary { length }, T::Varbinary { length: own }) => length >= own,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstile_values::collation::Collation;
    use turnstile_values::types::IntWidth;

    #[test]
    fn what_would_be_changed_is_not_held() {
        let decimal =
            |precision, scale| ColumnType::Decimal { precision, scale, unsigned: false, zerofill: false };
        assert!(holds(&decimal(12, 3), &decimal(10, 2)));
        assert!(!holds(&decimal(10, 3), &decimal(10, 2)), "too few digits before the point");
        assert!(!holds(&decimal(10, 1), &decimal(9, 2)), "it would be rounded");
        let text = |length, collation| ColumnType::Varchar { length, collation };
        assert!(holds(&text(9, Collation::DEFAULT), &text(8, Collation::DEFAULT)));
        assert!(!holds(&text(7, Collation::DEFAULT), &text(8, Collation::DEFAULT)));
        assert!(!holds(&text(9, Collation::Binary), &text(8, Collation::DEFAULT)));
        let int = |width, unsigned| ColumnType::int(width, unsigned);
        assert!(holds(&int(IntWidth::Int, false), &int(IntWidth::Big, false)));
        assert!(!holds(&int(IntWidth::Big, true), &int(IntWidth::Big, false)));
    }
}
