//! Consistent scans: a leaf at a time, no locks.
//!
//! A batch takes what one leaf has, then drops its latch. On the clustered tree the visitor sees rows under
//! the latch; on a secondary tree the entries are gathered first and rows are looked up afterwards, because
//! two trees are never latched at once. The scan remembers the last key, not a page, so splits and merges
//! between batches do not matter.
//!
//! An entry whose writer the reader sees is settled: unmarked, the row has that key; marked, it has not. For
//! any other entry the visible version of the row decides, by comparing its secondary key.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use super::value::{Payload, RowValue, split_entry, writer_of};
use super::version::{Seen, check_writer, visible};
use crate::api::{ScanIndex, ScanSpec, TableDef, Visit};
use crate::btree::{Direction, LeafRead, Tree};
use crate::error::{Error, Result};
use crate::ids::IndexId;
use crate::page::DELETE_MARK;
use crate::row::{chain, get};
use crate::txn::Txn;
use crate::txn::kernel::Kernel;
use crate::txn::trees::tree as tree_of;
use crate::txn::view::Sight;

/// The visitor of a scan: index key, primary key, row.
pub type Visitor<'v> = &'v mut (dyn FnMut(&[u8], &[u8], &[u8]) -> Visit + Send);

/// Says of an entry of a secondary tree, and the primary key that ends it, whether its row is wanted.
pub type Wanted<'w> = &'w mut (dyn FnMut(&[u8], &[u8]) -> bool + Send);

/// A scan's range and position.
pub struct Scan {
    pub(crate) table: TableDef,
    pub(crate) spec: ScanSpec,
    /// The last index key that was dealt with.
    pub(crate) last: Option<Vec<u8>>,
    pub(crate) done: bool,
    /// A locking scan has claimed the gap at its starting end.
    pub(crate) start_claimed: bool,
    /// The key whose lock a locking scan has waited for and got just now.
    pub(crate) waited: Option<Vec<u8>>,
    /// The range is one whole value of a unique index.
    pub(crate) one_value: bool,
    /// The row that has this value was met, and locked.
    pub(crate) met: bool,
    /// READ COMMITTED: a taken row is judged by its last committed version before it is waited for.
    pub(crate) semi_consistent: bool,
    /// At most so many rows are shown, or entries gathered, at once.
    few: Option<usize>,
    /// Entries gathered from one leaf, to be looked up.
    gathered: Gathered,
    /// Rows that the batch under way has fetched.
    fetched: u64,
}

impl Scan {
    /// A locking scan waits for every taken row in its range, also under READ COMMITTED. In InnoDB only
    /// UPDATE judges a taken row by its last committed version; DELETE and SELECT ... FOR UPDATE wait.
    pub fn wait_for_taken_rows(&mut self) {
        self.semi_consistent = false;
    }

    /// So many rows at its beginning are wanted, at least one: the first batch has no more, the next ones
    /// ever more.
    pub fn want_few(&mut self, rows: usize) {
        self.few = Some(rows.max(1));
    }

    /// A batch has had so many rows. One that the end of a leaf has cut short says nothing.
    fn dealt_with(&mut self, rows: usize) {
        self.few = self.few.map(|few| if rows < few { few } else { few.saturating_mul(2) });
    }

    /// The range is one value of a unique index, without NULL: a locking scan ends with the row that has it,
    /// and locks no gap around it.
    pub fn seek_one_value(&mut self) {
        self.one_value = !self.spec.reverse;
    }
}

/// Entries of one leaf, in one buffer.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    /// End of the key in `bytes`, bytes of its primary key, whether the entry is settled.
    entries: Vec<(usize, usize, bool)>,
}

impl Scan {
    pub(crate) fn new(table: &TableDef, spec: ScanSpec) -> Self {
        Scan {
            table: table.clone(),
            spec,
            last: None,
            done: false,
            start_claimed: false,
            waited: None,
            one_value: false,
            met: false,
            semi_consistent: true,
            few: None,
            gathered: Gathered::default(),
            fetched: 0,
        }
    }

    pub(crate) fn index(&self) -> Result<IndexId> {
        match self.spec.index {
            ScanIndex::Clustered => Ok(self.table.clustered),
            ScanIndex::Secondary(nth) => {
                self.table.secondaries.get(nth).map(|def| def.id).ok_or(Error::NoSuchIndex(IndexId(0)))
            }
        }
    }

    /// Bounds on a secondary tree speak of prefixes.
    fn by_prefix(&self) -> bool {
        self.spec.index != ScanIndex::Clustered
    }

    /// Whether a key has not yet reached the lower bound.
    pub(crate) fn is_below(&self, key: &[u8]) -> bool {
        match &self.spec.lower {
            Bound::Unbounded => false,
            Bound::Included(bound) => key < bound.as_slice(),
            Bound::Excluded(bound) => key <= bound.as_slice() || (self.by_prefix() && key.starts_with(bound)),
        }
    }

    /// Whether a key is past the upper bound.
    pub(crate) fn is_above(&self, key: &[u8]) -> bool {
        match &self.spec.upper {
            Bound::Unbounded => false,
            Bound::Included(bound) => key > bound.as_slice() && !(self.by_prefix() && key.starts_with(bound)),
            Bound::Excluded(bound) => key >= bound.as_slice(),
        }
    }

