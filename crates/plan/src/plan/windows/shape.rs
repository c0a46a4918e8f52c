//! What a plan says of window functions.

use turnstile_expr::expr::Expr;

use super::super::query::{Aggregate, OrderKey};

/// Functions over rows that are sorted in the same way.
#[derive(Debug)]
pub struct WindowPlan {
    /// What rows are sorted by: the keys of PARTITION BY, then those of ORDER BY.
    pub keys: Vec<OrderKey>,
    /// How many of them are keys of PARTITION BY.
    pub partition: usize,
    /// The functions.
    pub functions: Vec<WindowFunction>,
}

/// A window function.
#[derive(Debug)]
pub struct WindowFunction {
    /// Tuple position of what it gives.
    pub position: usize,
    /// What it is.
    pub kind: WindowKind,
    /// The rows of the partition that it sees, from and to.
    pub frame: (Bound, Bound),
    /// The window's name, for errors.
    pub window: Box<str>,
}

/// What a window function gives.
#[derive(Debug)]
pub enum WindowKind {
    /// ROW_NUMBER()
    RowNumber,
    /// RANK()
    Rank,
    /// DENSE_RANK()
    DenseRank,
    /// PERCENT_RANK()
    PercentRank,
    /// CUME_DIST()
    CumeDist,
    /// NTILE(n)
    Ntile(Expr),
    /// LAG and LEAD
    Shifted {
        /// The value that is wanted of another row.
        value: Expr,
        /// So many rows away; 1 if not written.
        by: Option<Expr>,
        /// What stands for a row outside the partition.
        otherwise: Option<Expr>,
        /// LAG
        back: bool,
    },
    /// FIRST_VALUE
    First(Expr),
    /// LAST_VALUE
    Last(Expr),
    /// NTH_VALUE(value, n)
    Nth(Expr, Expr),
    /// An aggregate over the frame.
    Aggregate(Box<Aggregate>),
}

/// An end of a frame.
#[derive(Debug)]
pub enum Bound {
    /// That of the partition on this side.
    Edge,
    /// The row itself.
    Row,
    /// All rows with the row's keys.
    Peers,
    /// So many rows before it or, `after`, behind it.
    Rows {
        /// How many.
        amount: Expr,
        /// Behind it.
        after: bool,
    },
    /// Rows whose key is not further away than that.
    Value {
        /// How far.
        amount: Expr,
        /// The key that far from the row's.
        bound: Expr,
        /// Behind it.
        after: bool,
    },
}

impl Bound {
    fn exprs(&self) -> Vec<&Expr> {
        match self {
            Bound::Edge | Bound::Row | Bound::Peers => Vec::new(),
            Bound::Rows { amount, .. } => vec![amount],
            Bound::Value { amount, bound, .. } => vec![amount, bound],
        }
    }
}

impl WindowPlan {
    /// All expressions that are evaluated for it.
    pub fn exprs(&self) -> Vec<&Expr> {
        let mut all: Vec<&Expr> = self.keys.iter().map(|key| &key.expr).collect();
        for function in &self.functions {
            match &function.kind {
                WindowKind::RowNumber
                | WindowKind::Rank
                | WindowKind::DenseRank
                | WindowKind::PercentRank
                | WindowKind::CumeDist => {}
                WindowKind::Ntile(one) | WindowKind::First(one) | WindowKind::Last(one) => all.push(one),
                WindowKind::Nth(value, nth) => all.extend([value, nth]),
                WindowKind::Shifted { value, by, otherwise, .. } => {
                    all.push(value);
                    all.extend(by.iter().chain(otherwise));
                }
                WindowKind::Aggregate(one) => all.extend(one.arguments.iter().map(|one| &one.expr)),
            }
            all.extend(function.frame.0.exprs());
            all.extend(function.frame.1.exprs());
        }
        all
    }
}
