//! Plans of INSERT, REPLACE, UPDATE and DELETE.

mod delete;
mod insert;
mod through;

use std::sync::Arc;

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::dictionary::check::BoundCheck;
use turnstile_engine::{LockWait, RowLock};
use turnstile_expr::expr::Expr;
use turnstile_expr::functions;
use turnstile_syntax::ast::{self, Assignment, ColumnName, TableRef};
use turnstile_syntax::walk;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::block::{Block, PlanContext};
use super::foreign_key::{self, ForeignPlan};
use super::integer_change::IntegerChange;
use super::point::PointShape;
use super::query::{JoinStep, OrderKey, QueryPlan, SelectPlan, Subquery, each_table};
use super::scope::ScopeTable;
use super::select::limit_plan;
use super::steps::{Condition, Locking, Planned, StepPlanner, join_queries};
use super::trace;
use super::{alternatives, from, hints, insert_select, last_row, safe, with};

pub use delete::plan_delete;
pub use insert::plan_insert;
pub use through::check_option_holds;

/// `column = value`; None for DEFAULT.
pub type Assigned = (usize, Option<Expr>);

/// INSERT and REPLACE.
pub struct InsertPlan {
    /// The table.
    pub table: Arc<Table>,
    /// Columns that are given, in order.
    pub targets: Vec<usize>,
    /// The rows.
    pub source: InsertSource,
    /// What the columns take of a query's values that is not these values, over the query's row.
    pub conversions: Vec<Option<Expr>>,
    /// REPLACE
    pub replace: bool,
    /// What rows are that it may delete: those that the view has through which it works.
    pub visible: Vec<BoundCheck>,
    /// IGNORE
    pub ignore: bool,
    /// ON DUPLICATE KEY UPDATE, over a tuple of the old row's columns, then the new row's.
    pub on_duplicate: Vec<Assigned>,
    /// That may be worked out while the row's page is latched.
    pub light: bool,
    /// Values of a tuple.
    pub width: usize,
    /// Sub-queries among the values.
    pub subqueries: Vec<Subquery>,
    /// Those that a value of VALUES reads and that read the row in turn: (row, position in the row,
    /// sub-queries).
    pub row_subqueries: Vec<(usize, usize, Vec<usize>)>,
    /// Columns of the row that values of VALUES refer to, by themselves, in sub-queries or in a default that
    /// is written out.
    pub references: Vec<usize>,
    /// Those of ON DUPLICATE KEY UPDATE that read the row that is there already, or the new one.
    pub duplicate_subqueries: Vec<usize>,
    /// Tuple position of what the query gives besides the row: columns of its tables that ON DUPLICATE KEY
    /// UPDATE reads.
    pub source_base: usize,
    /// What it asks of parents and children.
    pub foreign: Option<Box<ForeignPlan>>,
}

/// Where inserted rows come from.
pub enum InsertSource {
    /// VALUES; None for DEFAULT.
    Rows(Vec<Vec<Option<Expr>>>),
    /// VALUES of nothing but plain literals, which need no binding.
    Literals(Arc<ast::LiteralRows>),
    /// SELECT
    Query(QueryPlan),
}

/// UPDATE or DELETE.
pub struct ChangePlan {
    /// Which rows; its tuples begin with the columns of its tables.
    pub select: SelectPlan,
    /// What is changed, one entry per table.
    pub targets: Vec<ChangeTarget>,
    /// IGNORE
    pub ignore: bool,
    /// It changes one row, found by its whole primary key.
    pub point: Option<PointShape>,
    /// Its steps, if what it does to that row is to add to an integer or subtract from it.
    pub integer: Option<IntegerChange>,
    /// One of its targets has a [`ForeignPlan`].
    pub has_foreign: bool,
    /// Some table that is changed is read whole, and MySQL would not call that a range.
    pub reads_whole: bool,
}

