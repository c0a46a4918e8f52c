//! The part of a session that expressions see while a statement runs. Everything in it can be changed through
//! a shared reference; only the session's own statements do.

mod traces;
mod view;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;
use turnstile_engine::interrupt::Interrupt;
use turnstile_expr::expr::{RandomSequence, VariableKind, Warnings};
use turnstile_syntax::ast::VariableScope;
use turnstile_values::collation::Collation;
use turnstile_values::context::KeptLookup;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Account as MemoryAccount, Charge, dropping};
use turnstile_values::value::Value;

use crate::accounts::{AccountId, AccountName, Accounts, Rights};
use crate::catalog::Catalog;
use crate::registry::Entry;
use crate::registry::counts::Totals;
use crate::user_locks::HeldLocks;
use crate::variables::{Scope, SessionSettings, SessionVariables, Tracing, VARIABLES};

pub use traces::Trace;
use traces::Traces;
pub use view::check_read;
use view::number;

/// A session's state as its statements see it.
pub struct SessionState {
    /// Everything shared.
    catalog: Arc<Catalog>,
    /// Connection id.
    pub id: u64,
    /// What others see of it.
    pub entry: Arc<Entry>,
    /// What it had counted when its counters were last set to zero.
    counted_before: Mutex<Option<Box<Totals>>>,
    /// Warnings of the last statement.
    pub warnings: Warnings,
    /// Who is connected.
    pub identity: Mutex<Identity>,
    /// System variables.
    pub variables: Mutex<SessionVariables>,
    /// System variables that are asked for all the time.
    pub settings: Mutex<Arc<SessionSettings>>,
    user_variables: Mutex<UserVariables>,
    /// What OPTIMIZER_TRACE shows; none while no statement was traced.
    traces: Mutex<Option<Box<Traces>>>,
    schema: Mutex<Option<Arc<str>>>,
    /// How often the current database was set.
    schema_changes: AtomicU64,
    last_insert_id: AtomicU64,
    /// The statement has called LAST_INSERT_ID() with a value.
    tells_id: AtomicBool,
    insert_id: AtomicU64,
    /// What statements have done that no rollback takes back.
    effects: AtomicU64,
    row_count: AtomicI64,
    found_rows: AtomicU64,
    random: AtomicU64,
    /// Where the sequences of RAND(seed) are in the statement that runs, by their places in it.
    sequences: Mutex<Vec<(usize, RandomSequence)>>,
    /// Whether there are any.
    has_sequences: AtomicBool,
    found_rows_flag: AtomicBool,
    /// GET_LOCK.
    user_locks: Mutex<HeldLocks>,
    /// KILL.
    interrupt: Arc<Interrupt>,
    memory: Arc<MemoryAccount>,
    /// Bytes that expressions have worked through since somebody asked.
    work: AtomicU64,
    /// Lists of IN of the statement that runs, by the places of their expressions.
    lookups: Mutex<HashMap<usize, KeptLookup>>,
    /// Places of which a warning was given.
    told: Mutex<HashSet<usize>>,
    has_lookups: AtomicBool,
    /// A plan is running.
    runs_plan: AtomicBool,
    /// How many steps planning it took, if these are so many that each of its rows is much work.
    row_steps: AtomicU32,
}

/// Bytes that take a tenth of a millisecond or more to work through.
const WORK_BYTES: u64 = 128 << 10;

/// Bytes that take a millisecond or more, if a function goes through them all before it looks up again.
const LONG_BYTES: usize = 4 << 20;

/// Variables that users have named, and what they hold of the session's memory.
struct UserVariables {
    values: HashMap<Box<str>, (Value, VariableKind)>,
    charge: Charge,
}

impl UserVariables {
    fn on(memory: &Arc<MemoryAccount>) -> UserVariables {
        UserVariables { values: HashMap::new(), charge: Charge::on(Some(memory)) }
    }
}

impl Drop for UserVariables {
    fn drop(&mut self) {
        dropping(self.values.len());
        self.charge.announce_drop();
    }
}

