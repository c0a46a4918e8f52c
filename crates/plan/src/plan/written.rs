//! A query as a view keeps it: names are written with what they mean when the view is made.
//!
//! | written | kept |
//! |---|---|
//! | `*`, `t.*` | every column by name |
//! | a column | with its table, and the database of that unless the table goes by another name |
//! | a table | with its database |
//! | USING, NATURAL | ON |
//! | a RIGHT JOIN b, tables with commas | b LEFT JOIN a, JOIN |
//! | positions in GROUP BY and ORDER BY, aliases in GROUP BY | what they stand for |
//! | an entry of the select list | with its name |
//!
//! The block's own scope says what a name means (`from.rs` fills it), so there are no second rules for that.
//! Plain names in HAVING and ORDER BY that the select list has stay as they are: they mean the same there.
//! The query is planned before and the kept one after, so that what has no meaning gets its own error, and
//! what was not kept right is refused.

mod tables;

use turnstile_syntax::ast::{ColumnName, Expr, Name, OrderItem, Query, QueryBody, Select, SelectItem, With};
use turnstile_syntax::walk;
use turnstile_values::error::{SqlError, SqlResult};

use super::block::{Block, PlanContext};
use super::names;
use super::scope::{Outside, Reach, is_aggregated};
use super::select::{Item, expand};
use super::with::{self, Named};
use super::{from, windows};

/// Characters that the name of a view's column may have.
const NAME_CHARACTERS_MAX: usize = 64;

/// A view's query as it is kept.
pub fn query_of_view(context: &PlanContext<'_>, query: &Query) -> SqlResult<Query> {
    of_query(context, query, None)
}

fn of_query(context: &PlanContext<'_>, query: &Query, parent: Option<Outside<'_>>) -> SqlResult<Query> {
    let Some(with) = &query.with else { return of_body(context, query, parent) };
    let known = with::plan(context, with, parent)?;
    let kept = of_with(context, with, &known, parent)?;
    let inside = PlanContext { common: &known, ..*context };
    Ok(Query { with: Some(Box::new(kept)), ..of_body(&inside, query, parent)? })
}

/// The queries of a WITH; `known`: they and those around.
fn of_with(
    context: &PlanContext<'_>,
    with: &With,
    known: &[Named],
    parent: Option<Outside<'_>>,
) -> SqlResult<With> {
    let before = known.len() - with.tables.len();
    let mut kept = with.clone();
    for (nth, table) in kept.tables.iter_mut().enumerate() {
        let seen = before + nth + usize::from(with.recursive);
        let inside = PlanContext { common: &known[..seen], ..*context };
        *table.query = of_query(&inside, &table.query, parent)?;
    }
    Ok(kept)
}

fn of_body(context: &PlanContext<'_>, query: &Query, parent: Option<Outside<'_>>) -> SqlResult<Query> {
    let (body, order_by) = match &query.body {
        QueryBody::Select(select) => {
            let (select, order_by) = of_select(context, select, &query.order_by, parent)?;
            (QueryBody::Select(Box::new(select)), order_by)
        }
        QueryBody::Table(name) => {
            let select = super::table_select(name);
            let (select, order_by) = of_select(context, &select, &query.order_by, parent)?;
            (QueryBody::Select(Box::new(select)), order_by)
        }
        QueryBody::SetOperation { first, rest } => {
            let first = Box::new(of_query(context, first, parent)?);
            let one = |(operator, one): &(_, Query)| Ok((*operator, of_query(context, one, parent)?));
            let rest = rest.iter().map(one).collect::<SqlResult<Vec<_>>>()?;
            (QueryBody::SetOperation { first, rest }, query.order_by.clone())
        }
        QueryBody::Values(rows) => {
            let block = Block::new(context, parent);
            let kept = |row: &Vec<Expr>| row.iter().map(|one| of_expr(&block, one, &[])).collect();
            (QueryBody::Values(rows.iter().map(kept).collect::<SqlResult<_>>()?), query.order_by.clone())
        }
    };
    // Who reads a view says what is locked: what its own query says of that is not kept, as in MySQL.
    Ok(Query {
        with: None,
        body,
        order_by,
        limit: query.limit.clone(),
        locking: Vec::new(),
        into: Vec::new(),
    })
}

/// A block, and its ORDER BY.
fn of_select(
    context: &PlanContext<'_>,
    select: &Select,
    order_by: &[OrderItem],
    parent: Option<Outside<'_>>,
) -> SqlResult<(Select, Vec<OrderItem>)> {
    let mut block = Block::new(context, parent);
    from::read(&mut block, &select.from)?;
    let tables = tables::of_from(&block, &select.from)?;
    let mut items = expand(&block, &select.items)?;
    items.iter_mut().enumerate().for_each(fit_name);
    let shown: Vec<&Name> = items.iter().map(|item| &item.name).collect();
    let mut kept = Select { from: tables, ..select.clone() };
    kept.items = items.iter().map(|item| of_item(&block, item)).collect::<SqlResult<_>>()?;
    for item in &mut kept.group_by {
        let meant = names::group_key(&block, &item.expr, &items)?;
        item.expr = of_expr(&block, &meant, &[])?;
    }
    kept.condition = select.condition.iter().map(|one| of_expr(&block, one, &[])).next().transpose()?;
    kept.having = select.having.iter().map(|one| of_expr(&block, one, &shown)).next().transpose()?;
    for (_, window) in &mut kept.windows {
        window.each_mut(&mut |one| {
            *one = of_expr(&block, one, &[])?;
            Ok::<(), SqlError>(())
        })?;
    }
    let mut order = Vec::with_capacity(order_by.len());
    for item in order_by {
        let expr = order_key(&block, &item.expr, &items)?;
        order.extend(expr.map(|expr| OrderItem { expr, descending: item.descending }));
    }
    Ok((kept, order))
}