impl ChangePlan {
    fn new(select: SelectPlan, targets: Vec<ChangeTarget>, ignore: bool) -> ChangePlan {
        let mut targets = targets;
        for target in &mut targets {
            let assignments = target.assignments.as_deref();
            let assigned =
                |column: usize| assignments.is_none_or(|all| all.iter().any(|(at, _)| *at == column));
            let moves =
                |key: &turnstile_catalog::dictionary::Key| key.parts.iter().any(|part| assigned(part.column));
            target.moves_keys = target.table.keys().iter().any(moves);
            target.light = assignments.is_none_or(|all| assigns_lightly(&target.table, all));
        }
        let has_foreign = targets.iter().any(|target| target.foreign.is_some());
        let point = if has_foreign { None } else { PointShape::of(&select, &targets) };
        let integer = point.and_then(|_| IntegerChange::of(select.steps.first()?, targets.first()?));
        let is_target = |step: &&JoinStep| targets.iter().any(|target| target.base == step.base);
        let never = select.preconditions.iter().any(|one| functions::is_never(&one.expr));
        let unbounded = |step: &JoinStep| {
            let reads = step.reads_whole() || safe::is_found_by_groups(&select, step);
            reads && !safe::makes_range(step) && !safe::is_found_by_query(&select, step)
        };
        let reads_whole = !never && select.steps.iter().filter(is_target).any(unbounded);
        ChangePlan { select, targets, ignore, point, integer, has_foreign, reads_whole }
    }

    /// Whether its rows are found by keys, or counted by a LIMIT: what `sql_safe_updates` asks for.
    pub fn is_bounded(&self) -> bool {
        !self.reads_whole || self.select.limit.count.is_some()
    }
}

/// One table that is changed.
pub struct ChangeTarget {
    /// The table.
    pub table: Arc<Table>,
    /// Tuple position of its first column.
    pub base: usize,
    /// SET; None for DELETE. Columns count from the table's first.
    pub assignments: Option<Vec<Assigned>>,
    /// What the change asks of parents and children.
    pub foreign: Option<Box<ForeignPlan>>,
    /// Sub-queries that assignments read, by position of the assignment.
    pub subqueries: Vec<(usize, Vec<usize>)>,
    /// A changed row has other keys than before, or none.
    pub moves_keys: bool,
    /// The new row may be worked out while the old one's page is latched.
    pub light: bool,
}

impl ChangeTarget {
    /// A table of which nothing is changed yet.
    fn of(table: Arc<Table>, base: usize) -> ChangeTarget {
        ChangeTarget {
            table,
            base,
            assignments: None,
            foreign: None,
            subqueries: Vec::new(),
            moves_keys: false,
            light: false,
        }
    }
}

/// Where a column is stored that is assigned to.
struct Stored {
    /// Tuple position of its table's first column.
    base: usize,
    /// Its position there.
    column: usize,
    /// The table, with what views ask of new rows.
    table: Arc<Table>,
}

/// Where a column of FROM is stored, maybe through views.
fn stored(block: &Block<'_, '_>, position: usize, name: &ColumnName) -> SqlResult<Stored> {
    let context = block.context;
    let found = block.scope.column_at(position).map(|(table, _)| table);
    let found = found.ok_or_else(|| SqlError::unknown_column(&name.column, "field list"))?;
    let fixed = || SqlError::non_updatable_table(&found.alias, "UPDATE");
    if found.schema.is_empty() {
        return Err(fixed());
    }
    if !found.is_view {
        let table =
            found.stored.clone().map_or_else(|| context.names.table(&found.schema, &found.name), Ok)?;
        return Ok(Stored { base: found.base, column: position - found.base, table });
    }
    let at = position - found.base;
    let view = context.names.view(&found.schema, &found.name).ok_or_else(fixed)?;
    let place = found.stands_for.get(at).copied().filter(|_| view.definition.updatable).ok_or_else(fixed)?;
    let checks = through::follow(context, &view, at, ("UPDATE", Privileges::UPDATE))?.checks;
    let owner = block.scope.column_at(place).map(|(table, _)| table);
    let owner = owner.and_then(|owner| Some((owner.base, owner.stored.clone()?)));
    let (base, table) = owner.ok_or_else(|| SqlError::column_not_updatable(&name.column))?;
    let table = through::checked(table, &checks, &view)?;
    Ok(Stored { base, column: place - base, table })
}

