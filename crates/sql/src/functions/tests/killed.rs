//! Functions on long texts look for KILL while they work, not only when they are called.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::ast::VariableScope;
use crate::expr::{RandomSequence, SessionView, VariableKind};
use crate::value::Value;

/// Its variable `@t` is a long text, and it is killed when the call has begun.
struct Killed {
    text: Value,
    looks: AtomicU32,
}

impl SessionView for Killed {
    fn work(&self, _bytes: usize) -> SqlResult<()> {
        // The first look is that of the call, which holds its argument.
        if self.looks.fetch_add(1, Ordering::Relaxed) == 0 {
            Ok(())
        } else {
            Err(SqlError::query_interrupted())
        }
    }
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
    let session = |text: &Value| Killed { text: text.clone(), looks: AtomicU32::new(0) };
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
