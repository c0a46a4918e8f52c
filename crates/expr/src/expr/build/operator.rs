//! Operators of one and of two operands, and dates plus or minus an INTERVAL.

use turnstile_syntax::ast::{self, BinaryOp, UnaryOp};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::Traits;
use turnstile_values::types::{ColumnType, ExprType};

use super::super::class::with_all_digits;
use super::super::condition::exactly;
use super::super::infer::{arithmetic_op, arithmetic_type, counted};
use super::super::literal::{as_real, bind_literal, negated_integer, negated_literal, number_of_hex};
use super::super::misfit::told_once;
use super::super::parameter::{Hold, ParameterKind};
use super::super::{ArithmeticOp, CompareOp, Expr, Source, Typed, own_digits};
use super::call::source_of;
use super::wanted::{number, number_for, temporal};
use super::{Builder, bind_condition, boxed, truth};
use crate::expr::{bits, condition, open};
use crate::functions::{self, Wanted};

/// Binds an operator of one operand.
pub fn unary(builder: &mut Builder<'_>, op: UnaryOp, operand: &ast::Expr) -> SqlResult<Typed> {
    if op == UnaryOp::Negate
        && let ast::Expr::Literal(ast::Literal::Int(number)) = operand
        && *number <= 1 << 63
    {
        let value = (*number as i64).wrapping_neg();
        let mut typed = bind_literal(&ast::Literal::Int(*number), builder.settings)?;
        typed.expr = Expr::int(value);
        if let ColumnType::Int { unsigned, .. } = &mut typed.kind.column {
            *unsigned = false;
        }
        return Ok(typed);
    }
    open::settle_unary(builder, op, operand);
    let written = operand;
    let operand = match op {
        UnaryOp::Binary => builder.build(operand)?,
        UnaryOp::Not => told_once(bind_condition(builder, operand)?),
        UnaryOp::BitNot => number_for(builder, operand, Wanted::Integer)?,
        UnaryOp::Negate => match number_of_hex(operand) {
            Some(number) => as_real(number),
            None => number(builder, operand)?,
        },
    };
    let operand = if op == UnaryOp::Negate { with_all_digits(operand) } else { operand };
    if op == UnaryOp::Negate
        && let Some(negated) = negated_literal(&operand)
    {
        return Ok(negated);
    }
    let nullable = operand.kind.nullable;
    Ok(match op {
        UnaryOp::Not => truth(Expr::Not(boxed(operand)), nullable),
        UnaryOp::BitNot => match bits::bytes_inverted(operand) {
            Ok(bytes) => bytes,
            Err(number) => Typed {
                expr: Expr::BitNot(number),
                kind: ExprType::new(functions::any_whole(true), nullable),
            },
        },
        UnaryOp::Binary => {
            let bytes = functions::bytes_of_text(&operand.kind.column);
            let operand = functions::in_own_bytes(operand);
            let to = functions::bytes_type(bytes);
            Typed {
                expr: Expr::Coerce { operand: Box::new(operand.expr), to: to.clone() },
                kind: ExprType::new(to, nullable),
            }
        }
        UnaryOp::Negate => {
            let column = negated_type(&operand.kind.column);
            let source = Some(Box::new(Source::of_negative(written, &*builder.resolver)));
            let expr = Expr::Negate { operand: Box::new(operand.expr), source };
            Typed { expr, kind: ExprType::new(column, nullable) }
        }
    })
}

/// The type of a number with the other sign.
fn negated_type(kind: &ColumnType) -> ColumnType {
    match kind {
        ColumnType::Decimal { precision, scale, .. } => {
            ColumnType::Decimal { precision: *precision, scale: *scale, unsigned: false, zerofill: false }
        }
        kind if kind.is_integer() => negated_integer(kind),
        kind if kind.is_temporal() || *kind == ColumnType::Null => crate::expr::moment_as_real(kind),
        kind => match arithmetic_type(ArithmeticOp::Subtract, &ColumnType::BIGINT, kind, 0) {
            ColumnType::Double { digits: Some((_, scale)), .. } => crate::expr::double_of_scale(scale),
            other => other,
        },
    }
}