/// Whether a table of the block is read by way of a view.
fn view_of<'b>(block: &'b Block<'_, '_>, base: usize) -> Option<&'b ScopeTable> {
    let nth = block.scope.behind.iter().position(|table| table.base == base)?;
    block.scope.tables.iter().find(|table| table.is_view && (table.behind.0..table.behind.1).contains(&nth))
}

/// Error 1221 for ORDER BY and LIMIT of a view of several tables, as of these.
fn refuse_order_of_several(block: &Block<'_, '_>, rows: &Rows<'_>) -> SqlResult<()> {
    let several = block.scope.tables.iter().any(|table| table.is_view && table.behind.1 - table.behind.0 > 1);
    match several {
        true if !rows.order_by.is_empty() => Err(SqlError::wrong_usage("UPDATE", "ORDER BY")),
        true if rows.limit.is_some() => Err(SqlError::wrong_usage("UPDATE", "LIMIT")),
        _ => Ok(()),
    }
}

/// Error 1393 if a statement changes two tables through one view.
fn one_table_of_each_view(block: &Block<'_, '_>, targets: &[ChangeTarget]) -> SqlResult<()> {
    for (nth, target) in targets.iter().enumerate() {
        let Some(view) = view_of(block, target.base) else { continue };
        if targets[..nth]
            .iter()
            .any(|other| view_of(block, other.base).is_some_and(|one| one.base == view.base))
        {
            return Err(SqlError::view_of_several_tables(&view.schema, &view.name));
        }
    }
    Ok(())
}

/// What messages call a target: the view that it is changed through, else its own alias.
fn alias_of<'b>(block: &'b Block<'_, '_>, target: &ChangeTarget) -> &'b str {
    let own = || block.scope.column_at(target.base).map(|(table, _)| table);
    view_of(block, target.base).or_else(own).map_or("", |table| &table.alias)
}

/// Whether what an UPDATE assigns, and what its table asks of rows, may be worked out while a page is
/// latched.
fn assigns_lightly(table: &Table, assignments: &[Assigned]) -> bool {
    table.rules_are_light && assignments.iter().flat_map(|(_, value)| value).all(Expr::is_light)
}

/// The base table a change names.
fn target_table(context: &PlanContext<'_>, name: &ast::TableName) -> SqlResult<Arc<Table>> {
    let schema = name.schema.as_deref().or(context.schema).ok_or_else(SqlError::no_database_selected)?;
    if schema.eq_ignore_ascii_case("information_schema") {
        return Err(SqlError::database_access_denied("", "", schema));
    }
    context.names.table(schema, &name.table)
}

/// Binds assignments to columns of the table at `base`.
fn assignments(
    block: &mut Block<'_, '_>,
    list: &[Assignment],
    table: &Table,
    base: usize,
) -> SqlResult<Vec<Assigned>> {
    let mut bound = Vec::with_capacity(list.len());
    for one in list {
        let at = assigned_column(block, &one.column)?;
        let column = at.checked_sub(base).filter(|column| *column < table.columns().len());
        let column = column.ok_or_else(|| SqlError::unknown_column(&one.column.column, "field list"))?;
        let value = assigned_value(block, &one.value, &table.columns()[column].kind)?;
        value.iter().try_for_each(|_| table.check_takes_value(column))?;
        bound.push((column, value));
    }
    Ok(bound)
}

fn assigned_column(block: &Block<'_, '_>, name: &ColumnName) -> SqlResult<usize> {
    block.scope.clause.set("field list");
    if name.table.is_none()
        && block.inserted_base.is_some()
        && let Some(at) = block.target_column(&name.column)
    {
        block.scope.note_use(0, at, Privileges::UPDATE, false);
        return Ok(at);
    }
    Ok(block.scope.resolve_assigned(name)?.position)
}

fn assigned_value(
    block: &mut Block<'_, '_>,
    value: &ast::Expr,
    kind: &ColumnType,
) -> SqlResult<Option<Expr>> {
    match value {
        ast::Expr::Default(None) => Ok(None),
        other => Ok(Some(block.bind_given(other, kind, "field list")?.expr)),
    }
}