/// Who is connected.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// `user@host` as the client gave it.
    pub user: String,
    /// The account that matched.
    pub account: AccountName,
    /// Which of those that have had its name.
    pub account_id: AccountId,
    /// Roles that are active, whether they are still held or not.
    pub active: Arc<[AccountName]>,
    /// It runs what the server's own configuration says, with all rights whatever the accounts are.
    pub is_server: bool,
}

impl Identity {
    /// What it may do now.
    pub fn rights(&self, accounts: &Accounts) -> Rights {
        if self.is_server {
            Rights::everything()
        } else if accounts.is_another(&self.account, self.account_id) {
            Rights::default()
        } else {
            Rights::of(accounts, &self.account, &self.active)
        }
    }
}

impl SessionState {
    /// The statement that begins to run has this trace.
    pub fn trace(&self, trace: Trace, wanted: &Tracing) {
        let mut traces = self.traces.lock();
        traces.get_or_insert_with(|| Box::new(Traces::on(&self.memory))).begin(trace, wanted);
    }

    /// Traces of the statements before, as the session's settings want them.
    pub fn traces(&self) -> Vec<Trace> {
        let wanted = self.settings.lock().tracing;
        self.traces.lock().as_mut().map_or_else(Vec::new, |traces| traces.shown(&wanted))
    }

