//! What an INSERT's rows and its ON DUPLICATE KEY UPDATE may read: the row itself, the row that is there, and
//! columns of the tables that the rows come from.

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::{EvalSettings, Expr, Typed, given, with_all_of_average, with_own_digits};
use turnstile_syntax::ast::{self, QueryBody, SelectItem, TableRef};
use turnstile_syntax::walk;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::block::{Block, PlanContext};
use super::change::InsertSource;
use super::query::{JoinStep, QueryPlan, Source, Subquery};
use super::scope::{ScopeColumn, ScopeTable, is_aggregated};
use super::uses::Uses;

/// `INSERT ... SELECT ... ON DUPLICATE KEY UPDATE a = t.b`: the query planned with the columns of its tables
/// behind its own `width` columns, and these tables; None if nothing of them is read, or they cannot be read
/// behind a GROUP BY or a UNION.
pub fn with_tables(
    context: &PlanContext<'_>,
    query: &ast::Query,
    insert: &ast::Insert,
    width: usize,
) -> SqlResult<Option<(QueryPlan, Vec<ScopeTable>)>> {
    let QueryBody::Select(select) = &query.body else { return Ok(None) };
    let grouped = !select.group_by.is_empty()
        || select
            .items
            .iter()
            .any(|item| matches!(item, SelectItem::Expr { expr, .. } if is_aggregated(expr)));
    if insert.on_duplicate.is_empty() || grouped || select.from.is_empty() {
        return Ok(None);
    }
    let mut names = Vec::new();
    select.from.iter().for_each(|one| table_names(one, &mut names));
    names.retain(|(_, name)| **name != *insert.table.table);
    let mut wider = (**select).clone();
    wider.items.extend(
        names
            .iter()
            .map(|(schema, name)| SelectItem::Wildcard { schema: schema.clone(), table: Some(name.clone()) }),
    );
    let query = ast::Query { body: QueryBody::Select(Box::new(wider)), ..query.clone() };
    // The columns that are read of them are noted where they are; those of `*` are not all read.
    let unread = Uses::default();
    let plan = super::plan_query(&PlanContext { uses: &unread, trace: None, ..*context }, &query, None)?;
    let mut tables: Vec<ScopeTable> = Vec::new();
    for column in &plan.columns()[width..] {
        let is_next =
            tables.last().is_none_or(|last| last.alias != column.table || last.schema != column.schema);
        if is_next {
            let (schema, name) = (column.schema.clone(), column.org_table.clone());
            tables.push(ScopeTable { schema, alias: column.table.clone(), name, ..ScopeTable::default() });
        }
        let flags = column.flags;
        let name = if column.org_name.is_empty() { &column.name } else { &column.org_name };
        let column = ScopeColumn {
            name: name.clone(),
            kind: column.column_type.clone(),
            traits: column.traits,
            nullable: true,
            flags,
            hidden: false,
        };
        if let Some(table) = tables.last_mut() {
            table.columns.push(column);
        }
    }
    let read = insert.on_duplicate.iter().any(|one| reads(&one.value, &tables));
    Ok(read.then_some((plan, tables)))
}

/// Whether an expression may read columns of tables.
fn reads(expr: &ast::Expr, tables: &[ScopeTable]) -> bool {
    walk::any(expr, &|one| match one {
        ast::Expr::Column(name) => tables.iter().any(|table| {
            name.table.as_deref().is_none_or(|wanted| *wanted == *table.alias)
                && table.columns.iter().any(|column| column.name.eq_ignore_ascii_case(&name.column))
        }),
        one => one.is_query(),
    })
}

fn table_names(one: &TableRef, into: &mut Vec<(Option<ast::Name>, ast::Name)>) {
    match one {
        TableRef::Table(factor) => match &factor.alias {
            Some(alias) => into.push((None, alias.clone())),
            None => into.push((factor.name.schema.clone(), factor.name.table.clone())),
        },
        TableRef::Derived { alias, .. } => into.push((None, alias.clone())),
        TableRef::Join(join) => {
            table_names(&join.left, into);
            table_names(&join.right, into);
        }
    }
}

/// The values of a query as what the columns take that they are given to: a column of text takes a decimal
/// with the digits of its value. What else a value becomes, a document a number or a date a text, is worked
/// out when its column's turn has come: these expressions, over the query's row.
pub fn into_columns(
    (plan, query): (&mut QueryPlan, &ast::Query),
    settings: &EvalSettings,
    targets: &[usize],
    table: &Table,
) -> Vec<Option<Expr>> {
    let (QueryPlan::Select(plan), QueryBody::Select(select)) = (plan, &query.body) else { return Vec::new() };
    let is_plain = |item: &SelectItem| matches!(item, SelectItem::Expr { .. });
    let same_places = select.items.iter().all(is_plain);
    let passes_on = !plan.distinct && plan.group.is_none();
    let columns = plan.columns.iter();
    let mut conversions = Vec::with_capacity(targets.len());
    for (nth, ((item, of), column)) in plan.items.iter_mut().zip(columns).zip(targets).enumerate() {
        let kind = &table.columns()[*column].kind;
        let written = match select.items.get(nth) {
            Some(SelectItem::Expr { expr, .. }) if same_places => Some(expr.clone()),
            // What stands for `*` is columns.
            _ if matches!(item.expr, Expr::Column(_) | Expr::TimestampColumn(_)) => {
                let column = ast::ColumnName { schema: None, table: None, column: of.name.clone() };
                Some(ast::Expr::Column(column))
            }
            _ => None,
        };
        let value = Typed { expr: Expr::Column(nth), kind: item.kind.clone() };
        let taken = written.map(|written| given(value, &written, kind, settings).expr);
        conversions.push(taken.filter(|taken| !matches!(taken, Expr::Column(_))));
        if kind.is_string() && *kind != ColumnType::Json && passes_on {
            *item = with_own_digits(item.clone());
        } else if !plan.distinct {
            *item = with_all_of_average(item.clone());
        }
    }
    conversions
}

