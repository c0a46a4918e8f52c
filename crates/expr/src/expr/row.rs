//! Comparisons of rows: `(a, b) = (c, d)`, `(a, b) < (SELECT ..)`, `(a, (b, c)) IN (..)`. They are taken
//! apart into comparisons of values.

use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::{Meeting, Party, Purpose};

use super::build::{Builder, truth};
use super::parameter::{Hold, ParameterKind};
use super::{CompareOp, Expr, Typed};
use crate::expr::{condition, is_text, open};

/// One operand of a comparison.
#[derive(Clone)]
enum Side<'e> {
    /// As written.
    Written(&'e ast::Expr),
    /// A column of a sub-query's row.
    Bound(Typed),
}

/// A comparison of rows; None if the operands are single values.
pub(super) fn row_comparison(
    builder: &mut Builder<'_>,
    op: CompareOp,
    left: &ast::Expr,
    right: &ast::Expr,
) -> SqlResult<Option<Typed>> {
    if !may_be_row(left) && !may_be_row(right) {
        return Ok(None);
    }
    match (sides(builder, left)?, sides(builder, right)?) {
        (None, None) => Ok(None),
        (Some(left), Some(right)) if left.len() == right.len() => {
            compare_rows(builder, op, &left, &right).map(|expr| Some(truth(expr, true)))
        }
        (left, _) => Err(SqlError::operand_columns(left.map_or(1, |parts| parts.len()))),
    }
}

/// `row IN (row, ..)`; None if the operand is a single value.
pub(super) fn row_in_list(
    builder: &mut Builder<'_>,
    operand: &ast::Expr,
    list: &[ast::Expr],
    negated: bool,
) -> SqlResult<Option<Typed>> {
    if !may_be_row(operand) {
        return Ok(None);
    }
    let Some(parts) = sides(builder, operand)? else { return Ok(None) };
    let wrong = || SqlError::operand_columns(parts.len());
    let mut rows = Vec::with_capacity(list.len());
    for candidate in list {
        let row = sides(builder, candidate)?.filter(|row| row.len() == parts.len());
        rows.push(row.ok_or_else(wrong)?);
    }
    let plain = |side: &Side<'_>| matches!(side, Side::Written(one) if !may_be_row(one));
    if parts.iter().chain(rows.iter().flatten()).all(plain) {
        let operand = build_sides(builder, &parts)?;
        let list = rows.iter().map(|row| build_sides(builder, row)).collect::<SqlResult<Vec<_>>>()?;
        for (row, bound) in rows.iter().zip(&list) {
            settle_sides(builder, (&parts, &operand), (row, bound));
        }
        if let Some(collation) = one_collation(builder, &operand, &list)? {
            let bare = |row: Vec<Typed>| row.into_iter().map(|part| part.expr).collect::<Vec<_>>();
            let (operand, list) = (bare(operand), list.into_iter().map(bare).collect());
            return Ok(Some(truth(Expr::InRows { operand, list, collation, negated }, true)));
        }
    }
    let equal = |row: &Vec<Side<'_>>| compare_rows(builder, CompareOp::Equal, &parts, row);
    let any = Expr::Or(rows.iter().map(equal).collect::<SqlResult<_>>()?);
    Ok(Some(truth(if negated { Expr::Not(Box::new(any)) } else { any }, true)))
}

/// The one collation that all texts of these rows are compared by as they are; None if there are several,
/// or texts have to be converted.
fn one_collation(
    builder: &Builder<'_>,
    operand: &[Typed],
    list: &[Vec<Typed>],
) -> SqlResult<Option<Collation>> {
    let mut common = None;
    for (left, right) in list.iter().flat_map(|row| operand.iter().zip(row)) {
        if !is_text(left) || !is_text(right) {
            continue;
        }
        let parts = [Party::of(&left.kind), Party::of(&right.kind)];
        let connection = builder.settings.connection_collation;
        let meeting = Meeting { operation: "=", purpose: Purpose::Operator, connection };
        let agreed = meeting.agree(&parts)?.collation;
        let alike = parts.iter().all(|part| part.collation.set() == agreed.set());
        if !alike || *common.get_or_insert(agreed) != agreed {
            return Ok(None);
        }
    }
    Ok(Some(common.unwrap_or(Collation::Binary)))
}

