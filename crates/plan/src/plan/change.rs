//! Plans of INSERT, REPLACE, UPDATE and DELETE.

use std::sync::Arc;

use turnstile_engine::{LockWait, RowLock};

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::Expr;
use turnstile_expr::functions;
use turnstile_syntax::ast::{self, Assignment, ColumnName, TableRef};
use turnstile_syntax::walk;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::block::{Block, PlanContext};
use super::foreign_key::{self, ForeignPlan};
use super::from;
use super::point::PointShape;
use super::query::{OrderKey, QueryPlan, SelectPlan, Source, Step, Subquery};
use super::scope::ScopeTable;
use super::select::limit_plan;
use super::steps::{Condition, StepPlanner};
use super::{insert_select, last_row, safe, with};

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
    /// IGNORE
    pub ignore: bool,
    /// ON DUPLICATE KEY UPDATE, over a frame of the old row's columns, then the new row's.
    pub on_duplicate: Vec<Assigned>,
    /// That may be worked out while the row's page is latched.
    pub light: bool,
    /// Values of a frame.
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
    /// Frame position of what the query gives besides the row: columns of its tables that ON DUPLICATE KEY
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
    /// Which rows; its frames begin with the columns of its tables.
    pub select: SelectPlan,
    /// What is changed, one entry per table.
    pub targets: Vec<ChangeTarget>,
    /// IGNORE
    pub ignore: bool,
    /// It changes one row, found by its whole primary key.
    pub point: Option<PointShape>,
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
            target.light = assignments.is_none_or(|all| assigns_lightly(&target.table, all));
        }
        let has_foreign = targets.iter().any(|target| target.foreign.is_some());
        let point = if has_foreign { None } else { PointShape::of(&select, &targets) };
        let is_target = |step: &&Step| targets.iter().any(|target| target.base == step.base);
        let never = select.preconditions.iter().any(|one| functions::is_never(&one.expr));
        let unbounded = |step: &Step| step.reads_whole() && !safe::makes_range(step);
        let reads_whole = !never && select.steps.iter().filter(is_target).any(unbounded);
        ChangePlan { select, targets, ignore, point, has_foreign, reads_whole }
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
    /// Frame position of its first column.
    pub base: usize,
    /// SET; None for DELETE. Columns count from the table's first.
    pub assignments: Option<Vec<Assigned>>,
    /// What the change asks of parents and children.
    pub foreign: Option<Box<ForeignPlan>>,
    /// Sub-queries that assignments read, by position of the assignment.
    pub subqueries: Vec<(usize, Vec<usize>)>,
    /// The new row may be worked out while the old one's page is latched.
    pub light: bool,
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
    context.dictionary.table(schema, &name.table)
}

