//! From syntax to bound conversions: CAST, CONVERT and COLLATE.

use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::mixing::{Derivation, Traits};
use turnstile_values::types::{BlobSize, ColumnType, ExprType};

use super::build::{Builder, boxed};
use super::class::coerced;
use super::open::is_open;
use super::parameter::{Hold, ParameterKind};
use super::{Expr, Source, Typed};
use crate::expr::build;
use crate::functions::{self, Wanted};

/// What a value becomes: without a length nothing is cut, however long its type says that it is.
fn uncut(target: &ast::CastType, to: ColumnType) -> ColumnType {
    match (target, to) {
        (ast::CastType::Char { length: None, .. }, ColumnType::Varchar { collation, .. }) => {
            ColumnType::Varchar { length: u32::MAX, collation }
        }
        (
            ast::CastType::Char { length: None, .. } | ast::CastType::Binary(None),
            ColumnType::Varbinary { .. },
        ) => ColumnType::Varbinary { length: u32::MAX },
        (_, to) => to,
    }
}

/// Collation of a document's texts where JSON_VALUE says no character set.
const COLLATION_OF_VALUES: &str = "utf8mb4_0900_bin";

fn cast_expression(builder: &mut Builder<'_>, expr: &ast::Expr, target: &ast::CastType) -> SqlResult<Typed> {
    if let ast::Expr::Function(call) = expr
        && let ("json_value", [document, path, rest @ ..]) = (&*call.name, &call.arguments[..])
        && rest.len() == 4
    {
        return json_value(builder, document, path, rest, target);
    }
    let numeric = matches!(
        target,
        ast::CastType::Signed
            | ast::CastType::Unsigned
            | ast::CastType::Decimal { .. }
            | ast::CastType::Float(_)
            | ast::CastType::Double
    );
    if matches!(target, ast::CastType::Json)
        && let ast::Expr::Literal(ast::Literal::Bool(value)) = expr
    {
        return Ok(functions::truth_document(*value));
    }
    match target {
        // What says a date is that, and midnight as a time.
        ast::CastType::Time(_) => builder.settle_all(&[expr], Hold::Read, ParameterKind::DateTime),
        _ => builder.settle_all(&[expr], Hold::Pinned, ParameterKind::of_cast(target)),
    }
    let operand = match target {
        ast::CastType::Signed | ast::CastType::Unsigned => build::whole_number(builder, expr)?,
        ast::CastType::Decimal { .. } => build::number_for(builder, expr, Wanted::Decimal)?,
        _ if numeric => build::number(builder, expr)?,
        ast::CastType::Year => cast_as_year(builder, expr)?,
        ast::CastType::Date => build::temporal(builder, expr, functions::DATE)?,
        ast::CastType::DateTime(_) => build::temporal(builder, expr, functions::MOMENT)?,
        ast::CastType::Time(_) => build::temporal(builder, expr, functions::TIME)?,
        _ => super::choice::of_full_width(builder.build(expr)?, builder.resolver),
    };
    if matches!(target, ast::CastType::Json) {
        return Ok(functions::cast_as_document(operand));
    }
    let to = functions::cast_target(target, &operand.kind.column, builder.settings)
        .map_err(|error| of_operand(builder, error, expr, target))?;
    let operand = match to.is_string() {
        true => functions::as_shown(operand),
        false if matches!(to, ColumnType::Float { .. } | ColumnType::Double { .. }) => {
            super::own_digits::as_double_of_average(operand)
        }
        false => super::with_all_of_average(operand),
    };
    let operand = match to.collation() {
        Some(other) => functions::in_other_set(operand, other),
        None => operand,
    };
    let operand = if to.is_binary_string() { functions::in_own_bytes(operand) } else { operand };
    let document = operand.kind.column == ColumnType::Json;
    // The value is as long as was asked for; its type is one of any length.
    let moment = to.is_temporal() || to == ColumnType::Year;
    let nullable = moment || text_may_be_null(builder, &to, &operand);
    let column = match &to {
        ColumnType::Binary { length } => ColumnType::Varbinary { length: *length },
        ColumnType::Varchar { length: u32::MAX, collation } if document => {
            ColumnType::Text { size: BlobSize::Long, collation: *collation }
        }
        other => other.clone(),
    };
    let kind = ExprType::new(column, nullable);
    let to = uncut(target, to);
    let name = matches!(to, ColumnType::Float { .. })
        .then(|| format!("cast({} as float)", Source::of(expr, &*builder.resolver).plain_text()).into());
    Ok(Typed { expr: Expr::Cast { operand: boxed(operand), to, name }, kind })
}

