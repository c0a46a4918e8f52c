//! How purge's threads share a round, and what a round tells whoever looks.
//!
//! ```text
//!   coordinator:  limit, lanes with work --> job --> works too --> waits until nobody works
//!                 --> interior purge, delay
//!   helpers:      asleep ------- called --> take a lane, one batch of it, put it back, ... --> asleep
//! ```
//!
//! A lane is in the hands of one thread at a time: taking it takes it off the job. So threads share nothing
//! but this list, and two of them meet only where any two transactions may: at leaves and at the space map. A
//! helper is called only if there is enough to do, for on a machine that keeps up a wake-up costs more than
//! what it would take over.
//!
//! | field | who changes it | invariant |
//! |---|---|---|
//! | `Job.lanes` | whoever takes a lane or puts it back | lanes that may have more to purge; none is in two
//! hands |
//! | `Job.limit` | coordinator, between rounds | every view sees transactions below it |
//! | `Job.left` | whoever takes a batch | records that this round may still go through; `u64::MAX`: no cap |
//! | `Job.calls` | coordinator; a helper that comes | helpers called and not come |
//! | `Job.working` | helpers | helpers that hold a lane or look for one |

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use turnstile_sys::sync::{Condvar, Mutex, MutexGuard, wait_on};

use crate::error::{Error, Result};

use super::interior_purge::InteriorPurge;
use super::lane::Lane;
use super::view::CommitNo;

/// One more helper is called for so many batches of work.
const BATCHES_PER_HELPER: u64 = 4;

/// Some of a lane for one thread to purge.
#[derive(Debug)]
pub struct Batch {
    /// The lane.
    pub lane: Arc<Lane>,
    /// Transactions with a smaller commit number may go.
    pub limit: CommitNo,
    /// Undo records to go through at most.
    pub records: u64,
}

#[derive(Debug, Default)]
struct Job {
    lanes: VecDeque<Arc<Lane>>,
    limit: CommitNo,
    left: u64,
    batch: u64,
    calls: usize,
    working: usize,
    /// Helper threads there are.
    helpers: usize,
    closing: bool,
    failed: Option<Error>,
}

/// What purge has done, and what it asks of others. Relaxed atomics.
#[derive(Debug, Default)]
pub struct Progress {
    /// Rounds begun.
    pub rounds: AtomicU64,
    /// A round is under way.
    pub running: AtomicBool,
    /// Every transaction with a smaller id has been offered to purge.
    pub limit: AtomicU64,
    /// Undo pages gone through.
    pub pages: AtomicU64,
    /// Undo records gone through.
    pub records: AtomicU64,
    /// Undo records behind the oldest view that were looked at for versions between views.
    pub behind: AtomicU64,
    /// Rows and entries removed because they were delete-marked.
    pub marked: AtomicU64,
    /// Other records that left something to do: replaced versions of long rows, changes taken back.
    pub other: AtomicU64,
    /// How long a statement that changes rows is to wait before it begins, in microseconds.
    pub dml_delay_us: AtomicU64,
    /// Microseconds that statements have waited.
    pub dml_delayed_us: AtomicU64,
    /// Purge has been stopped.
    pub stopped: AtomicBool,
    /// How often it was stopped.
    pub stops: AtomicU64,
    /// How often it was resumed.
    pub resumes: AtomicU64,
}

/// The threads that purge.
#[derive(Debug, Default)]
pub struct PurgeCrew {
    /// For those who look.
    pub progress: Progress,
    /// Held by the coordinator of a round.
    round: Mutex<InteriorPurge>,
    job: Mutex<Job>,
    call: Condvar,
    done: Condvar,
}

impl PurgeCrew {
    /// Begins a round: one at a time. The guard has what rounds remember of their look behind the oldest
    /// view.
    pub fn begin_round(&self) -> MutexGuard<'_, InteriorPurge> {
        let round = self.round.lock();
        self.progress.rounds.fetch_add(1, Ordering::Relaxed);
        round
    }

    /// Lays the round's work out, of about `transactions`, and calls helpers if there is much of it. `left`:
    /// records of the whole round; `batch`: of one turn with a lane.
    pub fn lay_out(
        &self,
        lanes: Vec<Arc<Lane>>,
        limit: CommitNo,
        (transactions, left, batch): (u64, u64, u64),
    ) {
        let mut job = self.job.lock();
        let wanted =
            (transactions / (batch * BATCHES_PER_HELPER).max(1)).min(lanes.len().saturating_sub(1) as u64);
        job.calls = job.helpers.min(wanted as usize);
        job.lanes = lanes.into();
        job.limit = limit;
        job.left = left;
        job.batch = batch;
        for _ in 0..job.calls {
            self.call.notify_one();
        }
    }

    /// A batch for this thread. None: no lane is left, or the round has done as much as it may.
    pub fn take(&self) -> Option<Batch> {
        let mut job = self.job.lock();
        let records = job.batch.min(job.left);
        if records == 0 {
            return None;
        }
        let lane = job.lanes.pop_front()?;
        if job.left != u64::MAX {
            job.left -= records;
        }
        Some(Batch { lane, limit: job.limit, records })
    }

    /// Gives back what of a batch was not used, and the lane if there may be more in it.
    pub fn put_back(&self, lane: Option<Arc<Lane>>, unused: u64) {
        let mut job = self.job.lock();
        if job.left != u64::MAX {
            job.left += unused;
        }
        job.lanes.extend(lane);
    }

    /// After the coordinator has found no more to take: waits for its helpers, and tells what went wrong.
    pub fn finish(&self) -> Result<()> {
        let mut job = self.job.lock();
        job.calls = 0;
        while job.working > 0 {
            job = wait_on(&self.done, job);
        }
        job.lanes.clear();
        job.failed.take().map_or(Ok(()), Err)
    }

    /// A helper's thread reports for work, once.
    pub fn join(&self) {
        self.job.lock().helpers += 1;
    }

    /// A helper waits to be called. False: the engine closes. Else [`PurgeCrew::leave`] must follow.
    pub fn wait_for_call(&self) -> bool {
        let mut job = self.job.lock();
        while !job.closing {
            if job.calls > 0 {
                job.calls -= 1;
                job.working += 1;
                return true;
            }
            job = wait_on(&self.call, job);
        }
        false
    }

    /// A helper has found no more to take, or failed.
    pub fn leave(&self, outcome: Result<()>) {
        let mut job = self.job.lock();
        job.working -= 1;
        if let Err(error) = outcome {
            job.failed = Some(error);
        }
        if job.working == 0 {
            self.done.notify_all();
        }
    }

    /// Sends the helpers home.
    pub fn close(&self) {
        self.job.lock().closing = true;
        self.call.notify_all();
    }
}

#[cfg(all(test, shuttle))]
mod races_shuttle;
#[cfg(all(test, not(shuttle)))]
mod tests;
