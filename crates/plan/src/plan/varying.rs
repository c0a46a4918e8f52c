//! What gives another value each time it is worked out: RAND(), UUID(), SLEEP(), assignments and their kin. A
//! query that has some is run again for each row that reads it, as MySQL does
//! (`SELECT (SELECT UUID()) FROM t`), and a column that is ordered by its alias is worked out once for both.
//! Recorded in `tests/mysql/varying.test`.

use turnstile_syntax::ast::{Expr, JoinCondition, Query, QueryBody, SelectItem, TableRef};
use turnstile_syntax::walk;

/// Functions that give another value, or do something, each time they are called.
const VARYING: &[&str] = &[
    "benchmark",
    "get_lock",
    "rand",
    "random_bytes",
    "release_all_locks",
    "release_lock",
    "sleep",
    "uuid",
    "uuid_short",
];

/// Whether an expression, or a query in it, does so.
pub fn varies(expr: &Expr) -> bool {
    walk::any(expr, &|one| match one {
        Expr::Assign { .. } => true,
        Expr::Function(call) => call.schema.is_none() && VARYING.contains(&&*call.name),
        Expr::Subquery(query) | Expr::Exists(query) => query_varies(query),
        Expr::InSubquery { query, .. } | Expr::Quantified { query, .. } => query_varies(query),
        _ => false,
    })
}

/// Whether anything in a query does so.
pub fn query_varies(query: &Query) -> bool {
    let body = match &query.body {
        QueryBody::Select(select) => {
            let items = select.items.iter().any(|item| match item {
                SelectItem::Expr { expr, .. } => varies(expr),
                SelectItem::Wildcard { .. } => false,
            });
            let keys = select.group_by.iter().map(|key| &key.expr);
            let conditions = select.condition.iter().chain(&select.having).chain(keys);
            items || conditions.into_iter().any(varies) || select.from.iter().any(table_varies)
        }
        QueryBody::SetOperation { first, rest } => {
            query_varies(first) || rest.iter().any(|(_, query)| query_varies(query))
        }
        QueryBody::Values(rows) => rows.iter().flatten().any(varies),
        QueryBody::Table(_) => false,
    };
    let common = || query.with.iter().flat_map(|with| &with.tables).any(|one| query_varies(&one.query));
    body || query.order_by.iter().any(|item| varies(&item.expr)) || common()
}

fn table_varies(table: &TableRef) -> bool {
    match table {
        TableRef::Table(_) => false,
        TableRef::Derived { query, .. } => query_varies(query),
        TableRef::Join(join) => {
            let on = matches!(&join.condition, JoinCondition::On(on) if varies(on));
            on || table_varies(&join.left) || table_varies(&join.right)
        }
    }
}
