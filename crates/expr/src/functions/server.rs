//! Functions that serve tools: formats of dates, numbers of time, digests of statements, identifiers of this
//! server.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::digest as sha;

use super::result_bytes::build_text;
use super::{Entry, VOLATILE, entry, text_long, text_of, truth, unsigned, unsigned_length};
use crate::expr::{Call, EvalContext, Expr, Row, Typed};
use turnstile_syntax::ast::VariableScope;
use turnstile_syntax::digest;
use turnstile_syntax::parser::{ParseOptions, parse_metered};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, to_bytes, to_double, to_i64, to_text, to_u64_bits};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("get_format", (2, 2), get_format, format_type, 0),
    entry("format_pico_time", (1, 1), format_pico_time, text_of::<11>, 0),
    entry("statement_digest", (1, 1), statement_digest, text_of::<64>, 0),
    entry("statement_digest_text", (1, 1), statement_digest_text, text_long, 0),
    entry("uuid_short", (0, 0), uuid_short, unsigned, VOLATILE),
    entry("validate_password_strength", (1, 1), validate_password_strength, unsigned_length, 0),
];

fn format_type(_: &[Typed]) -> ColumnType {
    ColumnType::varchar(17)
}

/// GET_FORMAT(DATE, 'USA')
fn get_format(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (kind, region) = (to_text(&arguments[0]), to_text(&arguments[1]).to_lowercase());
    let format = match (&*kind, &*region) {
        ("DATE", "usa") => "%m.%d.%Y",
        ("DATE", "jis" | "iso") => "%Y-%m-%d",
        ("DATE", "eur") => "%d.%m.%Y",
        ("DATE", "internal") => "%Y%m%d",
        ("TIME", "usa") => "%h:%i:%s %p",
        ("TIME", "jis" | "iso") => "%H:%i:%s",
        ("TIME", "eur") => "%H.%i.%s",
        ("TIME", "internal") => "%H%i%s",
        (_, "usa" | "eur") => "%Y-%m-%d %H.%i.%s",
        (_, "jis" | "iso") => "%Y-%m-%d %H:%i:%s",
        (_, "internal") => "%Y%m%d%H%i%s",
        _ => return Ok(Value::Null),
    };
    Ok(Value::text(format))
}

/// FORMAT_PICO_TIME: `3.50 ns`, `3.15 min`.
fn format_pico_time(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let time = to_double(&arguments[0], context)?;
    let units = [
        ("d", 86_400e12),
        ("h", 3_600e12),
        ("min", 60e12),
        ("s", 1e12),
        ("ms", 1e9),
        ("us", 1e6),
        ("ns", 1e3),
    ];
    let found = units.iter().find(|(_, size)| time.abs() >= *size);
    Ok(Value::from(match found {
        Some((unit, size)) if (time / size).abs() >= 1e5 => format!("{} {unit}", exponent(time / size)),
        Some((unit, size)) => format!("{:.2} {unit}", time / size),
        None => format!("{:>3.0} ps", time.trunc()),
    }))
}

/// A number with one digit before the point and two behind it, and an exponent of two digits: `1.50e+05`.
pub(super) fn exponent(number: f64) -> String {
    let text = format!("{number:.2e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{digits}e+{power:0>2}")
}

/// The normal form of a statement, which has to be one.
fn normal_form(value: &Value, context: &EvalContext<'_>) -> SqlResult<String> {
    let text = to_bytes(value);
    let options = ParseOptions::default();
    context.work(text.len())?;
    // Its tree is gone again before the form is made.
    let mut held = context.held();
    parse_metered(&text, 0, options, &mut |bytes| held.grow(bytes)).map_err(|error| match error {
        error if error.ends_statement() => error,
        error => SqlError::digest_not_parsed(error.message),
    })?;
    Ok(digest::digest(&text, options.lex_options()).text)
}

/// SHA-256 of the normal form.
fn statement_digest(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let sum = sha::digest(&sha::SHA256, normal_form(&arguments[0], context)?.as_bytes());
    Ok(Value::from(super::encode::hex_text(sum.as_ref())))
}

fn statement_digest_text(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let text = normal_form(&arguments[0], context)?;
    build_text(call.name, context, |out| out.push(text.as_bytes()))
}

/// UUID_SHORT: the server's number, the second in which it was first asked, and a count.
fn uuid_short(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        AtomicU64::new((since.as_secs() & 0xFFFF_FFFF) << 24)
    });
    let server = context.session.system_variable(VariableScope::Global, "server_id")?;
    let server = to_u64_bits(&server, context)? & 0xFF;
    Ok(Value::UInt(server << 56 | NEXT.fetch_add(1, Ordering::Relaxed) & 0xFF_FFFF_FFFF_FFFF))
}

/// VALIDATE_PASSWORD_STRENGTH: without the component that judges passwords, every one is as weak as can be.
fn validate_password_strength(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::Int(0))
}

/// Evaluations of BENCHMARK between two looks for KILL.
const BENCHMARK_STEP: i64 = 64;

/// BENCHMARK(count, expression): evaluates it so many times.
pub fn benchmark(arguments: &[Expr], row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Value> {
    let [count, expression] = arguments else { return Ok(Value::Null) };
    let given = count.eval(row, context)?;
    if given.is_null() {
        return Ok(Value::Null);
    }
    let times = to_i64(&given, context)?;
    if times < 0 {
        context.warn(SqlError::wrong_value_for_type("count", times, "benchmark"))?;
        return Ok(Value::Null);
    }
    for nth in 0..times {
        expression.eval(row, context)?;
        if nth % BENCHMARK_STEP == 0 {
            context.session.work(1 << 10)?;
        }
    }
    Ok(Value::Int(0))
}

/// The type of BENCHMARK.
pub(crate) fn benchmark_type() -> ExprType {
    ExprType::nullable(truth(&[]))
}
