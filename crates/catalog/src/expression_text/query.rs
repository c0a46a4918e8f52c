//! Writes a query in its canonical text: that of a view, all of whose names are qualified.

use std::fmt::Write;

use turnstile_syntax::ast::{
    Expr, Frame, FrameBound, FunctionCall, IndexHint, IndexHintKind, Join, JoinCondition, JoinKind, Literal,
    Name, OrderItem, Over, Quantifier, Query, QueryBody, Select, SelectItem, SetOperator, TableRef, Window,
    With, unit_text,
};

use super::json_table::write_json_table;
use super::output::Output;
use super::quote_in_expression;
use super::write::{operator, printed_name, write_expr, write_group, write_list};

/// `(list)` of names.
fn write_names(names: &[Name], out: &mut Output) {
    out.push('(');
    for (nth, name) in names.iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        out.name(name);
    }
    out.push(')');
}

fn write_order(list: &[OrderItem], out: &mut Output) {
    for (nth, item) in list.iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        write_expr(&item.expr, out);
        if item.descending {
            out.push_str(" DESC");
        }
    }
}

pub(super) fn write_query(query: &Query, out: &mut Output) {
    query.with.iter().for_each(|with| write_with(with, out));
    match &query.body {
        QueryBody::Select(select) => write_select(select, out),
        QueryBody::SetOperation { first, rest } => {
            write_operand(first, out);
            for (operator, one) in rest {
                out.push_str(match operator {
                    SetOperator::UnionAll => " union all ",
                    SetOperator::UnionDistinct => " union ",
                    SetOperator::ExceptAll => " except all ",
                    SetOperator::ExceptDistinct => " except ",
                    SetOperator::IntersectAll => " intersect all ",
                    SetOperator::IntersectDistinct => " intersect ",
                });
                write_operand(one, out);
            }
        }
        QueryBody::Values(rows) => {
            out.push_str("values ");
            for (nth, row) in rows.iter().enumerate() {
                out.push_str(if nth > 0 { ",row" } else { "row" });
                write_group(row, ",", out);
            }
        }
        QueryBody::Table(name) => {
            out.push_str("table ");
            out.table(name);
        }
    }
    if !query.order_by.is_empty() {
        out.push_str(" order by ");
        write_order(&query.order_by, out);
    }
    if let Some(limit) = &query.limit {
        out.push_str(" limit ");
        if let Some(offset) = &limit.offset {
            write_expr(offset, out);
            out.push(',');
        }
        write_expr(&limit.count, out);
    }
}

/// One of the queries of a set operation; with parentheses unless it is a block alone.
fn write_operand(query: &Query, out: &mut Output) {
    let alone = matches!(query.body, QueryBody::Select(_) | QueryBody::Values(_) | QueryBody::Table(_))
        && query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none();
    if alone {
        return write_query(query, out);
    }
    write_inner(query, out);
}

/// `(query)`
fn write_inner(query: &Query, out: &mut Output) {
    out.push('(');
    write_query(query, out);
    out.push(')');
}

fn write_with(with: &With, out: &mut Output) {
    out.push_str(if with.recursive { "with recursive " } else { "with " });
    for (nth, table) in with.tables.iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        out.name(&table.name);
        out.push(' ');
        if !table.columns.is_empty() {
            write_names(&table.columns, out);
            out.push(' ');
        }
        out.push_str("as ");
        write_inner(&table.query, out);
    }
    out.push(' ');
}

fn write_select(select: &Select, out: &mut Output) {
    out.push_str("select ");
    if select.distinct {
        out.push_str("distinct ");
    }
    if select.straight_join {
        out.push_str("straight_join ");
    }
    for (nth, item) in select.items.iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        write_item(item, out);
    }
    for (nth, table) in select.from.iter().enumerate() {
        out.push_str(if nth > 0 { " join " } else { " from " });
        write_table(table, out);
    }
    if let Some(condition) = &select.condition {
        out.push_str(" where ");
        write_expr(condition, out);
    }
    if !select.group_by.is_empty() {
        out.push_str(" group by ");
        write_order(&select.group_by, out);
        out.push_str(if select.with_rollup { " with rollup" } else { "" });
    }
    if let Some(having) = &select.having {
        out.push_str(" having ");
        write_expr(having, out);
    }
    for (nth, (name, window)) in select.windows.iter().enumerate() {
        out.push_str(if nth > 0 { "," } else { " window " });
        out.name(name);
        out.push_str(" AS ");
        write_window(window, out);
        out.push(' ');
    }
}

fn write_item(item: &SelectItem, out: &mut Output) {
    match item {
        SelectItem::Expr { expr, name, aliased } => {
            write_expr(expr, out);
            if *aliased {
                out.push_str(" AS ");
                out.name(name);
            }
        }
        SelectItem::Wildcard { .. } => out.push('*'),
    }
}

