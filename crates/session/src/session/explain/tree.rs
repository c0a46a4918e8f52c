//! The plan as a tree, for FORMAT=TREE and EXPLAIN ANALYZE: a node for each thing that is done with rows,
//! below it what these rows come from.
//!
//! The executor pushes rows, MySQL's pulls them: what a node names is the same. A query of WITH is a tree of
//! its own behind the statement's, since a long chain of them would make a deep one.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::queries;
use crate::exec::measure::{Done, Measure, Part, name_of, name_of_query};
use crate::expr::Expr;
use crate::plan::change::{ChangePlan, InsertSource};
use crate::plan::query::{
    CommonBody, CommonPlan, CommonRows, Filter, GroupPlan, JoinStep, LimitPlan, OrderKey, Partners,
    QueryPlan, SelectPlan, SetPlan, Source, TableSource, ValuesPlan,
};
use crate::row_plan::{PlanKind, RowPlan};
use crate::session::explain::nodes::Node;
use crate::session::explain::{HAND_ON, access_of};
use crate::value::{Value, to_text};

/// A tree being written.
struct Writer<'m> {
    measure: Option<&'m Measure>,
    next_id: u64,
    /// Queries of WITH that have their tree, or will have it.
    shown: HashSet<usize>,
    waiting: VecDeque<Arc<CommonPlan>>,
    /// See [`super::hands_on`].
    hands_on: bool,
}

/// The text of a plan's tree, with what was measured if it has run.
pub(super) fn tree(plan: &RowPlan, measure: Option<&Measure>, hands_on: bool) -> String {
    let (shown, waiting) = (HashSet::new(), VecDeque::new());
    let mut writer = Writer { measure, next_id: 1, shown, waiting, hands_on };
    let mut nodes = match &plan.kind {
        PlanKind::Query(query) => writer.query(query),
        PlanKind::Change(change, update) => writer.change(change, *update),
        PlanKind::Insert(insert) => {
            let verb = if insert.replace { "Replace" } else { "Insert" };
            let rows = match &insert.source {
                InsertSource::Query(query) => writer.query(query),
                InsertSource::Rows(_) | InsertSource::Literals(_) => vec![Node::new(FETCHED)],
            };
            vec![Node::new(format!("{verb} into {}", insert.table.name())).over_all(rows)]
        }
    };
    while let Some(common) = writer.waiting.pop_front() {
        nodes.push(writer.common(&common));
    }
    Node::text_of(&nodes, measure.is_some())
}

const FETCHED: &str = "Rows fetched before execution";

