//! What the operands of BETWEEN are compared as. MySQL settles it for the three of them at once.

use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::context::SqlMode;
use turnstile_values::datetime::DateTime;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, to_bytes};

use super::beside_column::{
    is_computed, moment_of_literal, moment_of_number, time_of_literal, time_of_moment,
};
use super::build::{Builder, source_of};
use super::candidates::{name_of, read_as_moment, worked_out};
use super::class::{
    as_double, as_whole, coerced, is_column, is_document, is_moment, is_settled, is_time, is_time_column,
    is_whole, of_branch_taken,
};
use super::literal::number_of_hex;
use super::{Call, EvalContext, Expr, Typed, shown_digits};
use crate::expr::class;
use crate::functions::{self, Wanted};

fn any(bound: &[Typed], test: fn(&ColumnType) -> bool) -> bool {
    bound.iter().any(|part| test(&part.kind.column))
}

fn is_variable(part: &Typed) -> bool {
    is_settled(&part.expr) && !matches!(part.expr, Expr::Literal(_))
}

/// A value of any type as the number that it is read as.
fn as_number(part: &ast::Expr, typed: Typed) -> Typed {
    as_double(functions::as_number(typed, Wanted::Double, source_of(part)))
}

/// The operands of BETWEEN: numbers among texts or dates make it a comparison of doubles, unless a column
/// of whole numbers or dates is compared with a constant.
pub(super) fn between_class(
    builder: &mut Builder<'_>,
    parts: &[&ast::Expr],
    bound: Vec<Typed>,
) -> Vec<Typed> {
    if any(&bound, is_document) {
        builder.resolver.warn(SqlError::documents_between());
    }
    if any(&bound, ColumnType::is_numeric) {
        return between_numbers(builder, parts, bound);
    }
    between_texts_and_moments(builder, parts, bound)
}

fn between_numbers(builder: &mut Builder<'_>, parts: &[&ast::Expr], mut bound: Vec<Typed>) -> Vec<Typed> {
    if is_column(&bound[0]) {
        bound = stored_documents(parts, bound);
    }
    if class::is_year(builder, &bound[0]) {
        let year = bound.remove(0);
        let bounds = bound.into_iter().map(|one| class::year_said(builder, one));
        let bounds = parts[1..].iter().zip(bounds).map(|(part, typed)| {
            let known = is_settled(&typed.expr) && !is_document(&typed.kind.column);
            if known { typed } else { as_number(part, typed) }
        });
        return std::iter::once(year).chain(bounds).collect();
    }
    if is_whole(&bound[0]) {
        bound = bound.into_iter().map(as_whole).collect();
    }
    if is_column(&bound[0]) && bound[0].kind.column.is_temporal() {
        return match among_numbers(builder, bound) {
            Ok(moments) => moments,
            Err(mixed) => numbers(parts, mixed),
        };
    }
    let of_column = is_column(&bound[0]) && bound[1..].iter().any(|part| is_settled(&part.expr));
    if of_column && bound[0].kind.column.is_integer() && !any(&bound, is_document) {
        let number = |one: Typed| if one.kind.column.is_temporal() { as_double(one) } else { one };
        return bound.into_iter().map(number).collect();
    }
    if bound.iter().all(|part| part.kind.column.is_numeric() || part.kind.column == ColumnType::Null) {
        let operand = bound.remove(0);
        let bounds: Vec<Typed> =
            bound.into_iter().map(|bound| shown_digits::bound_of(&operand, bound)).collect();
        return std::iter::once(operand).chain(bounds).collect();
    }
    let as_texts = bound[1..].iter().all(|part| !part.kind.column.is_numeric() && is_settled(&part.expr));
    let numbers = parts.iter().zip(bound).map(|(part, typed)| match number_of_hex(part) {
        Some(number) => number,
        // Between constants that are no numbers a document is read as its text is.
        None if as_texts && is_document(&typed.kind.column) => as_double(class::as_text(builder, typed)),
        None => as_number(part, of_branch_taken(typed)),
    });
    numbers.collect()
}