fn write_table(table: &TableRef, out: &mut Output) {
    match table {
        TableRef::Table(factor) => {
            out.table(&factor.name);
            if let Some(alias) = &factor.alias {
                out.push(' ');
                out.name(alias);
            }
            factor.hints.iter().for_each(|hint| write_hint(hint, out));
        }
        TableRef::Derived { query, alias, json_table: Some(table), .. } => {
            out.push_str("json_table(");
            if let QueryBody::Select(select) = &query.body
                && let [SelectItem::Expr { expr, .. }] = &select.items[..]
            {
                write_expr(expr, out);
            }
            out.push_str(", ");
            write_json_table(table, out);
            out.push_str(") ");
            out.name(alias);
        }
        TableRef::Derived { query, alias, columns, lateral, json_table: None } => {
            if *lateral {
                out.push_str("lateral ");
            }
            write_inner(query, out);
            out.push(' ');
            out.name(alias);
            if !columns.is_empty() {
                out.push(' ');
                write_names(columns, out);
            }
        }
        TableRef::Join(join) => write_join(join, out),
    }
}

fn write_join(join: &Join, out: &mut Output) {
    out.push('(');
    write_table(&join.left, out);
    let natural = join.condition == JoinCondition::Natural;
    out.push_str(if natural { " natural" } else { "" });
    out.push_str(match join.kind {
        JoinKind::Inner => " join ",
        JoinKind::Left => " left join ",
        JoinKind::Right => " right join ",
        JoinKind::Straight => " straight_join ",
    });
    write_table(&join.right, out);
    match &join.condition {
        JoinCondition::On(condition) => {
            out.push_str(" on(");
            write_expr(condition, out);
            out.push(')');
        }
        JoinCondition::Using(names) => {
            out.push_str(" using ");
            write_names(names, out);
        }
        JoinCondition::None | JoinCondition::Natural => {}
    }
    out.push(')');
}

fn write_hint(hint: &IndexHint, out: &mut Output) {
    out.push_str(match hint.kind {
        IndexHintKind::Use => " USE INDEX ",
        IndexHintKind::Force => " FORCE INDEX ",
        IndexHintKind::Ignore => " IGNORE INDEX ",
    });
    write_names(&hint.indexes, out);
}

/// What asks a query.
pub(super) fn write_asked(expr: &Expr, out: &mut Output) {
    match expr {
        Expr::Subquery(query) => write_inner(query, out),
        Expr::Exists(query) => {
            out.push_str("exists");
            write_inner(query, out);
        }
        Expr::InSubquery { operand, query, negated } => {
            out.push('(');
            write_expr(operand, out);
            out.push_str(if *negated { " not in " } else { " in " });
            write_inner(query, out);
            out.push(')');
        }
        Expr::Quantified { operand, op, quantifier, query } => {
            out.push('(');
            write_expr(operand, out);
            let word = if *quantifier == Quantifier::Any { "any" } else { "all" };
            let _ = write!(out, " {} {word} ", operator(*op));
            write_inner(query, out);
            out.push(')');
        }
        _ => {}
    }
}

/// A call with all that may stand in one.
pub(super) fn write_function(call: &FunctionCall, out: &mut Output) {
    if &*call.name == "get_format"
        && let [Expr::Literal(Literal::String(kind)), format] = &call.arguments[..]
    {
        let _ = write!(out, "get_format({}, ", String::from_utf8_lossy(&kind.bytes));
        write_expr(format, out);
        return out.push(')');
    }
    out.push_str(printed_name(&call.name));
    out.push_str(if call.distinct { "(distinct " } else { "(" });
    if call.star {
        out.push('0');
    }
    write_list(&call.arguments, ",", out);
    if &*call.name == "group_concat" {
        if !call.order_by.is_empty() {
            out.push_str(" order by ");
            write_order(&call.order_by, out);
        }
        let separator = call.separator.as_deref().map_or(",".into(), String::from_utf8_lossy);
        let _ = write!(out, " separator {}", quote_in_expression(&separator));
    }
    out.push(')');
    match call.over.as_deref() {
        None => {}
        Some(Over::Named(name)) => {
            out.push_str(" OVER ");
            out.name(name);
        }
        Some(Over::Window(window)) => {
            out.push_str(" OVER ");
            write_window(window, out);
            out.push(' ');
        }
    }
}

fn write_window(window: &Window, out: &mut Output) {
    out.push('(');
    if let Some(base) = &window.base {
        out.name(base);
        out.push(' ');
    }
    if !window.partition.is_empty() {
        out.push_str("PARTITION BY ");
        write_list(&window.partition, ",", out);
        out.push(' ');
    }
    if !window.order.is_empty() {
        out.push_str("ORDER BY ");
        write_order(&window.order, out);
        out.push(' ');
    }
    if let Some(Frame { by_value, start, end }) = &window.frame {
        out.push_str(if *by_value { "RANGE BETWEEN " } else { "ROWS BETWEEN " });
        write_bound(start, out);
        out.push_str(" AND ");
        write_bound(end, out);
    }
    out.push(')');
}

fn write_bound(bound: &FrameBound, out: &mut Output) {
    let (amount, unit, side) = match bound {
        FrameBound::First => return out.push_str("UNBOUNDED PRECEDING"),
        FrameBound::Last => return out.push_str("UNBOUNDED FOLLOWING"),
        FrameBound::Current => return out.push_str("CURRENT ROW"),
        FrameBound::Before(amount, unit) => (amount, unit, "PRECEDING"),
        FrameBound::After(amount, unit) => (amount, unit, "FOLLOWING"),
    };
    if unit.is_some() {
        out.push_str("INTERVAL ");
    }
    write_expr(amount, out);
    if let Some(unit) = unit {
        let _ = write!(out, " {}", unit_text(*unit));
    }
    let _ = write!(out, " {side}");
}