/// Plans INSERT and REPLACE.
pub fn plan_insert(context: &PlanContext<'_>, insert: &ast::Insert) -> SqlResult<InsertPlan> {
    let table = target_table(context, &insert.table)?;
    let targets = targets(&table, &insert.columns)?;
    let mut block = Block::new(context, None);
    block.changes_one_table = true;
    let base = block.scope.reserve(table.columns().len());
    block.scope.add(ScopeTable::of(&table, &insert.table.table, base))?;
    block.target = Some(table.clone());
    for at in &targets {
        block.scope.note_use(0, *at, Privileges::INSERT, insert.columns.is_empty());
    }
    let new_base = block.scope.reserve(table.columns().len());
    let (mut given, mut conversions) = (Vec::new(), Vec::new());
    let source = match &insert.source {
        ast::InsertSource::Query(query) => {
            let columns: Vec<&ColumnType> = targets.iter().map(|at| &table.columns()[*at].kind).collect();
            block.settle_selected(query, &columns, false);
            let mut plan = super::plan_query(context, query, None)?;
            check_values(plan.columns().len(), &targets, &table)?;
            if let Some((wider, tables)) = insert_select::with_tables(context, query, insert, targets.len())?
            {
                (plan, given) = (wider, tables);
            }
            conversions =
                insert_select::into_columns((&mut plan, query), &context.eval.settings, &targets, &table);
            InsertSource::Query(plan)
        }
        ast::InsertSource::Literals(rows) => {
            check_values(rows.width(), &targets, &table)?;
            InsertSource::Literals(rows.clone())
        }
        ast::InsertSource::Rows(rows) => {
            InsertSource::Rows(bind_rows(&mut block, &table, rows, &targets, insert)?)
        }
    };
    let row_subqueries = insert_select::of_rows(&mut block, &table, &source);
    let references = insert_select::references(&block, &source, &targets, &table);
    block.inserted_base = Some(new_base);
    let source_base = block.scope.width();
    for mut table in given {
        table.base = block.scope.reserve(table.columns.len());
        block.scope.add(table)?;
    }
    if let Some(alias) = &insert.row_alias {
        block.scope.add(aliased_row(&table, alias, new_base, &targets))?;
    }
    let on_duplicate = assignments(&mut block, &insert.on_duplicate, &table, base)?;
    let read = on_duplicate.iter().filter_map(|(_, value)| value.as_ref()).flat_map(Expr::columns);
    let duplicate_subqueries = block.subqueries_for(read.collect());
    insert_select::refuse_target_by_name(&block.subqueries, &table, &insert.table.table)?;
    let assigned = table.may_change(on_duplicate.iter().map(|(column, _)| *column));
    let foreign = foreign_key::of_insert(context.dictionary, &table, insert.replace, &assigned);
    Ok(InsertPlan {
        targets,
        source,
        conversions,
        replace: insert.replace,
        ignore: insert.ignore,
        light: assigns_lightly(&table, &on_duplicate),
        on_duplicate,
        width: block.scope.width(),
        subqueries: std::mem::take(&mut block.subqueries),
        row_subqueries,
        references,
        duplicate_subqueries,
        source_base,
        table,
        foreign,
    })
}

/// Fails unless there are as many values as columns, and each of these may be given one.
fn check_values(count: usize, targets: &[usize], table: &Table) -> SqlResult<()> {
    if count != targets.len() {
        return Err(SqlError::wrong_value_count_on_row(1));
    }
    targets.iter().try_for_each(|column| table.check_takes_value(*column))
}

/// The new row by the names that `AS alias (a, b)` gives it.
fn aliased_row(table: &Arc<Table>, alias: &ast::RowAlias, base: usize, targets: &[usize]) -> ScopeTable {
    let mut row = ScopeTable::of(table, &alias.table, base);
    row.own_names = row.columns.iter().map(|column| column.name.clone()).collect();
    for (column, name) in targets.iter().zip(&alias.columns) {
        row.columns[*column].name = name.clone();
    }
    row
}

fn targets(table: &Table, names: &[ast::Name]) -> SqlResult<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..table.columns().len()).filter(|at| !table.columns()[*at].invisible).collect());
    }
    let mut targets = Vec::with_capacity(names.len());
    for name in names {
        let at = table.column_position(name).ok_or_else(|| SqlError::unknown_column(name, "field list"))?;
        if targets.contains(&at) {
            return Err(SqlError::field_specified_twice(name));
        }
        targets.push(at);
    }
    Ok(targets)
}

fn bind_rows(
    block: &mut Block<'_, '_>,
    table: &Table,
    rows: &[Vec<ast::Expr>],
    targets: &[usize],
    insert: &ast::Insert,
) -> SqlResult<Vec<Vec<Option<Expr>>>> {
    let mut bound = Vec::with_capacity(rows.len());
    for (nth, row) in rows.iter().enumerate() {
        // `()` gives every column its default.
        let defaults = row.is_empty() && insert.columns.is_empty();
        if row.len() != targets.len() && !defaults {
            return Err(SqlError::wrong_value_count_on_row(nth + 1));
        }
        let mut values = Vec::with_capacity(targets.len());
        for (expr, column) in row.iter().zip(targets) {
            let value = assigned_value(block, expr, &table.columns()[*column].kind)?;
            value.iter().try_for_each(|_| table.check_takes_value(*column))?;
            values.push(value);
        }
        values.resize(targets.len(), None);
        bound.push(values);
    }
    Ok(bound)
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
        && let Some(table) = &block.target
        && let Some(at) = table.column_position(&name.column)
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
}

