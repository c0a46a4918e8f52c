//! One file of the faulty disk: what reads see, what is durable, and the list of changes in between.

use crate::disk::SECTOR_SIZE;
use crate::rng::Rng;
use std::collections::BTreeSet;
use std::io;

/// How much is lost at a crash; drawn once per crash, so that the mild and the brutal kinds both happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrashStyle {
    /// Chance that an unsynced change never reached the device.
    change_lost: f64,
    /// Chance that one sector of a write that did is lost.
    sector_lost: f64,
    /// Nothing after the first loss survives.
    in_order: bool,
}

impl CrashStyle {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        const CHANCES: [f64; 5] = [0.0, 0.05, 0.3, 0.7, 1.0];
        CrashStyle {
            change_lost: CHANCES[rng.index(CHANCES.len())],
            sector_lost: CHANCES[rng.index(CHANCES.len() - 1)],
            in_order: rng.chance(0.3),
        }
    }
}

#[derive(Clone, Debug)]
enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    SetLen(u64),
    Grow(u64),
}

/// A file's bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    cache: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
    /// Highest byte that was ever written or reserved and not cut since.
    occupied: u64,
}

fn put(image: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let start = offset as usize;
    let end = start + bytes.len();
    if image.len() < end {
        image.resize(end, 0);
    }
    image[start..end].copy_from_slice(bytes);
}

fn grow(image: &mut Vec<u8>, len: u64) {
    if image.len() < len as usize {
        image.resize(len as usize, 0);
    }
}

fn apply(image: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { offset, bytes } => put(image, *offset, bytes),
        Change::SetLen(len) => image.resize(*len as usize, 0),
        Change::Grow(len) => grow(image, *len),
    }
}

impl Image {
    pub(super) fn len(&self) -> u64 {
        self.cache.len() as u64
    }

    pub(super) fn occupied_bytes(&self) -> u64 {
        self.occupied
    }

    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let range = usize::try_from(offset)
            .ok()
            .and_then(|start| self.cache.get(start..start.checked_add(buffer.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(range);
        Ok(())
    }

    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) {
        put(&mut self.cache, offset, bytes);
        self.occupied = self.occupied.max(offset + bytes.len() as u64);
        self.pending.push(Change::Write { offset, bytes: bytes.to_vec() });
    }

    pub(super) fn set_len(&mut self, len: u64) {
        self.cache.resize(len as usize, 0);
        self.occupied = self.occupied.min(len);
        self.pending.push(Change::SetLen(len));
    }

    pub(super) fn allocate(&mut self, len: u64) {
        grow(&mut self.cache, len);
        self.occupied = self.occupied.max(len);
        self.pending.push(Change::Grow(len));
    }

    pub(super) fn sync(&mut self) {
        for change in self.pending.drain(..) {
            apply(&mut self.durable, &change);
        }
    }

    /// Some of the pending changes reach the device, the others never will.
    pub(super) fn fail_sync(&mut self, rng: &mut Rng) {
        let style = CrashStyle::draw(rng);
        self.durable = self.survivors(style, rng);
        self.pending.clear();
    }

    pub(super) fn after_crash(&self, style: CrashStyle, rng: &mut Rng) -> Image {
        let durable = self.survivors(style, rng);
        Image { cache: durable.clone(), occupied: durable.len() as u64, durable, pending: Vec::new() }
    }

    pub(super) fn flip_bit(&mut self, offset: u64, bit: u8) {
        for image in [&mut self.cache, &mut self.durable] {
            if let Some(byte) = image.get_mut(offset as usize) {
                *byte ^= 1 << (bit % 8);
            }
        }
    }

    fn survivors(&self, style: CrashStyle, rng: &mut Rng) -> Vec<u8> {
        let mut image = self.durable.clone();
        let mut lost_sectors = BTreeSet::new();
        let mut over = false;
        for change in &self.pending {
            let lost = over || rng.chance(style.change_lost);
            over |= lost && style.in_order;
            match change {
                Change::Write { offset, bytes } => {
                    for (sector, at, piece) in sectors(*offset, bytes) {
                        if lost || lost_sectors.contains(&sector) || rng.chance(style.sector_lost) {
                            lost_sectors.insert(sector);
                        } else {
                            put(&mut image, at, piece);
                        }
                    }
                }
                _ if lost => {}
                other => apply(&mut image, other),
            }
        }
        image
    }
}

/// Cuts a write at sector boundaries: (sector number, offset, bytes).
fn sectors(offset: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, u64, &[u8])> {
    let size = SECTOR_SIZE as u64;
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == bytes.len() {
            return None;
        }
        let at = offset + done as u64;
        let piece = ((size - at % size) as usize).min(bytes.len() - done);
        let result = (at / size, at, &bytes[done..done + piece]);
        done += piece;
        Some(result)
    })
}
