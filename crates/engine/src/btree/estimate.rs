//! About how many records lie in a range of keys: what the ways from the root to its two ends leave between
//! them.
//!
//! On the level where the two ways part, whole entries lie between them; each level below multiplies these by
//! the entries of some pages between the two ends and adds what lies to the right of the one end and to the
//! left of the other. The pages at the ends are not asked how many entries a page has, unless there are no
//! others: where rows come in order behind each value of a key's first part, its last page has just begun.
//! Both ends in one leaf make the number exact. Nothing is loaded: where a page is not in memory
//! the levels below are taken for pages of the usual size. The two ways are read one after the other, so a
//! split between them makes the number wrong, and nothing else. Of the records between, as many are taken to
//! be delete-marked as in the leaves at the ends.

use super::descend::{Aim, child_at};
use super::{LEVELS_MAX, Tree};
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::{DELETE_MARK, PageView};
use smallvec::SmallVec;

/// Ways that are gone between the two ends.
const WAYS_BETWEEN: usize = 8;

/// The golden ratio's share: places so far apart lie in no step with what repeats in a tree.
const APART: f64 = 0.618_033_988_749_895;

/// Entries of a page that is not in memory.
const USUAL_ENTRIES: f64 = 200.0;

/// One end of a range on its way through one page.
struct Step {
    page: PageNo,
    level: u8,
    /// The entry that is followed; in a leaf the first record behind the end.
    slot: usize,
    count: usize,
    /// In a leaf: for each record whether it is delete-marked.
    marked: SmallVec<[u64; 16]>,
}

impl Step {
    /// Records of a leaf that are not delete-marked.
    fn live(&self, slots: std::ops::Range<usize>) -> usize {
        slots
            .filter(|slot| self.marked.get(slot / 64).is_none_or(|bits| bits >> (slot % 64) & 1 == 0))
            .count()
    }
}

fn marks(leaf: &PageView) -> SmallVec<[u64; 16]> {
    let mut marked = SmallVec::from_elem(0, leaf.slot_count().div_ceil(64));
    for slot in 0..leaf.slot_count() {
        marked[slot / 64] |= u64::from(leaf.record(slot).flags & DELETE_MARK != 0) << (slot % 64);
    }
    marked
}

type Way = SmallVec<[Step; 6]>;

/// The way to one end, as far as pages are in memory.
fn way(tree: &Tree, key: Option<&[u8]>, last: bool) -> Result<Way> {
    let aim = match key {
        Some(key) => Aim::Key(key),
        None if last => Aim::Last,
        None => Aim::First,
    };
    let mut way = Way::new();
    let mut guard = tree.latch_shared(tree.root)?;
    tree.check_alive()?;
    let mut level = guard.level();
    tree.check_page(&guard, level)?;
    loop {
        let (page, count) = (guard.page_no(), guard.slot_count());
        if level == 0 || way.len() >= LEVELS_MAX {
            let slot = match key {
                Some(key) => guard.search(key).unwrap_or_else(|slot| slot),
                None if last => count,
                None => 0,
            };
            way.push(Step { page, level, slot, count, marked: marks(&guard) });
            return Ok(way);
        }
        let slot = aim.entry(&guard);
        way.push(Step { page, level, slot, count, marked: SmallVec::new() });
        let Ok(next) = tree.latch_shared(child_at(&guard, slot)?) else { return Ok(way) };
        level -= 1;
        tree.check_page(&next, level)?;
        guard = next;
    }
}

/// Entries of pages on each level: their sum, and how many pages.
type Entries = [(usize, usize); LEVELS_MAX];

/// Adds the entries of pages on a way down from an entry of a page, through the middle of each, as far as
/// pages are in memory.
fn add_below(tree: &Tree, from: &Step, mut slot: usize, entries: &mut Entries) -> Result<()> {
    let mut level = from.level;
    let mut guard = tree.latch_shared(from.page)?;
    tree.check_page(&guard, level)?;
    while level > 0 && slot < guard.slot_count() {
        let next = tree.latch_shared(child_at(&guard, slot)?)?;
        level -= 1;
        tree.check_page(&next, level)?;
        let count = next.slot_count();
        let live = match level {
            0 => (0..count).filter(|slot| next.record(*slot).flags & DELETE_MARK == 0).count(),
            _ => count,
        };
        if let Some((sum, pages)) = entries.get_mut(usize::from(level)) {
            *sum += live;
            *pages += 1;
        }
        (guard, slot) = (next, count / 2);
    }
    Ok(())
}

/// The entries of pages that lie between two ways, which part on this page.
fn entries_between(tree: &Tree, left: &Step, right: &Step) -> Entries {
    let mut entries = Entries::default();
    let whole = right.slot.saturating_sub(left.slot + 1);
    for nth in 0..whole.min(WAYS_BETWEEN) {
        let place = match whole <= WAYS_BETWEEN {
            true => nth,
            false => ((nth as f64 * APART).fract() * whole as f64) as usize,
        };
        // A page that is not in memory, or has become another, tells nothing.
        let _ = add_below(tree, left, left.slot + 1 + place, &mut entries);
    }
    entries
}

/// About how many records have keys from `lower` on and before `upper`. `None` if even the root is not in
/// memory, or the tree is gone.
pub fn records_between(tree: &Tree, lower: Option<&[u8]>, upper: Option<&[u8]>) -> Option<u64> {
    let left = way(tree, lower, false).ok()?;
    let right = way(tree, upper, true).ok()?;
    let mut parted = false;
    let mut between = 0.0;
    let mut below = left.first()?.level;
    let mut seen = Entries::default();
    for (left, right) in left.iter().zip(&right) {
        if left.level != right.level {
            return None;
        }
        below = left.level;
        if parted || left.page != right.page {
            let (behind, before) = match left.level {
                0 => (left.live(left.slot..left.count), right.live(0..right.slot)),
                _ => (left.count.saturating_sub(left.slot + 1), right.slot),
            };
            let (entries, pages) = match (seen.get(usize::from(left.level)), left.level) {
                (Some((entries, pages)), _) if *pages > 0 => (*entries, *pages),
                (_, 0) => (left.live(0..left.count) + right.live(0..right.count), 2),
                _ => (left.count + right.count, 2),
            };
            between = between * entries as f64 / pages as f64 + (behind + before) as f64;
            parted = true;
            continue;
        }
        match left.level {
            0 => between = right.live(left.slot.min(right.slot)..right.slot) as f64,
            _ => {
                let apart = right.slot.saturating_sub(left.slot);
                parted = apart > 0;
                between = apart.saturating_sub(1) as f64;
                seen = entries_between(tree, left, right);
            }
        }
    }
    // Pages below are not in memory: of the ones at the ends about one half is meant each time.
    for _ in 0..below {
        between = (between + if parted { 1.0 } else { 0.5 }) * USUAL_ENTRIES;
        parted = true;
    }
    Some(between.round() as u64)
}
