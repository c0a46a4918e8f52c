//! What names mean behind WHERE: aliases and positions of the select list in GROUP BY, HAVING and ORDER BY.
//!
//! | clause | a plain name is looked up |
//! |---|---|
//! | GROUP BY | among the tables' columns, then in the select list |
//! | HAVING | among the keys of GROUP BY, then in the select list; a column that is in neither is unknown |
//! | ORDER BY | in the select list, then among the tables' columns; inside an expression the other way round
//! |
//!
//! In the select list a name is an entry's alias or its column's name; HAVING also finds a column there that
//! has an alias.

use turnstile_expr::expr::{Expr, ParameterKind, Typed};
use turnstile_syntax::ast::{self, ColumnName, OrderItem};
use turnstile_syntax::walk;
use turnstile_values::collation::Collation;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};

use super::block::Block;
use super::query::OrderKey;
use super::scope::{AggregateUse, Alias, is_aggregated};
use super::select::Item;
use super::{aggregate, rollup, varying, windows};

const HAVING: &str = "having clause";
const GROUP: &str = "group statement";

/// Lets inner blocks see the aliases of the select list.
pub fn note_aliases(block: &Block<'_, '_>, items: &[Item]) {
    let named = items.iter().enumerate().filter(|(_, item)| item.aliased);
    let alias = |(nth, item): (usize, &Item)| Alias {
        name: item.name.clone(),
        expr: item.expr.clone(),
        place: None,
        nth,
    };
    block.scope.aliases.replace(named.map(alias).collect());
}

/// The keys of GROUP BY.
pub fn group_keys(
    block: &mut Block<'_, '_>,
    select: &ast::Select,
    items: &[Item],
) -> SqlResult<Vec<(Expr, Collation)>> {
    let mut keys = Vec::with_capacity(select.group_by.len());
    let mut bound_keys = Vec::with_capacity(select.group_by.len());
    for item in &select.group_by {
        let expr = group_key(block, &item.expr, items)?;
        if let ast::Expr::Column(name) = &item.expr
            && expr == item.expr
        {
            tell_of_hidden(block, name, items, &expr, GROUP);
        }
        let refused = || match items.iter().find(|item| item.expr == expr) {
            Some(item) => SqlError::wrong_group_field(&item.name),
            None => SqlError::invalid_group_function_use(),
        };
        let meant = expr != item.expr;
        if is_aggregated(&expr) || meant && windows::has_window(&expr) {
            return Err(refused());
        }
        // In an entry of the select list an aggregate may be over rows of this block, and has no value before
        // they are grouped.
        if matches!(item.expr, ast::Expr::Literal(_) | ast::Expr::Column(_)) {
            block.scope.aggregates.set(AggregateUse::Nested);
        }
        block.settle(&[&item.expr], ParameterKind::Text);
        let bound = block.bind(&expr, "group statement");
        block.scope.aggregates.set(AggregateUse::Refused);
        let typed = bound
            .map_err(|error| if error.kind() == ErrorKind::InvalidGroupUse { refused() } else { error })?;
        // Documents are one group if they are equal as documents.
        let key = turnstile_expr::functions::in_order(typed.clone());
        keys.push((key.expr, typed.kind.column.collation().unwrap_or(Collation::Binary)));
        bound_keys.push((expr, typed));
    }
    block.group_keys = bound_keys.iter().map(|(expr, _)| expr.clone()).collect();
    if select.with_rollup {
        block.rollup = rollup::place(block, bound_keys);
    }
    Ok(keys)
}

/// What a key of GROUP BY stands for.
pub fn group_key(block: &Block<'_, '_>, key: &ast::Expr, items: &[Item]) -> SqlResult<ast::Expr> {
    if let ast::Expr::Column(name) = key
        && let Some(item) = listed(block, name, items, GROUP)?
        && !matches!(block.scope.find_here(name), Ok(Some(_)))
    {
        return Ok(item.expr.clone());
    }
    let mut expr = positional(value_of(key), items, GROUP)?;
    replace_aliases(block, &mut expr, items);
    Ok(expr)
}

/// What a sub-query of nothing but one value is: that value.
fn value_of(expr: &ast::Expr) -> &ast::Expr {
    let ast::Expr::Subquery(query) = expr else { return expr };
    let ast::QueryBody::Select(select) = &query.body else { return expr };
    let [ast::SelectItem::Expr { expr: value, .. }] = &select.items[..] else { return expr };
    let bare = select.from.is_empty()
        && select.condition.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none();
    if bare && !matches!(value, ast::Expr::Literal(_)) && !is_aggregated(value) && !windows::has_window(value)
    {
        value_of(value)
    } else {
        expr
    }
}

