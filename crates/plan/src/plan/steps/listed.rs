//! `EXISTS (SELECT .. FROM u WHERE u.x = t.y AND u.z = 3)` as a list, where few rows have that z: these are
//! read first, and each different x of them finds rows of t, rather than each row of t its rows of u. Of a
//! block that reads one table, whose rows are known to be many times more.

use super::super::block::Block;
use super::super::facts::Fact;
use super::super::finish;
use super::super::from::{Pending, PendingKind};
use super::super::inner::exists;
use super::super::query::{Access, Costed, Partners, QueryPlan, Source, SubqueryKind};
use super::part::Part;
use super::{Condition, Locking, StepPlanner, access, asked};

/// So many times fewer rows must be read than ask.
const GAIN: f64 = 4.0;

/// A plan is made anew when so many times the rows are found, and these more.
const OFF: f64 = 4.0;
const FEW: f64 = 100.0;

/// Makes a question the list of what it is asked for, if that reads less; false leaves it as it was.
pub(super) fn listed(
    block: &mut Block<'_, '_>,
    tables: &[Pending],
    conditions: &[Condition],
    query: &asked::Asked,
) -> bool {
    if query.partners != Partners::First || !block.context.ways.joins_queries {
        return false;
    }
    let Some(rows) = rows_that_ask(block, tables, conditions) else { return false };
    let subquery = &mut block.subqueries[query.nth];
    let (SubqueryKind::Exists, QueryPlan::Select(select)) = (&subquery.kind, &mut subquery.plan) else {
        return false;
    };
    let [step] = select.steps.as_mut_slice() else { return false };
    let Source::Table(source) = &mut step.source else { return false };
    let Some(alone) = source.alone.take() else { return false };
    if alone.cost * GAIN > rows {
        return false;
    }
    let before = std::mem::replace(&mut source.access, alone.access);
    let Some(pairs) = exists::pairs(&block.scope, select) else {
        if let Some(Source::Table(source)) = select.steps.first_mut().map(|step| &mut step.source) {
            source.access = before;
        }
        return false;
    };
    let operand = exists::become_list(select, &pairs);
    subquery.kind = SubqueryKind::In { operand, negated: false };
    subquery.inputs.clear();
    subquery.reads.clear();
    subquery.correlated = false;
    if let Some(Source::Table(source)) = select.steps.first_mut().map(|step| &mut step.source) {
        (source.rows, source.counted) = (alone.rows, true);
        (source.pushed, source.loose, source.covering) = (None, None, false);
        source.also.clear();
        source.within.clear();
        let access: Access = source.access.clone();
        source.costed = vec![Costed { access, rows: 0.0..=alone.rows * OFF + FEW }];
    }
    select.rows = alone.rows;
    finish::finish(select, block.context);
    true
}

/// Rows of the only table of a block that its own conditions leave to a key, or all of them.
fn rows_that_ask(block: &mut Block<'_, '_>, tables: &[Pending], conditions: &[Condition]) -> Option<f64> {
    let [Pending { kind: PendingKind::Table { nth, table, forbidden }, left_join: false, .. }] = tables
    else {
        return None;
    };
    let (nth, table, forbidden) = (*nth, table.clone(), forbidden.clone());
    let places = block.scope.table(nth).places().collect();
    let kind = PendingKind::Table { nth, table: table.clone(), forbidden: forbidden.clone() };
    let (members, within, on) = (Vec::new(), Vec::new(), Vec::new());
    let part = Part { kind, members, within, left_join: false, partners: Partners::All, on, places };
    let dives = block.context.dives();
    let planner = StepPlanner::new(block, Locking::default(), false);
    let facts = planner.facts(std::slice::from_ref(&part), conditions);
    let known = |fact: &&Fact| fact.reads.iter().all(|place| planner.is_known(*place));
    let usable: Vec<&Fact> = facts.iter().flatten().filter(known).collect();
    let allowed = |key: usize| !forbidden.contains(&key);
    Some(access::choose(&table, &usable, &allowed, (false, planner.merges(nth)), dives).best.rows)
}
