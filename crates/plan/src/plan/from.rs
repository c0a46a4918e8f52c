//! FROM: tables enter the scope in the order written; joins become a list of steps to make, outer joins keep
//! their right side together.

mod join;
pub mod joined_by;
pub mod merged;
pub mod view;

use std::sync::Arc;

use turnstile_catalog::dictionary::Table;
use turnstile_catalog::virtual_table::{VirtualTable, viewed};
use turnstile_syntax::ast::{self, IndexHintKind, TableFactor, TableRef};
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::mixing::Traits;

use super::block::Block;
use super::grouping::{self, Facts};
use super::json_table::{self, JsonTable};
use super::pushed::whole;
use super::query::{CommonRows, OrderKey, Partners, QueryPlan};
use super::scope::{Reach, ScopeColumn, ScopeTable, TableId};
use super::steps::Condition;
use super::with::{self, Named};
use join::join;

/// A condition of a join.
pub enum On {
    /// As it is written.
    Written {
        /// The condition.
        expr: ast::Expr,
        /// Tables it may speak of, by position in the scope: from, to.
        sight: (usize, usize),
    },
    /// Of a derived table that is merged into the block, where it was bound.
    Bound(Condition),
}

/// A table of FROM that waits for its step.
pub struct Pending {
    /// What it is.
    pub kind: PendingKind,
    /// Right side of an outer join.
    pub left_join: bool,
    /// Which of its rows count: of a query that is asked only whether there is one, the first or none.
    pub partners: Partners,
    /// Its own conditions (of the outer join).
    pub on: Vec<On>,
}

/// What waits.
pub enum PendingKind {
    /// A table, and the keys that hints forbid.
    Table {
        /// Which of the scope.
        nth: TableId,
        /// The table.
        table: Arc<Table>,
        /// Keys that may not be used.
        forbidden: Vec<usize>,
    },
    /// A sub-query.
    Derived {
        /// Which of the scope.
        nth: TableId,
        /// Its plan.
        plan: Box<QueryPlan>,
    },
    /// The different rows of a query of IN.
    Distinct {
        /// Which of the scope.
        nth: TableId,
        /// Its plan.
        plan: Box<QueryPlan>,
    },
    /// JSON_TABLE of the document that a sub-query gives.
    Expanded {
        /// Which of the scope.
        nth: TableId,
        /// The document's plan.
        plan: Box<QueryPlan>,
        /// What makes rows of it.
        table: Arc<JsonTable>,
    },
    /// A query of WITH.
    Common {
        /// Which of the scope.
        nth: TableId,
        /// Its rows.
        rows: CommonRows,
    },
    /// A table of information_schema.
    Virtual {
        /// Which of the scope.
        nth: TableId,
        /// The table.
        table: VirtualTable,
    },
    /// Several, with conditions among them.
    Group {
        /// Its tables.
        members: Vec<Pending>,
        /// Conditions among them.
        conditions: Vec<On>,
    },
}

/// Tables and the conditions that join them.
#[derive(Default)]
pub struct Joined {
    /// In the order written.
    pub tables: Vec<Pending>,
    /// Conditions of inner joins.
    pub conditions: Vec<On>,
    /// STRAIGHT_JOIN was used somewhere.
    pub straight: bool,
    /// The order that a derived table gives, if it is the only table: for who asks for none himself.
    pub order: Vec<OrderKey>,
    /// What a bare `*` shows, as tuple positions: columns that USING or NATURAL joined come first.
    columns: Vec<usize>,
}

impl Joined {
    fn and(mut self, other: Joined) -> Joined {
        self.order = if self.tables.is_empty() { other.order } else { Vec::new() };
        self.tables.extend(other.tables);
        self.conditions.extend(other.conditions);
        self.straight |= other.straight;
        self.columns.extend(other.columns);
        self
    }
}

/// Reads a FROM clause into the block's scope.
pub fn read(block: &mut Block<'_, '_>, from: &[TableRef]) -> SqlResult<Joined> {
    let mut all = Joined::default();
    block.scope.clause.set("from clause");
    for one in from {
        all = all.and(table_ref(block, one)?);
    }
    if !block.scope.merged.is_empty() {
        block.scope.star = std::mem::take(&mut all.columns);
    }
    Ok(all)
}

