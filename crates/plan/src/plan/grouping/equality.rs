//! What WHERE and the conditions of joins set equal.

use turnstile_syntax::ast::{self, JoinKind};
use turnstile_syntax::walk;

/// An equality, with the tables (by position in the scope) on whose columns alone it tells something: those
/// that an outer join fills with NULLs. Without such it speaks of both its sides.
pub(super) struct Equality {
    pub(super) condition: ast::Expr,
    pub(super) optional: Option<(usize, usize)>,
}

/// Both sides of an equality; a list of one is one.
pub(super) fn sides(condition: &ast::Expr) -> Option<(&ast::Expr, &ast::Expr)> {
    match condition {
        ast::Expr::Binary { op: ast::BinaryOp::Equal, left, right } => Some((left, right)),
        ast::Expr::InList { operand, list, negated: false } if list.len() == 1 => Some((operand, &list[0])),
        _ => None,
    }
}

/// Whether a part of an expression may have another value for the next row.
pub(super) fn varies(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Column(_) | ast::Expr::UserVariable(_) | ast::Expr::Assign { .. } => true,
        ast::Expr::Function(call) => {
            matches!(&*call.name, "rand" | "uuid" | "uuid_short" | "sleep" | "random_bytes" | "get_lock")
        }
        other => other.is_query(),
    }
}

/// Adds the conditions of joins. `seen`: tables met so far, in the order of the scope.
pub(super) fn collect_joins(
    one: &ast::TableRef,
    seen: &mut usize,
    optional: Option<(usize, usize)>,
    into: &mut Vec<Equality>,
) {
    let ast::TableRef::Join(join) = one else {
        *seen += 1;
        return;
    };
    let start = *seen;
    let width = |one: &ast::TableRef| count_tables(one);
    let middle = start + width(&join.left);
    let end = middle + width(&join.right);
    let (left, right) = match join.kind {
        JoinKind::Inner | JoinKind::Straight => (optional, optional),
        JoinKind::Left => (optional, Some((middle, end))),
        JoinKind::Right => (Some((start, middle)), optional),
    };
    collect_joins(&join.left, seen, left, into);
    collect_joins(&join.right, seen, right, into);
    if let ast::JoinCondition::On(condition) = &join.condition {
        let told = match join.kind {
            JoinKind::Inner | JoinKind::Straight => optional,
            JoinKind::Left => Some((middle, end)),
            JoinKind::Right => Some((start, middle)),
        };
        let mut list = Vec::new();
        walk::conjuncts(condition.clone(), &mut list);
        into.extend(list.into_iter().map(|condition| Equality { condition, optional: told }));
    }
}

/// Whether an outer join may put NULLs for each table's columns, in the order of the scope.
pub(super) fn collect_optional(one: &ast::TableRef, inside: bool, into: &mut Vec<bool>) {
    match one {
        ast::TableRef::Join(join) => {
            collect_optional(&join.left, inside || join.kind == JoinKind::Right, into);
            collect_optional(&join.right, inside || join.kind == JoinKind::Left, into);
        }
        ast::TableRef::Table(_) | ast::TableRef::Derived { .. } => into.push(inside),
    }
}

fn count_tables(one: &ast::TableRef) -> usize {
    match one {
        ast::TableRef::Join(join) => count_tables(&join.left) + count_tables(&join.right),
        ast::TableRef::Table(_) | ast::TableRef::Derived { .. } => 1,
    }
}
