//! Join order and, for every table, its access path and the conditions that can be tested once it is there.

use std::collections::HashSet;

use turnstile_catalog::dictionary::Table;
use turnstile_engine::{LockWait, RowLock};

use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_syntax::ast;
use turnstile_values::error::SqlResult;
use turnstile_values::types::ColumnType;

use super::access::{self, Choice};
use super::block::Block;
use super::facts::{Fact, FactFinder};
use super::from::{On, Pending, PendingKind};
use super::query::{CommonRows, Filter, JoinStep, Source, TableSource};

/// A condition, bound, with the tuple positions of tables it depends on.
pub struct Condition {
    filter: Filter,
    reads: Vec<usize>,
}

impl Condition {
    /// Binds one.
    pub fn bind(block: &mut Block<'_, '_>, expr: &ast::Expr, clause: &'static str) -> SqlResult<Condition> {
        let filter = block.filter(expr, clause)?;
        let reads = block.reads(&filter.expr);
        Ok(Condition { filter, reads })
    }

    /// Binds the condition of a join, which sees the join's operands only.
    pub fn bind_on(block: &mut Block<'_, '_>, on: &On) -> SqlResult<Condition> {
        block.scope.sight.set(Some(on.sight));
        let bound = Condition::bind(block, &on.expr, "on clause");
        block.scope.sight.set(None);
        bound
    }

    /// It depends on no table of the block, and not on chance.
    fn is_fixed(&self, block: &Block<'_, '_>) -> bool {
        !self.reads.iter().any(|at| block.scope.column_at(*at).is_some()) && self.filter.expr.is_constant()
    }
}

/// Fewest rows that a source read whole is taken for.
const WHOLE: f64 = 500.0;

/// Chooses order and access for tables joined by conditions.
pub struct StepPlanner<'b, 'a, 'p> {
    /// The block.
    pub block: &'b mut Block<'a, 'p>,
    /// Locks that rows get, by table (position in the scope).
    pub locking: Vec<Option<(RowLock, LockWait)>>,
    /// Join in the order written.
    pub straight: bool,
    filled: HashSet<usize>,
}

