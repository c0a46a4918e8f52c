//! Running plans.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use turnstile_engine::Txn;
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::session_status::Operation;
use turnstile_engine::yield_now::{SLICE, Slice};
use turnstile_sys::relief;

use turnstile_catalog::mdl::Hold;
use turnstile_catalog::session_state::SessionState;
use turnstile_catalog::virtual_table::VirtualTable;
use turnstile_expr::expr::{EvalContext, Lookup};
use turnstile_observe::information_schema;
use turnstile_observe::status::Observed;
use turnstile_plan::plan::query::{JoinStep, Subquery};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::Charge;
use turnstile_values::value::Rows;

pub mod access;
mod aggregate;
mod blank;
pub mod change;
mod documents;
mod extremes;
mod failed;
mod grouping;
mod hash_key;
mod join;
mod json_table;
mod key_index;
pub mod measure;
mod order;
mod point;
mod rollup;
pub mod scan;
mod select;
mod sort;
mod source;
mod spill;
mod subquery;
pub mod tail;
mod union;
mod values;
mod virtual_scan;
mod windows;
mod with;

use spill::list::List;
pub use tail::{ClientOut, Kept};

/// A row that goes through so many steps takes a millisecond or more.
const LONG_ROW_STEPS: u32 = 256 << 10;

/// Rows between two looks at the clock; fewer once rows have turned out to take long.
const PACE_ROWS: u32 = 32;

/// What a statement keeps of its parts until it ends.
#[derive(Default)]
struct Keeping {
    stored_sources: FxHashMap<usize, Arc<source::Stored>>,
    subquery_results: FxHashMap<usize, Arc<Rows>>,
    /// Rows of these that IN looks its operands up in.
    subquery_lookups: FxHashMap<usize, Arc<Lookup>>,
    /// Rows of correlated sub-queries, by the values they were found for.
    repeated: FxHashMap<usize, subquery::repeated::Repeated>,
    /// Sub-queries that gave more rows than one when they last ran: an error if the value is asked for.
    failed_subqueries: FxHashMap<usize, SqlError>,
    /// Tuples that wait for the parts of a source that is too large for memory, by its step.
    waiting: FxHashMap<usize, spill::parts::Parts>,
    /// Rows of queries of WITH, and the last rounds of recursive ones.
    common: FxHashMap<usize, List>,
    /// What is measured, for EXPLAIN ANALYZE; here, so that statements that nobody measures are not larger.
    measure: Option<Box<measure::Measure>>,
    /// What these hold, for as long as the statement runs.
    charge: Charge,
}

/// One statement while it runs.
pub struct Exec<'e> {
    /// Everything shared.
    pub db: &'e Observed,
    /// The session.
    pub session: &'e SessionState,
    /// The transaction.
    pub txn: &'e mut Txn,
    /// What expressions may ask.
    pub eval: &'e EvalContext<'e>,
    /// KILL.
    pub interrupt: &'e Arc<Interrupt>,
    /// What the session holds of metadata locks, besides locks that users have named.
    pub metadata_locks: [&'e [Hold]; 3],
    /// Made when there is something to keep: most statements have no such parts.
    keeping: Option<Box<Keeping>>,
    /// The statement changes tables.
    changes: bool,
    slice: Slice,
    /// Rows since the last look at the clock.
    paced: u32,
    /// Rows until the next, at most [`PACE_ROWS`].
    pace_rows: u32,
}

impl<'e> Exec<'e> {
    /// A statement that is about to run: it enters the engine with its first row and leaves it when this is
    /// dropped, however the statement ends.
    pub fn new(
        db: &'e Observed,
        session: &'e SessionState,
        txn: &'e mut Txn,
        eval: &'e EvalContext<'e>,
        interrupt: &'e Arc<Interrupt>,
        operation: Operation,
    ) -> Exec<'e> {
        txn.begin_statement(operation);
        session.begin_plan();
        Exec {
            db,
            session,
            txn,
            eval,
            interrupt,
            metadata_locks: [&[]; 3],
            keeping: None,
            changes: operation != Operation::FetchingRows,
            slice: Slice::default(),
            paced: 0,
            pace_rows: PACE_ROWS,
        }
    }

    /// Where something is kept.
    fn keeping(&mut self) -> &mut Keeping {
        let eval = self.eval;
        self.keeping.get_or_insert_with(|| Box::new(Keeping { charge: eval.charge(), ..Keeping::default() }))
    }

    /// The error of a sub-query that gave more rows than one when it last ran.
    fn failure(&self, subquery: &Subquery) -> Option<&SqlError> {
        self.keeping.as_ref()?.failed_subqueries.get(&(std::ptr::from_ref(subquery) as usize))
    }

    fn has_failures(&self) -> bool {
        self.keeping.as_ref().is_some_and(|keeping| !keeping.failed_subqueries.is_empty())
    }

    /// Called between pieces of work of microseconds: lets other sessions of the same worker run when the
    /// slice is over.
    async fn breathe(&mut self) -> Duration {
        self.session.take_work();
        self.slice.breathe().await
    }

    /// Called for every row that is joined, changed, inserted or passed on: rows kept in memory cost no page
    /// access, where a statement otherwise notices KILL and yields.
    async fn pace(&mut self) -> SqlResult<()> {
        self.paced += 1;
        if self.paced >= self.pace_rows || self.session.has_worked() {
            self.paced = 0;
            self.interrupt.check()?;
            // What a row takes may change a hundredfold from one to the next: the allocator tidies up, a
            // table of keys grows.
            let is_late = self.breathe().await >= SLICE * 2;
            self.pace_rows = if is_late { 1 } else { (self.pace_rows * 2).min(PACE_ROWS) };
            if self.session.row_steps() >= LONG_ROW_STEPS {
                relief::ahead();
            }
        }
        Ok(())
    }

    fn virtual_rows(&self, table: VirtualTable, step: &JoinStep, charge: &mut Charge) -> SqlResult<Rows> {
        let sought = virtual_scan::sought(self, table, step);
        information_schema::rows_sought(table, self.db, self.session, &sought, charge).map(Rows::from)
    }
}

impl Drop for Exec<'_> {
    fn drop(&mut self) {
        self.session.end_plan();
        self.txn.leave_engine();
    }
}