/// What UPDATE and DELETE have in common.
struct Rows<'q> {
    tables: &'q [TableRef],
    condition: Option<&'q ast::Expr>,
    order_by: &'q [ast::OrderItem],
    limit: Option<&'q ast::Limit>,
    hints: &'q [ast::Advice],
}

/// Plans UPDATE.
pub fn plan_update(context: &PlanContext<'_>, update: &ast::Update) -> SqlResult<ChangePlan> {
    let context = &context.of_change();
    let Some(with) = &update.with else { return plan_update_body(context, update) };
    let common = with::plan(context, with, None)?;
    plan_update_body(&PlanContext { common: &common, ..*context }, update)
}

fn plan_update_body(context: &PlanContext<'_>, update: &ast::Update) -> SqlResult<ChangePlan> {
    if !matches!(update.tables.as_slice(), [TableRef::Table(_)]) {
        if !update.order_by.is_empty() {
            return Err(SqlError::wrong_usage("UPDATE", "ORDER BY"));
        }
        if update.limit.is_some() {
            return Err(SqlError::wrong_usage("UPDATE", "LIMIT"));
        }
    }
    let rows = Rows {
        tables: &update.tables,
        condition: update.condition.as_ref(),
        order_by: &update.order_by,
        limit: update.limit.as_ref(),
        hints: &update.hints,
    };
    let (mut block, joined) = read_tables(context, &rows)?;
    refuse_order_of_several(&block, &rows)?;
    let mut targets: Vec<ChangeTarget> = Vec::new();
    for one in &update.assignments {
        let position = assigned_column(&block, &one.column)?;
        let kind = block.scope.column_at(position).map(|(_, column)| column.kind.clone());
        let value = assigned_value(&mut block, &one.value, &kind.unwrap_or(ColumnType::Null))?;
        let Stored { base, column, table } = stored(&block, position, &one.column)?;
        let assigned = (column, value);
        match targets.iter_mut().find(|target| target.base == base) {
            Some(target) => target.assignments.get_or_insert_default().push(assigned),
            None => targets
                .push(ChangeTarget { assignments: Some(vec![assigned]), ..ChangeTarget::of(table, base) }),
        }
    }
    one_table_of_each_view(&block, &targets)?;
    for target in &mut targets {
        for (column, _) in target.assignments.iter().flatten().filter(|(_, value)| value.is_some()) {
            target.table.check_takes_value(*column)?;
        }
        let assigned = target.assignments.iter().flatten().map(|(column, _)| *column);
        let assigned = target.table.may_change(assigned);
        target.foreign = foreign_key::of_update(context.names.dictionary(), &target.table, &assigned);
        for (nth, (_, value)) in target.assignments.iter().flatten().enumerate() {
            let read = value.as_ref().map_or(Vec::new(), |value| block.subqueries_of(value));
            if !read.is_empty() {
                target.subqueries.push((nth, read));
            }
        }
    }
    let select = plan_rows(&mut block, joined, &rows, &targets)?;
    Ok(ChangePlan::new(select, targets, update.ignore))
}

fn read_tables<'a>(
    context: &'a PlanContext<'a>,
    rows: &Rows<'_>,
) -> SqlResult<(Block<'a, 'a>, from::Joined)> {
    let mut block = Block::new(context, None);
    block.hints = rows.hints.to_vec();
    (block.merges_views, block.merges_unasked) = (true, true);
    block.changes_one_table = matches!(rows.tables, [TableRef::Table(_)]);
    let joined = from::read(&mut block, rows.tables)?;
    Ok((block, joined))
}

