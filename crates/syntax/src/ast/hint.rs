//! Optimizer hints about one query block that are heeded when it is planned. None changes what is found.

use super::Name;

/// One hint.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Advice {
    /// INDEX, JOIN_INDEX, GROUP_INDEX, ORDER_INDEX and their NO_ forms
    Keys {
        /// The table's alias.
        table: Name,
        /// Its keys; of NO_INDEX none means all.
        keys: Vec<Name>,
        /// Only these keys may be used; else they may not.
        only: bool,
        /// What for.
        serving: KeyUse,
        /// The hint's name.
        name: &'static str,
        /// The table and the block, as they are told of.
        place: Box<str>,
    },
    /// JOIN_ORDER and its kin.
    Order {
        /// Which of them.
        order: OrderAdvice,
        /// Aliases, in order.
        tables: Vec<Name>,
    },
    /// A way of running a query is wanted, or is not.
    Way {
        /// The way.
        way: WayAdvice,
        /// It is wanted.
        on: bool,
        /// For these aliases; none means all.
        tables: Vec<Name>,
    },
}

/// What keys are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyUse {
    /// INDEX, JOIN_INDEX: finding rows, and whatever else.
    Rows,
    /// GROUP_INDEX: reading from group to group.
    Groups,
    /// ORDER_INDEX: the order of rows.
    Order,
}

/// What is said of the order of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderAdvice {
    /// JOIN_FIXED_ORDER: as written.
    Fixed,
    /// JOIN_ORDER: one behind the other, others anywhere.
    Relative,
    /// JOIN_PREFIX: before all others.
    Prefix,
    /// JOIN_SUFFIX: behind all others.
    Suffix,
}

/// Ways that hints speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WayAdvice {
    /// BNL, HASH_JOIN: a table is hashed to be joined.
    Hash,
    /// MERGE: a derived table, a view or a query of WITH is merged.
    Merge,
    /// SEMIJOIN: the block, a query of IN or EXISTS, is joined.
    Semijoin,
    /// INDEX_MERGE: rows are found by several keys.
    IndexMerge,
    /// NO_ICP: conditions are tested on entries of keys.
    Entries,
    /// DERIVED_CONDITION_PUSHDOWN: conditions are asked inside derived tables.
    Pushdown,
}
