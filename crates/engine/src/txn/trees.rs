//! The trees that a session's transactions have used last, so that a statement finds its tree without writing
//! where other sessions write.
//!
//! A handle of a tree is shared by all who use the index, and whoever clones it counts itself on the handle's
//! cache line: with many workers that line is never at home. So a session keeps what it has found, behind a
//! count of its own ([`turnstile_sys::known`]), and its statements clone that.
//!
//! | field | who changes it | invariant |
//! |---|---|---|
//! | `kept` | `tree` | handles that the directory gave out; one whose index is gone is alive only as memory |
//! | `next` | `tree` | the place that is given up next |
//!
//! Whether the index is still there is asked every time: a handle is marked when its index is dropped, and an
//! index id is never given again.

use std::sync::Arc;

use turnstile_sys::known::Known;

use crate::btree::Tree;
use crate::error::Result;
use crate::ids::IndexId;

use super::kernel::Kernel;
use super::transaction::Txn;

/// Trees that are kept: what a transaction of a shop touches, with its keys.
const KEPT_MAX: usize = 8;

/// Trees found before.
#[derive(Default)]
pub struct Trees {
    kept: Vec<(IndexId, Known<Tree>)>,
    next: usize,
}

impl Trees {
    fn tree(&mut self, kernel: &Kernel, index: IndexId) -> Result<Known<Tree>> {
        if let Some((_, tree)) = self.kept.iter().find(|(kept, _)| *kept == index) {
            tree.check_alive()?;
            return Ok(tree.clone());
        }
        let tree = Arc::new(kernel.tree(index)?);
        if self.kept.len() < KEPT_MAX {
            self.kept.push((index, tree.clone()));
        } else {
            self.kept[self.next] = (index, tree.clone());
            self.next = (self.next + 1) % KEPT_MAX;
        }
        Ok(tree)
    }
}

/// The tree of an index, as [`Kernel::tree`] gives it.
#[inline]
pub fn tree(txn: &mut Txn, index: IndexId) -> Result<Known<Tree>> {
    txn.trees.tree(&txn.kernel, index)
}
