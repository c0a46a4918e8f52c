//! What a planned query is. A plan is immutable, holds no values of parameters, and may be run by many
//! sessions at once.

mod access;

use std::sync::Arc;

use turnstile_catalog::virtual_table::VirtualTable;
use turnstile_engine::RowLock;

use super::json_table::JsonTable;
use super::point::PointShape;
use super::waits::Guard;
use super::windows::WindowPlan;
use turnstile_expr::expr::AggregateKind;
use turnstile_expr::expr::{CompareOp, EvalContext, Expr, Typed};
use turnstile_syntax::ast::SetOperator;
use turnstile_values::collation::Collation;
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::ColumnType;
use turnstile_values::value::to_double;

pub use access::{Access, Candidate, Costed, KeyRange, Loose, Operand, Pattern, Pushed, TableSource, Told};

/// A query.
#[derive(Debug)]
pub enum QueryPlan {
    /// SELECT
    Select(Box<SelectPlan>),
    /// UNION, EXCEPT, INTERSECT
    Set(Box<SetPlan>),
    /// VALUES
    Values(Box<ValuesPlan>),
}

impl QueryPlan {
    /// Whether it locks rows as a change would: FOR UPDATE.
    pub fn locks_exclusively(&self) -> bool {
        match self {
            QueryPlan::Select(plan) => plan.steps.iter().any(JoinStep::locks_exclusively),
            QueryPlan::Set(_) | QueryPlan::Values(_) => false,
        }
    }

    /// Columns of its result.
    pub fn columns(&self) -> &Arc<[ColumnMeta]> {
        match self {
            QueryPlan::Select(plan) => &plan.columns,
            QueryPlan::Set(plan) => &plan.columns,
            QueryPlan::Values(plan) => &plan.columns,
        }
    }

    /// Its values are kept: decimals of CASE get all digits of their types.
    pub fn keep_all_digits(&mut self) {
        self.keep_digits(|_| true);
    }

    /// The same, but for the value of a `?` that is given as it is.
    pub fn keep_digits_but_of_parameters(&mut self) {
        self.keep_digits(|item| !matches!(item.expr, turnstile_expr::expr::Expr::Parameter(_)));
    }

    fn keep_digits(&mut self, takes: impl Fn(&Typed) -> bool) {
        if let QueryPlan::Select(plan) = self {
            for item in plan.items.iter_mut().filter(|item| takes(item)) {
                *item = turnstile_expr::expr::with_all_digits(item.clone());
            }
        }
    }

    /// Makes of a column what documents are compared by; false where each row is not computed here.
    pub fn order_as_document(&mut self, at: usize) -> bool {
        let QueryPlan::Select(plan) = self else { return false };
        if plan.distinct {
            return false;
        }
        plan.items[at] = turnstile_expr::functions::as_order(plan.items[at].clone());
        true
    }

    /// What a subquery or INTO gives has the digits of its values: the columns of which this makes a
    /// difference.
    pub fn take_own_digits(&mut self) -> Vec<usize> {
        let QueryPlan::Select(plan) = self else { return Vec::new() };
        if plan.distinct {
            return Vec::new();
        }
        let varying =
            plan.items.iter_mut().enumerate().filter(|(_, item)| turnstile_expr::expr::varies(item));
        let taken = varying.map(|(nth, item)| {
            *item = turnstile_expr::expr::with_own_digits(item.clone());
            nth
        });
        taken.collect()
    }

    /// About how many rows it has.
    pub fn rows(&self) -> f64 {
        match self {
            QueryPlan::Select(plan) => plan.rows,
            QueryPlan::Set(plan) => plan.members.iter().map(|(_, member)| member.rows()).sum(),
            QueryPlan::Values(plan) => plan.rows.len() as f64,
        }
    }

    /// It is about one row, by its whole primary key.
    pub fn is_point(&self) -> bool {
        matches!(self, QueryPlan::Select(plan) if plan.point.is_some())
    }

    /// Places to fill from the tuple around: (position there, position here).
    pub fn outer(&self) -> Vec<(usize, usize)> {
        match self {
            QueryPlan::Select(plan) => plan.outer.clone(),
            QueryPlan::Set(plan) => plan.members.iter().flat_map(|(_, member)| member.outer()).collect(),
            QueryPlan::Values(_) => Vec::new(),
        }
    }
}

