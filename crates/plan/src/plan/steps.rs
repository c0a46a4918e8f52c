//! Join order and, for every table, its access path and the conditions that can be tested once it is there.

mod asked;
mod hash;
mod implied;
mod listed;
mod narrowed;
mod order;
mod part;
mod selectivity;
mod semi;
mod told;
mod traced;

use std::collections::HashSet;

use turnstile_catalog::dictionary::Table;
use turnstile_catalog::variables::Merges;
use turnstile_engine::{LockWait, RowLock};

use turnstile_expr::expr::Expr;
use turnstile_syntax::ast::{self, KeyUse, WayAdvice};
use turnstile_values::error::SqlResult;

use super::access::{self, Choice};
use super::block::Block;
use super::facts::{Fact, FactFinder};
use super::from::{On, Pending, PendingKind};
use super::query::{Candidate, Filter, JoinStep, Partners, Source, TableSource};
use super::scope::TableId;
use super::stand_in;
use order::{Placed, Sequence, Weights};
use part::Part;

pub use hash::hashable;
pub use semi::join_queries;
pub use told::told_now;

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
    pub fn bind_on(block: &mut Block<'_, '_>, on: On) -> SqlResult<Condition> {
        let (expr, sight) = match on {
            On::Written { expr, sight } => (expr, sight),
            On::Bound(condition) => return Ok(condition),
        };
        block.scope.sight.set(Some(sight));
        let bound = Condition::bind(block, &expr, "on clause");
        block.scope.sight.set(None);
        bound
    }

    /// So many sub-queries stand before those of the block that it was bound in.
    pub fn move_subqueries(&mut self, before: usize) {
        self.filter.subqueries.iter_mut().for_each(|nth| *nth += before);
    }

    /// It depends on no table of the block, and not on chance.
    fn is_fixed(&self, block: &Block<'_, '_>) -> bool {
        !self.reads.iter().any(|at| block.scope.is_of_row(*at)) && self.filter.expr.is_constant()
    }
}

/// A table with no more rows for each row before it leaves as many rows, or fewer.
const NARROWING: f64 = 1.0;

/// Chooses order and access for tables joined by conditions.
pub struct StepPlanner<'b, 'a, 'p> {
    /// The block.
    pub block: &'b mut Block<'a, 'p>,
    /// Locks that rows get.
    pub locking: Locking,
    /// Join in the order written.
    pub straight: bool,
    filled: HashSet<usize>,
    /// There is one row at most so far, whatever the tables hold.
    single: bool,
}

/// Locks that rows of a block's tables get, by position in the scope.
#[derive(Default)]
pub struct Locking {
    /// Those of FROM.
    pub named: Vec<Option<(RowLock, LockWait)>>,
    /// Those that derived tables and views read which are merged into the block.
    pub behind: Vec<Option<(RowLock, LockWait)>>,
}

impl Locking {
    /// Those of a block whose tables of FROM get these. A view's tables get what the view gets; FOR UPDATE
    /// does not reach into derived tables.
    pub fn of(block: &Block<'_, '_>, named: Vec<Option<(RowLock, LockWait)>>) -> Locking {
        let mut behind = vec![block.context.lock_of_reads(); block.scope.behind.len()];
        for (table, lock) in block.scope.tables.iter().zip(&named).filter(|(table, _)| table.is_view) {
            behind[table.behind.0..table.behind.1].fill(*lock);
        }
        Locking { named, behind }
    }

    fn is_plain(&self) -> bool {
        self.named.iter().chain(&self.behind).all(Option::is_none)
    }
}

/// What a join comes to.
pub struct Planned {
    /// Conditions that need no table.
    pub fixed: Vec<Filter>,
    /// The steps.
    pub steps: Vec<JoinStep>,
    /// Rows that come out of the last one, about.
    pub rows: f64,
}

