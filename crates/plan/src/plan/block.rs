//! One query block while it is planned: binds expressions. What it does about sub-queries and aggregates that
//! it meets on the way is in `inner`.

mod resolver;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use turnstile_catalog::dictionary::{Table, TableNames};
use turnstile_catalog::variables::Ways;
use turnstile_engine::{Engine, LockWait, RowLock};
use turnstile_expr::expr::{self, EvalContext, Expr, Hold, ParameterKind, Resolver, Typed};
use turnstile_syntax::ast::{self, FunctionCall};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::estimate::Dives;
use super::from::joined_by::JoinedBy;
use super::from::view::Viewing;
use super::parameters::Parameters;
use super::pushed::whole::Wanted;
use super::query::{Aggregate, CommonPlan, Filter, Subquery, placed_at};
use super::rollup;
use super::scope::{Outside, Scope};
use super::seen::Seen;
use super::trace::Trace;
use super::uses::Uses;
use super::windows::Windows;
use super::with::Named;

/// What planning needs to know of its surroundings.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// What the names of tables mean.
    pub names: TableNames<'a>,
    /// The trees, to ask how many rows ranges hold.
    pub engine: &'a Engine,
    /// Fewer ranges than these are asked about.
    pub dive_limit: usize,
    /// Ways to run it that are allowed.
    pub ways: Ways,
    /// Where it is noted what was considered.
    pub trace: Option<&'a Trace>,
    /// The current database.
    pub schema: Option<&'a str>,
    /// Literals' collation.
    pub collation: Collation,
    /// ONLY_FULL_GROUP_BY
    pub full_group_by: bool,
    /// Settings, session and parameters.
    pub eval: &'a EvalContext<'a>,
    /// Plain reads are shared locking ones.
    pub locks_reads: bool,
    /// What its parameters are.
    pub parameters: &'a Parameters,
    /// Queries that a name in FROM can mean, the nearest last.
    pub common: &'a [Named],
    /// Where it is noted which of them are read.
    pub reads: Option<&'a RefCell<Vec<Arc<CommonPlan>>>>,
    /// Where it is noted which columns are used.
    pub uses: &'a Uses,
    /// Queries around.
    pub depth: u32,
    /// It is of a statement that changes rows: what it reads by way of a derived table is read before it
    /// changes any.
    pub changes: bool,
    /// The view whose query it is.
    pub viewing: Option<&'a Viewing<'a>>,
    /// It is only asked whether what is written is right: EXISTS leaves nothing out.
    pub as_written: bool,
}

impl<'a> PlanContext<'a> {
    /// For a statement that changes rows.
    pub(super) fn of_change(&self) -> PlanContext<'a> {
        PlanContext { changes: true, ..*self }
    }

    /// What is locked where no clause says anything of it.
    pub(super) fn lock_of_reads(&self) -> Option<(RowLock, LockWait)> {
        self.locks_reads.then_some((RowLock::Shared, LockWait::Wait))
    }

    /// Whom the number of rows in a range is asked.
    pub(super) fn dives(&self) -> Dives<'a> {
        Dives { engine: self.engine, eval: self.eval, limit: self.dive_limit }
    }
}