impl Writer<'_> {
    fn done(&self, name: usize, part: Part) -> Option<Done> {
        self.measure.map(|measure| measure.of(name, part))
    }

    /// What a part of a block has done: it runs as often as the block.
    fn part(&self, plan: &SelectPlan, part: Part) -> Option<Done> {
        let whole = self.done(name_of(plan), Part::Query)?;
        let own = self.done(name_of(plan), part)?;
        let (first_ns, total_ns) = match part {
            Part::Found => (whole.first_ns, whole.total_ns),
            Part::Distinct if plan.order.is_empty() => (whole.first_ns, whole.total_ns),
            Part::Distinct => (whole.first_ns, whole.first_ns),
            _ if own.loops == 0 => (whole.total_ns, whole.total_ns),
            _ => (own.first_ns, own.total_ns),
        };
        Some(Done { loops: whole.loops, rows: own.rows, first_ns, total_ns })
    }

    fn change(&mut self, plan: &ChangePlan, update: bool) -> Vec<Node> {
        if let ([_], [_]) = (&*plan.select.steps, &*plan.targets) {
            const ONE_TABLE: &str = "<not executable by iterator executor>";
            return vec![Node::new(match self.hands_on {
                true => format!("{ONE_TABLE} ({HAND_ON})"),
                false => ONE_TABLE.to_owned(),
            })];
        }
        let names = plan.targets.iter().map(|target| target.table.name()).collect::<Vec<_>>().join(", ");
        let rows = self.rows_of(&plan.select);
        let mut node = Node::new(format!("{} {names}", if update { "Update" } else { "Delete from" }));
        node = node.over(rows);
        node.children.extend(self.subqueries(&plan.select));
        vec![node]
    }

    fn query(&mut self, plan: &QueryPlan) -> Vec<Node> {
        match plan {
            QueryPlan::Select(plan) => self.block(plan),
            QueryPlan::Set(plan) => vec![self.set(plan)],
            QueryPlan::Values(plan) => vec![self.values(plan)],
        }
    }

    fn set(&mut self, plan: &SetPlan) -> Node {
        let mut members = Vec::new();
        for (nth, (_, member)) in plan.members.iter().enumerate() {
            self.next_id += u64::from(nth > 0);
            members.extend(self.query(member));
        }
        let whole = self.done(name_of(plan), Part::Query);
        let node = Node::new(name_of_set(plan)).done(self.done(name_of(plan), Part::Kept)).over_all(members);
        let before = node.done.zip(whole).map(|(kept, whole)| Done { rows: kept.rows, ..whole });
        limited(sorted(node, &plan.order, &[], before), &plan.limit, whole)
    }

    fn values(&self, plan: &ValuesPlan) -> Node {
        let whole = self.done(name_of(plan), Part::Query);
        let rows = plan.rows.len() as f64;
        let before = whole.map(|whole| Done { rows: whole.loops * plan.rows.len() as u64, ..whole });
        let node = Node::new(FETCHED).rows(rows).done(before);
        limited(sorted(node, &plan.order, &[], before), &plan.limit, whole)
    }

    /// A block, and behind it the sub-queries that it asks.
    fn block(&mut self, plan: &SelectPlan) -> Vec<Node> {
        let whole = self.done(name_of(plan), Part::Query);
        let mut node = self.rows_of(plan);
        if let Some(group) = &plan.group {
            node = Node::new(name_of_groups(group)).done(self.part(plan, Part::Groups)).over(node);
        }
        if !plan.having.is_empty() {
            let done = plan.group.as_ref().and_then(|_| self.part(plan, Part::Having));
            node = Node::new("Filter").done(done).over(node);
        }
        if !plan.windows.is_empty() {
            node = Node::new("Window aggregate").done(self.part(plan, Part::Windows)).over(node);
        }
        if plan.distinct {
            let done = self.part(plan, Part::Distinct);
            node = Node::new("Temporary table with deduplication").done(done).over(node);
        }
        node = sorted(node, &plan.order, &plan.steps, self.part(plan, Part::Found));
        let mut nodes = vec![limited(node, &plan.limit, whole)];
        nodes.extend(self.subqueries(plan));
        nodes
    }

    fn subqueries(&mut self, plan: &SelectPlan) -> Vec<Node> {
        let mut nodes = Vec::new();
        for subquery in queries(plan) {
            self.next_id += 1;
            let how = if subquery.is_same_for_all() { "run only once" } else { "dependent" };
            let label = format!("Select #{} (subquery; {how})", self.next_id);
            nodes.push(Node::new(label).over_all(self.query(&subquery.plan)));
        }
        nodes
    }

    /// The rows of a block's tables.
    fn rows_of(&mut self, plan: &SelectPlan) -> Node {
        if plan.steps.is_empty() || !plan.extremes.is_empty() {
            let done = self.part(plan, Part::Found);
            return Node::new(FETCHED).rows(1.0).done(done);
        }
        self.steps(plan, &plan.steps)
    }

    fn steps(&mut self, plan: &SelectPlan, steps: &[JoinStep]) -> Node {
        let mut node = Node::new(FETCHED);
        for (nth, step) in steps.iter().enumerate() {
            let joined = |part| self.measure.map(|measure| measure.joined(steps, nth, part));
            let (joined, passed) = (joined(Part::Joined), joined(Part::Passed));
            let inner = self.step(plan, step);
            node = match nth {
                0 => inner,
                _ => Node::new(name_of_join(step)).done(joined).over(node).over(inner),
            };
            if !step.filters.is_empty() {
                node = Node::new("Filter").done(passed).over(node);
            }
        }
        node
    }

    /// A step's source, and what its rows are tested by.
    fn step(&mut self, plan: &SelectPlan, step: &JoinStep) -> Node {
        let node = self.source(plan, step);
        let own = if step.kept { own_conditions(step) } else { 0 };
        if step.matching.len() > own + step.hash.len() {
            return Node::new("Filter").done(self.done(name_of(step), Part::Matched)).over(node);
        }
        node
    }

    fn source(&mut self, plan: &SelectPlan, step: &JoinStep) -> Node {
        let done = self.done(name_of(step), Part::Source);
        let kept = self.done(name_of(step), Part::Kept);
        let alias = &step.alias;
        let scan = || match step.hash.is_empty() {
            true => Node::new(format!("Table scan on {alias}")).done(done),
            false => Node::new("Hash").done(done),
        };
        match &step.source {
            Source::Table(source) if step.kept => {
                let mut read = read_of(source, plan, alias).done(self.done(name_of(step), Part::Read));
                if own_conditions(step) > 0 {
                    read = Node::new("Filter").done(kept).over(read);
                }
                let label = if step.hash.is_empty() { "Rows kept in memory" } else { "Hash" };
                Node::new(label).done(done).over(read)
            }
            Source::Table(source) => read_of(source, plan, alias).done(done),
            Source::Derived(query) | Source::Distinct(query) => {
                self.next_id += 1;
                let distinct = matches!(step.source, Source::Distinct(_));
                let label = if distinct { "Materialize with deduplication" } else { "Materialize" };
                // A query that was ended has kept nothing.
                let ended = self.done(name_of_query(query), Part::Query).map(|done| Done { rows: 0, ..done });
                let kept = kept.filter(|kept| kept.loops > 0).or(ended);
                let nodes = self.query(query);
                scan().over(Node::new(label).rows(query.rows()).done(kept).over_all(nodes))
            }
            Source::Lateral(query) => {
                self.next_id += 1;
                let label = "Materialize (again for each row)";
                let rows = self.done(name_of_query(query), Part::Query);
                let nodes = self.query(query);
                scan().over(Node::new(label).rows(query.rows()).done(rows).over_all(nodes))
            }
            Source::Expanded(..) => Node::new("Materialize table function").done(done),
            Source::Common(CommonRows::Of(common)) => {
                if self.shown.insert(Arc::as_ptr(common) as usize) {
                    self.waiting.push_back(common.clone());
                }
                scan().rows(common.rows())
            }
            Source::Common(CommonRows::Previous(_)) => {
                Node::new(format!("Scan new records on {alias}")).done(done)
            }
            Source::Virtual(_) => scan(),
            Source::Group(inner) => self.steps(plan, inner),
        }
    }

    /// A query of WITH.
    fn common(&mut self, common: &Arc<CommonPlan>) -> Node {
        let name = &common.name;
        let (label, below) = match &common.body {
            CommonBody::Query(query) => (format!("Materialize CTE {name}"), self.query(query)),
            CommonBody::Recursive(plan) => {
                let mut below = self.query(&plan.seed);
                let blocks = plan.blocks.iter().flat_map(|block| self.query(block)).collect();
                below.push(Node::new("Repeat until convergence").over_all(blocks));
                (format!("Materialize recursive CTE {name}"), below)
            }
        };
        let done = self.done(Arc::as_ptr(common) as usize, Part::Kept);
        Node::new(label).rows(common.rows()).done(done).over_all(below)
    }
}

