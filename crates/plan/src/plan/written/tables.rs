//! FROM as a view keeps it.

use turnstile_syntax::ast::{
    self, BinaryOp, ColumnName, Expr, Join, JoinCondition, JoinKind, Query, TableFactor, TableRef,
};
use turnstile_values::error::SqlResult;

use super::super::block::Block;
use super::super::scope::{Outside, Reach};
use super::{of_expr, of_query};

/// Where the walk through FROM is: it meets tables, and columns that USING and NATURAL joined, in the order
/// in which they entered the scope.
struct Place {
    /// Tables of the scope before it.
    tables: usize,
    /// Pairs of joined columns before it.
    merged: usize,
}

/// Tables and their joins; the block has read them.
pub(super) fn of_from(block: &Block<'_, '_>, from: &[TableRef]) -> SqlResult<Vec<TableRef>> {
    let mut place = Place { tables: 0, merged: 0 };
    let mut all: Option<TableRef> = None;
    for one in from {
        let right = of_table(block, one, &mut place)?;
        all = Some(match all {
            None => right,
            Some(left) => joined(left, right, JoinKind::Inner, JoinCondition::None),
        });
    }
    Ok(all.into_iter().collect())
}

fn joined(left: TableRef, right: TableRef, kind: JoinKind, condition: JoinCondition) -> TableRef {
    TableRef::Join(Box::new(Join { left, right, kind, condition }))
}

fn of_table(block: &Block<'_, '_>, table: &TableRef, place: &mut Place) -> SqlResult<TableRef> {
    match table {
        TableRef::Table(factor) => {
            place.tables += 1;
            Ok(TableRef::Table(of_factor(block, factor)))
        }
        TableRef::Derived { query, alias, columns, lateral, json_table } => {
            place.tables += 1;
            let reach = if *lateral || json_table.is_some() { Reach::Inside } else { Reach::Beyond };
            let outside = Outside { scope: &block.scope, reach };
            let query: Query = of_query(block.context, query, Some(outside))?;
            Ok(TableRef::Derived {
                query: Box::new(query),
                alias: alias.clone(),
                columns: columns.clone(),
                lateral: *lateral,
                json_table: json_table.clone(),
            })
        }
        TableRef::Join(join) => of_join(block, join, place),
    }
}

fn of_factor(block: &Block<'_, '_>, factor: &TableFactor) -> TableFactor {
    let mut kept = factor.clone();
    let is_common = kept.name.schema.is_none() && block.context.named(&kept.name.table).is_some();
    if !is_common && kept.name.schema.is_none() {
        kept.name.schema = block.context.schema.map(ast::Name::from);
    }
    kept
}

fn of_join(block: &Block<'_, '_>, join: &Join, place: &mut Place) -> SqlResult<TableRef> {
    let start = place.tables;
    let left = of_table(block, &join.left, place)?;
    let middle = place.tables;
    let right = of_table(block, &join.right, place)?;
    let sight = (start, place.tables);
    let condition = match &join.condition {
        JoinCondition::None => JoinCondition::None,
        JoinCondition::On(condition) => {
            block.scope.sight.set(Some(sight));
            let kept = of_expr(block, condition, &[]);
            block.scope.sight.set(None);
            JoinCondition::On(kept?)
        }
        JoinCondition::Using(_) | JoinCondition::Natural => {
            equalities(block, (start, middle, place.tables), join.kind, place)
        }
    };
    Ok(match join.kind {
        JoinKind::Right => joined(right, left, JoinKind::Left, condition),
        kind => joined(left, right, kind, condition),
    })
}

/// The condition of a join by USING or NATURAL: the pairs of columns that it added to the scope.
fn equalities(
    block: &Block<'_, '_>,
    (start, middle, end): (usize, usize, usize),
    kind: JoinKind,
    place: &mut Place,
) -> JoinCondition {
    let of = |position: usize| {
        let tables = block.scope.tables.iter().enumerate();
        let mut found = tables.filter(|(_, table)| table.places().contains(&position));
        found.next().map(|(nth, table)| (nth, table.written(position - table.base)))
    };
    let mut list = Vec::new();
    while let Some((hidden, shown)) = block.scope.merged.get(place.merged) {
        let (Some((nth, hidden)), Some((twin, shown))) = (of(*hidden), of(*shown)) else { break };
        let (nth, twin) = if kind == JoinKind::Right { (twin, nth) } else { (nth, twin) };
        // Of a join around this one.
        if !(middle..end).contains(&nth) || !(start..middle).contains(&twin) {
            break;
        }
        place.merged += 1;
        list.push(equal(shown, hidden));
    }
    match list.len() {
        0 => JoinCondition::None,
        1 => list.pop().map_or(JoinCondition::None, JoinCondition::On),
        _ => JoinCondition::On(Expr::And(list)),
    }
}

fn equal(left: ColumnName, right: ColumnName) -> Expr {
    let (left, right) = (Box::new(Expr::Column(left)), Box::new(Expr::Column(right)));
    Expr::Binary { op: BinaryOp::Equal, left, right }
}
