//! The select list: wildcards, names, types and how each column is announced.

use turnstile_catalog::accounts::Privileges;
use turnstile_expr::expr::{Expr, Typed};
use turnstile_syntax::ast::{self, ColumnName, SelectItem};
use turnstile_values::error::SqlResult;
use turnstile_values::sink::{ColumnMeta, KeptPacket, Origin};
use turnstile_values::types::{ColumnType, ExprType, column_flag};

use super::super::block::Block;
use super::super::rollup;
use super::super::scope::Scope;
use super::Around;

/// An entry of the select list after `*` is expanded.
pub struct Item {
    /// As written.
    pub expr: ast::Expr,
    /// Its name in the result.
    pub name: Box<str>,
    /// The name is an alias.
    pub aliased: bool,
}

pub(super) fn bind_items(block: &mut Block<'_, '_>, items: &[Item]) -> SqlResult<Vec<Typed>> {
    let mut bound = Vec::with_capacity(items.len());
    for (nth, item) in items.iter().enumerate() {
        block.scope.items_bound.set(nth);
        let mut typed = block.bind(&item.expr, "field list")?;
        if rollup::meaning(block, &item.expr).is_some() {
            typed = rollup::shown(typed);
        }
        if let Expr::Cast { to: ColumnType::Decimal { .. }, name, .. } = &mut typed.expr {
            *name = Some(item.name.clone());
        }
        bound.push(typed);
    }
    block.scope.items_bound.set(items.len());
    Ok(bound)
}

/// Values that are kept before they are shown have all digits of their types: those of DISTINCT, of groups,
/// and of joined rows that are sorted.
pub(super) fn keep_digits(
    block: &Block<'_, '_>,
    select: &ast::Select,
    around: Around<'_>,
    groups: bool,
    items: &mut [Typed],
) {
    let all = select.distinct || block.scope.tables.len() > 1 && !around.order_by.is_empty();
    let summed = |typed: &Typed| {
        let read = typed.expr.columns();
        block.aggregates.iter().any(|aggregate| read.contains(&aggregate.position))
    };
    for item in items {
        if all || groups && !summed(item) {
            *item = turnstile_expr::expr::with_all_digits(item.clone());
        }
    }
}

/// The select list with `*` written out.
pub fn expand(block: &Block<'_, '_>, items: &[SelectItem]) -> SqlResult<Vec<Item>> {
    let mut all = Vec::new();
    for item in items {
        match item {
            SelectItem::Expr { expr, name, aliased } => {
                let own = if *aliased { None } else { kept_name(block, expr) };
                let name = own.unwrap_or_else(|| name.clone());
                all.push(Item { expr: expr.clone(), name, aliased: *aliased });
            }
            SelectItem::Wildcard { schema, table } => {
                for (nth, at) in block.scope.wildcard(schema.as_deref(), table.as_deref())? {
                    block.scope.note_use(nth, at, Privileges::SELECT, true);
                    let table = &block.scope.tables[nth];
                    let name = table.columns[at].name.clone();
                    let column = ColumnName {
                        schema: (!table.schema.is_empty()).then(|| table.schema.clone()),
                        table: Some(table.alias.clone()),
                        column: name.clone(),
                    };
                    all.push(Item { expr: ast::Expr::Column(column), name, aliased: false });
                }
            }
        }
    }
    Ok(all)
}

/// The name that a table which keeps its names gives to this column.
fn kept_name(block: &Block<'_, '_>, expr: &ast::Expr) -> Option<Box<str>> {
    let ast::Expr::Column(column) = expr else { return None };
    if !block.scope.tables.iter().any(|table| table.keeps_names) {
        return None;
    }
    let found = block.scope.find_here(column).ok().flatten()?;
    let (table, column) = block.scope.column_at(found.position)?;
    table.keeps_names.then(|| column.name.clone())
}

/// Bytes that are announced as if they were a number without sign: a hex literal, and what is one, and the
/// bits of bytes.
fn is_of_unsigned_bytes(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Literal(ast::Literal::Hex(_)) => true,
        ast::Expr::Function(call) => match (&*call.name, call.arguments.first()) {
            ("bit_and" | "bit_or" | "bit_xor", _) => true,
            ("nullif" | "min" | "max", Some(first)) => is_of_unsigned_bytes(first),
            _ => false,
        },
        _ => false,
    }
}

/// The place of the column that a name means, where derived tables are merged into the block.
fn named_in_view(scope: &Scope<'_>, name: &ColumnName) -> Option<usize> {
    if scope.tables.iter().all(|table| table.stands_for.is_empty()) {
        return None;
    }
    scope.find_here(name).ok().flatten().map(|found| found.position)
}

/// Describes a result column to the client.
pub(super) fn meta(scope: &Scope<'_>, item: &Item, typed: &Typed) -> ColumnMeta {
    let ExprType { column, nullable, traits } = &typed.kind;
    let own = match &typed.expr {
        Expr::Column(at) | Expr::TimestampColumn(at) => Some(*at),
        _ => None,
    };
    let place = match &item.expr {
        ast::Expr::Column(name) => named_in_view(scope, name).or(own),
        _ => None,
    };
    let place = place.and_then(|at| scope.column_at(at).map(|column| (at, column)));
    let Some((at, (table, one))) = place else {
        let column = column.clone().unfilled();
        let unsigned = column.is_binary_string() && is_of_unsigned_bytes(&item.expr);
        let meta = ColumnMeta::computed(&item.name, column, *nullable).with_traits(*traits);
        let flags = if unsigned { meta.flags | column_flag::UNSIGNED } else { meta.flags };
        return ColumnMeta { flags, ..meta };
    };
    // A NULL that a derived table keeps is shown as the column that keeps it.
    let column = match column {
        ColumnType::Null if !table.keeps_names => &ColumnType::Varbinary { length: 0 },
        own => own,
    };
    // What is merged into the block shows whose column it is.
    let stored = table.stands_for.get(at - table.base).and_then(|place| scope.column_at(*place));
    let (owner, flags) = match stored {
        Some((owner, column)) if owner.stands_for.is_empty() => {
            (if table.is_view { table } else { owner }, column.flags)
        }
        _ => (table, one.flags),
    };
    let loosened = scope.loosened.borrow().iter().any(|place| owner.places().contains(place));
    // What a view computes is of no database.
    let is_stored = !table.is_view || stored.is_none_or(|(owner, _)| owner.base != table.base);
    ColumnMeta {
        schema: if is_stored { owner.schema.clone() } else { "".into() },
        table: table.alias.clone(),
        org_table: owner.name.clone(),
        name: item.name.clone(),
        org_name: one.name.clone(),
        origin: Origin::Column,
        column_type: column.clone(),
        traits: *traits,
        flags: if *nullable || loosened { flags & !column_flag::NOT_NULL } else { flags },
        packet: KeptPacket::default(),
    }
}