/// How many conditions of a table that is read into memory are tested while it is read.
fn own_conditions(step: &JoinStep) -> usize {
    let columns = step.base..step.base + step.columns;
    let own =
        |one: &&Filter| one.subqueries.is_empty() && one.expr.columns().iter().all(|at| columns.contains(at));
    let reads = matches!(step.source, Source::Table(_));
    if reads { step.matching.iter().filter(own).count() } else { 0 }
}

fn read_of(source: &TableSource, plan: &SelectPlan, alias: &str) -> Node {
    let (label, rows) = access_of(source, plan, alias);
    let label = if source.pushed.is_some() { label + ", with index condition" } else { label };
    Node::new(label).rows(rows as f64)
}

fn name_of_join(step: &JoinStep) -> &'static str {
    match (step.partners, step.hash.is_empty()) {
        (Partners::First, true) => return "Nested loop semijoin",
        (Partners::First, false) => return "Hash semijoin",
        (Partners::None, true) => return "Nested loop antijoin",
        (Partners::None, false) => return "Hash antijoin",
        (Partners::All, _) => {}
    }
    match (step.left_join, step.hash.is_empty()) {
        (false, true) => "Nested loop inner join",
        (true, true) => "Nested loop left join",
        (false, false) => "Inner hash join",
        (true, false) => "Left hash join",
    }
}

