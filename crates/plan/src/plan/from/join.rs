//! Joins: their conditions, the columns they merge, and what an outer join keeps together.

use turnstile_syntax::ast::{self, Join, JoinCondition, JoinKind};
use turnstile_syntax::walk;
use turnstile_values::error::{SqlError, SqlResult};

use super::super::alternatives;
use super::super::block::Block;
use super::super::query::Partners;
use super::{Joined, On, Pending, PendingKind, table_ref};

pub(super) fn join(block: &mut Block<'_, '_>, join: &Join) -> SqlResult<Joined> {
    let start = block.scope.tables.len();
    let around = block.reads_optional;
    block.reads_optional |= join.kind == JoinKind::Right;
    let left = table_ref(block, &join.left)?;
    let middle = block.scope.tables.len();
    block.reads_optional = around || join.kind == JoinKind::Left;
    let right = table_ref(block, &join.right)?;
    block.reads_optional = around;
    let before = block.scope.merged.len();
    let on = match &join.condition {
        JoinCondition::None => Vec::new(),
        JoinCondition::On(condition) => {
            let mut list = Vec::new();
            walk::conjuncts(condition.clone(), &mut list);
            alternatives::take_out(list)
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
    let on = on.into_iter().map(|expr| On::Written { expr, sight }).collect::<Vec<_>>();
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
    Ok(Joined { columns, order: Vec::new(), ..joined })
}

/// The columns of a join in the order of `*`. Columns that it merged come first, in the order of the table
/// that is kept whole; that table's others and the other's follow. `merged`: pairs of (hidden, shown).
pub(super) fn star(merged: &[(usize, usize)], left: &[usize], right: &[usize], kind: JoinKind) -> Vec<usize> {
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

pub(super) fn outer(kept: Joined, optional: Joined, mut on: Vec<On>) -> Joined {
    let straight = optional.straight;
    let mut tables = optional.tables;
    let pending = match (tables.len(), tables.pop()) {
        (1, Some(one)) if !one.left_join => {
            on.extend(optional.conditions);
            Pending { kind: one.kind, left_join: true, partners: Partners::All, on }
        }
        (_, last) => {
            tables.extend(last);
            let kind = PendingKind::Group { members: tables, conditions: optional.conditions };
            Pending { kind, left_join: true, partners: Partners::All, on }
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
