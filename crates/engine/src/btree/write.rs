//! Writing one leaf, inside the caller's mini-transaction.
//!
//! [`LeafWrite`] holds the leaf exclusively and answers whether a change fits. [`LeafWrite::enter`] gives the
//! latch to a mini-transaction; [`LeafEdit`] then makes the changes, which cannot fail any more.

use super::{Position, Tree};
use crate::buffer::{Mtr, PageHandle, WriteGuard};
use crate::error::Result;
use crate::page::edit::NewRecord;
use crate::page::{PageView, Record, edit};

/// A leaf fuller than this many bytes is left alone by `shrink`; one with fewer is worth a call.
pub(crate) const UNDERFULL_BYTES: usize = super::CAPACITY / 4;

/// A leaf under an exclusive latch, not yet part of a mini-transaction.
pub struct LeafWrite<'t> {
    guard: WriteGuard<'t>,
    position: Position,
}

impl<'t> LeafWrite<'t> {
    /// The frame that holds it.
    #[cfg(test)]
    pub(crate) fn frame_index(&self) -> u32 {
        self.guard.frame_index()
    }

    /// The page.
    #[inline]
    pub fn view(&self) -> &PageView {
        &self.guard
    }

    /// Where the key is or would be.
    #[inline]
    pub fn position(&self) -> Position {
        self.position
    }

    /// The record of a slot.
    #[inline]
    pub fn record(&self, slot: usize) -> Record<'_> {
        self.guard.record(slot)
    }

    /// The record with the key that was asked for, if there is one.
    #[inline]
    pub fn found(&self) -> Option<Record<'_>> {
        match self.position {
            Position::Found(slot) => Some(self.guard.record(slot)),
            Position::Missing(_) => None,
        }
    }

    /// Whether a record with such lengths can be inserted. If not: drop the leaf, `Tree::make_room`, and
    /// again.
    pub fn fits_insert(&self, key_len: usize, value_len: usize) -> bool {
        self.guard.fits(key_len, value_len)
    }

    /// Whether the key that was asked for comes behind all there are: this is the last leaf, and its last
    /// record is below.
    pub fn is_at_end(&self) -> bool {
        self.position == Position::Missing(self.guard.slot_count()) && self.guard.next() == super::NO_PAGE
    }

    /// Bytes that [`LeafEdit::append`] may fill, slots counted in.
    pub fn room_at_end(&self) -> usize {
        self.guard.contiguous_free()
    }

    /// Whether the record of `slot` can be given a value of that length.
    pub fn fits_replace(&self, slot: usize, value_len: usize) -> bool {
        self.guard.fits_value(slot, value_len)
    }

    /// Hands the latch to the mini-transaction, which keeps it until it commits.
    pub fn enter(self, mtr: &mut Mtr<'t>) -> LeafEdit {
        LeafEdit { handle: mtr.take(self.guard), position: self.position }
    }
}

/// A leaf that belongs to a mini-transaction. Valid only with the mini-transaction it entered.
#[derive(Clone, Copy, Debug)]
pub struct LeafEdit {
    handle: PageHandle,
    position: Position,
}

impl LeafEdit {
    /// Where the key was when the leaf was latched. Insertions and removals by the caller since then are not
    /// counted in.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The page in its present state.
    pub fn view<'m>(&self, mtr: &'m Mtr<'_>) -> &'m PageView {
        mtr.page(self.handle)
    }

    /// Inserts a record before `slot`. The caller has seen `fits_insert` say yes under this latch.
    pub fn insert(&self, mtr: &mut Mtr<'_>, slot: usize, key: &[u8], value: &[u8], flags: u8) {
        edit::insert(&mut mtr.edit(self.handle), slot, flags, key, value)
            .expect("fits_insert was asked under the same latch");
    }

    /// Appends records with ascending keys behind the last one. The caller has seen that the first key is at
    /// the end, and that there is room for all of them, under this latch.
    pub fn append<'r>(&self, mtr: &mut Mtr<'_>, records: impl Iterator<Item = NewRecord<'r>>) {
        edit::append(&mut mtr.edit(self.handle), records);
    }

    /// Gives a record a new value. The caller has seen `fits_replace` say yes under this latch; a value of
    /// the old length, or shorter, always fits.
    pub fn replace(&self, mtr: &mut Mtr<'_>, slot: usize, value: &[u8]) {
        edit::replace_value(&mut mtr.edit(self.handle), slot, value)
            .expect("fits_replace was asked under the same latch");
    }

    /// Sets a record's flags.
    pub fn set_flags(&self, mtr: &mut Mtr<'_>, slot: usize, flags: u8) {
        edit::set_flags(&mut mtr.edit(self.handle), slot, flags);
    }

    /// Removes a record. After the commit, ask `wants_shrink` first and call `Tree::shrink` if it says so.
    pub fn remove(&self, mtr: &mut Mtr<'_>, slot: usize) {
        edit::remove(&mut mtr.edit(self.handle), slot);
    }

    /// Whether the leaf has become so empty that `Tree::shrink` may do something about it. Ask before the
    /// commit, call after it.
    pub fn wants_shrink(&self, mtr: &Mtr<'_>) -> bool {
        let view = self.view(mtr);
        view.used() < UNDERFULL_BYTES && !(view.prev() == super::NO_PAGE && view.next() == super::NO_PAGE)
    }
}

impl Tree {
    /// The leaf that has `key` or would have it, exclusive, and the place in it.
    #[inline]
    pub fn leaf_for_write(&self, key: &[u8]) -> Result<LeafWrite<'_>> {
        let (guard, position) = self.approach_exclusive(key)?;
        Ok(LeafWrite { guard, position })
    }
}
