//! Generated columns stand for the expressions that they are made of: what a condition or ORDER BY says of
//! `a + b` it says of a column `g AS (a + b)`, and of the hidden one of `KEY ((a + b))`, so that keys over
//! these serve it. A query's expression is the column's if both are the same as they are bound.

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::{Expr, Likeness};

use super::facts::{ALTERNATIVES_MAX, Fact};
use super::parameters::Parameters;

/// The column, counted from the first of a table whose row begins at `base`, that stands for an expression.
pub fn column_for(table: &Table, base: usize, expr: &Expr, parameters: &Parameters) -> Option<usize> {
    for (columns, own) in table.stand_ins() {
        match own.likeness(expr, base) {
            Likeness::Same => return columns.first().copied(),
            // The literals of a text decide which expression it is.
            Likeness::InLiterals => parameters.note_by_value(),
            Likeness::Different => {}
        }
    }
    None
}

/// The same for a condition. What a document has as a text is a LONGTEXT, which no key is over: a column that
/// has it as a text of limited length stands for it, as in MySQL.
pub fn column_for_condition(
    table: &Table,
    base: usize,
    expr: &Expr,
    parameters: &Parameters,
) -> Option<usize> {
    let own = column_for(table, base, expr, parameters);
    own.or_else(|| {
        let Expr::Call(call) = expr else { return None };
        let limited = |own: &Expr| match own {
            Expr::Cast { operand, to, .. } => {
                to.is_string() && operand.likeness(expr, base) == Likeness::Same
            }
            _ => false,
        };
        let by = |column: usize| table.columns()[column].kind.collation();
        let mut all = table.stand_ins().filter(|_| call.name == "json_unquote");
        all.find_map(|(columns, own)| {
            let first = *columns.first()?;
            (by(first) == call.kind.collation() && limited(own)).then_some(first)
        })
    })
}

/// What facts say of a column that stands for an expression they say of the others that stand for it: each
/// key over it has a column of its own.
pub fn add_twins(table: &Table, facts: &mut [Fact]) {
    for (columns, _) in table.stand_ins().filter(|(columns, _)| columns.len() > 1) {
        let (first, others) = (columns[0], &columns[1..]);
        for fact in facts.iter_mut().filter(|fact| fact.any_of.len() * others.len() <= ALTERNATIVES_MAX) {
            for bounds in &mut fact.any_of {
                let said = bounds.iter().find(|(column, _)| *column == first).map(|(_, bound)| bound.clone());
                if let Some(bound) = said {
                    bounds.extend(others.iter().map(|other| (*other, bound.clone())));
                }
            }
        }
    }
}
