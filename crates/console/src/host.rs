//! Who runs the statements of the console's visitors. The console knows no sessions, only that somebody has
//! them, so it is built before them and beside what they are made of.

use std::sync::Arc;

use turnstile_engine::interrupt::Interrupt;
use turnstile_values::error::SqlResult;
use turnstile_values::sink::ResultSink;

use crate::account::Owner;

/// Whoever has sessions.
pub trait Host: Send + Sync {
    /// Begins a session of an account, which its owner has proved to be his.
    ///
    /// # Errors
    /// 1226 and 1203 where the account has as many sessions as it may.
    fn enter(&self, owner: &Owner) -> SqlResult<Box<dyn Visit>>;
}

/// A session. It ends when it is dropped.
pub trait Visit: Send {
    /// Runs a statement with the account's rights, and waits for its end.
    ///
    /// # Errors
    /// The statement's.
    fn run(&mut self, text: &str, out: &mut dyn ResultSink) -> SqlResult<()>;

    /// Ends what the session runs, from another thread.
    fn interrupt(&self) -> Arc<Interrupt>;

    /// Somebody has ended the session.
    fn is_killed(&self) -> bool;
}