/// A query of WITH, shared by all that name it.
#[derive(Debug)]
pub struct CommonPlan {
    /// Its name, for EXPLAIN.
    pub name: Box<str>,
    /// How its rows are made.
    pub body: CommonBody,
    /// Others that it reads: they are run before it, so that a long chain of them is no deep recursion.
    pub reads: Vec<Arc<CommonPlan>>,
    /// Whether it locks rows as a change would; kept because walking down to where that is known visits
    /// shared plans again and again.
    pub locks_exclusively: bool,
}

/// Rows that a recursive query is taken for.
const RECURSIVE_ROWS: f64 = 1000.0;

impl CommonPlan {
    /// About how many rows it has.
    pub fn rows(&self) -> f64 {
        match &self.body {
            CommonBody::Query(plan) => plan.rows(),
            CommonBody::Recursive(_) => RECURSIVE_ROWS,
        }
    }
}

/// How the rows of a query of WITH are made.
#[derive(Debug)]
pub enum CommonBody {
    /// As any query's.
    Query(QueryPlan),
    /// In rounds.
    Recursive(Box<RecursivePlan>),
}

impl CommonBody {
    /// Whether it locks rows as a change would.
    pub fn locks_exclusively(&self) -> bool {
        match self {
            CommonBody::Query(plan) => plan.locks_exclusively(),
            CommonBody::Recursive(plan) => {
                plan.seed.locks_exclusively() || plan.blocks.iter().any(QueryPlan::locks_exclusively)
            }
        }
    }
}

/// A query that reads itself: its seed's rows are the first round, and what the blocks make of the rows of a
/// round is the next one, until a round is empty.
#[derive(Debug)]
pub struct RecursivePlan {
    /// Names the rows of the round before in `blocks`.
    pub round: Arc<Round>,
    /// The first round.
    pub seed: QueryPlan,
    /// Each reads the round before.
    pub blocks: Vec<QueryPlan>,
    /// Names and types of the columns, into which all rows go.
    pub columns: Vec<(Box<str>, ColumnType)>,
    /// Rows that are there already are thrown away.
    pub distinct: bool,
    /// LIMIT: no more rounds once there are so many rows.
    pub limit: LimitPlan,
}

/// Stands for the rows of a recursive query's last round: which query's is told by where it is.
#[derive(Debug)]
pub struct Round;

/// What a name of WITH means in FROM.
#[derive(Clone, Debug)]
pub enum CommonRows {
    /// The rows of a query.
    Of(Arc<CommonPlan>),
    /// The rows of the round before, inside a recursive query.
    Previous(Arc<Round>),
}

/// A condition, and the sub-queries that must have run before it can be evaluated.
#[derive(Debug)]
pub struct Filter {
    /// The condition.
    pub expr: Expr,
    /// Positions in [`SelectPlan::subqueries`].
    pub subqueries: Vec<usize>,
}

/// ORDER BY, one key.
#[derive(Debug)]
pub struct OrderKey {
    /// The key.
    pub expr: Expr,
    /// DESC
    pub descending: bool,
    /// For strings.
    pub collation: Collation,
}

/// LIMIT.
#[derive(Debug)]
pub struct LimitPlan {
    /// At most so many rows.
    pub count: Option<Expr>,
    /// After so many.
    pub offset: Option<Expr>,
}

/// Rows that a LIMIT is taken for whose number is not known yet.
const WANTED_ROWS: f64 = 10.0;

impl LimitPlan {
    /// Rows that are read until there are enough, by the values of now.
    pub fn rows(&self, eval: &EvalContext<'_>) -> f64 {
        let number = |expr: &Expr| match expr {
            Expr::Literal(value) => to_double(value, eval).ok(),
            Expr::Parameter(at) => to_double(eval.parameters.get(*at)?, eval).ok(),
            _ => None,
        };
        let count = self.count.as_ref().map_or(Some(f64::INFINITY), number);
        let offset = self.offset.as_ref().map_or(Some(0.0), number);
        count.zip(offset).map_or(WANTED_ROWS, |(count, offset)| count + offset)
    }
}