/// A sub-query that reads the table which is filled is run for each row: it sees the rows before.
fn read_anew(block: &mut Block<'_, '_>, table: &Table) {
    let target = Target { table, name: None };
    for one in &mut block.subqueries {
        one.correlated |= target.is_read_within(&one.plan);
    }
    target.vary(&mut block.subqueries);
}

/// The sub-queries of VALUES that read the row, or what the rows before have changed.
pub fn of_rows(
    block: &mut Block<'_, '_>,
    table: &Table,
    source: &InsertSource,
) -> Vec<(usize, usize, Vec<usize>)> {
    read_anew(block, table);
    let InsertSource::Rows(rows) = source else { return Vec::new() };
    if block.subqueries.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (nth, row) in rows.iter().enumerate() {
        for (at, value) in row.iter().enumerate() {
            let read = value.as_ref().map_or(Vec::new(), |value| block.subqueries_of(value));
            if !read.is_empty() {
                found.push((nth, at, read));
            }
        }
    }
    found
}

/// The columns of the new row that its values refer to.
pub fn references(
    block: &Block<'_, '_>,
    source: &InsertSource,
    targets: &[usize],
    table: &Table,
) -> Vec<usize> {
    let InsertSource::Rows(rows) = source else { return Vec::new() };
    let mut found = Vec::new();
    for row in rows {
        for (value, column) in row.iter().zip(targets) {
            match value {
                Some(value) => {
                    found.extend(value.columns());
                    let subqueries = block.subqueries_of(value);
                    found.extend(subqueries.iter().flat_map(|nth| &block.subqueries[*nth].reads));
                }
                None => {
                    let computed = table.computed_defaults.iter().filter(|(at, _)| at == column);
                    found.extend(
                        computed.filter_map(|(_, expr)| expr.as_ref().ok()).flat_map(|expr| expr.columns()),
                    );
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found.retain(|position| *position < table.columns().len());
    found
}

/// Error 1093 if a sub-query reads the table that the statement changes. A derived table may: its rows are
/// there before.
pub fn refuse_target(subqueries: &[Subquery], table: &Table, alias: &str) -> SqlResult<()> {
    Target { table, name: None }.refuse(subqueries, alias)
}

/// The same for INSERT and REPLACE, whose sub-queries may read their table under another name.
pub fn refuse_target_by_name(subqueries: &[Subquery], table: &Table, name: &str) -> SqlResult<()> {
    Target { table, name: Some(name) }.refuse(subqueries, name)
}

/// A table that a statement changes.
#[derive(Clone, Copy)]
struct Target<'a> {
    table: &'a Table,
    /// The only name under which reading it is refused; None: every one.
    name: Option<&'a str>,
}

impl Target<'_> {
    /// Whether a query reads it anywhere, derived tables too.
    fn is_read_within(self, plan: &QueryPlan) -> bool {
        match plan {
            QueryPlan::Select(plan) => {
                plan.steps.iter().any(|step| self.is_read_in(step) || self.is_read_in_derived(step))
                    || plan.subqueries.iter().any(|one| self.is_read_within(&one.plan))
            }
            QueryPlan::Set(plan) => plan.members.iter().any(|(_, member)| self.is_read_within(member)),
            QueryPlan::Values(_) => false,
        }
    }

    fn is_read_in_derived(self, step: &JoinStep) -> bool {
        match &step.source {
            Source::Derived(plan)
            | Source::Distinct(plan)
            | Source::Lateral(plan)
            | Source::Expanded(plan, _) => self.is_read_within(plan),
            Source::Group(steps) => steps.iter().any(|step| self.is_read_in_derived(step)),
            Source::Table(_) | Source::Common(_) | Source::Virtual(_) => false,
        }
    }

    /// Sub-queries that read it have other rows each time, and so have those within them.
    fn vary(self, subqueries: &mut [Subquery]) {
        for one in subqueries.iter_mut().filter(|one| self.is_read_within(&one.plan)) {
            one.varies = true;
            if let QueryPlan::Select(plan) = &mut one.plan {
                self.vary(&mut plan.subqueries);
            }
        }
    }

    fn refuse(self, subqueries: &[Subquery], alias: &str) -> SqlResult<()> {
        match subqueries.iter().any(|one| self.is_read_by(&one.plan)) {
            true => Err(SqlError::update_table_used(alias)),
            false => Ok(()),
        }
    }

    fn is_read_by(self, plan: &QueryPlan) -> bool {
        match plan {
            QueryPlan::Select(plan) => {
                plan.steps.iter().any(|step| self.is_read_in(step))
                    || plan.subqueries.iter().any(|one| self.is_read_by(&one.plan))
            }
            QueryPlan::Set(plan) => plan.members.iter().any(|(_, member)| self.is_read_by(member)),
            QueryPlan::Values(_) => false,
        }
    }

    fn is_read_in(self, step: &JoinStep) -> bool {
        match &step.source {
            Source::Table(source) => {
                source.table.definition.id == self.table.definition.id
                    && self.name.is_none_or(|name| name == &*step.alias)
            }
            Source::Group(steps) => steps.iter().any(|step| self.is_read_in(step)),
            Source::Distinct(plan) => self.is_read_by(plan),
            Source::Derived(_)
            | Source::Lateral(_)
            | Source::Expanded(..)
            | Source::Common(_)
            | Source::Virtual(_) => false,
        }
    }
}