    /// A new session's state.
    pub fn new(
        catalog: Arc<Catalog>,
        entry: Arc<Entry>,
        identity: Identity,
        found_rows: bool,
        interrupt: Arc<Interrupt>,
    ) -> SessionState {
        let id = entry.id;
        let memory = Arc::new(MemoryAccount::new(catalog.memory().clone()));
        let variables = SessionVariables::new(catalog.globals());
        let settings = Arc::new(SessionSettings::decode(&variables));
        let warnings = Warnings::new();
        warnings.set_limits(settings.max_error_count, settings.sql_notes);
        memory.set_limit(settings.connection_memory_limit);
        entry.status.count_locks_by(memory.clone());
        SessionState {
            catalog,
            id,
            entry,
            counted_before: Mutex::default(),
            warnings,
            identity: Mutex::new(identity),
            variables: Mutex::new(variables),
            settings: Mutex::new(settings),
            user_variables: Mutex::new(UserVariables::on(&memory)),
            traces: Mutex::new(None),
            schema: Mutex::new(None),
            schema_changes: AtomicU64::new(0),
            last_insert_id: AtomicU64::new(0),
            tells_id: AtomicBool::new(false),
            insert_id: AtomicU64::new(0),
            effects: AtomicU64::new(0),
            row_count: AtomicI64::new(0),
            found_rows: AtomicU64::new(0),
            random: AtomicU64::new(id.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            sequences: Mutex::default(),
            has_sequences: AtomicBool::new(false),
            found_rows_flag: AtomicBool::new(found_rows),
            user_locks: Mutex::default(),
            interrupt,
            memory,
            work: AtomicU64::new(0),
            lookups: Mutex::default(),
            told: Mutex::default(),
            has_lookups: AtomicBool::new(false),
            runs_plan: AtomicBool::new(false),
            row_steps: AtomicU32::new(0),
        }
    }

    /// What the session has counted since its counters were last set to zero.
    pub fn counted(&self) -> Totals {
        self.entry.counted_since(self.counted_before.lock().as_deref())
    }

    /// Sets the session's counters to zero, in its own eyes: the server's keep what it has counted.
    pub fn flush_counted(&self) {
        *self.counted_before.lock() = Some(Box::new(self.entry.counted()));
    }

    /// Forgets what COM_RESET_CONNECTION forgets.
    pub fn reset(&self) {
        self.flush_counted();
        let variables = SessionVariables::new(self.catalog.globals());
        self.decode(&variables);
        *self.variables.lock() = variables;
        // Many take long to drop: not under the mutex.
        let before = std::mem::replace(&mut *self.user_variables.lock(), UserVariables::on(&self.memory));
        drop(before);
        *self.traces.lock() = None;
        self.warnings.clear();
        self.last_insert_id.store(0, Ordering::Relaxed);
        self.insert_id.store(0, Ordering::Relaxed);
    }

    /// Forgets the sequences of RAND(seed), which a statement begins anew, and what the one before has passed
    /// to LAST_INSERT_ID().
    pub fn begin_sequences(&self) {
        self.tells_id.store(false, Ordering::Relaxed);
        // Only the session's own statement sets it: no exchange is needed.
        if self.has_sequences.load(Ordering::Relaxed) {
            self.has_sequences.store(false, Ordering::Relaxed);
            self.sequences.lock().clear();
        }
    }

    /// The locks it holds that users have named.
    pub fn user_locks(&self) -> &Mutex<HeldLocks> {
        &self.user_locks
    }

    /// What its account may do now.
    pub fn rights(&self) -> Rights {
        self.identity.lock().rights(self.catalog.accounts())
    }

    /// Decoded variables.
    pub fn settings(&self) -> Arc<SessionSettings> {
        self.settings.lock().clone()
    }

    /// The current database.
    pub fn schema(&self) -> Option<Arc<str>> {
        self.schema.lock().clone()
    }

    /// Whether this is the current database.
    pub fn is_schema(&self, schema: Option<&Arc<str>>) -> bool {
        match (&*self.schema.lock(), schema) {
            (Some(current), Some(schema)) => Arc::ptr_eq(current, schema) || current == schema,
            (None, None) => true,
            _ => false,
        }
    }

    /// Changes the current database.
    pub fn set_schema(&self, schema: Option<Arc<str>>) {
        self.schema_changes.fetch_add(1, Ordering::Relaxed);
        *self.schema.lock() = schema;
    }

    /// How often the current database was set: as long as that is the same, so is the database.
    #[inline]
    pub fn schema_changes(&self) -> u64 {
        self.schema_changes.load(Ordering::Relaxed)
    }

    /// Sets a session variable in normal form.
    pub fn set_variable(&self, at: usize, value: Value) {
        let mut variables = self.variables.lock();
        match VARIABLES[at].name {
            "last_insert_id" => self.last_insert_id.store(number(&value), Ordering::Relaxed),
            "insert_id" => self.insert_id.store(number(&value), Ordering::Relaxed),
            _ => {}
        }
        variables.set(at, value);
        self.decode(&variables);
    }

    /// Gives back variables that a statement had for itself.
    pub fn restore_variables(&self, saved: SessionVariables) {
        self.decode(&saved);
        *self.variables.lock() = saved;
    }

    fn decode(&self, variables: &SessionVariables) {
        let settings = SessionSettings::decode(variables);
        self.warnings.set_limits(settings.max_error_count, settings.sql_notes);
        self.memory.set_limit(settings.connection_memory_limit);
        *self.settings.lock() = Arc::new(settings);
    }

    /// Whether expressions have worked through so much since the statement last looked at the clock that it
    /// should look again.
    pub fn has_worked(&self) -> bool {
        self.work.load(Ordering::Relaxed) >= WORK_BYTES || self.row_steps.load(Ordering::Relaxed) > 0
    }

    /// What each row of the plan that runs goes through, as steps of planning; 0 if that is little.
    pub fn row_steps(&self) -> u32 {
        self.row_steps.load(Ordering::Relaxed)
    }

    /// Says so, until the next plan begins.
    pub fn set_row_steps(&self, steps: u32) {
        self.row_steps.store(steps, Ordering::Relaxed);
    }

    /// The statement looks at the clock.
    pub fn take_work(&self) {
        // Only the session's own statement counts here: no exchange is needed.
        if self.work.load(Ordering::Relaxed) != 0 {
            self.work.store(0, Ordering::Relaxed);
        }
    }

    /// A plan begins: its expressions stay where they are until it ends.
    pub fn begin_plan(&self) {
        self.runs_plan.store(true, Ordering::Relaxed);
        // What statements before it have worked through is no reason for this one to put its rows aside.
        self.take_work();
        self.set_row_steps(0);
    }

    /// The plan ends, and with it the lists of IN that it has looked up.
    pub fn end_plan(&self) {
        self.runs_plan.store(false, Ordering::Relaxed);
        // Only the session's own statement keeps any: no exchange is needed.
        if self.has_lookups.load(Ordering::Relaxed) {
            self.has_lookups.store(false, Ordering::Relaxed);
            self.lookups.lock().clear();
            self.told.lock().clear();
        }
    }

    /// A variable as SELECT and SHOW see it.
    pub fn variable(&self, at: usize, scope: VariableScope) -> SqlResult<Value> {
        let definition = &VARIABLES[at];
        let global = !matches!(scope, VariableScope::Default | VariableScope::Session);
        check_read(definition, scope)?;
        match (definition.scope, global) {
            (Scope::Global, _) | (Scope::Both, true) => Ok(self.catalog.globals().get(at)),
            _ => Ok(match definition.name {
                "last_insert_id" => Value::UInt(self.last_insert_id.load(Ordering::Relaxed)),
                "insert_id" => Value::UInt(self.insert_id.load(Ordering::Relaxed)),
                "pseudo_thread_id" => Value::UInt(self.id),
                "warning_count" => Value::UInt(u64::from(self.warnings.before().0)),
                "error_count" => Value::UInt(self.warnings.before().1),
                "external_user" => Value::Null,
                "character_set_database" | "collation_database" => match self.schema_collation() {
                    Some(one) if definition.name == "collation_database" => Value::text(one.name()),
                    Some(one) => Value::text(one.charset()),
                    None => self.variables.lock().get(at),
                },
                _ => self.variables.lock().get(at),
            }),
        }
    }

    /// The collation of the current database.
    fn schema_collation(&self) -> Option<Collation> {
        let schema = self.schema()?;
        Some(self.catalog.collation_of(&schema))
    }

    /// The collation that a session variable names.
    pub fn collation_named(&self, variable: &str) -> Collation {
        let found = match self.variables.lock().named(variable) {
            Value::Str(name) => Collation::by_name(&name),
            _ => None,
        };
        found.unwrap_or(Collation::DEFAULT)
    }

    /// Step and offset of AUTO_INCREMENT values.
    pub fn auto_increment(&self) -> (u64, u64) {
        let settings = self.settings.lock();
        (settings.auto_increment_increment, settings.auto_increment_offset)
    }

    /// What LAST_INSERT_ID() returns from now on.
    pub fn set_generated_id(&self, id: u64) {
        self.last_insert_id.store(id, Ordering::Relaxed);
    }

    /// What the statement has passed to LAST_INSERT_ID(), if it has: told its client.
    #[inline]
    pub fn told_id(&self) -> Option<u64> {
        self.tells_id.load(Ordering::Relaxed).then(|| self.last_insert_id.load(Ordering::Relaxed))
    }

    /// The value last generated, if there is one: what `sql_auto_is_null` looks for.
    pub fn generated_id(&self) -> Option<u64> {
        Some(self.last_insert_id.load(Ordering::Relaxed)).filter(|id| *id != 0)
    }

    /// `insert_id`, used once; 0 for none.
    pub fn take_insert_id(&self) -> u64 {
        let id = self.insert_id.swap(0, Ordering::Relaxed);
        if id != 0 {
            self.note_effect();
        }
        id
    }

    /// The statement does something that no rollback takes back, and that would be seen twice if the
    /// statement were begun again.
    pub fn note_effect(&self) {
        self.effects.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that was noted.
    #[inline]
    pub fn effects(&self) -> u64 {
        self.effects.load(Ordering::Relaxed)
    }

    /// CLIENT_FOUND_ROWS
    pub fn found_rows_flag(&self) -> bool {
        self.found_rows_flag.load(Ordering::Relaxed)
    }

    /// Sets CLIENT_FOUND_ROWS.
    pub fn set_found_rows_flag(&self, on: bool) {
        self.found_rows_flag.store(on, Ordering::Relaxed);
    }

    /// Sets ROW_COUNT().
    pub fn set_row_count(&self, count: i64) {
        self.row_count.store(count, Ordering::Relaxed);
    }

    /// Sets FOUND_ROWS().
    pub fn set_found_rows(&self, count: u64) {
        self.found_rows.store(count, Ordering::Relaxed);
    }
}