/// Warning 1052 where an alias of the select list goes by the name of a column that is meant in its place.
fn tell_of_hidden(
    block: &Block<'_, '_>,
    name: &ColumnName,
    items: &[Item],
    meant: &ast::Expr,
    place: &'static str,
) {
    let position = |expr: &ast::Expr| match expr {
        ast::Expr::Column(name) => block.scope.find_here(name).ok().flatten().map(|found| found.position),
        _ => None,
    };
    let hidden = |item: &&Item| {
        let same =
            *meant == item.expr || position(meant).is_some() && position(meant) == position(&item.expr);
        item.aliased && item.name.eq_ignore_ascii_case(&name.column) && !same
    };
    if name.table.is_none() && items.iter().any(|item| hidden(&item)) {
        turnstile_expr::expr::Resolver::warn(block, SqlError::ambiguous_column(&name.column, place));
    }
}

/// The keys of ORDER BY as they are meant, and bound.
pub fn order_keys(
    block: &mut Block<'_, '_>,
    order: &[OrderItem],
    items: &[Item],
    bound: &mut [Typed],
) -> SqlResult<(Vec<ast::Expr>, Vec<OrderKey>)> {
    let (mut meant, mut keys) = (Vec::with_capacity(order.len()), Vec::with_capacity(order.len()));
    for item in order {
        let expr = order_key(block, &item.expr, items)?;
        let before = block.aggregates.len();
        block.settle(&[&item.expr], ParameterKind::Text);
        let listed = items.iter().position(|one| one.expr == expr && expr != item.expr);
        // A sub-query of the list is not run a second time to sort by it.
        let is_query = matches!(value_of(&expr), ast::Expr::Subquery(_));
        let known =
            listed.and_then(|at| bound.get(at)).filter(|one| is_query && matches!(one.expr, Expr::Column(_)));
        let key = known.map_or_else(|| block.bind(&expr, "order clause"), |one| Ok(one.clone()))?;
        let mut typed = turnstile_expr::functions::as_sorted(key);
        if let Some(listed) = listed.and_then(|at| bound.get_mut(at)).filter(|_| varying::varies(&expr)) {
            block.place_item(listed, &expr);
            typed = listed.clone();
        }
        // What a sub-query gives is a text, too.
        if is_query || rollup::meaning(block, &expr).is_some() {
            typed = rollup::shown(typed);
        }
        if before == 0 && block.group_keys.is_empty() && !block.aggregates.is_empty() {
            return Err(SqlError::aggregate_order_of_rows(meant.len() + 1));
        }
        meant.push(expr);
        if typed.expr.is_constant() && typed.expr.columns().is_empty() {
            continue;
        }
        let collation = typed.kind.column.collation().unwrap_or(Collation::Binary);
        keys.push(OrderKey { expr: typed.expr, descending: item.descending, collation });
    }
    Ok((meant, keys))
}

fn order_key(block: &Block<'_, '_>, key: &ast::Expr, items: &[Item]) -> SqlResult<ast::Expr> {
    if let ast::Expr::Column(name) = key
        && let Some(item) = listed(block, name, items, "order clause")?
    {
        return Ok(item.expr.clone());
    }
    let mut expr = positional(key, items, "order clause")?;
    replace_aliases(block, &mut expr, items);
    Ok(expr)
}

/// A whole number stands for an entry of the select list.
fn positional(expr: &ast::Expr, items: &[Item], place: &'static str) -> SqlResult<ast::Expr> {
    let ast::Expr::Literal(ast::Literal::Int(position)) = expr else { return Ok(expr.clone()) };
    let item = usize::try_from(*position).ok().and_then(|at| items.get(at.checked_sub(1)?));
    item.map(|item| item.expr.clone()).ok_or_else(|| SqlError::unknown_column(position, place))
}