fn between_texts_and_moments(
    builder: &Builder<'_>,
    parts: &[&ast::Expr],
    mut bound: Vec<Typed>,
) -> Vec<Typed> {
    let of_column = is_column(&bound[0]) && bound[1..].iter().any(|part| is_settled(&part.expr));
    let dates = any(&bound, is_moment);
    let time_column = is_time_column(&bound[0]);
    // Beside a time or a day that is no column a text is a moment, if there is a day among the three.
    let temporal = bound[0].kind.column.is_temporal() && (!is_column(&bound[0]) || time_column);
    if dates && temporal && any(&bound, is_time) {
        bound = as_moments(builder, parts, bound);
    }
    // Beside a column of times a constant is one, if it says one; where none does, all are texts.
    let mut as_times = of_column && time_column && !dates;
    if as_times {
        let own = bound.clone();
        bound[1..].iter_mut().for_each(|part| *part = time_of_literal(part.clone()));
        let read = own.iter().zip(&bound).any(|(own, read)| own.kind.column != read.kind.column);
        // Once a constant is a time, all are numbers if another is none.
        if read && !bound.iter().all(|part| is_time(&part.kind.column) || is_variable(part)) {
            return numbers(parts, bound);
        }
        as_times = read || bound[1..].iter().any(is_variable);
    }
    if !(as_times || bound.iter().all(|part| is_time(&part.kind.column))) {
        let settle = |typed: Typed| match &typed.kind.column {
            ColumnType::Json => class::as_text(builder, typed),
            ColumnType::Time { .. } if !dates => class::as_text(builder, typed),
            _ => typed,
        };
        bound = bound.into_iter().map(settle).collect();
    }
    // A text between dates is a date, whatever its other bound is.
    if dates && bound[0].kind.column.is_string() {
        let read = |part: Typed| if part.kind.column.is_string() { as_moment(part) } else { part };
        bound = bound.into_iter().map(read).collect();
    }
    bound
}

/// BETWEEN of one constant twice, which MySQL makes a comparison with it: a document with a document, a
/// number or the text of anything else, a text with a document or the text of a moment.
pub(super) fn between_same(
    builder: &mut Builder<'_>,
    parts: &[&ast::Expr],
    bound: &[Typed],
) -> Option<(Typed, Typed)> {
    let [operand, low, high] = bound else { return None };
    let (tested, kind) = (&operand.kind.column, &low.kind.column);
    let alike = parts[1] == parts[2] || literal_text(low).is_some_and(|low| literal_text(high) == Some(low));
    if !alike || !low.expr.is_constant() || *kind == ColumnType::Null {
        return None;
    }
    if let Some(text) = said_document(parts[1]).filter(|_| is_moment(tested)) {
        let kind = ExprType::not_null(ColumnType::Varchar {
            length: text.len() as u32,
            collation: Collation::Utf8mb4Bin,
        });
        builder.resolver.warn(SqlError::documents_between());
        return Some((operand.clone(), Typed { expr: Expr::Literal(Value::text(text)), kind }));
    }
    if is_document(tested) {
        let as_it_is = is_document(kind) || kind.is_numeric() || kind.is_character();
        let other = if as_it_is { low.clone() } else { class::as_text(builder, low.clone()) };
        builder.resolver.warn(SqlError::documents_between());
        return Some((operand.clone(), other));
    }
    let moments = is_moment(kind) && is_moment(&high.kind.column);
    match tested.is_character() {
        true if is_document(kind) => {
            builder.resolver.warn(SqlError::documents_between());
            Some((operand.clone(), low.clone()))
        }
        true if moments => Some((operand.clone(), class::as_text(builder, low.clone()))),
        _ => None,
    }
}

/// A text for which a `?` stands between moments, or is tested with them: one that says none is NULL.
pub(super) fn given_between_moments(builder: &Builder<'_>, bound: Vec<Typed>) -> Vec<Typed> {
    let timed = |kind: &ColumnType| is_moment(kind) && *kind != ColumnType::Date;
    let moments = bound.iter().all(|part| is_moment(&part.kind.column) || part.kind.column.is_character());
    if !moments || !any(&bound, timed) {
        return bound;
    }
    bound.into_iter().map(|part| class::given_moment(builder, part)).collect()
}

/// The texts among days and times as moments.
fn as_moments(builder: &Builder<'_>, parts: &[&ast::Expr], bound: Vec<Typed>) -> Vec<Typed> {
    let kind = if bound[0].kind.column == ColumnType::Date { "date" } else { "datetime" };
    let time_column = is_time_column(&bound[0]);
    let name = name_of(parts[0]);
    let read = |part: Typed| {
        let part = if is_document(&part.kind.column) { class::as_text(builder, part) } else { part };
        match part.kind.column.is_character() {
            true if time_column => read_as_moment(part, name.as_deref()),
            true => moment_beside_time(part, kind),
            false => part,
        }
    };
    bound.into_iter().map(read).collect()
}

/// The text of a literal that is no number.
fn literal_text(typed: &Typed) -> Option<Vec<u8>> {
    match &typed.expr {
        Expr::Literal(value) if !typed.kind.column.is_numeric() && !value.is_null() => {
            Some(to_bytes(value).into_owned())
        }
        _ => None,
    }
}

/// The text of a constant document that is written as one.
fn said_document(part: &ast::Expr) -> Option<String> {
    let ast::Expr::Cast { operand, target: ast::CastType::Json } = part else { return None };
    let ast::Expr::Literal(ast::Literal::String(text)) = &**operand else { return None };
    String::from_utf8(text.bytes.to_vec()).ok()
}

