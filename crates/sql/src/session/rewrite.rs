//! `sql_select_limit` and `sql_auto_is_null`: a SELECT that means something else than it says. What is rewritten so is
//! planned anew each time, because kept plans serve all sessions.

use super::Session;
use crate::ast::{self, BinaryOp, Expr, IsTest, Literal, QueryBody, TableRef};

impl Session {
    /// A SELECT as the session's switches mean it; None if they do not concern it.
    pub(super) fn rewritten(&self, query: &ast::Query) -> Option<ast::Query> {
        if !self.settings.plans_anew {
            return None;
        }
        let mut rewritten = None;
        let most = self.settings.sql_select_limit;
        if query.limit.is_none() && most != u64::MAX {
            let limit = ast::Limit { count: Expr::Literal(Literal::Int(most)), offset: None };
            rewritten.get_or_insert_with(|| query.clone()).limit = Some(limit);
        }
        if self.settings.auto_is_null
            && let Some(column) = self.generated_column(query)
        {
            let query = rewritten.get_or_insert_with(|| query.clone());
            if let QueryBody::Select(select) = &mut query.body
                && let Some(condition) = &mut select.condition
                && let Some(test) = null_test(condition, &column)
                && let Some(id) = self.state.generated_id()
            {
                let left = std::mem::replace(test, Expr::Literal(Literal::Null));
                let Expr::Is { operand, .. } = left else { return rewritten };
                let right = Box::new(Expr::Literal(Literal::Int(id)));
                *test = Expr::Binary { op: BinaryOp::Equal, left: operand, right };
            }
        }
        rewritten
    }

    /// The AUTO_INCREMENT column of the one table that a SELECT reads.
    fn generated_column(&self, query: &ast::Query) -> Option<Box<str>> {
        let QueryBody::Select(select) = &query.body else { return None };
        let [TableRef::Table(factor)] = select.from.as_slice() else { return None };
        let current = self.state.schema();
        let schema = factor.name.schema.as_deref().or(current.as_deref())?;
        let table = self.db.dictionary().find(schema, &factor.name.table)?;
        table.auto_column.map(|at| table.columns()[at].name.clone())
    }
}

/// `column IS NULL` among the parts of a condition that must all hold.
fn null_test<'e>(condition: &'e mut Expr, column: &str) -> Option<&'e mut Expr> {
    match condition {
        Expr::And(parts) => parts.iter_mut().find_map(|part| null_test(part, column)),
        Expr::Is { operand, test: IsTest::Null, negated: false } => {
            let named = matches!(&**operand, Expr::Column(name) if name.column.eq_ignore_ascii_case(column));
            named.then_some(condition)
        }
        _ => None,
    }
}
