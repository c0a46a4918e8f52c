//! Which trees may become templates, and the work on a tree before that: literals put back, signs taken out.

use crate::ast::{
    BinaryOp, Expr, FunctionCall, InsertSource, Limit, Literal, Query, QueryBody, Select, SelectItem,
    Statement, StringLiteral, TableRef, UnaryOp,
};
use crate::walk;
use turnstile_values::value::Value;

/// Calls `visit` for the expressions of a statement's clauses. What is not visited (joins, sub-queries) is
/// not acceptable either.
fn clauses_mut(statement: &mut Statement, visit: &mut dyn FnMut(&mut Expr)) {
    match statement {
        Statement::Select(query) => {
            if let QueryBody::Select(select) = &mut query.body {
                for item in &mut select.items {
                    if let SelectItem::Expr { expr, .. } = item {
                        visit(expr);
                    }
                }
                select.condition.iter_mut().for_each(&mut *visit);
                select.group_by.iter_mut().for_each(|item| visit(&mut item.expr));
                select.having.iter_mut().for_each(&mut *visit);
            }
            query.order_by.iter_mut().for_each(|item| visit(&mut item.expr));
            limit_mut(&mut query.limit, visit);
        }
        Statement::Insert(insert) => {
            if let InsertSource::Rows(rows) = &mut insert.source {
                rows.iter_mut().flatten().for_each(&mut *visit);
            }
            insert.on_duplicate.iter_mut().for_each(|one| visit(&mut one.value));
        }
        Statement::Update(update) => {
            update.assignments.iter_mut().for_each(|one| visit(&mut one.value));
            update.condition.iter_mut().for_each(&mut *visit);
            update.order_by.iter_mut().for_each(|item| visit(&mut item.expr));
            limit_mut(&mut update.limit, visit);
        }
        Statement::Delete(delete) => {
            delete.condition.iter_mut().for_each(&mut *visit);
            delete.order_by.iter_mut().for_each(|item| visit(&mut item.expr));
            limit_mut(&mut delete.limit, visit);
        }
        _ => {}
    }
}

fn limit_mut(limit: &mut Option<Limit>, visit: &mut dyn FnMut(&mut Expr)) {
    if let Some(limit) = limit {
        visit(&mut limit.count);
        limit.offset.iter_mut().for_each(&mut *visit);
    }
}

fn below(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    let done: Result<(), std::convert::Infallible> = walk::children_mut(expr, &mut |child| {
        visit(child);
        Ok(())
    });
    let Ok(()) = done;
}

/// Puts literals in the places of parameters.
pub fn fill(statement: &mut Statement, values: &[Value]) {
    fn fill(expr: &mut Expr, values: &[Value]) {
        if let Expr::Parameter(at) = expr {
            if let Some(literal) = values.get(*at as usize).and_then(literal) {
                *expr = Expr::Literal(literal);
            }
            return;
        }
        below(expr, &mut |child| fill(child, values));
    }
    clauses_mut(statement, &mut |expr| fill(expr, values));
}

fn literal(value: &Value) -> Option<Literal> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok().map(Literal::Int),
        other => other
            .as_raw_bytes()
            .map(|bytes| Literal::String(StringLiteral { bytes: bytes.into(), introducer: None })),
    }
}

/// Takes minus signs before numbers out of the tree; returns which numbers had one.
pub fn take_signs(statement: &mut Statement, values: &[Value]) -> Vec<usize> {
    fn take(expr: &mut Expr, values: &[Value], negative: &mut Vec<usize>) {
        if let Expr::Unary { op: UnaryOp::Negate, operand } = expr
            && let Expr::Parameter(at) = **operand
        {
            if is_number(at, values) {
                negative.push(at as usize);
                *expr = Expr::Parameter(at);
            }
            return;
        }
        below(expr, &mut |child| take(child, values, negative));
    }
    let mut negative = Vec::new();
    clauses_mut(statement, &mut |expr| take(expr, values, &mut negative));
    negative
}

fn is_number(at: u32, values: &[Value]) -> bool {
    matches!(values.get(at as usize), Some(Value::Int(_)))
}

