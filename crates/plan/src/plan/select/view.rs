//! A block whose rows are joined with those of the block around it (`from/merged.rs`): bound, without steps
//! of its own.

use turnstile_expr::expr::{Expr, Typed};
use turnstile_syntax::ast;
use turnstile_values::error::SqlResult;
use turnstile_values::sink::ColumnMeta;

use super::super::block::Block;
use super::super::from::{self, Pending, merged};
use super::super::grouping::{self, Facts};
use super::super::pushed::whole::Wanted;
use super::super::query::OrderKey;
use super::super::scope::AggregateUse;
use super::super::steps::Condition;
use super::super::{names, pushed};
use super::item::{bind_items, expand, meta};
use super::{conditions, items_told_first};

/// What a block is made of.
pub struct View {
    /// Its tables, with their conditions bound.
    pub tables: Vec<Pending>,
    /// Its conditions.
    pub conditions: Vec<Condition>,
    /// STRAIGHT_JOIN was used.
    pub straight: bool,
    /// Its order.
    pub order: Vec<OrderKey>,
    /// Its select list.
    pub items: Vec<Typed>,
    /// How that is announced.
    pub columns: Vec<ColumnMeta>,
    /// What is known of its rows.
    pub facts: Facts,
}

/// Binds a block that is merged into the one around it. `optional`: on the side of an outer join that may be
/// missing; None if its columns were then not NULL.
pub fn view(
    block: &mut Block<'_, '_>,
    (select, order_by): (&ast::Select, &[ast::OrderItem]),
    optional: bool,
) -> SqlResult<Option<View>> {
    let asked = pushed::inside(block.context, select);
    block.wanted = Wanted::of(select, asked.condition.as_deref());
    let mut joined = from::read(block, &asked.from)?;
    let items = expand(block, &select.items)?;
    let of_table = |expr: &ast::Expr| match expr {
        ast::Expr::Column(name) => matches!(block.scope.find_here(name), Ok(Some(_))),
        _ => false,
    };
    if optional && !items.iter().all(|item| of_table(&item.expr)) {
        return Ok(None);
    }
    names::note_aliases(block, &items);
    let (on, tables) = (std::mem::take(&mut joined.conditions), &mut joined.tables);
    let bound = conditions(block, asked.condition.as_deref(), on).and_then(|bound| {
        tables.iter_mut().try_for_each(|table| merged::bind_waiting(block, table))?;
        Ok(bound)
    });
    let conditions = items_told_first(block, &items, bound)?;
    block.scope.aggregates.set(AggregateUse::Allowed);
    let mut bound = bind_items(block, &items)?;
    let (_, mut order) = names::order_keys(block, order_by, &items, &mut bound)?;
    if order_by.is_empty() {
        order = std::mem::take(&mut joined.order);
    }
    let columns = items.iter().zip(&bound).map(|(item, typed)| meta(&block.scope, item, typed)).collect();
    let checked = block.context.full_group_by;
    let facts = Facts {
        dependences: if checked { grouping::dependences(block, select, &items) } else { Vec::new() },
        unique: match joined.tables.as_slice() {
            [Pending { kind: from::PendingKind::Table { nth, table, .. }, .. }] => {
                let exprs: Vec<&Expr> = bound.iter().map(|item| &item.expr).collect();
                grouping::unique_keys(&exprs, table, block.scope.table(*nth).base)
            }
            _ => Vec::new(),
        },
    };
    let straight = joined.straight;
    Ok(Some(View { tables: joined.tables, conditions, straight, order, items: bound, columns, facts }))
}
