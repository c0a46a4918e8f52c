#![doc = include_str!("README.md")]

/// Runs a synchronous attempt until it needs no page that is not in memory: drop everything, await the page, run again. Locks
/// are not short meanwhile.
macro_rules! paged {
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

/// Before rows are fetched or written, holding no latch: the statement enters, or makes way if its tickets are used up; then it pays.
/// The wait is in a box, so that statements without a ticket carry no room for it.
macro_rules! admitted {
    ($txn:expr, $rows:expr) => {
        if $txn.admission_is_due() {
            Box::pin($txn.come_in()).await?;
        }
        $txn.spend($rows);
    };
}

mod between_views;
pub(crate) mod build;
mod chain;
mod dead_pages;
mod get;
mod insert;
mod prune;
pub(crate) mod purge;
mod scan;
mod scan_locked;
mod secondary;
pub(crate) mod undo;
mod update;
pub(crate) mod value;
mod version;
mod write;

pub use scan::Scan;

#[cfg(test)]
pub(crate) mod tests;