/// An unknown column in the argument of JSON_TABLE; its table is what is unknown if there is none before.
fn unknown_argument(block: &Block<'_, '_>, error: SqlError) -> SqlError {
    const PLACE: &str = "a table function argument";
    let name = match error.kind() {
        ErrorKind::UnknownColumn => {
            error.message.strip_prefix("Unknown column '").and_then(|rest| rest.split_once("' in '"))
        }
        _ => None,
    };
    let Some((name, _)) = name else { return error };
    match name.split_once('.') {
        Some((table, _)) if block.scope.tables.is_empty() => SqlError::unknown_table(table, PLACE),
        _ => SqlError::unknown_column(name, PLACE),
    }
}

fn table_ref(block: &mut Block<'_, '_>, one: &TableRef) -> SqlResult<Joined> {
    match one {
        TableRef::Table(factor) => table(block, factor),
        TableRef::Derived { query, alias, json_table: Some(table), .. } => {
            let plan =
                block.plan_inner(query, Reach::Inside).map_err(|error| unknown_argument(block, error))?;
            json_table::read(block, plan, table, alias)
        }
        TableRef::Derived { query, alias, columns, lateral, json_table: None } => {
            derived(block, query, alias, columns, *lateral)
        }
        TableRef::Join(one) => join(block, one),
    }
}

/// The table that entered the scope last.
fn single(block: &Block<'_, '_>, kind: PendingKind) -> Joined {
    let columns = block.scope.tables.last().map_or(Vec::new(), |table| {
        let shown = (0..table.columns.len()).filter(|at| !table.columns[*at].hidden);
        shown.map(|at| table.base + at).collect()
    });
    let one = Pending { kind, left_join: false, partners: Partners::All, on: Vec::new() };
    Joined { tables: vec![one], columns, ..Joined::default() }
}

fn table(block: &mut Block<'_, '_>, factor: &TableFactor) -> SqlResult<Joined> {
    if factor.name.schema.is_none()
        && let Some(named) = block.context.named(&factor.name.table)
    {
        return common_table(block, factor, named);
    }
    let schema =
        factor.name.schema.as_deref().or(block.context.schema).ok_or_else(SqlError::no_database_selected)?;
    let alias = factor.alias.as_deref().unwrap_or(&factor.name.table);
    let nth = TableId::Named(block.scope.tables.len());
    if let Some(found) = VirtualTable::find(schema, &factor.name.table)? {
        let columns = found.columns();
        let base = block.scope.reserve(columns.len());
        let columns = columns.into_iter().map(|(name, kind, nullable)| ScopeColumn {
            name: name.into(),
            traits: Traits::of(&kind),
            kind,
            nullable,
            flags: 0,
            hidden: false,
        });
        let (schema, name) = (found.schema().into(), found.name().into());
        let keeps_names = found.schema() == "information_schema" && viewed::keeps_names(found.name());
        block.scope.add(ScopeTable {
            keeps_names,
            schema,
            alias: alias.into(),
            name,
            columns: columns.collect(),
            base,
            ..ScopeTable::default()
        })?;
        return Ok(single(block, PendingKind::Virtual { nth, table: found }));
    }
    let Some(found) = block.context.names.find(schema, &factor.name.table) else {
        let view = block.context.names.view(schema, &factor.name.table);
        let view = view.ok_or_else(|| block.context.names.missing(schema, &factor.name.table))?;
        view::note_table(block.context, schema, &factor.name.table);
        return view::read(block, factor, &view);
    };
    view::note_table(block.context, schema, &factor.name.table);
    let base = block.scope.width();
    let table = ScopeTable::of(&found, alias, base);
    block.scope.reserve(table.places().len());
    block.scope.add(table)?;
    let mut forbidden = hints(&found, factor)?;
    forbidden.extend(block.forbidden_by_hints(alias, &found, ast::KeyUse::Rows));
    Ok(single(block, PendingKind::Table { nth, table: found, forbidden }))
}

fn hints(table: &Table, factor: &TableFactor) -> SqlResult<Vec<usize>> {
    let mut forbidden = Vec::new();
    let given = |kind| factor.hints.iter().any(|hint| hint.kind == kind);
    if given(IndexHintKind::Use) && given(IndexHintKind::Force) {
        return Err(SqlError::wrong_usage("USE INDEX", "FORCE INDEX"));
    }
    for hint in &factor.hints {
        let find = |name: &ast::Name| {
            let visible = table.key_position(name).filter(|nth| table.keys()[*nth].visible);
            visible.ok_or_else(|| SqlError::key_does_not_exist(name, table.name()))
        };
        let named = hint.indexes.iter().map(find).collect::<SqlResult<Vec<_>>>()?;
        match hint.kind {
            IndexHintKind::Ignore => forbidden.extend(named),
            IndexHintKind::Use | IndexHintKind::Force => {
                forbidden.extend((0..table.keys().len()).filter(|nth| !named.contains(nth)));
            }
        }
    }
    Ok(forbidden)
}

