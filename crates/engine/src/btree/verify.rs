//! Whether a tree is what the README says it is. Runs beside readers and writers; holds the structure mutex,
//! so splits wait. Other tasks of its thread do not: another thread looks after them
//! ([`turnstile_sys::relief`]).

use super::descend::child_at;
use super::{LEVELS_MAX, NO_PAGE, Tree, damaged};
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::{PageKind, PageView};
use rustc_hash::FxHashSet;
use turnstile_sys::relief;

/// What a tree consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Levels, the leaves included.
    pub levels: usize,
    /// Pages above the leaves.
    pub inner_pages: usize,
    /// Leaves.
    pub leaf_pages: usize,
    /// Leaves without records.
    pub empty_leaves: usize,
    /// Records in the leaves, delete-marked ones included.
    pub records: u64,
    /// Bytes that records and their slots fill in the leaves.
    pub leaf_bytes_used: u64,
    /// Every page of the tree, for an audit of the whole file.
    pub pages: Vec<PageNo>,
}

/// A page still to be looked at, and the bounds that its keys must obey: `low <= key < high`.
struct Task {
    page: PageNo,
    level: u8,
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
}

/// Checks order, levels, bounds, slots and heap of every page, that no page is reached twice, and the leaves'
/// links both ways. Loads what is not in memory, blocking the thread. The first damage found is the error.
pub fn verify(tree: &Tree) -> Result<Report> {
    let _structure = tree.structure.lock();
    let mut report = Report::default();
    let mut seen = FxHashSet::default();
    let mut leaves = Vec::new();
    let root_level = with_page(tree, tree.root, |view| Ok(view.level()))?;
    if usize::from(root_level) >= LEVELS_MAX {
        return Err(damaged(tree.root, "the tree is too high"));
    }
    report.levels = usize::from(root_level) + 1;
    let mut tasks = vec![Task { page: tree.root, level: root_level, low: None, high: None }];
    while let Some(task) = tasks.pop() {
        if !seen.insert(task.page) {
            return Err(damaged(task.page, "the page is in two places of the tree"));
        }
        relief::worked();
        report.pages.push(task.page);
        with_page(tree, task.page, |view| {
            check_page(tree, view, &task)?;
            if task.level == 0 {
                leaves.push((task.page, view.prev(), view.next()));
                report.leaf_pages += 1;
                report.records += view.slot_count() as u64;
                report.leaf_bytes_used += view.used() as u64;
                report.empty_leaves += usize::from(view.slot_count() == 0);
                return Ok(());
            }
            report.inner_pages += 1;
            // Last child first, so that the stack gives the leaves from left to right.
            let mut high = task.high.clone();
            for slot in (0..view.slot_count()).rev() {
                let low = if slot == 0 { task.low.clone() } else { Some(view.key(slot).to_vec()) };
                let page = child_at(view, slot)?;
                tasks.push(Task { page, level: task.level - 1, low: low.clone(), high });
                high = low;
            }
            Ok(())
        })?;
    }
    check_links(&leaves)?;
    Ok(report)
}

fn with_page<T>(tree: &Tree, page: PageNo, look: impl FnOnce(&PageView) -> Result<T>) -> Result<T> {
    look(&tree.storage.pool.load_blocking(page)?.read())
}

fn check_page(tree: &Tree, view: &PageView, task: &Task) -> Result<()> {
    let bad = |what: &str| Err(damaged(task.page, format!("index {}: {what}", tree.index)));
    let kind = if task.level == 0 { PageKind::TreeLeaf } else { PageKind::TreeInner };
    if view.page_no() != task.page || view.kind() != Some(kind) || view.level() != task.level {
        return bad(&format!("expected a page of level {}, found {view:?}", task.level));
    }
    if view.index_id() != tree.index {
        return bad(&format!("the page belongs to index {}", view.index_id()));
    }
    if let Err(what) = view.check() {
        return bad(what);
    }
    let count = view.slot_count();
    let first = if task.level == 0 {
        0
    } else {
        if count == 0 {
            return bad("inner page without entries");
        }
        if !view.key(0).is_empty() {
            return bad("the first entry of an inner page has a separator");
        }
        if view.prev() != NO_PAGE || view.next() != NO_PAGE {
            return bad("inner page with siblings");
        }
        1
    };
    if first < count {
        let (least, greatest) = (view.key(first), view.key(count - 1));
        let above_low =
            task.low.as_deref().is_none_or(|low| if task.level == 0 { low <= least } else { low < least });
        if !above_low {
            return bad("a key is below the separator that leads to its page");
        }
        if task.high.as_deref().is_some_and(|high| greatest >= high) {
            return bad("a key is not below the next separator");
        }
    }
    Ok(())
}

fn check_links(leaves: &[(PageNo, PageNo, PageNo)]) -> Result<()> {
    let mut left = NO_PAGE;
    for (nth, (page, prev, next)) in leaves.iter().enumerate() {
        if *prev != left {
            return Err(damaged(*page, format!("left link says {prev}, the left neighbour is {left}")));
        }
        let right = leaves.get(nth + 1).map_or(NO_PAGE, |(page, ..)| *page);
        if *next != right {
            return Err(damaged(*page, format!("right link says {next}, the right neighbour is {right}")));
        }
        left = *page;
    }
    Ok(())
}
