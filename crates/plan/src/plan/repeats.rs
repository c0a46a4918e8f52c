//! Sub-queries whose rows depend on nothing but the values they read around them: for the same values the
//! executor takes the rows it found before.
//!
//! Only plain ones are looked for: tables of the server joined without queries among them, read by a
//! snapshot, with expressions that give the same whenever they are worked out.

use turnstile_expr::expr::Expr;

use super::query::{Filter, JoinStep, QueryPlan, SelectPlan, Source};

/// Whether a query is such a one.
pub fn repeats(plan: &QueryPlan) -> bool {
    matches!(plan, QueryPlan::Select(plan) if !plan.outer.is_empty() && stays_the_same(plan))
}

/// Whether a block is one of tables of the server joined without queries among them, whose rows depend on the
/// values around it alone.
pub fn stays_the_same(plan: &SelectPlan) -> bool {
    plan.subqueries.is_empty()
        && plan.windows.is_empty()
        && !plan.calc_found_rows
        && plan.steps.iter().all(is_plain)
        && exprs(plan).all(stays)
}

fn is_plain(step: &JoinStep) -> bool {
    matches!(&step.source, Source::Table(source) if source.locking.is_none())
}

/// Whether an expression gives the same for the same row.
fn stays(expr: &Expr) -> bool {
    let mut stays = true;
    expr.walk(&mut |one| match one {
        Expr::UserVariable(_)
        | Expr::AssignVariable { .. }
        | Expr::SystemVariable { .. }
        | Expr::Sleep(_)
        | Expr::Benchmark(_) => stays = false,
        Expr::Call(call) => stays &= call.deterministic,
        _ => {}
    });
    stays
}

/// All expressions of a block without sub-queries, LIMIT aside.
fn exprs(plan: &SelectPlan) -> impl Iterator<Item = &Expr> {
    let conditions = plan.preconditions.iter().chain(&plan.having).map(of_filter);
    let aggregates = || plan.group.iter().flat_map(|group| &group.aggregates);
    let arguments = aggregates().flat_map(|one| one.arguments.iter().map(|typed| &typed.expr));
    let keys = plan.group.iter().flat_map(|group| group.keys.iter().map(|(key, _)| key));
    let sorted = aggregates().flat_map(|one| &one.order).chain(&plan.order).map(|key| &key.expr);
    let items = plan.items.iter().map(|item| &item.expr);
    let steps = plan.steps.iter().flat_map(of_step);
    conditions.chain(arguments).chain(keys).chain(sorted).chain(items).chain(steps)
}

fn of_filter(filter: &Filter) -> &Expr {
    &filter.expr
}

fn of_step(step: &JoinStep) -> impl Iterator<Item = &Expr> {
    let conditions = step.matching.iter().chain(&step.filters).map(of_filter);
    let hashed = step.hash.iter().map(|(expr, ..)| expr);
    let table = match &step.source {
        Source::Table(source) => Some(source),
        _ => None,
    };
    let paths = table.into_iter().flat_map(|source| source.also.iter().chain([&source.access]));
    let operands = paths.flat_map(|access| &access.ranges).flat_map(|range| range.operands());
    conditions.chain(hashed).chain(operands.map(|operand| &operand.expr))
}
