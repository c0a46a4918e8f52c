//! Scalars on their way into documents and out of them: a document where a number is wanted, bytes and truths
//! where a document is.

mod moment;

use turnstile_syntax::ast::IntervalUnit;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::json::{self, Json, Kind, write::MARKED};
use turnstile_values::types::{BlobSize, ColumnType, ExprType};
use turnstile_values::value::{
    Value, parse_double_prefix, parse_integer_prefix, to_bytes, to_double, to_text, to_u64_bits,
};

use super::encode::base64_line;
use crate::expr::{Call, EvalContext, Expr, ScalarFunction, Typed};

pub(super) use moment::is_document_read;
pub use moment::{DATE, TIME};
pub(crate) use moment::{MOMENT, as_given_to, as_summand, as_temporal, or_beginning, temporal_argument};

fn call(name: &'static str, function: ScalarFunction, arguments: Vec<Expr>, kind: ExprType) -> Typed {
    let call = Call::new(name, function, arguments, kind.column.clone()).comparing_in(Collation::Utf8mb4Bin);
    Typed { expr: call.into_expr(), kind }
}

/// What a number is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Arithmetic, which takes documents for doubles.
    Double,
    /// CAST to an integer, and columns of numbers.
    Integer,
    /// CAST to DECIMAL.
    Decimal,
}

/// What number a function reads an argument as, where hex literals are numbers and documents no texts; None
/// where it reads no number. `numbers`: it takes nothing else.
pub(crate) fn wanted_number(name: &str, nth: usize, numbers: bool) -> Option<Wanted> {
    let whole = match name {
        "from_days" | "makedate" | "period_add" | "period_diff" | "char" => true,
        "space" | "elt" | "bit_count" | "inet_ntoa" | "make_set" | "rand" | "random_bytes" => nth == 0,
        "left" | "right" | "repeat" | "lpad" | "rpad" | "sha2" | "week" | "yearweek" | "round"
        | "truncate" => nth == 1,
        "maketime" => nth < 2,
        "substring" | "insert" | "conv" => matches!(nth, 1 | 2),
        "locate" | "substring_index" => nth == 2,
        "regexp_instr" => matches!(nth, 2..=4),
        "regexp_substr" => matches!(nth, 2 | 3),
        "regexp_replace" => matches!(nth, 3 | 4),
        "export_set" => matches!(nth, 0 | 4),
        "format" => nth == 1,
        _ => false,
    };
    Some(match (name, nth) {
        _ if whole => Wanted::Integer,
        ("sec_to_time" | "from_unixtime" | "maketime", _) => Wanted::Decimal,
        ("format" | "format_bytes" | "format_pico_time", 0) | ("uuid_to_bin" | "bin_to_uuid", 1) => {
            Wanted::Double
        }
        _ if numbers => Wanted::Double,
        _ => return None,
    })
}

/// What number so many units are; None for units of several parts, which are read as texts.
pub(crate) fn wanted_amount(unit: IntervalUnit) -> Option<Wanted> {
    use IntervalUnit as Unit;
    match unit {
        Unit::Second => Some(Wanted::Decimal),
        Unit::Microsecond
        | Unit::Minute
        | Unit::Hour
        | Unit::Day
        | Unit::Week
        | Unit::Month
        | Unit::Quarter
        | Unit::Year => Some(Wanted::Integer),
        _ => None,
    }
}

/// Whether MySQL reads a count that is a constant once more while it binds the function, so that it tells of
/// it twice.
pub(crate) fn reads_count_twice(name: &str, nth: usize, first: Option<&ColumnType>) -> bool {
    match name {
        "space" => nth == 0,
        "left" | "right" | "repeat" | "lpad" | "rpad" | "sha2" => nth == 1,
        "round" | "truncate" => nth == 1 && matches!(first, Some(ColumnType::Decimal { .. })),
        "substring" => matches!(nth, 1 | 2),
        _ => false,
    }
}

/// A document as a number; anything else as it is. `source`: the name of what it comes from, for the warning.
pub fn as_number(typed: Typed, wanted: Wanted, source: &str) -> Typed {
    if typed.kind.column != ColumnType::Json {
        return typed;
    }
    let name = match wanted {
        Wanted::Double => "DOUBLE",
        Wanted::Integer => "INTEGER",
        Wanted::Decimal => "DECIMAL",
    };
    let kind = ExprType::new(ColumnType::DOUBLE, typed.kind.nullable);
    call(name, number, vec![typed.expr, Expr::Literal(Value::text(source))], kind)
}

/// Whether it reads a document as a number.
pub(crate) fn reads_document(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if matches!(call.name, "DOUBLE" | "INTEGER" | "DECIMAL"))
}

/// A text as the number that it is read as beside a document.
pub(crate) fn text_as_number(typed: Typed, wanted: Wanted) -> Typed {
    let (name, column): (_, ColumnType) = match wanted {
        Wanted::Double => ("text as double", ColumnType::DOUBLE),
        Wanted::Integer => ("text as bits", ColumnType::BIGINT_UNSIGNED),
        Wanted::Decimal => return typed,
    };
    let kind = ExprType::new(column, typed.kind.nullable);
    call(name, text_number, vec![typed.expr], kind)
}

fn text_number(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(match call.kind {
        ColumnType::Double { .. } => Value::Double(to_double(&arguments[0], context)?),
        _ => Value::UInt(to_u64_bits(&arguments[0], context)?),
    })
}

