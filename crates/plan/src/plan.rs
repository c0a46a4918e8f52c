//! From syntax tree to plan.
//!
//! | file | what it does |
//! |---|---|
//! | `scope` | names, and the tuple they point into |
//! | `block`, `inner` | one query block being bound: sub-queries and aggregates get places in the tuple |
//! | `from` | FROM to a list of tables with conditions |
//! | `with` | WITH: queries with names |
//! | `written` | a query as a view keeps it |
//! | `windows` | window functions |
//! | `pushed` | conditions asked inside derived tables |
//! | `alternatives` | what all alternatives of a condition have in common |
//! | `facts`, `access`, `estimate` | what conditions say of columns; which key a table is read by; how many rows that reads |
//! | `fits` | whether a kept plan is good for other values |
//! | `key_ranges` | ranges of a plan as bounds in key bytes |
//! | `steps` | join order, and where each condition is tested |
//! | `select`, `union` | whole queries |
//! | `names`, `grouping` | what names behind WHERE mean, and which may stand beside GROUP BY |
//! | `change`, `insert_select`, `point` | INSERT, UPDATE, DELETE; what INSERT may read; changes of one row by
//! its primary key |
//! | `rollup` | WITH ROLLUP and GROUPING() |
//! | `distinct` | what a DISTINCT block may be sorted by |
//! | `parameters` | what the `?` of a prepared statement are |
//! | `uses` | which columns are used, and what for |
//! | `foreign_key` | what a change asks of parents and children |
//! | `kept` | what columns are announced as whose values pass through a temporary table in MySQL |
//! | `last_row` | what `sql_auto_is_null` makes of a condition |
//! | `finish` | columns to deliver, covering indexes, order by index |

pub mod access;
mod aggregate;
mod alternatives;
pub mod block;
pub mod change;
mod computed;
pub mod derived;
mod distinct;
pub mod estimate;
mod facts;
mod finish;
pub mod fits;
pub mod foreign_key;
mod from;
mod grouping;
mod hints;
mod inner;
mod insert_select;
pub mod integer_change;
pub mod json_table;
mod kept;
pub mod key_ranges;
mod last_row;
mod member_texts;
mod names;
pub mod parameters;
pub mod point;
mod pushed;
pub mod query;
mod repeats;
mod rollup;
mod safe;
mod same;
pub mod scope;
mod seen;
mod select;
mod stand_in;
mod steps;
mod times_as_texts;
pub mod trace;
mod union;
pub mod uses;
mod variable;
mod varying;
pub mod waits;
pub mod windows;
pub mod with;
mod written;

use turnstile_syntax::ast::{self, QueryBody};
use turnstile_values::error::SqlResult;

pub use aggregate::is_aggregate;
pub use block::PlanContext;
pub use finish::tested_columns;
pub use from::view::{is_mergeable, is_updatable, within as within_view};
pub use query::QueryPlan;
pub use scope::{Outside, column_flags};
pub use written::query_of_view;

/// Plans a query; `parent` is the block around it when it is a sub-query.
pub fn plan_query(
    context: &PlanContext<'_>,
    query: &ast::Query,
    parent: Option<Outside<'_>>,
) -> SqlResult<QueryPlan> {
    let context = &PlanContext { depth: context.depth + 1, ..*context };
    let Some(with) = &query.with else { return plan_body(context, query, parent) };
    let common = with::plan(context, with, parent)?;
    plan_body(&PlanContext { common: &common, ..*context }, query, parent)
}

/// Plans a statement's query, whose columns are announced to the client.
pub fn plan_shown(context: &PlanContext<'_>, query: &ast::Query) -> SqlResult<QueryPlan> {
    let mut plan = plan_query(context, query, None)?;
    kept::announce(&mut plan, !query.order_by.is_empty());
    Ok(plan)
}

fn plan_body(
    context: &PlanContext<'_>,
    query: &ast::Query,
    parent: Option<Outside<'_>>,
) -> SqlResult<QueryPlan> {
    let around =
        select::Around { order_by: &query.order_by, limit: query.limit.as_ref(), locking: &query.locking };
    match &query.body {
        QueryBody::Select(one) => {
            let mut plan = select::plan(context, one, around, parent)?;
            kept::keep_groups(&mut plan);
            let mut plan = QueryPlan::Select(Box::new(plan));
            if !query.into.is_empty() {
                plan.take_own_digits();
            }
            Ok(plan)
        }
        QueryBody::Table(name) => {
            let one = table_select(name);
            Ok(QueryPlan::Select(Box::new(select::plan(context, &one, around, parent)?)))
        }
        QueryBody::SetOperation { first, rest } => union::plan(context, first, rest, around, parent),
        QueryBody::Values(rows) => union::plan_values(context, rows, around, parent),
    }
}

/// `TABLE t` is `SELECT * FROM t`.
fn table_select(name: &ast::TableName) -> ast::Select {
    let factor = ast::TableFactor { name: name.clone(), alias: None, hints: Vec::new() };
    ast::Select {
        items: vec![ast::SelectItem::Wildcard { schema: None, table: None }],
        from: vec![ast::TableRef::Table(factor)],
        ..select_of_nothing()
    }
}

/// A SELECT without any clause.
fn select_of_nothing() -> ast::Select {
    ast::Select {
        distinct: false,
        straight_join: false,
        calc_found_rows: false,
        items: Vec::new(),
        from: Vec::new(),
        condition: None,
        group_by: Vec::new(),
        with_rollup: false,
        having: None,
        windows: Vec::new(),
        hints: Vec::new(),
    }
}
