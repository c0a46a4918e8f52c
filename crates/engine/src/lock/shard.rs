//! One shard of the table: the names that hash to it, who holds them, all behind one short mutex.
//!
//! Two slabs, entries (one per locked name) and nodes (one per hold or wait), indexed by `u32` and reused
//! through free lists, so that locking and releasing a row allocates nothing once the shard is warm. A hold
//! can be found from its transaction by its node number, and is unlinked in constant time however many others
//! share the name (thousands of sessions hold IX on one table). Waiters are in `queue.rs`.

use super::hot_rows::HotRows;
use super::mode::{BITS, Want};
use super::name::{LockName, OwnedName};
use super::owner::{HeldRef, TxnLocks};
use super::queue::Queue;
use super::wait::{Outcome, Waiter};
use crate::api::HotRow;
use hashbrown::HashTable;
use smallvec::SmallVec;
use std::sync::Arc;
use std::task::Waker;

/// No entry, no node.
pub(super) const NONE: u32 = u32::MAX;
/// Slabs beyond this many entries are given back when the shard falls empty, and queues of free entries at
/// once.
const KEEP_ENTRIES: usize = 1024;

/// Memory of one hold at most, but for the heap of a long key: entry, node, places in the map, in the free
/// lists and in its transaction's list. A vector or map that has just grown is half empty.
const HOLD_BYTES: usize =
    2 * (size_of::<Entry>() + size_of::<Node>() + size_of::<HeldRef>() + 4 * size_of::<u32>());

/// What is to be done once the shard's mutex is free.
#[derive(Debug, Default)]
pub(super) struct Woken {
    /// Waiters to be told: with an outcome, or (`None`) to try for themselves.
    pub waiters: SmallVec<[(Arc<Waiter>, Option<Outcome>); 4]>,
    /// Transactions that wait for those before them to end, or for those behind them to be gone.
    pub tasks: SmallVec<[Waker; 1]>,
    /// Transactions that rest and come after nobody any more: they may hand on to whoever it is.
    pub firsts: SmallVec<[Arc<TxnLocks>; 1]>,
    /// Transactions that come after another one, and have a new lock, which may have closed a cycle.
    pub suspects: SmallVec<[Arc<TxnLocks>; 1]>,
    /// Rows that were handed on.
    pub handed_on: u64,
}

impl Woken {
    /// Nobody yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a waiter, and what its wait ends with; `None` where it is only invited to look again.
    pub fn push(&mut self, waiter: (Arc<Waiter>, Option<Outcome>)) {
        self.waiters.push(waiter);
    }
}

/// A hold or a wait.
#[derive(Debug)]
pub(super) struct Node {
    /// `None` in the free list.
    pub txn: Option<Arc<TxnLocks>>,
    /// The wait; `None` for a hold.
    pub waiter: Option<Arc<Waiter>>,
    pub entry: u32,
    pub prev: u32,
    pub next: u32,
    /// What is held; nothing for a wait.
    pub bits: u8,
    /// A hold that was handed on: it is among its entry's `handed`, and its bits do not count.
    pub handed: bool,
}

/// A doubly linked list of nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub first: u32,
    pub last: u32,
}

impl List {
    /// A list without nodes.
    pub const EMPTY: List = List { first: NONE, last: NONE };
}

/// A locked name.
#[derive(Debug)]
pub(super) struct Entry {
    pub hash: u64,
    pub name: OwnedName,
    pub holders: List,
    /// Holds that were handed on and whose transactions have not ended, in the order in which these must end.
    /// If there are any, then there is a holder of the record, who ends after them.
    pub handed: List,
    pub handed_len: u32,
    /// Most of them at the moment: fewer after a rollback took others along, more again with each commit.
    pub reach: u32,
    /// Holders per bit; a transaction counts once in each of its bits.
    pub held: [u32; BITS],
    /// Kept when it empties: a name that was waited for will be again.
    pub queue: Option<Box<Queue>>,
}

