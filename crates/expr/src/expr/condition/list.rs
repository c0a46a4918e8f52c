//! From syntax to IN with a list of candidates.

use turnstile_syntax::ast;
use turnstile_values::error::SqlResult;
use turnstile_values::mixing::Purpose;
use turnstile_values::types::ColumnType;

use super::super::build::{Builder, any_nullable, truth};
use super::super::class::is_moment;
use super::super::literal::number_of_hex;
use super::super::own_digits::with_all_of_average;
use super::super::parameter::{Hold, ParameterKind};
use super::super::{CompareOp, Expr, Typed};
use super::compared::{agreed, texts_beside_moments};
use super::comparison;
use crate::expr::{build, candidates, class, mixed_list, offset, open, row};
use crate::functions;

/// A hex literal among numbers and others: beside each number it is a number, beside each other value
/// bytes.
fn hex_in_list(
    builder: &mut Builder<'_>,
    operand: &ast::Expr,
    list: &[ast::Expr],
    negated: bool,
) -> SqlResult<Option<Typed>> {
    let kinds = builder.build_all(list)?;
    let number = |one: &Typed| one.kind.column.is_numeric();
    let text = |one: &Typed| one.kind.column.is_string() && one.kind.column != ColumnType::Json;
    let moment = |one: &Typed| one.kind.column.is_temporal();
    if !(kinds.iter().any(number)
        && kinds.iter().any(|one| text(one) || moment(one))
        && kinds.iter().all(|one| number(one) || text(one) || moment(one)))
    {
        return Ok(None);
    }
    let mut equal = Vec::with_capacity(list.len());
    for (candidate, kind) in list.iter().zip(&kinds) {
        // A list of one would refuse a text that is no date.
        let alike = [candidate.clone(), candidate.clone()];
        equal.push(match moment(kind) {
            true => in_list(builder, operand, &alike, false)?.expr,
            false => comparison(builder, CompareOp::Equal, operand, candidate)?.expr,
        });
    }
    let any = Expr::Or(equal);
    Ok(Some(truth(if negated { Expr::Not(Box::new(any)) } else { any }, true)))
}

pub(super) fn in_list(
    builder: &mut Builder<'_>,
    operand: &ast::Expr,
    list: &[ast::Expr],
    negated: bool,
) -> SqlResult<Typed> {
    if let Some(rows) = row::row_in_list(builder, operand, list, negated)? {
        return Ok(rows);
    }
    if let [only] = list {
        let Typed { expr, kind } = comparison(builder, CompareOp::Equal, operand, only)?;
        let expr = if negated { Expr::Not(Box::new(expr)) } else { expr };
        return Ok(Typed { expr, kind });
    }
    let written = operand;
    if number_of_hex(operand).is_some()
        && let Some(one_by_one) = hex_in_list(builder, operand, list, negated)?
    {
        return Ok(one_by_one);
    }
    let operand = if number_of_hex(operand).is_some() {
        let parts: Vec<&ast::Expr> = std::iter::once(operand).chain(list).collect();
        build::build_alike(builder, &parts)?.swap_remove(0)
    } else {
        builder.build(operand)?
    };
    let numeric = operand.kind.column.is_numeric();
    let mut parts = Vec::with_capacity(list.len() + 1);
    for candidate in list {
        parts.push(if numeric { build::plain(builder, candidate)? } else { builder.build(candidate)? });
    }
    if builder.resolver.derives() {
        let written: Vec<&ast::Expr> = std::iter::once(written).chain(list).collect();
        let bound: Vec<Typed> = std::iter::once(&operand).chain(&parts).cloned().collect();
        open::settle(builder, Hold::Beside, &written, &bound, Some(ParameterKind::Text));
    }
    let is_document = |part: &Typed| part.kind.column == ColumnType::Json;
    if is_document(&operand) || parts.iter().any(is_document) {
        parts.insert(0, operand);
        parts = parts.into_iter().map(functions::as_order).collect();
    } else {
        let operands = std::iter::once(&operand).chain(&parts).collect::<Vec<_>>();
        builder.resolver.compare(crate::expr::Meeting::List, &operands);
        texts_beside_moments(builder, " IN ", &operands)?;
        if is_moment(&operand.kind.column) && operand.kind.column != ColumnType::Date {
            parts = parts.into_iter().map(|one| offset::offset_dropped(builder, one)).collect();
            parts = crate::expr::offset::told_before(&operand, parts);
        }
        crate::expr::candidates::without_days(&operand, &mut parts);
        if parts.len() > 1 && parts.iter().all(|part| part.expr.is_constant()) {
            parts = parts.into_iter().map(crate::expr::parameter::in_list).collect();
        }
        let operand = class::in_class(operand, &mut parts);
        let operand = candidates::candidates_read(builder, written, operand, &mut parts);
        let operand = mixed_list::mixed_candidates(builder, written, operand, &mut parts);
        if crate::expr::mixed_list::is_of_two_classes(&operand, &parts) {
            return mixed_list::in_two_lists(builder, &operand, parts, negated);
        }
        parts.insert(0, operand);
    }
    let parts = parts.into_iter().map(with_all_of_average).collect();
    // Beside a number all are numbers.
    let purpose = if numeric { Purpose::Operator } else { Purpose::Comparison };
    let (parts, collation) = agreed(builder, " IN ", purpose, parts)?;
    let nullable = any_nullable(&parts);
    let mut parts = parts.into_iter().map(|part| part.expr);
    let operand = Box::new(parts.next().expect("the operand is the first"));
    Ok(truth(Expr::InList { operand, list: parts.collect(), collation, negated }, nullable))
}