/// The values of a row; None if it is a single value.
fn sides<'e>(builder: &mut Builder<'_>, expr: &'e ast::Expr) -> SqlResult<Option<Vec<Side<'e>>>> {
    match expr {
        ast::Expr::Row(parts) => Ok(Some(parts.iter().map(Side::Written).collect())),
        ast::Expr::Subquery(_) => {
            let columns = builder.resolver.row_subquery(expr)?;
            Ok((columns.len() > 1).then(|| columns.into_iter().map(Side::Bound).collect()))
        }
        _ => Ok(None),
    }
}

fn build_sides(builder: &mut Builder<'_>, sides: &[Side<'_>]) -> SqlResult<Vec<Typed>> {
    let one = |side: &Side<'_>| match side {
        Side::Written(expr) => builder.build(expr),
        Side::Bound(typed) => Ok(typed.clone()),
    };
    sides.iter().map(one).collect()
}

/// What the `?` of two rows are, of which one part after the other is compared.
fn settle_sides(builder: &Builder<'_>, left: (&[Side<'_>], &[Typed]), right: (&[Side<'_>], &[Typed])) {
    if !builder.resolver.derives() {
        return;
    }
    let pairs = left.0.iter().zip(left.1).zip(right.0.iter().zip(right.1));
    for ((left, one), (right, other)) in pairs {
        if let (Side::Written(left), Side::Written(right)) = (left, right) {
            let bound = [one.clone(), other.clone()];
            open::settle(builder, Hold::Beside, &[left, right], &bound, Some(ParameterKind::Text));
        }
    }
}

fn compare_sides(
    builder: &mut Builder<'_>,
    op: CompareOp,
    left: &Side<'_>,
    right: &Side<'_>,
) -> SqlResult<Expr> {
    let (left, right) = match (left, right) {
        (Side::Written(left), Side::Written(right)) => {
            return Ok(condition::comparison(builder, op, left, right)?.expr);
        }
        (Side::Written(left), Side::Bound(right)) => (builder.build(left)?, right.clone()),
        (Side::Bound(left), Side::Written(right)) => (left.clone(), builder.build(right)?),
        (Side::Bound(left), Side::Bound(right)) => (left.clone(), right.clone()),
    };
    Ok(condition::compare_typed(builder, op, left, right)?.expr)
}

fn compare_rows(
    builder: &mut Builder<'_>,
    op: CompareOp,
    left: &[Side<'_>],
    right: &[Side<'_>],
) -> SqlResult<Expr> {
    let mut pairs = left.iter().zip(right);
    match op {
        CompareOp::Equal | CompareOp::NullSafeEqual => {
            let parts = pairs.map(|(one, other)| compare_sides(builder, op, one, other));
            Ok(Expr::And(parts.collect::<SqlResult<_>>()?))
        }
        CompareOp::NotEqual => {
            let parts = pairs.map(|(one, other)| compare_sides(builder, op, one, other));
            Ok(Expr::Or(parts.collect::<SqlResult<_>>()?))
        }
        _ => {
            // (a, b) < (c, d)  is  a < c OR (a = c AND b < d)
            let strict = match op {
                CompareOp::LessOrEqual => CompareOp::Less,
                CompareOp::GreaterOrEqual => CompareOp::Greater,
                other => other,
            };
            let Some((one, other)) = pairs.next_back() else { return Ok(Expr::int(1)) };
            let mut result = compare_sides(builder, op, one, other)?;
            for (one, other) in pairs.rev() {
                let equal = compare_sides(builder, CompareOp::Equal, one, other)?;
                let first = compare_sides(builder, strict, one, other)?;
                result = Expr::Or(vec![first, Expr::And(vec![equal, result])]);
            }
            Ok(result)
        }
    }
}

fn may_be_row(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Row(_) | ast::Expr::Subquery(_))
}
