//! What functions of expressions ask of their session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::interrupt::Interrupt;
use turnstile_expr::expr::{EvalContext, EvalSettings, RandomSequence, SessionView, VariableKind};
use turnstile_syntax::ast::VariableScope;
use turnstile_sys::relief;
use turnstile_values::collation::Collation;
use turnstile_values::context::KeptLookup;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Account as MemoryAccount, Metered, heap_bytes};
use turnstile_values::value::Value;

use super::{LONG_BYTES, SessionState};
use crate::accounts::AccountName;
use crate::user_locks::UserLocks;
use crate::variables::{self, Definition, Scope};
use crate::version::VERSION;

pub(super) fn number(value: &Value) -> u64 {
    match value {
        Value::UInt(number) => *number,
        Value::Int(number) => *number as u64,
        _ => 0,
    }
}

impl Metered for SessionState {
    fn work(&self, bytes: usize) -> SqlResult<()> {
        self.work.store(self.work.load(Ordering::Relaxed).saturating_add(bytes as u64), Ordering::Relaxed);
        if bytes < LONG_BYTES {
            relief::worked()
        } else {
            relief::ahead()
        }
        Ok(self.interrupt.check()?)
    }
    fn interrupt(&self) -> Option<&Arc<Interrupt>> {
        Some(&self.interrupt)
    }
    fn memory(&self) -> Option<&Arc<MemoryAccount>> {
        Some(&self.memory)
    }
}

impl SessionState {
    /// What expressions see while a statement of this session runs.
    pub fn eval<'s>(&'s self, settings: EvalSettings, parameters: &'s [Value]) -> EvalContext<'s> {
        EvalContext { settings, parameters, session: self, warnings: &self.warnings }
    }
}

impl SessionView for SessionState {
    fn database(&self) -> Option<String> {
        self.schema.lock().as_deref().map(String::from)
    }
    fn user(&self) -> String {
        self.identity.lock().user.clone()
    }
    fn current_user(&self) -> String {
        self.identity.lock().account.text()
    }
    fn current_role(&self) -> String {
        let active = self.identity.lock().active.clone();
        let names: Vec<String> = active.iter().map(AccountName::quoted).collect();
        if names.is_empty() { "NONE".into() } else { names.join(",") }
    }
    fn connection_id(&self) -> u64 {
        self.id
    }
    fn version(&self) -> String {
        VERSION.into()
    }
    fn last_insert_id(&self) -> u64 {
        self.last_insert_id.load(Ordering::Relaxed)
    }
    fn set_last_insert_id(&self, id: u64) {
        self.last_insert_id.store(id, Ordering::Relaxed);
        self.tells_id.store(true, Ordering::Relaxed);
        self.note_effect();
    }
    fn row_count(&self) -> i64 {
        self.row_count.load(Ordering::Relaxed)
    }
    fn found_rows(&self) -> u64 {
        self.found_rows.load(Ordering::Relaxed)
    }
    fn user_variable(&self, name: &str) -> Value {
        self.user_variables.lock().values.get(name).map(|(value, _)| value.clone()).unwrap_or_default()
    }
    fn user_variable_kind(&self, name: &str) -> VariableKind {
        self.user_variables.lock().values.get(name).map_or(VariableKind::Unset, |(_, kind)| *kind)
    }
    fn set_user_variable(&self, name: &str, value: Value, kind: Option<VariableKind>) -> SqlResult<()> {
        let mut named = self.user_variables.lock();
        // NULL alone makes bytes of a new variable, and leaves another what it is.
        let before = || named.values.get(name).map(|(_, kind)| *kind);
        let kind = kind.or_else(before).unwrap_or(VariableKind::Text(Collation::Binary));
        self.note_effect();
        let value = kind.held(value);
        let own = name.len() + size_of::<(Box<str>, (Value, VariableKind))>();
        named.charge.add(own + heap_bytes(&value))?;
        if let Some((before, _)) = named.values.insert(name.into(), (value, kind)) {
            named.charge.subtract(own + heap_bytes(&before));
        }
        Ok(())
    }
    fn keeps_lookups(&self) -> bool {
        self.runs_plan.load(Ordering::Relaxed)
    }
    fn lookup(&self, place: usize) -> Option<KeptLookup> {
        self.lookups.lock().get(&place).cloned()
    }
    fn keep_lookup(&self, place: usize, lookup: KeptLookup) {
        self.has_lookups.store(true, Ordering::Relaxed);
        self.lookups.lock().insert(place, lookup);
    }
    fn was_told(&self, place: usize) -> bool {
        self.keeps_lookups() && self.told.lock().contains(&place)
    }
    fn note_told(&self, place: usize) {
        self.has_lookups.store(true, Ordering::Relaxed);
        self.told.lock().insert(place);
    }
    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<Value> {
        let at = variables::find(name).ok_or_else(|| SqlError::unknown_system_variable(name))?;
        self.variable(at, scope)
    }
    fn release_user_lock(&self, name: &Value) -> SqlResult<Option<bool>> {
        let name = UserLocks::name_of(name)?;
        self.note_effect();
        let released = self.user_locks.lock().release(&name);
        Ok((released || self.catalog.user_locks().owner(&name).is_some()).then_some(released))
    }
    fn release_user_locks(&self) -> u64 {
        self.note_effect();
        self.user_locks.lock().release_all()
    }
    fn user_lock_owner(&self, name: &Value) -> SqlResult<Option<u64>> {
        Ok(self.catalog.user_locks().owner(&UserLocks::name_of(name)?))
    }
    fn random(&self) -> f64 {
        // xorshift: only this session draws from it.
        let mut x = self.random.load(Ordering::Relaxed);
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.store(x, Ordering::Relaxed);
        (x >> 11) as f64 / (1u64 << 53) as f64
    }
    fn random_in_sequence(&self, place: usize, begin: RandomSequence) -> f64 {
        self.has_sequences.store(true, Ordering::Relaxed);
        let mut sequences = self.sequences.lock();
        let at = sequences.iter().position(|(known, _)| *known == place).unwrap_or_else(|| {
            sequences.push((place, begin));
            sequences.len() - 1
        });
        sequences[at].1.next_number()
    }
}

/// Fails unless a variable has a value of the kind that an expression names.
pub fn check_read(definition: &Definition, scope: VariableScope) -> SqlResult<()> {
    let wrong = |what| Err(SqlError::incorrect_global_local_variable(definition.name, what));
    match (definition.scope, scope) {
        (Scope::Global, VariableScope::Session) => wrong("GLOBAL"),
        (Scope::Session, VariableScope::Default | VariableScope::Session) => Ok(()),
        (Scope::Session, _) => wrong("SESSION"),
        _ => Ok(()),
    }
}
