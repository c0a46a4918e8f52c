//! How a table's rows are found: the index, its ranges, the columns wanted.

use std::sync::Arc;

use turnstile_catalog::dictionary::Table;
use turnstile_engine::{LockWait, RowLock};
use turnstile_expr::expr::Expr;
use turnstile_values::collation::Collation;

/// How a table is read.
pub struct TableSource {
    /// The table.
    pub table: Arc<Table>,
    /// Which rows.
    pub access: Access,
    /// What is asked of entries of the key before their rows are fetched or locked.
    pub pushed: Option<Box<Pushed>>,
    /// Conditions may be tested on entries.
    pub may_push: bool,
    /// Of entries with the same first parts of the key only some are read.
    pub loose: Option<Loose>,
    /// More rows, each by a key of its own (`a = 1 OR b = 2`): one that was met already is left out.
    pub also: Vec<Access>,
    /// Other keys that find each of the rows, too (`a = 1 AND b = 2`): one that they do not find is left out
    /// before it is fetched.
    pub within: Vec<Access>,
    /// Columns wanted, ascending.
    pub needed: Vec<usize>,
    /// The place behind the columns gets the key of the row, which no column tells.
    pub numbers: bool,
    /// All of them are in the index, so the row itself is not fetched.
    pub covering: bool,
    /// FOR UPDATE and the like.
    pub locking: Option<(RowLock, LockWait)>,
    /// Keys that could have been used, for EXPLAIN.
    pub possible: Vec<usize>,
    /// Rows that the access finds, by what was known when the plan was made.
    pub rows: f64,
    /// They were counted in the tree.
    pub counted: bool,
    /// Rows of the table then.
    pub table_rows: f64,
    /// Keys that hints forbid.
    pub forbidden: Vec<usize>,
    /// Keys that hints forbid to take groups from.
    pub forbidden_groups: Vec<usize>,
    /// Keys that hints forbid to take an order from.
    pub forbidden_order: Vec<usize>,
    /// In a query within another that is read by values around it: the best way without these, if its rows
    /// were counted.
    pub alone: Option<Box<Candidate>>,
    /// What each key offered, while the plan is made.
    pub offers: Vec<Candidate>,
    /// What is asked again before the plan is run for other values: empty where these do not decide.
    pub costed: Vec<Costed>,
    /// Rows wanted by LIMIT for which the plan is good, where they decided.
    pub wanted: Option<std::ops::RangeInclusive<f64>>,
    /// What histograms of the table told, asked again likewise where it decides about an order of tables.
    pub told: Vec<Told>,
    /// The share of the rows found that pass conditions besides, where a histogram told of one.
    pub passing: Option<f64>,
}

/// Conditions over what an entry of a key tells. They are tested again on the row.
#[derive(Debug)]
pub struct Pushed {
    /// The conditions.
    pub conditions: Vec<Expr>,
    /// Tuple position of the table's first column.
    pub base: usize,
    /// Columns of the table that they read, ascending.
    pub columns: Vec<usize>,
    /// Places of other tables, and around, that they read.
    pub others: Vec<usize>,
    /// Positions in a tuple that has all of these.
    pub width: usize,
}

/// A key is read from group to group: entries that are equal in its first parts are a group, of which one is
/// read, or those where the part behind has its smallest and its largest value.
#[derive(Debug, Clone, Copy)]
pub struct Loose {
    /// Parts that the entries of a group have in common.
    pub parts: usize,
    /// The smallest value of the next part that is not NULL is wanted, too.
    pub smallest: bool,
    /// The largest one.
    pub largest: bool,
}

/// What a histogram told of a condition when the plan was made.
#[derive(Debug, Clone)]
pub struct Told {
    /// The condition, over columns of one table.
    pub condition: Expr,
    /// The share of rows that passes it.
    pub share: f64,
}

impl TableSource {
    /// The same table, locked as it is, read by another access.
    pub fn reading(of: &TableSource, access: Access, needed: Vec<usize>, covering: bool) -> TableSource {
        TableSource {
            table: of.table.clone(),
            access,
            pushed: None,
            may_push: false,
            loose: None,
            also: Vec::new(),
            within: Vec::new(),
            needed,
            numbers: false,
            covering,
            locking: of.locking,
            possible: Vec::new(),
            rows: 1.0,
            counted: false,
            table_rows: of.table_rows,
            forbidden: Vec::new(),
            forbidden_groups: Vec::new(),
            forbidden_order: Vec::new(),
            alone: None,
            offers: Vec::new(),
            costed: Vec::new(),
            wanted: None,
            told: Vec::new(),
            passing: None,
        }
    }

    /// Whether an order may be taken from a key.
    pub fn may_order(&self, key: usize) -> bool {
        self.may_use(key) && !self.forbidden_order.contains(&key)
    }