/// Nobody but HAVING and ORDER BY asks what the columns of a sub-query in an expression are called: those
/// without a name get none.
fn leave_names(kept: &mut Query, written: &Query) {
    let sorted = !written.order_by.is_empty();
    let (QueryBody::Select(kept), QueryBody::Select(written)) = (&mut kept.body, &written.body) else {
        return;
    };
    let is_wild = |item: &SelectItem| matches!(item, SelectItem::Wildcard { .. });
    if sorted || written.having.is_some() || written.items.iter().any(is_wild) {
        return;
    }
    for (kept, written) in kept.items.iter_mut().zip(&written.items) {
        if let (SelectItem::Expr { aliased, .. }, SelectItem::Expr { aliased: own, .. }) = (kept, written) {
            *aliased = *own;
        }
    }
}

/// A name that was made of a text is none where it would be too long, or empty, or end in a blank.
fn fit_name((nth, item): (usize, &mut Item)) {
    let fits = (1..=NAME_CHARACTERS_MAX).contains(&item.name.chars().count())
        && !item.name.ends_with(char::is_whitespace);
    let is_given = item.aliased || matches!(item.expr, Expr::Column(_));
    if !fits && !is_given {
        item.name = format!("Name_exp_{}", nth + 1).into();
    }
}

fn of_item(block: &Block<'_, '_>, item: &Item) -> SqlResult<SelectItem> {
    let expr = of_expr(block, &item.expr, &[])?;
    Ok(SelectItem::Expr { expr, name: item.name.clone(), aliased: true })
}

/// A key of ORDER BY; None for one that orders nothing.
fn order_key(block: &Block<'_, '_>, key: &Expr, items: &[Item]) -> SqlResult<Option<Expr>> {
    let shown: Vec<&Name> = items.iter().map(|item| &item.name).collect();
    let position = match key {
        Expr::Literal(turnstile_syntax::ast::Literal::Int(position)) => *position,
        Expr::Column(_) => return of_expr(block, key, &shown).map(Some),
        // Inside an expression a name means a column before it means an entry of the select list.
        _ => return of_ordered(block, key, &shown).map(Some),
    };
    let item = usize::try_from(position).ok().and_then(|nth| items.get(nth.checked_sub(1)?));
    let Some(item) = item else { return Ok(None) };
    let named = walk::any(&item.expr, &Expr::is_query) || windows::has_window(&item.expr);
    match &item.expr {
        Expr::Literal(_) => Ok(None),
        _ if named => {
            let column = item.name.clone();
            Ok(Some(Expr::Column(ColumnName { schema: None, table: None, column })))
        }
        expr => of_expr(block, expr, &[]).map(Some),
    }
}

/// An expression of ORDER BY: plain names that no table of the block has stay if they are among `shown`.
fn of_ordered(block: &Block<'_, '_>, expr: &Expr, shown: &[&Name]) -> SqlResult<Expr> {
    let unknown = |name: &&&Name| {
        let plain = ColumnName { schema: None, table: None, column: (***name).clone() };
        !matches!(block.scope.find_here(&plain), Ok(Some(_)))
    };
    let shown: Vec<&Name> = shown.iter().filter(unknown).copied().collect();
    of_expr(block, expr, &shown)
}

/// An expression with its names written out, but for plain ones among `shown` outside aggregates.
fn of_expr(block: &Block<'_, '_>, expr: &Expr, shown: &[&Name]) -> SqlResult<Expr> {
    let mut kept = expr.clone();
    qualify(block, &mut kept, shown)?;
    Ok(kept)
}

fn qualify(block: &Block<'_, '_>, expr: &mut Expr, shown: &[&Name]) -> SqlResult<()> {
    let inside = Some(Outside { scope: &block.scope, reach: Reach::Inside });
    let again = |query: &mut Query| -> SqlResult<()> {
        let mut kept = of_query(block.context, query, inside)?;
        leave_names(&mut kept, query);
        *query = kept;
        Ok(())
    };
    match expr {
        Expr::Column(name) => {
            let stays =
                name.table.is_none() && shown.iter().any(|one| one.eq_ignore_ascii_case(&name.column));
            if !stays && let Some(written) = block.scope.written(name) {
                *name = written;
            }
            return Ok(());
        }
        Expr::Default(Some(name)) => {
            if let Some(written) = block.scope.written(name) {
                **name = written;
            }
            return Ok(());
        }
        Expr::Subquery(query) | Expr::Exists(query) => return again(query),
        Expr::InSubquery { query, .. } | Expr::Quantified { query, .. } => again(query)?,
        Expr::UserVariable(_) | Expr::SystemVariable { .. } | Expr::Assign { .. } | Expr::Parameter(_) => {
            return Err(SqlError::view_has_variable());
        }
        _ => {}
    }
    let shown = if is_aggregated(expr) && matches!(expr, Expr::Function(_)) { &[] } else { shown };
    walk::children_mut(expr, &mut |child| qualify(block, child, shown))
}
