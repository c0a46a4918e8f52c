//! Expressions from text to text, against results that MySQL's manual documents.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod extremes;
mod killed;
mod results;

use crate::expr::{EvalContext, EvalSettings, NoRow, NoSession, Resolver, Warnings, bind};
use turnstile_syntax::ast::{ColumnName, QueryBody, SelectItem, Statement};
use turnstile_syntax::parser::{ParseOptions, parse};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ExprType;
use turnstile_values::value::write_text;

struct NoColumns;

impl Resolver for NoColumns {
    fn column(&mut self, name: &ColumnName) -> SqlResult<(usize, ExprType)> {
        Err(SqlError::unknown_column(&name.column, "field list"))
    }
}

/// The text form of `SELECT text`, or `ERROR code`; the number of warnings after a `#` if there were any.
pub fn evaluate(text: &str, settings: EvalSettings) -> String {
    let parsed = match parse(format!("SELECT {text}").as_bytes(), ParseOptions::default()) {
        Ok(parsed) => parsed,
        Err(_) => return "ERROR 1064".into(),
    };
    let Statement::Select(query) = parsed.statement else { panic!("not a query: {text}") };
    let QueryBody::Select(select) = query.body else { panic!("not a select: {text}") };
    let SelectItem::Expr { expr, .. } = &select.items[0] else { panic!("not an expression: {text}") };
    let warnings = Warnings::new();
    let context = EvalContext { settings, parameters: &[], session: &NoSession, warnings: &warnings };
    let result = bind(expr, &mut NoColumns, &settings).and_then(|typed| {
        let value = typed.expr.eval(&NoRow, &context)?;
        let mut out = Vec::new();
        write_text(&value, &typed.kind.column, &mut out);
        Ok(if value.is_null() { "NULL".into() } else { String::from_utf8_lossy(&out).into_owned() })
    });
    match result {
        Ok(text) if warnings.count() > 0 => format!("{text} #{}", warnings.count()),
        Ok(text) => text,
        Err(error) => format!("ERROR {}", error.code),
    }
}

fn settings() -> EvalSettings {
    EvalSettings { statement_start_us: 1_790_000_000_000_000, ..EvalSettings::default() }
}

#[test]
fn documented_results() {
    let mut wrong = Vec::new();
    for (expression, expected) in results::RESULTS {
        let found = evaluate(expression, settings());
        if found != *expected {
            wrong.push(format!("{expression}: found {found}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn strict_changes_refuse_what_queries_only_warn_about() {
    let strict = EvalSettings { strict_change: true, ..settings() };
    assert_eq!(evaluate("1 / 0", strict), "ERROR 1365");
    assert_eq!(evaluate("'3abc' + 4", strict), "ERROR 1292");
    assert_eq!(evaluate("'3' + 4", strict), "7");
}

#[test]
fn session_time_zone() {
    let zone = turnstile_values::datetime::TimeZone::parse("+05:30").unwrap();
    let shifted = EvalSettings { time_zone: zone, ..settings() };
    assert_eq!(evaluate("FROM_UNIXTIME(0)", shifted), "1970-01-01 05:30:00");
    assert_eq!(evaluate("UNIX_TIMESTAMP('1970-01-01 05:30:00')", shifted), "0");
    assert_eq!(evaluate("CAST('2026-01-01 00:00:00+00:00' AS DATETIME)", shifted), "2026-01-01 05:30:00");
    assert_eq!(turnstile_values::datetime::TimeZone::parse("Nowhere/Land").unwrap_err().code, 1298);
    assert!(turnstile_values::datetime::TimeZone::parse("+14:01").is_err());
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = super::function_names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count > 150, "{count}");
}