/// A block being planned.
pub struct Block<'a, 'p> {
    /// Surroundings.
    pub context: &'a PlanContext<'a>,
    /// Names.
    pub scope: Scope<'p>,
    /// Sub-queries met so far.
    pub subqueries: Vec<Subquery>,
    /// Aggregates met so far.
    pub aggregates: Vec<Aggregate>,
    /// The table that INSERT fills: what DEFAULT(column) and VALUES(column) speak of.
    pub target: Option<Arc<Table>>,
    /// Tuple position of the new row, where ON DUPLICATE KEY UPDATE may read it.
    pub inserted_base: Option<usize>,
    /// Sub-queries that have their places, with what was seen where they stand.
    pub seen_subqueries: Seen<ast::Expr, (Sight, Vec<Typed>)>,
    /// Aggregates that have a place.
    pub seen_aggregates: Seen<FunctionCall, Typed>,
    /// Its optimizer hints.
    pub hints: Vec<ast::Advice>,
    /// Derived tables can be merged into the block: it is no change's.
    pub merges: bool,
    /// They are, and views, unless a hint says otherwise.
    pub merges_unasked: bool,
    /// What it asks of the tables that it reads as a whole.
    pub wanted: Wanted,
    /// Views can be merged into the block.
    pub merges_views: bool,
    /// What is read of FROM now is the optional side of an outer join.
    pub reads_optional: bool,
    /// What it joins its tables by.
    pub joined_by: JoinedBy,
    /// Its window functions.
    pub windows: Windows,
    /// It may have some.
    pub takes_windows: bool,
    /// Of an INSERT, or of an UPDATE or DELETE of one table: MySQL reads no texts beside dates as days there.
    pub changes_one_table: bool,
    /// Keys of GROUP BY, aliases and positions replaced.
    pub group_keys: Vec<ast::Expr>,
    /// The same under WITH ROLLUP.
    pub rollup: Vec<rollup::Key>,
}