fn derived(
    block: &mut Block<'_, '_>,
    query: &ast::Query,
    alias: &str,
    names: &[ast::Name],
    lateral: bool,
) -> SqlResult<Joined> {
    let wanted = merged::Merging { query, alias, names, reach: Reach::Beyond };
    if !lateral && let Some(joined) = merged::merge(block, block.context, &wanted)? {
        return Ok(joined);
    }
    let query = &*whole::narrowed(block, query, alias, names);
    let mut plan = block.plan_inner(query, if lateral { Reach::Inside } else { Reach::Beyond })?;
    if !is_plain_view(query) {
        plan.keep_all_digits();
    }
    let columns = with::columns(query, &plan, names)?;
    let mut joined = from_plan(block, alias, columns, plan)?;
    keep_names(block, is_plain_view(query));
    // It is read behind the tables whose columns it reads.
    joined.straight |= lateral;
    Ok(joined)
}

/// A derived table without groups, DISTINCT, LIMIT or a union is a view of what it reads, and its columns
/// keep their names.
pub fn is_plain_view(query: &ast::Query) -> bool {
    let ast::QueryBody::Select(select) = &query.body else { return false };
    let aggregated = |item: &ast::SelectItem| match item {
        ast::SelectItem::Expr { expr, .. } => {
            super::scope::is_aggregated(expr) || super::windows::has_window(expr)
        }
        ast::SelectItem::Wildcard { .. } => false,
    };
    query.limit.is_none()
        && !select.distinct
        && !select.from.is_empty()
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.windows.is_empty()
        && !select.items.iter().any(aggregated)
}

fn keep_names(block: &mut Block<'_, '_>, keeps_names: bool) {
    if let Some(table) = block.scope.tables.last_mut() {
        table.keeps_names = keeps_names;
    }
}

fn from_plan(
    block: &mut Block<'_, '_>,
    alias: &str,
    columns: Vec<ScopeColumn>,
    plan: QueryPlan,
) -> SqlResult<Joined> {
    let nth = nameless(block, alias, columns, grouping::facts(&plan))?;
    Ok(single(block, PendingKind::Derived { nth, plan: Box::new(plan) }))
}

/// What JSON_TABLE makes of the document that a query gives, behind the tables whose columns this reads.
pub fn expanded(
    block: &mut Block<'_, '_>,
    alias: &str,
    columns: Vec<ScopeColumn>,
    plan: QueryPlan,
    table: Arc<JsonTable>,
) -> SqlResult<Joined> {
    let nth = nameless(block, alias, columns, Facts::default())?;
    let joined = single(block, PendingKind::Expanded { nth, plan: Box::new(plan), table });
    Ok(Joined { straight: true, ..joined })
}

fn common_table(block: &mut Block<'_, '_>, factor: &TableFactor, named: &Named) -> SqlResult<Joined> {
    if let Some(index) = factor.hints.iter().flat_map(|hint| &hint.indexes).next() {
        return Err(SqlError::key_does_not_exist(index, &named.name));
    }
    let alias = factor.alias.as_ref().unwrap_or(&named.name);
    if let Some(joined) = named.merge(block, alias)? {
        return Ok(joined);
    }
    if let Some(plan) = named.plan_again(block)? {
        let joined = from_plan(block, alias, named.columns.clone(), plan)?;
        keep_names(block, named.keeps_names);
        return Ok(joined);
    }
    let rows = named.rows(block.context)?;
    let nth = nameless(block, alias, named.columns.clone(), named.facts.clone())?;
    keep_names(block, named.keeps_names);
    Ok(single(block, PendingKind::Common { nth, rows }))
}

/// Puts what is no table of the dictionary into the scope.
fn nameless(
    block: &mut Block<'_, '_>,
    alias: &str,
    columns: Vec<ScopeColumn>,
    facts: Facts,
) -> SqlResult<TableId> {
    let base = block.scope.reserve(columns.len());
    let (alias, nth) = (alias.into(), TableId::Named(block.scope.tables.len()));
    block.scope.add(ScopeTable { alias, columns, base, facts, ..ScopeTable::default() })?;
    Ok(nth)
}