/// One SELECT block.
#[derive(Debug)]
pub struct SelectPlan {
    /// Values of a tuple.
    pub width: usize,
    /// What FROM reads, each step for every row of the steps before it.
    pub steps: Vec<JoinStep>,
    /// Which columns of the result depend on others, for the query around: see `grouping::Facts`.
    pub dependences: Vec<super::grouping::Dependence>,
    /// Conditions that need no table: if one is not true there are no rows.
    pub preconditions: Vec<Filter>,
    /// What is read instead of the only table's rows, where MIN and MAX lie at the ends of keys.
    pub extremes: Vec<Extreme>,
    /// Sub-queries of any clause.
    pub subqueries: Vec<Subquery>,
    /// GROUP BY and aggregates.
    pub group: Option<GroupPlan>,
    /// Window functions, by what their rows are sorted by.
    pub windows: Vec<WindowPlan>,
    /// HAVING
    pub having: Vec<Filter>,
    /// The select list.
    pub items: Vec<Typed>,
    /// Sub-queries that the select list or ORDER BY need, to run for each row.
    pub item_subqueries: Vec<usize>,
    /// Columns of the result.
    pub columns: Arc<[ColumnMeta]>,
    /// DISTINCT
    pub distinct: bool,
    /// ORDER BY; empty when the rows come in order.
    pub order: Vec<OrderKey>,
    /// ORDER BY is what the first table's rows come in: what is joined to them must not mix them up.
    pub in_order: bool,
    /// LIMIT
    pub limit: LimitPlan,
    /// SQL_CALC_FOUND_ROWS
    pub calc_found_rows: bool,
    /// Places to fill from the tuple around: (position there, position here).
    pub outer: Vec<(usize, usize)>,
    /// About how many rows it gives.
    pub rows: f64,
    /// Rows may be tested, grouped and passed on while their page is latched.
    pub light: bool,
    /// It is about one row, which needs no future to be read.
    pub point: Option<PointShape>,
}

impl SelectPlan {
    /// Whether nothing is done with a row that costs more than reading it.
    pub fn takes_rows_lightly(&self) -> bool {
        let aggregates = || self.group.iter().flat_map(|group| &group.aggregates);
        let keys = self.group.iter().flat_map(|group| group.keys.iter().map(|(key, _)| key));
        let fed = aggregates().flat_map(|one| one.arguments.iter().map(|typed| &typed.expr));
        let sorted = aggregates().flat_map(|one| &one.order).chain(&self.order).map(|key| &key.expr);
        let items = self.items.iter().map(|item| &item.expr);
        let items = items.chain(self.windows.iter().flat_map(WindowPlan::exprs));
        self.steps.iter().all(|step| step.light)
            && keys.chain(fed).chain(sorted).chain(items).all(Expr::is_light)
    }
}

/// One table of a join.
#[derive(Debug)]
pub struct JoinStep {
    /// The alias, for EXPLAIN.
    pub alias: Box<str>,
    /// Where its rows come from.
    pub source: Source,
    /// Tuple position of its first column.
    pub base: usize,
    /// Its columns.
    pub columns: usize,
    /// A row without partner stays, with NULLs here.
    pub left_join: bool,
    /// Which partners a row is joined with.
    pub partners: Partners,
    /// Of a step that looks whether there is a partner: the places around that tell (place, 0), where what
    /// was found for the same values may be taken again. Empty: it may not.
    pub asked_by: Vec<(usize, usize)>,
    /// What makes a partner.
    pub matching: Vec<Filter>,
    /// What must hold afterwards (differs from `matching` for left joins only).
    pub filters: Vec<Filter>,
    /// Both may be tested while the row's page is latched.
    pub light: bool,
    /// Its rows are read once and kept in memory: they are the same for all rows of the steps before it.
    pub kept: bool,
    /// Equal pairs (expression over earlier columns, position in this source's row) for a hash join.
    pub hash: Vec<(Expr, usize, Collation)>,
}

/// Which partners a row is joined with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partners {
    /// All.
    #[default]
    All,
    /// The first, if there is one: a semi join.
    First,
    /// None: a row that has a partner is left out, an anti join.
    None,
}

/// Where rows come from.
#[derive(Debug)]
pub enum Source {
    /// A table.
    Table(Box<TableSource>),
    /// A sub-query of FROM.
    Derived(Box<QueryPlan>),
    /// The different rows of a query of IN.
    Distinct(Box<QueryPlan>),
    /// A sub-query of FROM that reads the tuple: it is run again for each.
    Lateral(Box<QueryPlan>),
    /// JSON_TABLE: what it makes of the document that a sub-query of the tuple gives.
    Expanded(Box<QueryPlan>, Arc<JsonTable>),
    /// A query of WITH.
    Common(CommonRows),
    /// A table of information_schema.
    Virtual(VirtualTable),
    /// Several tables joined before they meet the others: the right side of an outer join.
    Group(Vec<JoinStep>),
}

