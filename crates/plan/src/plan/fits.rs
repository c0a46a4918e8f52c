//! Whether a kept plan is good for the values it is to be run with: ways to read that were weighed by how
//! many rows they find are asked again, and so are histograms that an order of tables was weighed by. That
//! costs two descents for each way; plans that nothing was weighed for cost nothing.

use super::estimate::Dives;
use super::query::{LimitPlan, QueryPlan, SelectPlan, Source, TableSource, Told};
use super::steps::told_now;

/// Whether anything in a query was weighed by its values.
pub fn is_weighed(plan: &QueryPlan) -> bool {
    any(plan, &mut |source, _, _| is_source_weighed(source))
}

/// The same of the rows that a change finds.
pub fn is_select_weighed(plan: &SelectPlan) -> bool {
    any_of_select(plan, &mut |source, _, _| is_source_weighed(source))
}

/// Whether a query's plan is good for these values.
pub fn fits(plan: &QueryPlan, dives: Dives<'_>) -> bool {
    !any(plan, &mut |source, base, limit| is_off(source, base, limit, dives))
}

/// The same of the rows that a change finds.
pub fn select_fits(plan: &SelectPlan, dives: Dives<'_>) -> bool {
    !any_of_select(plan, &mut |source, base, limit| is_off(source, base, limit, dives))
}

fn is_source_weighed(source: &TableSource) -> bool {
    !source.costed.is_empty() || source.wanted.is_some() || !source.told.is_empty()
}

/// A histogram tells so many times as much, or as little, where a plan is made anew.
const OFF: f64 = 4.0;

fn is_off(source: &TableSource, base: usize, limit: &LimitPlan, dives: Dives<'_>) -> bool {
    let is_other = |told: &Told| {
        let now = told_now(&source.table, base, told, dives.eval);
        now > told.share * OFF || now < told.share / OFF
    };
    let wants_other = |range: &std::ops::RangeInclusive<f64>| !range.contains(&limit.rows(dives.eval));
    source.wanted.as_ref().is_some_and(wants_other)
        || source.costed.iter().any(|one| {
            let rows = dives.rows(&source.table, &one.access);
            rows.is_some_and(|rows| !one.rows.contains(&rows))
        })
        || source.told.iter().any(is_other)
}

type Visit<'v> = dyn FnMut(&TableSource, usize, &LimitPlan) -> bool + 'v;

fn any(plan: &QueryPlan, visit: &mut Visit<'_>) -> bool {
    match plan {
        QueryPlan::Select(plan) => any_of_select(plan, visit),
        QueryPlan::Set(plan) => plan.members.iter().any(|(_, member)| any(member, visit)),
        QueryPlan::Values(_) => false,
    }
}

fn any_of_select(plan: &SelectPlan, visit: &mut Visit<'_>) -> bool {
    let limit = &plan.limit;
    let mut steps: Vec<&super::query::JoinStep> = plan.steps.iter().collect();
    while let Some(step) = steps.pop() {
        let found = match &step.source {
            Source::Table(source) => visit(source, step.base, limit),
            Source::Derived(plan)
            | Source::Distinct(plan)
            | Source::Lateral(plan)
            | Source::Expanded(plan, _) => any(plan, visit),
            Source::Group(inner) => {
                steps.extend(inner);
                false
            }
            Source::Common(_) | Source::Virtual(_) => false,
        };
        if found {
            return true;
        }
    }
    plan.subqueries.iter().any(|subquery| any(&subquery.plan, visit))
}
