#![doc = include_str!("row/README.md")]

/// Runs a synchronous attempt until it needs no page that is not in memory: drop everything, await the page,
/// run again. Locks are not short meanwhile. A kill ends the wait. The wait is in a box, so that statements
/// that find their pages carry no room for it.
macro_rules! paged {
    ($txn:expr, $attempt:expr) => {
        match $attempt {
            Err($crate::error::Error::Miss(_)) => {
                let kernel = $txn.kernel.clone();
                let interrupt = $txn.options.interrupt.clone();
                $txn.locks.set_waiting(true);
                let wait = $crate::buffer::with_pages(&kernel.storage, || $attempt);
                let outcome = Box::pin(interrupt.interruptible(wait)).await;
                $txn.locks.set_waiting(false);
                outcome.unwrap_or_else(Err)
            }
            outcome => outcome,
        }
    };
}

/// As [`paged`], for what must be done although the statement was killed: taking changes back.
macro_rules! paged_through {
    ($txn:expr, $attempt:expr) => {
        match $attempt {
            Err($crate::error::Error::Miss(_)) => {
                let kernel = $txn.kernel.clone();
                $txn.locks.set_waiting(true);
                let outcome = $crate::buffer::with_pages(&kernel.storage, || $attempt).await;
                $txn.locks.set_waiting(false);
                outcome
            }
            outcome => outcome,
        }
    };
}

/// Before rows are fetched or written, holding no latch: the statement enters, or makes way if its tickets
/// are used up; then it pays. The wait is in a box, so that statements without a ticket carry no room for it.
macro_rules! admitted {
    ($txn:expr, $rows:expr) => {
        if $txn.admission_is_due() {
            Box::pin($txn.come_in()).await?;
        }
        $txn.spend($rows);
    };
}

pub(crate) mod build;
mod chain;
mod dead_pages;
mod get;
mod insert;
mod insert_run;
mod interior_purge;
mod prune;
pub(crate) mod purge;
mod scan;
mod scan_locked;
mod secondary;
pub(crate) mod undo;
mod update;
pub(crate) mod value;
pub(crate) mod version;
mod write;

pub use insert_run::RowRun;
pub use scan::Scan;
pub use update::UpdateDraft;

#[cfg(test)]
pub(crate) mod tests;