impl Entry {
    /// Whether the name is a table's.
    pub fn is_table(&self) -> bool {
        self.name.is_table()
    }

    /// Whether a transaction other than the one that holds `own` holds any of `bits`.
    pub fn held_by_others(&self, bits: u8, own: u8) -> bool {
        (0..BITS).any(|bit| bits & 1 << bit != 0 && self.held[bit] > u32::from(own >> bit & 1))
    }

    /// Memory that a hold on it takes at most. Every holder counts the whole name: it outlives the others.
    pub fn hold_bytes(&self) -> u64 {
        (HOLD_BYTES + self.name.heap_bytes()) as u64
    }

    /// Adds to the holders of each of these bits.
    pub fn count(&mut self, bits: u8, change: i32) {
        for (bit, count) in self.held.iter_mut().enumerate() {
            if bits & 1 << bit != 0 {
                *count = count.wrapping_add_signed(change);
            }
        }
    }

    /// How many wait for it.
    pub fn waiters(&self) -> u32 {
        self.queue.as_ref().map_or(0, |queue| queue.length)
    }
}

/// What the shard's mutex guards.
#[derive(Debug, Default)]
pub(super) struct Shard {
    /// This shard's number.
    pub number: u32,
    /// Whether, and when, rows are handed on; None in a shard alone.
    pub hot_row: Option<Arc<HotRow>>,
    names: HashTable<u32>,
    pub entries: Vec<Entry>,
    free_entries: Vec<u32>,
    pub nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    /// Holds on rows and gaps.
    pub row_holds: HoldCounts,
    /// Holds on tables.
    pub table_holds: HoldCounts,
    /// Which rows are fought for.
    pub hot_rows: HotRows,
}

/// How many holds there were.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HoldCounts {
    /// Ever made.
    pub created: u64,
    /// Ever dropped.
    pub removed: u64,
}

