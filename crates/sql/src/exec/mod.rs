//! Running plans.

use std::collections::HashMap;
use std::sync::Arc;

use turnstile_engine::Txn;
use turnstile_engine::interrupt::Interrupt;

use crate::database::Database;
use crate::error::SqlResult;
use crate::expr::EvalContext;
use crate::information_schema::{self, VirtualTable};
use crate::session::SessionState;
use crate::value::Value;

mod aggregate;
pub mod change;
mod hash_key;
mod order;
pub mod range;
pub mod scan;
mod select;
mod subquery;
pub mod tail;

pub use tail::{ClientOut, Kept};

/// One statement while it runs.
pub struct Exec<'e> {
    /// Everything shared.
    pub db: &'e Arc<Database>,
    /// The session.
    pub session: &'e SessionState,
    /// The transaction.
    pub txn: &'e mut Txn,
    /// What expressions may ask.
    pub eval: &'e EvalContext<'e>,
    /// KILL.
    pub interrupt: &'e Arc<Interrupt>,
    stored_sources: HashMap<usize, Arc<select::Stored>>,
    subquery_results: HashMap<usize, Arc<Vec<Vec<Value>>>>,
    batches: u32,
    joined: u32,
}

impl<'e> Exec<'e> {
    /// A statement that is about to run.
    pub fn new(
        db: &'e Arc<Database>,
        session: &'e SessionState,
        txn: &'e mut Txn,
        eval: &'e EvalContext<'e>,
        interrupt: &'e Arc<Interrupt>,
    ) -> Exec<'e> {
        Exec {
            db,
            session,
            txn,
            eval,
            interrupt,
            stored_sources: HashMap::new(),
            subquery_results: HashMap::new(),
            batches: 0,
            joined: 0,
        }
    }

    /// Lets other sessions of the same worker run now and then.
    async fn breathe(&mut self) {
        self.batches = self.batches.wrapping_add(1);
        if self.batches.is_multiple_of(64) {
            yield_now().await;
        }
    }

    /// Called for every row a join tries: rows kept in memory cost no page access, where a statement otherwise notices
    /// KILL and gives way.
    async fn pace(&mut self) -> SqlResult<()> {
        self.joined = self.joined.wrapping_add(1);
        if self.joined.is_multiple_of(1024) {
            self.interrupt.check()?;
            yield_now().await;
        }
        Ok(())
    }

    fn virtual_rows(&self, table: VirtualTable) -> SqlResult<Vec<Vec<Value>>> {
        information_schema::rows(table, self.db, self.session)
    }
}

/// Gives way once.
pub async fn yield_now() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if waited {
            return std::task::Poll::Ready(());
        }
        waited = true;
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
