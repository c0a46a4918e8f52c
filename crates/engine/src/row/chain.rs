//! Rows too long for a leaf: reading and freeing their overflow chains.

use super::value::{Payload, RowValue};
use crate::btree::overflow::{ChainReader, free_first, free_tail_step};
use crate::buffer::{Mtr, Storage};
use crate::error::Result;
use crate::ids::PageNo;
use crate::txn::Txn;

/// The row's bytes, from a leaf value that was copied out of its page. The chain stands still: its reader
/// holds the row's lock or a view.
pub(crate) async fn fetch_payload(txn: &mut Txn, value: &[u8]) -> Result<Vec<u8>> {
    match RowValue::decode(value)?.payload {
        Payload::Inline(row) => Ok(row.to_vec()),
        Payload::Chain { first, len } => {
            let kernel = txn.kernel.clone();
            let mut reader = ChainReader::new(first, len as usize);
            paged!(txn, reader.read(&kernel.storage))?;
            Ok(reader.into_value())
        }
    }
}

/// Frees a chain that nothing on disk refers to. May be repeated after a miss.
pub(crate) fn free_whole(storage: &Storage, first: PageNo) -> Result<()> {
    while !free_tail_step(storage, first)? {}
    let mut mtr = Mtr::begin(storage);
    free_first(&mut mtr, first);
    mtr.commit();
    Ok(())
}
