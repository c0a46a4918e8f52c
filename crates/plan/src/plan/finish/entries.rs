//! Conditions that an entry of a key tells: they are tested before the entry's row is fetched, or locked.
//!
//! An entry counts for a row only if the row has its key. So a row that is found by an entry has the values
//! that the entry has, and what is refused by the entry would be refused by the row.

use turnstile_expr::expr::{CompareOp, Expr};

use super::super::query::{Filter, JoinStep, KeyRange, Pushed, Source, TableSource};
use super::readable_columns;

/// Has entries asked wherever rows are found by them and not all conditions are what the key was chosen by.
pub(super) fn push(steps: &mut [JoinStep]) {
    for step in steps {
        match &mut step.source {
            Source::Group(inner) => push(inner),
            Source::Table(source) => {
                source.pushed =
                    pushed(source, &step.matching, step.base..step.base + step.columns, step.kept);
            }
            _ => {}
        }
    }
}

fn pushed(
    source: &TableSource,
    matching: &[Filter],
    own: std::ops::Range<usize>,
    kept: bool,
) -> Option<Box<Pushed>> {
    let key = source.access.key.filter(|key| !source.table.keys()[*key].primary)?;
    let plain = source.may_push && !source.covering && !source.access.unique && source.also.is_empty();
    if !plain || source.loose.is_some() {
        return None;
    }
    let readable = readable_columns(&source.table, key);
    let base = own.start;
    let fits = |one: &&Filter| {
        let columns = one.expr.columns();
        let mine = columns.iter().filter(|at| own.contains(at));
        let (mut mine, theirs) = (mine.peekable(), columns.iter().any(|at| !own.contains(at)));
        one.subqueries.is_empty()
            && one.expr.is_light()
            && !one.expr.varies()
            // What is kept is read once, for no row of other tables.
            && !(kept && theirs)
            && mine.peek().is_some()
            && mine.all(|at| readable.contains(&(at - base)))
            && !is_served(source, key, &one.expr, base)
    };
    let conditions: Vec<Expr> = matching.iter().filter(fits).map(|one| one.expr.clone()).collect();
    if conditions.is_empty() {
        return None;
    }
    let mut read: Vec<usize> = conditions.iter().flat_map(Expr::columns).collect();
    read.sort_unstable();
    read.dedup();
    let (mine, others): (Vec<usize>, Vec<usize>) = read.into_iter().partition(|at| own.contains(at));
    let width = others.iter().map(|at| at + 1).max().unwrap_or(0).max(own.end);
    let columns = mine.into_iter().map(|at| at - base).collect();
    Some(Box::new(Pushed { conditions, base, columns, others, width }))
}

/// An equality that the range of the key says: each of its entries has it.
fn is_served(source: &TableSource, key: usize, expr: &Expr, base: usize) -> bool {
    let Expr::Compare { op: CompareOp::Equal, left, right, .. } = expr else { return false };
    let parts = &source.table.keys()[key].parts;
    let equal = |range: &KeyRange, column: usize| {
        parts.iter().take(range.equal.len()).any(|part| part.column == column)
    };
    let column = |one: &Expr| match one {
        Expr::Column(at) | Expr::TimestampColumn(at) => at.checked_sub(base),
        _ => None,
    };
    [left, right]
        .into_iter()
        .filter_map(|one| column(one))
        .any(|column| source.access.ranges.iter().all(|range| equal(range, column)))
}