    /// Whether a key is past the end that the scan walks towards.
    pub(crate) fn is_past_end(&self, key: &[u8]) -> bool {
        if self.spec.reverse { self.is_below(key) } else { self.is_above(key) }
    }

    /// The least string above every string that begins with `prefix`; `None` if there is none.
    pub(crate) fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
        let end = prefix.iter().rposition(|&byte| byte != 0xff)?;
        let mut out = prefix[..=end].to_vec();
        out[end] += 1;
        Some(out)
    }

    /// Where the next seek begins.
    pub(crate) fn next_bound(&self) -> Bound<Vec<u8>> {
        if let Some(last) = &self.last {
            return Bound::Excluded(last.clone());
        }
        let bound = if self.spec.reverse { &self.spec.upper } else { &self.spec.lower };
        match (bound, self.spec.reverse) {
            (Bound::Included(key), true) if self.by_prefix() => {
                Self::after_prefix(key).map_or(Bound::Unbounded, Bound::Excluded)
            }
            (Bound::Excluded(key), false) if self.by_prefix() => match Self::after_prefix(key) {
                Some(after) => Bound::Included(after),
                None => Bound::Excluded(vec![0xff; crate::btree::KEY_BYTES_MAX]),
            },
            (bound, _) => bound.clone(),
        }
    }

    pub(crate) fn direction(&self) -> Direction {
        if self.spec.reverse { Direction::Reverse } else { Direction::Forward }
    }

    pub(crate) fn set_last(&mut self, key: &[u8]) {
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
    }

    /// The slots of a leaf from where the seek landed, in the scan's direction.
    fn slots(&self, leaf: &LeafRead<'_>) -> (usize, usize) {
        if self.spec.reverse { (0, leaf.slot() + 1) } else { (leaf.slot(), leaf.slot_count()) }
    }
}

/// Runs over `start..end` upwards or downwards.
fn ordered(start: usize, end: usize, reverse: bool) -> impl Iterator<Item = usize> {
    (start..end).map(move |slot| if reverse { start + end - 1 - slot } else { slot })
}

/// How a pass over one leaf ended.
enum Pass {
    /// Go on with the next leaf.
    More,
    /// The range is at its end, or the visitor has had enough.
    End,
    /// The row at the scan's last key is in a chain: this is its leaf value.
    Chained(Vec<u8>),
}

impl Txn {
    /// Prepares a scan.
    pub fn scan(&mut self, table: &TableDef, spec: ScanSpec) -> Scan {
        Scan::new(table, spec)
    }

    /// Consistent scan: visits the visible rows of one leaf, `visit(index key, primary key, row)`, under the
    /// leaf's latch; false when there are no more.
    pub async fn scan_batch(&mut self, scan: &mut Scan, visit: Visitor<'_>) -> Result<bool> {
        scan.batch_of(self, &mut |_, _| true, visit).await
    }
}

impl Scan {
    /// The same, but of a secondary tree only rows are fetched whose entry `wanted` accepts: what it refuses
    /// must not depend on anything but the entry's bytes.
    pub async fn batch_of(&mut self, txn: &mut Txn, wanted: Wanted<'_>, visit: Visitor<'_>) -> Result<bool> {
        let scan = self;
        if scan.done {
            return Ok(false);
        }
        txn.options.interrupt.check()?;
        admitted!(txn, 0);
        scan.fetched = 0;
        let index = scan.index()?;
        let tree = paged!(txn, tree_of(txn, index))?;
        let sight = txn.sight();
        let more = match scan.spec.index {
            ScanIndex::Clustered => match paged!(txn, pass_rows(txn, &tree, scan, &sight, visit))? {
                Pass::More => true,
                Pass::End => false,
                Pass::Chained(value) => {
                    let row = chain::fetch_payload(txn, &value).await?;
                    let key = scan.last.clone().unwrap_or_default();
                    visit(&key, &key, &row) == Visit::Continue
                }
            },
            ScanIndex::Secondary(nth) => {
                let more = paged!(txn, gather_entries(&txn.kernel, &tree, scan, &sight))?;
                look_up(txn, scan, (nth, &sight), wanted, visit).await? && more
            }
        };
        scan.done = !more;
        // A leaf without visible rows is work too.
        txn.spend(scan.fetched.max(1));
        Ok(more)
    }
}