impl<'b, 'a, 'p> StepPlanner<'b, 'a, 'p> {
    /// A planner that has read nothing yet.
    pub fn new(
        block: &'b mut Block<'a, 'p>,
        locking: Vec<Option<(RowLock, LockWait)>>,
        straight: bool,
    ) -> StepPlanner<'b, 'a, 'p> {
        StepPlanner { block, locking, straight, filled: HashSet::new() }
    }

    /// Steps for `tables`; conditions that need no table come back first.
    pub fn plan(
        &mut self,
        mut tables: Vec<Pending>,
        mut conditions: Vec<Condition>,
    ) -> SqlResult<(Vec<Filter>, Vec<JoinStep>)> {
        let (fixed, rest): (Vec<_>, Vec<_>) = conditions.drain(..).partition(|one| one.is_fixed(self.block));
        let mut waiting = rest;
        let mut steps: Vec<JoinStep> = Vec::new();
        let reorder = !self.straight && !tables.iter().any(|one| one.left_join);
        while !tables.is_empty() {
            let next = if reorder && tables.len() > 1 { self.cheapest(&tables, &waiting) } else { 0 };
            let pending = tables.remove(next);
            let step = self.step(pending, &mut waiting, steps.is_empty())?;
            steps.push(step);
        }
        if let Some(last) = steps.last_mut() {
            last.filters.extend(waiting.into_iter().map(|one| one.filter));
            return Ok((fixed.into_iter().map(|one| one.filter).collect(), steps));
        }
        Ok((fixed.into_iter().chain(waiting).map(|one| one.filter).collect(), steps))
    }

    fn is_known(&self, reads: &[usize]) -> bool {
        reads.iter().all(|at| self.filled.contains(at) || self.block.scope.column_at(*at).is_none())
    }

    /// Which table is read next. Where each would be read whole and rows are locked, it is one from which
    /// another is found by a key: rows that are only looked at would be locked too.
    fn cheapest(&mut self, tables: &[Pending], waiting: &[Condition]) -> usize {
        let costs: Vec<f64> = tables.iter().map(|one| self.cost(one, waiting)).collect();
        let least = |costs: &[f64]| {
            let best = costs.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            best.map_or(0, |(nth, _)| nth)
        };
        let best = least(&costs);
        if costs[best] < WHOLE || self.locking.iter().all(Option::is_none) {
            return best;
        }
        let mut with_next = costs;
        for (nth, cost) in with_next.iter_mut().enumerate() {
            let places = self.positions(&tables[nth].kind);
            self.filled.extend(&places);
            let others = tables.iter().enumerate().filter(|(other, _)| *other != nth);
            let next = others.map(|(_, one)| self.cost(one, waiting)).min_by(f64::total_cmp);
            places.iter().for_each(|place| {
                self.filled.remove(place);
            });
            *cost += next.unwrap_or(0.0);
        }
        least(&with_next)
    }

    /// Rows of a table that are looked at, as far as what is filled finds them.
    fn cost(&self, pending: &Pending, waiting: &[Condition]) -> f64 {
        match &pending.kind {
            PendingKind::Table { nth, table, forbidden, .. } => {
                let facts = self.facts(*nth, waiting.iter().map(|one| &one.filter));
                self.choice(*nth, table, forbidden, &facts).best.cost
            }
            // Once a round, and few rows mostly.
            PendingKind::Common { rows: CommonRows::Previous(_), .. } => 0.0,
            PendingKind::Virtual { .. } => WHOLE,
            _ => 2000.0,
        }
    }

    fn facts<'f>(&self, nth: usize, conditions: impl Iterator<Item = &'f Filter>) -> Vec<Fact> {
        let table = &self.block.scope.tables[nth];
        let is_known = |expr: &Expr| {
            is_stable(expr) && self.block.subqueries_of(expr).is_empty() && self.is_known(&expr.columns())
        };
        let finder = FactFinder { base: table.base, count: table.columns.len(), is_known: &is_known };
        let mut facts = Vec::new();
        conditions
            .filter(|one| one.subqueries.is_empty())
            .for_each(|one| finder.facts(&one.expr, &mut facts));
        facts
    }

    fn choice(&self, nth: usize, table: &Table, forbidden: &[usize], facts: &[Fact]) -> Choice {
        let locks = self.locking.get(nth).copied().flatten().is_some();
        let facts: Vec<&Fact> = facts.iter().collect();
        access::choose(table, &facts, &|key| !forbidden.contains(&key), locks, self.block.context.dives())
    }

    fn step(&mut self, pending: Pending, waiting: &mut Vec<Condition>, first: bool) -> SqlResult<JoinStep> {
        // Of several faults the one that stands deeper is told.
        let mut within = Vec::new();
        if let PendingKind::Group { conditions, .. } = &pending.kind {
            for one in conditions {
                within.push(Condition::bind_on(self.block, one)?);
            }
        }
        let mut matching = Vec::new();
        for one in &pending.on {
            matching.push(Condition::bind_on(self.block, one)?);
        }
        let positions = self.positions(&pending.kind);
        let left_join = pending.left_join;
        // What can be tested once this table is there; for an outer join only after its NULLs are in place.
        let mut ready = Vec::new();
        let mut later = Vec::new();
        for one in waiting.drain(..) {
            let covered = |at: &usize| positions.contains(at) || self.is_known(&[*at]);
            if one.reads.iter().all(covered) { ready.push(one) } else { later.push(one) }
        }
        *waiting = later;
        let mut filters = Vec::new();
        if left_join {
            filters = ready
        } else {
            matching.extend(ready)
        }
        let source = self.source(pending.kind, within, (&matching, &filters), left_join)?;
        let base = positions.iter().copied().min().unwrap_or(0);
        let both = matching.iter().chain(&filters);
        let mut step = JoinStep {
            light: both.map(|one| &one.filter).all(|filter| filter.expr.is_light()),
            alias: self.alias(base),
            base,
            columns: positions.len(),
            left_join,
            hash: if first { Vec::new() } else { self.hash_keys(&source, base, positions.len(), &matching) },
            matching: matching.into_iter().map(|one| one.filter).collect(),
            filters: filters.into_iter().map(|one| one.filter).collect(),
            source,
        };
        if matches!(step.source, Source::Group(_)) && step.left_join {
            step.hash.clear();
        }
        self.filled.extend(positions);
        Ok(step)
    }

    fn alias(&self, base: usize) -> Box<str> {
        self.block.scope.column_at(base).map_or("".into(), |(table, _)| table.alias.clone())
    }

    fn positions(&self, kind: &PendingKind) -> Vec<usize> {
        match kind {
            PendingKind::Table { nth, .. }
            | PendingKind::Derived { nth, .. }
            | PendingKind::Expanded { nth, .. }
            | PendingKind::Common { nth, .. }
            | PendingKind::Virtual { nth, .. } => self.block.scope.tables[*nth].places().collect(),
            PendingKind::Group { members, .. } => {
                members.iter().flat_map(|member| self.positions(&member.kind)).collect()
            }
        }
    }

    fn source(
        &mut self,
        kind: PendingKind,
        within: Vec<Condition>,
        (matching, filters): (&[Condition], &[Condition]),
        left_join: bool,
    ) -> SqlResult<Source> {
        Ok(match kind {
            PendingKind::Table { nth, table, forbidden, .. } => {
                // A condition behind an outer join must not narrow what counts as a partner.
                let usable =
                    matching.iter().chain(if left_join { &[] } else { filters }).map(|one| &one.filter);
                let facts = self.facts(nth, usable);
                let Choice { best, offers, table_rows } = self.choice(nth, &table, &forbidden, &facts);
                Source::Table(Box::new(TableSource {
                    possible: offers.iter().filter_map(|offer| offer.access.key).collect(),
                    access: best.access,
                    rows: best.rows,
                    offers,
                    costed: Vec::new(),
                    wanted: None,
                    counted: best.counted,
                    table_rows,
                    needed: Vec::new(),
                    numbers: false,
                    covering: false,
                    locking: self.locking.get(nth).copied().flatten(),
                    forbidden,
                    table,
                }))
            }
            PendingKind::Derived { plan, .. } if plan.outer().is_empty() => Source::Derived(plan),
            PendingKind::Derived { plan, .. } => Source::Lateral(plan),
            PendingKind::Expanded { plan, table, .. } => Source::Expanded(plan, table),
            PendingKind::Common { rows, .. } => Source::Common(rows),
            PendingKind::Virtual { table, .. } => Source::Virtual(table),
            PendingKind::Group { members, .. } => {
                let (fixed, mut steps) = self.plan(members, within)?;
                if let Some(last) = steps.last_mut() {
                    last.filters.extend(fixed);
                }
                Source::Group(steps)
            }
        })
    }

    /// Equalities between this source's columns and what is known, when the source would be read whole each
    /// time.
    fn hash_keys(
        &self,
        source: &Source,
        base: usize,
        count: usize,
        matching: &[Condition],
    ) -> Vec<(Expr, usize, turnstile_values::collation::Collation)> {
        let whole = match source {
            Source::Table(table) => table.access.is_full() && table.locking.is_none(),
            Source::Derived(_) | Source::Common(_) | Source::Virtual(_) => true,
            Source::Group(_) | Source::Lateral(_) | Source::Expanded(..) => false,
        };
        if !whole {
            return Vec::new();
        }
        let here = |expr: &Expr| match expr {
            Expr::Column(at) if (base..base + count).contains(at) => Some(*at),
            _ => None,
        };
        let there = |expr: &Expr| match expr {
            Expr::Column(at) if self.filled.contains(at) => Some(*at),
            _ => None,
        };
        let pair = |condition: &Condition| {
            let Expr::Compare { op: CompareOp::Equal, left, right, collation } = &condition.filter.expr
            else {
                return None;
            };
            let (inner, outer, expr) = match (here(left), there(right), here(right), there(left)) {
                (Some(inner), Some(outer), _, _) => (inner, outer, right),
                (_, _, Some(inner), Some(outer)) => (inner, outer, left),
                _ => return None,
            };
            let kind = |at| self.block.scope.column_at(at).map(|(_, column)| &column.kind);
            hashable(kind(inner)?, kind(outer)?).then(|| ((**expr).clone(), inner - base, *collation))
        };
        matching.iter().filter_map(pair).collect()
    }
}

/// Computing it before the table is read gives what it would give for each row.
fn is_stable(expr: &Expr) -> bool {
    let mut stable = true;
    expr.walk(&mut |one| match one {
        Expr::AssignVariable { .. } | Expr::Sleep(_) => stable = false,
        Expr::Call(call) if !call.deterministic => stable = false,
        _ => {}
    });
    stable
}

/// Values of the two types are equal exactly if their hash keys are.
fn hashable(one: &ColumnType, other: &ColumnType) -> bool {
    let text = |kind: &ColumnType| {
        matches!(kind, ColumnType::Char { .. } | ColumnType::Varchar { .. } | ColumnType::Text { .. })
    };
    one.is_integer() && other.is_integer() || text(one) && text(other) && one.collation() == other.collation()
}
