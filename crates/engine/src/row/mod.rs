#![doc = include_str!("README.md")]

mod chain;
mod get;
mod insert;
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

/// Runs a synchronous attempt until it needs no page that is not in memory: drop everything, await the page, run again.
macro_rules! paged {
    ($txn:expr, $attempt:expr) => {
        loop {
            match $attempt {
                Err($crate::error::Error::Miss(page)) => {
                    let kernel = $txn.kernel.clone();
                    $txn.locks.set_waiting(true);
                    let loaded = kernel.load(page).await;
                    $txn.locks.set_waiting(false);
                    if let Err(error) = loaded {
                        break Err(error);
                    }
                }
                outcome => break outcome,
            }
        }
    };
}
pub(crate) use paged;

#[cfg(test)]
mod tests;