impl Shard {
    /// The entry of this number.
    pub fn entry(&self, entry: u32) -> &Entry {
        &self.entries[entry as usize]
    }
    /// The same, to change it.
    pub fn entry_mut(&mut self, entry: u32) -> &mut Entry {
        &mut self.entries[entry as usize]
    }
    /// The node of this number.
    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }
    /// The transaction of a node that is in a list.
    pub fn owner(&self, node: u32) -> &Arc<TxnLocks> {
        self.nodes[node as usize].txn.as_ref().expect("a node in a list has its transaction")
    }

    /// Whether this is a node of the transaction's still.
    pub fn is_of(&self, node: u32, txn: &Arc<TxnLocks>) -> bool {
        let owner = self.nodes.get(node as usize).and_then(|node| node.txn.as_ref());
        owner.is_some_and(|owner| Arc::ptr_eq(owner, txn))
    }

    /// The entry of a name; `None` if nobody has locked it or waits for it.
    pub fn find(&self, name: LockName<'_>, hash: u64) -> Option<u32> {
        self.names.find(hash, |&entry| self.entries[entry as usize].name.matches(name)).copied()
    }

    /// A name in use of which only the hash is known.
    pub fn with_hash(&self, hash: u64) -> Option<u32> {
        self.names.find(hash, |&entry| self.entries[entry as usize].hash == hash).copied()
    }

    /// The entry of a name, made where there is none.
    pub fn find_or_create(&mut self, name: LockName<'_>, hash: u64) -> u32 {
        self.find(name, hash).unwrap_or_else(|| self.create(name, hash))
    }

    /// Makes an entry for a name that has none.
    pub fn create(&mut self, name: LockName<'_>, hash: u64) -> u32 {
        let entry = match self.free_entries.pop() {
            Some(entry) => {
                let reused = self.entry_mut(entry);
                reused.hash = hash;
                reused.name.assign(name);
                reused.reach = u32::MAX;
                entry
            }
            None => {
                let entry = u32::try_from(self.entries.len()).expect("fewer than 2^32 names per shard");
                let (holders, handed) = (List::EMPTY, List::EMPTY);
                let (name, held) = (name.into(), [0; BITS]);
                self.entries.push(Entry {
                    hash,
                    name,
                    holders,
                    handed,
                    handed_len: 0,
                    reach: u32::MAX,
                    held,
                    queue: None,
                });
                entry
            }
        };
        let entries = &self.entries;
        self.names.insert_unique(hash, entry, |&other| entries[other as usize].hash);
        entry
    }

    /// Drops the name if nobody holds it or waits for it.
    pub fn drop_if_idle(&mut self, entry: u32) {
        let idle = self.entry(entry);
        if idle.holders.first != NONE || idle.waiters() > 0 {
            return;
        }
        let hash = idle.hash;
        let found = self.names.find_entry(hash, |&other| other == entry);
        found.expect("a name in use is in the map").remove();
        let keeps = self.entries.len() <= KEEP_ENTRIES;
        let free = self.entry_mut(entry);
        free.name.forget();
        if !keeps {
            free.queue = None;
        }
        self.free_entries.push(entry);
        if self.names.is_empty() && self.entries.len() > KEEP_ENTRIES {
            let (number, row_holds, table_holds) = (self.number, self.row_holds, self.table_holds);
            let (hot_row, hot_rows) = (self.hot_row.take(), std::mem::take(&mut self.hot_rows));
            *self = Shard { number, hot_row, row_holds, table_holds, hot_rows, ..Shard::default() };
        }
    }

    /// The node by which this transaction holds this name.
    pub fn own_hold(&self, entry: u32, txn: &TxnLocks) -> Option<u32> {
        if !txn.may_hold(self.entry(entry).hash) {
            return None;
        }
        let mut node = self.entry(entry).holders.first;
        while node != NONE {
            let hold = self.node(node);
            if hold.txn.as_ref().is_some_and(|owner| std::ptr::eq(&raw const **owner, txn)) {
                return Some(node);
            }
            node = hold.next;
        }
        None
    }

    /// What this transaction holds on this name.
    pub fn own_bits(&self, entry: u32, txn: &TxnLocks) -> u8 {
        self.own_hold(entry, txn).map_or(0, |node| self.node(node).bits)
    }

    /// Makes the transaction hold `bits` more. False, and nothing happens, if it has released everything
    /// already: its end and a lock on its behalf meet under `inner`.
    pub fn add_hold(&mut self, entry: u32, own: Option<u32>, txn: &Arc<TxnLocks>, bits: u8) -> bool {
        let is_table = self.entry(entry).is_table();
        let mut inner = txn.inner.lock();
        if inner.ended {
            return false;
        }
        if is_table && let LockName::Table(table) = self.entry(entry).name.name() {
            match inner.tables.iter_mut().find(|(other, _)| *other == table) {
                Some((_, held)) => *held |= bits,
                None => inner.tables.push((table, bits)),
            }
        }
        let added = match own {
            Some(node) => {
                let hold = &mut self.nodes[node as usize];
                let added = bits & !hold.bits;
                hold.bits |= bits;
                added
            }
            None => {
                let node = self.new_node(txn.clone(), None, entry, bits);
                let held = HeldRef { shard: self.number, node };
                let name = self.entry(entry);
                txn.note_hold(&mut inner, held, name.hash, name.hold_bytes());
                let mut holders = self.entry(entry).holders;
                self.link_last(&mut holders, node);
                self.entry_mut(entry).holders = holders;
                self.holds(is_table).created += 1;
                bits
            }
        };
        drop(inner);
        self.entry_mut(entry).count(added, 1);
        if self.entry(entry).waiters() > 0 {
            txn.note_waited_for();
        }
        if !is_table {
            HotRows::note_grant(self, entry, added);
        }
        if txn.is_waiting() {
            self.mark_converting(entry, txn);
        }
        true
    }

    /// Takes `bits` from a hold; true if that was all of it and its node is gone (the transaction's list is
    /// the caller's).
    pub fn remove_bits(&mut self, node: u32, bits: u8) -> bool {
        let hold = &mut self.nodes[node as usize];
        let (removed, entry) = (hold.bits & bits, hold.entry);
        hold.bits &= !bits;
        let gone = hold.bits == 0;
        self.entry_mut(entry).count(removed, -1);
        if gone {
            let mut holders = self.entry(entry).holders;
            self.unlink(&mut holders, node);
            self.entry_mut(entry).holders = holders;
            self.free_node(node);
            let is_table = self.entry(entry).is_table();
            self.holds(is_table).removed += 1;
        }
        gone
    }

    fn holds(&mut self, is_table: bool) -> &mut HoldCounts {
        if is_table { &mut self.table_holds } else { &mut self.row_holds }
    }

    /// Makes a node that is in no list yet; one from the free list, if it has any.
    pub fn new_node(&mut self, txn: Arc<TxnLocks>, waiter: Option<Arc<Waiter>>, entry: u32, bits: u8) -> u32 {
        let node = Node { txn: Some(txn), waiter, entry, prev: NONE, next: NONE, bits, handed: false };
        match self.free_nodes.pop() {
            Some(free) => {
                self.nodes[free as usize] = node;
                free
            }
            None => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 locks per shard")
            }
        }
    }

    /// Puts a node that is in no list any more on the free list.
    pub fn free_node(&mut self, node: u32) {
        let free = &mut self.nodes[node as usize];
        (free.txn, free.waiter) = (None, None);
        self.free_nodes.push(node);
    }

    /// Puts a node at the end of a list.
    pub fn link_last(&mut self, list: &mut List, node: u32) {
        let linked = &mut self.nodes[node as usize];
        (linked.prev, linked.next) = (list.last, NONE);
        match list.last {
            NONE => list.first = node,
            last => self.nodes[last as usize].next = node,
        }
        list.last = node;
    }

    /// Puts a node before another one of the list.
    pub fn link_before(&mut self, list: &mut List, before: u32, node: u32) {
        let prev = self.node(before).prev;
        let linked = &mut self.nodes[node as usize];
        (linked.prev, linked.next) = (prev, before);
        self.nodes[before as usize].prev = node;
        match prev {
            NONE => list.first = node,
            prev => self.nodes[prev as usize].next = node,
        }
    }

    /// Takes a node out of the list that it is in.
    pub fn unlink(&mut self, list: &mut List, node: u32) {
        let (prev, next) = (self.node(node).prev, self.node(node).next);
        match prev {
            NONE => list.first = next,
            prev => self.nodes[prev as usize].next = next,
        }
        match next {
            NONE => list.last = prev,
            next => self.nodes[next as usize].prev = prev,
        }
    }

    /// Bytes that the shard has from the allocator for names, entries and nodes.
    pub fn memory_bytes(&self) -> usize {
        let lists = 4 * (self.free_entries.capacity() + self.free_nodes.capacity());
        let slabs = self.entries.capacity() * size_of::<Entry>() + self.nodes.capacity() * size_of::<Node>();
        lists + slabs + self.names.allocation_size()
    }

    /// Names now locked or waited for.
    pub fn names(&self) -> usize {
        self.names.len()
    }

    /// Whether every conflicting holder of this name holds it only for a moment.
    pub fn blockers_are_transient(&self, entry: u32, txn: &TxnLocks, want: Want) -> bool {
        let mut node = self.entry(entry).holders.first;
        while node != NONE {
            let hold = self.node(node);
            let owner = self.owner(node);
            if hold.bits & want.conflicts != 0
                && !std::ptr::eq(&raw const **owner, txn)
                && !owner.is_transient()
            {
                return false;
            }
            node = hold.next;
        }
        true
    }
}
