//! Texts that are read as numbers and spell none. MySQL reads a constant beside what differs from row to row
//! once, so it tells of it once a statement; of what COALESCE and its kin give it does not tell at all.

use super::{Call, EvalContext, Expr, ScalarFunction, Typed};
use turnstile_values::error::SqlResult;
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, parse_double_prefix, to_decimal, to_double};

fn is_text(typed: &Typed) -> bool {
    typed.kind.column.is_character() && typed.kind.column != ColumnType::Json
}

/// True for a constant whose text may spell no number.
fn may_misfit(typed: &Typed) -> bool {
    is_text(typed)
        && match &typed.expr {
            Expr::Literal(value) => value.as_raw_bytes().is_some_and(|text| !parse_double_prefix(text).1),
            // What a statement's parameter is read as is its own matter: beside an exact number it is one.
            Expr::Parameter(_) if typed.kind.nullable => false,
            expr => expr.is_constant(),
        }
}

fn read_by(name: &'static str, function: ScalarFunction, typed: Typed) -> Typed {
    let call = Call::new(name, function, vec![typed.expr], typed.kind.column.clone());
    Typed { expr: call.into_expr(), kind: typed.kind }
}

/// Both sides of a comparison: a constant text beside a number that is none is told of once.
pub(super) fn constants_told_once(left: Typed, right: Typed) -> (Typed, Typed) {
    let beside = |number: &Typed, text: &Typed| {
        number.kind.column.is_numeric() && !number.expr.is_constant() && may_misfit(text)
    };
    if beside(&left, &right) {
        let right = beside_number(&left, right);
        return (left, right);
    }
    if beside(&right, &left) {
        return (beside_number(&right, left), right);
    }
    (left, right)
}

fn beside_number(number: &Typed, text: Typed) -> Typed {
    let exact = matches!(number.kind.column, ColumnType::Decimal { .. })
        && matches!(number.expr, Expr::Column(_) | Expr::TimestampColumn(_));
    match exact {
        true => read_by(
            "decimal of constant",
            |call, arguments, context| once(call, arguments, context, true),
            text,
        ),
        false => told_once(text),
    }
}

/// A constant that is read as a number.
pub(super) fn told_once(text: Typed) -> Typed {
    if !may_misfit(&text) {
        return text;
    }
    read_by("double of constant", |call, arguments, context| once(call, arguments, context, false), text)
}

fn once(call: &Call, arguments: &[Value], context: &EvalContext<'_>, exact: bool) -> SqlResult<Value> {
    let value = &arguments[0];
    let text = match value.as_raw_bytes() {
        Some(text) if !value.is_null() => text,
        _ => return Ok(value.clone()),
    };
    let (number, complete) = parse_double_prefix(text);
    if complete || text.iter().all(u8::is_ascii_whitespace) {
        return Ok(value.clone());
    }
    let place = std::ptr::from_ref(call) as usize;
    if !context.session.was_told(place) {
        // An error is no warning that was given: who drops it is told again.
        match exact {
            true => drop(to_decimal(value, context)?),
            false => _ = to_double(value, context)?,
        }
        context.session.note_told(place);
    }
    Ok(match exact {
        true => Value::Decimal(turnstile_values::decimal::Decimal::parse_prefix(text).value),
        false => Value::Double(number),
    })
}

/// What one of several texts was chosen for: as a number it is not told of, whatever it spells.
pub(super) fn untold(typed: Typed) -> Typed {
    match &typed.expr {
        Expr::Coalesce { .. } => untold_text(typed),
        Expr::Call(call) if is_text(&typed) && matches!(call.name, "greatest" | "least") => {
            let expr = crate::functions::extreme::as_number(call).into_expr();
            Typed { expr, ..typed }
        }
        _ => typed,
    }
}

/// The same of bytes, where they hold or not: operators of bits take them as they are.
pub(super) fn untold_bytes(typed: Typed) -> Typed {
    let chosen = match &typed.expr {
        Expr::Coalesce { .. } => true,
        Expr::Call(call) => matches!(call.name, "greatest" | "least"),
        _ => false,
    };
    let bytes = chosen && typed.kind.column.is_binary_string();
    if bytes { read_by("number of text", untold_number, typed) } else { typed }
}

/// The same of any text.
pub(super) fn untold_text(typed: Typed) -> Typed {
    if is_text(&typed) { read_by("number of text", untold_number, typed) } else { typed }
}

fn untold_number(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let value = &arguments[0];
    Ok(match value.as_raw_bytes().map(parse_double_prefix) {
        Some((number, false)) if !value.is_null() => Value::Double(number),
        _ => value.clone(),
    })
}
