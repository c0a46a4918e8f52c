//! Times among the dates of a set operation. MySQL stores what IF, CASE, MAX and their kin give as texts, and
//! the text of a time of day is seldom a moment: most become the zero date, which is told of.

use turnstile_expr::expr::moment_of_text;
use turnstile_syntax::ast::{self, QueryBody, SelectItem};

use super::query::{QueryPlan, SelectPlan, SetPlan};

/// Changes the items of the members, which were written so. The first of them may be a set operation of what
/// was written first.
pub(super) fn take(plan: &mut SetPlan, queries: &[&ast::Query]) {
    let SetPlan { members, columns, kinds, .. } = plan;
    let mut queries = queries;
    let mut members = members.as_mut_slice();
    if let Some(inner) = queries.len().checked_sub(members.len()).filter(|inner| *inner > 0) {
        let (first, rest) = queries.split_at(inner + 1);
        if let [(_, QueryPlan::Set(before)), ..] = members {
            take(before, first);
        }
        (queries, members) = (rest, &mut members[1..]);
    }
    for ((_, member), query) in members.iter_mut().zip(queries) {
        if let (QueryPlan::Select(select), QueryBody::Select(written)) = (member, &query.body)
            && !select.distinct
            && select.items.len() == written.items.len()
        {
            let wanted = columns.iter().map(|column| &*column.name).zip(kinds.iter());
            of_member(select, &written.items, wanted);
        }
    }
}

fn of_member<'a>(
    select: &mut SelectPlan,
    written: &[SelectItem],
    wanted: impl Iterator<Item = (&'a str, &'a turnstile_values::types::ColumnType)>,
) {
    for ((item, written), (name, kind)) in select.items.iter_mut().zip(written).zip(wanted) {
        let SelectItem::Expr { expr, .. } = written else { return };
        if let Some(moment) = moment_of_text(item, expr, kind, name) {
            *item = moment;
            select.point = None;
        }
    }
}