fn pass_rows(txn: &Txn, tree: &Tree, scan: &mut Scan, sight: &Sight, visit: Visitor<'_>) -> Result<Pass> {
    let bound = scan.next_bound();
    let Some(leaf) = tree.seek(as_slice(&bound), scan.direction())? else { return Ok(Pass::End) };
    let mut older = Vec::new();
    let (start, end) = scan.slots(&leaf);
    let mut count = 0;
    let few = scan.few.map(|few| few as u64);
    let mut last = None;
    let outcome = ordered(start, end, scan.spec.reverse).try_for_each(|slot| {
        let record = leaf.record(slot);
        if scan.is_past_end(record.key) {
            return ControlFlow::Break(Ok(Pass::End));
        }
        let value = match visible(&txn.kernel, &record, sight, &mut older) {
            Err(error) => return ControlFlow::Break(Err(error)),
            Ok(Seen::Nothing) => {
                last = Some(slot);
                return ControlFlow::Continue(());
            }
            Ok(Seen::Newest) => record.value,
            Ok(Seen::Older) => older.as_slice(),
        };
        last = Some(slot);
        count += 1;
        match RowValue::decode(value) {
            Err(error) => ControlFlow::Break(Err(error)),
            Ok(RowValue { payload: Payload::Chain { .. }, .. }) => {
                ControlFlow::Break(Ok(Pass::Chained(value.to_vec())))
            }
            Ok(RowValue { payload: Payload::Inline(row), .. }) => match visit(record.key, record.key, row) {
                Visit::Continue if few.is_some_and(|few| count >= few) => ControlFlow::Break(Ok(Pass::More)),
                Visit::Continue => ControlFlow::Continue(()),
                Visit::Stop => ControlFlow::Break(Ok(Pass::End)),
            },
        }
    });
    scan.dealt_with(usize::try_from(count).unwrap_or(usize::MAX));
    scan.fetched += count;
    txn.options.status.rows().read.add(count);
    if let Some(slot) = last {
        scan.set_last(leaf.record(slot).key);
    }
    match outcome {
        ControlFlow::Continue(()) => Ok(Pass::More),
        ControlFlow::Break(outcome) => outcome,
    }
}

/// Visits the gathered entries, with their rows if wanted. False: the visitor has had enough.
async fn look_up(
    txn: &mut Txn,
    scan: &mut Scan,
    (nth, sight): (usize, &Sight),
    wanted: Wanted<'_>,
    visit: Visitor<'_>,
) -> Result<bool> {
    let gathered = std::mem::take(&mut scan.gathered);
    let tree = paged!(txn, tree_of(txn, scan.table.clustered))?;
    let mut value = Vec::new();
    let mut key_bytes = Vec::new();
    let (mut begin, mut looked, mut refused) = (0, 0, 0);
    let mut more = true;
    for &(end, pk_len, speaks) in &gathered.entries {
        looked += 1;
        let key = &gathered.bytes[begin..end];
        begin = end;
        let (secondary, pk) = key.split_at(key.len() - pk_len);
        if !wanted(key, pk) {
            refused += 1;
            continue;
        }
        let want_row = scan.spec.fetch_row;
        if speaks && !want_row {
            more = visit(key, pk, &[]) == Visit::Continue;
        } else if paged!(txn, get::try_fetch_visible(txn, &tree, pk, sight, &mut value))? {
            let chained;
            let row = match RowValue::decode(&value)?.payload {
                Payload::Inline(row) => row,
                Payload::Chain { .. } => {
                    chained = chain::fetch_payload(txn, &value).await?;
                    &chained
                }
            };
            key_bytes.clear();
            if !speaks {
                scan.table.keys.secondary_key(nth, row, &mut key_bytes);
            }
            if speaks || key_bytes == secondary {
                more = visit(key, pk, if want_row { row } else { &[] }) == Visit::Continue;
            }
        }
        if !more {
            break;
        }
    }
    scan.fetched += looked;
    txn.options.status.rows().read.add(looked - refused);
    scan.gathered = gathered;
    Ok(more)
}

/// Copies the entries of one leaf that may be visible. False: the range is at its end.
fn gather_entries(kernel: &Kernel, tree: &Arc<Tree>, scan: &mut Scan, sight: &Sight) -> Result<bool> {
    let mut gathered = std::mem::take(&mut scan.gathered);
    gathered.bytes.clear();
    gathered.entries.clear();
    let bound = scan.next_bound();
    let Some(leaf) = tree.seek(as_slice(&bound), scan.direction())? else {
        scan.gathered = gathered;
        return Ok(false);
    };
    let (start, end) = scan.slots(&leaf);
    let mut more = true;
    let mut last = None;
    for slot in ordered(start, end, scan.spec.reverse) {
        let record = leaf.record(slot);
        if scan.is_past_end(record.key) {
            more = false;
            break;
        }
        last = Some(slot);
        let writer = writer_of(record.value)?;
        let speaks = sight.settles(writer);
        if !speaks || matches!(sight, Sight::Newest) {
            check_writer(kernel, writer)?;
        }
        if speaks && record.flags & DELETE_MARK != 0 {
            continue;
        }
        let (_, pk) = split_entry(record.key, record.value)?;
        gathered.bytes.extend_from_slice(record.key);
        gathered.entries.push((gathered.bytes.len(), pk.len(), speaks));
        if scan.few.is_some_and(|few| gathered.entries.len() >= few) {
            break;
        }
    }
    scan.dealt_with(gathered.entries.len());
    if let Some(slot) = last {
        scan.set_last(leaf.record(slot).key);
    }
    scan.gathered = gathered;
    Ok(more)
}

pub(crate) fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(key) => Bound::Included(key),
        Bound::Excluded(key) => Bound::Excluded(key),
    }
}