/// Constant documents beside a column of dates or moments, as what the column would keep of them.
fn stored_documents(parts: &[&ast::Expr], mut bound: Vec<Typed>) -> Vec<Typed> {
    let column = bound[0].kind.column.clone();
    for (part, typed) in parts.iter().zip(&mut bound).skip(1) {
        let Some(text) = said_document(part) else { continue };
        let said = text.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let literal =
            |value: Value, kind| Typed { expr: Expr::Literal(value), kind: ExprType::not_null(kind) };
        match (&column, said) {
            (ColumnType::Date, Some(said)) => {
                let kind =
                    ColumnType::Varchar { length: said.len() as u32, collation: Collation::Utf8mb4Bin };
                let read = moment_of_literal(&column, literal(Value::text(said.to_string()), kind), true);
                if read.kind.column.is_temporal() {
                    *typed = read;
                }
            }
            (ColumnType::DateTime { .. } | ColumnType::Timestamp { .. }, None)
                if text.trim().parse::<f64>().is_ok() =>
            {
                *typed = literal(Value::DateTime(DateTime::ZERO), ColumnType::DateTime { fsp: 6 });
            }
            _ => {}
        }
    }
    bound
}

/// Operands as the numbers that they are read as.
fn numbers(parts: &[&ast::Expr], bound: Vec<Typed>) -> Vec<Typed> {
    parts.iter().zip(bound).map(|(part, typed)| as_number(part, typed)).collect()
}

/// More than the number of any moment. What a column of moments would keep is compared by its bits where not
/// all are moments.
const BITS_OF_MOMENT: f64 = 1.8e18;

/// A column of dates or times BETWEEN numbers and others. Constant numbers are dates or times where they say
/// such; if all three are then, that is what they are compared as, and otherwise as numbers.
fn among_numbers(builder: &Builder<'_>, mut bound: Vec<Typed>) -> Result<Vec<Typed>, Vec<Typed>> {
    let column = bound[0].kind.column.clone();
    bound[1..].iter_mut().for_each(|part| *part = worked_out(builder, part.clone()));
    let number = |part: &Typed| part.kind.column.is_numeric();
    if bound[1..].iter().all(|part| is_settled(&part.expr) && !is_document(&part.kind.column))
        && bound[1..].iter().any(|part| number(part) && is_variable(part))
    {
        let known = |part: &Typed| number(part) && is_computed(&part.expr);
        if is_moment(&column) {
            bound[1..]
                .iter_mut()
                .filter(|part| known(part))
                .for_each(|part| *part = moment_of_number(&column, part.clone()));
        }
        return Ok(bound);
    }
    let zero_parts = !builder.settings.sql_mode.has(SqlMode::NO_ZERO_IN_DATE);
    let mut stored = [false; 3];
    for (part, stored) in bound.iter_mut().zip(&mut stored).skip(1) {
        let own = std::mem::discriminant(&part.kind.column) == std::mem::discriminant(&column);
        *part = match is_time(&column) {
            true => time_of_literal(part.clone()),
            false => moment_of_literal(&column, part.clone(), zero_parts),
        };
        *stored = !own && matches!(part.expr, Expr::Literal(Value::DateTime(_)));
    }
    let alike = |part: &Typed| match part.kind.column {
        // Beside NULL the bits of moments are compared.
        ColumnType::Null => !is_moment(&column) || column == ColumnType::Date,
        ref kind => kind.is_temporal(),
    };
    if !bound.iter().all(alike) {
        for (part, _) in bound.iter_mut().zip(stored).filter(|(_, stored)| *stored) {
            let zero =
                matches!(&part.expr, Expr::Literal(Value::DateTime(moment)) if *moment == DateTime::ZERO);
            let bits = if zero { 0.0 } else { BITS_OF_MOMENT };
            *part = Typed {
                expr: Expr::Literal(Value::Double(bits)),
                kind: ExprType::not_null(ColumnType::DOUBLE),
            };
        }
        return Err(bound);
    }
    if column == ColumnType::Date {
        // Of days and moments the days are compared.
        let day =
            |part: Typed| if is_moment(&part.kind.column) { coerced(part, ColumnType::Date) } else { part };
        bound[1..].iter_mut().for_each(|part| *part = day(part.clone()));
    }
    if is_time(&column) {
        let as_time = |part: Typed| if is_moment(&part.kind.column) { time_of_moment(part) } else { part };
        bound = bound.into_iter().map(as_time).collect();
    }
    Ok(bound)
}

/// A text as the moment that it says, or as the zero date with a warning.
fn as_moment(typed: Typed) -> Typed {
    moment_beside_time(typed, "DATETIME")
}

/// A text as the moment that it says, or as the zero date with a warning that it is no such `kind`.
fn moment_beside_time(typed: Typed, kind: &'static str) -> Typed {
    let column = ColumnType::DateTime { fsp: 6 };
    let call = Call::new(kind, moment_of, vec![typed.expr], column.clone());
    Typed { expr: call.into_expr(), kind: ExprType { column, ..typed.kind } }
}

fn moment_of(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    super::predicate::moment_beside(&arguments[0], call.name, context)
}