/// What a name can mean at some place: the clause, and the tables that ON sees.
pub type Sight = (&'static str, Option<(usize, usize)>);

impl<'a, 'p> Block<'a, 'p> {
    /// An empty block inside `parent`.
    pub fn new(context: &'a PlanContext<'a>, parent: Option<Outside<'p>>) -> Block<'a, 'p>
    where
        'a: 'p,
    {
        Block {
            context,
            scope: Scope::new(parent, context.uses),
            subqueries: Vec::new(),
            aggregates: Vec::new(),
            target: None,
            inserted_base: None,
            hints: Vec::new(),
            merges: false,
            merges_unasked: false,
            merges_views: false,
            wanted: Wanted::default(),
            reads_optional: false,
            joined_by: JoinedBy::default(),
            windows: Windows::default(),
            takes_windows: false,
            changes_one_table: false,
            seen_subqueries: Seen::default(),
            seen_aggregates: Seen::default(),
            group_keys: Vec::new(),
            rollup: Vec::new(),
        }
    }

    /// The column of the table that INSERT fills: a view has other names for them.
    pub fn target_column(&self, name: &str) -> Option<usize> {
        // It is the block's first table.
        let columns = &self.scope.tables.first().filter(|_| self.target.is_some())?.columns;
        columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Binds an expression of `clause`.
    pub fn bind(&mut self, expr: &ast::Expr, clause: &'static str) -> SqlResult<Typed> {
        self.scope.clause.set(clause);
        let settings = self.context.eval.settings;
        let before = self.subqueries.len();
        let bound = expr::bind(expr, self, &settings)?;
        self.guard_waits(before, &bound.expr)?;
        Ok(bound)
    }

    /// What the `?` of open expressions are, before these are bound.
    pub fn settle(&mut self, written: &[&ast::Expr], kind: ParameterKind) {
        let settings = self.context.eval.settings;
        expr::Builder { resolver: self, settings: &settings }.settle_all(written, Hold::Beside, kind);
    }

    /// Binds what a column of this type is to hold, or an aggregate over values of this type is fed.
    pub fn bind_for(
        &mut self,
        expr: &ast::Expr,
        kind: &ColumnType,
        clause: &'static str,
    ) -> SqlResult<Typed> {
        self.scope.clause.set(clause);
        let settings = self.context.eval.settings;
        let before = self.subqueries.len();
        let bound = expr::bind_for(expr, kind, self, &settings)?;
        self.guard_waits(before, &bound.expr)?;
        Ok(bound)
    }

    /// What a `?` is as an argument of a function that is bound here.
    pub fn settle_argument(&mut self, name: &str, nth: usize, written: &ast::Expr) {
        let settings = self.context.eval.settings;
        expr::Builder { resolver: self, settings: &settings }.settle_argument(name, nth, written);
    }

    /// What the `?` are that a query gives to columns, alone or joined with others.
    pub fn settle_selected(&mut self, query: &ast::Query, columns: &[&ColumnType], joined: bool) {
        if self.context.parameters.derivation().is_none() {
            return;
        }
        let settings = self.context.eval.settings;
        match &query.body {
            ast::QueryBody::Select(select) => {
                let plain = |item: &ast::SelectItem| matches!(item, ast::SelectItem::Expr { .. });
                if !select.items.iter().all(plain) {
                    return;
                }
                for (item, column) in select.items.iter().zip(columns) {
                    if let ast::SelectItem::Expr { expr, .. } = item {
                        let builder = expr::Builder { resolver: self, settings: &settings };
                        builder.settle_selected(expr, column, joined);
                    }
                }
            }
            ast::QueryBody::SetOperation { first, rest } => {
                self.settle_selected(first, columns, true);
                rest.iter().for_each(|(_, query)| self.settle_selected(query, columns, true));
            }
            ast::QueryBody::Values(_) | ast::QueryBody::Table(_) => {}
        }
    }

    /// Binds a value that is put into a column of this type.
    pub fn bind_given(
        &mut self,
        expr: &ast::Expr,
        kind: &ColumnType,
        clause: &'static str,
    ) -> SqlResult<Typed> {
        self.scope.clause.set(clause);
        let settings = self.context.eval.settings;
        let before = self.subqueries.len();
        let bound = expr::bind_given(expr, kind, self, &settings)?;
        self.guard_waits(before, &bound.expr)?;
        Ok(bound)
    }

    /// Binds a condition.
    pub fn filter(&mut self, expr: &ast::Expr, clause: &'static str) -> SqlResult<Filter> {
        let typed = self.bind(expr, clause)?;
        if typed.kind.column == ColumnType::Json {
            self.warn(SqlError::document_as_condition());
        }
        Ok(self.with_subqueries(expr::document_holds(expr::held_by_branch(typed)).expr))
    }

    /// A condition with the sub-queries it needs.
    pub fn with_subqueries(&self, expr: Expr) -> Filter {
        let subqueries = self.subqueries_of(&expr);
        Filter { expr, subqueries }
    }

    /// Positions of the correlated sub-queries that an expression reads, and of those that they read in turn,
    /// in the order in which they must run.
    pub fn subqueries_of(&self, expr: &Expr) -> Vec<usize> {
        self.subqueries_for(expr.columns())
    }

    /// The same for several tuple positions.
    pub fn subqueries_for(&self, mut read: Vec<usize>) -> Vec<usize> {
        // A sub-query gets its place behind those that its operand reads.
        let mut found = BTreeSet::new();
        while let Some(position) = read.pop() {
            let correlated = |nth: &usize| self.subqueries[*nth].correlated;
            if let Some(nth) = placed_at(&self.subqueries, position).filter(correlated)
                && found.insert(nth)
            {
                read.extend(&self.subqueries[nth].inputs);
            }
        }
        found.into_iter().collect()
    }

    /// Tuple positions of tables that an expression depends on, those of its sub-queries included.
    pub fn reads(&self, expr: &Expr) -> Vec<usize> {
        self.reads_of(expr.columns())
    }

    /// The same for several tuple positions.
    pub fn reads_of(&self, positions: Vec<usize>) -> Vec<usize> {
        let mut all = Vec::new();
        for position in positions {
            match placed_at(&self.subqueries, position) {
                Some(nth) => all.extend(&self.subqueries[nth].reads),
                None => all.push(position),
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The type of a value once it has left the block that computed it: TIMESTAMPs were turned into the session's
/// zone.
pub fn settled(kind: &ColumnType) -> ColumnType {
    match kind {
        ColumnType::Timestamp { fsp } => ColumnType::DateTime { fsp: *fsp },
        other => other.clone(),
    }
}