fn name_of_groups(group: &GroupPlan) -> &'static str {
    match (group.keys.is_empty(), group.together, group.rollup.is_empty()) {
        (true, _, _) => "Aggregate",
        (false, true, true) => "Group aggregate",
        (false, true, false) => "Group aggregate with rollup",
        (false, false, true) => "Aggregate using temporary table",
        (false, false, false) => "Aggregate using temporary table with rollup",
    }
}

fn name_of_set(plan: &SetPlan) -> &'static str {
    use crate::ast::SetOperator as S;
    let operators = plan.members.iter().skip(1).map(|(operator, _)| operator);
    let all = |wanted: &[S]| operators.clone().all(|one| wanted.contains(one));
    match () {
        () if all(&[S::UnionAll]) => "Union all materialize",
        () if all(&[S::UnionAll, S::UnionDistinct]) => "Union materialize with deduplication",
        () if all(&[S::ExceptAll]) => "Except all materialize",
        () if all(&[S::ExceptAll, S::ExceptDistinct]) => "Except materialize with deduplication",
        () if all(&[S::IntersectAll]) => "Intersect all materialize",
        () if all(&[S::IntersectAll, S::IntersectDistinct]) => "Intersect materialize with deduplication",
        () => "Set operations materialize",
    }
}

fn sorted(node: Node, order: &[OrderKey], steps: &[JoinStep], done: Option<Done>) -> Node {
    if order.is_empty() {
        return node;
    }
    let key = |key: &OrderKey| {
        let Expr::Column(at) = key.expr else { return None };
        let [_, alias, column] = super::column_at(steps, at)?;
        Some(format!("{alias}.{column}{}", if key.descending { " DESC" } else { "" }))
    };
    let label = match order.iter().map(key).collect::<Option<Vec<_>>>() {
        Some(keys) => format!("Sort: {}", keys.join(", ")),
        None => "Sort".into(),
    };
    Node::new(label).done(done).over(node)
}

fn limited(node: Node, limit: &LimitPlan, done: Option<Done>) -> Node {
    let number = |expr: &Expr| match expr {
        Expr::Literal(value) => to_text(value).to_string(),
        _ => "?".into(),
    };
    let count = limit.count.as_ref().map(number);
    let label = match (count, &limit.offset) {
        (None, None) => return node,
        (count, None) => format!("Limit: {} row(s)", count.unwrap_or_default()),
        (count, Some(offset)) => {
            format!("Limit/Offset: {}/{} row(s)", count.unwrap_or_else(|| "?".into()), number(offset))
        }
    };
    Node::new(label).done(done).over(node)
}

/// Literals of a key's first parts, and columns that give them, in MySQL's words.
pub(super) fn looked_up(names: &[String], values: &[Option<String>]) -> String {
    let pairs = names.iter().zip(values).map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?)));
    match pairs.collect::<Option<Vec<_>>>() {
        Some(pairs) if !pairs.is_empty() => format!(" ({})", pairs.join(", ")),
        _ => String::new(),
    }
}

/// A literal as a statement has it.
pub(super) fn literal(value: &Value) -> Option<String> {
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Some(to_text(value).to_string()),
        _ => None,
    }
}
