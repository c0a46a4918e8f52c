//! `sql_auto_is_null`: a WHERE that is nothing but a test of an AUTO_INCREMENT column for NULL finds the row
//! that was inserted last. What is planned so serves one statement: kept plans serve all sessions.

use turnstile_syntax::ast::{self, BinaryOp, IsTest, Literal};
use turnstile_values::error::SqlResult;
use turnstile_values::types::column_flag;

use super::block::Block;

/// The condition as the session's switch means it.
pub fn meant(block: &Block<'_, '_>, condition: &ast::Expr) -> SqlResult<ast::Expr> {
    let eval = block.context.eval;
    if eval.settings.null_finds_last
        && let Some((operand, column)) = tested(condition)
        && is_generated(block, column)?
        && let id @ 1.. = eval.session.last_insert_id()
    {
        let right = Box::new(ast::Expr::Literal(Literal::Int(id)));
        return Ok(ast::Expr::Binary { op: BinaryOp::Equal, left: Box::new(operand.clone()), right });
    }
    Ok(condition.clone())
}

/// The column of `column IS NULL` or ISNULL(column).
fn tested(condition: &ast::Expr) -> Option<(&ast::Expr, &ast::ColumnName)> {
    let operand: &ast::Expr = match condition {
        ast::Expr::Is { operand, test: IsTest::Null, negated: false } => operand,
        ast::Expr::Function(call) if &*call.name == "isnull" => call.arguments.first()?,
        _ => return None,
    };
    match operand {
        ast::Expr::Column(name) => Some((operand, name)),
        _ => None,
    }
}

fn is_generated(block: &Block<'_, '_>, column: &ast::ColumnName) -> SqlResult<bool> {
    let Some(found) = block.scope.find_here(column)? else { return Ok(false) };
    let at = block.scope.column_at(found.position);
    Ok(at.is_some_and(|(_, column)| column.flags & column_flag::AUTO_INCREMENT != 0))
}