impl<'b, 'a, 'p> StepPlanner<'b, 'a, 'p> {
    /// A planner that has read nothing yet.
    pub fn new(block: &'b mut Block<'a, 'p>, locking: Locking, straight: bool) -> StepPlanner<'b, 'a, 'p> {
        StepPlanner { block, locking, straight, filled: HashSet::new(), single: true }
    }

    /// Steps for `tables`.
    pub fn plan(&mut self, tables: Vec<Pending>, mut conditions: Vec<Condition>) -> SqlResult<Planned> {
        let bound = tables.into_iter().map(|one| Part::bind(self.block, one));
        let bound = bound.collect::<SqlResult<Vec<_>>>()?;
        let trace = self.block.context.trace;
        let outer = trace.map(|_| part::outer_joins(&bound));
        let parts = part::simplify(bound, &mut conditions);
        if let (Some(trace), Some(outer)) = (trace, outer) {
            traced::simplified(trace, outer > part::outer_joins(&parts));
            traced::implied((self, trace), &conditions);
        }
        Ok(self.join(parts, conditions))
    }

    fn join(&mut self, parts: Vec<Part>, conditions: Vec<Condition>) -> Planned {
        let (fixed, mut waiting): (Vec<_>, Vec<_>) =
            conditions.into_iter().partition(|one| one.is_fixed(self.block));
        waiting.extend(narrowed::narrowed(self.block, &parts, &waiting));
        let facts: Vec<Vec<Fact>> = self.facts(&parts, &waiting);
        let Sequence { placed, rows, .. } = self.sequence(&parts, &facts, &waiting);
        let mut parts: Vec<Option<(Part, Vec<Fact>)>> = parts.into_iter().zip(facts).map(Some).collect();
        let mut steps = Vec::with_capacity(parts.len());
        // Sub-queries are asked behind tables that leave fewer rows, if these are not locked for nothing.
        let plain = self.locking.is_plain();
        let mut late = Vec::new();
        for (nth, Placed { part, hashed, rows }) in placed.iter().enumerate() {
            let narrows = placed.get(nth + 1).is_some_and(|next| plain && next.rows <= NARROWING);
            if narrows {
                let asks = |one: &Condition| !one.filter.subqueries.is_empty();
                let (asking, rest): (Vec<_>, Vec<_>) =
                    std::mem::take(&mut waiting).into_iter().partition(asks);
                (late, waiting) = (late.into_iter().chain(asking).collect(), rest);
            } else {
                waiting.append(&mut late);
            }
            if let Some((part, facts)) = parts[*part].take() {
                let mut step = self.step(part, &facts, *hashed, &mut waiting);
                self.ask_histograms(&mut step, *rows);
                steps.push(step);
            }
        }
        waiting.append(&mut late);
        // What one table's conditions let through decides about nothing.
        if let [JoinStep { source: Source::Table(only), .. }] = steps.as_mut_slice() {
            only.told.clear();
        }
        let mut fixed: Vec<Filter> = fixed.into_iter().map(|one| one.filter).collect();
        let rest = waiting.into_iter().map(|one| one.filter);
        match steps.last_mut() {
            Some(last) => last.filters.extend(rest),
            None => fixed.extend(rest),
        }
        Planned { fixed, steps, rows }
    }

    fn sequence(&self, parts: &[Part], facts: &[Vec<Fact>], conditions: &[Condition]) -> Sequence {
        if parts.len() > order::PARTS_MAX {
            return Sequence::unweighed(parts.len());
        }
        let weights = Weights::new(self, parts, facts, conditions, false);
        let trace = self.block.context.trace;
        if let Some(trace) = trace {
            traced::dependencies((self, trace), parts, weights.needs());
            if trace.ranges {
                traced::ways((self, trace), parts, facts);
            }
        }
        let written = self.straight || parts.iter().any(Part::is_lateral);
        let sequence = if written { weights.written() } else { weights.best() };
        if let Some(trace) = trace.filter(|trace| trace.orders) {
            traced::orders((self, trace), parts, &weights, &sequence);
        }
        sequence
    }

    /// What a group costs behind all that it reads.
    fn weigh_group(&self, group: &Part) -> Sequence {
        if group.members.len() > order::PARTS_MAX {
            return Sequence::unweighed(group.members.len());
        }
        let facts = self.facts(&group.members, &group.within);
        Weights::new(self, &group.members, &facts, &group.within, true).best()
    }

    /// A place of the tuple is filled, or filled from outside.
    fn is_known(&self, place: usize) -> bool {
        self.filled.contains(&place) || !self.block.scope.is_of_row(place)
    }

    fn lock(&self, table: TableId) -> Option<(RowLock, LockWait)> {
        let locks = match table {
            TableId::Named(nth) => self.locking.named.get(nth),
            TableId::Behind(nth) => self.locking.behind.get(nth),
        };
        locks.copied().flatten()
    }

    fn locks(&self, table: TableId) -> bool {
        self.lock(table).is_some()
    }

    /// What is said of the columns of each table, by what can be worked out before it is read.
    fn facts(&self, parts: &[Part], conditions: &[Condition]) -> Vec<Vec<Fact>> {
        let implied = implied::implied(self.block, conditions);
        let of = |part: &Part| {
            let PendingKind::Table { nth, table: stored, .. } = &part.kind else { return Vec::new() };
            let table = self.block.scope.table(*nth);
            let own = table.base..table.base + table.columns.len();
            let is_known = |expr: &Expr| {
                is_stable(expr)
                    && self.block.subqueries_of(expr).is_empty()
                    && !expr.columns().iter().any(|at| own.contains(at))
            };
            let parameters = self.block.context.parameters;
            let stand_in = |expr: &Expr| stand_in::column_for_condition(stored, table.base, expr, parameters);
            let finder = FactFinder {
                base: table.base,
                count: table.columns.len(),
                is_known: &is_known,
                stand_in: &stand_in,
            };
            let mut facts = Vec::new();
            let asked = if part.left_join { part.on.as_slice() } else { conditions };
            let plain = asked.iter().filter(|one| one.filter.subqueries.is_empty());
            plain.for_each(|one| finder.facts(&one.filter.expr, &mut facts));
            // A condition behind an outer join must not narrow what counts as a partner.
            if !part.left_join {
                implied.iter().for_each(|one| finder.facts(one, &mut facts));
            }
            stand_in::add_twins(stored, &mut facts);
            facts
        };
        parts.iter().map(of).collect()
    }

    fn step(&mut self, part: Part, facts: &[Fact], hashed: bool, waiting: &mut Vec<Condition>) -> JoinStep {
        let Part { kind, members, within, left_join, partners, on: mut matching, places } = part;
        // What can be tested once this table is there; for an outer join only after its NULLs are in place.
        let covered = |at: &usize| places.contains(at) || self.is_known(*at);
        let is_ready = |one: &Condition| one.reads.iter().all(covered);
        let (ready, later): (Vec<_>, Vec<_>) = std::mem::take(waiting).into_iter().partition(is_ready);
        *waiting = later;
        let mut filters = Vec::new();
        if left_join {
            filters = ready
        } else {
            matching.extend(ready)
        }
        let first = self.filled.is_empty();
        let base = places.iter().copied().min().unwrap_or(0);
        // Between the tables of a group may lie places of derived tables that are merged, which no row fills.
        let end = places.iter().copied().max().map_or(base, |last| last + 1);
        let hashed = hashed && self.hashes(base);
        let hash = if first || !hashed { Vec::new() } else { self.hash_keys(base, &places, &matching) };
        let source = self.source(kind, members, within, facts, !hash.is_empty());
        let is_kept = !first
            && !self.single
            && match &source {
                Source::Table(table) => table.access.is_fixed() && table.locking.is_none(),
                _ => false,
            };
        let is_single =
            matches!(&source, Source::Table(table) if table.access.unique && table.access.ranges.len() == 1);
        self.single &= is_single || partners != Partners::All;
        let both = matching.iter().chain(&filters);
        let step = JoinStep {
            light: both.map(|one| &one.filter).all(|filter| filter.expr.is_light()),
            alias: self.alias(base),
            base,
            columns: end - base,
            left_join: left_join && partners != Partners::First,
            partners,
            asked_by: if partners == Partners::All { Vec::new() } else { self.asked_by(&places, &matching) },
            hash: if is_kept || !matches!(source, Source::Table(_)) { hash } else { Vec::new() },
            kept: is_kept,
            matching: matching.into_iter().map(|one| one.filter).collect(),
            filters: filters.into_iter().map(|one| one.filter).collect(),
            source,
        };
        self.filled.extend(places);
        step
    }

    /// Places around that tell whether a row has a partner.
    fn asked_by(&self, places: &[usize], matching: &[Condition]) -> Vec<(usize, usize)> {
        let mut read: Vec<usize> = matching.iter().flat_map(|one| one.filter.expr.columns()).collect();
        read.retain(|at| !places.contains(at));
        read.sort_unstable();
        read.dedup();
        read.into_iter().map(|at| (at, 0)).collect()
    }

    /// Notes what histograms tell of the conditions of a table that leaves so many rows.
    fn ask_histograms(&self, step: &mut JoinStep, rows: f64) {
        let Source::Table(source) = &mut step.source else { return };
        let context = self.block.context;
        if !context.ways.weighs_conditions {
            return;
        }
        let conditions = step.matching.iter().chain(&step.filters).map(|filter| &filter.expr);
        source.told = told::told(&source.table, step.base, conditions, context.eval);
        if !source.told.is_empty() {
            source.passing = Some((rows.max(1.0) / source.rows.max(1.0)).min(1.0));
        }
    }

    /// Whether a table that begins at this place may be hashed.
    fn hashes(&self, base: usize) -> bool {
        let allowed = self.block.context.ways.hashes;
        match self.block.hints.is_empty() {
            true => allowed,
            false => self.block.takes(WayAdvice::Hash, &self.alias(base), allowed),
        }
    }

    /// Keys of a table that hints forbid for some use.
    fn forbidden(&self, id: TableId, table: &Table, for_use: KeyUse) -> Vec<usize> {
        match self.block.hints.is_empty() {
            true => Vec::new(),
            false => self.block.forbidden_by_hints(&self.block.scope.table(id).alias, table, for_use),
        }
    }

    /// Whether rows of a table may be found by several keys.
    fn merges(&self, table: TableId) -> Merges {
        let alias = &self.block.scope.table(table).alias;
        match self.block.advised(WayAdvice::IndexMerge, alias) {
            Some(true) => Merges::ALL,
            Some(false) => Merges::NONE,
            None => self.block.context.ways.merges,
        }
    }

    fn alias(&self, base: usize) -> Box<str> {
        self.block.scope.column_at(base).map_or("".into(), |(table, _)| table.alias.clone())
    }

    fn source(
        &mut self,
        kind: PendingKind,
        members: Vec<Part>,
        within: Vec<Condition>,
        facts: &[Fact],
        hashed: bool,
    ) -> Source {
        match kind {
            PendingKind::Table { nth, table, forbidden } => {
                // What is hashed is read once, before any row of the tables around it.
                let is_given = |place: &usize| match hashed {
                    true => !self.block.scope.is_of_row(*place),
                    false => self.is_known(*place),
                };
                let usable: Vec<&Fact> =
                    facts.iter().filter(|fact| fact.reads.iter().all(is_given)).collect();
                let (locks, dives) = (self.locks(nth), self.block.context.dives());
                let merges = self.merges(nth);
                let may_push = {
                    let context = self.block.context;
                    let alias = &self.block.scope.table(nth).alias;
                    self.block.takes(WayAdvice::Entries, alias, context.ways.tests_entries)
                };
                let Choice { best, offers, table_rows } =
                    access::choose(&table, &usable, &|key| !forbidden.contains(&key), (locks, merges), dives);
                let alone = self.alone(&offers);
                Source::Table(Box::new(TableSource {
                    alone,
                    possible: offers.iter().filter_map(|offer| offer.access.key).collect(),
                    access: best.access,
                    pushed: None,
                    may_push,
                    loose: None,
                    also: best.also,
                    within: best.within,
                    rows: best.rows,
                    offers,
                    costed: Vec::new(),
                    wanted: None,
                    told: Vec::new(),
                    passing: None,
                    counted: best.counted,
                    table_rows,
                    needed: Vec::new(),
                    numbers: false,
                    covering: false,
                    locking: self.lock(nth),
                    forbidden,
                    forbidden_groups: self.forbidden(nth, &table, KeyUse::Groups),
                    forbidden_order: self.forbidden(nth, &table, KeyUse::Order),
                    table,
                }))
            }
            PendingKind::Derived { plan, .. } if plan.outer().is_empty() => Source::Derived(plan),
            PendingKind::Derived { plan, .. } => Source::Lateral(plan),
            PendingKind::Distinct { plan, .. } => Source::Distinct(plan),
            PendingKind::Expanded { plan, table, .. } => Source::Expanded(plan, table),
            PendingKind::Common { rows, .. } => Source::Common(rows),
            PendingKind::Virtual { table, .. } => Source::Virtual(table),
            PendingKind::Group { .. } => {
                let before = std::mem::replace(&mut self.single, false);
                let Planned { fixed, mut steps, .. } = self.join(members, within);
                self.single = before;
                if let Some(last) = steps.last_mut() {
                    last.filters.extend(fixed);
                }
                Source::Group(steps)
            }
        }
    }

    /// Of a query within another: the best way to read a table by what does not depend on rows around it.
    fn alone(&self, offers: &[Candidate]) -> Option<Box<Candidate>> {
        let within = self.block.context.depth > 1;
        let fixed = offers.iter().filter(|one| within && one.counted && one.access.is_fixed());
        fixed.min_by(|a, b| a.cost.total_cmp(&b.cost)).cloned().map(Box::new)
    }

    /// Equalities between this source's columns and what is known.
    fn hash_keys(
        &self,
        base: usize,
        places: &[usize],
        matching: &[Condition],
    ) -> Vec<(Expr, usize, turnstile_values::collation::Collation)> {
        let here = |place: usize| places.contains(&place);
        let known = |place: usize| self.filled.contains(&place);
        let pairs = matching.iter().filter_map(|one| hash::pair(self.block, one, &here, &known));
        pairs.map(|pair| (pair.known, pair.place - base, pair.collation)).collect()
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
