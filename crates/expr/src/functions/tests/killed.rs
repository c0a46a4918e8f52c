//! Functions on long texts look for KILL while they work, not only when they are called.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use turnstile_engine::interrupt::Interrupt;

use super::super::{Entry, bind_function, is_light, tables};
use super::*;
use crate::expr::{Expr, RandomSequence, SessionView, Typed, VariableKind};
use turnstile_syntax::ast::VariableScope;
use turnstile_values::collation::Collation;
use turnstile_values::memory::Metered;
use turnstile_values::pulse;
use turnstile_values::types::{BlobSize, ColumnType};
use turnstile_values::value::Value;

/// Its variable `@t` is a long text, and it is killed when the call has begun.
struct Killed {
    text: Value,
    looks: AtomicU32,
    /// Looks of the call itself, which holds its long arguments; the next one is the function's.
    of_call: u32,
    /// What work sees that beats.
    interrupt: Arc<Interrupt>,
}

impl Killed {
    /// Whose next look after so many says that it is killed.
    fn after(text: &Value, of_call: u32) -> Killed {
        Killed { text: text.clone(), looks: AtomicU32::new(0), of_call, interrupt: Arc::default() }
    }

    /// Killed, and only work that beats sees it.
    fn inside(text: &Value) -> Killed {
        let killed = Killed::after(text, u32::MAX);
        killed.interrupt.kill_query();
        killed
    }
}

impl Metered for Killed {
    fn work(&self, _bytes: usize) -> SqlResult<()> {
        if self.looks.fetch_add(1, Ordering::Relaxed) < self.of_call {
            Ok(())
        } else {
            Err(SqlError::query_interrupted())
        }
    }
    fn interrupt(&self) -> Option<&Arc<Interrupt>> {
        Some(&self.interrupt)
    }
}

impl SessionView for Killed {
    fn user_variable(&self, _name: &str) -> Value {
        self.text.clone()
    }
    fn database(&self) -> Option<String> {
        NoSession.database()
    }
    fn user(&self) -> String {
        NoSession.user()
    }
    fn current_user(&self) -> String {
        NoSession.current_user()
    }
    fn connection_id(&self) -> u64 {
        NoSession.connection_id()
    }
    fn version(&self) -> String {
        NoSession.version()
    }
    fn last_insert_id(&self) -> u64 {
        NoSession.last_insert_id()
    }
    fn set_last_insert_id(&self, id: u64) {
        NoSession.set_last_insert_id(id);
    }
    fn row_count(&self) -> i64 {
        NoSession.row_count()
    }
    fn found_rows(&self) -> u64 {
        NoSession.found_rows()
    }
    fn set_user_variable(&self, name: &str, value: Value, kind: Option<VariableKind>) -> SqlResult<()> {
        NoSession.set_user_variable(name, value, kind)
    }
    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<Value> {
        NoSession.system_variable(scope, name)
    }
    fn release_user_lock(&self, name: &Value) -> SqlResult<Option<bool>> {
        NoSession.release_user_lock(name)
    }
    fn release_user_locks(&self) -> u64 {
        NoSession.release_user_locks()
    }
    fn user_lock_owner(&self, name: &Value) -> SqlResult<Option<u64>> {
        NoSession.user_lock_owner(name)
    }
    fn random(&self) -> f64 {
        NoSession.random()
    }
    fn random_in_sequence(&self, place: usize, begin: RandomSequence) -> f64 {
        NoSession.random_in_sequence(place, begin)
    }
}

#[test]
fn long_calls_look_for_kill_while_they_work() {
    let session = |text: &Value| Killed::after(text, 1);
    let text = Value::from("a".repeat(3 << 20));
    for call in [
        "SOUNDEX(@t)",
        "REVERSE(@t)",
        "UPPER(@t)",
        "LOWER(@t)",
        "MD5(@t)",
        "SHA1(@t)",
        "SHA2(@t, 224)",
        "SHA2(@t, 512)",
        "LOCATE('B', @t)",
        "INSTR(@t, 'B')",
        "HEX(@t)",
        "REPLACE(@t, 'a', 'b')",
        "QUOTE(@t)",
        "REGEXP_REPLACE(@t, 'a', 'b')",
    ] {
        let parsed = parse(format!("SELECT {call}").as_bytes(), ParseOptions::default()).unwrap();
        let Statement::Select(query) = parsed.statement else { panic!("{call}") };
        let QueryBody::Select(select) = query.body else { panic!("{call}") };
        let SelectItem::Expr { expr, .. } = &select.items[0] else { panic!("{call}") };
        let (warnings, settings, view) = (Warnings::new(), settings(), session(&text));
        let context = EvalContext { settings, parameters: &[], session: &view, warnings: &warnings };
        let typed = bind(expr, &mut NoColumns, &settings).unwrap();
        let ended = typed.expr.eval(&NoRow, &context);
        assert_eq!(ended.err().map(|error| error.code), Some(1317), "{call}");
    }
}