/// Calls `visit` for each table that steps read, those within groups among them, with its step's places.
pub fn each_table(steps: &mut [JoinStep], visit: &mut dyn FnMut(&mut TableSource, std::ops::Range<usize>)) {
    for step in steps {
        let places = step.base..step.base + step.columns;
        match &mut step.source {
            Source::Group(inner) => each_table(inner, visit),
            Source::Table(source) => visit(source, places),
            Source::Derived(_)
            | Source::Distinct(_)
            | Source::Lateral(_)
            | Source::Expanded(..)
            | Source::Common(_)
            | Source::Virtual(_) => {}
        }
    }
}

impl JoinStep {
    /// Whether it reads a table's whole tree, or that of one of its keys.
    pub fn reads_whole(&self) -> bool {
        match &self.source {
            Source::Table(source) => source.access.is_full(),
            Source::Group(_)
            | Source::Derived(_)
            | Source::Distinct(_)
            | Source::Lateral(_)
            | Source::Expanded(..)
            | Source::Common(_)
            | Source::Virtual(_) => false,
        }
    }

    fn locks_exclusively(&self) -> bool {
        match &self.source {
            Source::Table(source) => matches!(source.locking, Some((RowLock::Exclusive, _))),
            Source::Derived(plan)
            | Source::Distinct(plan)
            | Source::Lateral(plan)
            | Source::Expanded(plan, _) => plan.locks_exclusively(),
            Source::Common(CommonRows::Of(plan)) => plan.locks_exclusively,
            Source::Group(steps) => steps.iter().any(JoinStep::locks_exclusively),
            Source::Common(CommonRows::Previous(_)) | Source::Virtual(_) => false,
        }
    }
}

/// A sub-query outside FROM.
#[derive(Debug)]
pub struct Subquery {
    /// Tuple position of its result.
    pub position: usize,
    /// Values of its result: several if it stands for a row.
    pub width: usize,
    /// What its result is.
    pub kind: SubqueryKind,
    /// The query.
    pub plan: QueryPlan,
    /// It reads the tuple around it, so that it is run again for each row.
    pub correlated: bool,
    /// Its rows may be others each time (`varying.rs`).
    pub varies: bool,
    /// It may be joined, or read as a list: None if no hint says so.
    pub joins: Option<bool>,
    /// Its rows are the same wherever the values are the same that it reads around it (`repeats.rs`).
    pub repeats: bool,
    /// Tuple positions it or its operand reads, those that the sub-queries among them read in their place.
    pub reads: Vec<usize>,
    /// Tuple positions it or its operand reads, places of other sub-queries among them.
    pub inputs: Vec<usize>,
    /// What must hold for it to be asked for, where it waits: SLEEP, GET_LOCK and queries of them.
    pub guards: Vec<Guard>,
}

impl Subquery {
    /// Where its result lies in the tuple.
    pub fn places(&self) -> std::ops::Range<usize> {
        self.position..self.position + self.width
    }

    /// Whether its rows are the same for all rows around it.
    pub fn is_same_for_all(&self) -> bool {
        !self.varies && self.plan.outer().is_empty()
    }
}

/// The number of the sub-query whose result lies at a place of the tuple. They lie in the order in which they
/// came.
pub fn placed_at(subqueries: &[Subquery], position: usize) -> Option<usize> {
    let nth = subqueries.partition_point(|one| one.position <= position).checked_sub(1)?;
    subqueries[nth].places().contains(&position).then_some(nth)
}

/// What a sub-query's result is.
#[derive(Debug)]
pub enum SubqueryKind {
    /// The values of its only row.
    Scalar,
    /// No query at all: a value of this block that queries inside it read.
    Value(Expr),
    /// Whether it has rows.
    Exists,
    /// SLEEP(seconds), which waits like a sub-query does; 1 if it was interrupted.
    Sleep(Expr),
    /// GET_LOCK(name, seconds), which waits, too.
    GetLock {
        /// The lock.
        name: Expr,
        /// How long to wait; for ever if negative.
        seconds: Expr,
    },
    /// Whether the operand is among its rows.
    In {
        /// As many as it has columns.
        operand: Vec<(Expr, Collation)>,
        /// NOT IN
        negated: bool,
    },
    /// EXISTS: whether the operand is among its rows; what is NULL is not.
    Among {
        /// As many as it has columns.
        operand: Vec<(Expr, Collation)>,
    },
    /// `operand op ANY` or `ALL` of its rows.
    Quantified {
        /// The operand.
        operand: Expr,
        /// The operator.
        op: CompareOp,
        /// For strings.
        collation: Collation,
        /// ALL
        all: bool,
    },
}

