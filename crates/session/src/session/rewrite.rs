//! `sql_select_limit`: a SELECT that means something else than it says. What is rewritten so is planned anew
//! each time, because kept plans serve all sessions.

use super::Session;
use crate::ast::{self, Expr, Literal};

/// A SELECT as the session's switches mean it; None if they do not concern it.
pub(super) fn rewritten(session: &Session, query: &ast::Query) -> Option<ast::Query> {
    let most = session.settings.sql_select_limit;
    if most == u64::MAX || query.limit.is_some() {
        return None;
    }
    let limit = ast::Limit { count: Expr::Literal(Literal::Int(most)), offset: None };
    Some(ast::Query { limit: Some(limit), ..query.clone() })
}
