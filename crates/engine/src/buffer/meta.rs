//! The meta page, page 0: which format this is, and the numbers that must not start again from a guess.
//!
//! ```text
//!   40                48            52       56               64                    96
//!   | "TSTILE02"      | page size   | unused | id mark u64    | counter pages u32*8 |
//! ```
//!
//! The *id mark* lies above every transaction id that was ever handed out. It is raised in a mini-transaction
//! of its own before the first id of the next range is handed out. All redo is one stream, so the redo of a
//! change by an id is behind that of the mark above it, and whatever of the log survives a crash contains the
//! mark if it contains the change; a page on disk that has the id had its redo synced before. So nobody has
//! to wait for a sync when the mark is raised.
//!
//! The first pages of the chains of AUTO_INCREMENT counters are listed here too; `txn/counters.rs` knows what
//! is in them.

use super::mtr::{Mtr, PageHandle};
use super::pool::{Pool, damaged};
use super::space::META_PAGE;
use super::storage::Storage;
use crate::error::Result;
use crate::ids::{PageNo, TxnId};
use crate::page::{HEADER_SIZE, PAGE_SIZE, PageKind};

const MAGIC: [u8; 8] = *b"TSTILE02";
const OFF_PAGE_SIZE: usize = HEADER_SIZE + 8;
const OFF_ID_MARK: usize = HEADER_SIZE + 16;
const OFF_COUNTERS: usize = HEADER_SIZE + 24;

/// Chains of counter pages.
pub const COUNTER_CHAINS: usize = 8;
/// The first id mark of a new data file: no id was handed out, and 0 is none.
const FIRST_ID: u64 = 1;

/// Fills the meta page of a new data file.
pub(super) fn format(mtr: &mut Mtr<'_>, meta: PageHandle) {
    mtr.init(meta, PageKind::Meta);
    mtr.write(meta, HEADER_SIZE, &MAGIC);
    mtr.write(meta, OFF_PAGE_SIZE, &(PAGE_SIZE as u32).to_le_bytes());
    mtr.write(meta, OFF_ID_MARK, &FIRST_ID.to_le_bytes());
}

/// Whether the data file is one of this format version.
pub(super) fn check(pool: &Pool) -> Result<()> {
    let meta = pool.load_blocking(META_PAGE)?.read();
    let magic = &meta.bytes()[HEADER_SIZE..HEADER_SIZE + 8];
    let what = if meta.kind() == Some(PageKind::Meta) && magic == b"TSTILE01" {
        "is of format version 1, which had no durable transaction ids and is not opened; load a dump made by the server that wrote it"
    } else if meta.kind() != Some(PageKind::Meta)
        || magic != MAGIC
        || meta.u32_at(OFF_PAGE_SIZE) as usize != PAGE_SIZE
    {
        "is not the meta page of this format version"
    } else {
        return Ok(());
    };
    Err(damaged(META_PAGE, what.into()))
}

impl Storage {
    /// Every transaction id ever handed out is below. Blocking; at open only.
    pub fn id_mark(&self) -> Result<TxnId> {
        let meta = self.pool.load_blocking(META_PAGE)?.read();
        let bytes = &meta.bytes()[OFF_ID_MARK..OFF_ID_MARK + 8];
        let mark = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        if mark < FIRST_ID {
            return Err(damaged(META_PAGE, "has no mark above the transaction ids".into()));
        }
        Ok(TxnId(mark))
    }

    /// Raises the mark. When this returns, ids below it may be handed out; nobody has to wait for the log.
    /// `Miss` changes nothing.
    pub fn raise_id_mark(&self, mark: TxnId) -> Result<()> {
        let meta = self.pool.try_pin(META_PAGE)?.write();
        let mut mtr = Mtr::begin(self);
        let meta = mtr.take(meta);
        mtr.write(meta, OFF_ID_MARK, &mark.0.to_le_bytes());
        mtr.commit();
        Ok(())
    }

    /// First page of a chain of counter pages; 0: there is none yet.
    pub fn first_counter_page(&self, chain: usize) -> Result<PageNo> {
        let meta = self.pool.try_pin(META_PAGE)?.read();
        Ok(PageNo(meta.u32_at(OFF_COUNTERS + 4 * chain)))
    }

    /// Latches the meta page for [`Storage::set_first_counter_page`].
    pub fn take_meta<'e>(&'e self, mtr: &mut Mtr<'e>) -> Result<PageHandle> {
        Ok(mtr.take(self.pool.try_pin(META_PAGE)?.write()))
    }

    /// Notes the first page of a chain, in the mini-transaction that makes it.
    pub fn set_first_counter_page(mtr: &mut Mtr<'_>, meta: PageHandle, chain: usize, page: PageNo) {
        mtr.write(meta, OFF_COUNTERS + 4 * chain, &page.0.to_le_bytes());
    }
}