/// The entry of the select list that a name means. In HAVING, which sees no other columns, one whose name it
/// is goes before one that is a column of this name under an alias. Error 1052 if two columns would do that
/// are not the same.
fn listed<'i>(
    block: &Block<'_, '_>,
    name: &ColumnName,
    items: &'i [Item],
    place: &'static str,
) -> SqlResult<Option<&'i Item>> {
    let position = |name: &ColumnName| block.scope.find_here(name).ok().flatten().map(|found| found.position);
    let (mut found, mut behind): (Option<&Item>, Option<&Item>) = (None, None);
    let mut behind_several = false;
    let same = |one: &Item, other: &Item| match (&one.expr, &other.expr) {
        (ast::Expr::Column(one), ast::Expr::Column(other)) => position(one) == position(other),
        _ => false,
    };
    for item in items {
        let ast::Expr::Column(column) = &item.expr else {
            if name.table.is_none() && item.aliased && item.name.eq_ignore_ascii_case(&name.column) {
                return Ok(Some(found.unwrap_or(item)));
            }
            continue;
        };
        if name.table.is_some() {
            if position(column).is_some() && position(column) == position(name) {
                return Ok(Some(item));
            }
        } else if item.name.eq_ignore_ascii_case(&name.column) {
            if found.is_some_and(|other| !same(other, item)) {
                return Err(SqlError::ambiguous_column(&name.column, place));
            }
            found = found.or(Some(item));
        } else if place == HAVING && column.column.eq_ignore_ascii_case(&name.column) {
            behind_several |= behind.is_some_and(|other| !same(other, item));
            behind = behind.or(Some(item));
        }
    }
    match (found, behind) {
        (None, Some(_)) if behind_several => Err(SqlError::ambiguous_column(&name.column, place)),
        (found, behind) => Ok(found.or(behind)),
    }
}

/// HAVING with its names replaced by what they stand for.
pub fn having(block: &Block<'_, '_>, select: &ast::Select, items: &[Item]) -> SqlResult<Option<ast::Expr>> {
    let Some(condition) = &select.having else { return Ok(None) };
    let mut condition = condition.clone();
    having_names(block, &mut condition, select, items)?;
    Ok(Some(condition))
}

fn having_names(
    block: &Block<'_, '_>,
    expr: &mut ast::Expr,
    select: &ast::Select,
    items: &[Item],
) -> SqlResult<()> {
    match expr {
        ast::Expr::Column(name) => {
            if let Some(meant) = having_name(block, name, select, items)? {
                *expr = meant;
            }
            return Ok(());
        }
        ast::Expr::Function(call) if aggregate::is_aggregate(call) => {
            call.arguments.iter_mut().for_each(|argument| replace_aliases(block, argument, items));
            return Ok(());
        }
        _ => {}
    }
    walk::children_mut(expr, &mut |child| having_names(block, child, select, items))
}

/// What a name in HAVING stands for; None for itself.
fn having_name(
    block: &Block<'_, '_>,
    name: &ColumnName,
    select: &ast::Select,
    items: &[Item],
) -> SqlResult<Option<ast::Expr>> {
    let here = |name: &ColumnName| block.scope.find_here(name).ok().flatten().map(|found| found.position);
    let is_key = |item: &&OrderItem| match &item.expr {
        ast::Expr::Column(key) if name.table.is_none() => key.column.eq_ignore_ascii_case(&name.column),
        ast::Expr::Column(key) => here(key).is_some() && here(key) == here(name),
        _ => false,
    };
    if let Some(key) = select.group_by.iter().find(is_key) {
        let meant = group_key(block, &key.expr, items)?;
        tell_of_hidden(block, name, items, &meant, HAVING);
        return Ok(Some(meant));
    }
    if let Some(item) = listed(block, name, items, HAVING)? {
        if windows::has_window(&item.expr) {
            return Err(SqlError::window_alias_here(&name.column));
        }
        return Ok(Some(item.expr.clone()));
    }
    // Other columns of the tables are gone behind the select list; a name may still be one of the blocks
    // around.
    let of_expression = items.iter().any(|item| item.expr == ast::Expr::Column(name.clone()));
    match block.scope.find_here(name) {
        Ok(None) => Ok(None),
        _ if of_expression => Ok(None),
        _ => Err(SqlError::unknown_column(written(name), HAVING)),
    }
}

/// A name as it is written.
fn written(name: &ColumnName) -> String {
    let parts = [name.schema.as_deref(), name.table.as_deref(), Some(&*name.column)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(".")
}

/// Replaces names that are no columns of the tables by what they stand for in the select list.
fn replace_aliases(block: &Block<'_, '_>, expr: &mut ast::Expr, items: &[Item]) {
    if let ast::Expr::Column(name) = expr {
        let found = items.iter().find(|item| item.aliased && item.name.eq_ignore_ascii_case(&name.column));
        if let Some(item) = found
            && name.table.is_none()
            && matches!(block.scope.find_here(name), Ok(None))
        {
            *expr = item.expr.clone();
        }
        return;
    }
    let done: Result<(), std::convert::Infallible> = walk::children_mut(expr, &mut |child| {
        replace_aliases(block, child, items);
        Ok(())
    });
    let Ok(()) = done;
}