/// Whether a plan of the tree is right for all values of its parameters, given their types.
pub fn is_acceptable(statement: &Statement, values: &[Value]) -> bool {
    let rules = Rules { values };
    match statement {
        Statement::Select(query) => rules.query(query),
        Statement::Insert(insert) => {
            let InsertSource::Rows(rows) = &insert.source else { return false };
            insert.row_alias.is_none()
                && rows.iter().flatten().all(|value| rules.term(value))
                && insert.on_duplicate.iter().all(|one| is_plain(&one.value))
        }
        Statement::Update(update) => {
            update.with.is_none()
                && is_one_table(&update.tables)
                && update.assignments.iter().all(|one| rules.term(&one.value))
                && rules.conditions(&update.condition)
                && update.order_by.iter().all(|item| is_plain(&item.expr))
                && is_plain_limit(&update.limit)
        }
        Statement::Delete(delete) => {
            delete.with.is_none()
                && delete.targets.is_empty()
                && is_one_table(&delete.from)
                && rules.conditions(&delete.condition)
                && delete.order_by.iter().all(|item| is_plain(&item.expr))
                && is_plain_limit(&delete.limit)
        }
        _ => false,
    }
}

fn is_one_table(from: &[TableRef]) -> bool {
    matches!(from, [TableRef::Table(_)])
}

fn is_plain_limit(limit: &Option<Limit>) -> bool {
    limit.iter().all(|limit| is_plain(&limit.count) && limit.offset.iter().all(is_plain))
}

/// No parameter, and nothing whose meaning another session, another moment or another time zone may change.
fn is_plain(expr: &Expr) -> bool {
    !walk::any(expr, &|one| !match one {
        Expr::Literal(literal) => !matches!(literal, Literal::Timestamp(_)),
        Expr::Function(call) => is_plain_aggregate(call),
        Expr::Column(_)
        | Expr::Unary { .. }
        | Expr::Binary { .. }
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Is { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::Like { .. }
        | Expr::Case { .. }
        | Expr::Row(_)
        | Expr::InsertedValue(_)
        | Expr::Default(None) => true,
        _ => false,
    })
}

fn is_plain_aggregate(call: &FunctionCall) -> bool {
    call.schema.is_none()
        && call.order_by.is_empty()
        && matches!(&*call.name, "count" | "sum" | "min" | "max" | "avg")
}

struct Rules<'v> {
    values: &'v [Value],
}

impl Rules<'_> {
    fn query(&self, query: &Query) -> bool {
        let QueryBody::Select(select) = &query.body else { return false };
        query.with.is_none()
            && query.into.is_empty()
            && self.select(select)
            && query.order_by.iter().all(|item| is_plain(&item.expr))
            && is_plain_limit(&query.limit)
    }

    fn select(&self, select: &Select) -> bool {
        let item_is_plain = |item: &SelectItem| match item {
            SelectItem::Wildcard { .. } => true,
            SelectItem::Expr { expr, .. } => is_plain(expr),
        };
        !select.with_rollup
            && select.windows.is_empty()
            && is_one_table(&select.from)
            && select.items.iter().all(item_is_plain)
            && self.conditions(&select.condition)
            && select.group_by.iter().all(|item| is_plain(&item.expr))
            && select.having.iter().all(is_plain)
    }

    fn conditions(&self, condition: &Option<Expr>) -> bool {
        condition.iter().all(|one| self.condition(one))
    }

    /// A condition whose truth is worked out from the values alone.
    fn condition(&self, expr: &Expr) -> bool {
        match expr {
            Expr::And(list) | Expr::Or(list) => list.iter().all(|one| self.condition(one)),
            Expr::Unary { op: UnaryOp::Not, operand } => self.condition(operand),
            Expr::Binary { op, left, right } if op.is_comparison() => self.term(left) && self.term(right),
            Expr::Between { operand, low, high, .. } => {
                self.term(operand) && self.term(low) && self.term(high)
            }
            Expr::InList { operand, list, .. } => {
                // What the candidates of anything but a column are read as is told of when they are planned.
                let of_column = matches!(**operand, Expr::Column(_));
                is_plain(operand) && list.iter().all(|one| of_column && self.is_simple(one) || is_plain(one))
            }
            Expr::Like { operand, pattern, escape: None, .. } => is_plain(operand) && self.is_simple(pattern),
            other => is_plain(other),
        }
    }

    fn is_simple(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Parameter(_)) || is_plain(expr)
    }

    /// A value as it is compared, stored or assigned: a parameter, a sum of such, or nothing with a
    /// parameter.
    fn term(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Parameter(_)) || self.number(expr)
    }

    fn number(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Parameter(at) => is_number(*at, self.values),
            Expr::Binary { op: BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, left, right } => {
                self.number(left) && self.number(right)
            }
            other => is_plain(other),
        }
    }
}
