//! FROM: tables enter the scope in the order written; joins become a list of steps to make, outer joins keep
//! their right side together.

use std::sync::Arc;

use turnstile_catalog::dictionary::Table;
use turnstile_catalog::virtual_table::{VirtualTable, viewed};
use turnstile_syntax::ast::{self, IndexHintKind, Join, JoinCondition, JoinKind, TableFactor, TableRef};
use turnstile_syntax::walk;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::Traits;

use super::block::Block;
use super::grouping::{self, Facts};
use super::json_table::{self, JsonTable};
use super::query::{CommonRows, QueryPlan};
use super::scope::{Reach, ScopeColumn, ScopeTable};
use super::with::{self, Named};

/// A condition of a join.
pub struct On {
    /// The condition.
    pub expr: ast::Expr,
    /// Tables it may speak of, by position in the scope: from, to.
    pub sight: (usize, usize),
}

/// A table of FROM that waits for its step.
pub struct Pending {
    /// What it is.
    pub kind: PendingKind,
    /// Right side of an outer join.
    pub left_join: bool,
    /// Its own conditions (of the outer join).
    pub on: Vec<On>,
}

/// What waits.
pub enum PendingKind {
    /// A table, and the keys that hints forbid.
    Table {
        /// Position in the scope.
        nth: usize,
        /// The table.
        table: Arc<Table>,
        /// Keys that may not be used.
        forbidden: Vec<usize>,
    },
    /// A sub-query.
    Derived {
        /// Position in the scope.
        nth: usize,
        /// Its plan.
        plan: Box<QueryPlan>,
    },
    /// JSON_TABLE of the document that a sub-query gives.
    Expanded {
        /// Position in the scope.
        nth: usize,
        /// The document's plan.
        plan: Box<QueryPlan>,
        /// What makes rows of it.
        table: Arc<JsonTable>,
    },
    /// A query of WITH.
    Common {
        /// Position in the scope.
        nth: usize,
        /// Its rows.
        rows: CommonRows,
    },
    /// A table of information_schema.
    Virtual {
        /// Position in the scope.
        nth: usize,
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
    /// What a bare `*` shows, as frame positions: columns that USING or NATURAL joined come first.
    columns: Vec<usize>,
}

impl Joined {
    fn and(mut self, other: Joined) -> Joined {
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
    let name = match error.code {
        1054 => error.message.strip_prefix("Unknown column '").and_then(|rest| rest.split_once("' in '")),
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
    Joined { tables: vec![Pending { kind, left_join: false, on: Vec::new() }], columns, ..Joined::default() }
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
    let nth = block.scope.tables.len();
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
    let found = block.context.dictionary.table(schema, &factor.name.table)?;
    let base = block.scope.width();
    let table = ScopeTable::of(&found, alias, base);
    block.scope.reserve(table.places().len());
    block.scope.add(table)?;
    let forbidden = hints(&found, factor)?;
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
        ast::SelectItem::Expr { expr, .. } => super::scope::is_aggregated(expr),
        ast::SelectItem::Wildcard { .. } => false,
    };
    query.limit.is_none()
        && !select.distinct
        && !select.from.is_empty()
        && select.group_by.is_empty()
        && select.having.is_none()
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

/// Puts what is no table of the dictionary into the scope; returns its position.
fn nameless(
    block: &mut Block<'_, '_>,
    alias: &str,
    columns: Vec<ScopeColumn>,
    facts: Facts,
) -> SqlResult<usize> {
    let base = block.scope.reserve(columns.len());
    let (alias, nth) = (alias.into(), block.scope.tables.len());
    block.scope.add(ScopeTable { alias, columns, base, facts, ..ScopeTable::default() })?;
    Ok(nth)
}

fn join(block: &mut Block<'_, '_>, join: &Join) -> SqlResult<Joined> {
    let start = block.scope.tables.len();
    let left = table_ref(block, &join.left)?;
    let middle = block.scope.tables.len();
    let right = table_ref(block, &join.right)?;
    let before = block.scope.merged.len();
    let on = match &join.condition {
        JoinCondition::None => Vec::new(),
        JoinCondition::On(condition) => {
            let mut list = Vec::new();
            walk::conjuncts(condition.clone(), &mut list);
            list
        }
        JoinCondition::Using(names) => using(block, start, middle, names, join.kind)?,
        JoinCondition::Natural => {
            let names = shared_names(block, start, middle);
            using(block, start, middle, &names, join.kind)?
        }
    };
    let sight = (start, block.scope.tables.len());
    let optional = match join.kind {
        JoinKind::Left => middle..sight.1,
        JoinKind::Right => start..middle,
        _ => start..start,
    };
    block.scope.tables[optional].iter_mut().for_each(|table| table.optional = true);
    let on = on.into_iter().map(|expr| On { expr, sight }).collect::<Vec<_>>();
    let columns = star(&block.scope.merged[before..], &left.columns, &right.columns, join.kind);
    let joined = match join.kind {
        JoinKind::Inner | JoinKind::Straight => {
            let mut both = left.and(right);
            both.conditions.extend(on);
            both.straight |= join.kind == JoinKind::Straight;
            both
        }
        JoinKind::Left => outer(left, right, on),
        JoinKind::Right => outer(right, left, on),
    };
    Ok(Joined { columns, ..joined })
}

/// The columns of a join in the order of `*`. Columns that it merged come first, in the order of the table
/// that is kept whole; that table's others and the other's follow. `merged`: pairs of (hidden, shown).
fn star(merged: &[(usize, usize)], left: &[usize], right: &[usize], kind: JoinKind) -> Vec<usize> {
    if merged.is_empty() {
        return [left, right].concat();
    }
    let (first, second) = if kind == JoinKind::Right { (right, left) } else { (left, right) };
    let is_shown = |at: &&usize| merged.iter().any(|(_, shown)| shown == *at);
    let is_hidden = |at: &&usize| merged.iter().any(|(hidden, _)| hidden == *at);
    let rest = first.iter().filter(|at| !is_shown(at));
    let others = second.iter().filter(|at| !is_hidden(at));
    first.iter().filter(is_shown).chain(rest).chain(others).copied().collect()
}

fn outer(kept: Joined, optional: Joined, mut on: Vec<On>) -> Joined {
    let straight = optional.straight;
    let mut tables = optional.tables;
    let pending = match (tables.len(), tables.pop()) {
        (1, Some(one)) if !one.left_join => {
            on.extend(optional.conditions);
            Pending { kind: one.kind, left_join: true, on }
        }
        (_, last) => {
            tables.extend(last);
            let kind = PendingKind::Group { members: tables, conditions: optional.conditions };
            Pending { kind, left_join: true, on }
        }
    };
    let mut all = kept;
    all.straight |= straight;
    all.tables.push(pending);
    all
}

/// Whether `*` and plain names leave out a column because USING or NATURAL joined it to another.
fn is_merged(block: &Block<'_, '_>, position: usize) -> bool {
    block.scope.merged.iter().any(|(hidden, _)| *hidden == position)
}

/// Names of columns that both sides of a NATURAL join have, each once.
fn shared_names(block: &Block<'_, '_>, start: usize, middle: usize) -> Vec<ast::Name> {
    let (left, right) = (&block.scope.tables[start..middle], &block.scope.tables[middle..]);
    let known = |name: &str| {
        left.iter().flat_map(|t| &t.columns).any(|one| !one.hidden && one.name.eq_ignore_ascii_case(name))
    };
    let mut names: Vec<ast::Name> = Vec::new();
    for column in right.iter().flat_map(|t| &t.columns).filter(|one| !one.hidden && known(&one.name)) {
        if !names.iter().any(|name| name.eq_ignore_ascii_case(&column.name)) {
            names.push(column.name.clone());
        }
    }
    names
}

fn using(
    block: &mut Block<'_, '_>,
    start: usize,
    middle: usize,
    names: &[ast::Name],
    kind: JoinKind,
) -> SqlResult<Vec<ast::Expr>> {
    let mut conditions = Vec::new();
    for name in names {
        let find = |tables: std::ops::Range<usize>| {
            let mut found = tables.clone().filter_map(|nth| {
                let table = &block.scope.tables[nth];
                let at = table.columns.iter().position(|one| one.name.eq_ignore_ascii_case(name))?;
                if is_merged(block, table.base + at) {
                    return None;
                }
                let column = ast::ColumnName {
                    schema: (!table.schema.is_empty()).then(|| table.schema.clone()),
                    table: Some(table.alias.clone()),
                    column: name.clone(),
                };
                Some((table.base + at, column))
            });
            let first = found.next().ok_or_else(|| SqlError::unknown_column(name, "from clause"))?;
            match found.next() {
                Some(_) => Err(SqlError::ambiguous_column(name, "from clause")),
                None => Ok(first),
            }
        };
        let (left_at, left) = find(start..middle)?;
        let (right_at, right) = find(middle..block.scope.tables.len())?;
        let twins = if kind == JoinKind::Right { (left_at, right_at) } else { (right_at, left_at) };
        block.scope.merged.push(twins);
        conditions.push(ast::Expr::Binary {
            op: ast::BinaryOp::Equal,
            left: Box::new(ast::Expr::Column(left)),
            right: Box::new(ast::Expr::Column(right)),
        });
    }
    Ok(conditions)
}