/// `true` is 1; a string counts as the number it begins with, what is none as 0 with warning 3156.
fn number(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let document = super::json::kept_or_null(&arguments[0], &mut context.held())?;
    let exact = call.name != "DOUBLE";
    let (value, whole) = match &document {
        Json::Bool(truth) => (Value::boolean(*truth), true),
        Json::Int(number) => (Value::Int(*number), true),
        Json::UInt(number) => (Value::UInt(*number), true),
        Json::Double(number) => (Value::Double(*number), true),
        Json::Decimal(number) => (Value::Decimal(number.clone()), true),
        Json::String(text) => match text.trim().parse::<i64>() {
            Ok(number) => (Value::Int(number), true),
            Err(_) if call.name == "INTEGER" => {
                let (number, whole) = parse_integer_prefix(text.as_bytes());
                (i64::try_from(number).map_or(Value::UInt(number as u64), Value::Int), whole)
            }
            Err(_) => {
                let (number, whole) = parse_double_prefix(text.as_bytes());
                (Value::Double(number), whole || !exact && text.is_empty())
            }
        },
        _ => (Value::Int(0), false),
    };
    if !whole {
        context.warn(SqlError::json_is_no_number(call.name, to_text(&arguments[1]), context.row()))?;
    }
    Ok(match value {
        Value::Int(number) if !exact => Value::Double(number as f64),
        Value::UInt(number) if !exact => Value::Double(number as f64),
        Value::Decimal(number) if !exact => Value::Double(number.to_f64()),
        other => other,
    })
}

/// The call that makes the text of a document where a function takes texts.
pub(crate) const JSON_AS_TEXT: &str = "json as text";

/// The arguments of a function: documents as plain text unless it is one on documents.
pub(super) fn plain_outside(name: &str, arguments: Vec<Typed>) -> Vec<Typed> {
    if name.starts_with("json")
        || name == "member of"
        || arguments.iter().all(|one| one.kind.column != ColumnType::Json)
    {
        return arguments;
    }
    let plain = |typed: Typed| match typed.kind.column {
        ColumnType::Json => call(JSON_AS_TEXT, plain_text, vec![typed.expr], typed.kind),
        _ => typed,
    };
    arguments.into_iter().map(plain).collect()
}

fn plain_text(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match &arguments[0] {
        marked @ Value::Json(_) => Value::Str(to_text(marked)),
        other => other.clone(),
    })
}

/// The number by which MySQL calls VARBINARY inside a document.
const TYPE_OF_VARBINARY: i64 = 15;

/// The number by which MySQL calls a type of bytes inside a document.
fn type_of_bytes(kind: &ColumnType, is_column: bool) -> Option<i64> {
    Some(match kind {
        ColumnType::Bit { .. } => 16,
        ColumnType::Binary { .. } if is_column => 254,
        ColumnType::Binary { .. } | ColumnType::Varbinary { .. } => TYPE_OF_VARBINARY,
        ColumnType::Blob { size: BlobSize::Tiny } => 249,
        ColumnType::Blob { size: BlobSize::Medium } => 250,
        ColumnType::Blob { size: BlobSize::Long } => 251,
        ColumnType::Blob { .. } => 252,
        _ => return None,
    })
}

/// Bytes as a document: the string `base64:typeN:...`. None for what is no bytes.
pub(super) fn of_bytes(typed: &Typed) -> Option<Typed> {
    let code = type_of_bytes(&typed.kind.column, matches!(typed.expr, Expr::Column(_)))?;
    let width = match &typed.kind.column {
        ColumnType::Bit { bits } => i64::from(bits.div_ceil(8)),
        _ => 0,
    };
    let arguments = vec![typed.expr.clone(), Expr::int(code), Expr::int(width)];
    let kind = ExprType::new(ColumnType::Json, typed.kind.nullable);
    Some(call("json of bytes", bytes, arguments, kind))
}

fn bytes(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (Value::Int(code), Value::Int(width)) = (&arguments[1], &arguments[2]) else {
        return Ok(Value::Null);
    };
    let bits;
    let bytes = match &arguments[0] {
        Value::UInt(number) if *width > 0 => {
            bits = number.to_be_bytes();
            std::borrow::Cow::Borrowed(&bits[8 - *width as usize..])
        }
        other => to_bytes(other),
    };
    written(call, &bytes, *code, context)
}

/// The same of bytes that are given to a `?`.
pub(super) fn document_of_bytes(call: &Call, bytes: &[u8], context: &EvalContext<'_>) -> SqlResult<Value> {
    written(call, bytes, TYPE_OF_VARBINARY, context)
}

fn written(call: &Call, bytes: &[u8], code: i64, context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = super::build_text(call.name, context, |out| {
        out.push(&[MARKED, json::write::mark_of(Kind::Bytes)])?;
        out.push(format!("\"base64:type{code}:").as_bytes())?;
        base64_line(bytes, out)?;
        out.push(b"\"")
    })?;
    Ok(super::json::marked(text))
}

/// A truth that its type does not tell of, because it is a number elsewhere: `true` or `false` as a document.
pub(crate) fn of_truth(typed: Typed) -> Typed {
    let kind = ExprType::new(ColumnType::Json, typed.kind.nullable);
    call("json of truth", truth, vec![typed.expr], kind)
}

fn truth(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::text(if matches!(arguments[0], Value::Int(0)) { "false" } else { "true" }))
}

/// Functions whose number is a truth.
pub(super) fn tells_truth(expr: &Expr) -> bool {
    const NAMES: &[&str] =
        &["json_valid", "json_contains", "json_contains_path", "json_overlaps", "member of"];
    matches!(expr, Expr::Call(call) if NAMES.contains(&call.name))
}
