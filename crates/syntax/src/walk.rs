//! Walks over expression trees. Sub-queries are leaves here: whoever cares about them looks into them itself.

use crate::ast::{Expr, Over};
use turnstile_values::pulse;

/// Calls `visit` for each direct operand of `expr`.
pub fn children<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match expr {
        Expr::Literal(_)
        | Expr::Column(_)
        | Expr::Parameter(_)
        | Expr::UserVariable(_)
        | Expr::SystemVariable { .. }
        | Expr::Subquery(_)
        | Expr::Exists(_)
        | Expr::InsertedValue(_)
        | Expr::Default(_) => {}
        Expr::Unary { operand, .. }
        | Expr::Is { operand, .. }
        | Expr::InSubquery { operand, .. }
        | Expr::Quantified { operand, .. }
        | Expr::Cast { operand, .. }
        | Expr::ConvertUsing { operand, .. }
        | Expr::Extract { operand, .. }
        | Expr::Collate { operand, .. }
        | Expr::Assign { value: operand, .. } => visit(operand),
        Expr::Binary { left, right, .. } => [left, right].into_iter().for_each(|one| visit(one)),
        Expr::And(list) | Expr::Or(list) | Expr::Row(list) => {
            list.iter().take_while(|_| pulse::step().is_ok()).for_each(visit);
        }
        Expr::Between { operand, low, high, .. } => {
            [operand, low, high].into_iter().for_each(|one| visit(one))
        }
        Expr::InList { operand, list, .. } => {
            visit(operand);
            list.iter().take_while(|_| pulse::step().is_ok()).for_each(visit);
        }
        Expr::Like { operand, pattern, escape, .. } => {
            visit(operand);
            visit(pattern);
            escape.iter().for_each(|one| visit(one));
        }
        Expr::Regexp { operand, pattern, .. } => [operand, pattern].into_iter().for_each(|one| visit(one)),
        Expr::Case { operand, branches, otherwise } => {
            operand.iter().for_each(|one| visit(one));
            for (when, then) in branches {
                visit(when);
                visit(then);
            }
            otherwise.iter().for_each(|one| visit(one));
        }
        Expr::Function(call) => {
            call.arguments.iter().take_while(|_| pulse::step().is_ok()).for_each(&mut *visit);
            call.order_by.iter().for_each(|item| visit(&item.expr));
            if let Some(Over::Window(window)) = call.over.as_deref() {
                window.each(visit);
            }
        }
        Expr::DateArithmetic { date, amount, .. } => [date, amount].into_iter().for_each(|one| visit(one)),
        Expr::TimestampDiff { from, to, .. } => [from, to].into_iter().for_each(|one| visit(one)),
        Expr::Trim { remove, operand, .. } => {
            remove.iter().for_each(|one| visit(one));
            visit(operand);
        }
    }
}

/// Calls `visit` for each direct operand of `expr`, to change it.
pub fn children_mut<E>(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr) -> Result<(), E>) -> Result<(), E> {
    match expr {
        Expr::Literal(_)
        | Expr::Column(_)
        | Expr::Parameter(_)
        | Expr::UserVariable(_)
        | Expr::SystemVariable { .. }
        | Expr::Subquery(_)
        | Expr::Exists(_)
        | Expr::InsertedValue(_)
        | Expr::Default(_) => Ok(()),
        Expr::Unary { operand, .. }
        | Expr::Is { operand, .. }
        | Expr::InSubquery { operand, .. }
        | Expr::Quantified { operand, .. }
        | Expr::Cast { operand, .. }
        | Expr::ConvertUsing { operand, .. }
        | Expr::Extract { operand, .. }
        | Expr::Collate { operand, .. }
        | Expr::Assign { value: operand, .. } => visit(operand),
        Expr::Binary { left, right, .. } => [left, right].into_iter().try_for_each(|one| visit(one)),
        Expr::And(list) | Expr::Or(list) | Expr::Row(list) => list.iter_mut().try_for_each(visit),
        Expr::Between { operand, low, high, .. } => {
            [operand, low, high].into_iter().try_for_each(|one| visit(one))
        }
        Expr::InList { operand, list, .. } => {
            visit(operand)?;
            list.iter_mut().try_for_each(visit)
        }
        Expr::Like { operand, pattern, escape, .. } => {
            visit(operand)?;
            visit(pattern)?;
            escape.iter_mut().try_for_each(|one| visit(one))
        }
        Expr::Regexp { operand, pattern, .. } => {
            [operand, pattern].into_iter().try_for_each(|one| visit(one))
        }
        Expr::Case { operand, branches, otherwise } => {
            operand.iter_mut().try_for_each(|one| visit(one))?;
            for (when, then) in branches {
                visit(when)?;
                visit(then)?;
            }
            otherwise.iter_mut().try_for_each(|one| visit(one))
        }
        Expr::Function(call) => {
            call.arguments.iter_mut().try_for_each(&mut *visit)?;
            call.order_by.iter_mut().try_for_each(|item| visit(&mut item.expr))?;
            match call.over.as_deref_mut() {
                Some(Over::Window(window)) => window.each_mut(visit),
                _ => Ok(()),
            }
        }
        Expr::DateArithmetic { date, amount, .. } => {
            [date, amount].into_iter().try_for_each(|one| visit(one))
        }
        Expr::TimestampDiff { from, to, .. } => [from, to].into_iter().try_for_each(|one| visit(one)),
        Expr::Trim { remove, operand, .. } => {
            remove.iter_mut().try_for_each(|one| visit(one))?;
            visit(operand)
        }
    }
}

/// Calls `visit` for `expr` and everything in it.
pub fn each(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    children(expr, &mut |child| each(child, visit));
}

/// Whether `test` holds for `expr` or anything in it.
pub fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    if test(expr) {
        return true;
    }
    let mut found = false;
    children(expr, &mut |child| found = found || any(child, test));
    found
}

/// Takes a condition apart at its ANDs.
pub fn conjuncts(expr: Expr, into: &mut Vec<Expr>) {
    match expr {
        Expr::And(list) => list.into_iter().for_each(|one| conjuncts(one, into)),
        other => into.push(other),
    }
}