pub(super) fn binary(
    builder: &mut Builder<'_>,
    written: BinaryOp,
    left: &ast::Expr,
    right: &ast::Expr,
) -> SqlResult<Typed> {
    if let Some(op) = arithmetic_op(written) {
        let source =
            (!op.is_of_bits()).then(|| Box::new(Source::of_pair(written, left, right, &*builder.resolver)));
        let wanted = match op {
            ArithmeticOp::IntegerDivide => Wanted::Decimal,
            op if op.is_of_bits() => Wanted::Integer,
            _ => Wanted::Double,
        };
        let mut parts = Vec::with_capacity(2);
        for side in [left, right] {
            parts.push(with_all_digits(number_for(builder, side, wanted)?));
        }
        // A text is read, and told of, before a document behind it is.
        if functions::reads_document(&parts[1].expr) && parts[0].kind.column.is_character() {
            let text = parts.swap_remove(0);
            parts.insert(0, functions::text_as_number(text, wanted));
        }
        open::settle_operation(builder, op, [left, right], &parts);
        let [left, right] = match op.is_of_bits() {
            false => exactly(parts),
            true => match bits::bits_of_bytes(builder, op, [left, right], exactly(parts))? {
                Ok(bytes) => return Ok(bytes),
                Err(numbers) => numbers,
            },
        };
        let digits = builder.settings.division_digits;
        let column = arithmetic_type(op, &counted(&left), &counted(&right), digits);
        let divides = matches!(op, ArithmeticOp::Divide | ArithmeticOp::IntegerDivide | ArithmeticOp::Modulo);
        let nullable = divides || left.kind.nullable || right.kind.nullable;
        let expr = own_digits::computed(op, (left, right), &column, source);
        return Ok(Typed { expr, kind: ExprType::new(column, nullable) });
    }
    match written {
        BinaryOp::Xor => {
            let (left, right) = (bind_condition(builder, left)?, bind_condition(builder, right)?);
            let nullable = left.kind.nullable || right.kind.nullable;
            Ok(truth(Expr::Xor(boxed(left), boxed(right)), nullable))
        }
        BinaryOp::Concat => {
            let arguments = vec![builder.build(left)?, builder.build(right)?];
            functions::bind_function("concat", arguments, builder.settings)
        }
        op => condition::comparison(builder, CompareOp::of(op), left, right),
    }
}

pub(super) fn date_expression(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    let (expr, column) = match expr {
        ast::Expr::DateArithmetic { date, amount, unit, subtract } => {
            open::settle_summands(builder, date, amount, *unit);
            let date = functions::as_summand(builder.build(date)?, source_of(date));
            let amount = match functions::wanted_amount(*unit) {
                Some(wanted) => number_for(builder, amount, wanted)?,
                None => builder.build(amount)?,
            };
            let column = functions::date_arithmetic_type(&date.kind.column, &amount.kind.column, *unit);
            let finer = column.is_temporal() && column.wire_decimals() > date.kind.column.wire_decimals();
            let (date, amount) = (boxed(date), boxed(amount));
            // Of other results no more is told than that they are beyond every date.
            let named = matches!(column, ColumnType::Date | ColumnType::Time { .. });
            let source = named.then(|| Box::new(Source::of(expr, &*builder.resolver)));
            let expr = Expr::DateArithmetic { date, amount, unit: *unit, subtract: *subtract, source };
            let shown = |operand| Expr::Coerce { operand: Box::new(operand), to: column.clone() };
            (if finer { shown(expr) } else { expr }, column)
        }
        ast::Expr::TimestampDiff { unit, from, to } => {
            builder.settle_all(&[from, to], Hold::Argument, ParameterKind::DateTime);
            let from = boxed(temporal(builder, from, functions::MOMENT)?);
            let to = boxed(temporal(builder, to, functions::MOMENT)?);
            (Expr::TimestampDiff { unit: *unit, from, to }, functions::any_whole(false))
        }
        ast::Expr::Extract { unit, operand } => {
            open::settle_moments(builder, &[operand]);
            let wanted = if functions::is_clock_unit(*unit) { functions::TIME } else { functions::MOMENT };
            let operand = boxed(temporal(builder, operand, wanted)?);
            (Expr::Extract { unit: *unit, operand }, functions::extracted(*unit))
        }
        _ => return Err(SqlError::not_supported_yet("this date expression")),
    };
    let traits = if column.is_character() { Traits::ASCII } else { Traits::of(&column) };
    Ok(Typed { expr, kind: ExprType::nullable(column).with_traits(traits) })
}