/// Functions that with these arguments go through them once, with little to do for each byte, read their
/// beginning only or build a result that is short: the call itself has noted its arguments. Of these
/// `regexp_like` has a limit of its own (3699), `space` looks once its result is long, and a digest's
/// statement looks while it is parsed.
const READ_ONCE: &[&str] = &[
    "aes_decrypt",
    "aes_encrypt",
    "bin_to_uuid",
    "char",
    "char using latin1",
    "char using utf16",
    "char using utf32",
    "crc32",
    "format",
    "format_pico_time",
    "from_base64",
    "get_format",
    "inet_aton",
    "inet_ntoa",
    "is_uuid",
    "json_search",
    "json_unquote",
    "space",
    "substring_index",
    "uncompress",
    "uncompressed_length",
    "unhex",
    "uuid_to_bin",
    "validate_password_strength",
];

/// Whether KILL ends a call with long arguments after it has begun.
fn looks(entry: &Entry, arguments: Vec<Typed>, text: &Value) -> bool {
    let settings = settings();
    let long = arguments.iter().filter(|one| matches!(one.expr, Expr::UserVariable(_))).count();
    let Ok(typed) = bind_function(entry.name, arguments, &settings) else { return false };
    let view = Killed::after(text, long as u32);
    let warnings = Warnings::new();
    let context = EvalContext { settings, parameters: &[], session: &view, warnings: &warnings };
    crate::expr::begin_steps();
    typed.expr.eval(&NoRow, &context).is_err_and(|error| error.code == 1317)
}

/// Every function of the table, light ones aside, looks for KILL with long arguments of some shape at some
/// place.
#[test]
fn every_function_looks_for_kill_or_is_named() {
    const LONG: usize = (1 << 20) + (1 << 16);
    let texts = ["a", "1", "["].map(|part| match part {
        "[" => Value::from(format!("[{}1]", "1, ".repeat(LONG / 3))),
        other => Value::from(other.repeat(LONG / other.len())),
    });
    let column = ColumnType::Text { size: BlobSize::Long, collation: Collation::DEFAULT };
    let long = || Typed { expr: Expr::UserVariable("t".into()), kind: ExprType::nullable(column.clone()) };
    let short = |text: &str| Typed {
        expr: Expr::Literal(text.parse().map_or_else(|_| Value::text(text), Value::Int)),
        kind: ExprType::nullable(ColumnType::varchar(4)),
    };
    let waits = ["sleep", "benchmark", "get_lock"];
    let mut unseen = Vec::new();
    for entry in
        tables().filter(|entry| entry.most > 0 && !is_light(entry.name) && !waits.contains(&entry.name))
    {
        let counts = entry.least.max(1)..=entry.most.min(entry.least + 2);
        let is_seen = counts.into_iter().any(|count| {
            // All are long, or one alone is.
            (0..=count).rev().any(|which| {
                ["1", "$", "3000000"].into_iter().any(|other| {
                    let one = |nth: usize| if which == count || which == nth { long() } else { short(other) };
                    texts.iter().any(|text| looks(entry, (0..count).map(one).collect(), text))
                })
            })
        });
        if !is_seen {
            unseen.push(entry.name);
        }
    }
    unseen.sort_unstable();
    assert_eq!(unseen, READ_ONCE, "look for KILL (EvalContext::work), or are named because they read once");
}

/// The one expression of a SELECT.
fn parsed(expr: &str) -> turnstile_syntax::ast::Expr {
    let parsed = parse(format!("SELECT {expr}").as_bytes(), ParseOptions::default()).unwrap();
    let Statement::Select(query) = parsed.statement else { panic!("{expr}") };
    let QueryBody::Select(mut select) = query.body else { panic!("{expr}") };
    let Some(SelectItem::Expr { expr, .. }) = select.items.pop() else { panic!("no expression") };
    expr
}