impl SubqueryKind {
    /// Expressions over the tuple that it needs besides its query.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            SubqueryKind::Scalar | SubqueryKind::Exists => Vec::new(),
            SubqueryKind::Value(operand)
            | SubqueryKind::Sleep(operand)
            | SubqueryKind::Quantified { operand, .. } => vec![operand],
            SubqueryKind::GetLock { name, seconds } => vec![name, seconds],
            SubqueryKind::In { operand, .. } | SubqueryKind::Among { operand } => {
                operand.iter().map(|(expr, _)| expr).collect()
            }
        }
    }
}

/// GROUP BY and aggregates.
#[derive(Debug)]
pub struct GroupPlan {
    /// What rows of one group have in common; empty makes one group of all.
    pub keys: Vec<(Expr, Collation)>,
    /// What is computed over each group.
    pub aggregates: Vec<Aggregate>,
    /// Sub-queries that keys and aggregates read: they run for each row, before it goes into its group.
    pub subqueries: Vec<usize>,
    /// WITH ROLLUP: what becomes of each key in rows that sum over it. Empty without.
    pub rollup: Vec<RollupKey>,
    /// No GROUP BY: one row even when there are no rows.
    pub implicit: bool,
    /// Rows of one group come one after another; under ROLLUP also those that agree in the first keys.
    pub together: bool,
}

/// A value of a column at an end of a key.
#[derive(Debug)]
pub struct Extreme {
    /// Tuple position that gets it; NULL if there is none.
    pub place: usize,
    /// The column.
    pub column: usize,
    /// Reads its rows, the wanted one first. Conditions are those of the only step.
    pub source: Box<TableSource>,
}

/// A key of WITH ROLLUP.
#[derive(Debug)]
pub struct RollupKey {
    /// Tuple position of its value behind GROUP BY.
    pub place: usize,
    /// Tuple position of what GROUPING() of it gives.
    pub flag: usize,
    /// What fills the place, unless a column lies there.
    pub computed: Option<Expr>,
}

/// One aggregate.
#[derive(Debug)]
pub struct Aggregate {
    /// Tuple position of its result.
    pub position: usize,
    /// The function.
    pub kind: AggregateKind,
    /// DISTINCT
    pub distinct: bool,
    /// Its arguments.
    pub arguments: Vec<Typed>,
    /// For MIN, MAX and DISTINCT of strings.
    pub collation: Collation,
    /// Type of its result.
    pub result: ColumnType,
    /// Whether its value may have other digits behind the point than its type.
    pub own_digits: bool,
    /// Digits behind the point that its decimals have in a table of groups: those of AVG are its sum's. None:
    /// it is kept in no such table.
    pub kept_scale: Option<u8>,
    /// GROUP_CONCAT
    pub separator: Box<[u8]>,
    /// GROUP_CONCAT
    pub order: Vec<OrderKey>,
}

/// UNION and the like, left to right.
#[derive(Debug)]
pub struct SetPlan {
    /// Operator (of the first: irrelevant) and query.
    pub members: Vec<(SetOperator, QueryPlan)>,
    /// Columns of the result.
    pub columns: Arc<[ColumnMeta]>,
    /// Types that members' values become.
    pub kinds: Vec<ColumnType>,
    /// Columns whose texts do not agree on a collation; where this is a member of another set operation, that
    /// one may settle it.
    pub undecided: Vec<bool>,
    /// ORDER BY, over the result's columns.
    pub order: Vec<OrderKey>,
    /// LIMIT
    pub limit: LimitPlan,
}

/// VALUES ROW(...), ...
#[derive(Debug)]
pub struct ValuesPlan {
    /// The rows.
    pub rows: Vec<Vec<Expr>>,
    /// What their values are converted to.
    pub kinds: Vec<ColumnType>,
    /// Columns of the result.
    pub columns: Arc<[ColumnMeta]>,
    /// ORDER BY
    pub order: Vec<OrderKey>,
    /// LIMIT
    pub limit: LimitPlan,
}