/// Plans UPDATE.
pub fn plan_update(context: &PlanContext<'_>, update: &ast::Update) -> SqlResult<ChangePlan> {
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
    };
    let (mut block, joined) = read_tables(context, &rows)?;
    let mut targets: Vec<ChangeTarget> = Vec::new();
    for one in &update.assignments {
        let position = assigned_column(&block, &one.column)?;
        let kind = block.scope.column_at(position).map(|(_, column)| column.kind.clone());
        let value = assigned_value(&mut block, &one.value, &kind.unwrap_or(ColumnType::Null))?;
        let place = block
            .scope
            .column_at(position)
            .map(|(table, _)| (table.base, table.schema.clone(), table.name.clone(), &table.alias));
        let (base, schema, name, alias) =
            place.ok_or_else(|| SqlError::unknown_column(&one.column.column, "field list"))?;
        if schema.is_empty() {
            return Err(SqlError::non_updatable_table(alias, "UPDATE"));
        }
        let assigned = (position - base, value);
        match targets.iter_mut().find(|target| target.base == base) {
            Some(target) => target.assignments.get_or_insert_default().push(assigned),
            None => {
                let table = context.dictionary.table(&schema, &name)?;
                let assignments = Some(vec![assigned]);
                targets.push(ChangeTarget {
                    table,
                    base,
                    assignments,
                    foreign: None,
                    subqueries: Vec::new(),
                    light: false,
                });
            }
        }
    }
    for target in &mut targets {
        for (column, _) in target.assignments.iter().flatten().filter(|(_, value)| value.is_some()) {
            target.table.check_takes_value(*column)?;
        }
        let assigned = target.assignments.iter().flatten().map(|(column, _)| *column);
        let assigned = target.table.may_change(assigned);
        target.foreign = foreign_key::of_update(context.dictionary, &target.table, &assigned);
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

/// Plans DELETE.
pub fn plan_delete(context: &PlanContext<'_>, delete: &ast::Delete) -> SqlResult<ChangePlan> {
    let Some(with) = &delete.with else { return plan_delete_body(context, delete) };
    let common = with::plan(context, with, None)?;
    plan_delete_body(&PlanContext { common: &common, ..*context }, delete)
}

fn plan_delete_body(context: &PlanContext<'_>, delete: &ast::Delete) -> SqlResult<ChangePlan> {
    let rows = Rows {
        tables: &delete.from,
        condition: delete.condition.as_ref(),
        order_by: &delete.order_by,
        limit: delete.limit.as_ref(),
    };
    check_delete_targets(context, delete)?;
    let (mut block, joined) = read_tables(context, &rows)?;
    let mut targets = Vec::new();
    for nth in 0..block.scope.tables.len() {
        let table = &block.scope.tables[nth];
        let named = |name: &ast::TableName| {
            *name.table == *table.alias
                && name.schema.as_deref().is_none_or(|schema| *schema == *table.schema)
        };
        if delete.targets.is_empty() || delete.targets.iter().any(named) {
            if table.schema.is_empty() {
                return Err(SqlError::non_updatable_table(&table.alias, "DELETE"));
            }
            let found = context.dictionary.table(&table.schema, &table.name)?;
            let foreign = foreign_key::of_delete(context.dictionary, &found);
            let (base, subqueries) = (table.base, Vec::new());
            targets.push(ChangeTarget {
                table: found,
                base,
                assignments: None,
                foreign,
                subqueries,
                light: true,
            });
        }
    }
    if targets.len() < delete.targets.len() {
        return Err(SqlError::unknown_table(&delete.targets[0].table, "MULTI DELETE"));
    }
    let select = plan_rows(&mut block, joined, &rows, &targets)?;
    Ok(ChangePlan::new(select, targets, delete.ignore))
}

/// Every table that a DELETE of several names is one of those it reads, by MySQL's rules: a name with a
/// database never means an alias, one without means an alias or a table of the current database. Errors 1046,
/// 1066 and 1109.
fn check_delete_targets(context: &PlanContext<'_>, delete: &ast::Delete) -> SqlResult<()> {
    fn count(tables: &TableRef, fits: &dyn Fn(Option<&ast::TableName>, Option<&str>) -> bool) -> usize {
        match tables {
            TableRef::Table(factor) => usize::from(fits(Some(&factor.name), factor.alias.as_deref())),
            TableRef::Derived { alias, .. } => usize::from(fits(None, Some(alias))),
            TableRef::Join(join) => count(&join.left, fits) + count(&join.right, fits),
        }
    }
    for (nth, target) in delete.targets.iter().enumerate() {
        let current = context.schema;
        let is_same = |other: &ast::TableName| {
            let of = |name: &ast::TableName| name.schema.as_deref().or(current).map(str::to_owned);
            other.table == target.table && of(other) == of(target)
        };
        if delete.targets[..nth].iter().any(is_same) {
            return Err(SqlError::non_unique_table(&target.table));
        }
        let schema = target.schema.as_deref().or(current).ok_or_else(SqlError::no_database_selected)?;
        let fits = |table: Option<&ast::TableName>, alias: Option<&str>| match (alias, table) {
            (Some(alias), _) => target.schema.is_none() && *alias == *target.table,
            (None, Some(table)) => {
                let of = table.schema.as_deref().or(current);
                *table.table == *target.table && of.is_some_and(|of| *of == *schema)
            }
            (None, None) => false,
        };
        match delete.from.iter().map(|tables| count(tables, &fits)).sum() {
            0 => return Err(SqlError::unknown_table(&target.table, "MULTI DELETE")),
            1 => {}
            2.. => return Err(SqlError::non_unique_table(&target.table)),
        }
    }
    Ok(())
}

fn read_tables<'a>(
    context: &'a PlanContext<'a>,
    rows: &Rows<'_>,
) -> SqlResult<(Block<'a, 'a>, from::Joined)> {
    let mut block = Block::new(context, None);
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
    let on = joined.conditions.iter().map(|one| Condition::bind_on(block, one));
    let mut conditions = on.collect::<SqlResult<Vec<_>>>()?;
    let mut list = Vec::new();
    let meant = rows.condition.map(|one| last_row::meant(block, one)).transpose()?;
    meant.into_iter().for_each(|one| walk::conjuncts(one, &mut list));
    for one in &list {
        conditions.push(Condition::bind(block, one, "where clause")?);
    }
    let locked = |table: &ScopeTable| {
        let lock = if targets.iter().any(|target| target.base == table.base) {
            RowLock::Exclusive
        } else {
            RowLock::Shared
        };
        Some((lock, LockWait::Wait))
    };
    let locking = block.scope.tables.iter().map(locked).collect();
    let (preconditions, steps) =
        StepPlanner::new(block, locking, joined.straight).plan(joined.tables, conditions)?;
    let mut order = Vec::new();
    for item in rows.order_by {
        let typed = turnstile_expr::functions::in_order(block.bind(&item.expr, "order clause")?);
        let collation = typed.kind.column.collation().unwrap_or(Collation::Binary);
        order.push(OrderKey { expr: typed.expr, descending: item.descending, collation });
    }
    let limit = limit_plan(block, rows.limit)?;
    // The error names the first table, whichever is read.
    let first = targets.first().and_then(|target| block.scope.column_at(target.base));
    let alias = first.map_or("", |(table, _)| &*table.alias);
    for target in targets {
        insert_select::refuse_target(&block.subqueries, &target.table, alias)?;
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
        subqueries: std::mem::take(&mut block.subqueries),
        group: None,
        having: Vec::new(),
        items: Vec::new(),
        item_subqueries,
        columns: Arc::from([]),
        distinct: false,
        order,
        limit,
        calc_found_rows: false,
        outer: Vec::new(),
        light: false,
        point: None,
    };
    super::finish::finish(&mut plan);
    need_all(&mut plan.steps);
    plan.width = block.scope.width();
    Ok(plan)
}

/// Rows that are changed are wanted whole.
fn need_all(steps: &mut [super::query::Step]) {
    for step in steps {
        match &mut step.source {
            Source::Table(source) => {
                source.needed = (0..source.table.columns().len()).collect();
                source.numbers = source.table.primary().is_none();
                source.covering = false;
            }
            Source::Group(inner) => need_all(inner),
            Source::Derived(_)
            | Source::Lateral(_)
            | Source::Expanded(..)
            | Source::Common(_)
            | Source::Virtual(_) => {}
        }
    }
}