fn plan_rows(
    block: &mut Block<'_, '_>,
    joined: from::Joined,
    rows: &Rows<'_>,
    targets: &[ChangeTarget],
) -> SqlResult<SelectPlan> {
    trace::condition(block.context.trace, rows.condition);
    let on = joined.conditions.into_iter().map(|one| Condition::bind_on(block, one));
    let mut conditions = on.collect::<SqlResult<Vec<_>>>()?;
    for one in &asked(block, rows.condition)? {
        conditions.push(Condition::bind(block, one, "where clause")?);
    }
    let locking = locks(block, targets);
    let tables = with_queries(block, joined.tables, rows, targets, &mut conditions)?;
    let straight = joined.straight || hints::is_fixed(rows.hints);
    let planned = StepPlanner::new(block, locking, straight).plan(tables, conditions)?;
    let Planned { fixed: preconditions, steps, rows: found } = planned;
    let mut order = Vec::new();
    for item in rows.order_by {
        let typed = turnstile_expr::functions::in_order(block.bind(&item.expr, "order clause")?);
        let collation = typed.kind.column.collation().unwrap_or(Collation::Binary);
        order.push(OrderKey { expr: typed.expr, descending: item.descending, collation });
    }
    let limit = limit_plan(block, rows.limit)?;
    // The error names the first table, whichever is read.
    let alias: Box<str> = targets.first().map_or("", |target| alias_of(block, target)).into();
    for target in targets {
        insert_select::refuse_target(&block.subqueries, &target.table, &alias)?;
    }
    let mut item_subqueries = Vec::new();
    for target in targets {
        let values = target.assignments.iter().flatten().filter_map(|(_, value)| value.as_ref());
        item_subqueries.extend(values.flat_map(|value| block.subqueries_of(value)));
    }
    item_subqueries.extend(order.iter().flat_map(|key: &OrderKey| block.subqueries_of(&key.expr)));
    item_subqueries.sort_unstable();
    item_subqueries.dedup();
    let mut plan = SelectPlan {
        dependences: Vec::new(),
        width: 0,
        steps,
        preconditions,
        extremes: Vec::new(),
        subqueries: std::mem::take(&mut block.subqueries),
        group: None,
        windows: Vec::new(),
        having: Vec::new(),
        items: Vec::new(),
        item_subqueries,
        columns: Arc::from([]),
        distinct: false,
        order,
        in_order: false,
        limit,
        calc_found_rows: false,
        outer: Vec::new(),
        rows: found,
        light: false,
        point: None,
    };
    super::finish::finish(&mut plan, block.context);
    need_all(&mut plan.steps);
    plan.width = block.scope.width();
    Ok(plan)
}

/// Rows of the targets are locked alone, others with others.
fn locks(block: &Block<'_, '_>, targets: &[ChangeTarget]) -> Locking {
    let locked = |table: &ScopeTable| {
        let lock = if targets.iter().any(|target| target.base == table.base) {
            RowLock::Exclusive
        } else {
            RowLock::Shared
        };
        Some((lock, LockWait::Wait))
    };
    let named = block.scope.tables.iter().map(locked).collect();
    Locking { named, behind: block.scope.behind.iter().map(locked).collect() }
}

/// WHERE, taken apart.
fn asked(block: &Block<'_, '_>, condition: Option<&ast::Expr>) -> SqlResult<Vec<ast::Expr>> {
    let mut list = Vec::new();
    let meant = condition.map(|one| last_row::meant(block, one)).transpose()?;
    meant.into_iter().for_each(|one| walk::conjuncts(one, &mut list));
    Ok(alternatives::take_out(list))
}

/// The tables, with those of the queries of IN that find rows of them. A change of one table in order, or of
/// so many rows, goes through that table alone.
fn with_queries(
    block: &mut Block<'_, '_>,
    tables: Vec<from::Pending>,
    rows: &Rows<'_>,
    targets: &[ChangeTarget],
    conditions: &mut Vec<Condition>,
) -> SqlResult<Vec<from::Pending>> {
    if !rows.order_by.is_empty() || rows.limit.is_some() {
        return Ok(tables);
    }
    // The error names the first table, whichever is read.
    let alias: Box<str> = targets.first().map_or("", |target| alias_of(block, target)).into();
    for target in targets {
        insert_select::refuse_target(&block.subqueries, &target.table, &alias)?;
    }
    join_queries(block, tables, conditions)
}

/// Rows that are changed are wanted whole.
fn need_all(steps: &mut [JoinStep]) {
    each_table(steps, &mut |source, _| {
        source.needed = (0..source.table.columns().len()).collect();
        source.numbers = source.table.primary().is_none();
        source.covering = false;
    });
}