/// What is cast to a year: of what a `?` gives, the whole number.
fn cast_as_year(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    let number = build::number_for(builder, expr, Wanted::Integer)?;
    let given = builder.resolver.is_prepared() && is_open(expr);
    Ok(if given { coerced(number, ColumnType::BIGINT) } else { number })
}

/// Whether what becomes a text may be NULL: in strict mode every text that is made may be too long.
fn text_may_be_null(builder: &Builder<'_>, to: &ColumnType, operand: &Typed) -> bool {
    operand.kind.nullable || to.is_string() && builder.settings.sql_mode.is_strict()
}

/// Error 1425 or 1426 about a DECIMAL names what is cast.
fn of_operand(builder: &Builder<'_>, error: SqlError, expr: &ast::Expr, target: &ast::CastType) -> SqlError {
    let ast::CastType::Decimal { precision, scale } = target else { return error };
    let name = match expr {
        ast::Expr::Column(name) => name.column.to_string(),
        other => Source::of(other, &*builder.resolver).plain_text(),
    };
    match error.kind() {
        ErrorKind::TooBigScale => SqlError::too_big_scale(scale.unwrap_or(0), name, 30),
        ErrorKind::TooBigPrecision => SqlError::too_big_precision(precision.unwrap_or(0), name, 65),
        _ => error,
    }
}

fn json_value(
    builder: &mut Builder<'_>,
    document: &ast::Expr,
    path: &ast::Expr,
    rest: &[ast::Expr],
    target: &ast::CastType,
) -> SqlResult<Typed> {
    let document = builder.build(document)?;
    let to = functions::cast_target(target, &document.kind.column, builder.settings)?;
    let to = match target {
        ast::CastType::Char { charset: None, .. } => {
            to.with_collation(Collation::by_name(COLLATION_OF_VALUES).unwrap_or(Collation::Utf8mb4Bin))
        }
        _ => to,
    };
    let path = match builder.build(path)?.expr {
        Expr::Literal(value) => turnstile_values::value::to_text(&value),
        _ => return Err(SqlError::wrong_arguments("json_value")),
    };
    let rest = rest.iter().map(|one| Ok(builder.build(one)?.expr)).collect::<SqlResult<Vec<Expr>>>()?;
    functions::json_value(document, &path, to, rest)
}

/// CAST, CONVERT .. USING and COLLATE.
pub(super) fn conversion(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    match expr {
        ast::Expr::Cast { operand, target } => cast_expression(builder, operand, target),
        ast::Expr::ConvertUsing { operand, charset } => {
            let collation = Collation::default_of_charset(charset)
                .ok_or_else(|| SqlError::unknown_character_set(charset))?;
            let operand = functions::as_shown(builder.build(operand)?);
            let column = match collation {
                Collation::Binary => functions::bytes_type(functions::bytes_of_text(&operand.kind.column)),
                _ => functions::text_of_any_length(&operand.kind.column, collation),
            };
            let to = match collation {
                Collation::Binary => ColumnType::Varbinary { length: u32::MAX },
                _ => ColumnType::Varchar { length: u32::MAX, collation },
            };
            let operand = match collation {
                Collation::Binary => functions::in_own_bytes(operand),
                _ => functions::in_other_set(operand, collation),
            };
            let nullable = text_may_be_null(builder, &column, &operand);
            let kind = ExprType::new(column, nullable);
            Ok(Typed { expr: Expr::Cast { operand: boxed(operand), to, name: None }, kind })
        }
        ast::Expr::Collate { operand, collation } => {
            let wanted =
                Collation::by_name(collation).ok_or_else(|| SqlError::unknown_collation(collation))?;
            let operand = builder.build(operand)?;
            if let Some(own) = operand.kind.column.collation()
                && own.charset() != wanted.charset()
            {
                return Err(SqlError::collation_charset_mismatch(wanted.name(), own.charset()));
            }
            let length = operand.kind.column.text_length();
            // Of a member of an ENUM or SET it is the text, without its number.
            let is_member = matches!(operand.kind.column, ColumnType::Enum { .. } | ColumnType::Set { .. });
            let is_text = operand.kind.column.is_character() && !is_member;
            let column = match &operand.kind.column {
                own if is_text && !matches!(own, ColumnType::Char { .. }) => {
                    own.clone().with_collation(wanted)
                }
                _ => ColumnType::Varchar { length, collation: wanted },
            };
            let traits = Traits { derivation: Derivation::Explicit, ..operand.kind.traits };
            let nullable = text_may_be_null(builder, &column, &operand);
            let kind = ExprType::new(column.clone(), nullable).with_traits(traits);
            let to = column;
            let expr = if is_text { operand.expr } else { Expr::Coerce { operand: boxed(operand), to } };
            Ok(Typed { expr, kind })
        }
        _ => Err(SqlError::not_supported_yet("this conversion")),
    }
}
