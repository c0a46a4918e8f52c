//! ONLY_FULL_GROUP_BY: what a grouped block selects must be the same for all rows of a group.
//!
//! A column is determined if it is grouped by, or if the grouped columns (with those that WHERE sets equal to a constant)
//! contain a whole primary or unique NOT NULL key of its table.

use std::collections::HashSet;

use crate::ast::{self, OrderItem};
use crate::error::{SqlError, SqlResult};

use super::block::Block;
use super::scope::ScopeTable;
use super::select::Item;
use super::{aggregate, walk};

/// Checks the select list and ORDER BY of a grouped block.
pub fn check(
    block: &Block<'_, '_>,
    select: &ast::Select,
    items: &[Item],
    _order: &[OrderItem],
    has_keys: bool,
) -> SqlResult<()> {
    let keys: Vec<ast::Expr> = select.group_by.iter().map(|key| meant(block, &key.expr, items)).collect();
    let determined = determined(block, select, &keys);
    for (nth, item) in items.iter().enumerate() {
        let Some(column) = free_column(block, &item.expr, &keys, &determined) else { continue };
        return Err(if has_keys {
            mixed_with_group(nth + 1, &column)
        } else {
            SqlError::mixed_group_column(nth + 1, column)
        });
    }
    Ok(())
}

fn mixed_with_group(position: usize, column: &str) -> SqlError {
    let text = format!(
        "Expression #{position} of SELECT list is not in GROUP BY clause and contains nonaggregated column '{column}' which \
         is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"
    );
    SqlError::new(1055, b"42000", text)
}

fn meant(block: &Block<'_, '_>, key: &ast::Expr, items: &[Item]) -> ast::Expr {
    match key {
        ast::Expr::Literal(ast::Literal::Int(position)) => {
            items.get(*position as usize - 1).map_or_else(|| key.clone(), |item| item.expr.clone())
        }
        ast::Expr::Column(name)
            if name.table.is_none() && !matches!(block.scope.find_here(name), Ok(Some(_))) =>
        {
            let found =
                items.iter().find(|item| item.aliased && item.name.eq_ignore_ascii_case(&name.column));
            found.map_or_else(|| key.clone(), |item| item.expr.clone())
        }
        _ => key.clone(),
    }
}

fn position(block: &Block<'_, '_>, expr: &ast::Expr) -> Option<usize> {
    let ast::Expr::Column(name) = expr else { return None };
    block.scope.find_here(name).ok().flatten().map(|found| found.position)
}

fn determined(block: &Block<'_, '_>, select: &ast::Select, keys: &[ast::Expr]) -> HashSet<usize> {
    let mut known: HashSet<usize> = keys.iter().filter_map(|key| position(block, key)).collect();
    let mut conditions = Vec::new();
    select.condition.iter().for_each(|one| walk::conjuncts(one.clone(), &mut conditions));
    collect_joins(&select.from, &mut conditions);
    loop {
        let before = known.len();
        for condition in &conditions {
            let ast::Expr::Binary { op: ast::BinaryOp::Equal, left, right } = condition else { continue };
            for (one, other) in [(left, right), (right, left)] {
                let fixed = match position(block, other) {
                    Some(at) => known.contains(&at),
                    None => {
                        !walk::any(other, &|e| matches!(e, ast::Expr::Column(_) | ast::Expr::Subquery(_)))
                    }
                };
                known.extend(position(block, one).filter(|_| fixed));
            }
        }
        for table in &block.scope.tables {
            if has_whole_key(block, table, &known) {
                known.extend(table.base..table.base + table.columns.len());
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

fn collect_joins(from: &[ast::TableRef], conditions: &mut Vec<ast::Expr>) {
    for one in from {
        if let ast::TableRef::Join(join) = one {
            if let ast::JoinCondition::On(condition) = &join.condition {
                walk::conjuncts(condition.clone(), conditions);
            }
            collect_joins(std::slice::from_ref(&join.left), conditions);
            collect_joins(std::slice::from_ref(&join.right), conditions);
        }
    }
}

fn has_whole_key(block: &Block<'_, '_>, table: &ScopeTable, known: &HashSet<usize>) -> bool {
    let Some(found) = block.context.db.dictionary().find(&table.schema, &table.name) else { return false };
    let sure = |column: usize| known.contains(&(table.base + column)) && !found.columns()[column].nullable;
    found
        .keys()
        .iter()
        .any(|key| key.unique && key.parts.iter().all(|part| part.prefix.is_none() && sure(part.column)))
}

/// A column that rows of one group may differ in, as `schema.table.column`.
fn free_column(
    block: &Block<'_, '_>,
    expr: &ast::Expr,
    keys: &[ast::Expr],
    determined: &HashSet<usize>,
) -> Option<String> {
    if keys.contains(expr) {
        return None;
    }
    if let ast::Expr::Function(call) = expr
        && aggregate::is_aggregate(call)
    {
        return None;
    }
    if let Some(at) = position(block, expr) {
        let (table, column) = block.scope.column_at(at)?;
        return (!determined.contains(&at))
            .then(|| format!("{}.{}.{}", table.schema, table.alias, column.name));
    }
    let mut found = None;
    walk::children(expr, &mut |child| {
        if found.is_none() {
            found = free_column(block, child, keys, determined);
        }
    });
    found
}
