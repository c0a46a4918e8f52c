//! The counters `Select_...`, `Sort_scan` and `Sort_range`: how queries find and order their rows, counted
//! once for each run of a statement.

use turnstile_catalog::registry::counts::SessionCounts;
use turnstile_plan::plan::query::{Access, JoinStep, QueryPlan, SelectPlan, Source};
use turnstile_syntax::ast::SetOperator;

/// How a table's rows are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// All of a tree.
    Whole,
    /// Ranges of a key.
    Ranges,
    /// By values of a key.
    Values,
}

fn way(access: &Access) -> Way {
    if access.is_full() {
        Way::Whole
    } else if access.ranges.len() > 1 || access.ranges.iter().any(|range| range.is_bounded()) {
        Way::Ranges
    } else {
        Way::Values
    }
}

/// Counts a query that begins to run, and those inside it.
pub fn count(counts: &SessionCounts, plan: &QueryPlan) {
    match plan {
        QueryPlan::Select(select) => count_select(counts, select),
        QueryPlan::Set(set) => {
            set.members.iter().for_each(|(_, member)| count(counts, member));
            // Its rows are gathered, and then read through.
            if !set.order.is_empty()
                || set.members.iter().skip(1).any(|(operator, _)| *operator != SetOperator::UnionAll)
            {
                counts.scans(true);
            }
            if !set.order.is_empty() {
                counts.sorts(false);
            }
        }
        QueryPlan::Values(_) => {}
    }
}

/// Counts a change that begins to run: its sub-queries, and of one of several tables how they are joined.
pub fn count_change(counts: &SessionCounts, plan: &SelectPlan) {
    if plan.steps.len() > 1 {
        return count_select(counts, plan);
    }
    if !plan.order.is_empty() {
        counts.sorts(false);
    }
    plan.subqueries.iter().for_each(|inner| count(counts, &inner.plan));
}

fn count_select(counts: &SessionCounts, plan: &SelectPlan) {
    let mut first = None;
    let read = if plan.extremes.is_empty() { plan.steps.as_slice() } else { &[] };
    for (nth, step) in read.iter().enumerate() {
        count_step(counts, step, nth == 0, &mut first);
    }
    if !plan.order.is_empty() {
        counts.sorts(first == Some(Way::Ranges));
    }
    plan.subqueries.iter().for_each(|inner| count(counts, &inner.plan));
}

fn count_step(counts: &SessionCounts, step: &JoinStep, is_first: bool, first: &mut Option<Way>) {
    match &step.source {
        Source::Table(source) => {
            let one = source.also.is_empty() && source.within.is_empty() && source.loose.is_none();
            let way = if one { way(&source.access) } else { Way::Ranges };
            if is_first {
                *first = Some(way);
            }
            match (way, is_first) {
                (Way::Whole, _) => counts.scans(is_first),
                (Way::Ranges, _) => counts.reads_ranges(is_first),
                (Way::Values, _) => {}
            }
        }
        Source::Derived(plan)
        | Source::Distinct(plan)
        | Source::Lateral(plan)
        | Source::Expanded(plan, _) => {
            counts.scans(is_first);
            count(counts, plan);
        }
        Source::Common(_) | Source::Virtual(_) => counts.scans(is_first),
        Source::Group(steps) => {
            for (nth, step) in steps.iter().enumerate() {
                count_step(counts, step, is_first && nth == 0, first);
            }
        }
    }
}