    /// Whether a key may be used: an invisible one, and one that hints forbid, may not.
    pub fn may_use(&self, key: usize) -> bool {
        self.table.keys()[key].visible && !self.forbidden.contains(&key)
    }
}

impl std::fmt::Debug for TableSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableSource")
            .field("table", &self.table.name())
            .field("access", &self.access)
            .finish()
    }
}

/// A way to read a table.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The ranges.
    pub access: Access,
    /// Those of other keys, where each finds some of the rows.
    pub also: Vec<Access>,
    /// Those of other keys, where each finds all of them, and more.
    pub within: Vec<Access>,
    /// Rows that it finds.
    pub rows: f64,
    /// What it costs: rows to look at.
    pub cost: f64,
    /// Rows are known by a look at the tree.
    pub counted: bool,
}

/// A way to read the table that was weighed by how many rows it finds.
#[derive(Debug)]
pub struct Costed {
    /// The way.
    pub access: Access,
    /// The plan is good while the way finds so many rows.
    pub rows: std::ops::RangeInclusive<f64>,
}

/// Which rows of a table are read, and in which order.
#[derive(Debug, Clone)]
pub struct Access {
    /// The key; None reads the whole clustered tree.
    pub key: Option<usize>,
    /// Parts of the key; one range for the whole tree if it has no bounds.
    pub ranges: Vec<KeyRange>,
    /// Descending.
    pub reverse: bool,
    /// Every range is one value of a unique key: at most one row each.
    pub unique: bool,
}

impl Access {
    /// The whole table.
    pub fn full() -> Access {
        Access { key: None, ranges: vec![KeyRange::default()], reverse: false, unique: false }
    }

    /// Its entries have given values in all parts of the key.
    pub fn is_of_values(&self, table: &Table) -> bool {
        let Some(key) = self.key else { return false };
        let parts = &table.keys()[key].parts;
        let whole = |range: &KeyRange| range.equal.len() == parts.len();
        self.ranges.iter().all(whole) && parts.iter().all(|part| part.prefix.is_none())
    }

    /// It reads a whole tree.
    pub fn is_full(&self) -> bool {
        self.ranges.iter().any(KeyRange::is_unbounded)
    }

    /// Its bounds are the same for all rows of a statement.
    pub fn is_fixed(&self) -> bool {
        self.ranges.iter().flat_map(KeyRange::operands).all(|one| one.expr.is_constant())
    }

    /// Its bounds can be worked out before any row is read, and cheaply.
    pub fn is_known(&self) -> bool {
        self.ranges.iter().flat_map(KeyRange::operands).all(Operand::is_known)
    }
}

/// A range of a key: equal in the first parts, then perhaps between bounds in the next one.
#[derive(Debug, Clone, Default)]
pub struct KeyRange {
    /// Values of the first parts.
    pub equal: Vec<Operand>,
    /// The next part is above this; true: or equal.
    pub lower: Option<(Operand, bool)>,
    /// The next part is below this; true: or equal.
    pub upper: Option<(Operand, bool)>,
    /// The next part begins as this pattern does; heeded where it has no bounds.
    pub like: Option<Pattern>,
    /// The next part is not NULL; heeded where it has neither bounds nor a pattern.
    pub present: bool,
}

/// A pattern of LIKE.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The pattern, and the collation it is matched by.
    pub operand: Operand,
    /// The character before what is meant as it is.
    pub escape: Option<char>,
}

impl KeyRange {
    /// It bounds the part behind the equal ones.
    pub fn is_bounded(&self) -> bool {
        self.lower.is_some() || self.upper.is_some() || self.like.is_some()
    }

    /// What the parts are compared with.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        let ends = self.lower.iter().chain(&self.upper).map(|(operand, _)| operand);
        self.equal.iter().chain(ends).chain(self.like.iter().map(|pattern| &pattern.operand))
    }

    /// It bounds nothing.
    pub fn is_unbounded(&self) -> bool {
        self.equal.is_empty() && !self.is_bounded()
    }
}

/// A value that a key part is compared with.
#[derive(Debug, Clone)]
pub struct Operand {
    /// Its expression, over columns of earlier steps at most.
    pub expr: Expr,
    /// Collation of the comparison.
    pub collation: Collation,
    /// NULL means NULL (`<=>`, IS NULL); otherwise it matches nothing.
    pub null_safe: bool,
}

impl Operand {
    /// It can be worked out while the statement is planned.
    pub fn is_known(&self) -> bool {
        Operand::is_known_expr(&self.expr)
    }

    /// An expression can be worked out while the statement is planned.
    pub fn is_known_expr(expr: &Expr) -> bool {
        match expr {
            Expr::Literal(_) | Expr::Parameter(_) => true,
            other => other.columns().is_empty() && other.is_light() && !other.varies(),
        }
    }
}