/// What an expression gives for a session.
fn evaluated(expr: &str, view: &Killed) -> SqlResult<Value> {
    let (warnings, settings) = (Warnings::new(), settings());
    let context = EvalContext { settings, parameters: &[], session: view, warnings: &warnings };
    bind(&parsed(expr), &mut NoColumns, &settings).unwrap().expr.eval(&NoRow, &context)
}

/// All that compares two long texts ends when the session is killed in the middle of the comparison.
#[test]
fn long_comparisons_end_when_they_are_killed() {
    let text = Value::from("a".repeat(1 << 20));
    let other = "CONCAT(UPPER(@t), 'b')";
    for call in [
        format!("@t = {other}"),
        format!("@t < {other}"),
        format!("@t <=> {other}"),
        format!("@t <> {other}"),
        format!("@t BETWEEN {other} AND 'b'"),
        format!("@t IN ('x', {other})"),
        format!("NULLIF(@t, {other})"),
        format!("CASE @t WHEN {other} THEN 1 END"),
        format!("STRCMP(@t, {other})"),
        format!("LEAST(@t, {other})"),
        format!("GREATEST(@t, {other})"),
        format!("FIELD(@t, {other})"),
        format!("FIND_IN_SET(@t, {other})"),
        format!("(@t, 1) = ({other}, 1)"),
        format!("@t COLLATE utf8mb4_unicode_ci = {other}"),
    ] {
        assert!(evaluated(&call, &Killed::after(&text, u32::MAX)).is_ok(), "{call}");
        let ended = evaluated(&call, &Killed::inside(&text));
        assert_eq!(ended.err().map(|error| error.code), Some(1317), "{call}");
    }
}

/// Tone marks of a Thai text move all that is behind them: it takes a minute for a text of this length,
/// unless KILL ends it.
#[test]
fn a_text_of_tone_marks_can_be_ended() {
    let text = Value::from("\u{0E48}".repeat(1 << 20));
    let call = "CONVERT(@t USING tis620) COLLATE tis620_thai_ci = CONCAT(CONVERT(@t USING tis620), 'b')";
    assert_eq!(evaluated(call, &Killed::inside(&text)).unwrap_err().code, 1317);
}

/// What takes any number of arguments lets others in while it is bound, and looks for KILL while it is
/// evaluated.
#[test]
fn twenty_thousand_arguments_are_bound_and_evaluated_step_by_step() {
    const MANY_ARGUMENTS: usize = 20_000;
    let list = |one: &str| vec![one; MANY_ARGUMENTS].join(",");
    let mut calls: Vec<String> = tables()
        .filter(|entry| {
            entry.most == super::super::MANY
                && entry.name.chars().all(|one| one.is_ascii_lowercase() || one == '_')
        })
        .map(|entry| format!("{}({})", entry.name, list("@t")))
        .collect();
    assert!(calls.len() > 8, "{}", calls.len());
    calls.push(format!("COALESCE({})", list("NULLIF(@t, @t)")));
    calls.push(format!("CASE {} END", vec!["WHEN @t = 'x' THEN 1"; MANY_ARGUMENTS].join(" ")));
    calls.push(format!("CASE @t {} END", vec!["WHEN 'x' THEN 1"; MANY_ARGUMENTS].join(" ")));
    calls.push(format!("@t IN ({})", list("'x'")));
    calls.push(format!("(@t, 1) IN ({})", list("('x', 2)")));
    calls.push(vec!["@t = 'x'"; MANY_ARGUMENTS].join(" OR "));
    calls.push(vec!["@t <> 'x'"; MANY_ARGUMENTS].join(" AND "));
    let mut unseen = Vec::new();
    for call in &calls {
        let name = &call[..call.len().min(24)];
        let (expr, settings) = (parsed(call), settings());
        let (beats, typed) = pulse::beats_of(|| bind(&expr, &mut NoColumns, &settings));
        let Ok(typed) = typed else { continue };
        assert!(beats >= MANY_ARGUMENTS / 512, "{name}: {beats} beats while it is bound");
        let (warnings, view) = (Warnings::new(), Killed::after(&Value::from("1"), 4));
        let context = EvalContext { settings, parameters: &[], session: &view, warnings: &warnings };
        crate::expr::begin_steps();
        if !typed.expr.eval(&NoRow, &context).is_err_and(|error| error.code == 1317) {
            unseen.push(name);
        }
    }
    assert!(unseen.is_empty(), "{unseen:?}");
}
