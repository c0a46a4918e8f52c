//! What an expression may ask of its session, and a session for expressions that have none.

use std::any::Any;
use std::sync::Arc;

use super::variable_kind::{VariableKind, VariableScope};
use crate::datum::Value;
use crate::error::{SqlError, SqlResult};
use crate::memory::{Metered, NoMeter};

/// RAND(seed): MySQL's published generator, two linear congruential states of 30 bits.
#[derive(Debug, Clone, Copy)]
pub struct RandomSequence {
    first: u64,
    second: u64,
}

impl RandomSequence {
    const MODULUS: u64 = 0x3FFF_FFFF;

    /// The sequence that a seed begins.
    pub fn new(seed: u32) -> RandomSequence {
        RandomSequence {
            first: u64::from(seed.wrapping_mul(0x10001).wrapping_add(55_555_555)) % Self::MODULUS,
            second: u64::from(seed.wrapping_mul(0x1000_0001)) % Self::MODULUS,
        }
    }

    /// Its next number, 0 <= x < 1.
    pub fn next_number(&mut self) -> f64 {
        self.first = (self.first * 3 + self.second) % Self::MODULUS;
        self.second = (self.first + self.second + 33) % Self::MODULUS;
        self.first as f64 / Self::MODULUS as f64
    }
}

/// A list of IN prepared for looking up ([`crate::lookup::Lookup`]), as a session keeps it.
pub type KeptLookup = Arc<dyn Any + Send + Sync>;

/// Session facts that functions report. Implemented by the session; tests use [`NoSession`].
#[allow(missing_docs, reason = "each is named for the function that reports it")]
pub trait SessionView: Metered {
    /// Current database.
    fn database(&self) -> Option<String>;
    /// `user@host` as the client gave it.
    fn user(&self) -> String;
    /// `user@host` of the account that matched.
    fn current_user(&self) -> String;
    /// CURRENT_ROLE()
    fn current_role(&self) -> String {
        "NONE".into()
    }
    fn connection_id(&self) -> u64;
    fn version(&self) -> String;
    fn last_insert_id(&self) -> u64;
    /// LAST_INSERT_ID(expr).
    fn set_last_insert_id(&self, id: u64);
    fn row_count(&self) -> i64;
    fn found_rows(&self) -> u64;
    fn user_variable(&self, name: &str) -> Value;
    /// What kind of value a user variable holds.
    fn user_variable_kind(&self, _name: &str) -> VariableKind {
        VariableKind::Unset
    }
    /// Assigns a value, and a kind unless the variable keeps its own. Errors 4081 and 4082: the value is too
    /// much for the session's memory.
    fn set_user_variable(&self, name: &str, value: Value, kind: Option<VariableKind>) -> SqlResult<()>;
    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<Value>;
    /// RELEASE_LOCK: whether the session held it; `None` if nobody does. Error 3057.
    fn release_user_lock(&self, name: &Value) -> SqlResult<Option<bool>>;
    /// RELEASE_ALL_LOCKS: how many there were.
    fn release_user_locks(&self) -> u64;
    /// Connection id of who holds a lock that users have named. Error 3057.
    fn user_lock_owner(&self, name: &Value) -> SqlResult<Option<u64>>;
    /// Next number of the session's generator, 0 <= x < 1.
    fn random(&self) -> f64;
    /// Whether lists of IN are prepared: a plan is running, whose expressions stay where they are.
    fn keeps_lookups(&self) -> bool {
        false
    }
    /// The list of an IN that was prepared for looking up during this statement, by the place of its
    /// expression.
    fn lookup(&self, _place: usize) -> Option<KeptLookup> {
        None
    }
    /// Keeps one until the statement ends.
    fn keep_lookup(&self, _place: usize, _lookup: KeptLookup) {}
    /// True if a warning of a place was given during this statement.
    fn was_told(&self, _place: usize) -> bool {
        false
    }
    /// Notes that it was.
    fn note_told(&self, _place: usize) {}
    /// Next number of the sequence of the RAND(seed) at a place of the statement; `begin` is that sequence
    /// where it begins.
    fn random_in_sequence(&self, place: usize, begin: RandomSequence) -> f64;
}

/// A session that knows nothing.
pub struct NoSession;

impl Metered for NoSession {
    fn work(&self, bytes: usize) -> SqlResult<()> {
        NoMeter.work(bytes)
    }
}

impl SessionView for NoSession {
    fn database(&self) -> Option<String> {
        None
    }
    fn user(&self) -> String {
        "root@localhost".into()
    }
    fn current_user(&self) -> String {
        "root@%".into()
    }
    fn connection_id(&self) -> u64 {
        1
    }
    fn version(&self) -> String {
        "8.4.0".into()
    }
    fn last_insert_id(&self) -> u64 {
        0
    }
    fn set_last_insert_id(&self, _id: u64) {}
    fn row_count(&self) -> i64 {
        -1
    }
    fn found_rows(&self) -> u64 {
        0
    }
    fn user_variable(&self, _name: &str) -> Value {
        Value::Null
    }
    fn set_user_variable(&self, _name: &str, _value: Value, _kind: Option<VariableKind>) -> SqlResult<()> {
        Ok(())
    }
    fn system_variable(&self, _scope: VariableScope, name: &str) -> SqlResult<Value> {
        Err(SqlError::unknown_system_variable(name))
    }
    fn release_user_lock(&self, _name: &Value) -> SqlResult<Option<bool>> {
        Ok(None)
    }
    fn release_user_locks(&self) -> u64 {
        0
    }
    fn user_lock_owner(&self, _name: &Value) -> SqlResult<Option<u64>> {
        Ok(None)
    }
    fn random(&self) -> f64 {
        0.5
    }
    fn random_in_sequence(&self, _place: usize, mut begin: RandomSequence) -> f64 {
        begin.next_number()
    }
}
